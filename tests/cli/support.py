"""Running the command line, in this process or in one of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass

from lightningalg.cli.main import run

#: what commands say on standard error if they take over two seconds, as on a busy machine
_PROGRESS = re.compile(r"^\[ *[0-9.]+ s\] .*\n", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """Exit code and what was printed, lines of progress apart."""

    code: int
    out: str
    err: str
    progress: tuple[str, ...] = ()

    @property
    def json(self):
        """The one JSON object on standard output."""
        lines = self.out.splitlines()
        assert len(lines) == 1, f"one line of JSON and nothing else, not {self.out!r}"
        value = json.loads(lines[0])
        assert isinstance(value, dict)
        return value

    def refuses(self, *words, code=2):
        """Check that this is an error: its code, one line on stderr with all the words, nothing on stdout."""
        assert self.code == code, self
        assert self.out == "", self
        assert self.err.startswith("error: "), self
        assert self.err.endswith("\n") and self.err.count("\n") == 1, f"one line: {self.err!r}"
        assert "Traceback" not in self.err
        for word in words:
            assert word in self.err, f"{word!r} is not in {self.err!r}"
        return self


def call(capfd, *arguments):
    """Run the command in this process; output of processes it starts is caught as well."""
    capfd.readouterr()
    code = run([str(argument) for argument in arguments])
    return _answer(code, *capfd.readouterr())


def call_process(*arguments, cwd=None, env=None, timeout=60):
    """Run the command in a process of its own."""
    command = [sys.executable, "-c", "from lightningalg.cli.main import main; main()", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout)
    return _answer(done.returncode, done.stdout, done.stderr)


def _answer(code, out, err):
    return Answer(code, out, _PROGRESS.sub("", err), tuple(_PROGRESS.findall(err)))


def know_only_parameters(monkeypatch):
    """Let the number of parameters be the only upper bound of monomial networks.

    Degree-one activations on widths 3,2,3 make the 3 x 3 matrices of rank <= 2: dimension 8, and with this
    proved only between 8 and 12, however good the other arguments become.
    """
    from lightningalg.claims import dimension
    from lightningalg.rank.upper_bounds import parameters

    monkeypatch.setattr(dimension, "symmetry_bound", lambda *arguments, **options: None)
    kept = dimension.upper_bounds

    def upper_bounds(network):
        monomial = any(node.layer.type_name == "monomial_activation" for node in network.nodes)
        return [parameters.bound(network)] if monomial else kept(network)

    monkeypatch.setattr(dimension, "upper_bounds", upper_bounds)
