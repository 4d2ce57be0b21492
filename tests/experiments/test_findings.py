"""Findings: curves seen in rows, their means, and what is below what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from plausibly.experiments.figure import Row
from plausibly.experiments.findings import (
    Curves,
    Finding,
    Findings,
    Mean,
    MissingError,
    Outcome,
    Verdict,
    judged,
    number,
    verdict,
)


def row(figure: str, sweep: str, label: str, value: float, metric: str = "mse", **place: Any) -> Row:
    return {"figure": figure, "sweep": sweep, "label": label, "metric": metric, "value": value, **place}


def line(figure: str, sweep: str, label: str, values: dict[Any, float], x: str, metric: str = "mse") -> Iterable[Row]:
    # Two repeats one per mille apart.
    for at, value in values.items():
        yield row(figure, sweep, label, value, metric, **{x: at})
        yield row(figure, sweep, label, value * 1.001, metric, **{x: at})


def test_findings_are_judged_by_the_rows_of_their_figures() -> None:
    own = Findings()

    @own.about("2", "A is below B.", "f")
    def a_below_b(rows: Curves) -> Verdict:
        return verdict(rows.level("f", "s", "A").below(rows.level("f", "s", "B")), "1 < 2")

    assert [(each.name, each.section, each.figures) for each in own] == [("a-below-b", "2", ("f",))]
    for rows, outcome in (
        ([row("f", "s", "A", 1.0), row("f", "s", "B", 2.0)], Outcome.REPRODUCED),
        ([row("f", "s", "A", 3.0), row("f", "s", "B", 2.0)], Outcome.NOT_REPRODUCED),
        ([row("f", "s", "A", 1.0)], Outcome.OPEN),
        ([], Outcome.OPEN),
    ):
        [(finding, told)] = judged(own, {"f": rows})
        assert isinstance(finding, Finding)
        assert told.outcome is outcome


def test_curves() -> None:
    curves = Curves([*line("f", "domain", "A", {8: 4.0, 2: 1.0}, "d"), row("f", "levels", "B", 3.0, d=9)])
    curve = curves.curve("f", "domain", "A")
    assert list(curve) == [2, 8]
    assert curve[2].value == pytest.approx(1.0005)
    assert curve[2].error == pytest.approx(0.0005)
    assert curves.level("f", "levels", "B") == Mean(3.0)
    assert curves.labels("f", "domain") == ["A"]
    assert Curves([row("f", "s", "A", 1.0, data=name) for name in ("aol", "url-clicks/6")]).data() == {
        "aol",
        "url-clicks",
    }
    with pytest.raises(MissingError):
        curves.curve("f", "domain", "B")


def test_below_needs_three_standard_errors() -> None:
    assert Mean(1.0, 0.3).below(Mean(3.0, 0.4))
    assert not Mean(1.0, 0.3).below(Mean(2.4, 0.4))


def test_numbers_in_words() -> None:
    assert [number(value) for value in (0.01234, 12.345, 12_345.6, 12_345_678.0, 1_234_567_890.0)] == [
        "0.0123",
        "12.3",
        "12,346",
        "12.3 million",
        "1.23 billion",
    ]


def test_too_few_users_to_tell() -> None:
    own = Findings()

    @own.about(
        "2", "A finds more than B.", "f", needs=lambda rows: "" if rows.level("f", "s", "A").value > 1 else "few"
    )
    def a_above_b(rows: Curves) -> Verdict:
        return verdict(True, "2 > 1")

    for value, outcome in ((2.0, Outcome.REPRODUCED), (0.5, Outcome.TOO_FEW)):
        [(_, told)] = judged(own, {"f": [row("f", "s", "A", value)]})
        assert told.outcome is outcome
