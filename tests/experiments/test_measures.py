"""Measures: the errors and seconds of one cell, beside what the laws predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from cases import in_turn
from plausibly import SeededRandom
from plausibly.experiments import measures
from plausibly.experiments.cells import PLAIN, Cell, View, view
from plausibly.experiments.figure import Sweep, line
from plausibly.experiments.item_crowds import crowd
from plausibly.experiments.measures import (
    MEASURES,
    Measured,
    errors,
    listed_right,
    measure,
    measured_tally,
    optimum,
    theory,
)

ORACLES = {
    name: Cell(name, {"hashes": 50} if name == "FLH" else {}, n=3000, d=64)
    for name in ("DE", "SUE", "OUE", "BLH", "OLH", "FLH", "HM", "HR", "SS", "TLH", "AGR")
}
SKETCH = Cell("CM", {"oracle": {"scheme": "OUE"}, "width": 16, "rows": 4}, n=3000, d=100)


@in_turn("cell", [*ORACLES.values(), SKETCH])
def test_collecting_is_simulating_told_apart(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_CHUNK_BYTES", 5000)  # several times a report or more
    scheme, truth = cell.make(), crowd("uniform", 3000, cell.d, 0)
    tally, seconds = measured_tally(scheme, truth, 7)
    assert tally.to_bytes() == scheme.simulate(truth, SeededRandom(7)).to_bytes()
    assert seconds["client_seconds"] > 0
    assert seconds["server_seconds"] > 0


def measured_over_predicted(cell: Cell, read: View, repeats: int) -> tuple[float, float]:
    found = [measure(replace(cell, repeat=repeat), [read])[1][str(read)] for repeat in range(repeats)]
    ratios = np.array([metrics["mse"] / metrics["mse_theory"] for metrics in found])
    return float(ratios.mean()), float(ratios.std(ddof=1) / sqrt(repeats))


@pytest.mark.full
@in_turn("name", ORACLES)
def test_errors_are_those_of_the_law(name: str) -> None:
    # Beyond three standard errors, known from 40 runs, in one of 200 cells; of these eleven, in one of 20 sets of
    # seeds. The seeds are the cells' own.
    ratio, error = measured_over_predicted(ORACLES[name], PLAIN, 40)
    assert abs(ratio - 1) <= max(0.05, 3 * error)


@pytest.mark.full
@in_turn("name", ["paper", "full"])
def test_errors_of_views_are_those_of_their_laws(name: str) -> None:
    cell = replace(ORACLES["HM"], parameters={"coefficients": 3})
    ratio, error = measured_over_predicted(cell, view(decoder=name), 40)
    assert abs(ratio - 1) <= max(0.05, 3 * error)


@pytest.mark.full
@in_turn("decoder", ["paper", "full"])
def test_errors_of_sketches_are_those_of_their_oracles_law(decoder: str) -> None:
    # As above: one of 200 cells is beyond three standard errors.
    cell = replace(SKETCH, parameters={"oracle": {"scheme": "HM", "coefficients": 3}, "width": 16, "rows": 4})
    ratio, error = measured_over_predicted(cell, view(combine="mean", oracle={"decoder": decoder}), 40)
    assert abs(ratio - 1) <= max(0.05, 3 * error)


@pytest.mark.full
def test_penalties_of_bloom_filters_shrink_one_tally() -> None:
    cell = Cell("BLOOM", {"bits": 32, "hashes": 2, "cohorts": 4}, data="uniform", n=20_000, d=4)
    _, estimated = measure(cell, [view(alpha=alpha) for alpha in (0.005, 10.0)])
    small, large = estimated.values()
    assert "mse_theory" not in small
    # Each of four items with 5,000 users is shrunk by a factor of up to 11.
    assert small["mse"] < 1000**2 < 3000**2 < large["mse"]


def test_a_cell_repeats_itself_seconds_apart() -> None:
    def timeless(cell: Cell) -> object:
        collected, views = measure(cell, [PLAIN, view("norm-sub")])
        return [{key: each[key] for key in each if "seconds" not in key} for each in (collected, *views.values())]

    cell = replace(ORACLES["FLH"], data="uniform")
    assert timeless(cell) == timeless(cell)
    assert timeless(cell) != timeless(replace(cell, repeat=1))


def test_one_tally_is_read_in_several_ways() -> None:
    views = [view(combine=name) for name in ("mean", "median", "min")] + [view("base-pos", combine="mean")]
    collected, estimated = measure(replace(SKETCH, data="uniform"), views)
    assert list(estimated) == ["combine=mean", "combine=median", "combine=min", "combine=mean, base-pos"]
    # Only the mean has a law.
    assert [name for name, metrics in estimated.items() if "mse_theory" in metrics] == ["combine=mean"]
    assert estimated["combine=mean, base-pos"]["mse"] <= estimated["combine=mean"]["mse"]
    assert collected["report_bytes"] == 3
    assert collected["state_bytes"] > 8 * 4 * 16
    total = collected["client_seconds"] + collected["server_seconds"]
    assert all(one["seconds"] == pytest.approx(total + one["estimate_seconds"]) for one in estimated.values())


def test_errors_by_hand() -> None:
    truth = np.arange(60, 0, -1)
    values = truth.astype(np.float64)
    values[0] += 3.6
    values[-1] = -4.0  # the rarest: not of the top 50
    found = errors(values, truth)
    assert found["mse"] == pytest.approx((3.6**2 + 25) / 60)
    assert found["mse_clipped"] == pytest.approx((4**2 + 1) / 60)
    assert found["k_mse"] == pytest.approx(3.6**2 / 50)
    assert found["k_mse_clipped"] == pytest.approx(4**2 / 50)


def test_the_list_of_the_most_common_by_hand() -> None:
    truth = np.arange(60, 0, -1)
    values = truth.astype(np.float64)
    assert listed_right(values, truth) == 1
    values[[0, 1, 2]], values[[20, 21]] = -5, 99  # three of the ten are missed: two places go wrong, one to the next
    assert listed_right(values, truth) == 0.7
    tied = np.full(20, 3)
    assert listed_right(np.arange(20.0), tied) == 1  # any ten of twenty that are alike
    assert listed_right(np.array([1.0, 9.0, 2.0, 8.0]), np.array([0, 7, 0, 2])) == 1  # only two are held
    assert listed_right(np.ones(4), np.zeros(4, dtype=np.int64)) == 0


def test_the_law_of_blocks_counts_those_in_the_block() -> None:
    cell = replace(ORACLES["HR"], parameters={"variant": "block"}, d=50)
    scheme, truth = cell.make(), crowd("uniform", 3000, 50, 0)
    law = scheme.estimator().law
    assert law.per_mate
    assert scheme.blocks > 1
    blocks = [sum(int(truth[y]) for y in range(x % scheme.blocks, 50, scheme.blocks)) for x in range(50)]
    exact = [law.exact(3000, int(truth[x]), mates=blocks[x]) for x in range(50)]
    assert theory(scheme, truth, {}) == pytest.approx(float(sum(exact) / 50))


def test_the_optimum_is_what_large_domains_allow() -> None:
    # OUE has exactly this variance for an item that nobody holds.
    cell = Cell("OUE", n=1000, epsilon=2)
    assert optimum(cell)["mse_optimum"] == pytest.approx(cell.make().variance(1000), rel=1e-9)


def test_a_repeat_is_the_mean_of_its_rounds() -> None:
    cell = Cell("FLH", {"hashes": 10}, data="uniform", n=500, d=8, epsilon=1, rounds=3)
    truth = crowd("uniform", 500, 8, 0)
    alone = []
    for number in range(3):
        tally, _ = measured_tally(cell.make(number), truth, cell.seed("noise", number))
        alone.append(errors(tally.estimate().values, truth)["mse"])
    assert len(set(alone)) == 3
    _, views = measure(cell, [PLAIN])
    assert views["plain"]["mse"] == pytest.approx(sum(alone) / 3)


def test_small_domains_are_measured_in_several_rounds() -> None:
    sweep = Sweep(name="s", lines=[line("DE")], vary={"d": [4, 100, 5000]}, errors=1000, repeats=1)
    assert [cell.rounds for _, cell in sweep.cells()] == [250, 10, 1]
    assert {cell.rounds for _, cell in sweep.quick().cells()} == {1}


def test_a_measure_of_ones_own_takes_the_place_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(cell: Cell, views: Sequence[View], number: int) -> Measured:
        return {"n": cell.n}, {each.key: {"steps": 10.0 * number} for each in views}

    monkeypatch.setitem(MEASURES, "steps", steps)
    assert measure(Cell("steps", n=7, rounds=3), [PLAIN, view("norm")]) == (
        {"n": 7},
        {"plain": {"steps": 10}, "norm": {"steps": 10}},
    )
