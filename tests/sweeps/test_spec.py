"""What a sweep is about: ranges, filters, samples, and what is refused."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.errors import InputError
from lightningalg.sweeps.spec import Family, architecture, read_spec


def family(**table) -> Family:
    return Family.parse({"widths": "1..3", "ranks": "1..2", "layers": "1..2", **table}, 1)


def test_all_combinations_come_once_and_in_order():
    found = list(family().architectures())
    expected = [la.lightning(widths, ranks) for layers in (1, 2)
                for widths in itertools.product((1, 2, 3), repeat=layers + 1)
                for ranks in itertools.product((1, 2), repeat=layers)]  # fmt: skip
    by_sizes = sorted(expected, key=lambda net: (len(net.nodes), str(net)))
    assert sorted((len(a.table["layers"]), a.text) for a in found) == [
        (len(n.nodes), str(n)) for n in by_sizes
    ]
    assert len({a.key for a in found}) == len(found) == family().points == 9 * 2 + 27 * 4


def test_the_filter_is_a_formula():
    found = list(family(where="parameters <= 8 and d0 >= d1").architectures())
    assert found and all(a.parameters <= 8 for a in found)
    assert {a.text for a in found} < {a.text for a in family().architectures()}


@given(st.integers(1, 40), st.text("abc", max_size=5))
def test_samples_are_distinct_members_and_repeatable(count, seed):
    first = [a.key for a in family(sample=count, seed=seed).architectures()]
    assert len(set(first)) == len(first) == count
    assert first == [a.key for a in family(sample=count, seed=seed).architectures()]
    assert set(first) <= {a.key for a in family().architectures()}


def test_samples_reach_every_number_of_layers():
    found = list(family(layers="1..4", widths="1..6", sample=80).architectures())
    assert {len(a.table["layers"]) for a in found} == {1, 2, 3, 4}


def test_a_sample_larger_than_the_family_is_the_family():
    assert len(list(family(layers=1, sample=1000).architectures())) == 18


def test_residual_families_skip_unequal_widths():
    found = list(family(residual=[False, True], layers=1).architectures())
    assert len(found) == 18 + 3 * 2
    equal = list(family(residual=True, equal_widths=True, layers=2).architectures())
    assert len(equal) == 3 * 4


def test_monomial_degrees():
    found = [
        a.text
        for a in Family.parse(
            {"kind": "monomial", "layers": 2, "widths": 2, "degree": [2, 3]}, 1
        ).architectures()
    ]
    assert found == [str(la.monomial((2, 2, 2), degree)) for degree in (2, 3)]


def test_the_key_is_that_of_the_network_alone():
    net = la.lightning((2, 3), (1,))
    assert architecture(net, "x").key == architecture(la.lightning((2, 3), (1,)), "y").key
    assert architecture(net).key != architecture(la.lightning((2, 3), (2,))).key


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no families"]),
        ("family = 3", ["no families"]),
        ("[[family]]\nwidths = 3", ["family number 1", '"layers"']),
        ("[[family]]\nlayers = 1\nranks = 1", ['"widths"']),
        ("[[family]]\nlayers = 1\nwidths = 2", ['"ranks"']),
        ("[[family]]\nlayers = 0\nwidths = 2\nranks = 1", ['"layers"', "from 1"]),
        ("[[family]]\nlayers = '2..1'\nwidths = 2\nranks = 1", ['"layers"', "1..5"]),
        ("[[family]]\nlayers = 99\nwidths = 2\nranks = 1", ['"layers"', "64"]),
        ("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\nkind = 'deep'", ['"kind"', "lightning"]),
        ("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\nfilter = 'x'", ["filter", "where"]),
        ("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\nwhere = 'd0 + 1'", ['"where"', "condition"]),
        ("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\nwhere = 'colour == 1'", ['"where"', "colour"]),
        ("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\nwhere = '__import__(1) == 1'", ["formula"]),
        ("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\nsample = -1", ['"sample"']),
        ("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\ndegree = 2", ['"degree"', "lightning"]),
        ("[[family]]\nlayers = 2\nwidths = 2\nkind = 'monomial'\nheads = 2", ['"heads"', "monomial"]),
        (2 * "[[family]]\nname='a'\nlayers = 1\nwidths = 2\nranks = 1\n", ['"a"']),
        ("colour = 1\n[[family]]\nlayers = 1", ["colour"]),
        ("[[family", ["TOML"]),
    ],
)  # fmt: skip
def test_a_wrong_sweep_is_refused_with_file_and_field(tmp_path, text, words):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_spec(path)
    for word in ("wrong.toml", *words):
        assert word in str(caught.value)


def test_too_many_combinations_are_refused_at_once(tmp_path):
    path = tmp_path / "huge.toml"
    path.write_text("[[family]]\nlayers = 64\nwidths = '1..1000'\nranks = '1..1000'")
    with pytest.raises(InputError, match="sample"):
        next(read_spec(path).architectures())


def test_a_name_that_some_networks_lack_is_refused(tmp_path):
    path = tmp_path / "w.toml"
    path.write_text("[[family]]\nlayers = '1..2'\nwidths = 2\nranks = 1\nwhere = 'd2 == 2'")
    with pytest.raises(InputError, match="d2"):
        list(read_spec(path).architectures())


def test_a_sample_that_stays_short_is_said(tmp_path, capfd):
    from tests.cli.support import call

    path = tmp_path / "w.toml"
    path.write_text("[[family]]\nname='f'\nlayers = 1\nwidths = 2\nranks = '1..2'\nsample = 9\n")
    answer = call(capfd, "sweep", path, "--store", tmp_path / "s.sqlite", "--workers", "1")
    assert answer.code == 0 and 'note: family "f": 2 of the 9' in answer.err
    path.write_text("[[family]]\nlayers = 1\nwidths = 2\nranks = 1\nwhere = 'd0 > 5'\n")
    call(capfd, "sweep", path, "--store", tmp_path / "s.sqlite").refuses("no architectures")
