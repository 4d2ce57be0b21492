"""Linear questions about the counts of an oracle: their variance by enumeration of all coins."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import SeededRandom
from plausibly.core.laws import Estimator, Floats
from plausibly.core.linear import Added, OfOracle, linear_of
from supports import supports

ORACLES: dict[str, dict[str, Any]] = {"DE": {}, "SS": {}, "OUE": {}, "HM": {"coefficients": 2}}


def covariances(scheme: plausibly.Scheme) -> list[Floats]:
    """The covariance matrix of the estimates in a crowd of one user, for each item of that user, by all coins."""
    found = []
    for scores, chances in supports(scheme):
        matrix = np.zeros((len(scores[0]), len(scores[0])), dtype=object)
        mean = np.zeros(len(scores[0]), dtype=object)
        for score, chance in zip(scores, chances, strict=True):
            own = np.array([Fraction(int(each)) for each in score], dtype=object)
            mean = mean + chance * own
            matrix = matrix + chance * np.outer(own, own)
        scale = scheme.estimator().scale
        found.append((scale**2 * (matrix - np.outer(mean, mean))).astype(np.float64))
    return found


@pytest.mark.full
@pytest.mark.parametrize("name", ORACLES)
def test_the_variance_of_every_linear_question_is_that_of_all_coins(name: str) -> None:
    scheme = plausibly.make(name, epsilon=1, domain_size=5, **ORACLES[name])
    decoder = scheme.estimator()
    assert isinstance(decoder, Estimator)
    assert decoder.law is not None
    counts = np.array([7.0, 0.0, 3.0, 11.0, 1.0])
    naive = sum(count * own for count, own in zip(counts, covariances(scheme), strict=True))
    weights = np.random.default_rng(5).normal(size=(20, 5))
    law = OfOracle(counts, 22, decoder.law)
    values, variances = law.weighted(weights)
    np.testing.assert_allclose(values, weights @ counts)
    np.testing.assert_allclose(variances, np.einsum("ki,ij,kj->k", weights, naive, weights), rtol=1e-12, atol=1e-9)
    prefixes = np.tri(5)[:4]
    np.testing.assert_allclose(law.prefixes(4)[1], np.einsum("ki,ij,kj->k", prefixes, naive, prefixes), atol=1e-9)
    np.testing.assert_allclose(law.prefixes(4)[0], prefixes @ counts)


def test_the_answers_of_two_crowds_together_add_up() -> None:
    parts = []
    for name, seed in (("OUE", 1), ("SS", 2)):
        scheme = plausibly.make(name, epsilon=1, domain_size=6)
        tally = scheme.simulate([40, 10, 20, 5, 0, 5], SeededRandom(seed))
        linear = linear_of(scheme.estimator(), tally.evidence, tally.numbers, tally.estimate().values)
        assert linear is not None
        parts.append(linear)
    weights = np.array([[1.0, 2.0, -1.0, 0.5, 0.0, 3.0]])
    both = Added(tuple(parts))
    assert both.size == 6
    for found, one, other in zip(
        both.weighted(weights), parts[0].weighted(weights), parts[1].weighted(weights), strict=True
    ):
        np.testing.assert_allclose(found, one + other)
    np.testing.assert_allclose(both.prefixes(4)[1], parts[0].prefixes(4)[1] + parts[1].prefixes(4)[1])
