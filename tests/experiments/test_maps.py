"""Maps of the best methods: what a cell says, and what is too close to call."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.figure import Figure as Canvas

from plausibly.experiments.figure import Figure, Map, Row, Sweep, line
from plausibly.experiments.maps import Score, draw_map, is_close, scores

MAP = Map(
    title="Here", sweeps=["all"], methods={"A": ["a"], "B": ["b", "b+"], "C": ["c"]}, looks={"a": ("#0077bb", "o")}
)


def rows_with(**squares: list[float]) -> list[Row]:
    """Rows of one cell: the squared errors of each line in the repeats."""
    about = {
        "sweep": "all",
        "metric": "range_mse",
        "epsilon": 1.0,
        "n": 1000,
        "data": "zipf-1.1",
        "d": 8,
        "data_seed": 0,
    }
    return [
        {**about, "label": label.replace("_", "+"), "repeat": repeat, "value": value}
        for label, values in squares.items()
        for repeat, value in enumerate(values)
    ]


def drawn(rows: list[Row]) -> Any:
    """The axes of the map of these rows."""
    axes = Canvas().subplots()
    draw_map(axes, MAP, rows)
    return axes


def test_a_cell_names_the_best_method_and_its_lead() -> None:
    axes = drawn(rows_with(a=[1.0, 1.0], b=[9.0, 9.0], b_=[4.0, 4.0], c=[16.0, 16.0]))
    assert [text.get_text() for text in axes.texts] == ["A\n2.0×"]
    assert axes.patches[0].get_facecolor()[:3] == pytest.approx((0, 0x77 / 255, 0xBB / 255))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1,000"]


def test_a_method_is_as_good_as_its_best_line() -> None:
    rows = rows_with(a=[4.0], b=[9.0], b_=[1.0], c=[16.0])
    assert {name: score.error for name, score in scores(MAP, rows).items()} == {"A": 2, "B": 1, "C": 4}


def test_methods_within_two_standard_errors_are_too_close_to_call() -> None:
    axes = drawn(rows_with(a=[1.0, 2.0, 3.0], b=[2.0, 2.1, 2.2], c=[16.0, 16.0, 16.0]))
    assert [text.get_text() for text in axes.texts] == ["A ≈\nB"]
    assert min(axes.patches[0].get_facecolor()[:3]) > 0.5, "pale"
    assert is_close(Score(1.0, 0.1), Score(1.2, 0.0))
    assert not is_close(Score(1.0, 0.1), Score(1.3, 0.0))
    assert not is_close(Score(0.0, 0.0), Score(1.0, 0.0))


def test_an_unknown_line_is_refused_with_the_nearest() -> None:
    sweeps = [Sweep(name="all", lines=[line("a", "OUE"), line("b", "OLH")])]
    with pytest.raises(ValueError, match="map: no line 'bb'; did you mean 'b'"):
        Figure(name="map", title="", sweeps=sweeps, panels=[Map(title="", sweeps=["all"], methods={"B": ["bb"]})])
