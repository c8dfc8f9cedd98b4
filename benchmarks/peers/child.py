"""Run a contestant in a process group of its own, with a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a contestant answered, or why it did not (``reason``)."""

    values: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


def run_peer(
    module: str, job: Mapping[str, Any], *, timeout: float, threads: int, python: str = sys.executable
) -> Outcome:
    """Run ``peers.<module>`` on a job and return its answer."""
    command = [python, "-m", f"peers.{module}", json.dumps(job)]
    output = run_group(command, timeout=timeout, threads=threads)
    return output if not output else Outcome(json.loads(output.values["text"].splitlines()[-1]))


def run_group(command: Sequence[str], *, timeout: float, threads: int) -> Outcome:
    """Run a program and return what it printed as ``text``; at the time limit its whole group is killed."""
    path = os.pathsep.join([str(BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])])
    # numpy's BLAS and LinBox's are two copies of OpenBLAS, which read this at start
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": str(threads)}
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=BENCHMARKS, env=environment, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return Outcome(reason=f"failed: {error}")
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return Outcome(reason=f"not in {timeout:g} s")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode != 0 or not output.strip():
        last = (errors.strip().splitlines() or ["no output"])[-1]
        return Outcome(reason=f"failed (exit {process.returncode}): {last[:200]}")
    return Outcome({"text": output})
