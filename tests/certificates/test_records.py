"""Canonical JSON, hashes and the text of certificates, against Python's json and literal values."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightningalg.certificates.records import (
    Certificate,
    MinorWitness,
    UpperBound,
    canonical_json,
    pretty_json,
    sha256_of,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=40,
)


@given(VALUES)
def test_canonical_json_is_that_of_the_format(value):
    text = canonical_json(value)
    assert text == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert text.isascii() and json.loads(text) == value
    assert sha256_of(value) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "value, text",
    [
        (
            {"b": 1, "a": [True, None, -3], "B": 'é\n"\\/'},
            '{"B":"\\u00e9\\n\\"\\\\/","a":[true,null,-3],"b":1}',
        ),
        ({"\U0001f600": "\u2028"}, '{"\\ud83d\\ude00":"\\u2028"}'),
        # sorted by code point: U+FFFF before U+10000, although its UTF-16 units sort after
        ({"\U00010000": 1, "\uffff": 2}, '{"\\uffff":2,"\\ud800\\udc00":1}'),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_canonical_json_in_literal_text(value, text):
    assert canonical_json(value) == text


def test_hash_of_known_bytes():
    # printf '{"a":1}' | sha256sum
    assert sha256_of({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    assert sha256_of({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_no_nan(value):
    with pytest.raises(ValueError):
        canonical_json(value)
    with pytest.raises(ValueError):
        pretty_json(value)


@given(VALUES)
def test_pretty_json_is_the_same_value(value):
    text = pretty_json(value)
    assert json.loads(text) == value
    assert text.isascii()


def test_pretty_json_has_short_lines():
    value = {
        "a": {"b": [{"c": list(range(5)), "d": "x" * 20}] * 30},
        "runs": [[i, i + 1] for i in range(100)],
    }
    assert max(map(len, pretty_json(value).splitlines())) <= 110
    assert pretty_json({"a": [1, 2]}) == '{"a": [1, 2]}'


def minor(**changes):
    return MinorWitness(
        **{"prime": 101, "seed": "s", "rows": (0, 1, 4), "columns": (2, 3, 4), "determinant": 7, **changes}
    )


def test_minor_witness():
    assert minor().value == 3
    assert minor().to_json() == {
        "value": 3,
        "prime": 101,
        "sampling": {"rule": "sha256-counter", "seed": "s"},
        "rows": [[0, 1], [4, 4]],
        "columns": [[2, 4]],
        "determinant": 7,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"determinant": 0},
        {"determinant": 101},
        {"determinant": -1},
        {"rows": (0, 1)},
        {"rows": (), "columns": ()},
    ],
)
def test_a_witness_that_proves_nothing_cannot_be_made(changes):
    with pytest.raises(AssertionError):
        minor(**changes)


def certificate():
    return Certificate(
        "dimension",
        {"network": {"tokens": 2}},
        {"quantity": "dimension", "relation": "equals", "value": 3},
        {
            "lower_bound": minor().to_json(),
            "upper_bound": UpperBound(3, "parameters", {"parameters": 3}).to_json(),
        },
        {"seed": "s"},
    )


def test_certificate_has_the_keys_of_the_format_and_its_hash():
    value = certificate().to_json()
    assert set(value) == {
        "format",
        "version",
        "kind",
        "network",
        "claim",
        "witness",
        "strength",
        "provenance",
        "sha256",
    }
    assert (value["format"], value["version"], value["strength"]) == ("lightningalg-certificate", 1, "exact")
    rest = {key: item for key, item in value.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert value["sha256"] == hashlib.sha256(text.encode("ascii")).hexdigest() == certificate().sha256
    assert json.loads(certificate().to_text()) == value
    identity = Certificate("matrix-identity", {"identity": {}}, {}, {}).to_json()
    assert "network" not in identity and identity["identity"] == {}


def test_every_change_changes_the_hash():
    original = certificate().sha256
    others = {
        Certificate(
            **{
                **{
                    name: getattr(certificate(), name)
                    for name in ("kind", "subject", "claim", "witness", "provenance", "strength")
                },
                **change,
            }
        ).sha256
        for change in (
            {"kind": "degrees"},
            {"subject": {"network": {"tokens": 3}}},
            {"claim": {}},
            {"witness": {}},
            {"provenance": {"seed": "t"}},
            {"strength": "ball"},
        )
    }
    assert len(others) == 6 and original not in others
