"""``lightningalg verify``: runs the stand-alone checker in a process of its own."""

from __future__ import annotations

import subprocess

import click

from lightningalg.certificates.checker import verifier_command
from lightningalg.cli.options import MAX_SECONDS, Finite
from lightningalg.errors import LightningAlgError


@click.command(
    "verify",
    epilog="Exit code: 0 if all are valid, 1 if one is invalid, 2 if one is unsupported or unreadable.",
)
@click.argument("files", nargs=-1, required=True, metavar="CERT.json...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@click.option("--timeout", type=Finite(min=0.1, max=MAX_SECONDS), metavar="SECONDS",
              help="Give up after this time.")  # fmt: skip
def command(files: tuple[str, ...], as_json: bool, timeout: float | None) -> int:
    """Check certificates with the independent verifier.

    It rebuilds the network's values from the description with its own few lines, recomputes the minor and the
    arithmetic of the upper bound, and answers for each file "valid" or "invalid: why".
    The checker is one file that also works alone: copy lightningalg/verifier.py anywhere and run
    python verifier.py CERT.json. What is predicted to take over two seconds says so, and its method, on
    standard error.
    """
    arguments = verifier_command([*(["--json"] if as_json else []), "--progress", "--", *files])
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL) as process:
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise LightningAlgError(f"not verified within {timeout:g} s (--timeout)") from None
        finally:
            if process.poll() is None:
                process.kill()
    if code not in (0, 1, 2):
        raise LightningAlgError(f"the verifier was ended before its answer (exit code {code})")
    return code
