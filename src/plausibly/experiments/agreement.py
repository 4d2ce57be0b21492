"""Measured errors of oracles compared with their variance laws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from .cells import canonical
from .figure import Row

TOLERANCE = 0.05
_ABOUT_THE_LINE = {"figure", "sweep", "label", "ours", "setting", "repeat", "metric", "value"}


@dataclass(frozen=True)
class Place:
    """An oracle's mean squared error in one setting, relative to its law, with the standard error over the repeats."""

    scheme: str
    setting: Row
    ratio: float
    error: float
    repeats: int

    @property
    def agrees(self) -> bool:
        """Whether error and law agree: the ratio is within 5 % or three standard errors of 1, whichever is wider."""
        return abs(self.ratio - 1) <= max(TOLERANCE, 3 * self.error)


def agreement(rows: Iterable[Row]) -> list[Place]:
    """The agreement of every setting that has a law and more than one repeat; settings shared by figures count once."""
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
    return Place(setting["scheme"], setting, float(ratios.mean()), error, len(ratios))
