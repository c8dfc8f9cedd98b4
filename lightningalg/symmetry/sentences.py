"""A symmetry report in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from lightningalg.symmetry.fields import touched_blocks
from lightningalg.symmetry.report import SymmetryReport, weakest


def verdict(report: SymmetryReport) -> list[str]:
    """Return what the report says, one sentence each: proved statements are called proved."""
    return [*_algebra(report), *_kernel(report), *_rank(report)]


def _algebra(report: SymmetryReport) -> Iterator[str]:
    if report.linear.dimension_bound == 0:
        yield "There are no linear symmetries: their linear system has no solution (proved)."
    elif report.linear.dimension_bound == report.known_dimension:
        yield "The known groups are all linear symmetries there are (proved)."
    else:
        yield _excess(report)


def _excess(report: SymmetryReport) -> str:
    found, bound = report.algebra_dimension, report.linear.dimension_bound
    numbers = {c for f in report.excess for c in f.field.components() | f.field.variables()}
    blocks = touched_blocks(report.network, numbers)
    where = ", ".join(f"{block.name} of {block.node}" for block in blocks[:8])
    more = f" of at most {bound}" if found < bound else ""
    return (
        f"The known groups have dimension {report.known_dimension}, all linear symmetries {found}{more} "
        f"({weakest([f.strength for f in report.excess])}): the excess moves {where or 'nothing verified'}; "
        f"the whole algebra is {report.algebra}."
    )


def _kernel(report: SymmetryReport) -> Iterator[str]:
    kernel, linear = report.kernel_dimension, report.linear_rank
    if kernel == 0:
        yield "The kernel of the Jacobian is zero: the parametrisation is locally one-to-one."
    elif linear == kernel:
        yield (
            f"Linear symmetries fill the kernel of the Jacobian ({kernel} of {kernel}): there are no hidden "
            f"continuous symmetries."
        )
    else:
        yield (
            f"Linear symmetries account for {linear} of {kernel} dimensions of the kernel; {kernel - linear} "
            f"{_are(kernel - linear)} missing."
        )
        yield from _beyond_linear(report)


def _beyond_linear(report: SymmetryReport) -> Iterator[str]:
    for share in report.polynomial:
        yield (
            f"{share.group.name} in {', '.join(share.group.layers)} has an orbit of dimension "
            f"{share.orbit_dimension}: {share.group.reason}."
        )
    for degree in report.degrees:
        if degree.skipped is not None:
            yield f"Fields of degree {degree.degree} were not searched: {degree.skipped}."
            continue
        if not degree.new:
            yield f"There are no new fields of degree {degree.degree}."
            continue
        reasons = sorted({f.explained_by for f in degree.fields if f.explained_by is not None})
        because = f", explained by {', '.join(reasons)}" if reasons else ""
        yield (
            f"Degree {degree.degree} has {_count(degree.new, 'new field')}; with them the rank is "
            f"{degree.rank} ({degree.strength}){because}."
        )
    for explained in report.explained:
        count = _count(len(explained.explanation.directions), "direction")
        yield f"{count}, {explained.adds} beyond linear symmetries: {explained.explanation.text}."
    yield _rest(report)
    for place in report.located:
        yield (
            f"{place.adds} of them {_are(place.adds)} in the part from {place.start} to {place.end}: its "
            f"{place.parameters} parameters have rank {place.rank} (at sampled inputs)."
        )


def _rest(report: SymmetryReport) -> str:
    gap, kernel = report.kernel_dimension - report.linear_rank, report.kernel_dimension
    if report.hidden == 0:
        return f"Together they account for the whole kernel: {gap} {_are(gap)} explained ({report.strength})."
    return (
        f"{report.hidden} of {kernel} dimensions {_are(report.hidden)} hidden: no field that was found and "
        f"no factorisation known here accounts for them."
    )


def _rank(report: SymmetryReport) -> Iterator[str]:
    if not report.rank_is_exact:
        yield (
            f"The rank {report.rank} is a lower bound: where the generic rank is larger, the generic kernel "
            f"is smaller than {report.kernel_dimension}."
        )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
