"""Agreement of measured errors with their laws, on rows whose agreement is known."""

from __future__ import annotations

from typing import Any

import pytest

from plausibly.experiments.agreement import agreement
from plausibly.experiments.figure import Row


def rows(figure: str, measured: list[float], law: float, **setting: Any) -> list[Row]:
    about = {"figure": figure, "sweep": "s", "label": "l", "ours": False, "scheme": "OUE", "view": "plain", **setting}
    return [
        {**about, "repeat": repeat, "metric": metric, "value": value}
        for repeat, mse in enumerate(measured)
        for metric, value in (("mse", mse), ("mse_theory", law))
    ]


@pytest.mark.parametrize(
    ("measured", "agrees"),
    [
        ([104.0, 104.1, 103.9], True),  # 4 % off
        ([107.0, 107.1, 106.9], False),  # 7 % off, and certain of it
        ([100.0, 130.0, 91.0], True),  # 7 % off, which is less than three standard errors
    ],
)
def test_five_percent_or_three_standard_errors(measured: list[float], agrees: bool) -> None:
    (place,) = agreement(rows("fig1", measured, 100.0, d=8))
    assert place.agrees is agrees


def test_a_setting_counts_once_and_sketches_not_at_all() -> None:
    same = [*rows("fig1", [9.0, 11.0], 10.0, d=8), *rows("fig5", [9.0, 11.0], 10.0, d=8)]
    sketch = rows("fig7", [1.0, 2.0], 10.0, d=8, oracle={"scheme": "FLH"})
    other = rows("fig1", [9.0, 11.0], 10.0, d=16)
    assert [place.setting["d"] for place in agreement([*same, *sketch, *other])] == [8, 16]
    assert agreement(rows("fig1", [9.0], 10.0)) == []
