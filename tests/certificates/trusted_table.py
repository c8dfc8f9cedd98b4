"""The table of ``TRUSTED.md``: ``python -m tests.certificates.trusted_table`` writes it anew."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import lightningalg
from lightningalg.certificates.trusted_base import SECTIONS, TrustedBase, trusted_bases

DOCUMENT = Path(lightningalg.__file__).parent / "certificates" / "TRUSTED.md"
CORPUS = Path(__file__).with_name("corpus") / "valid"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


def bases() -> list[TrustedBase]:
    """What every valid certificate of the corpus rests on."""
    return trusted_bases(sorted(CORPUS.iterdir()), alone=True)


def table(found: list[TrustedBase]) -> str:
    """Counts for each kind, then the names of functions: those of all kinds, and the others by kind."""
    kinds = {kind: [base for base in found if base.kind == kind] for kind in SECTIONS}
    lines: dict[str, dict[str, set[int]]] = {}
    for kind, members in kinds.items():
        own = lines[kind] = {}
        for base in members:
            for name, (ran, _) in base.functions.items():
                own.setdefault(name, set()).update(ran)
    count = Counter(name for own in lines.values() for name in own)
    common = [name for name in lines["dimension"] if count[name] == len(kinds)]
    rows = [
        "| kind | sections of FORMAT.md | certificates | functions | lines |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind, own in lines.items():
        ran = sum(map(len, own.values()))
        rows.append(f"| `{kind}` | 1, {SECTIONS[kind]} | {len(kinds[kind])} | {len(own)} | {ran} |")
    every: dict[str, set[int]] = {}
    for own in lines.values():
        for name, ran_lines in own.items():
            every.setdefault(name, set()).update(ran_lines)
    total = sum(map(len, every.values()))
    rows.append(
        f"| all | | {len(found)} | {len(every)} | {total} of {found[0].lines}, "
        f"and {found[0].top_level} of constants |"
    )
    rows += ["", "Functions for all kinds: " + names(common) + ".", "", "Further ones:", ""]
    rows += [
        f"* `{kind}`: " + names([name for name in own if name not in common]) + "."
        for kind, own in lines.items()
    ]
    return "\n".join(rows) + "\n"


def names(listed: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in listed)


def parts(text: str) -> tuple[str, str, str]:
    """What is before the table, the table, and what is after it."""
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


if __name__ == "__main__":
    before, _, after = parts(DOCUMENT.read_text("utf-8"))
    DOCUMENT.write_text(before + BEGIN + table(bases()) + END + after, encoding="utf-8")
