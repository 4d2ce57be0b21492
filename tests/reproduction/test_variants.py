"""Variants: the defect that is put back is the published one, and reports that are sent together share the budget."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from plausibly import SeededRandom, kernels, make
from plausibly.catalog import CATALOG
from plausibly.core.errors import StateError
from plausibly.experiments.cells import Cell
from plausibly.experiments.item_crowds import crowd
from plausibly.experiments.measures import theory
from reproduction.variants import AllFragments, ByPrefixes, RawCells, SharedSigns, _OneOracle

SHARED = Cell("CS, shared signs", {"oracle": {"scheme": "DE"}, "width": 8, "rows": 4}, n=8000, d=100, epsilon=20)
E = Fraction("2.718281828459045235360287471352")  # below e itself
SKETCHES = {"oracle": {"scheme": "OUE"}, "rows": 4, "width": 16}
PLACE: dict[str, Any] = {"data": "url-clicks/6", "n": 1000, "d": 0, "epsilon": 3.0}


def test_variants_are_for_experiments_alone() -> None:
    assert not {SharedSigns.name, RawCells.name, AllFragments.name, ByPrefixes.name} & set(CATALOG)


@pytest.mark.parametrize("combine", ["mean", "median", "min"])
def test_shared_signs_read_cells_as_the_published_program_does(combine: str) -> None:
    # Without noise: h = hash mod c, g = parity of h; a row holds Σ g over its users, an item reads g times its cell.
    scheme, truth = SHARED.make(), crowd("uniform", SHARED.n, SHARED.d, 0)
    assert isinstance(scheme, SharedSigns)
    users = np.repeat(np.arange(SHARED.d, dtype=np.uint64), truth)
    reports = scheme.privatize_encoded(users, SeededRandom(5))
    tally = scheme.accumulator()
    tally.add(reports)
    items, rows = np.arange(SHARED.d, dtype=np.uint64), reports["row"]
    read = np.empty((SHARED.d, scheme.rows))
    for row in range(scheme.rows):
        h = kernels.local_hash(np.full(SHARED.d, scheme.seeds[row]), items, scheme.split, 8).astype(np.int64)
        g = 1 - 2 * (h % 2)
        own = users[rows == row].astype(np.int64)
        cells = np.bincount(h[own], weights=g[own], minlength=8)
        read[:, row] = g * cells[h] * (1 if combine == "mean" else len(users) / len(own))
    expected = {"mean": read.sum(axis=1), "median": np.median(read, axis=1), "min": read.min(axis=1)}[combine]
    np.testing.assert_allclose(tally.estimate(combine=combine).values, expected, rtol=1e-6, atol=1e-3)


@pytest.mark.full
def test_shared_signs_overestimate_by_the_others_share_of_a_cell() -> None:
    # Over fresh hash functions all estimates are (n − f)/c too high on average; independent signs' are not.
    truth = crowd("uniform", SHARED.n, SHARED.d, 0)
    errors = {}
    for name in ("CS", SharedSigns.name):
        schemes = [
            Cell(name, SHARED.parameters, n=SHARED.n, d=SHARED.d, epsilon=20, repeat=i).make() for i in range(40)
        ]
        values = [scheme.simulate(truth, SeededRandom(i)).estimate().values for i, scheme in enumerate(schemes)]
        errors[name] = np.mean(values, axis=0) - truth
    # Of 40 sketches of 4 rows over 100 items; each mean is known to some 3 %, of (n − f)/c = 990.
    assert errors[SharedSigns.name].mean() == pytest.approx((SHARED.n - truth).mean() / 8, rel=0.1)
    assert abs(errors["CS"].mean()) < 100


def test_shared_signs_are_as_private_and_claim_no_variance() -> None:
    scheme = Cell("CS, shared signs", {"oracle": {"scheme": "DE"}, "width": 2, "rows": 2}, d=4, epsilon=1).make()
    reports = np.zeros(2 * 4, dtype=scheme.report_dtype)
    reports["row"], reports["report"]["item"] = np.divmod(np.arange(8), 4)
    for report in reports:
        chances = [scheme.likelihood(report, item) for item in range(4)]
        assert max(chances) / min(chances) <= E
    tally = scheme.simulate(np.array([5, 4, 3, 2]), SeededRandom(1))
    assert tally.estimate().variance is None
    assert theory(scheme, np.array([5, 4, 3, 2]), {}) is None
    assert scheme.estimator().law is None
    with pytest.raises(StateError, match="no variance in closed form"):
        scheme.variance(14)


@pytest.mark.parametrize(("combine", "middle"), [("median", np.median), ("min", np.min)])
def test_raw_cells_are_read_as_they_are(combine: str, middle: Any) -> None:
    # Without noise: of the users of a row, those of the item's cell.
    cell = Cell("CM, not debiased", SHARED.parameters, n=SHARED.n, d=SHARED.d, epsilon=20)
    scheme, truth = cell.make(), crowd("uniform", SHARED.n, SHARED.d, 0)
    assert isinstance(scheme, RawCells)
    users = np.repeat(np.arange(SHARED.d, dtype=np.uint64), truth)
    reports = scheme.privatize_encoded(users, SeededRandom(5))
    tally = scheme.accumulator()
    tally.add(reports)
    items, read = np.arange(SHARED.d, dtype=np.uint64), np.empty((SHARED.d, scheme.rows))
    for row in range(scheme.rows):
        h = kernels.local_hash(np.full(SHARED.d, scheme.seeds[row]), items, scheme.split, 8).astype(np.int64)
        own = users[reports["row"] == row].astype(np.int64)
        read[:, row] = np.bincount(h[own], minlength=8)[h] * (len(users) / len(own))
    np.testing.assert_allclose(tally.estimate(combine=combine).values, middle(read, axis=1), rtol=1e-6, atol=1e-3)
    # As the text has it: of the users of other items, one in c is expected in a cell.
    less = (middle(read, axis=1) - SHARED.n / 8) * 8 / 7
    corrected = tally.estimate(combine=combine, correction="n/c")
    np.testing.assert_allclose(corrected.values, less, rtol=1e-6, atol=1e-3)
    assert corrected.variance is None
    plain = make("CM", oracle=scheme.oracle, rows=4, domain_size=SHARED.d, hash_seed=scheme.hash_seed)
    same = plain.simulate(truth, SeededRandom(5))
    assert (tally.estimate(combine="mean").values == same.estimate(combine="mean").values).all()


@pytest.mark.parametrize(("name", "parts"), [("TH", 3), ("SFP", 4)])
def test_split_users_send_one_report_at_the_whole_budget(name: str, parts: int) -> None:
    both, split = (Cell(name, {**SKETCHES, **own}, **PLACE).make() for own in ({}, {"split": "users"}))
    assert both.epsilon == split.epsilon == 3
    assert {part.scheme.epsilon for part in both.parts} == {Fraction(3, 2)}
    assert {part.scheme.epsilon for part in split.parts} == {Fraction(3)}
    assert split.groups == tuple((part,) for part in range(parts))
    assert split.share(split.whole) == Fraction(1, 2)
    assert {split.share(part) for part in range(split.whole)} == {Fraction(1, 2 * (parts - 1))}
    assert both.share(both.whole) == 1
    assert both.report_dtype.itemsize - 1 == 2 * (split.report_dtype.itemsize - 1)


@pytest.mark.full
def test_one_fragment_has_the_whole_budget_and_all_fragments_share_it() -> None:
    own = {**SKETCHES, "width": 2**14, "split": "none", "word_oracle": None}
    one, every = (Cell(name, own, **PLACE).make() for name in ("SFP", AllFragments.name))
    assert one.epsilon == every.epsilon == 3
    assert ({part.scheme.epsilon for part in one.parts}, one.groups) == ({Fraction(3)}, ((0,), (1,), (2,)))
    assert ({part.scheme.epsilon for part in every.parts}, every.groups) == ({Fraction(1)}, ((0, 1, 2),))
    assert [every.share(part) for part in range(3)] == [1, 1, 1]
    crowd = {"google": 60_000, "yahoo.": 40_000}
    found = every.simulate(crowd, SeededRandom(1)).search(k=2)
    assert found.items.tolist() == list(crowd)


def test_prefixes_choose_strings_and_whole_strings_only_drop_them() -> None:
    scheme = Cell(
        ByPrefixes.name, {"oracle": {"scheme": "DE"}, "rows": 8, "width": 2**12}, **PLACE | {"epsilon": 40.0}
    ).make()
    assert scheme.epsilon == 40
    assert {part.scheme.epsilon for part in scheme.parts} == {Fraction(20)}
    # The whole string is one of the three prefixes that a user may report, beside the whole string itself.
    assert [part.last for part in scheme.parts] == [2, 4, 6, 6]
    assert scheme.groups == ((0, 3), (1, 3), (2, 3))
    assert (scheme.share(2), scheme.whole_share) == (Fraction(1, 3), 1)
    tally = scheme.simulate({"google": 6000, "yahoo.": 3000, "ebay.c": 1000}, SeededRandom(1))
    assert tally.search(k=2, keep=2).items.tolist() == ["google", "yahoo."]
    # Strings whose second reports are missing are dropped; no other string takes their place.
    other = scheme.simulate({"google": 10_000}, SeededRandom(2))
    tally._held = ((*tally.parts[:3], other.parts[3]), tally.n)
    assert tally.search(k=2, keep=2).items.tolist() == ["google"]


def test_prefixes_of_all_lengths_are_in_one_sketch() -> None:
    # A prefix is read from all three parts, so that it has the noise of all users; medians are not debiased.
    scheme = Cell(ByPrefixes.name, {**SKETCHES, "oracle": {"scheme": "DE"}}, **PLACE).make()
    tally = scheme.simulate({"google": 600, "yahoo.": 400}, SeededRandom(1))
    together = tally.parts[0].scheme.accumulator()
    for part in tally.parts[:3]:
        together.merge(part)
    assert len(together) == 1000
    items = scheme.parts[1].items_of(scheme.strings.encode(["google", "yahoo."])[:, :4])
    read = _OneOracle(tally)
    mean, _ = read.estimate_part(1, items, {"combine": "mean"})
    expected = together.scheme.estimator("mean").estimate(together.evidence, together.numbers, items)[0]
    np.testing.assert_allclose(mean, 3 * expected)
    median, none = read.estimate_part(1, items, {"combine": "median"})
    cells = [
        scheme.oracle.oracle.estimator().estimate(own, int(n), None)[0]
        for own, n in zip(together.evidence, together.numbers, strict=True)
    ]
    hashed = [scheme.oracle.hash_items(np.full(2, row), items, 16) for row in range(4)]
    naive = [
        np.median([cells[row][hashed[row][i]] * 1000 / together.numbers[row] for row in range(4)]) for i in range(2)
    ]
    np.testing.assert_allclose(median, 3 * np.array(naive))
    assert none is None
