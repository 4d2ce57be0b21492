"""Measured errors of oracles against the laws that predict them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from .cells import canonical
from .figure import Row

TOLERANCE = 0.05
_ABOUT_THE_LINE = {"figure", "sweep", "label", "ours", "repeat", "metric", "value"}


@dataclass(frozen=True)
class Place:
    """A setting of an oracle: its mean squared error over the repeats, relative to the law, and the standard error."""

    scheme: str
    setting: Row
    ratio: float
    error: float

    @property
    def agrees(self) -> bool:
        """Within 5 %, or within three standard errors where these are wider."""
        return abs(self.ratio - 1) <= max(TOLERANCE, 3 * self.error)


def agreement(rows: Iterable[Row]) -> list[Place]:
    """Every setting with a law and more than one repeat, once each, regardless of how many figures show it."""
    settings: dict[str, Row] = {}
    values: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        if row["metric"] in ("mse", "mse_theory") and "oracle" not in row:
            setting = {name: value for name, value in row.items() if name not in _ABOUT_THE_LINE}
            key = canonical(setting)
            settings[key] = setting
            values.setdefault(key, {}).setdefault(row["metric"], {})[row["repeat"]] = row["value"]
    return [
        _place(settings[key], found["mse"], found["mse_theory"])
        for key, found in values.items()
        if "mse_theory" in found and len(found["mse"]) > 1
    ]


def _place(setting: Row, measured: dict[int, float], law: dict[int, float]) -> Place:
    ratios = np.array([measured[repeat] / law[repeat] for repeat in measured])
    error = float(ratios.std(ddof=1)) / sqrt(len(ratios))
    return Place(setting["scheme"], setting, float(ratios.mean()), error)
