r"""Certificates of kind ``boundary`` in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate
from lightningalg.render.latex.one_layer import checked_partition, dimension_of, read_sizes, triple


@dataclass(frozen=True, slots=True)
class BoundaryInstance:
    """One certificate: sizes, dimensions, and whether there are real points of Y without real weights."""

    label: int
    sizes: Tex
    dimension: int
    strata: int
    complement_dimension: int | None
    sha256: str
    verdict: str

    kind = "boundary"

    @property
    def empty(self) -> bool:
        """All real points of Y have real weights."""
        return self.complement_dimension is None

    @property
    def complement(self) -> Tex:
        """The dimension of the complement for a table."""
        return Tex("--" if self.empty else f"${self.complement_dimension}$")

    @property
    def boundary(self) -> Tex:
        """The boundary for a table."""
        if self.empty:
            return translate(r"empty, $Y(\RR)=M$")
        return translate(r"$w\otimes\ell^2\otimes q$, with $0$")

    @property
    def statement(self) -> Tex:
        """The theorem's sentence."""
        if self.empty:
            return translate(r"Then $Y(\RR)=M$, and the boundary of $M$ is empty.")
        first = translate(
            r"The boundary of $M$ is $\{w\otimes\ell^2\otimes q\}$, the set of points "
            r"$\psi(w\otimes\ell,\ell\otimes q)$ with real $w$, $q$ and real linear forms $\ell$; these are "
            r"the strata $(1,1,1)$ and $\{0\}$."
        )
        sizes = {"dimension": self.complement_dimension, "all": self.dimension}
        if self.complement_dimension == self.dimension:
            second = translate(
                r"The set $Y(\RR)\setminus M$ has dimension $%(dimension)s$, equal to $\dim Y=%(all)s$.",
                **sizes,
            )
        else:
            second = translate(
                r"The set $Y(\RR)\setminus M$ has dimension $%(dimension)s$, less than $\dim Y=%(all)s$.",
                **sizes,
            )
        return Tex(f"{first} {second}")

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        found = translate(r"empty, as $Y(\RR)=M$") if self.empty else r"$\{w\otimes\ell^2\otimes q\}$"
        return translate(
            "for $(d,d',a)=%(sizes)s$, the boundary of $M$ is %(found)s", sizes=self.sizes, found=found
        )


def read(certificate: Mapping[str, Any], label: int, verdict: str) -> BoundaryInstance:
    """Return the printable form.

    Raises
    ------
    InputError
        If the claim does not follow from the witness, or is not that of the printed theorem.
    """
    sizes = read_sizes(certificate)
    claim, stated = certificate["claim"], certificate["witness"]["strata"]
    checked_partition(stated, sizes, "boundary", claim["boundary"], claim["not_boundary"])
    d, dprime, _ = sizes
    complement = None if d == 1 else dprime + 3 * d - 3
    reached = [] if d == 1 else [[0, 0, 0], [1, 1, 1]]
    expected = (dimension_of(sizes), complement, reached)
    if (claim["dimension"], claim["complement_dimension"], claim["boundary"]) != expected:
        raise InputError("certificate: the claim is not that of the theorem on boundaries")
    return BoundaryInstance(
        label, triple(sizes), expected[0], len(stated), complement, certificate["sha256"], verdict
    )


def _abstract(instances: Sequence[BoundaryInstance]) -> Tex:
    if len(instances) == 1:
        return translate(
            "We determine the boundary of the neuromanifold of one layer of lightning self-attention "
            "within the real points of its Zariski closure, for $(d,d',a)=%(sizes)s$.",
            sizes=instances[0].sizes,
        )
    return translate(
        "We determine the boundaries of the neuromanifolds of $%(count)s$ single layers of lightning "
        "self-attention within the real points of their Zariski closures.",
        count=len(instances),
    )


kind = Kind(
    "boundary",
    (Message("The boundary of one attention layer"), Message("The boundaries of single attention layers")),
    "boundary.tex.j2",
    read,
    Message("enumerates the strata, expands the families, and recomputes the minors, signs and ranks"),
    _abstract,
    {"BrunsVetter": Tex(""), "Harris": Tex(""), "HMK": Tex("")},
)
