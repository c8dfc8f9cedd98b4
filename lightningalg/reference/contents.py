"""What the reference shows: modules grouped by what readers want to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """A task with the modules that serve it; paths are those after ``lightningalg.``."""

    title: str
    text: str
    modules: tuple[str, ...]


TOPICS = (
    Topic(
        "Building networks",
        "Standard families, anything on a directed acyclic graph, descriptions as TOML or JSON, own layers.",
        (
            "builders",
            "networks.network",
            "networks.node",
            "networks.spec",
            "networks.families",
            "networks.base",
            "networks.matrix",
            "networks.layers.lightning_attention",
            "networks.layers.normalized_attention",
            "networks.layers.linear",
            "networks.layers.monomial_activation",
            "networks.layers.bias",
            "networks.layers.convolution",
            "networks.layers.sum",
        ),
    ),
    Topic(
        "Evaluating maps",
        "Exact values over every ring, coefficients, Jacobians, degrees; floats and balls for softmax.",
        ("maps.polynomial_map", "maps.analytic_map", "maps.sampled_jacobian", "maps.grading"),
    ),
    Topic(
        "Dimensions",
        "Lower and upper bounds, both proved; a number where they meet.",
        (
            "claims.dimension",
            "rank.lower_bound",
            "rank.upper_bounds",
            "rank.ball_bound",
            "rank.float_rank",
            "rank.predicted",
            "claims.few_inputs",
            "rank.few_inputs",
        ),
    ),
    Topic(
        "Symmetries",
        "Groups that leave the function unchanged, and whether there are others.",
        ("claims.symmetries", "symmetry.report", "symmetry.known_groups", "symmetry.discrete_groups"),
    ),
    Topic(
        "Fibres and recovery",
        "All weights with the same function; weights from values.",
        (
            "claims.fibre",
            "claims.recovery",
            "claims.fibre_ideal",
            "claims.normalized_fibre",
            "fibres.points",
            "fibres.tensors",
            "fibres.classify",
            "ideals.fibre_ideals",
            "ideals.chain_ideals",
        ),
    ),
    Topic(
        "Strata of one layer",
        "Singular points, boundary, closedness, membership.",
        (
            "claims.singular_locus",
            "claims.boundary",
            "claims.closedness",
            "claims.closure_degree",
            "strata.degree",
            "claims.orbits",
            "strata.orbit_counts",
            "claims.membership",
            "strata.layer",
            "strata.orbits",
            "strata.membership",
            "strata.tensor_file",
        ),
    ),
    Topic(
        "Equations and pictures",
        "The ideal of the closure up to a degree, and slices of it.",
        ("invariants.study", "invariants.report", "claims.invariants", "invariants.slices", "render.plots"),
    ),
    Topic(
        "Claims and certificates",
        "Kinds of claims, certificate files, the independent checker, proofs in LaTeX, Rocq.",
        (
            "claims.base",
            "claims.degrees",
            "claims.dimension_bound",
            "claims.matrix_identity",
            "certificates.records",
            "certificates.files",
            "certificates.checker",
            "render.latex",
            "export.rocq",
        ),
    ),
    Topic(
        "Worksheets",
        "Claims as data: reading, running, verdicts, the report.",
        (
            "worksheets.model",
            "worksheets.runner",
            "worksheets.results",
            "worksheets.library",
            "worksheets.verdict",
            "worksheets.formula",
            "worksheets.report",
        ),
    ),
    Topic(
        "Many architectures",
        "Sweeps: families of architectures, a store that can be resumed, tables.",
        ("sweeps.spec", "sweeps.run", "sweeps.store", "sweeps.tables"),
    ),
    Topic(
        "Engines",
        "Exact linear algebra and ideals: what is installed, which engine is taken and why.",
        ("engines.base", "engines.choose", "engines.flint_rings"),
    ),
    Topic(
        "Errors and arguments",
        "Everything that callers are meant to catch.",
        ("errors", "arguments", "display"),
    ),
)


#: arguments that mean the same wherever they occur; the start page explains them once
GLOSSARY = {
    "A": "the attention matrix K^T Q of one layer, d x d",
    "K, Q": "key and query matrices, a x d",
    "L": "V_l ... V_1, the last of the virtual weights, d_l x d_0",
    "M": "the virtual weights M_1, ..., M_l, each d_0 x d_0",
    "V": "the value matrix of one layer, d' x d",
    "X": "an input: rows of numbers, width x tokens",
    "choose": "a function of rows and columns that picks the engine for a matrix of that size",
    "claim, subject": "the claim that a worksheet states, and the network or identity that it is about",
    "engine": "the name of an engine; auto: the package chooses, and says why",
    "ideal": "generators in numbered variables",
    "layer": "the sizes (d, d', a) of one layer, or the layer itself",
    "limits": "time and memory for an engine that is a program",
    "matrix": "a matrix over the engine's field",
    "name": "what error messages call the argument",
    "network": "a Network: layers on a directed acyclic graph",
    "order": "the order of monomials",
    "parameters, inputs": "matrices by name, and the values that a layer reads",
    "path, file, out": "a file or a folder, as text or as a path",
    "point": "weights, or virtual weights, over the rational numbers",
    "prime": "an odd prime below 2^23, unless another bound is stated",
    "progress": "a function that is told what is being done",
    "ranks": "a_1, ..., a_l: the rank of the heads of each layer",
    "ring": "QQ, GF(p) or a ring of polynomials",
    "rows, columns": "rows and columns of a matrix, or their numbers",
    "seed": "text or an integer that decides everything random: the same seed gives the same result",
    "theta": "all parameters in order, or a mapping from their names",
    "timeout, memory": "limits in seconds and GiB",
    "tokens": "the number t of columns of the input",
    "value, values": "the value that is checked, converted or shown",
    "widths": "d_0, ..., d_l: the widths of the input and of every layer",
}


def documented_modules() -> tuple[str, ...]:
    """Return the full names of all modules of the reference, the package itself first.

    Examples
    --------
    >>> documented_modules()[:2]
    ('lightningalg', 'lightningalg.builders')
    """
    return ("lightningalg", *(f"lightningalg.{name}" for topic in TOPICS for name in topic.modules))
