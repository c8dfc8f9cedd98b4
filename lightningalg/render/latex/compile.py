"""Running LaTeX: at most one page of trouble, never a stray process or a half-written file."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from lightningalg.certificates.files import write_atomically
from lightningalg.errors import InputError, LightningAlgError, MissingExtraError
from lightningalg.temporary import forget_group, temporary_folder, watch_group

_OPTIONS = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
_MOST_RUNS = 6
_HOW_TO_GET = (
    "pdflatex is needed for PDF output and is not on the PATH; install TeX: "
    "'apt install texlive-latex-extra' (Debian, Ubuntu), MacTeX (macOS), MiKTeX or TeX Live (Windows)"
)
_RERUN = re.compile(r"Rerun to get|Rerun LaTeX|run LaTeX again|[Ww]idths have changed")
_OVERFULL = re.compile(r"^Overfull \\hbox \((\d+(?:\.\d+)?)pt too wide\)", re.MULTILINE)


class LatexError(LightningAlgError):
    """LaTeX ran and failed; the message has the first line of its complaint."""


def overfull_boxes(log_text: str) -> list[float]:
    r"""Return by how many points each overfull ``\hbox`` of a log is too wide.

    Parameters
    ----------
    log_text
        Of one run of LaTeX.

    Examples
    --------
    >>> overfull_boxes("Overfull \\hbox (3.5pt too wide) in paragraph at lines 1--2")
    [3.5]
    """
    return [float(width) for width in _OVERFULL.findall(log_text)]


def compile_pdf(tex_path: str | Path, *, timeout: float = 120.0) -> Path:
    """Run LaTeX on ``tex_path`` and return the PDF, written next to it.

    Everything happens in a temporary directory; the log is written next to
    the source only as part of a message.

    Raises
    ------
    MissingExtraError
        If there is no TeX; the message says how to get it.
    InputError
        If the source cannot be read or the PDF not be written.
    LatexError
        If LaTeX fails or takes longer than ``timeout`` seconds.
    """
    return compile_with_log(tex_path, timeout=timeout)[0]


def compile_with_log(tex_path: str | Path, *, timeout: float = 120.0) -> tuple[Path, str]:
    """Do what ``compile_pdf`` does and return the log of the last run too.

    Parameters
    ----------
    tex_path, timeout
        As of ``compile_pdf``.

    Raises
    ------
    MissingExtraError, InputError, LatexError
        As of ``compile_pdf``.
    """
    source = Path(tex_path)
    try:
        text = source.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from None
    pdflatex = shutil.which("pdflatex")
    end = time.monotonic() + timeout
    if pdflatex is None:
        raise MissingExtraError(_HOW_TO_GET)
    with temporary_folder() as work:
        (work / "proof.tex").write_bytes(text)
        before = b""
        for _ in range(_MOST_RUNS):
            _run([pdflatex, *_OPTIONS, "proof.tex"], work, end)
            if not _RERUN.search(_log(work)) and (work / "proof.aux").read_bytes() == before:
                break
            before = (work / "proof.aux").read_bytes()
        pdf = work / "proof.pdf"
        if not pdf.is_file():
            raise LatexError("LaTeX wrote no PDF: " + _first_complaint(_log(work)))
        target = source.with_suffix(".pdf")
        write_atomically(target, pdf.read_bytes())
        return target, _log(work)


def _run(command: list[str], work: Path, end: float) -> None:
    """Run one command in its own process group, which ends with it or at the monotonic time ``end``."""
    environment = {**os.environ, "openin_any": "p", "openout_any": "p", "max_print_line": "1000"}
    process = subprocess.Popen(
        command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    watch_group(process.pid)
    try:
        output, _ = process.communicate(timeout=max(0.0, end - time.monotonic()))
    except BaseException as error:
        _kill(process)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise LatexError("LaTeX did not finish within the time limit") from None
        raise
    finally:
        forget_group(process.pid)
    if process.returncode != 0:
        log = _log(work) or output.decode("latin-1")
        raise LatexError("LaTeX failed: " + _first_complaint(log))


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _log(work: Path) -> str:
    path = work / "proof.log"
    return path.read_text(encoding="latin-1") if path.is_file() else ""


def _first_complaint(log: str) -> str:
    """Return the first line of a log that starts with ``!``, and the line of the source it is about."""
    lines = log.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("!"):
            place = next((x.split()[0] for x in lines[i + 1 : i + 12] if x.startswith("l.")), "")
            return line[1:].strip()[:200] + (f" ({place})" if place else "")
    return "no complaint in its log"
