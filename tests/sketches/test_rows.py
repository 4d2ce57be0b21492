"""CM and CS: against their slow twin, on strange questions, and the independence of signs and buckets."""

from __future__ import annotations

import json
import math
from collections import Counter
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import naive
import plausibly
from cases import in_turn
from contract.entries import ORACLES
from plausibly import Keys, ParameterError, Scheme, SeededRandom, StateError, kernels, make
from plausibly.core.history import decoding

KINDS = ("CM", "CS")
COMBINE = ("mean", "median", "min", "peel")
WITHOUT_VARIANCE = ("min", "peel")
STRANGE = ["", "never seen", "Zürich", "東京", "🦉", "x" * 2**20, b"", b"\0", 0, -1, 10**40]

each_kind = pytest.mark.parametrize("kind", KINDS)
each_combination = pytest.mark.parametrize("combine", COMBINE)


def sketch(kind: str, oracle: str = "DE", *, width: int = 8, rows: int = 3, epsilon: Any = 1, **given: Any) -> Scheme:
    """A sketch of ``width`` cells a row."""
    size = 2 * width if kind == "CS" else width
    given = given or {"domain_size": 20}
    return make(kind, oracle=make(oracle, epsilon=epsilon, domain_size=size), rows=rows, **given)


def users(count: int) -> list[int]:
    """Items of a crowd, of which item 0 is the most common."""
    return [i * i % 20 if i % 3 else 0 for i in range(count)]


def tally_of(scheme: Scheme, items: list[Any], seed: int = 1) -> Any:
    tally = scheme.accumulator()
    tally.add(scheme.privatize(items, rng=SeededRandom(seed)))
    return tally


def assert_equals_twin(scheme: Scheme, count: int, **options: Any) -> None:
    reports = scheme.privatize(users(count), rng=SeededRandom(count))
    tally = scheme.accumulator()
    tally.add(reports)
    twin = naive.answer(json.loads(scheme.to_json()), naive.fields(reports), range(20), **options)
    values = [float(value) for value in twin.values]
    largest = max(1.0, *map(abs, values))
    for asked in (None, list(range(20))):
        estimates = tally.estimate(asked, **options)
        np.testing.assert_allclose(estimates.values, values, rtol=1e-9, atol=1e-9 * largest)
        if options.get("combine", "mean") == "mean":
            assert tally.scores(asked, **options).tolist() == twin.scores


# --- the slow twin ---------------------------------------------------------------------------------------------------


@each_kind
@each_combination
@in_turn("oracle", ["DE", "OUE"])
def test_estimates_equal_the_slow_twin(kind: str, oracle: str, combine: str) -> None:
    assert_equals_twin(sketch(kind, oracle), 90, combine=combine)


@pytest.mark.full
@each_kind
@each_combination
@pytest.mark.parametrize("oracle", ORACLES)
def test_estimates_over_any_oracle_equal_the_slow_twin(kind: str, oracle: str, combine: str) -> None:
    for epsilon, rows in (("0.5", 3), ("3", 4), ("1", 1)):
        assert_equals_twin(sketch(kind, oracle, epsilon=epsilon, rows=rows, width=6), 70, combine=combine)


@pytest.mark.full
@each_kind
@each_combination
@pytest.mark.parametrize("count", [0, 1, 5])
def test_rows_without_users_say_nothing(kind: str, combine: str, count: int) -> None:
    assert_equals_twin(sketch(kind, rows=50), count, combine=combine)


@each_kind
@each_combination
def test_the_oracle_s_own_decoders_can_be_chosen(kind: str, combine: str) -> None:
    scheme = sketch(kind, "HM")
    assert_equals_twin(scheme, 60, combine=combine, oracle={"decoder": "paper"})
    tally = tally_of(scheme, users(60))
    full, paper = (tally.estimate(combine=combine, oracle={"decoder": decoder}) for decoder in ("full", "paper"))
    np.testing.assert_array_equal(full.values, tally.estimate(combine=combine).values)
    assert (full.values != paper.values).any()


def signs_on_coefficients(*, t: int = 2, width: int = 8, rows: int = 3, epsilon: Any = 1, **given: Any) -> Scheme:
    """A Count-Sketch over HM whose coefficients carry the signs of the items."""
    oracle = make("HM", epsilon=epsilon, domain_size=width, coefficients=t)
    return make("CS", oracle=oracle, rows=rows, signs="coefficients", **given or {"domain_size": 20})


@each_combination
@in_turn(("t", "decoder"), [(1, "full"), (1, "paper"), (2, "full"), (3, "full"), (3, "paper"), (5, "full")])
def test_signs_on_coefficients_equal_the_slow_twin(combine: str, t: int, decoder: str) -> None:
    for count in (0, 1, 70):
        assert_equals_twin(signs_on_coefficients(t=t), count, combine=combine, oracle={"decoder": decoder})


def test_signs_on_coefficients_are_written_only_where_they_are_used() -> None:
    scheme = signs_on_coefficients()
    oracle = scheme.oracle  # type: ignore[attr-defined]
    plain = make("CS", oracle=oracle, rows=3, domain_size=20)
    assert plain == make("CS", oracle=oracle, rows=3, domain_size=20, signs="cells") != scheme
    assert "signs" not in json.loads(plain.to_json())
    assert json.loads(scheme.to_json()) == {**json.loads(plain.to_json()), "signs": "coefficients"}
    assert (scheme.width, plain.width) == (8, 4)  # type: ignore[attr-defined]
    assert scheme.report_dtype == plain.report_dtype


@pytest.mark.parametrize(
    ("oracle", "size", "signs", "said"),
    [
        ("HM", 8, "coefficient", "signs: unknown 'coefficient'; did you mean 'coefficients'"),
        ("DE", 8, "coefficients", "oracle: expected HM for signs on coefficients, got DE"),
        ("HM", 12, "coefficients", "oracle: expected a power of two up to 8388608 as domain_size"),
        ("HM", 2**24, "coefficients", "oracle: expected a power of two up to 8388608 as domain_size"),
    ],
)
def test_signs_need_coefficients(oracle: str, size: int, signs: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make("CS", oracle=make(oracle, epsilon=1, domain_size=size), rows=3, domain_size=20, signs=signs)


def test_net_counts_of_rows_have_no_steps() -> None:
    with pytest.raises(ParameterError, match="postprocess_rows: expected none with signs on coefficients"):
        tally_of(signs_on_coefficients(), users(20)).estimate(postprocess_rows="norm-sub")


@in_turn("t", [1, 2, 3, 5])
def test_forged_net_counts_are_refused(t: int) -> None:
    scheme = signs_on_coefficients(t=t, rows=1)
    tally = tally_of(scheme, users(7))
    state = tally.state[0].astype(np.int64)
    scheme.check_cells(state, 7)
    for n in (0, 6) if t == 1 else (0,):
        with pytest.raises(StateError):
            scheme.check_cells(state, n)
    for part in range(2):
        for place in range(8):
            for step in (1, 2**t) if t < 4 else (1,):
                forged = state.copy()
                forged[part, place] += step
                with pytest.raises(StateError):
                    scheme.check_cells(forged, 7)


@each_kind
def test_one_row_of_users_is_their_oracle(kind: str) -> None:
    # With one row the state is the oracle's, and the cells are estimated as the oracle estimates its items.
    scheme = sketch(kind, "OUE", rows=1)
    reports = scheme.privatize(users(200), rng=SeededRandom(1))
    tally, alone = scheme.accumulator(), scheme.oracle.accumulator()  # type: ignore[attr-defined]
    tally.add(reports)
    alone.add(np.ascontiguousarray(reports["report"]))
    np.testing.assert_array_equal(tally.state, alone.state)
    cells = alone.estimate().values
    where = [naive.row_cell(json.loads(scheme.to_json()), 0, x) for x in range(20)]
    read = cells[where] - np.roll(cells, 8)[where] if kind == "CS" else (cells[where] - 200 / 8) * 8 / 7
    np.testing.assert_allclose(tally.estimate().values, read, rtol=1e-9, atol=1e-9)


# --- strange questions -----------------------------------------------------------------------------------------------


@pytest.mark.full
@each_kind
@each_combination
def test_any_text_can_be_asked_for(kind: str, combine: str) -> None:
    scheme = sketch(kind, "OLH", rows=5, domain=Keys())
    for crowd in ([], ["Zürich"] * 40, STRANGE * 10):
        tally = tally_of(scheme, crowd)
        estimates = tally.estimate(STRANGE, combine=combine)
        assert estimates.items.tolist() == STRANGE
        assert np.isfinite(estimates.values).all()
        assert crowd or not estimates.values.any()
        # What is peeled is a choice among those who are asked for; the others answer for each on its own.
        for i, item in enumerate(STRANGE if combine != "peel" else []):
            assert tally.estimate([item], combine=combine).values[0] == estimates.values[i]


@each_kind
@each_combination
def test_an_item_held_by_all_is_found_and_one_held_by_none_is_not(kind: str, combine: str) -> None:
    # The standard deviation of a row, scaled to all users, is below 230: 2,000 are eight of them. False alarm: only
    # if the two items share a cell. Over fresh hash seeds a row has them there with probability 1/256, and one row is
    # too much for the minimum of CS alone, if the signs differ (1.6 %); the mean and the median take three.
    scheme = sketch(kind, "OLH", rows=8, width=256, epsilon=4, domain=Keys())
    found = scheme.simulate({"Zürich": 5_000}, SeededRandom(3)).estimate(["Zürich", "Zurich"], combine=combine)
    assert abs(found.values[0] - 5_000) < 2_000
    assert abs(found.values[1]) < 2_000


@each_kind
def test_zero_reports_estimate_zero_whatever_is_asked(kind: str) -> None:
    tally = sketch(kind).accumulator()
    for combine in COMBINE:
        estimates = tally.estimate(combine=combine)
        assert not estimates.values.any()
        assert (estimates.variance is None) == (combine in WITHOUT_VARIANCE)
        assert combine in WITHOUT_VARIANCE or not estimates.variance.any()
    for name in plausibly.POSTPROCESS:
        for combine in COMBINE:
            assert np.isfinite(tally.estimate(combine=combine, postprocess_rows=name).values).all()


@each_kind
def test_intervals_exist_where_they_are_honest(kind: str) -> None:
    tally = tally_of(sketch(kind), users(300))
    mean, median, least, peel = (tally.estimate(combine=combine) for combine in COMBINE)
    assert (mean.history, median.history) == ((), (decoding("the median of rows"),))
    assert (least.history, peel.history) == ((decoding("the minimum of rows"),), (decoding("peeling the rows"),))
    for estimates in (mean, median):
        low, high = estimates.interval()
        assert (low < high).all()
    for estimates, step in ((least, "the minimum of rows"), (peel, "peeling the rows")):
        with pytest.raises(StateError, match=f"no interval, after {step}"):
            estimates.interval()
    for combine in ("median", "min", "peel"):
        with pytest.raises(StateError, match="no integer scores"):
            tally.scores(combine=combine)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "combine"),
    [
        pytest.param(kind, combine, marks=() if (kind, combine) == ("CM", "median") else pytest.mark.full)
        for kind in KINDS
        for combine in COMBINE
    ],
)
def test_steps_within_the_rows_drop_the_variance_and_say_so(kind: str, combine: str) -> None:
    tally = tally_of(sketch(kind, "OUE", rows=20), users(40))
    plain = tally.estimate(combine=combine)
    for name in plausibly.POSTPROCESS:
        estimates = tally.estimate(combine=combine, postprocess_rows=name)
        assert estimates.variance is None
        assert estimates.history == (decoding(f"{name} in each row"), *plain.history)
        assert np.isfinite(estimates.values).all()
        with pytest.raises(StateError, match="no interval"):
            estimates.interval()
        assert tally.scheme.estimator(combine=combine, postprocess_rows=name).law is None
    assert (tally.estimate(combine=combine, postprocess_rows="norm-sub").values != plain.values).any()


def test_norm_sub_in_each_row_is_norm_sub_of_the_oracle_s_estimates() -> None:
    scheme = sketch("CM", rows=2)
    reports = scheme.privatize(users(200), rng=SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(reports)
    wanted = np.zeros(20)
    for row in (0, 1):
        own = np.ascontiguousarray(reports["report"][reports["row"] == row])
        alone = scheme.oracle.accumulator()  # type: ignore[attr-defined]
        alone.add(own)
        cells = alone.estimate().postprocess("norm-sub").values
        where = [naive.row_cell(json.loads(scheme.to_json()), row, x) for x in range(20)]
        wanted += (cells[where] - len(own) / 8) * 8 / 7
    np.testing.assert_allclose(tally.estimate(postprocess_rows="norm-sub").values, wanted, rtol=1e-9, atol=1e-9)


@each_kind
def test_misspelt_choices_are_refused_with_the_nearest_name(kind: str) -> None:
    tally = tally_of(sketch(kind, "HM"), users(20))
    for given, said in (
        ({"combine": "medain"}, "combine: unknown 'medain'; did you mean 'median'"),
        ({"combine": 3}, "combine: unknown 3; valid: mean, median, min, peel"),
        ({"combine": None}, "combine: unknown None"),
        ({"combine": ["mean"]}, r"combine: unknown \['mean'\]"),
        ({"combin": "mean"}, "unknown option 'combin'; did you mean 'combine'"),
        ({"postprocess_rows": "nrom-sub"}, "unknown step 'nrom-sub'; did you mean 'norm-sub'"),
        ({"postprocess": "norm-sub"}, "unknown option 'postprocess'; did you mean 'postprocess_rows'"),
        ({"oracle": {"decodr": "paper"}}, "unknown option 'decodr'; did you mean 'decoder'"),
        ({"oracle": {"decoder": "papr"}}, "decoder"),
        ({"oracle": {"combine": "mean"}}, "unknown option 'combine'; valid: decoder"),
        ({"oracle": "paper"}, "oracle: expected a mapping of the oracle's options, got str"),
        ({"oracle": None}, "oracle: expected a mapping"),
    ):
        with pytest.raises(ParameterError, match=said):
            tally.estimate(**given)


@each_kind
def test_an_oracle_without_choices_refuses_them(kind: str) -> None:
    with pytest.raises(ParameterError, match="unknown option 'decoder'; valid: none"):
        sketch(kind).accumulator().estimate(oracle={"decoder": "paper"})


@each_kind
def test_one_report_moves_the_mean_by_no_more_than_its_oracle_allows(kind: str) -> None:
    # What a liar can do: his report, over one row, against the law of the oracle for its cells.
    for oracle in ("DE", "OUE", "HR"):
        scheme = sketch(kind, oracle)
        own = scheme.oracle.estimator()  # type: ignore[attr-defined]
        most = float(own.scale * max(own.offset, 1 - own.offset))
        most = 2 * most if kind == "CS" else (most + 1 / 8) * 8 / 7
        for seed in range(20):
            assert np.abs(tally_of(scheme, [3], seed).estimate().values).max() <= most * (1 + 1e-12)


# --- sizes -----------------------------------------------------------------------------------------------------------


@each_kind
@each_combination
def test_one_row_is_a_sketch(kind: str, combine: str) -> None:
    estimates = tally_of(sketch(kind, rows=1, width=2), users(50)).estimate(combine=combine)
    assert np.isfinite(estimates.values).all()


@pytest.mark.full
@each_kind
@pytest.mark.parametrize("oracle", ["DE", "TLH"])
def test_a_thousand_rows_of_two_thousand_cells_work(kind: str, oracle: str) -> None:
    scheme = sketch(kind, oracle, rows=1024, width=2048, epsilon=8, domain=Keys())
    tally = tally_of(scheme, ["a"] * 700 + [f"item {i}" for i in range(300)])
    assert tally.state.shape[0] == 1024
    again = plausibly.Accumulator.from_bytes(scheme, tally.to_bytes())
    for combine in COMBINE:
        estimates = again.estimate(["a", "never seen", ""], combine=combine)
        np.testing.assert_array_equal(estimates.values, tally.estimate(["a", "never seen", ""], combine=combine).values)
        assert np.isfinite(estimates.values).all()
    # The mean is off by at most six standard deviations: false alarm 2e-9 for each of three items.
    mean = again.estimate(["a", "never seen", ""])
    assert (np.abs(mean.values - [700, 0, 0]) < 6 * np.sqrt(mean.variance)).all()


# --- signs and buckets -----------------------------------------------------------------------------------------------

ITEMS = {
    "consecutive": np.arange(64, dtype=np.uint64),
    "multiples": np.arange(64, dtype=np.uint64) * np.uint64(64),
    "random": SeededRandom(9).replay(0).head(0, 512).view("<u8").astype(np.uint64),
}
"""Sixty-four items that differ in one character of the hash, in the other, and 64-bit keys that differ in both."""
ALARM = 1e-6
"""The false-alarm rate of each chi-square test and z-score below over fresh hash seeds; here they are fixed."""
HASH_SEEDS = 250


def hashes(kind: str, width: int, hash_seed: int, rows: int = 4) -> npt.NDArray[np.int64]:
    """Of each row and item: the hash below twice the width."""
    domain = {"domain": Keys()} if kind == "random" else {"domain_size": 64 * 64}
    scheme = sketch("CS", width=width, rows=rows, hash_seed=hash_seed, **domain)
    items = ITEMS[kind]
    found = [kernels.local_hash(np.full(64, s), items, scheme.split, 2 * width) for s in scheme.seeds]  # type: ignore[attr-defined]
    return np.array(found, dtype=np.int64)


def chi_square_limit(freedom: int) -> float:
    """The value exceeded with probability ALARM (Wilson and Hilferty 1931)."""
    z = NormalDist().inv_cdf(1 - ALARM)
    return freedom * (1 - 2 / (9 * freedom) + z * math.sqrt(2 / (9 * freedom))) ** 3


@pytest.mark.full
@pytest.mark.parametrize("width", [2, 8, 1024])
@pytest.mark.parametrize("kind", ITEMS)
def test_signs_say_nothing_about_buckets(kind: str, width: int) -> None:
    seen: Counter[tuple[bool, int]] = Counter()
    for hash_seed in range(HASH_SEEDS):
        found = hashes(kind, width, hash_seed)
        seen.update(zip((found >= width).ravel().tolist(), (found % width % 2).ravel().tolist(), strict=True))
    expected = HASH_SEEDS * 4 * 64 / 4
    assert sum((seen[sign, parity] - expected) ** 2 for sign in (False, True) for parity in (0, 1)) / expected < (
        chi_square_limit(3)
    )


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "random" else pytest.mark.full) for kind in ITEMS]
)
def test_the_signs_of_items_that_share_a_bucket_cancel(kind: str) -> None:
    limit, width = NormalDist().inv_cdf(1 - ALARM / 2), 8
    pairs = products = defective = 0
    for hash_seed in range(HASH_SEEDS):
        for row in hashes(kind, width, hash_seed):
            bucket, sign = row % width, np.where(row < width, 1, -1)
            first, second = np.nonzero(np.triu(bucket[:, None] == bucket[None, :], 1))
            pairs += len(first)
            products += int((sign[first] * sign[second]).sum())
            # As published code has it: the sign is the parity of the bucket, hence the same for both.
            parity = np.where(bucket % 2, -1, 1)
            defective += int((parity[first] * parity[second]).sum())
    assert pairs > 200_000
    assert abs(products) / math.sqrt(pairs) < limit
    assert defective == pairs


def test_a_shared_sign_would_bias_every_item_by_the_others_share_of_its_bucket() -> None:
    # On exact counts of 1,000 items, over fresh hash functions: the mean error of all items has |z| < 4 (false alarm
    # 6e-5) and the largest of the 1,000 |z| < 5.5 (4e-5). The published variant is off by (n - f)/c.
    width, seeds, items = 16, 400, np.arange(1000, dtype=np.uint64)
    counts = (10_000 / (1 + np.arange(1000))).astype(np.int64)
    n = int(counts.sum())
    errors, published = np.empty((seeds, 1000)), np.empty((seeds, 1000))
    for hash_seed in range(seeds):
        scheme = sketch("CS", width=width, rows=1, hash_seed=hash_seed, domain_size=1000)
        seed = np.full(1000, scheme.seeds[0])  # type: ignore[attr-defined]
        hashed = kernels.local_hash(seed, items, scheme.split, 2 * width).astype(np.int64)  # type: ignore[attr-defined]
        bucket = hashed % width
        for sign, into in ((np.where(hashed < width, 1, -1), errors), (np.where(bucket % 2, -1, 1), published)):
            cells = np.bincount(bucket, weights=sign * counts, minlength=width)
            into[hash_seed] = sign * cells[bucket] - counts
    z = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / math.sqrt(seeds))
    overall = errors.mean(axis=1)
    assert abs(overall.mean()) / (overall.std(ddof=1) / math.sqrt(seeds)) < 4
    assert np.abs(z).max() < 5.5
    np.testing.assert_allclose(published.mean(), n / width, rtol=0.02)
    z = published.mean(axis=0) / (published.std(axis=0, ddof=1) / math.sqrt(seeds))
    assert np.median(z) > 10


@pytest.mark.full
@each_kind
def test_the_mean_is_unbiased_over_fresh_hash_functions(kind: str) -> None:
    # As above, through the library, over an oracle that all but never lies: the errors are those of hashing alone.
    seeds = 100
    counts = (2_000 / (1 + np.arange(1000))).astype(np.int64)
    errors = np.empty((seeds, 1000))
    for hash_seed in range(seeds):
        scheme = sketch(kind, width=32, rows=4, epsilon=40, hash_seed=hash_seed, domain_size=1000)
        errors[hash_seed] = scheme.simulate(counts, SeededRandom(hash_seed)).estimate().values - counts
    overall = errors.mean(axis=1)
    assert abs(overall.mean()) / (overall.std(ddof=1) / math.sqrt(seeds)) < 4
    # Most of an item's error are its collisions with the largest one, 12.5 expected in all: six standard deviations
    # are exceeded with probability 5e-7 (Poisson), by one of 1,000 items in 5e-4 of all sets of seeds.
    variance = scheme.variance(counts.sum(), counts, f2=float((counts**2).sum()))
    assert np.abs(errors.mean(axis=0) / np.sqrt(variance / seeds)).max() < 6
