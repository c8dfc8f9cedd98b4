"""``lightningalg export``: certificates for another proof checker."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightningalg.certificates.checker import check_files, explain
from lightningalg.certificates.files import read_certificate, refuse_other_files, write_atomically
from lightningalg.cli.options import Progress, echo_json
from lightningalg.errors import InputError, one_line, shown

if TYPE_CHECKING:
    from lightningalg.export.rocq import RocqFile


@click.command(
    "export", epilog="Exit code: 0 success, 1 the certificate is not valid, 2 bad input or not supported."
)
@click.argument("file", metavar="CERT.json")
@click.option("--out", metavar="F.v", required=True, help="Write the Rocq file here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(file: str, out: str, as_json: bool) -> int:
    """Write a dimension certificate as a file for Rocq (Coq), a second and independent checker.

    The file has everything: the network over dual numbers, the point and the inputs, the statements and
    their proofs, without axioms. Check it with "coqc F.v" (Debian package coq). Two statements:

    \b
    * at least r: gradients of r output entries are linearly independent;
    * at most v: any v + 1 gradients are linearly dependent. Here v = n - k for
      k vector fields on the n parameters along which the network does not
      change, or the number of coefficients of an output that fills its space.

    Whatever argument the certificate has for its upper bound, the file has one of these, which this command
    finds by itself. Where they do not reach the certificate's number, the file proves a larger v, and the
    command and the file's heading say what is missing. Accepted are networks of attention without softmax,
    linear layers, biases, entrywise powers and sums.

    \b
    Example:
      lightningalg dimension --widths 3,2,3 --ranks 2,2 --out cert.json
      lightningalg export cert.json --out cert.v
      coqc cert.v
    """
    _check_name(Path(out).name)
    progress = Progress("verifying the certificate")
    path = Path(file)
    (answer,) = check_files([path])
    if answer["verdict"] == "invalid":
        refuse_other_files(path)
        click.echo(one_line(f"error: {path} is {explain(answer)}; there is nothing to export"), err=True)
        return 1
    if answer["verdict"] != "valid":
        raise InputError(f"{path} is {explain(answer)}; there is nothing to export")
    certificate = read_certificate(path)
    from lightningalg.export.rocq import rocq_file

    made = rocq_file(certificate, name=Path(out).name, progress=progress)
    write_atomically(Path(out), made.text)
    if as_json:
        echo_json(_summary(certificate["sha256"], out, made))
    else:
        click.echo("\n".join(_lines(out, made)))
    return 0


def _check_name(name: str) -> None:
    """Refuse a file that ``coqc`` would not read: its name is the name of a module."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_']*\.v", name) is None:
        other = re.sub(r"[^A-Za-z0-9_']", "_", name.removesuffix(".v"))
        other = other if re.match("[A-Za-z_]", other) else f"_{other}"
        raise click.UsageError(
            f"--out: coqc reads no file {shown(name)!r}: accepted are letters, digits and _, no digit first, "
            f"then .v; for example {shown(other)}.v"
        )


def _summary(sha256: str, out: str, made: RocqFile) -> dict[str, Any]:
    return {
        "certificate": sha256,
        "written": out,
        "at_least": made.at_least,
        "at_most": made.at_most,
        "method": made.method,
        "fields": made.fields,
        "missing": made.missing,
        "predicted_seconds": round(made.seconds),
    }


def _lines(out: str, made: RocqFile) -> list[str]:
    lines = [f"wrote {one_line(out)}"]
    if made.at_least is not None:
        lines.append(f"  proves: dimension at least {made.at_least} (gradients of as many output entries)")
    reasons = {
        "fields": f"by {made.fields} vector fields along which nothing changes",
        "coefficients": "coefficients of the output",
        "parameters": "the number of parameters",
    }
    why = reasons[made.method]
    lines.append(f"  proves: dimension at most {made.at_most} ({why})")
    if made.missing is not None:
        lines.append(f"  not in the file: {made.missing}")
    return [*lines, f"check it with: coqc {one_line(shlex.quote(out))}   (about {made.seconds:.0f} s)"]
