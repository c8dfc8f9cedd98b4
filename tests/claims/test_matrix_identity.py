"""Matrix identities: the worksheet's are certified and true at random matrices; false ones are refuted."""

import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg
from lightningalg.claims.base import RefutedError
from lightningalg.claims.matrix_identity import (
    CERTIFIED,
    OPEN,
    REFUTED,
    MatrixIdentityClaim,
    matrix_identity,
)
from lightningalg.errors import InputError, ShapeError, UnsupportedError
from lightningalg.symmetry.matrix_words import expression_text
from tests.symmetry.exact_matrices import Exact, random_point, value_of_text
from tests.symmetry.test_matrix_words import SCALARS, SYMBOLS, expressions

PACKAGE = Path(lightningalg.__file__).parent
WORKSHEET = PACKAGE.parent / "worksheets" / "symmetries.toml"
VERIFIER = PACKAGE / "verifier.py"
CLAIMS = {claim["id"]: claim for claim in tomllib.loads(WORKSHEET.read_text(encoding="utf-8"))["claim"]}
FIELDS = ("scalars", "symbols", "definitions", "left", "right")


def outcome_of(claim, **changes):
    return matrix_identity(claim["id"], **{key: claim[key] for key in FIELDS if key in claim} | changes)


def shapes_of(symbols):
    """Read ``"a x a invertible"`` without the package's parser."""
    found = {}
    for name, text in symbols.items():
        rows, columns = text.replace(" invertible", "").split(" x ")
        sizes = [int(size) if size.isdigit() else size for size in (rows, columns)]
        found[name] = (*sizes, text.endswith("invertible"))
    return found


def sides_at(claim, values):
    values = dict(values)
    for name, text in claim.get("definitions", []):
        values[name] = value_of_text(text, values)
    return value_of_text(claim["left"], values), value_of_text(claim["right"], values)


@pytest.mark.parametrize("name", CLAIMS)
def test_worksheet_identity_is_certified(name):
    outcome = outcome_of(CLAIMS[name])
    assert outcome.status == CERTIFIED and outcome.difference == () and outcome.counterexample is None
    assert outcome.certificate.kind == "matrix-identity"
    assert outcome.certificate.witness["normal_form"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CLAIMS)
def test_worksheet_identity_holds_at_random_matrices(name, seed):
    claim = CLAIMS[name]
    point = random_point(shapes_of(claim["symbols"]), claim.get("scalars", []), seed)
    left, right = sides_at(claim, point)
    assert left == right


@pytest.mark.skipif(not VERIFIER.exists(), reason="lightningalg/verifier.py is not written yet")
def test_verifier_accepts_the_worksheet(tmp_path):
    files = []
    for name, claim in CLAIMS.items():
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(outcome_of(claim).certificate.to_text(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", VERIFIER, *files], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not VERIFIER.exists(), reason="lightningalg/verifier.py is not written yet")
@settings(max_examples=15, deadline=None)
@given(expressions())
def test_verifier_agrees_on_random_expressions(expression):
    from lightningalg.verifier import check

    symbols = {name: f"{r} x {c}{' invertible' * invertible}" for name, (r, c, invertible) in SYMBOLS.items()}
    text = expression_text(expression, limit=10**6)
    outcome = matrix_identity("again", scalars=SCALARS, symbols=symbols, left=text, right=f"({text})'^T")
    assert outcome.status == CERTIFIED
    verdict = check(outcome.certificate.to_json())
    assert verdict.verdict == "valid", verdict


# (claim, field, what is there, what makes it false)
FALSE = [
    ("intra-layer-attention", "left", "G^-T", "G"),
    ("intra-layer-attention", "left", "G^-T", "G^-1"),
    ("intra-layer", "left", "G^-T*K", "K"),
    ("inter-layer-two-layers", "left", "(V2*C^-1)*Z", "V2*Z"),
    ("inter-layer-two-layers", "left", "K2*C^-1*Z", "K2*Z"),
    ("inter-layer-two-layers", "left", "Q2*C^-1*Z", "Q2*C*Z"),
    ("inter-layer-input", "left", "(V*C^-1)", "V"),
    ("inter-layer-output", "right", "C*(V", "2*C*(V"),
    ("scaling-step", "right", "c^3", "c^2"),
    ("scaling-queries", "right", "lambda", "lambda^2"),
    ("scaling-1-layer", "right", "mu*lambda1", "mu*lambda1^3"),
    ("scaling-2-layers", "right", "lambda1^3*lambda2", "lambda1*lambda2^3"),
    ("scaling-3-layers", "right", "lambda1^9", "lambda1^6"),
    ("all-symmetries-step", "right", "c^3*C", "c*C"),
    ("virtual-weights-step", "right", "P*P'*M*P", "P*P'*M'*P"),
    ("virtual-weights-2-layers", "right", "L*P2", "L*P1"),
    ("rank-one-origin", "right", "u*w'", "w*u'"),
    ("rank-one-collapse", "right", "(w'*w)", "(u'*u)"),
    ("rank-one-symmetric-part", "left", "1/2*", ""),
]


@pytest.mark.parametrize(("name", "side", "old", "new"), FALSE)
def test_false_variant_is_refuted(name, side, old, new):
    claim = dict(CLAIMS[name])
    assert old in claim[side]
    claim[side] = claim[side].replace(old, new)
    try:
        outcome = outcome_of(claim)
    except ShapeError:  # the change already shows in the shapes
        assert (name, old) == ("rank-one-origin", "u*w'")
        return
    assert outcome.status == REFUTED and outcome.certificate is None and outcome.difference
    check_counterexample(claim, outcome.counterexample)
    with pytest.raises(RefutedError, match="left - right = "):
        MatrixIdentityClaim().certify({"name": name, **claim}, seed="0")


def check_counterexample(claim, found):
    """The sides differ at the matrices named, by python-flint and without the package's parser."""
    values = {name: Exact.of(matrix.rows) for name, matrix in found.matrices.items()}
    left, right = sides_at(claim, {**values, **found.scalars})
    entry = (found.row - 1, found.column - 1)
    values = [Fraction(int(side.matrix[entry].p), int(side.matrix[entry].q)) for side in (left, right)]
    assert values == [found.left, found.right] and found.left != found.right
    assert found.to_json()["entry"] == [found.row, found.column]


@settings(max_examples=60, deadline=None)
@given(expressions(("d", "e")), expressions(("d", "e"), depth=1), st.integers(0, 10**6))
def test_altered_identity_is_refuted_with_the_difference(expression, extra, seed):
    symbols = {name: f"{r} x {c}{' invertible' * invertible}" for name, (r, c, invertible) in SYMBOLS.items()}
    text, more = (expression_text(e, limit=10**6) for e in (expression, extra))
    arguments = {"scalars": SCALARS, "symbols": symbols, "seed": seed}
    outcome = matrix_identity("altered", left=f"{text} + ({more})", right=text, **arguments)
    alone = matrix_identity("alone", left=more, right=f"2*({more}) - ({more})", **arguments)
    if outcome.certificate is not None:  # the extra summand is zero
        assert alone.certificate.witness["normal_form"] == []
        return
    assert [term.to_json() for term in outcome.difference] == alone.certificate.witness["normal_form"]
    if outcome.counterexample is not None:
        claim = {"left": f"{text} + ({more})", "right": text}
        check_counterexample(claim, outcome.counterexample)


def test_a_true_identity_of_1_by_1_matrices_is_open_not_refuted():
    outcome = matrix_identity("t", symbols={"u": "d x 1", "M": "d x d"}, left="u'*M*u", right="u'*M'*u")
    assert outcome.status == OPEN and outcome.certificate is None
    assert [str(term) for term in outcome.difference] == ["u'*M*u", "-u'*M'*u"]
    with pytest.raises(UnsupportedError, match="no counterexample"):
        MatrixIdentityClaim().certify(
            {"name": "t", "symbols": {"u": "d x 1", "M": "d x d"}, "left": "u'*M*u", "right": "u'*M'*u"},
            seed="0",
        )


def test_large_fixed_sizes_are_padded():
    symbols = {"A": "768 x 768", "G": "768 x 768 invertible"}
    outcome = matrix_identity("commute", symbols=symbols, left="A*G", right="G*A")
    assert outcome.status == REFUTED and outcome.counterexample.matrices["A"].shape == (3, 3)


def test_zero_differences_have_an_empty_normal_form():
    outcome = matrix_identity("zero", symbols={"A": "a x b"}, left="A - A", right="2*A - 2*A")
    assert outcome.certificate.witness == {"normal_form": []}


def test_certificates_do_not_depend_on_the_seed():
    claim = CLAIMS["scaling-3-layers"]
    assert outcome_of(claim, seed=1).certificate == outcome_of(claim, seed=2).certificate


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"left": "V*Y"}, "left side 'V*Y', column 3"),
        ({"right": "X"}, "the sides are"),
        ({"left": 5}, "left side: accepted is a text"),
        ({"scalars": "lambda"}, '"scalars"'),
        ({"symbols": ["V"]}, '"symbols"'),
        ({"symbols": {"V": 3}}, '"symbols"'),
        ({"definitions": [["A"]]}, '"definitions"'),
        ({"definitions": {"A": "V"}}, '"definitions"'),
    ],
)
def test_wrong_tables(change, reason):
    table = {"name": "n", "symbols": {"V": "e x d", "X": "d x t"}, "left": "V*X", "right": "V*X"} | change
    with pytest.raises(InputError) as error:
        MatrixIdentityClaim().certify(table, seed="0")
    assert reason in str(error.value)
