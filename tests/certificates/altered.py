"""Every place of a certificate altered, with the old hash and with a new one."""

import random
from collections.abc import Callable, Iterable
from typing import Any

from lightningalg import verifier
from tests.certificates import examples as ex
from tests.certificates.test_verifier_mutation import at, put, variants


def refused_or_true(
    original: dict[str, Any], paths: Iterable[Any], rng: random.Random, is_true: Callable[[Any], bool]
) -> None:
    """Fail if the verifier accepts one with the old hash, or a false one with a new hash."""
    for path in paths:
        others = variants(at(original, path))
        for other in rng.sample(others, min(8, len(others))):
            altered = put(original, path, other)
            assert verifier.check(altered).verdict != "valid", path
            if not isinstance(altered, dict) or path == ("sha256",):
                continue
            verdict = verifier.check(ex.seal(altered))
            assert verdict.reason is None or "internal" not in verdict.reason, (path, other, verdict)
            if verdict.verdict == "valid" and path[:1] != ("provenance",):
                assert is_true(altered), (path, other)
