"""Simulated users who report again: the law of devices, and estimates of days that scatter as stated."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import plausibly
from cases import in_turn
from plausibly import DomainError, ParameterError, SeededRandom
from plausibly.core.memoised import Crowd, Memoised
from plausibly.core.randomness import Layout, Stream

NAMES = ["LOLOHA", "LOSUE", "LSUE"]


def made(name: str, size: int = 8, **own: Any) -> Memoised:
    scheme = plausibly.make(name, **{"epsilon": 1, "memo_epsilon": 2, "domain_size": size, **own})
    assert isinstance(scheme, Memoised)
    return scheme


def as_scalar(crowd: Crowd, items: npt.NDArray[np.int64], fresh: Stream) -> list[bytes]:
    """The reports of a crowd by the client, from the words at its addresses."""
    client, (hashed, entry, answer) = crowd.scheme.client, crowd.scheme.word_parts
    found = []
    for user, item in enumerate(items.tolist()):
        public = client.public(crowd.hashes.tail_source(user, hashed))
        cell = client.cell(item, public)
        kept = client.memoise(cell, crowd.memos.tail_source(user * crowd.scheme.cells + cell, entry))
        found.append(client.answer(kept, public, fresh.source(Layout(dense=answer), user)))
    return found


@dataclass(frozen=True)
class Refusing(Stream):
    """A stream whose every other word of the first attempt is the largest, which ``below`` refuses."""

    def tail(self, reports: Any, draws: Any, attempt: int = 0) -> npt.NDArray[np.uint64]:
        words = super().tail(reports, draws, attempt)
        return words if attempt else np.where((reports + draws) % 2, words, np.uint64(2**64 - 1))


@pytest.mark.full
@in_turn("name", NAMES)
def test_a_crowd_makes_the_reports_of_the_client_also_where_a_word_is_refused(name: str) -> None:
    scheme, items = made(name), np.arange(300) % 8
    crowd = scheme.crowd(300, SeededRandom(1))
    refusing = Crowd(scheme, 300, Refusing(b"k" * 32), Refusing(b"l" * 32), True)
    for one in (crowd, refusing):
        rng = SeededRandom(2)
        for day in range(2):
            reports = one.privatize((items + day) % 8, rng)
            expected = as_scalar(one, (items + day) % 8, rng.replay(day))
            assert [report.tobytes() for report in reports] == expected


@in_turn("name", NAMES)
def test_a_crowd_refuses_another_number_of_users_and_values_outside(name: str) -> None:
    crowd = made(name).crowd(5)
    with pytest.raises(DomainError, match="expected one for each of the 5 users, got 4"):
        crowd.privatize([0] * 4)
    with pytest.raises(DomainError, match="item 2"):
        crowd.privatize([0, 1, 99, 0, 0])
    with pytest.raises(ParameterError, match="users: expected"):
        made(name).crowd(0)
    # Reports of a secure crowd are fit for an accumulator, and its words do not show.
    tally = made(name).accumulator()
    tally.add(crowd.privatize([0] * 5))
    assert len(tally) == 5
    assert "key" not in repr(crowd)


def two_days(scheme: Memoised, values: npt.NDArray[np.int64], runs: int) -> npt.NDArray[np.float64]:
    """Estimates [run, day, item] of crowds who do not change."""
    found = []
    for run in range(runs):
        crowd, rng = scheme.crowd(len(values), SeededRandom(2 * run)), SeededRandom(2 * run + 1)
        days = []
        for _ in range(2):
            tally = scheme.accumulator()
            tally.add(crowd.privatize(values, rng))
            days.append(tally.estimate().values)
        found.append(days)
    return np.array(found)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_days_and_their_differences_scatter_as_stated(name: str) -> None:
    # Per item: the variance of a day, and of the difference of two days of the same users. A sample variance of 1,000
    # runs has a relative error of sqrt(2/1000). 16 of them within 4.5 errors: a false alarm once in 10^4.
    scheme, runs, n = made(name), 1000, 400
    counts = np.array([200, 100, 50, 30, 20, 0, 0, 0])
    days = two_days(scheme, np.repeat(np.arange(8), counts), runs)
    memo = scheme.memo_law
    stated = scheme.variance(n, counts)
    assert np.abs(days.mean(axis=(0, 1)) - counts).max() < 4.5 * sqrt(stated.max() / runs)
    for found, law in (
        (days[:, 0].var(axis=0, ddof=1), stated),
        ((days[:, 1] - days[:, 0]).var(axis=0, ddof=1), 2 * (stated - memo.at(n, counts))),
    ):
        assert np.abs(found / law - 1).max() < 4.5 * sqrt(2 / runs)
    # Without the memo's covariance, the law would be far off.
    assert (2 * stated / (2 * (stated - memo.at(n, counts)))).min() > 1.2


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_intervals_of_days_sums_and_differences_cover(name: str) -> None:
    # 600 crowds of 2,000 users in which a tenth changes: 4,800 intervals each. They are correlated a little; a share of
    # 95 % has an error of 0.3 % to 0.9 %, so that 1.5 % are beyond a false alarm in 100 for each of five statements.
    scheme, runs, n = made(name, epsilon=1), 600, 2000
    before = np.repeat(np.arange(8), [1000, 400, 300, 200, 100, 0, 0, 0])
    after = before.copy()
    after[::10] = (after[::10] + 1) % 8
    truth = [np.bincount(day, minlength=8) for day in (before, after)]
    inside: dict[str, list[npt.NDArray[np.bool_]]] = {}
    for run in range(runs):
        crowd, rng = scheme.crowd(n, SeededRandom(2 * run)), SeededRandom(2 * run + 1)
        estimates = []
        for values in (before, after, after):
            tally = scheme.accumulator()
            tally.add(crowd.privatize(values, rng))
            estimates.append(tally.estimate())
        one, two, again = estimates
        plain = plausibly.changes(one, two, same_users=True)
        narrow = plausibly.changes(one, two, same_users=True, stayed=0.9)
        narrowest = plausibly.changes(two, again, same_users=True, stayed=1)
        summed = plausibly.combine([two, again])
        statements = {
            "day": (one.interval(), truth[0]),
            "difference": (narrow.difference.interval(), (truth[1] - truth[0]) / n),
            "no difference": (narrowest.difference.interval(), 0),
            "mean of two days": (summed.interval(), truth[1]),
            "sum of two days": ((two + again).interval(), 2 * truth[1]),
        }
        for what, ((low, high), true) in statements.items():
            inside.setdefault(what, []).append((low <= true) & (true <= high))
        assert (narrow.difference.known_variance() < plain.difference.known_variance()).all()
    for what, found in inside.items():
        assert 0.935 <= np.mean(found) <= 0.965, what


def test_a_sum_of_days_states_more_than_independent_days_would() -> None:
    scheme = made("LOLOHA")
    crowd, values = scheme.crowd(2000, SeededRandom(1)), np.arange(2000) % 8
    days = []
    for day in range(2):
        tally = scheme.accumulator()
        tally.add(crowd.privatize(values, SeededRandom(10 + day)))
        days.append(tally.estimate())
    one, two = days
    memo = scheme.memo_law
    shared = [memo.at(2000, np.clip(day.values, 0, 2000)) for day in days]
    expected = one.known_variance() + two.known_variance() + 2 * np.sqrt(shared[0] * shared[1])
    assert np.allclose((one + two).known_variance(), expected)
    # A difference is at most that of independent days, and less for users who stayed.
    assert np.allclose((two - one).known_variance(), one.known_variance() + two.known_variance())
    # A scheme with another memo is independent.
    other = made("LOLOHA", memo_epsilon=3).simulate(np.full(8, 250), SeededRandom(3)).estimate()
    assert np.allclose((one + other).known_variance(), one.known_variance() + other.known_variance())
    # Sums of days may share everything with a third day.
    third = scheme.simulate(np.full(8, 250), SeededRandom(4)).estimate()
    whole = ((one + two) + third).known_variance()
    assert (whole > (one + two).known_variance() + third.known_variance()).all()


def test_users_who_stayed_need_a_memo_and_the_same_users() -> None:
    scheme, plain = made("LOLOHA"), plausibly.make("OUE", epsilon=1, domain_size=8)
    one, two = (scheme.simulate(np.full(8, 10), SeededRandom(seed)).estimate() for seed in (1, 2))
    for before, after, options in (
        (one, two, {"stayed": 0.5}),
        (one, two.postprocess("norm-sub"), {"stayed": 0.5, "same_users": True}),
        (
            *(plain.simulate(np.full(8, 10), SeededRandom(seed)).estimate() for seed in (1, 2)),
            {"stayed": 0.5, "same_users": True},
        ),
    ):
        with pytest.raises((ParameterError, plausibly.StateError)):
            plausibly.changes(before, after, **options)
    for share in (-0.1, 1.1, "most"):
        with pytest.raises(ParameterError, match="stayed: expected a share between 0 and 1"):
            plausibly.changes(one, two, same_users=True, stayed=share)  # type: ignore[arg-type]
    everything = plausibly.changes(one, two, same_users=True, stayed=1).difference.known_variance()
    nothing = plausibly.changes(one, two, same_users=True).difference.known_variance()
    assert (everything < nothing).all()
