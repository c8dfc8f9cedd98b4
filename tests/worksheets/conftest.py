"""One small run for all tests of reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lightningalg.worksheets import certifying, runner
from lightningalg.worksheets.model import read_worksheet


@pytest.fixture(scope="session")
def small_run(tmp_path_factory):
    """The folder of a finished run of the worksheet in ``test_report``; copy it before you change it."""
    from tests.worksheets.test_report import WORKSHEET
    from tests.worksheets.test_runner import here

    folder = tmp_path_factory.mktemp("run")
    (folder / "small.toml").write_text(WORKSHEET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifying, "_pool", here)
        runner.run_worksheets([read_worksheet(folder / "small.toml")], out=folder / "out", jobs=1)
    return folder / "out"


@pytest.fixture(scope="session")
def finished_run():
    """The folder of a run of all worksheets with this very code, if CI has made one before."""
    folder = os.environ.get("LIGHTNINGALG_FINISHED_RUN")
    return None if folder is None else Path(folder).absolute()
