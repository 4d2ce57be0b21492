"""The measure of poisoned collections: gains, alarms and intervals, with the same honest reports for all views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases import case
from plausibly.experiments import Cell, Metrics, View, crowd, measure, view
from reproduction.attacks import PROTOCOLS
from reproduction.poisoned import DEFENCES, poisoned

SMALL: dict[str, Any] = {"data": "uniform", "n": 4000, "d": 12, "epsilon": 2}


def cell(of: str, **given: Any) -> Cell:
    return Cell("POISONED", {"of": of}, **SMALL | given)


def found(of: str, *views: View, **given: Any) -> list[Metrics]:
    metrics = poisoned(cell(of, **given), views, 0)[1]
    return [metrics[view.key] for view in views]


def best(defence: str = "none", **given: Any) -> View:
    return view(**{"attack": "maximal gain", "share": 0.1, "targets": 4, "functions": 30, "defence": defence} | given)


def test_cells_are_measured_alike_in_every_process() -> None:
    views = [best(), best("reports"), best(share=0.2)]
    assert measure(cell("OUE"), views) == measure(cell("OUE"), views)
    assert measure(cell("OUE"), views[::-1])[1] == measure(cell("OUE"), views)[1]
    assert measure(cell("OUE", repeat=1), views) != measure(cell("OUE"), views)


def test_gains_are_near_the_formula_and_defences_change_them() -> None:
    for of in PROTOCOLS:
        with case(of):
            attacked, none = found(of, best(functions=1000, targets=2), view(attack="none", targets=2))
            # Fakes all support the targets: what noise there is comes from the honest reports, twice, weighed by β.
            assert attacked["gain"] == pytest.approx(attacked["formula"], abs=5 * attacked["deviation"] * 0.1 * 2)
            assert none["gain"] == 0
            assert "formula" not in none


def test_mining_drops_the_fakes_of_a_maximal_gain_alone() -> None:
    attacked, mined, both, honest = found(
        "OUE",
        best(),
        best("itemsets"),
        best("itemsets, then normalization"),
        view(attack="none", targets=4, defence="itemsets"),
    )
    assert mined["fakes dropped"] == mined["alarm"] == mined["alarm by itemsets"] == 1
    assert mined["honest dropped"] < 0.05
    assert abs(mined["gain"]) < 0.5 * attacked["gain"]
    assert abs(both["gain"]) < 0.5 * attacked["gain"]
    assert honest["alarm"] == honest["honest dropped"] == honest["gain"] == 0


def test_conditional_probabilities_drop_every_report_about_a_target_of_direct_encoding() -> None:
    # Fakes outnumber the honest reports that mention a target: by Bayes's rule all of them go.
    dropped, kept = found(
        "DE", best("conditional probabilities", share=0.5), best("conditional probabilities", share=0.01)
    )
    truth = crowd("uniform", SMALL["n"], SMALL["d"], 0)[-4:].sum() / SMALL["n"]
    assert dropped["fakes dropped"] == 1
    assert 0 < dropped["honest dropped"] < 0.5
    assert dropped["gain"] < -truth
    assert kept["fakes dropped"] == kept["honest dropped"] == 0


def test_intervals_despite_fakes_contain_what_usual_ones_miss() -> None:
    for of in PROTOCOLS:
        with case(of):
            usual, despite = found(of, best(share=0.2), best("despite fakes", share=0.2))
            assert usual["covered"] == 0
            assert despite["covered"] == 1


def test_every_defence_says_what_is_drawn_of_it() -> None:
    metrics = dict(zip(DEFENCES, found("OUE", *map(best, DEFENCES)), strict=True))
    for name, own in metrics.items():
        assert own.keys() & {"gain", "alarm", "covered"}, name
        assert all(np.isfinite(value) for value in own.values())
    assert metrics["reports"]["alarm"] == metrics["reports"]["alarm by reports"]
