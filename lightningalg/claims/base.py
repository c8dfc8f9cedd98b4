"""What a kind of claim is: it certifies a subject and says which quantities are proved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.errors import LightningAlgError


class RefutedError(LightningAlgError):
    """The claim is false; the message is the exact counterexample."""


class AbstractClaim(ABC):
    """A kind of claim of a worksheet. A new kind is one new file in ``claims``."""

    #: the ``kind`` of a claim in a worksheet
    kind: ClassVar[str]

    #: ``network`` or ``identity``: what a claim of this kind is about
    subject: ClassVar[str] = "network"

    #: the ``kind`` of the certificates it makes
    certificate_kind: ClassVar[str]

    #: quantities that ``check`` formulas may name, with their meaning
    quantities_known: ClassVar[Mapping[str, str]]

    #: those of them that are numerical: a verdict that rests on one of them is no more than numerical
    numerical: ClassVar[frozenset[str]] = frozenset()

    #: the quantity that ``expected`` is compared with
    expected_quantity: ClassVar[str]

    @abstractmethod
    def certify(self, subject: Any, *, seed: str) -> Certificate:
        """Return the certificate for a network (or an identity's table).

        Raises
        ------
        RefutedError
            If there is none because the statement is false.
        UnsupportedError
            If this version has no method for the subject.
        """

    @abstractmethod
    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        """Return the quantities a certificate proves; ``None``: unknown. ``expected`` may lie between
        ``lower_bound`` and ``upper_bound`` where the quantity itself is unknown."""

    def is_about(self, certificate: Mapping[str, Any], network: Any) -> bool:
        """Return whether a certificate that names no network is that of a claim about ``network``.

        A kind whose certificates name theirs has no use for it; without a method of its own the answer is no.

        Raises
        ------
        LightningAlgError
            If the kind has no certificate for the network.
        """
        return False
