"""What has to be right for one verdict ``valid``: sections, functions and lines of the checker that ran."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightningalg.certificates.checker import VERIFIER, explain
from lightningalg.errors import LightningAlgError

TRACER = Path(__file__).with_name("tracing.py")

#: kind -> sections of FORMAT.md whose arguments prove its claims; every kind rests on section 1 too
SECTIONS = {
    "dimension": "2, 3, 4.1 or 4.1b, 4.2",
    "degrees": "2, 5",
    "matrix-identity": "6",
    "identifiability": "2, 4.2, 6b",
    "symmetry-algebra": "2, 3, 4.1, 4.2, 8",
    "normalized-fibre": "2, 9",
    "singular-locus": "2, 4.2, 10",
    "boundary": "2, 10, 11",
    "closedness": "2, 10, 12",
    "membership": "2, 10, 11, 13",
    "closure-degree": "2, 4.2, 10, 18",
    "few-inputs": "2, 3, 4.2, 19",
    "orbits": "2, 10, 20",
    "invariants": "2, 3, 14",
    "groebner-basis": "15",
    "fibre": "2, 4.2, 16",
    "recovery": "3, 16, 17",
}


@dataclass(frozen=True)
class TrustedBase:
    """What one answer of the checker rests on.

    Attributes
    ----------
    answer
        ``verdict``, ``check``, ``reason``, ``claim``.
    functions
        Name -> (the lines that ran, number of lines of the function), in the order of the file.
    lines, top_level
        Lines of all functions of the checker, and of its constants and tables, without comments.
    libraries
        Those of numpy and flint that were used.
    kind
        Kind of the certificate, if the file is one.
    """

    answer: Mapping[str, Any]
    functions: Mapping[str, tuple[frozenset[int], int]]
    lines: int
    top_level: int
    libraries: tuple[str, ...]
    kind: str | None

    @property
    def ran(self) -> int:
        """Number of lines that ran.

        Examples
        --------
        >>> TrustedBase({}, {"f": (frozenset({7, 8}), 3)}, 9, 0, (), None).ran
        2
        """
        return sum(len(ran) for ran, _ in self.functions.values())

    def to_json(self) -> dict[str, Any]:
        """Return everything as one object.

        Examples
        --------
        >>> TrustedBase({}, {"f": (frozenset({7, 8}), 3)}, 9, 0, (), None).to_json()["functions"]
        {'f': [2, 3]}
        """
        return {
            **self.answer,
            "kind": self.kind,
            "sections": SECTIONS.get(self.kind or ""),
            "functions": {name: [len(ran), every] for name, (ran, every) in self.functions.items()},
            "lines": self.ran,
            "lines_of_the_checker": self.lines,
            "libraries": list(self.libraries),
        }


def trusted_base(path: Path, *, timeout: float | None = None, alone: bool = False) -> TrustedBase:
    """Return what the checker's answer for a file rests on; it runs in a process of its own, line by line.

    Parameters
    ----------
    alone
        Without numpy and flint, which only large certificates need.

    Raises
    ------
    LightningAlgError
        If it does not answer, or not within ``timeout`` seconds: tracing makes it many times slower.
    """
    return trusted_bases([path], timeout=timeout, alone=alone)[0]


def trusted_bases(
    paths: Sequence[Path], *, timeout: float | None = None, alone: bool = False
) -> list[TrustedBase]:
    """Return the same for several files, by one process."""
    flags = ["-I", "-S"] if alone else ["-I"]
    command = [sys.executable, *flags, str(TRACER), str(VERIFIER), *map(str, paths)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        answers = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise LightningAlgError(f"not traced within {timeout:g} s (--timeout)") from None
    except ValueError:
        raise LightningAlgError(f"the traced verifier did not answer (exit code {done.returncode})") from None
    return [_base(path, found) for path, found in zip(paths, answers, strict=True)]


def _base(path: Path, found: Mapping[str, Any]) -> TrustedBase:
    answer = {key: found.get(key) for key in ("verdict", "check", "reason", "claim")}
    functions = {name: (frozenset(ran), every) for name, (ran, every) in found["functions"].items()}
    numbers = found["lines"], found["top_level"], tuple(found["libraries"])
    return TrustedBase(answer, functions, *numbers, _kind(path) if answer["verdict"] == "valid" else None)


def _kind(path: Path) -> str:
    """The kind of a file that was found valid."""
    return str(json.loads(path.read_bytes())["kind"])


def described(base: TrustedBase, width: int = 100) -> Iterator[str]:
    """Yield lines for a reader.

    Examples
    --------
    >>> functions = {"f": (frozenset({7, 8}), 3)}
    >>> base = TrustedBase({"verdict": "valid", "claim": "1 = 1"}, functions, 9, 0, (), "degrees")
    >>> print(*described(base), sep="\\n")
    valid: 1 = 1
      FORMAT.md, sections  1, 2, 5
      checker              2 of 9 lines, in 1 functions; libraries: Python's own alone
      functions            f 2/3
    """
    answer = base.answer
    yield f"valid: {answer['claim']}" if answer["verdict"] == "valid" else explain(answer)
    if base.kind is not None:
        yield f"  FORMAT.md, sections  1, {SECTIONS[base.kind]}"
    libraries = " and ".join(base.libraries) or "Python's own alone"
    yield (
        f"  checker              {base.ran} of {base.lines} lines, in {len(base.functions)} functions; "
        f"libraries: {libraries}"
    )
    line = "  functions           "
    for name, (ran, every) in base.functions.items():
        entry = f" {name} {len(ran)}/{every}"
        if len(line) + len(entry) > width:
            yield line
            line = " " * 22
        line += entry
    yield line
