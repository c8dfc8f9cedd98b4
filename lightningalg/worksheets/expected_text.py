r"""What a claim expects, in print: formulas as mathematics, quantities and yes or no in words."""

from __future__ import annotations

import re

from lightningalg.claims import claim_kinds
from lightningalg.errors import InputError
from lightningalg.render.latex.language import Tex, speaking
from lightningalg.render.latex.quantities import negated, quantity_truths, quantity_words
from lightningalg.worksheets.formula import Formula

_TOKEN = re.compile(r"\\text\{([^{}]*)\}|[{}]")


def wanted(
    expected: str, check: str, kind: str, *, differs: bool = False, lang: str = "en"
) -> tuple[Tex, ...]:
    r"""Return what a claim of a kind expects, and what else it requires, as LaTeX that lines may break.

    Texts that are no formulas give nothing: then only the words of the claim say what is expected.

    Parameters
    ----------
    expected, check
        Formulas, or nothing.
    differs
        The claim is that these do not hold.

    Examples
    --------
    >>> print(*wanted("d^2 - 1", "2*parameters > 3*dimension", "dimension"), sep="\n")
    dimension $= d^2 - 1$
    $2 \cdot$ parameters $> 3 \cdot$ dimension
    >>> print(*wanted("1", "", "closedness"), *wanted("layers", "", "fibre", differs=True))
    the images are closed dimension $\ne l$
    """
    known = claim_kinds().get(kind)
    with speaking(lang):
        words, truths = quantity_words(), quantity_truths()
        try:
            found = [Formula.parse(check).to_latex(words, truths)] if check else []
            if expected and known:
                found.insert(0, _equation(known.expected_quantity, expected, words, truths, differs))
        except InputError:
            return ()
        texts = [broken_at_words(tex) for tex in found]
        if differs and check:
            texts[-1] = str(negated(texts[-1]))
    return tuple(Tex(text) for text in texts)


def _equation(
    quantity: str, expected: str, words: dict[str, str], truths: dict[str, tuple[str, str]], differs: bool
) -> str:
    if expected in ("0", "1") and quantity in truths:
        return truths[quantity][(expected == "0") != differs]
    name = words.get(quantity, quantity.replace("_", " "))
    sign = r"\ne" if differs else r"\le" if quantity == "upper_bound" else "="
    return rf"\text{{{name}}} {sign} {Formula.parse(expected).to_latex(words, truths)}"


def broken_at_words(tex: str) -> str:
    r"""Return a formula for text mode whose words outside of braces, and whose brackets, are broken.

    Examples
    --------
    >>> print(broken_at_words(r"\text{values} = \left(a + \frac{\text{b}}{2}\right)"))
    values $= (a + \frac{\text{b}}{2})$
    >>> print(broken_at_words(r"\text{rank} = 3\ \text{and}\ \text{closed}"))
    rank $= 3$ and closed
    """
    tex = tex.replace(r"\left(", "(").replace(r"\right)", ")").replace("\\ ", " ")
    parts, depth, start = [], 0, 0
    for found in _TOKEN.finditer(tex):
        if found[1] is None:
            depth += 1 if found[0] == "{" else -1
        elif depth == 0:
            parts += [(True, tex[start : found.start()]), (False, found[1])]
            start = found.end()
    parts.append((True, tex[start:]))
    shown = []
    for formula, text in parts:
        inner = text.strip()
        if not formula:
            shown.append(inner)
        elif inner:
            lead, trail = (" " if text[:1] == " " and shown else ""), (" " if text[-1:] == " " else "")
            shown.append(f"{lead}${inner}${trail}")
        elif text:
            shown.append(" ")
    return re.sub(r"  +", " ", "".join(shown)).strip()
