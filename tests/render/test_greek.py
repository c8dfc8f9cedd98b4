"""Greek letters: one list, and every name and sign is the same letter wherever people type it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

import lightningalg
from lightningalg.render.greek import GREEK
from lightningalg.render.latex.escape import escape_text
from lightningalg.render.latex.identity import symbol
from lightningalg.render.latex.prose import prose
from lightningalg.render.typed import signs
from lightningalg.worksheets.formula import Formula


@pytest.mark.parametrize("name", GREEK)
def test_a_letter_is_itself_everywhere(name):
    sign, command = GREEK[name], f"\\{name}"
    said = r"\sum" if sign == "Σ" else command
    assert prose(f"for {name} = 1") == f"for ${command} =1$"
    assert prose(f"for {sign} = 1") == f"for ${said} =1$"
    assert symbol(name) == command
    assert command in escape_text(sign)
    assert Formula.parse(f"{name} + 1").to_latex().startswith(command)
    assert signs(f"every {name}, no {name}s") == f"every {sign}, no {name}s"


def test_names_are_those_of_unicode():
    for name, sign in GREEK.items():
        said = unicodedata.name(sign)
        plain = name.removeprefix("var").upper().replace("LAMBDA", "LAMDA")
        assert said.startswith("GREEK ") and (plain in said or name == "varsigma"), (name, said)
        assert ("CAPITAL" in said) == name[0].isupper()
    assert len(set(GREEK.values())) == len(GREEK)


def test_there_is_one_list():
    package = Path(lightningalg.__file__).parent
    holders = [
        path.name
        for path in package.rglob("*.py")
        if all(f'"{n}"' in (text := path.read_text()) for n in ("kappa", "omega"))
        or "kappa lambda mu" in text
    ]
    assert holders == ["greek.py"]
