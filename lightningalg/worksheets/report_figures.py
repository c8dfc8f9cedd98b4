"""The figures of a report: of one claim, of its neighbours, and of the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lightningalg.errors import LightningAlgError, MissingExtraError
from lightningalg.networks.spec import network_from_table
from lightningalg.render.html.charts import Point, scatter
from lightningalg.render.html.graph import GraphNode, layered_graph
from lightningalg.render.html.records import ClaimPage, Figure, InstanceRow
from lightningalg.render.typed import typed
from lightningalg.worksheets.figures import MOST_PARAMETERS, certificate_figures

Certificates = Mapping[str, Mapping[str, Any]]  # of a claim, by the name of the instance

#: kinds of claims on which a slice of one layer's closure throws light
_SLICED = frozenset({"singular-locus", "boundary", "closedness", "invariants", "dimension"})
_SIGNS = {"certified": "✓", "certified with hypotheses": "✓*", "refuted": "✗", "open": "?"}
_LARGEST = 3  # width, output and rank of a layer that is drawn: the picture does not change beyond


def claim_figures(claim: ClaimPage, certificates: Certificates) -> list[Figure]:
    """Return the figures of a claim, made from its certificates: dimensions, strata, network, Jacobian."""
    figures = []
    points = points_of(claim.instances, claim.title)
    if len(points) > 1:
        svg = scatter(points, f"Dimension against parameters: {claim.title}", "parameters", "dimension")
        caption = "Dimension against the number of parameters; on the dashed line they agree. " + _extremes(
            points
        )
        figures.append(Figure(svg, caption, "Dimension against parameters"))
    shown = _exemplary([row for row in claim.instances if row.name in certificates])
    if shown is not None:
        try:
            figures += certificate_figures(certificates[shown.name], shown.name)
        except (LightningAlgError, KeyError, TypeError, ValueError):
            return figures  # a certificate with a right hash and a wrong content has no figures
    return figures


def _extremes(points: Sequence[Point]) -> str:
    low = min(points, key=lambda p: p.y / p.x)
    return f"The smallest part of the parameters that counts is {low.y:,.0f} of {low.x:,.0f}."


def _exemplary(rows: list[InstanceRow]) -> InstanceRow | None:
    """Return the instance to draw: the largest whose Jacobian or strata can be looked at, else the first."""

    def size(row: InstanceRow) -> int:
        number = row.facts.get("parameters") or row.facts.get("strata") or ""
        return int(number) if number.isdigit() and len(number) < 10 else 0

    small = [row for row in rows if 0 < size(row) <= MOST_PARAMETERS]
    return max(small, key=size) if small else next(iter(rows), None)


def points_of(rows: Iterable[InstanceRow], title: str) -> list[Point]:
    """Return the points of a plot of dimension against parameters."""
    points = []
    for row in rows:
        n, value = (
            row.facts.get("parameters", ""),
            row.facts.get("dimension") or row.facts.get("upper_bound", ""),
        )
        if n.isdigit() and value.isdigit() and len(n) < 16 and len(value) < 16:
            relation = "dimension" if row.facts.get("dimension") else "at most"
            text = f"{title}: {row.name}, {n} parameters, {relation} {value} ({row.verdict})"
            points.append(Point(int(n), int(value), row.verdict.replace(" ", "-"), text))
    return points


def overview(claims: Sequence[ClaimPage]) -> list[Figure]:
    """Return the figures of the first page: all dimensions, and which claim rests on which."""
    figures = []
    points = [point for claim in claims for point in points_of(claim.instances, claim.title)]
    if points:
        svg = scatter(points, "Dimension against parameters, all instances", "parameters", "dimension")
        caption = (
            "Dimension (or its upper bound) against the number of parameters, all instances of all claims. "
            "On the dashed line every parameter counts; below it the parametrisation has continuous fibres. "
            "The size of a mark grows with the number of instances it stands for."
        )
        figures.append(Figure(svg, caption, "Dimension against parameters"))
    known = {claim.key: claim for claim in claims}
    edges = [(key, claim.key) for claim in claims for key in claim.uses if key in known]
    if edges:
        ends = {end for edge in edges for end in edge}
        nodes = [_node(c, "claims/") for c in claims if c.key in ends]
        svg = layered_graph(nodes, edges, "Which claim rests on which")
        caption = (
            "Which claim rests on which: an arrow leads from a claim to one that uses it. Each box is a "
            "link; claims that neither use another nor are used are left out."
        )
        figures.append(Figure(svg, caption, "Which claim rests on which"))
    return figures


def neighbours(claim: ClaimPage, known: Mapping[str, ClaimPage]) -> Figure | None:
    """Return the graph of a claim, of what it rests on, and of what rests on it."""
    before = [known[key] for key in claim.uses if key in known and key != claim.key]
    after = [known[key] for key in claim.used_by if key in known and key != claim.key]
    if not before and not after:
        return None
    found = {c.key: c for c in (*before, claim, *after)}
    edges = [(c.key, claim.key) for c in before] + [(claim.key, c.key) for c in after]
    nodes = [_node(c, "", here=c.key == claim.key) for c in found.values()]
    svg = layered_graph(nodes, edges, f"What {typed(claim.title)} rests on and what rests on it")
    caption = "What this claim (heavy frame) rests on, to its left, and what rests on it, to its right."
    return Figure(svg, caption, "Claims it depends on")


def _node(claim: ClaimPage, folder: str, *, here: bool = False) -> GraphNode:
    mark = claim.verdict.replace(" ", "-") + (" here" if here else "")
    sign = _SIGNS.get(claim.verdict, "?")
    return GraphNode(claim.key, typed(claim.title), f"{sign} {claim.key}", mark, f"{folder}{claim.page}")


def slice_figures(
    claim: ClaimPage, certificates: Certificates, drawn: dict[str, Figure], progress: Callable[[str], None]
) -> list[Figure]:
    """Return slices of the closure for a claim on single lightning layers, one of each sort, of small layers.

    ``drawn`` keeps what was drawn for other claims. Without matplotlib there are none.
    """
    from lightningalg.invariants.slices import slice_of
    from lightningalg.render.plots import draw_slice

    deep = claim.kind == "dimension" and any(len(_layers(c)) != 1 for c in certificates.values())
    if claim.kind not in _SLICED or deep:
        return []
    figures: dict[str, Figure] = {}
    for table in _single_layers(certificates):
        try:
            picture = slice_of(network_from_table(table))
            key = f"{picture.name}: {picture.title}"
            if picture.name in figures:
                continue
            if key not in drawn:
                progress(f"slice of {picture.title}")
                sizes = "-".join(c for c in picture.title if c.isdigit())
                content = draw_slice(picture, "png", caption=False)
                file = f"figures/slice-{picture.name}-{sizes}.png"
                caption = f"{picture.title}: {picture.shown}. {picture.caption}"
                drawn[key] = Figure("", caption, "Slice", file, content)
        except MissingExtraError:
            return []
        except LightningAlgError:  # no attention head, one token, width one: there is no slice
            continue
        figures[picture.name] = drawn[key]
    return list(figures.values())


def _layers(certificate: Mapping[str, Any]) -> list[Any]:
    table = certificate.get("network")
    layers = table.get("layers") if isinstance(table, Mapping) else None
    return layers if isinstance(layers, list) else []


def _single_layers(certificates: Certificates) -> list[Mapping[str, Any]]:
    """Return the descriptions of networks of one small attention layer, the smallest first."""
    tables = []
    for certificate in certificates.values():
        layers = _layers(certificate)
        if (
            len(layers) == 1
            and isinstance(layers[0], Mapping)
            and layers[0].get("type") == "lightning_attention"
        ):
            sizes = [v for v in layers[0].values() if isinstance(v, int) and not isinstance(v, bool)]
            if all(0 < size <= _LARGEST for size in sizes):
                tables.append((sum(sizes), certificate["network"]))
    return [table for _, table in sorted(tables, key=lambda pair: pair[0])]
