"""Decode and peel: against its slow twin, on planted collisions, and what it gains where cells are few."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import naive
import plausibly
from plausibly import Keys, Scheme, SeededRandom, StateError, make
from plausibly.core.history import decoding
from plausibly.core.laws import law_of
from plausibly.sketches import peeling
from plausibly.sketches.hashing import hashes_of
from plausibly.sketches.peeling import PeelOfRows

Floats = npt.NDArray[np.float64]

each_kind = pytest.mark.parametrize("kind", ["CM", "CS"])


def sketch(kind: str, oracle: str = "TLH", *, width: int = 1024, rows: int = 8, epsilon: Any = 3, **given: Any) -> Any:
    size = 2 * width if kind == "CS" else width
    given = given or {"domain_size": 20_000}
    return make(kind, oracle=make(oracle, epsilon=epsilon, domain_size=size), rows=rows, **given)


def cells_of(scheme: Any, items: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The number of each item's cell among the oracle's, row by row."""
    codes = items.astype(np.uint64)
    return np.array([hashes_of(scheme, row, codes, scheme.oracle.size) for row in range(scheme.rows)], dtype=np.int64)


def meetings(scheme: Any, item: int) -> npt.NDArray[np.int64]:
    """In how many rows each item of the domain is in the cell of this one, those with the other sign subtracted."""
    cells = cells_of(scheme, np.arange(scheme.size))
    own = cells[:, item, None]
    same = (cells == own).sum(axis=0)
    return same - (cells == (own + scheme.width) % scheme.oracle.size).sum(axis=0) if scheme.signed else same


def zipf(users: int, items: int, power: float) -> npt.NDArray[np.int64]:
    weights = np.arange(1, items + 1) ** -power
    return np.floor(users * weights / weights.sum()).astype(np.int64)


# --- the slow twin ---------------------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize(
    ("rows", "width", "epsilon", "power"), [(4, 16, 12, 1.3), (3, 32, 6, 1.3), (1, 64, 12, 1.3), (4, 32, 12, 1.0)]
)
def test_what_is_peeled_equals_the_slow_twin(kind: str, rows: int, width: int, epsilon: int, power: float) -> None:
    scheme = sketch(kind, "DE", rows=rows, width=width, epsilon=epsilon, domain_size=60, hash_seed=2)
    items = [x for x in range(60) for _ in range(int(400 / (1 + x) ** power))]
    reports = scheme.privatize(items, rng=SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(reports)
    twin = naive.answer(json.loads(scheme.to_json()), naive.fields(reports), range(60), combine="peel")
    found = tally.estimate(combine="peel")
    np.testing.assert_allclose(found.values, [float(value) for value in twin.values], rtol=1e-9, atol=1e-7)
    # DE's cells of a row add up to its users: unless something is peeled, this would be the mean.
    assert np.abs(found.values - tally.estimate().values).max() > 5


@pytest.mark.full
def test_a_round_too_large_to_be_looked_at_at_once_is_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = sketch("CM", epsilon=8, width=4096)
    truth = zipf(10**6, 20_000, 1.1)
    tally = scheme.simulate(truth, SeededRandom(1))
    whole = tally.estimate(combine="peel").values
    monkeypatch.setattr(peeling, "_AT_ONCE", 50)
    parts = tally.estimate(combine="peel").values
    # The order of the steps is another one. What they come to differs by less than the noise, whose root is 60.
    assert 0 < np.abs(whole - parts).max() < 60


# --- planted collisions ----------------------------------------------------------------------------------------------


def limit(scheme: Scheme, truth: npt.NDArray[np.int64], holders: int) -> float:
    """Six standard errors of an item without collisions with frequent ones; a false alarm of 2e-9.

    The law of the mean with the F2 of the items with less than a thousand users, and the spread of the frequent
    ones' holders in a row: an eighth of them is expected there.
    """
    rare = truth[truth < 1000]
    variance = scheme.variance(int(truth.sum()), 0, f2=float((rare**2).sum() + truth.sum() - rare.sum()))
    return 6 * float(np.sqrt(variance + holders / 8))


@pytest.mark.full
@each_kind
def test_an_item_that_meets_a_frequent_one_in_a_row_gets_rid_of_it(kind: str) -> None:
    # 200,000 of a million users hold one item: who meets it in one row of eight has 25,000 users too many.
    scheme = sketch(kind)
    truth = np.full(20_000, 40)
    truth[5] += 200_000
    tally = scheme.simulate(truth, SeededRandom(2))
    met = meetings(scheme, 5)
    met[5] = 0
    once = np.flatnonzero(np.abs(met) == 1)
    assert len(once) > 100
    assert kind == "CM" or (met[once] == -1).any()
    lent = met[once] * 200_000 / 8
    mean, peel = (tally.estimate(combine=combine).values for combine in ("mean", "peel"))
    others = 200_000 / 1024 if kind == "CM" else 0  # what the mean subtracts for the users of item 5, on average
    most = limit(scheme, truth, 200_000)
    assert most < 4500
    assert np.abs(mean[once] - 40 - lent + others).max() < most
    assert np.abs(peel[once] - 40).max() < most
    assert abs(peel[5] - truth[5]) < 2 * most


@each_kind
def test_frequent_items_that_share_cells_are_both_told(kind: str) -> None:
    # Each lends the other what the one taken first must give back.
    scheme = sketch(kind, width=64)
    other = int(np.flatnonzero(meetings(scheme, 5) == 2)[0])
    assert other != 5
    truth = np.full(20_000, 30)
    truth[[5, other]] = 200_000, 150_000
    tally = scheme.simulate(truth, SeededRandom(3))
    mean, peel = (tally.estimate([5, other], combine=combine).values for combine in ("mean", "peel"))
    assert np.abs(mean - [200_000, 150_000]).min() > 20_000
    assert np.abs(peel - [200_000, 150_000]).max() < limit(scheme, truth, 2 * 200_000)


def test_what_nobody_asks_for_stays_where_it_is() -> None:
    # The frequent item is no candidate: whoever meets it keeps what it lends.
    scheme = sketch("CM")
    truth = np.full(20_000, 40)
    truth[5] += 200_000
    tally = scheme.simulate(truth, SeededRandom(2))
    met = meetings(scheme, 5)
    for item in np.flatnonzero(met == 1)[:5].tolist():
        assert abs(tally.estimate([item], combine="peel").values[0] - 25_000) < limit(scheme, truth, 200_000)
        assert abs(tally.estimate([item, 5], combine="peel").values[0] - 40) < limit(scheme, truth, 200_000)


# --- what it gains ---------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(("kind", "width", "power"), [("CM", 1024, 1.1), ("CS", 1024, 1.1), ("CM", 64, 1.5)])
def test_errors_fall_nearly_to_the_noise(kind: str, width: int, power: float) -> None:
    """A million users, 20,000 items, epsilon = 3, TLH, 8 rows; mean squared errors per user, two runs.

    | sketch, width, Zipf | mean: all, top 100 | median | peel | noise alone |
    |---|---|---|---|---|
    | CM 1024 1.1 | 3.99, 9.41 | 0.369, 0.400 | 0.245, 0.256 | 0.227 |
    | CS 1024 1.1 | 4.34, 8.51 | 0.692, 0.744 | 0.477, 0.498 | 0.452 |
    | CM 64 1.5 | 357, 491 | 7.86, 9.58 | 0.514, 0.685 | 0.260 |

    A mean of 200 squares has a standard error of 10 %: that of the top 100 exceeds the median's once in 30,000 choices
    of seeds. The seeds are fixed.
    """
    truth = zipf(10**6, 20_000, power)
    errors: dict[str, list[Floats]] = {"mean": [], "median": [], "peel": []}
    for seed in (0, 1):
        scheme = sketch(kind, width=width, domain_size=20_000, hash_seed=seed)
        tally = scheme.simulate(truth, SeededRandom(seed))
        for combine, runs in errors.items():
            runs.append((tally.estimate(combine=combine).values - truth) ** 2)
    of_all = {combine: np.mean(runs) for combine, runs in errors.items()}
    of_top = {combine: np.mean([run[:100] for run in runs]) for combine, runs in errors.items()}
    for found in (of_all, of_top):
        assert found["peel"] < found["median"]
        assert found["peel"] < found["mean"] / 8
    noise = scheme.variance(int(truth.sum()), 0, f2=float(truth.sum()))
    assert of_all["peel"] < noise * (1.2 if width == 1024 else 2.2)


@pytest.mark.full
def test_noise_has_a_candidate_peeled_in_one_tally_of_twenty() -> None:
    # Nobody holds a candidate. DE's cells of a row add up to its users, so that without a step this is the mean.
    # Of 60 tallies, 15 or more: with probability 2e-7, if it is one in twenty.
    peeled = 0
    for seed in range(60):
        scheme = sketch("CM", "DE", width=256, rows=4, domain_size=5000, hash_seed=seed)
        tally = scheme.simulate([0] * 1000 + [100] * 4000, SeededRandom(seed))
        mean, peel = (tally.estimate(range(1000), combine=combine).values for combine in ("mean", "peel"))
        peeled += not np.allclose(mean, peel, rtol=1e-9, atol=1e-7)
    assert peeled < 15


# --- strange questions -----------------------------------------------------------------------------------------------


@each_kind
def test_no_reports_and_no_candidates_have_answers(kind: str) -> None:
    scheme = sketch(kind, domain=Keys())
    empty = scheme.accumulator()
    assert empty.estimate(["a", "b", "a"], combine="peel").values.tolist() == [0, 0, 0]
    tally = scheme.simulate({"a": 1000}, SeededRandom(1))
    for each in (empty, tally):
        assert len(each.estimate([], combine="peel")) == 0
    few = sketch(kind, rows=500, domain=Keys()).simulate({"a": 3}, SeededRandom(1))
    assert np.isfinite(few.estimate(["a", "b"], combine="peel").values).all()


@each_kind
def test_a_candidate_named_twice_has_one_answer(kind: str) -> None:
    scheme = sketch(kind, domain=Keys())
    tally = scheme.simulate({"a": 50_000, "b": 30_000, "c": 10}, SeededRandom(1))
    once = tally.estimate(["a", "b", "c"], combine="peel").values
    twice = tally.estimate(["c", "a", "b", "a", "c"], combine="peel")
    assert twice.items.tolist() == ["c", "a", "b", "a", "c"]
    np.testing.assert_array_equal(twice.values, once[[2, 0, 1, 0, 2]])


@pytest.mark.full
def test_steps_within_the_rows_come_before_peeling() -> None:
    # Some leave no negative cell, and the cells of a row then add up to more than its users.
    truth = zipf(10**6, 20_000, 1.1)
    tally = sketch("CM").simulate(truth, SeededRandom(1))
    for name in plausibly.POSTPROCESS:
        estimates = tally.estimate(combine="peel", postprocess_rows=name)
        assert estimates.history == (decoding(f"{name} in each row"), decoding("peeling the rows"))
        assert estimates.top(3).items.tolist() == [0, 1, 2]


def test_there_is_no_variance_and_no_score() -> None:
    scheme = sketch("CM")
    decoder = scheme.estimator(combine="peel")
    assert isinstance(decoder, PeelOfRows)
    assert decoder.law is None
    with pytest.raises(StateError, match=r"peeling the rows has no variance in closed form; a simulation shows"):
        law_of(decoder)
    with pytest.raises(StateError, match="no integer scores"):
        scheme.accumulator().scores([1], combine="peel")


# --- wide rows -------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_folded_oracle_works_from_end_to_end() -> None:
    # Of 3,000 intervals 150 are expected to miss, and more than 216 in 8e-8 of all choices of seeds.
    scheme = plausibly.FOLDED(3, domain=Keys(), hash_seed=4)
    counts = {f"site-{rank}.example": 60_000 // rank for rank in range(1, 1_001)}
    reports = scheme.privatize([name for name, count in counts.items() for _ in range(count)], SeededRandom(4))
    tally, half, rest = (scheme.accumulator() for _ in range(3))
    tally.add(reports)
    half.add(reports[:1000])
    rest.add(reports[1000:])
    half.merge(rest)
    np.testing.assert_array_equal(half.state, tally.state)
    again = plausibly.Accumulator.from_bytes(plausibly.from_json(scheme.to_json()), tally.to_bytes())
    candidates = [*counts, *(f"nobody-{i}" for i in range(2_000))]
    truth = np.array([counts.get(name, 0) for name in candidates])
    mean, peel = (again.estimate(candidates, combine=combine) for combine in ("mean", "peel"))
    low, high = mean.interval()
    assert ((low > truth) | (truth > high)).sum() <= 216
    assert mean.top(5).items.tolist() == peel.top(5).items.tolist() == candidates[:5]
    assert ((peel.values - truth) ** 2).mean() < 1.1 * ((mean.values - truth) ** 2).mean()


@each_kind
@pytest.mark.full
def test_the_widest_rows_work(kind: str) -> None:
    # One row and an oracle that hardly lies: what is not there is read only by who shares one of 2^24 cells.
    scheme: Scheme = make(kind, oracle=make("DE", epsilon=30, domain_size=2**24), rows=1, domain_size=3000)
    truth = np.arange(3000) % 7
    tally = scheme.simulate(truth, SeededRandom(1))
    assert np.count_nonzero(np.abs(tally.estimate().values - truth) > 0.5) <= 4
    np.testing.assert_allclose(tally.estimate(range(3000)).values, tally.estimate().values, rtol=1e-12)
