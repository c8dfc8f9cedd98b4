r"""Words for the quantities of worksheets' claims: what a formula compares, and what a yes or no says."""

from __future__ import annotations

from lightningalg.render.latex.language import Message, Tex, translate

#: quantities that certificates prove, and numbers of networks; letters such as d and a need no words
_WORDS = {
    "dimension": Message("dimension"),
    "fibre_dimension": Message("dimension of the fibre"),
    "complement_dimension": Message("dimension of the real points of Y outside M (-1: none)"),
    "weights_dimension": Message("dimension in (Q, K, V)"),
    "lower_bound": Message("lower bound"),
    "upper_bound": Message("upper bound"),
    "parameters": Message("parameters"),
    "hidden": Message("sum of the hidden widths"),
    "degree": Message("degree"),
    "fibre_degree": Message("degree of the fibre"),
    "components": Message("components"),
    "multiplicity": Message("multiplicity"),
    "largest_multiplicity": Message("largest multiplicity"),
    "fibre_points": Message("points of a general fibre"),
    "input_degree": Message("degree in X"),
    "greatest_parameter_degree": Message("greatest degree in a parameter matrix"),
    "least_parameter_degree": Message("least degree in a parameter matrix"),
    "generators": Message("generators"),
    "linear": Message("linear forms"),
    "quadrics": Message("quadrics"),
    "cubics": Message("cubics"),
    "quartics": Message("quartics"),
    "strata": Message("strata"),
    "singular_strata": Message("singular strata"),
    "boundary_strata": Message("strata of the boundary"),
    "unexplained": Message("dimensions of the kernel that the known fields do not span"),
    "orthogonal": Message("sum of the a of the factors so(a,a)"),
    "power": Message("power of the maximal ideal that takes the element into the ideal"),
    "not_immersed": Message(
        "strata where the ranks of A and V have a product of at least 2 and no immersion is shown"
    ),
    "attention_rank": Message("rank of A"),
    "directions": Message("dimension of the span of the fields"),
    "terms": Message("terms"),
    "inputs": Message("inputs"),
    "sheets": Message("preimages up to scale of a general point"),
    "forms_degree": Message("degree of the variety of attention matrices"),
    "real": Message("components with real points"),
    "float_maximum": Message("largest rank with standard weights"),
    "scaled_maximum": Message("largest rank with scaled weights"),
    "float_wrong": Message("wrong trials with standard weights"),
    "scaled_wrong": Message("wrong trials with scaled weights"),
    "inputs_needed": Message("inputs needed for the rank of the dimension"),
    "orbits": Message("orbits of pairs"),
    "kernel": Message("dimension of the kernel of the differential"),
    "differential_rank": Message("rank of the differential"),
    "most_partials": Message("largest number of non-zero partial derivatives of a coefficient"),
    "least_partials": Message("least number of non-zero partial derivatives of a coefficient"),
    "all_partials": Message("non-zero entries of the Jacobian"),
    "coefficients": Message("coefficients"),
    "slice_dimension": Message("dimension of the slice of the fibre"),
    "slice_degree": Message("degree of the slice"),
    "slice_points": Message("points of the slice"),
    "and": Message("and"),
    "or": Message("or"),
}
#: quantities rank_1, rank_2, ... of claims on few inputs
_MOST_INPUTS = 60
#: quantities of which 1 means yes: what yes and no say
_TRUTHS = {
    "closed": (Message("the images are closed"), Message("the images are not closed")),
    "base_point": (
        Message("non-zero virtual weights have the function 0"),
        Message("no non-zero virtual weights have the function 0"),
    ),
    "squares": (
        Message("the boundary is the set that the statement names"),
        Message("the boundary is not the set that the statement names"),
    ),
    "rank_product_at_most_one": (
        Message("the singular points are those where the product of the ranks of A and V is at most 1"),
        Message("the singular points are not those where the product of the ranks of A and V is at most 1"),
    ),
    "as_in_math": (
        Message("the singular points are those of MATH.md"),
        Message("the singular points are not those of MATH.md"),
    ),
    "identified": (Message("the fibre in (A, V) is a point"), Message("the fibre in (A, V) is no point")),
    "orbit": (
        Message("the fibre in (Q, K, V) is an orbit of GL"),
        Message("the fibre in (Q, K, V) is not an orbit of GL"),
    ),
    "determined": (
        Message("the values determine the virtual weights up to scaling"),
        Message("the values do not determine the virtual weights"),
    ),
    "embedded": (
        Message("the fibre over 0 has an embedded component at 0"),
        Message("the fibre over 0 has no embedded component at 0"),
    ),
    "kernel_as_stated": (
        Message("the kernel of the differential is the space that MATH.md states"),
        Message("the kernel of the differential is not the space that MATH.md states"),
    ),
    "decided": (
        Message("the bounds of every rank meet"),
        Message("the bounds of some rank do not meet"),
    ),
    "zero": (Message("the function is 0"), Message("the function is not 0")),
}


def quantity_words() -> dict[str, str]:
    """Return words for the names of quantities, and for "and" and "or", in the current language.

    Examples
    --------
    >>> quantity_words()["float_wrong"]
    'wrong trials with standard weights'
    """
    found = {name: str(translate(message)) for name, message in _WORDS.items()}
    for k in range(1, _MOST_INPUTS + 1):
        found[f"rank_{k}"] = str(translate("rank with %(count)s inputs", count=k))
    return found


def quantity_truths() -> dict[str, tuple[str, str]]:
    r"""Return what yes and no say of quantities of which 1 means yes, for math mode.

    Examples
    --------
    >>> quantity_truths()["zero"]
    ('\\text{the function is 0}', '\\text{the function is not 0}')
    """
    return {
        name: (rf"\text{{{translate(yes)}}}", rf"\text{{{translate(no)}}}")
        for name, (yes, no) in _TRUTHS.items()
    }


def negated(condition: str) -> Tex:
    """Return the text that a condition does not hold.

    Examples
    --------
    >>> negated("$a = 1$")
    'not: $a = 1$'
    """
    return translate("not: %(condition)s", condition=condition)
