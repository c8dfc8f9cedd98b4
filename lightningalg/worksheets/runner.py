"""Running worksheets: certify in parallel, verify everything, print a proof for each claim."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lightningalg.arguments import file_path, integer, listed
from lightningalg.arguments import instance as of_class
from lightningalg.certificates.checker import check_files, explain
from lightningalg.certificates.files import remove_stale_temporaries, write_atomically
from lightningalg.certificates.records import pretty_json
from lightningalg.claims import claim_kinds
from lightningalg.errors import InputError, shown
from lightningalg.render.latex import known_language, render_proof
from lightningalg.worksheets.certifying import Task, certify_all
from lightningalg.worksheets.claim_text import claim_text, expected_values
from lightningalg.worksheets.earlier import with_earlier
from lightningalg.worksheets.model import Claim, Instance, Worksheet
from lightningalg.worksheets.results import ClaimResult, InstanceResult, Run, words_of
from lightningalg.worksheets.statements import (
    check_statements,
    statement_table,
    table_csv,
    table_markdown,
)
from lightningalg.worksheets.verdict import OPEN, REFUTED, judge, strength_of

#: certificates checked by one call of the verifier
_BATCH = 32


#: told (instances finished, all instances, what is being done)
Progress = Callable[[int, int, str], None]


def run_worksheets(
    worksheets: Sequence[Worksheet],
    *,
    out: str | Path,
    claims: Sequence[str] = (),
    jobs: int | None = None,
    force: bool = False,
    seed: str = "0",
    lang: str = "en",
    progress: Progress = lambda done, total, what: None,
) -> Run:
    """Return the results of all claims: every instance is certified, and every certificate verified.

    Certificates, proofs and a summary are written.

    Writes ``out/<worksheet>/<claim>/<instance>.json``, ``out/<worksheet>/<claim>.tex``,
    ``out/summary.json``, and the table of statements as ``out/table.md`` and ``out/table.csv``.
    Instances whose certificate is already there for the same network, kind and seed are not computed
    again (but verified). On Ctrl-C what is finished stays, with a summary of it.

    Parameters
    ----------
    worksheets
        From ``read_worksheet``.
    out
        Folder for the results.
    claims
        Only claims with these ids; all if empty. The summary keeps what an earlier run found of the others,
        marked ``earlier``, and names those of which nothing is known (``left_out``).
    jobs
        Number of processes; default the number of cores.
    force
        Compute again what is already there.
    seed
        For the points of lower bounds.
    lang
        Language of the proofs: one of ``render.latex.LANGUAGES``.
    progress
        Told how far it is.

    Raises
    ------
    InputError
        If a claim id or the language is unknown, or the folder cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> from lightningalg.worksheets.library import find_worksheets
    >>> from lightningalg.worksheets.model import read_worksheet
    >>> sheet = read_worksheet(find_worksheets(["symmetries"])[0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = run_worksheets([sheet], out=folder, claims=["intra-layer"], jobs=1)
    >>> run.claims[0].verdict
    'certified'
    """
    start = time.perf_counter()
    known_language(lang)
    out = file_path(out, "out")
    jobs = None if jobs is None else integer(jobs, "jobs", 1)
    worksheets = [
        of_class(worksheet, Worksheet, "worksheets", "a list of what read_worksheet returns")
        for worksheet in listed(worksheets, "worksheets", "what read_worksheet returns")
    ]
    run = Run(out, _select(worksheets, claims, out, seed, force), lang=lang)
    _probe(out)
    for folder in {out, *(Path(r.task.path).parent for claim in run.claims for r in claim.instances)}:
        remove_stale_temporaries(folder)
    workers = jobs or os.cpu_count() or 1
    try:
        _certify(run, workers, progress)
        _verify(run, workers, progress)
        for number, claim in enumerate(run.claims, start=1):
            _judge(claim)
            claim.proof = _write_proof(claim, out, lang)
            progress(number, len(run.claims), f"proof of {claim.claim.id}")
        run.complete = True
    finally:
        for claim in run.claims:
            _judge(claim)
        run.seconds = time.perf_counter() - start
        _write_summary(run, worksheets if claims else None)
    return run


def _probe(out: Path) -> None:
    """Fail before the work, not after it, if nothing can be written."""
    probe = out / ".probe"
    try:
        write_atomically(probe, "")
        probe.unlink()
    except (InputError, OSError) as error:
        reason = str(error).rpartition(": ")[2]
        raise InputError(f"cannot write into the folder {out} (--out): {reason}") from None


def _select(
    worksheets: Sequence[Worksheet], wanted: Sequence[str], out: Path, seed: str, force: bool
) -> list[ClaimResult]:
    known = [claim.id for worksheet in worksheets for claim in worksheet.claims]
    for name in wanted:
        if name not in known:
            raise InputError(
                f"no claim {shown(name, 80)!r} in these worksheets: known are {', '.join(known)}"
            )
    names = [worksheet.name for worksheet in worksheets]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'two worksheets are named "{name}": run them into different folders (--out)')
    selected = []
    for worksheet in worksheets:
        for claim in worksheet.claims:
            check_statements(claim.id, claim.paper)
            if not wanted or claim.id in wanted:
                tasks = [_task(worksheet, claim, instance, out, seed, force) for instance in claim.instances]
                results = [
                    InstanceResult(task, expected=instance.expected)
                    for task, instance in zip(tasks, claim.instances, strict=True)
                ]
                selected.append(ClaimResult(worksheet, claim, results))
    return selected


def _task(worksheet: Worksheet, claim: Claim, instance: Instance, out: Path, seed: str, force: bool) -> Task:
    path = out / worksheet.name / claim.id / f"{instance.name}.json"
    return Task(
        worksheet.name, claim.id, instance.name, claim.kind, dict(instance.table), seed, str(path), force
    )  # fmt: skip


# -- certifying, verifying, judging, proving ---------------------------------------


def _certify(run: Run, workers: int, progress: Progress) -> None:
    """Certify every instance; certificates are written one by one, as they come."""
    results = run.instances
    by_task = {(r.task.worksheet, r.task.claim, r.task.instance): r for r in results}
    # closing: on Ctrl-C the other processes end here, before the summary is written
    with contextlib.closing(certify_all([r.task for r in results], workers)) as outcomes:
        for done, outcome in enumerate(outcomes, start=1):
            task, certificate, reason, skipped, seconds = outcome
            if certificate is not None and not skipped:
                write_atomically(Path(task.path), pretty_json(certificate) + "\n")
            result = by_task[task.worksheet, task.claim, task.instance]
            result.certificate, result.reason = certificate, reason
            result.skipped, result.seconds = skipped, seconds
            progress(done, len(results), f"{task.worksheet}: {task.claim}")


def _verify(run: Run, workers: int, progress: Progress) -> None:
    """Run the stand-alone verifier on every certificate, several processes at a time."""
    with_file = [result for result in run.instances if result.certificate is not None]
    batches = [with_file[i : i + _BATCH] for i in range(0, len(with_file), _BATCH)]
    done = 0
    with ThreadPoolExecutor(workers) as pool:
        try:
            answers = pool.map(lambda batch: check_files([Path(r.task.path) for r in batch]), batches)
            for batch, found in zip(batches, answers, strict=True):
                for result, answer in zip(batch, found, strict=True):
                    result.verified = answer["verdict"] == "valid"
                    if not result.verified:
                        result.reason = f"the verifier says {explain(answer)}"
                done += len(batch)
                progress(done, len(with_file), "verifying")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _judge(claim: ClaimResult) -> None:
    kind = claim_kinds()[claim.claim.kind]
    for result, instance in zip(claim.instances, claim.claim.instances, strict=True):
        result.strength = strength_of(claim.claim, kind.numerical, result.certificate)
        if result.certificate is None:
            result.verdict = REFUTED if result.reason.startswith(f"{REFUTED}: ") else OPEN
        elif result.verified is True:  # nothing is even read that the independent verifier has not accepted
            result.proved = kind.quantities(result.certificate)
            try:
                result.verdict = judge(claim.claim, instance, kind.expected_quantity, result.proved)
            except InputError as error:  # "check" has no value here, such as a quotient that is not exact
                result.verdict, result.reason = OPEN, str(error)
        else:
            result.verdict = OPEN


def _write_proof(claim: ClaimResult, out: Path, lang: str) -> Path | None:
    """Write the claim's LaTeX proof from its verified certificates; ``None`` if there is none."""
    proved = [r for r in claim.instances if r.certificate is not None and r.verified]
    if not proved:
        return None
    verdicts = {r.certificate["sha256"]: r.verdict for r in proved if r.certificate}
    values = expected_values((r.certificate["sha256"], r.expected) for r in proved if r.certificate)
    text = claim_text(claim.claim, claim.worksheet, lang, verdicts, values)
    path = out / claim.worksheet.name / f"{claim.claim.id}.tex"
    certificates = [r.certificate for r in proved if r.certificate]
    write_atomically(path, render_proof(certificates, title=text.title, claim=text, lang=lang))
    return path


def _write_summary(run: Run, chosen_from: Sequence[Worksheet] | None) -> None:
    """Write the summary and the table of statements; where claims were chosen, from which worksheets."""
    out, summary = run.out, run.to_json()
    if chosen_from is not None:  # what earlier runs found of the other claims stays
        summary = with_earlier(summary, out / "summary.json", chosen_from)
        summary["worksheets"] = words_of(chosen_from)
        summary["table"] = statement_table(summary["claims"])
    write_atomically(out / "summary.json", pretty_json(summary) + "\n")
    write_atomically(out / "table.md", table_markdown(summary["table"]))
    write_atomically(out / "table.csv", table_csv(summary["table"]))
