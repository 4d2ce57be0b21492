"""Findings: predicates over rows that can go either way, and the verdicts on rows whose story is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from plausibly.experiments.figure import Row
from plausibly.experiments.figures import FIGURES
from plausibly.experiments.findings import FINDINGS, Outcome, judged
from plausibly.experiments.findings.verdict import (
    Curves,
    Mean,
    MissingError,
    clipped_or_not,
    everywhere_below,
    listed,
    lowest,
    number,
    slope,
    span,
    typical,
)


def row(figure: str, sweep: str, label: str, value: float, metric: str = "mse", **place: Any) -> Row:
    return {"figure": figure, "sweep": sweep, "label": label, "metric": metric, "value": value, **place}


def line(figure: str, sweep: str, label: str, values: dict[Any, float], x: str, metric: str = "mse") -> Iterable[Row]:
    # Two repeats one per mille apart.
    for at, value in values.items():
        yield row(figure, sweep, label, value, metric, **{x: at})
        yield row(figure, sweep, label, value * 1.001, metric, **{x: at})


def test_names_are_unique_and_figures_exist() -> None:
    assert len({finding.name for finding in FINDINGS}) == len(FINDINGS) >= 30
    for finding in FINDINGS:
        assert finding.claim.endswith(".")
        assert finding.figures
        assert set(finding.figures) <= set(FIGURES), finding.name


def test_without_rows_nothing_is_claimed() -> None:
    verdicts = [verdict for _, verdict in judged({})]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.OPEN}
    assert len(verdicts) == len(FINDINGS)


@pytest.mark.parametrize(("oue", "outcome"), [(1.0, Outcome.REPRODUCED), (9.0, Outcome.NOT_REPRODUCED)])
def test_a_finding_goes_either_way(oue: float, outcome: Outcome) -> None:
    rows = [
        *line("fig1", "epsilon", "DE", {1.0: 8.0, 5.0: 4.0}, "epsilon"),
        *line("fig1", "epsilon", "OUE", {1.0: oue, 5.0: oue / 2}, "epsilon"),
    ]
    found = {finding.name: verdict for finding, verdict in judged({"fig1": rows})}
    assert found["optimised-unary-beats-direct"].outcome is outcome
    assert found["symmetric-unary-beats-direct"].outcome is Outcome.OPEN  # no rows of SUE


def test_what_holds_only_of_clipped_estimates_is_reversed() -> None:
    assert clipped_or_not(lambda suffix: (suffix == "_clipped", "x")).outcome is Outcome.REVERSED
    assert clipped_or_not(lambda suffix: (suffix == "", "x")).outcome is Outcome.REPRODUCED
    assert clipped_or_not(lambda suffix: (False, "x")).outcome is Outcome.NOT_REPRODUCED


def test_curves() -> None:
    curves = Curves([*line("f", "domain", "A", {8: 4.0, 2: 1.0}, "d"), row("f", "levels", "B", 3.0, d=9)])
    curve = curves.curve("f", "domain", "A")
    assert list(curve) == [2, 8]
    assert curve[2].value == pytest.approx(1.0005)
    assert curve[2].error == pytest.approx(0.0005)
    assert slope(curve) == pytest.approx(1.0)
    assert lowest(curve) == 2
    assert curves.level("f", "levels", "B") == Mean(3.0)
    assert curves.labels("f", "domain") == ["A"]
    with pytest.raises(MissingError):
        curves.curve("f", "domain", "B")


def test_below_needs_three_standard_errors() -> None:
    assert Mean(1.0, 0.3).below(Mean(3.0, 0.4))
    assert not Mean(1.0, 0.3).below(Mean(2.4, 0.4))
    assert not everywhere_below({1: Mean(1.0), 2: Mean(9.0)}, {1: Mean(2.0), 2: Mean(8.0)})
    assert everywhere_below({1: Mean(1.0), 2: Mean(8.1, 1.0)}, {1: Mean(2.0), 2: Mean(8.0, 1.0)})


def test_numbers_in_words() -> None:
    assert [number(value) for value in (0.01234, 12.345, 12_345.6, 12_345_678.0)] == [
        "0.0123",
        "12.3",
        "12,346",
        "12.3 million",
    ]
    assert span({1: 2.0, 4: 1.0}) == "1 (at 4) to 2 (at 1)"
    assert listed({"b": 2.0, "a": Mean(1.0)}) == "a 1, b 2"
    assert typical({1: 2.0, 2: 8.0}) == pytest.approx(4.0)
