"""``lightningalg verify``: runs the stand-alone checker in a process of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import click

from lightningalg.certificates.checker import verifier_command
from lightningalg.certificates.trusted_base import described, trusted_bases
from lightningalg.cli.options import MAX_SECONDS, Finite
from lightningalg.errors import InputError, LightningAlgError, one_line


@click.command(
    "verify",
    epilog="Exit code: 0 if all are valid, 1 if one is invalid, 2 if one is unsupported or unreadable.",
)
@click.argument("files", nargs=-1, required=True, metavar="CERT.json...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@click.option("--timeout", type=Finite(min=0.1, max=MAX_SECONDS), metavar="SECONDS",
              help="Give up after this time.")  # fmt: skip
@click.option("--trusted-base", "base", is_flag=True,
              help="Say on what each answer rests: sections of FORMAT.md, lines that ran.")  # fmt: skip
def command(files: tuple[str, ...], as_json: bool, timeout: float | None, base: bool) -> int:
    """Check certificates with the independent verifier.

    It rebuilds the network's values from the description with its own few lines, recomputes the minor and the
    arithmetic of the upper bound, and answers for each file "valid" or "invalid: why".
    The checker is one file that also works alone: copy lightningalg/verifier.py anywhere and run
    python verifier.py CERT.json. What is predicted to take over two seconds says so, and its method, on
    standard error.

    What has to be right for "valid" to be true is listed in lightningalg/certificates/TRUSTED.md;
    --trusted-base says it for these files (tracing every line, many times slower).
    """
    if base:
        return _explain_trust(files, as_json, timeout)
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


def _explain_trust(files: tuple[str, ...], as_json: bool, timeout: float | None) -> int:
    """Print what the answers rest on; the same exit codes."""
    if any("\0" in name for name in files):
        raise InputError("a file name has no zero byte")
    bases = trusted_bases([Path(name) for name in files], timeout=timeout)
    if as_json:
        results = [{"file": name, **found.to_json()} for name, found in zip(files, bases, strict=True)]
        click.echo(json.dumps({"results": results}))
    else:
        for name, found in zip(files, bases, strict=True):
            click.echo("\n".join([f"{one_line(str(name))}:", *described(found)]))
    verdicts = {found.answer["verdict"] for found in bases}
    return 1 if "invalid" in verdicts else 2 if "unsupported" in verdicts else 0
