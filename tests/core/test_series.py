"""Series with a rota: laws by enumeration, exact promises over whole windows, and coverage."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest

from plausibly import ParameterError, Scheme, SeededRandom, StateError, make, series
from plausibly.client import Rota
from plausibly.core.laws import law_of, thinned
from plausibly.core.probability import within_exp
from plausibly.device import DeviceError, WordSource

SLOTS = 3
DE = make("DE", epsilon=1, domain_size=3)
History = tuple[int, ...]
"""The value of a user in each slot."""


def outcomes(scheme: Scheme, value: int) -> list[tuple[int, Fraction]]:
    """Every report of a scheme with one number a report, with its probability."""
    reports = np.arange(scheme.size).astype([("value", scheme.report_dtype[0])]).view(scheme.report_dtype)
    return [(number, scheme.likelihood(report, value)) for number, report in enumerate(reports)]


def transcripts(scheme: Scheme, history: History, rota: int) -> dict[tuple[int | None, ...], Fraction]:
    """The probability of everything that a user sends in all slots, over the draw of the offset and the coins."""
    found: dict[tuple[int | None, ...], Fraction] = {}
    for offset in range(rota):
        turns = [slot for slot in range(len(history)) if Rota(rota, offset).due(slot)]
        for reports in product(*(outcomes(scheme, history[slot]) for slot in turns)):
            sent: list[int | None] = [None] * len(history)
            chance = Fraction(1, rota)
            for slot, (report, probability) in zip(turns, reports, strict=True):
                sent[slot], chance = report, chance * probability
            found[tuple(sent)] = found.get(tuple(sent), Fraction(0)) + chance
    return found


# --- the promise ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "rota"), [(2, 2), (2, 4), (3, 3)])
def test_a_window_reveals_epsilon_whatever_the_two_histories_are(size: int, rota: int) -> None:
    scheme = make("DE", epsilon="7/5", domain_size=size)
    laws = [transcripts(scheme, history, rota) for history in product(range(size), repeat=rota)]
    assert all(sum(law.values()) == 1 for law in laws)
    worst = max(one[sent] / other[sent] for one in laws for other in laws for sent in one)
    assert within_exp(worst, scheme.epsilon)
    # The thresholds are rounded towards privacy, by less than 2^-60: the promise is not larger than necessary, either.
    assert not within_exp(worst * (1 + Fraction(1, 2**58)), scheme.epsilon)


def test_longer_histories_cost_epsilon_only_for_each_window_in_which_they_differ() -> None:
    scheme, rota, length = make("DE", epsilon="7/5", domain_size=2), 2, 5
    laws = {history: transcripts(scheme, history, rota) for history in product(range(2), repeat=length)}
    for (a, one), (b, other) in product(laws.items(), repeat=2):
        differing = [slot for slot in range(length) if a[slot] != b[slot]]
        if not differing:
            continue
        worst = max(one[sent] / other[sent] for sent in one)
        span = differing[-1] - differing[0] + 1
        assert within_exp(worst, scheme.epsilon * -(-span // rota))


@pytest.mark.parametrize("rota", [2, 3, 7, 30])
def test_no_window_of_consecutive_slots_has_two_turns_or_none(rota: int) -> None:
    for offset in range(rota):
        due = [Rota(rota, offset).due(slot) for slot in range(4 * rota)]
        assert {sum(due[first : first + rota]) for first in range(3 * rota)} == {1}


class Word:
    """A source whose next word is known."""

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def __call__(self, count: int) -> bytes:
        return b"".join(self.words.pop(0).to_bytes(8, "little") for _ in range(count // 8))


def test_the_offset_is_exactly_uniform() -> None:
    last = 2**64 - 1
    assert Rota.drawn(7, WordSource(1, Word(12))).offset == 5
    # 2^64 = 2 modulo 7: the two largest words are refused.
    assert Rota.drawn(7, WordSource(1, Word(last, last - 1, last - 2))).offset == 6
    found = np.bincount([Rota.drawn(5).offset for _ in range(5000)], minlength=5)
    # Chi-squared with 4 degrees of freedom: above 23.5 once in 10,000 runs.
    assert float(((found - 1000) ** 2 / 1000).sum()) < 23.5


@pytest.mark.parametrize("given", [(1, 0), (2**31 + 1, 0), (7, 7), (7, -1), (7.0, 1), (True, 0), (7, True)])
def test_a_rota_is_refused_if_it_is_none(given: Any) -> None:
    with pytest.raises(DeviceError, match="expected"):
        Rota(*given)


# --- the laws ------------------------------------------------------------------------------------------------------


def moments(histories: list[History], item: int, weights: dict[int, Fraction]) -> tuple[Fraction, Fraction]:
    """Mean and variance of a weighted sum of the estimates of slots, over every offset and every report."""
    estimator: Any = DE.estimator()
    first = second = Fraction(0)
    laws = [transcripts(DE, history, SLOTS) for history in histories]
    for sent in product(*(law.items() for law in laws)):
        chance, total = Fraction(1), Fraction(0)
        for _, each in sent:
            chance *= each
        for slot, weight in weights.items():
            reports = [user[slot] for user, _ in sent if user[slot] is not None]
            counted = sum(report == item for report in reports)
            total += weight * SLOTS * (counted - len(reports) * estimator.offset) * estimator.scale
        first, second = first + chance * total, second + chance * total * total
    return first, second - first * first


HISTORIES: list[list[History]] = [[(0, 0, 0), (0, 1, 2)], [(0, 0, 1), (0, 0, 2)], [(1, 0, 1), (0, 1, 0)]]


@pytest.mark.parametrize("histories", HISTORIES)
def test_a_slot_has_the_law_of_a_random_share_of_the_users(histories: list[History]) -> None:
    law, n = law_of(DE.estimator()), len(histories)
    for slot, item in product(range(SLOTS), range(3)):
        held = sum(history[slot] == item for history in histories)
        mean, variance = moments(histories, item, {slot: Fraction(1)})
        assert mean == held
        assert variance == n * SLOTS * law.per_report + held * (SLOTS * law.per_holder + SLOTS - 1)
        assert variance == thinned(law, Fraction(1, SLOTS)).exact(n, held)


@pytest.mark.parametrize("histories", HISTORIES)
@pytest.mark.parametrize("over", [[0, 1], [1, 2], [0, 1, 2]])
def test_a_mean_has_its_law_with_the_users_who_have_the_item_twice(histories: list[History], over: list[int]) -> None:
    law, n, k = law_of(DE.estimator()), len(histories), len(over)
    for item in range(3):
        held = [sum(history[slot] == item for history in histories) for slot in over]
        # a users who have the item in a of the k slots: a (w - a) / k^2 each.
        times = [sum(history[slot] == item for slot in over) for history in histories]
        coins = sum((n * SLOTS * law.per_report + SLOTS * law.per_holder * each for each in held), Fraction(0))
        exact = (coins + sum(a * (SLOTS - a) for a in times)) / k**2
        mean, variance = moments(histories, item, dict.fromkeys(over, Fraction(1, k)))
        assert mean == Fraction(sum(held), k)
        assert variance == exact
        bound = sum(thinned(law, Fraction(1, SLOTS)).exact(n, each) for each in held) / k**2
        assert variance <= bound
        assert variance == bound or max(times) > 1


@pytest.mark.parametrize("histories", HISTORIES)
def test_a_difference_varies_more_by_the_users_who_have_the_item_in_both_slots(histories: list[History]) -> None:
    law, n = thinned(law_of(DE.estimator()), Fraction(1, SLOTS)), len(histories)
    for (first, last), item in product([(0, 1), (0, 2), (1, 2)], range(3)):
        held = [sum(history[slot] == item for history in histories) for slot in (first, last)]
        both = sum(history[first] == history[last] == item for history in histories)
        mean, variance = moments(histories, item, {first: Fraction(-1), last: Fraction(1)})
        assert mean == held[1] - held[0]
        assert variance == sum(law.exact(n, each) for each in held) + 2 * both
        assert both <= min(held)


def test_the_share_of_a_slot_has_its_law_given_the_number_of_reports() -> None:
    law, estimator = law_of(DE.estimator()), DE.estimator()
    n, sent, held = 4, 2, 3  # users, reports, holders of item 0
    values = [0] * held + [1] * (n - held)
    first = second = Fraction(0)
    samples = [pair for pair in product(range(n), repeat=2) if pair[0] < pair[1]]
    for sample in samples:
        for reports in product(*(outcomes(DE, values[user]) for user in sample)):
            chance = Fraction(1, len(samples))
            for _, each in reports:
                chance *= each
            counted = sum(report == 0 for report, _ in reports)
            share = (counted - sent * estimator.offset) * estimator.scale / sent  # type: ignore[attr-defined]
            first, second = first + chance * share, second + chance * share * share
    share = Fraction(held, n)
    lottery = share * (1 - share) / sent * Fraction(n - sent, n - 1)
    assert first == share
    assert second - first**2 == (law.per_report + share * law.per_holder) / sent + lottery
    # The series uses it with the number of users that the rota implies.
    tally = DE.accumulator()
    tally.add(DE.privatize([0, 1], SeededRandom(1)))
    found = series({5: tally.estimate()}, rota=2).shares()
    values_, variance = tally.estimate().values / 2, tally.estimate().known_variance() / 4
    clipped = np.clip(values_, 0, 1)
    assert found.variance[0] == pytest.approx(variance + clipped * (1 - clipped) / 2 * (4 - 2) / (4 - 1), rel=1e-12)


# --- simulations ---------------------------------------------------------------------------------------------------


def simulated(
    scheme: Scheme, values: np.ndarray[Any, Any], rota: int, runs: int, seed: int, item: int
) -> tuple[list[Any], list[Any]]:
    """Series of many crowds whose users have ``values[slot, user]``: of the counts of one item, and of its shares."""
    rng, counts, shares = np.random.default_rng(seed), [], []
    length, n = values.shape
    for run in range(runs):
        offsets = rng.integers(0, rota, n)
        slots = {}
        for slot in range(length):
            held = np.bincount(values[slot, offsets == slot % rota], minlength=scheme.size)
            slots[slot] = scheme.simulate(held, SeededRandom(seed * 10**6 + run * length + slot)).estimate()
        counts.append(series(slots, rota=rota).of(item))
        shares.append(counts[-1].shares())
    return counts, shares


@pytest.mark.full
@pytest.mark.parametrize("name", ["OUE", "OLH", "FLH"])
@pytest.mark.parametrize("constant", [True, False])
def test_variances_and_intervals_hold_in_simulations(name: str, constant: bool) -> None:
    """The variance of 400 runs has a relative error of sqrt(2/399) = 7.1 %; four of them: once in 16,000 runs each."""
    options = {"hashes": 64, "hash_seed": 5} if name == "FLH" else {}
    scheme = make(name, epsilon=3, domain_size=6, **options)
    rota, length, n, runs = 10, 10, 6000, 400
    rng = np.random.default_rng(3)
    first = rng.choice(6, size=n, p=[0.4, 0.3, 0.1, 0.1, 0.1, 0.0])
    values = np.tile(first, (length, 1)) if constant else np.stack([rng.permutation(first) for _ in range(length)])
    counts, shares = simulated(scheme, values, rota, runs, 11, 0)
    held = float((first == 0).sum())
    for found, truth in ((counts, held), (shares, held / n)):
        for means in (found, [each.mean(5) for each in found]):
            estimates = np.array([each.values[-1, 0] for each in means])
            stated = float(np.mean([each.variance[-1, 0] for each in means]))
            error = sqrt(stated / runs)
            assert abs(estimates.mean() - truth) < 4 * error * (2 if name == "FLH" else 1)
            ratio = float(estimates.var(ddof=1)) / stated
            # Of a mean, and with shared hash functions, the variance is an upper bound.
            least = 1 - 4 * sqrt(2 / (runs - 1))
            if name != "FLH" and means is found:
                assert ratio > least
            assert ratio < 2 - least
            ends = [each.interval() for each in means]
            covered = np.mean(
                [[low[slot, 0] <= truth <= high[slot, 0] for slot in range(len(low))] for low, high in ends]
            )
            # 4,000 intervals of single slots: the standard error of their share is 0.35 %.
            assert covered > 0.935
            if name != "FLH" and means is found:
                assert covered < 0.965


@pytest.mark.full
def test_a_change_from_one_slot_to_another_has_its_variance() -> None:
    """Constant users, for whom the bound is reached; 800 runs, four standard errors of 5 %: once in 16,000 runs."""
    scheme, rota, n, runs = make("OUE", epsilon=4, domain_size=3), 4, 600, 800
    values = np.tile(np.random.default_rng(4).choice(3, size=n, p=[0.7, 0.2, 0.1]), (4, 1))
    for found in simulated(scheme, values, rota, runs, 5, 0):
        changes = [each.change(0, 1) for each in found]
        differences = np.array([each.values[0] for each in changes])
        stated = float(np.mean([each.known_variance()[0] for each in changes]))
        assert 0.8 < float(differences.var(ddof=1)) / stated < 1.2
        assert stated > float(np.mean([each.variance[0, 0] + each.variance[1, 0] for each in found]))


@pytest.mark.full
def test_means_of_more_slots_than_a_rota_allow_for_users_who_report_twice() -> None:
    """Users who all have the item, at an epsilon with little noise: the draw alone makes their counts vary."""
    scheme, rota, n, runs = make("OUE", epsilon=8, domain_size=2), 3, 200, 300
    values = np.zeros((6, n), dtype=np.int64)
    counts, _ = simulated(scheme, values, rota, runs, 9, 0)
    for k in (2, 4, 5):
        means = [each.mean(k) for each in counts]
        stated = float(np.mean([each.variance[-1, 0] for each in means]))
        measured = float(np.var([each.values[-1, 0] for each in means], ddof=1))
        assert measured < stated * (1 + 4 * sqrt(2 / (runs - 1)))


# --- the object ----------------------------------------------------------------------------------------------------


def some(slots: list[int], rota: int = 3) -> Any:
    return series(
        {slot: DE.simulate([50, 30, 20], SeededRandom(slot)).estimate() for slot in slots},
        rota=rota,
    )


def test_a_series_has_slots_in_order_and_its_numbers_of_users() -> None:
    found = some([4, 2, 3])
    assert found.slots.tolist() == [2, 3, 4]
    assert found.values[0] == pytest.approx(3 * DE.simulate([50, 30, 20], SeededRandom(2)).estimate().values)
    assert found.users == 300
    assert some([2, 4, 5]).users is None
    assert repr(found) == "<series of counts of 3 items: 3 slots, 300 reports, a rota of 3>"
    assert repr(found.shares().mean(2)) == "<series of shares of 3 items: 2 means, a rota of 3, means over 2 slots>"
    assert list(found.to_frame()) == ["slot", "item", "estimate", "standard_error", "low", "high", "reports"]
    assert "share" in found.of(1).shares().columns()


def test_means_skip_gaps() -> None:
    found = some([1, 2, 3, 5, 6])
    assert found.mean(2).slots.tolist() == [2, 3, 6]
    assert found.mean(2).reports.tolist() == [200, 200, 200]
    with pytest.raises(StateError, match="expected 4 consecutive slots"):
        found.mean(4)


def test_with_a_rota_of_one_everybody_reports_in_every_slot() -> None:
    found = some([1, 2], rota=1)
    estimates = DE.simulate([50, 30, 20], SeededRandom(1)).estimate()
    assert found.values[0] == pytest.approx(estimates.values)
    assert found.variance[0] == pytest.approx(estimates.known_variance())
    assert found.mean(2).variance[0] == pytest.approx(found.variance.sum(axis=0) / 4)


def test_a_series_refuses_what_it_cannot_add_up() -> None:
    estimates = DE.simulate([5, 3, 2], SeededRandom(1)).estimate()
    other = make("DE", epsilon=1, domain_size=4).simulate([1, 2, 3, 4]).estimate()
    for given, words in (
        ({}, "at least one slot"),
        ({0: 3}, "got something else"),
        ({-1: estimates}, "slot: expected 0 to"),
        ({0: estimates, 1: other}, "the same items"),
    ):
        with pytest.raises(ParameterError, match=words):
            series(given, rota=7)  # type: ignore[arg-type]
    for given, words in (
        ({0: estimates, 1: estimates}, "same"),
        ({0: DE.accumulator().estimate()}, "no reports"),
        ({0: DE.simulate([5, 3, 2]).estimate().top(2), 1: estimates}, "selected"),
        ({0: estimates.postprocess("norm-sub")}, "no variance"),
    ):
        with pytest.raises(StateError, match=words):
            series(given, rota=7)
    with pytest.raises(ParameterError, match="rota: expected 1 to"):
        series({0: estimates}, rota=0)
    for call in (lambda: some([1, 2]).change(1, 9), lambda: some([1, 2]).change(1, 1), lambda: some([1]).of(9)):
        with pytest.raises(ParameterError, match="expected"):
            call()
    with pytest.raises(StateError, match="expected the counts"):
        some([1]).shares().shares()


# --- memos ---------------------------------------------------------------------------------------------------------


def lasting(runs: int, days: int, n: int = 400) -> list[Any]:
    """Series of crowds with memos, whose users never change."""
    scheme = make("LOLOHA", epsilon=1, memo_epsilon=2, domain_size=4)
    values, found = np.repeat(np.arange(4), [n // 2, n // 4, n // 4, 0]), []
    for run in range(runs):
        crowd, rng = scheme.crowd(n, SeededRandom(2 * run)), SeededRandom(2 * run + 1)  # type: ignore[attr-defined]
        slots = {}
        for day in range(days):
            tally = scheme.accumulator()
            tally.add(crowd.privatize(values, rng))
            slots[day] = tally.estimate()
        found.append(series(slots, rota=1))
    return found


def test_reports_from_a_memo_are_a_series_without_a_rota() -> None:
    [found] = lasting(1, 3)
    assert found.memo
    assert found.users == 400
    with pytest.raises(StateError, match=r"slot 0: reports from a memo, .* expected rota=1"):
        series({0: make("LOLOHA", epsilon=1, memo_epsilon=2, domain_size=4).simulate([1] * 4).estimate()}, rota=7)


@pytest.mark.full
def test_means_of_reports_from_a_memo_state_that_their_errors_stay() -> None:
    """The variance of 300 runs has a relative error of 8.2 %; four of them: once in 16,000 runs each."""
    crowds = lasting(300, 6)
    for counts in (crowds, [each.shares() for each in crowds]):
        means = [each.mean(6) for each in counts]
        measured = np.var([each.values[0] for each in means], axis=0, ddof=1)
        stated = np.mean([each.variance[0] for each in means], axis=0)
        assert np.abs(measured / stated - 1).max() < 4 * sqrt(2 / 299)
        # Independent slots would have much less.
        assert (stated > 1.5 * np.mean([each.variance.sum(axis=0) / 36 for each in counts], axis=0)).all()
        differences = [each.change(0, 1) for each in counts]
        measured = np.var([each.values for each in differences], axis=0, ddof=1)
        assert (measured < np.mean([each.known_variance() for each in differences], axis=0)).all()
