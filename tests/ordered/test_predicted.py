"""Laws of linear questions before there is a tally: the mean over all ranges, and the law that a tally states."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

import plausibly
from plausibly.core.linear import Linear, predicted_of
from plausibly.core.scheme import Scheme
from plausibly.oracles import HM, SS, TLH
from plausibly.ordered import HAAR, HH, SLIDE

EVEN, OTHER = plausibly.Ordered(0, 12), plausibly.Ordered(0, 12, other=True)
SCHEMES = [kind(epsilon=1.5, domain=domain) for kind in (SLIDE, HH, HAAR, SS, HM) for domain in (EVEN, OTHER)]


def predicted(scheme: Scheme, n: int = 1) -> Linear:
    """The law for users who are spread evenly."""
    size = scheme.domain.size
    assert size is not None
    found = predicted_of(scheme.estimator(), np.full(size, n / size), n)
    assert found is not None
    return found


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.name}-{scheme.domain.size}")
def test_the_mean_over_all_ranges_is_that_of_every_range_by_itself(scheme: Scheme) -> None:
    law = predicted(scheme)
    pairs = np.array(list(combinations_with_replacement(range(13), 2)))
    items = np.arange(law.size)
    weights = (items >= pairs[:, :1]) & (items <= pairs[:, 1:])
    assert law.range_variance(13) == pytest.approx(float(law.weighted(weights.astype(float))[1].mean()), rel=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.name}-{scheme.domain.size}")
def test_predicted_answers_have_no_noise(scheme: Scheme) -> None:
    size = scheme.domain.size
    assert size is not None
    counts = np.arange(1.0, size + 1)
    law = predicted_of(scheme.estimator(), counts, int(counts.sum()))
    assert law is not None
    weights = np.random.default_rng(1).normal(size=(5, size))
    assert law.weighted(weights)[0] == pytest.approx(weights @ counts)


def test_oracles_whose_noise_depends_on_a_third_item_have_no_law_of_ranges() -> None:
    scheme = TLH(epsilon=1, domain=EVEN)
    assert predicted_of(scheme.estimator(), np.full(13, 1.0), 13) is None


@pytest.mark.full
@pytest.mark.parametrize(
    ("items", "epsilon", "other"), [(300, 1, False), (1024, 4, True), (2000, 0.25, False), (4096, 3, False)]
)
def test_few_prefixes_of_slide_stand_for_all(items: int, epsilon: float, other: bool) -> None:
    law = predicted(SLIDE(epsilon=epsilon, domain=plausibly.Ordered(0, items - 1, other=other)))
    assert law.range_variance(items) == pytest.approx(Linear.range_variance(law, items), rel=0.005)
