r"""Kinds of certificates in print, one file each: it defines ``kind``, and nothing else needs to know it.

Kinds ``dimension``, ``degrees`` and ``matrix-identity`` share notation and tables and live beside this
package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol

from lightningalg.render.latex.escape import Tex
from lightningalg.render.latex.language import Message


class AbstractInstance(Protocol):
    """The printable form of one certificate; a kind adds what its template reads."""

    @property
    def label(self) -> int:
        """The number of the certificate in the article, from 1."""

    @property
    def kind(self) -> str:
        """The certificate's kind."""

    @property
    def sha256(self) -> str:
        """The certificate's hash."""

    @property
    def verdict(self) -> str:
        """The verdict on a worksheet's claim for this instance, or nothing."""

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause without a full stop, for lists of instances."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How certificates of one kind are printed.

    Attributes
    ----------
    name
        The ``kind`` of the certificates.
    titles
        Title of an article on one certificate, and on several, in English: translated when printed.
    template
        The file in the folder of templates of each language that prints the section: statements and proofs.
        It reads ``instances`` (of this kind), ``doc`` (the article) and the tools of ``escape`` and
        ``typeset``.
    read
        ``read(certificate, label, verdict)``: the printable form. Certificates are untrusted: every text is
        escaped, and a ``KeyError``, ``TypeError``, ``ValueError`` or ``InputError`` becomes the caller's
        error.
    check
        What a checker does, as a clause in English: ``recomputes the ranks of all arcs``.
    abstract
        One or two sentences for the abstract, in the current language.
    references
        Key and text of the works that the section cites; texts of keys that the article knows are left empty.
    """

    name: str
    titles: tuple[Message, Message]
    template: str
    read: Callable[[Mapping[str, Any], int, str], AbstractInstance]
    check: Message
    abstract: Callable[[Sequence[Any]], Tex]
    references: Mapping[str, Tex | Message] = field(default_factory=dict)


def kinds() -> dict[str, Kind]:
    """Return all kinds by name, in the order of their sections.

    Examples
    --------
    >>> all(kind.name == name for name, kind in kinds().items())
    True
    """
    names = sorted(info.name for info in iter_modules(__path__))
    found = [import_module(f"{__name__}.{name}").kind for name in names]
    return {kind.name: kind for kind in found}
