"""What changed: the chance of any false alarm, the power to see a change, and agreement with a slow twin."""

from __future__ import annotations

from statistics import NormalDist
from xml.etree import ElementTree

import numpy as np
import pytest

import plausibly
from plausibly import Changes, ParameterError, SeededRandom, StateError, changes

ITEMS = 30
SHARES = np.array([1 / (k + 3) for k in range(ITEMS)])
SHARES /= SHARES.sum()
BEFORE, AFTER = 1000, 2500


def drawn(seed: int, before: np.ndarray, after: np.ndarray, *, same_users: bool = False) -> Changes:
    """The changes between two crowds, whose users are random samples unless the same users report twice."""
    scheme = plausibly.make("OUE", epsilon=2, domain_size=ITEMS)
    users = np.random.default_rng([seed, 1])
    if same_users:
        crowds = [(BEFORE * shares).astype(int) for shares in (before, after)]
    else:
        crowds = [users.multinomial(n, shares) for n, shares in ((BEFORE, before), (AFTER, after))]
    made = [scheme.simulate(crowd, SeededRandom(2 * seed + i)).estimate() for i, crowd in enumerate(crowds)]
    return changes(*made, same_users=same_users)


@pytest.mark.full
@pytest.mark.parametrize(("same_users", "first"), [(False, 1), (True, 1), (False, 1_000_003)])
def test_nothing_changed_and_few_collections_say_otherwise(same_users: bool, first: int) -> None:
    # In at most 5 % of all collections any item is called changed. The chance of more than 21 among 150, five standard
    # deviations above 7.5, is below 2e-5.
    alarms = [drawn(first + i, SHARES, SHARES, same_users=same_users).changed.any() for i in range(150)]
    assert sum(alarms) <= 21


@pytest.mark.full
@pytest.mark.parametrize("first", [1, 1_000_003])
def test_a_change_is_seen_as_often_as_its_size_predicts(first: int) -> None:
    # An item grows by four standard errors, 3.1 of which are needed. Of 150 collections, the share that sees it is that
    # of the normal law up to five standard errors of a share, 0.2 at most. False alarm: below 1e-6.
    scheme = plausibly.make("OUE", epsilon=2, domain_size=ITEMS)
    p = SHARES[0]
    noise = sum((scheme.variance(n, n * p) / n**2 + p * (1 - p) / n) for n in (BEFORE, AFTER)) ** 0.5
    after = SHARES.copy()
    after[:2] += np.array([1, -1]) * 4 * noise / 2
    before = SHARES.copy()
    before[:2] -= np.array([1, -1]) * 4 * noise / 2
    seen = np.mean([drawn(first + i, before, after).changed[0] for i in range(150)])
    predicted = 1 - NormalDist().cdf(NormalDist().inv_cdf(1 - 0.05 / ITEMS / 2) - 4)
    assert abs(seen - predicted) < 0.2


def test_intervals_are_those_of_a_slow_twin() -> None:
    scheme = plausibly.make("OUE", epsilon=2, domain=list("abc"))
    one = scheme.simulate([500, 300, 200], SeededRandom(1)).estimate()
    other = scheme.simulate([100, 600, 1300], SeededRandom(2)).estimate(["c", "a", "b"])
    found = changes(one, other, level=0.9)
    low, high = found.interval
    for place, item in enumerate("abc"):
        p, q = one[item].share, other[item].share
        variance = one[item].variance / 1000**2 + max(0, min(1, p)) * (1 - max(0, min(1, p))) / 1000
        variance += other[item].variance / 2000**2 + max(0, min(1, q)) * (1 - max(0, min(1, q))) / 2000
        half = NormalDist().inv_cdf(1 - 0.1 / 3 / 2) * variance**0.5
        assert (low[place], high[place]) == pytest.approx((q - p - half, q - p + half))
        assert found.changed[place] == (not q - p - half <= 0 <= q - p + half)
    assert found.items.tolist() == ["a", "b", "c"]
    assert found.changed.tolist() == [True, False, True]
    assert found.order.tolist() == [2, 0, 1]
    assert repr(found) == "<changes of 3 items: 2 changed, at a joint level of 90 %>"
    assert list(found.columns()) == ["before", "after", "difference", "standard_error", "low", "high", "changed"]


def test_changes_are_a_frame_and_a_table_in_a_notebook() -> None:
    scheme = plausibly.make("OUE", epsilon=2, domain=["a", "<b>", "c"])
    one = scheme.simulate([500, 300, 200], SeededRandom(1)).estimate()
    found = changes(one, scheme.simulate([100, 600, 1300], SeededRandom(2)).estimate())
    assert found.to_frame()["changed"].tolist() == found.changed.tolist()
    page = ElementTree.fromstring(found._repr_html_())
    assert {cell.text for cell in page.iter("bdi")} == {"a", "<b>", "c"}
    assert "95 % interval, all items together" in "".join(page.itertext())


def test_the_same_users_are_equally_many() -> None:
    scheme = plausibly.make("OUE", epsilon=1, domain_size=5)
    made = [scheme.simulate([count] * 5, SeededRandom(count)).estimate() for count in (100, 1000)]
    with pytest.raises(ParameterError, match="same_users: expected as many reports after as before, got 5,000 and 500"):
        changes(*made, same_users=True)
    assert len(changes(*made)) == 5


def test_the_same_users_have_no_sampling_error() -> None:
    scheme = plausibly.make("OUE", epsilon=2, domain=list("abc"))
    made = [scheme.simulate([500, 300, 200], SeededRandom(seed)).estimate() for seed in (1, 2)]
    assert (changes(*made, same_users=True).difference.variance < changes(*made).difference.variance).all()


def test_what_cannot_be_compared_is_refused() -> None:
    scheme = plausibly.make("OUE", epsilon=2, domain=list("abc"))
    one, other = (scheme.simulate([500, 300, 200], SeededRandom(seed)).estimate() for seed in (1, 2))
    with pytest.raises(ParameterError, match="expected two Estimates"):
        changes(one, 3)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="got two from the same tally"):
        changes(one, one)
    with pytest.raises(StateError, match="selected for large estimates"):
        changes(one.top(2), other.top(2))
    with pytest.raises(ParameterError, match="level"):
        changes(one, other, level=1)
    with pytest.raises(StateError, match="zero reports"):
        changes(one, scheme.accumulator().estimate())
    with pytest.raises(StateError, match="no variance"):
        _ = changes(one.postprocess("norm-sub"), other).changed
