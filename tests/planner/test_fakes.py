"""What fake reports can do: brute force over all records, mixtures by linear programming, and an attack on a search."""

from __future__ import annotations

import tracemalloc
from math import ceil
from typing import Any

import numpy as np
import pytest
from bench.poisoning import crafted

import plausibly
from cases import case, in_turn
from contract.entries import NAMES, SCHEMES, build, is_linear, sized
from plausibly import CATALOG, Keys, SeededRandom, Strings, make, oracles
from plausibly.planner.description import Description
from plausibly.planner.fakes import fakes_for_share, fakes_of, raise_of_part
from plausibly.search.whole_strings import WholeStrings

SMALL = {f"{name}-small": build(name, sized(name, 6), 1) for name in NAMES}
ORACLES = [name for name in CATALOG if name in vars(oracles)]
SUBSETS = make("SS", epsilon=1, domain_size=6, subset_size=5)
WINDOWED = make("TLH", epsilon=1, domain_size=6, hash_bits=3, window=6)
BLOCKS = [make("HR", epsilon=3, domain_size=d, variant="block") for d in (5, 12, 40)]
"""More blocks than items, blocks of one and of two items, and even ones."""
SPACE = make("AGR", epsilon=1, domain_size=16, hash_bits=2, dimension=2, window=1)
"""All points of it are items."""


def items_of(scheme: Any) -> list[Any]:
    return scheme.domain.decode(scheme.domain.spread(256)).tolist()  # type: ignore[no-any-return]


def records_of(scheme: Any, most: int) -> Any:
    """Different records, as many as 40,000 honest reports have: privacy makes every record possible for every item."""
    items = items_of(scheme)
    drawn = scheme.privatize([items[i % len(items)] for i in range(40_000)], rng=SeededRandom(11))
    size = scheme.report_dtype.itemsize
    found = np.unique(np.frombuffer(drawn.tobytes(), np.uint8).reshape(-1, size), axis=0)
    return found[:: 1 + len(found) // most].reshape(-1).view(scheme.report_dtype)


def shifts(scheme: Any, records: Any) -> Any:
    """[record, item]: what each record adds to the count of each item. Estimates are sums over reports."""
    items, found = items_of(scheme), []
    listed = isinstance(scheme.estimator(), WholeStrings)
    for i in range(len(records)):
        tally = scheme.accumulator()
        tally.add(records[i : i + 1])
        # One by one: strings that are asked for together are solved for together.
        found.append([tally.estimate([item]).values[0] for item in items] if listed else tally.estimate(items).values)
    return np.array(found)


def best_mixture(moved: Any) -> float:
    """The most by which a mixture of these records raises the least raised item."""
    from scipy.optimize import linprog

    records, items = moved.shape
    found = linprog(
        np.append(np.zeros(records), -1.0),
        A_ub=np.hstack([-moved.T, np.ones((items, 1))]),
        b_ub=np.zeros(items),
        A_eq=[[*[1.0] * records, 0.0]],
        b_eq=[1.0],
        bounds=[*[(0, None)] * records, (None, None)],
    )
    assert found.success
    return float(found.x[-1])


def check_by_brute_force(label: str, scheme: Any, most: int = 600) -> None:
    with case(label):
        stated = fakes_of(scheme)
        assert stated is not None
        moved = shifts(scheme, records_of(scheme, most))
        assert max(stated.raises, stated.lowers) == pytest.approx(scheme.influence(), rel=1e-12)
        assert moved.max() == pytest.approx(stated.raises, rel=1e-9)
        assert -moved.min() == pytest.approx(stated.lowers, rel=1e-9)
        assert best_mixture(moved) <= stated.every * (1 + 1e-9)
        if stated.every_exact:
            assert best_mixture(moved) == pytest.approx(stated.every, rel=1e-6)
        if stated.total is not None:
            assert moved.sum(axis=1).max() <= stated.total * (1 + 1e-9)
            if stated.total_exact:
                assert moved.sum(axis=1).max() == pytest.approx(stated.total, rel=1e-9)


@pytest.mark.full
def test_no_mixture_of_records_raises_every_item_further_than_stated_and_one_does_where_it_is_exact() -> None:
    for label, scheme in SMALL.items():
        if is_linear(scheme) and label.partition("-")[0] in ORACLES:
            check_by_brute_force(label, scheme)
    for scheme in (SUBSETS, WINDOWED, *BLOCKS, SPACE):
        check_by_brute_force(repr(scheme), scheme)


@pytest.mark.full
def test_the_same_holds_for_every_sketch_and_every_search() -> None:
    for label, scheme in SMALL.items():
        if is_linear(scheme) and label.partition("-")[0] not in ORACLES:
            check_by_brute_force(label, scheme)
    for sketch in ("CM", "CS"):
        for oracle in ORACLES:
            scheme = make(sketch, oracle=make(oracle, epsilon=1, domain_size=4), rows=3, domain_size=7)
            check_by_brute_force(f"{sketch} over {oracle}", scheme)
    for t in (1, 2, 3):
        oracle = make("HM", epsilon=1, domain_size=4, coefficients=t)
        scheme = make("CS", oracle=oracle, rows=3, domain_size=7, signs="coefficients")
        check_by_brute_force(f"CS over HM (t = {t}), signs on coefficients", scheme)


def test_bounds_are_stated_for_every_entry_on_every_domain() -> None:
    for label, scheme in SCHEMES.items():
        with case(label):
            stated = fakes_of(scheme)
            assert (stated is not None) == is_linear(scheme)
            if stated is not None:
                assert 0 < stated.every <= stated.raises
                assert (stated.total is None) == (scheme.domain.size is None)


def test_a_hundred_all_ones_records_raise_each_of_a_thousand_items_by_316() -> None:
    scheme = make("OUE", epsilon=1, domain_size=1000)
    ones = np.packbits(np.ones(1000, dtype=np.uint8), bitorder="little").tobytes()
    tally = scheme.accumulator()
    tally.add(np.frombuffer(ones * 100, dtype=scheme.report_dtype))
    stated = fakes_of(scheme)
    assert stated is not None
    np.testing.assert_allclose(tally.estimate().values, 100 * stated.every)
    assert round(100 * stated.every) == 316


def test_what_is_done_to_every_item_at_once_is_exact_but_for_hash_functions() -> None:
    exact = {name for name in ORACLES if fakes_of(make(name, epsilon=1, domain_size=1000)).every_exact}  # type: ignore[union-attr]
    assert exact == set(ORACLES) - {"BLH", "OLH", "FLH", "AGR"}


@in_turn(("name", "total"), [("DE", 1), ("SS", 1), ("OUE", 3164), ("HM", 3328), ("TLH", 3328), ("HR", 2164)])
def test_some_schemes_let_nobody_add_more_than_one_user_to_the_sum(name: str, total: int) -> None:
    stated = fakes_of(make(name, epsilon=1, domain_size=1000))
    assert stated is not None
    assert stated.total is not None
    assert round(stated.total) == total


@pytest.mark.full
@in_turn("scheme", [make("FLH", epsilon=1, domain_size=10**6), make("FLH", epsilon=1, domain=Keys())])
def test_a_bound_from_some_items_is_looser_than_that_from_all_and_still_below_that_of_one(scheme: Any) -> None:
    small, stated = fakes_of(make("FLH", epsilon=1, domain_size=2**16)), fakes_of(scheme)
    assert small is not None
    assert stated is not None
    assert 0.5 * small.every < stated.every < 0.1 * stated.raises


@pytest.mark.full
@in_turn(
    "scheme",
    [
        make("CM", oracle=make("SS", epsilon=1, domain_size=2**16), rows=2**12, domain=Keys()),
        make("CS", oracle=make("HR", epsilon=9, domain_size=2**24), rows=2**16, domain=Keys()),
        make("PEM", oracle=make("DE", epsilon=9, domain_size=27**6), domain=Strings("abcdefghijklmnopqrstuvwxyz", 6)),
        make("FLH", epsilon=1, domain_size=2**20, hashes=2**20),
    ],
)
def test_bounds_of_large_schemes_take_little_memory(scheme: Any) -> None:
    tracemalloc.start()
    try:
        stated = fakes_of(scheme)
        assert tracemalloc.get_traced_memory()[1] < 2**28
    finally:
        tracemalloc.stop()
    assert stated is not None
    assert 0 < stated.every <= stated.raises


# --- searches ----------------------------------------------------------------------------------------------------

WORDS = Strings("abcdefghijklmnopqrstuvwxyz", 8)


def test_fakes_for_a_share_weigh_as_much_as_that_share_at_every_step() -> None:
    scheme, n, share = plausibly.TRELLIS(3, domain=WORDS, users=20_000), 20_000, 0.05
    for i, part in enumerate(scheme.parts):  # type: ignore[attr-defined]
        users, most = n * float(scheme.share(i)), raise_of_part(part)  # type: ignore[attr-defined]
        assert most is not None
        fakes = ceil(share * users / (most - share))
        assert fakes * most / (users + fakes) >= share
        assert (fakes - 1) * most / (users + fakes - 1) < share


def test_whole_strings_that_all_report_cost_a_faker_nothing_more() -> None:
    oracle = make("FLH", epsilon=1, domain=Keys())
    both = make("TH", oracle=oracle, word_oracle=oracle, domain=WORDS)
    alone = make("PEM", oracle=oracle, domain=WORDS)
    most = raise_of_part(alone.parts[0])
    assert most is not None
    least = 0.01 * 20_000 / (most - 0.01)
    for scheme in (both, alone):
        assert least <= fakes_for_share(scheme, 20_000, 0.01) <= least + 4  # type: ignore[operator]


def test_nothing_is_stated_where_a_fake_weighs_less_than_the_share_or_has_no_law() -> None:
    oracle = make("DE", epsilon=10, domain_size=27**2)
    pem = make("PEM", oracle=oracle, domain=Strings("abcdefghijklmnopqrstuvwxyz", 2))
    assert fakes_for_share(pem, 1000, 0.5) is not None
    assert fakes_for_share(pem, 1000, 1.5) is None
    bloom = make("BLOOM", epsilon=1, domain=Keys())
    assert fakes_for_share(make("PEM", oracle=bloom, domain=WORDS), 1000, 0.01) is None


@in_turn("name", ["PEM", "TH", "SFP", "BITSTOGRAM"])
def test_as_many_fakes_as_stated_raise_a_string_by_the_share_at_every_step(name: str) -> None:
    oracle, n, share, target = make("FLH", epsilon=1, domain=Keys()), 20_000, 0.05, "forged"
    several = {} if name == "PEM" else {"word_oracle": oracle}
    scheme: Any = make(name, oracle=oracle, domain=Strings("abcdefghijklmnopqrstuvwxyz", 6), **several)
    number = fakes_for_share(scheme, n, share)
    assert number is not None
    tally = scheme.accumulator()
    tally.add(crafted(scheme, target, number, 1))
    row = scheme.domain.encode([target])
    for i, part in enumerate(scheme.parts):
        # Estimates are sums over reports: those of the n users come on top.
        raised = tally.estimate_part(i, part.items(row))[0][0]
        assert raised >= share * (n + number) * 0.98  # fakes of a group are a whole number


def forged(fraction_of_enough: float, seed: int) -> bool:
    """Whether a search lists a string that nobody holds, after this part of the fakes that are enough by the law."""
    n, target = 20_000, "forged"
    scheme: Any = plausibly.TRELLIS(3, domain=Strings("abcdefghijklmnopqrstuvwxyz", 6), users=n, hash_seed=seed)
    (stated,) = Description(scheme, (n,)).forgeries
    words = ["letter", "orange", "forest", "garden", "winter", "silver", "doctor", "bridge"]
    tally = scheme.simulate(dict.fromkeys(words, n // len(words)), SeededRandom(seed))
    tally.add(crafted(scheme, target, round(fraction_of_enough * stated.reports), seed))
    return target in tally.search(k=10, level=0.05).items


@pytest.mark.full
def test_as_many_fakes_as_stated_have_a_string_found_that_nobody_holds_and_a_tenth_do_not() -> None:
    # False alarm: with seeds 0 to 23 neither failed, so below 12 % each with 95 % confidence; the law claims 5 %.
    assert forged(1, seed=1)
    assert not forged(0.1, seed=1)
