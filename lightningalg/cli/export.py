"""``lightningalg export``: certificates for another proof checker."""

from __future__ import annotations

from pathlib import Path

import click

from lightningalg.certificates.checker import check_files, explain
from lightningalg.certificates.files import read_certificate, write_atomically
from lightningalg.cli.options import Progress, echo_json
from lightningalg.errors import InputError


@click.command(
    "export", epilog="Exit code: 0 success, 1 the certificate is not valid, 2 bad input or not supported."
)
@click.argument("file", metavar="CERT.json")
@click.option("--out", metavar="F.v", required=True, help="Write the Rocq file here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
def command(file: str, out: str, as_json: bool) -> int:
    """Write a dimension certificate as a file for Rocq (Coq), a second and independent checker.

    The file has everything: dual numbers, the network, the point and inputs, the statements and their
    proofs. It proves the lower bound: the gradients of as many output functionals are linearly independent.
    For one small head it also proves the upper one: vector fields along which the network does not change.
    Check it with "coqc F.v" (Debian package coq); a dimension of 25 takes half a minute.

    \b
    Example:
      lightningalg dimension --widths 2,2 --ranks 1 --out cert.json
      lightningalg export cert.json --out cert.v
      coqc cert.v
    """
    if Path(out).suffix != ".v":
        raise click.UsageError(f"--out {out!r}: the name must end in .v")
    Progress("verifying the certificate, then writing the file")
    path = Path(file)
    (answer,) = check_files([path])
    if answer["verdict"] == "invalid":
        click.echo(f"error: {path} is {explain(answer)}; there is nothing to export", err=True)
        return 1
    if answer["verdict"] != "valid":
        raise InputError(f"{path} is {explain(answer)}; there is nothing to export")
    certificate = read_certificate(path)
    from lightningalg.export.rocq import export_rocq

    write_atomically(Path(out), export_rocq(certificate, name=Path(out).name))
    if as_json:
        echo_json({"certificate": certificate["sha256"], "written": out})
    else:
        click.echo(f"wrote {out}; check it with: coqc {out}")
    return 0
