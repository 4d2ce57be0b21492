"""What one report can add to an answer: brute force over all records of small schemes, for every kind of answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plausibly
from cases import case
from contract.entries import NAMES, SEARCHES, SKETCHES, TABLED, build, is_linear, sized
from plausibly import CATALOG, Ordered, ParameterError, Scheme, SeededRandom, StateError, Table, make
from plausibly.core import linear_hashing
from plausibly.oracles import affine_response, toeplitz_hashing

SIZE = 6
EXACT: dict[str, dict[str, Any]] = {
    "DE": {},
    "SS": {},
    "OUE": {},
    "SUE": {},
    "HR": {},
    "HR in blocks": {"name": "HR", "variant": "block", "epsilon": 3},
    "FLH": {"hashes": 20},
    "OLH": {},
    "BLH": {},
    "HM with one coefficient": {"name": "HM", "coefficients": 1},
    "HM with two coefficients": {"name": "HM", "coefficients": 2},
    "HM with three coefficients": {"name": "HM", "coefficients": 3},
    "TLH": {},
    "TLH with a window": {"name": "TLH", "hash_bits": 3, "window": 3},
    "AGR": {},
    "AGR on more points": {"name": "AGR", "hash_bits": 2, "dimension": 3},
    "AGR with a stretch": {"name": "AGR", "hash_bits": 3, "window": 3},
    "SLIDE": {"widths": (1, 2)},
    "HH": {"branching": 2},
    "HAAR": {},
}
"""Schemes whose leverage on any question is exact; that of OLH and BLH for few items, of which every set is supported
by some record."""
BOUNDED = [label for label in EXACT if label.startswith(("HM with t", "TLH", "AGR"))]
"""Schemes for which it is a bound if their records are too many to compare."""
TABLE = Table({"a": 2, "b": 3, "c": 2}, missing=False)


def made(label: str, parameters: dict[str, Any]) -> Any:
    given = {"name": label, "epsilon": 1, "domain": Ordered(0, SIZE - 1), **parameters}
    return make(given.pop("name"), **given)


def records_of(scheme: Any, values: Any, number: int = 30_000) -> Any:
    """The different records of many honest reports: privacy makes every record possible for every value."""
    drawn = scheme.privatize([values[i % len(values)] for i in range(number)], rng=SeededRandom(5))
    size = scheme.report_dtype.itemsize
    found = np.unique(np.frombuffer(drawn.tobytes(), np.uint8).reshape(-1, size), axis=0)
    return found[:: 1 + len(found) // 1500].reshape(-1).view(scheme.report_dtype)


def alone(scheme: Any, record: Any) -> Any:
    tally = scheme.accumulator()
    tally.add(record)
    return tally


def questions(size: int) -> Any:
    """Prefixes, ranges, single items, the mean, the sum of all, and weights without a pattern."""
    ranges = [[float(a <= x <= b) for x in range(size)] for a in range(size) for b in range(a, size)]
    odd = np.random.default_rng(3).normal(size=(5, size))
    return np.concatenate([ranges, [np.arange(size, dtype=float)], odd])


def brute_force(scheme: Any, weights: Any) -> tuple[Any, Any]:
    records = records_of(scheme, list(range(SIZE)))
    counts = np.array([alone(scheme, records[i : i + 1]).estimate().values for i in range(len(records))])
    answers = counts @ weights.T
    return answers.min(axis=0), answers.max(axis=0)


@pytest.mark.full
def test_leverage_on_sums_of_counts_is_that_of_the_worst_record() -> None:
    weights = questions(SIZE)
    for label, parameters in EXACT.items():
        with case(label):
            scheme = made(label, parameters)
            reach, (low, high) = scheme.leverage(weights), brute_force(scheme, weights)
            np.testing.assert_allclose(reach.low, low, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(reach.high, high, rtol=1e-8, atol=1e-8)


def small(name: str) -> Any:
    order = Ordered(0, SIZE - 1)
    return build(name, order if isinstance(order, CATALOG[name].accepts) else sized(name, SIZE), 1)


@pytest.mark.full
def test_leverage_of_every_entry_is_that_of_the_worst_record() -> None:
    # Sketches and searches have bounds for single items only, which tests/planner/test_fakes.py compares with brute
    # force; other entries have none, because their counts are no sums over reports.
    weights = questions(SIZE)
    for name in NAMES:
        scheme = small(name)
        with case(name):
            if not is_linear(scheme) or name in (*SEARCHES, *SKETCHES):
                with pytest.raises(StateError, match="no bound"):
                    scheme.leverage(weights)
                continue
            reach, (low, high) = scheme.leverage(weights), brute_force(scheme, weights)
            np.testing.assert_allclose(reach.low, low, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(reach.high, high, rtol=1e-8, atol=1e-8)


@pytest.mark.full
def test_no_record_adds_more_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = questions(SIZE)
    for module in (linear_hashing, toeplitz_hashing, affine_response):
        monkeypatch.setattr(module, "MOST_RECORDS", 0)
    for label in BOUNDED:
        with case(label):
            scheme = made(label, EXACT[label])
            reach, (low, high) = scheme.leverage(weights), brute_force(scheme, weights)
            assert (reach.low <= low + 1e-8).all()
            assert (reach.high >= high - 1e-8).all()
            assert (reach.high <= 4 * np.maximum(high, -low) + 1e-8).all()  # and it says something


@pytest.mark.parametrize("name", ["OLH", "BLH"])
def test_a_record_of_a_hash_function_supports_any_set_of_few_items(name: str) -> None:
    scheme: Any = make(name, epsilon=1, domain_size=SIZE)
    records = np.zeros((1 << 15, scheme.g), dtype=scheme.report_dtype)
    records["seed"], records["hash"] = np.arange(1 << 15)[:, np.newaxis], np.arange(scheme.g)
    supported = scheme.supports_each(records.reshape(-1), np.arange(SIZE, dtype=np.uint64))
    assert len(np.unique(supported, axis=0)) == 2**SIZE


@pytest.mark.parametrize("name", ["TLH", "AGR", "HM"])
@pytest.mark.parametrize(("size", "epsilon"), [(100, 1), (60, 2)])
def test_the_best_of_all_records_is_near_the_best_of_some(name: str, size: int, epsilon: int) -> None:
    # On more items than brute force can take: the worst of some records comes close, and none is beyond.
    scheme: Any = make(name, epsilon=epsilon, domain_size=size)
    weights = np.random.default_rng(1).normal(size=(2, size))
    reach = scheme.leverage(weights)
    found = scheme.privatize([0] * 300, rng=SeededRandom(2))
    answers = np.array([alone(scheme, found[[i]]).estimate().values for i in range(300)]) @ weights.T
    assert (answers >= reach.low - 1e-8).all()
    assert (answers <= reach.high + 1e-8).all()
    assert (reach.high < Scheme.leverage(scheme, weights).high).all()
    assert (reach.high < 2.5 * answers.max(axis=0)).all()


@pytest.mark.parametrize("bits", range(6))
def test_every_subspace_is_listed_once(bits: int) -> None:
    for dimension in range(bits + 2):
        bases = linear_hashing.subspaces(bits, dimension)
        spans = {frozenset(row) for row in linear_hashing.characters_of(bases).tolist()}
        assert len(spans) == len(bases) == linear_hashing.number_of_subspaces(bits, dimension)
        assert all(len(span) == 1 << dimension for span in spans)
    assert sum(len(linear_hashing.subspaces(bits, k)) for k in range(bits + 1)) == [1, 2, 5, 16, 67, 374][bits]


def test_the_last_item_outside_the_order_counts_like_any_other() -> None:
    scheme = make("SLIDE", epsilon=1, domain=Ordered(0, SIZE - 2, other=True), widths=(1, 2))
    weights = questions(SIZE)
    records = records_of(scheme, [*range(SIZE - 1), 99])
    answers = np.array([alone(scheme, records[i : i + 1]).estimate().values for i in range(len(records))]) @ weights.T
    np.testing.assert_allclose(scheme.leverage(weights).high, answers.max(axis=0), rtol=1e-8)


@pytest.mark.parametrize("name", TABLED)
def test_leverage_on_tables_is_that_of_the_worst_record(name: str) -> None:
    scheme: Any = make(name, epsilon=1, domain=TABLE)
    values = TABLE.decode(TABLE.spread(12)).tolist()
    records = records_of(scheme, values)
    tables = [("a",), ("b",), *([("b", "a"), ("b", "c")] if name == "CLIQUE" else [])]
    for names in tables:
        with case(f"{name} {names}"):
            found = [alone(scheme, records[i : i + 1]).table(*names).values for i in range(len(records))]
            weights = questions(len(found[0]))
            answers, levers = np.array(found) @ weights.T, alone(scheme, records[:1]).table(*names).levers
            reach = levers.reach_of(weights)
            np.testing.assert_allclose(reach.low, answers.min(axis=0), rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(reach.high, answers.max(axis=0), rtol=1e-8, atol=1e-8)
            assert levers.one == pytest.approx((reach.low[0], reach.high[0]))


# --- intervals despite fakes --------------------------------------------------------------------------------------

CROWD = [400, 300, 800, 200, 600, 700]
SHARE = 0.02


def worst(scheme: Any, question: Any) -> tuple[Any, Any]:
    """The records that lower and raise the answer to a question most."""
    records = records_of(scheme, list(range(SIZE)))
    answers = [float(question @ alone(scheme, records[i : i + 1]).estimate().values) for i in range(len(records))]
    return records[[int(np.argmin(answers))]], records[[int(np.argmax(answers))]]


def attacked(scheme: Any, record: Any) -> tuple[Any, Any]:
    """The tally of a crowd alone, and with as many copies of a record as make up the share."""
    honest, both = (scheme.simulate(CROWD, SeededRandom(8)) for _ in range(2))
    fakes = round(SHARE * len(honest) / (1 - SHARE))
    both.add(np.repeat(record, fakes))
    return honest, both


@pytest.mark.parametrize(
    "name",
    [
        "SLIDE",
        *(pytest.param(name, marks=pytest.mark.full) for name in ("HAAR", "HM with two coefficients", "OUE", "SS")),
    ],
)
def test_the_interval_of_the_honest_users_is_inside_the_interval_despite_fakes(name: str) -> None:
    scheme = made(name, EXACT[name])
    prefix, centred = np.array([1.0, 1, 1, 0, 0, 0]), np.arange(SIZE) - 2.5
    for question in (prefix, centred, np.eye(SIZE)[3]):
        for record in worst(scheme, question):
            honest, both = (tally.estimate() for tally in attacked(scheme, record))
            assert isinstance(honest, plausibly.OrderedEstimates)
            assert isinstance(both, plausibly.OrderedEstimates)
            pairs = [
                (honest, both),
                (honest.ranges([(0, 2), (1, 4)]), both.ranges([(0, 2), (1, 4)])),
                (honest.cdf(), both.cdf()),
                (honest.mean_answer(), both.mean_answer()),
            ]
            for own, answer in pairs:
                low, high = answer.despite_fakes(SHARE, 0.5)
                assert (low <= own.values + 1e-9).all()
                assert (own.values <= high + 1e-9).all()
            low, high = both.quantiles([0.5]).despite_fakes(SHARE, 0.5)
            assert low[0] <= honest.quantiles([0.5]).values[0] <= high[0]


def test_the_worst_record_reaches_the_end_of_the_interval() -> None:
    scheme = made("SLIDE", EXACT["SLIDE"])
    prefix, centred = np.array([1.0, 1, 1, 0, 0, 0]), np.arange(SIZE) - 2.5
    lowest, highest = worst(scheme, prefix)
    for record, side in ((highest, 0), (lowest, 1)):
        honest, both = (tally.estimate().ranges([(0, 2)]) for tally in attacked(scheme, record))
        usual, despite = both.interval(0.5)[side], both.despite_fakes(SHARE, 0.5)[side]
        assert despite + both.values - usual == pytest.approx(honest.values, rel=1e-6)
    lowest, highest = worst(scheme, centred)
    honest, both = (tally.estimate().mean_answer() for tally in attacked(scheme, highest))
    fakes = round(SHARE * both.n)
    usual, despite = both.interval(0.5)[0], both.despite_fakes(SHARE, 0.5)[0]
    assert despite + (both.values - usual) * both.n / (both.n - fakes) == pytest.approx(honest.values, rel=1e-6)


def test_the_mean_of_bits_is_moved_by_the_bits_alone() -> None:
    scheme: Any = make("MEAN", epsilon=1, domain=Ordered(0, SIZE - 1))
    for bit, side in ((1, 0), (0, 1)):
        honest, both = scheme.simulate(CROWD, SeededRandom(8)), scheme.simulate(CROWD, SeededRandom(8))
        fakes = round(SHARE * len(honest) / (1 - SHARE))
        both.add(np.full(fakes, bit, dtype=[("bit", "u1")]))
        found, own = both.mean_answer(), honest.mean_answer()
        usual, despite = found.interval(0.5)[side], found.despite_fakes(SHARE, 0.5)[side]
        moved = (found.values - usual) * len(both) / (len(both) - fakes)
        assert despite + moved == pytest.approx(own.values, rel=1e-6)


def test_differences_allow_for_fakes_in_both_crowds() -> None:
    scheme: Any = make("OUE", epsilon=1, domain_size=SIZE)
    one, other = (scheme.simulate(CROWD, SeededRandom(seed)).estimate() for seed in (1, 2))
    ends = scheme.ends()
    assert ends is not None
    moved = 30 * (ends[1] - ends[0])
    for found, scale in ((one - other, 1), (one.shares() - other.shares(), 3000)):
        usual, despite = found.interval(), found.despite_fakes(0.01)
        np.testing.assert_allclose((usual[0] - despite[0]) * scale, moved)
        np.testing.assert_allclose((despite[1] - usual[1]) * scale, moved)
    with pytest.raises(StateError, match="no bound"):
        (one / other).despite_fakes()


def test_counts_of_tables_and_of_found_strings_have_intervals_despite_fakes() -> None:
    clique: Any = make("CLIQUE", epsilon=1, domain=TABLE)
    table = clique.simulate({(0, 1, 1): 4000}, SeededRandom(1)).table("a", "b")
    low, high = table.levers.one
    assert (table.interval()[0] - table.despite_fakes(0.01)[0])[0] == pytest.approx(40 * high)
    assert (table.despite_fakes(0.01)[1] - table.interval()[1])[0] == pytest.approx(-40 * low)
    assert table.margin("b").levers.places == (1,)
    search: Any = make("PEM", oracle=make("DE", epsilon=3, domain_size=27), domain=plausibly.Strings("ab", 3), step=3)
    found = search.simulate({"ab": 3000, "ba": 1000}, SeededRandom(1)).search(k=2)
    assert found.despite_fakes(0.01)[0] == pytest.approx(found.interval()[0] - 40 * search.ends()[1])


@pytest.mark.full
def test_strings_that_are_solved_for_together_have_a_bound_one_by_one() -> None:
    names = plausibly.Strings("abcdefghijklmnopqrstuvwxyz-", 12)
    search: Any = plausibly.TRELLIS(3, domain=names, users=4000)
    tally = search.simulate({"orange": 3000, "forest": 1000}, SeededRandom(1))
    with pytest.raises(StateError, match="no bound"):
        tally.estimate(["orange", "forest"]).despite_fakes()
    alone = tally.estimate(["orange"])
    assert alone.despite_fakes(0.01)[0] == pytest.approx(alone.interval()[0] - 40 * search.ends()[1])


@pytest.mark.full
def test_without_a_bound_nothing_is_promised() -> None:
    wave: Any = make("SW", epsilon=1, domain=Ordered(0, 9))
    made = wave.simulate([10] * 10, SeededRandom(1)).estimate()
    with pytest.raises(StateError):
        made.despite_fakes()
    counts = make("OUE", epsilon=1, domain_size=SIZE).simulate(CROWD, SeededRandom(1)).estimate()
    with pytest.raises(StateError, match="no bound"):
        counts.postprocess("norm-sub").moved_by_fakes()
    with pytest.raises(ParameterError, match="share: expected a share below 1"):
        counts.despite_fakes(1)
    many: Any = make("SLIDE", epsilon=1, domain=Ordered(0, 5000))
    with pytest.raises(StateError, match="4,096 items"):
        many.simulate([1] * 5001, SeededRandom(1)).estimate().ranges([(0, 9)]).despite_fakes()
