"""Diagnosis of tallies and reports: false alarms at their rate, attacks that are seen, and fakes that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import plausibly
from attacked import ITEMS, alarms, zipf
from cases import case
from contract.entries import NAMES, SKETCHES, TABLED, build, sized, tickets
from plausibly import Ordered, ParameterError, SeededRandom, Table, diagnose_reports, make
from plausibly.core.agreeing_rows import InRows
from plausibly.core.diagnosis import Diagnosis, ShowsSupport, _together

RATE = 0.01


def honest_reports(name: str, seed: int) -> Diagnosis:
    scheme = make(name, epsilon=1, domain_size=100)
    values = np.repeat(np.arange(100), zipf(5000, 100)).tolist()
    return diagnose_reports(scheme, scheme.privatize(values, rng=SeededRandom(seed)), RATE)


def honest_tally(scheme: Any, counts: Any) -> Callable[[int], Diagnosis]:
    return lambda seed: scheme.simulate(counts, SeededRandom(seed)).diagnose(RATE)


RECORDS = {(0, 1, 2, 3): 9000, (1, 2, 0, 4): 5000, (1, 0, 3, 0): 6000}
CLIQUE: Any = make("CLIQUE", epsilon=1, domain=Table({"a": 2, "b": 3, "c": 4, "d": 5}, missing=False))
SLIDE: Any = make("SLIDE", epsilon=1, domain=Ordered(0, 99))
SKETCH: Any = make("CM", oracle=make("OUE", epsilon=1, domain_size=16), rows=8, domain_size=100)
WORDS = plausibly.Strings("abcdefghijklmnopqrstuvwxyz-", 12)
NAMED = {"orange": 1500, "forest": 800, "garden-gate": 500, "a": 200}
RECORDED = Table({"a": 2, "b": 3, "c": 2, "d": 3}, missing=False)
HONEST: dict[str, Callable[[int], Diagnosis]] = {
    "OUE": lambda seed: honest_reports("OUE", seed),
    "OLH": lambda seed: honest_reports("OLH", seed),
    "SLIDE": honest_tally(SLIDE, zipf(20_000, 100)),
    "HH": honest_tally(make("HH", epsilon=1, domain=Ordered(0, 99)), zipf(20_000, 100)),
    "CM over OUE": honest_tally(SKETCH, zipf(5000, 100)),
    "CLIQUE": honest_tally(CLIQUE, RECORDS),
}
"""Schemes of useful sizes, with tests of every kind."""
LONG = {"TRELLIS": honest_tally(plausibly.TRELLIS(2, domain=WORDS, users=3000), NAMED)}


def small(name: str) -> Any:
    return build(name, RECORDED if name in TABLED else sized(name, 32), 1)


def honest_of(name: str, users: int = 2000) -> Callable[[int], Diagnosis]:
    """The diagnosis of honest reports of an entry of the catalogue, with every test that it has."""
    scheme = small(name)
    items = scheme.domain.decode(scheme.domain.spread(32))
    values = items[np.repeat(np.arange(len(items)), zipf(users, len(items)))]
    return lambda seed: diagnose_reports(scheme, scheme.privatize(values, rng=SeededRandom(seed)), RATE)


def evidence_of(scheme: Any) -> tuple[Any, Any]:
    tally = scheme.accumulator()
    return tally.evidence, tally.numbers


def false_alarms(honest: Callable[[int], Diagnosis], runs: int) -> int:
    return sum(bool(honest(seed).alarms) for seed in range(runs))


@pytest.mark.full
@pytest.mark.parametrize("label", HONEST)
def test_honest_reports_rarely_raise_an_alarm(label: str) -> None:
    # Of 100 runs at a rate of 1 %, 6 or more have an alarm once in 2,000 tests.
    assert false_alarms(HONEST[label], 100) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("label", [*HONEST, *LONG])
def test_honest_reports_raise_alarms_at_their_rate_in_a_thousand_runs(label: str) -> None:
    # Of 1,000 runs at a rate of 1 %, 24 or more have an alarm once in 9,000 tests.
    assert false_alarms((HONEST | LONG)[label], 1000) <= 23


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_honest_reports_of_every_entry_raise_alarms_at_their_rate_in_a_thousand_runs(name: str) -> None:
    honest = honest_of(name)
    assert false_alarms(honest, 1000 if honest(0).checks else 1) <= 23


@pytest.mark.full
def test_every_entry_with_groups_rows_or_independent_support_is_tested() -> None:
    for name in NAMES:
        with case(name):
            scheme = small(name)
            known_twice = len(tickets(scheme)) > 1 or name in SKETCHES or isinstance(scheme, ShowsSupport)
            known_twice = known_twice or (
                isinstance(scheme, InRows) and scheme.rows_counted(*evidence_of(scheme)) is not None
            )
            assert bool(honest_of(name)(0).checks) == known_twice


@pytest.mark.slow
@pytest.mark.parametrize(("name", "attack"), [("OUE", "maximal gain"), ("OUE", "spread"), ("OLH", "maximal gain")])
def test_reports_show_one_percent_of_maximal_gain_in_nine_of_ten_collections(name: str, attack: str) -> None:
    # If it were fewer than nine of ten, 97 of 100 runs would have an alarm once in 120 tests.
    assert alarms(name, attack, 0.01, 100)[1] >= 0.97


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "attack"),
    [
        ("OUE", "random reports"),
        ("OUE", "bare"),
        ("OUE", "maximal gain"),
        ("OUE", "spread"),
        ("OLH", "maximal gain"),
    ],
)
def test_reports_show_one_percent_of_fakes_for_ten_targets(name: str, attack: str) -> None:
    assert alarms(name, attack, 0.01, 5)[1] >= 0.9


@pytest.mark.full
@pytest.mark.parametrize("attack", ["maximal gain", "spread", "random items"])
def test_the_tally_of_unary_encoding_does_not_show_fakes_with_the_usual_number_of_ones(attack: str) -> None:
    assert alarms("OUE", attack, 0.01, 10)[0] <= 0.2


@pytest.mark.full
def test_fakes_that_report_an_item_as_its_holders_do_are_holders() -> None:
    # Nothing can be seen: the reports have the law of honest ones.
    for name in ("OUE", "OLH"):
        assert alarms(name, "random items", 0.05, 5)[1] <= 0.2


def test_padded_fakes_have_the_mean_tally_of_another_honest_crowd() -> None:
    scheme: Any = make("OUE", epsilon=1, domain_size=ITEMS)
    p, q = scheme.keep / 2**64, scheme.flip / 2**64
    n, fakes, targets = 10_000, 100, 10
    others = (p + (ITEMS - 1) * q - targets) / (ITEMS - targets)
    honest = np.full(ITEMS, n / ITEMS)
    tally = n * q + honest * (p - q) + fakes * np.where(np.arange(ITEMS) < targets, 1.0, others)
    same = (tally - (n + fakes) * q) / (p - q)
    assert same.sum() == pytest.approx(n + fakes)
    assert (same >= 0).all()


def test_the_chance_of_pairs_is_a_bound_if_all_have_one_item() -> None:
    # Given the counts of the bits, honest reports are equally likely in any order, which the bound is about.
    scheme: Any = make("OUE", epsilon=1, domain_size=8)
    chances = [_together(scheme, scheme.privatize([3] * 40, rng=SeededRandom(seed))) for seed in range(2000)]
    # 2,000 runs: 38 or more at 1 % once in 3,000 tests.
    assert sum(chance <= 0.01 for chance in chances) <= 37
    same = np.repeat(scheme.privatize([3], rng=SeededRandom(1)), 40)
    assert _together(scheme, same) == 1.0  # bits that never change are supported together by chance
    mixed = np.concatenate([same, np.repeat(scheme.privatize([3], rng=SeededRandom(2)), 40)])
    assert _together(scheme, np.repeat(mixed, 5)) < 1e-4


@pytest.mark.full
def test_a_missing_group_and_a_favoured_row_are_seen() -> None:
    values = np.repeat(np.arange(100), zipf(20_000, 100)).tolist()
    reports = SLIDE.privatize(values, rng=SeededRandom(1))
    tally = SLIDE.accumulator()
    tally.add(reports[(reports["group"] != 1) | (np.arange(len(reports)) % 4 > 0)])
    assert "reports of each group" in {check.name for check in tally.diagnose().alarms}
    sketch = SKETCH.accumulator()
    drawn = SKETCH.privatize(values[:5000], rng=SeededRandom(1))
    sketch.add(np.concatenate([drawn, np.repeat(drawn[drawn["row"] == 0], 2)]))
    assert "reports of each row or offset" in {check.name for check in sketch.diagnose().alarms}


@pytest.mark.full
def test_fakes_in_one_width_or_one_set_disagree_with_the_others() -> None:
    # Spread over all groups by their shares, so that the numbers of reports fit.
    values = np.repeat(np.arange(100), zipf(20_000, 100)).tolist()
    more = SLIDE.privatize([0] * 9000, rng=SeededRandom(2))
    last = SLIDE.privatize([99] * 9000, rng=SeededRandom(2))
    fakes = np.where(more["group"] == 3, last, more)
    tally = SLIDE.accumulator()
    tally.add(np.concatenate([SLIDE.privatize(values, rng=SeededRandom(1)), fakes]))
    assert {check.name for check in tally.diagnose().alarms} == {"widths of blocks"}
    one = CLIQUE.privatize([(0, 0, 0, 0)] * 4000, rng=SeededRandom(3))
    other = CLIQUE.privatize([(1, 2, 3, 4)] * 4000, rng=SeededRandom(3))
    answers = CLIQUE.simulate(RECORDS, SeededRandom(4))
    answers.add(np.where(one["group"] == 0, other, one))
    assert {check.name for check in answers.diagnose().alarms} == {"sets of attributes"}


def opposed(scheme: Any, field: str, seed: int) -> Any:
    """A collection of 29,000 reports: of 9,000 fakes, the first eighth of the rows says item 0, the others item 99."""
    tally = scheme.simulate(zipf(20_000, 100), SeededRandom(seed))
    one, other = (scheme.privatize([item] * 9000, rng=SeededRandom(seed + 5000)) for item in (0, 99))
    rows = getattr(scheme, "hashes", None) or scheme.rows
    tally.add(np.where(one[field] < rows // 8, one, other))
    return tally


@pytest.mark.full
@pytest.mark.parametrize(
    ("scheme", "field"),
    [
        (SKETCH, "row"),
        (make("CS", oracle=make("HM", epsilon=1, domain_size=64), rows=8, domain_size=100), "row"),
        (make("FLH", epsilon=1, hashes=1000, domain_size=100), "index"),
    ],
    ids=["CM", "CS", "FLH"],
)
def test_fakes_in_one_row_disagree_with_the_others(scheme: Any, field: str) -> None:
    # If fewer than 70 % were noticed, 18 of 20 would be once in 28 tests.
    seen = [{check.name for check in opposed(scheme, field, seed).diagnose().alarms} for seed in range(20)]
    assert sum("rows against each other" in found for found in seen) >= 18


@pytest.mark.full
def test_reports_of_a_sketch_show_what_their_oracle_shows() -> None:
    values = np.repeat(np.arange(100), zipf(20_000, 100)).tolist()
    reports = SKETCH.privatize(values, rng=SeededRandom(1))
    names = {check.name for check in diagnose_reports(SKETCH, reports).checks}
    assert {"items supported together", "ones in each report"} <= names
    # Fakes that support half of the cells of their row, the same ones.
    most = np.argsort(np.abs(SKETCH.oracle.ones(reports["report"]) - 8), kind="stable")[:1]
    fakes = np.repeat(reports[most], 2000)
    fakes["row"] = np.arange(2000) % 8
    seen = {check.name for check in diagnose_reports(SKETCH, np.concatenate([reports, fakes])).alarms}
    assert "ones in each report" in seen
    assert "items supported together" in seen


def test_a_diagnosis_is_readable_and_empty_where_nothing_is_known_twice() -> None:
    found = honest_reports("OUE", 1)
    assert [check.name for check in found.checks] == [
        "the sum of all counts",
        "items supported together",
        "ones in each report",
    ]
    assert repr(found).startswith("<diagnosis: 0 of 3 tests raise an alarm; honest reports raise any with a")
    assert not make("DE", epsilon=1, domain_size=4).accumulator().diagnose().checks
    assert not make("OUE", epsilon=1, domain_size=4).accumulator().diagnose().alarms
    with pytest.raises(ParameterError, match="rate: expected a probability"):
        plausibly.make("DE", epsilon=1, domain_size=4).accumulator().diagnose(1)
