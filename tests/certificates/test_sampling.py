"""FORMAT.md's seed rule (section 3) and run lists (section 1), against other code and pinned bytes."""

from __future__ import annotations

import hashlib
import re
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightningalg.certificates.sampling import (
    compress_runs,
    expand_runs,
    stream_bytes,
    stream_values,
    validate_seed,
)
from lightningalg.errors import InputError
from tests import reference

SEEDS = st.text(string.ascii_letters + string.digits + "_-.", min_size=1, max_size=64)
LABELS = st.one_of(
    st.just("parameters"),
    st.builds("{}/{}".format, st.sampled_from(["input", "functional"]), st.integers(0, 10**6)),
)

# from sha256sum, for instance: printf 'lightningalg-certificate/1|0|parameters|0' | sha256sum
PINNED = [
    ("0", "parameters", 8, "671f8b2b5ae91847fdf5f57f347adbc020fc3454c5193b7ee592b7a6fbc67768"),
    ("Ab_.-9", "functional/12", 16, "efd0b9214c5ca0425c321839cfca1964164d6de5b3a7d5c15042d979e52b9189"),
]


@pytest.mark.parametrize("seed, label, count, digest", PINNED)
def test_pinned_bytes(seed, label, count, digest):
    assert stream_bytes(seed, label, count).hex()[-64:] == digest


def test_pinned_values():
    # 0x671f8b2b = 1730120491 and 0x5ae91847 = 1525225543
    assert stream_values("0", "parameters", 2, 2**31 - 1) == [1730120491, 1525225543]
    assert stream_values("0", "parameters", 3, 101) == [1730120491 % 101, 1525225543 % 101, 0xFDF5F57F % 101]
    # word 8 is the first of block 1
    assert stream_values("Ab_.-9", "functional/12", 9, 8388593)[8] == 0xEFD0B921 % 8388593


@given(SEEDS, LABELS, st.integers(0, 40), st.sampled_from([3, 101, 65521, 8388593, 2147483629]))
def test_values_are_those_of_the_format(seed, label, count, prime):
    values = stream_values(seed, label, count, prime)
    assert values == reference.stream(seed, label, count, prime)
    words = b"".join(
        hashlib.sha256("|".join(["lightningalg-certificate/1", seed, label, str(block)]).encode()).digest()
        for block in range(count // 8 + 1)
    )
    assert stream_bytes(seed, label, count) == words[: 4 * count]
    assert all(0 <= value < prime for value in values) and len(values) == count


@given(SEEDS, LABELS, st.integers(0, 30), st.integers(0, 30))
def test_a_longer_stream_begins_with_the_shorter(seed, label, count, more):
    assert stream_bytes(seed, label, count + more)[: 4 * count] == stream_bytes(seed, label, count)


def test_streams_differ():
    keys = [
        (seed, label)
        for seed in ("0", "1", "00")
        for label in ("parameters", "input/0", "input/1", "functional/0")
    ]
    assert len({stream_bytes(*key, 8) for key in keys}) == len(keys)


@given(SEEDS)
def test_seeds_of_the_format_are_accepted(seed):
    assert validate_seed(seed) == seed


@pytest.mark.parametrize("seed, text", [(0, "0"), (-3, "-3"), (10**30, str(10**30)), ("a" * 64, "a" * 64)])
def test_seeds_become_text(seed, text):
    assert validate_seed(seed) == text


@pytest.mark.parametrize("seed", [None, True, 1.5, b"0", [0], 10**5000], ids=lambda seed: type(seed).__name__)
def test_only_text_and_integers_are_seeds(seed):
    with pytest.raises(InputError, match="accepted: text, or an integer"):
        validate_seed(seed)


@given(st.text(max_size=70))
def test_other_seeds_are_refused(seed):
    if re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", seed) is not None:
        assert validate_seed(seed) == seed
        return
    with pytest.raises(InputError, match=r"seed .*letters, digits"):
        validate_seed(seed)


@pytest.mark.parametrize(
    "seed", ["", "a" * 65, "a b", "a|b", "0\n", "\n0", "é", "４", "²", "a/b", "a\0", None.__str__() + "?"]
)
def test_wrong_seeds(seed):
    with pytest.raises(InputError, match="seed"):
        validate_seed(seed)


# -- index sets ---------------------------------------------------------------------


@given(st.sets(st.integers(0, 200)))
def test_runs_are_the_one_spelling_of_a_set(indices):
    runs = compress_runs(sorted(indices))
    assert expand_runs(runs) == sorted(indices)
    assert all(0 <= first <= last for first, last in runs)
    assert all(after[0] >= before[1] + 2 for before, after in pairwise(runs))
    assert {i for first, last in runs for i in range(first, last + 1)} == indices


@pytest.mark.parametrize(
    "indices, runs",
    [
        ([], []),
        ([5], [[5, 5]]),
        ([0, 1, 2], [[0, 2]]),
        ([0, 2, 4], [[0, 0], [2, 2], [4, 4]]),
        ([1, 2, 3, 7, 9, 10], [[1, 3], [7, 7], [9, 10]]),
    ],
)
def test_runs_in_literal_form(indices, runs):
    assert compress_runs(indices) == runs and expand_runs(runs) == indices


@pytest.mark.parametrize("indices", [[1, 1], [2, 1], [0, 1, 0]])
def test_indices_that_do_not_increase_are_a_defect(indices):
    with pytest.raises(AssertionError):
        compress_runs(indices)


def test_runs_of_a_long_range_are_short():
    assert compress_runs(range(100_000)) == [[0, 99_999]]
