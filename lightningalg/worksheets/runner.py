"""Running worksheets: certify in parallel, verify everything, print a proof for each claim."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lightningalg.arguments import file_path, integer, listed
from lightningalg.arguments import instance as of_class
from lightningalg.certificates.checker import check_files, explain
from lightningalg.certificates.files import read_certificate, remove_stale_temporaries, write_atomically
from lightningalg.certificates.records import pretty_json
from lightningalg.claims import RefutedError, claim_kinds
from lightningalg.errors import InputError, LightningAlgError, shown
from lightningalg.networks.spec import network_from_table
from lightningalg.render.latex import known_language, render_proof
from lightningalg.worksheets.claim_text import claim_text, expected_values
from lightningalg.worksheets.earlier import with_earlier
from lightningalg.worksheets.model import Claim, Instance, Worksheet
from lightningalg.worksheets.statements import (
    check_statements,
    statement_table,
    table_csv,
    table_markdown,
)
from lightningalg.worksheets.tables import claim_table, instance_table, run_table
from lightningalg.worksheets.translations import translations_to_json
from lightningalg.worksheets.verdict import (
    OPEN,
    REFUTED,
    claim_verdict,
    is_declared,
    judge,
    strength_of,
    worst,
)

#: certificates checked by one call of the verifier
_BATCH = 32


@dataclass(frozen=True, slots=True)
class Task:
    """One instance to certify, as plain data for another process."""

    worksheet: str
    claim: str
    instance: str
    kind: str
    table: Mapping[str, Any]
    seed: str
    path: str
    force: bool


@dataclass(slots=True)
class InstanceResult:
    """What became of one instance."""

    task: Task
    verdict: str = OPEN
    reason: str = ""
    expected: int | None = None
    proved: Mapping[str, int | None] = field(default_factory=dict)
    certificate: dict[str, Any] | None = None
    strength: str | None = None
    verified: bool | None = None
    skipped: bool = False
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"<InstanceResult {self.task.instance}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return instance_table(self)

    def to_json(self, out: Path) -> dict[str, Any]:
        """Return this instance's entry of ``summary.json``; paths are relative to the output folder."""
        has_file = self.certificate is not None
        return {
            "name": self.task.instance,
            "verdict": self.verdict,
            "strength": self.strength,
            "reason": self.reason,
            "expected": self.expected,
            **{k: v for k, v in self.proved.items() if k != "expected"},
            "certificate": os.path.relpath(self.task.path, out) if has_file else None,
            "sha256": self.certificate["sha256"] if self.certificate else None,
            "verified": self.verified,
            "skipped": self.skipped,
            "seconds": round(self.seconds, 4),
        }


@dataclass(slots=True)
class ClaimResult:
    """A claim with its instances' results, its verdict and its proof file."""

    worksheet: Worksheet
    claim: Claim
    instances: list[InstanceResult]
    proof: Path | None = None

    @property
    def verdict(self) -> str:
        """The claim's verdict in the words that worksheets use."""
        return claim_verdict(self.claim, [result.verdict for result in self.instances])

    @property
    def as_declared(self) -> bool:
        """Whether the verdict is the one that the worksheet declares; certified, unless it says otherwise.

        Of a claim declared refuted no instance is open, and as many are refuted as it says.
        """
        counted = self.claim.counterexamples in (None, self.count(REFUTED))
        decided = self.verdict != REFUTED or not self.count(OPEN)
        return counted and decided and is_declared(self.claim, self.verdict)

    @property
    def seconds(self) -> float:
        """Time spent on its instances, added up over all processes."""
        return sum(result.seconds for result in self.instances)

    def count(self, verdict: str) -> int:
        """Return the number of instances with that verdict."""
        return sum(result.verdict == verdict for result in self.instances)

    def __repr__(self) -> str:
        return f"<ClaimResult {self.claim.id}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return claim_table(self)


@dataclass(slots=True)
class Run:
    """All results of a run."""

    out: Path
    claims: list[ClaimResult]
    seconds: float = 0.0
    complete: bool = False
    lang: str = "en"

    def __repr__(self) -> str:
        return f"<Run of {len(self.claims)} claims: {self.verdict}>"

    def _repr_html_(self) -> str:
        return run_table(self)

    @property
    def verdict(self) -> str:
        """The worst verdict of all claims."""
        return worst(result.verdict for result in self.claims)

    @property
    def as_declared(self) -> bool:
        """Whether every claim has the verdict that its worksheet declares."""
        return all(result.as_declared for result in self.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``summary.json``."""
        claims = []
        for result in self.claims:
            claims.append(
                {
                    "worksheet": result.worksheet.name,
                    "id": result.claim.id,
                    "kind": result.claim.kind,
                    "title": result.claim.title,
                    "statement": result.claim.statement,
                    "source": result.claim.source or result.worksheet.source,
                    "prose": result.claim.prose,
                    "relation": "differs" if result.claim.differs else "equals",
                    "expected": result.claim.expected,
                    "check": result.claim.check.text if result.claim.check else "",
                    "uses": list(result.claim.uses),
                    "paper": list(result.claim.paper),
                    "template": result.claim.template,
                    "translations": translations_to_json(result.claim.translations),
                    "verdict": result.verdict,
                    "declared": result.claim.declared or "certified",
                    "as_declared": result.as_declared,
                    "hypotheses": [hypothesis.text for hypothesis in result.claim.hypotheses],
                    "proof": os.path.relpath(result.proof, self.out) if result.proof else None,
                    "seconds": round(result.seconds, 4),
                    "instances": [
                        {
                            **done.to_json(self.out),
                            "variables": dict(instance.variables),
                            **_network_of(result.claim, instance),
                        }
                        for done, instance in zip(result.instances, result.claim.instances, strict=True)
                    ],
                }
            )
        return {
            "complete": self.complete,
            "lang": self.lang,
            "seconds": round(self.seconds, 3),
            "claims": claims,
            "worksheets": _words_of(result.worksheet for result in self.claims),
            "table": statement_table(claims),
        }


def _network_of(claim: Claim, instance: Instance) -> dict[str, Any]:
    """Return the network of an instance, where the claim has no template that gives it."""
    written = claim.template is None and claim_kinds()[claim.kind].subject == "network"
    return {"network": instance.table} if written else {}


def _words_of(worksheets: Iterable[Worksheet]) -> list[dict[str, Any]]:
    """Return the words of worksheets, each once, as ``summary.json`` holds them."""
    return [
        {
            "name": name,
            "title": sheet.title,
            "source": sheet.source,
            "prose": sheet.prose,
            "translations": translations_to_json(sheet.translations),
        }
        for name, sheet in {sheet.name: sheet for sheet in worksheets}.items()
    ]


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
    results = [result for claim in run.claims for result in claim.instances]
    by_task = {(r.task.worksheet, r.task.claim, r.task.instance): r for r in results}
    try:
        # closing: on Ctrl-C the other processes end here, before the summary is written
        with contextlib.closing(_certify_all([r.task for r in results], workers)) as outcomes:
            for done, outcome in enumerate(outcomes, start=1):
                task, certificate, reason, skipped, seconds = outcome
                if certificate is not None and not skipped:
                    write_atomically(Path(task.path), pretty_json(certificate) + "\n")
                result = by_task[task.worksheet, task.claim, task.instance]
                result.certificate, result.reason = certificate, reason
                result.skipped, result.seconds = skipped, seconds
                progress(done, len(results), f"{task.worksheet}: {task.claim}")
        _verify_all(results, workers, lambda done, total: progress(done, total, "verifying"))
        for number, claim in enumerate(run.claims, start=1):
            _judge(claim)
            claim.proof = _write_proof(claim, out, lang)
            progress(number, len(run.claims), f"proof of {claim.claim.id}")
        run.complete = True
    finally:
        for claim in run.claims:
            _judge(claim)
        run.seconds = time.perf_counter() - start
        summary = run.to_json()
        if claims:  # what earlier runs found of the other claims stays
            summary = with_earlier(summary, out / "summary.json", worksheets)
            summary["worksheets"] = _words_of(worksheets)
            summary["table"] = statement_table(summary["claims"])
        write_atomically(out / "summary.json", pretty_json(summary) + "\n")
        write_atomically(out / "table.md", table_markdown(summary["table"]))
        write_atomically(out / "table.csv", table_csv(summary["table"]))
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


# -- certifying, in other processes ---------------------------------------------

#: task, certificate or ``None``, reason if there is none, whether it was there already, seconds
Outcome = tuple[Task, dict[str, Any] | None, str, bool, float]


def certify_task(task: Task) -> Outcome:
    """Return what became of one instance.

    Runs in a worker process, which may be ended at any time: it writes nothing.

    Parameters
    ----------
    task
        What to certify.

    Examples
    --------
    >>> import lightningalg as la
    >>> table = la.lightning((2, 2), (1,)).to_json()
    >>> task = Task("sheet", "claim", "2-2", "dimension", table, "0", "absent.json", True)
    >>> certify_task(task)[1]["claim"]["value"]
    6
    """
    start = time.perf_counter()
    existing = None if task.force else _existing(task)
    if existing is not None:
        return task, existing, "", True, time.perf_counter() - start
    kind = claim_kinds()[task.kind]
    subject = network_from_table(task.table) if kind.subject == "network" else task.table
    try:
        certificate = kind.certify(subject, seed=task.seed)
    except RefutedError as error:
        return task, None, f"{REFUTED}: {error}", False, time.perf_counter() - start
    except LightningAlgError as error:
        return task, None, str(error), False, time.perf_counter() - start
    except MemoryError:
        return task, None, "out of memory", False, time.perf_counter() - start
    except Exception as error:  # a defect: this instance is open, the run goes on
        problem = f"internal error, please report it: {type(error).__name__}: {error}"
        return task, None, problem, False, time.perf_counter() - start
    made = certificate.to_json()
    return task, made, "", not task.force and _holds(task.path, made), time.perf_counter() - start


def _holds(path: str, certificate: Mapping[str, Any]) -> bool:
    """Whether the file holds this very certificate already: an identity takes no time to make again."""
    try:
        return read_certificate(Path(path))["sha256"] == certificate["sha256"]
    except InputError:
        return False


def _existing(task: Task) -> dict[str, Any] | None:
    """Return the certificate already in place if it is whole and about the same thing."""
    try:
        certificate = read_certificate(Path(task.path))
    except InputError:
        return None  # absent, damaged or foreign: it is made again
    kind = claim_kinds()[task.kind]
    if certificate["kind"] != kind.certificate_kind:
        return None
    if kind.subject != "network":
        return None  # identities take no time
    same_seed = certificate["provenance"].get("seed", task.seed) == task.seed
    if certificate.get("network") != task.table or not same_seed:
        return None
    try:
        proved = kind.quantities(certificate)
    except (LightningAlgError, LookupError, TypeError, AttributeError, ValueError):
        return None  # no certificate of this kind, whatever its hash
    # such as an upper bound alone, where this claim wants both
    partial = any(value is None for name, value in proved.items() if name != kind.expected_quantity)
    return None if partial else certificate


def _start_worker() -> None:
    """Leave it to the parent what becomes of this process, and end with it."""
    # Ctrl-C reaches every process of the terminal
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _certify_all(tasks: Sequence[Task], workers: int) -> Generator[Outcome]:
    """Yield outcomes as they come. A task whose process dies is reported as such; the others go on."""
    unfinished = {id(task): task for task in tasks}
    while unfinished:
        for outcome in _pool(list(unfinished.values()), workers):
            del unfinished[id(outcome[0])]
            yield outcome
        # A dead worker breaks the whole pool. Tasks start in order, so it was at one of the first ones left:
        # these get a process each; the others go on together.
        for task in list(unfinished.values())[:workers]:
            del unfinished[id(task)]
            lost = (task, None, "its process was ended (out of memory?)", False, 0.0)
            yield [*_pool([task], 1), lost][0]


def _pool(tasks: Sequence[Task], workers: int) -> Iterator[Outcome]:
    """Yield all outcomes there are if no worker dies; ``task`` objects keep their identity."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context, initializer=_start_worker)
    futures: dict[Future[Outcome], Task] = {}
    try:
        # blocked in the new processes too, until they ignore them
        with _interrupts_blocked(), contextlib.suppress(BrokenProcessPool):
            for task in tasks:
                futures[pool.submit(certify_task, task)] = task
        for future in as_completed(futures):
            with contextlib.suppress(BrokenProcessPool):
                yield (futures[future], *future.result()[1:])
    finally:
        finished = all(future.done() for future in futures)
        if not finished:
            for process in list((pool._processes or {}).values()):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Deliver Ctrl-C after this, where the system has signal masks; new processes inherit the mask."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- verifying, judging, proving ---------------------------------------------------


def _verify_all(
    results: Sequence[InstanceResult], workers: int, progress: Callable[[int, int], None]
) -> None:
    """Run the stand-alone verifier on every certificate, several processes at a time."""
    with_file = [result for result in results if result.certificate is not None]
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
                progress(done, len(with_file))
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
