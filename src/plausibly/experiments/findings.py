"""Findings: a claim, a predicate over measured curves that checks it, and the verdict with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import hypot, sqrt
from typing import Any

import numpy as np

from .figure import Row


class Outcome(StrEnum):
    """The outcome of checking a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    REVERSED = "reversed once a defect is fixed"
    OPEN = "not measured"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim: the outcome, the numbers behind it, and an explanation."""

    outcome: Outcome
    numbers: str
    why: str = ""


@dataclass(frozen=True)
class Mean:
    """A mean over the repeats with its standard error."""

    value: float
    error: float = 0.0

    def below(self, other: Mean) -> bool:
        """Whether a finding may call this mean lower: by more than three standard errors of the difference.

        With five repeats each, chance alone produces this once in 120 times.
        """
        return self.value + 3 * hypot(self.error, other.error) < other.value

    def __truediv__(self, other: Mean) -> float:
        return self.value / other.value

    def __format__(self, spec: str) -> str:
        return f"{self.value:{spec}}" if spec else number(self.value)


Curve = Mapping[Any, Mean]
"""Means by their x value, in increasing order."""

_PLACES = {"epsilon": "epsilon", "domain": "d", "alpha": "alpha", "penalty": "alpha"}


class MissingError(LookupError):
    """A finding needs rows that have not been measured."""


class Curves:
    """The rows of some figures, grouped into curves."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, str], list[Row]] = {}
        for row in rows:
            self._rows.setdefault((row["figure"], row["sweep"], row["metric"]), []).append(row)

    def curve(self, figure: str, sweep: str, label: str, metric: str = "mse", **fixed: Any) -> Curve:
        """The curve for a finding: the line with this label over the sweep's setting; ``fixed`` selects rows."""
        x = _PLACES.get(sweep, sweep)
        groups: dict[Any, list[float]] = {}
        for row in self._rows.get((figure, sweep, metric), ()):
            if row["label"] == label and all(row.get(name) == value for name, value in fixed.items()):
                groups.setdefault(row.get(x), []).append(row["value"])
        if not groups:
            raise MissingError(f"{figure}, {sweep}, {label}, {metric}")
        return {place: _mean(groups[place]) for place in sorted(groups, key=lambda key: (key is None, key))}

    def level(self, figure: str, sweep: str, label: str, metric: str = "mse", **fixed: Any) -> Mean:
        """The mean that a finding reads from a line with a single point, or from the point selected by ``fixed``."""
        (mean,) = self.curve(figure, sweep, label, metric, **fixed).values()
        return mean

    def labels(self, figure: str, sweep: str) -> list[str]:
        """Labels of all lines that a finding can read."""
        found = [
            row["label"] for (one, two, _), rows in self._rows.items() if (one, two) == (figure, sweep) for row in rows
        ]
        return list(dict.fromkeys(found))


Check = Callable[[Curves], Verdict]


@dataclass(frozen=True)
class Finding:
    """A claim in our words, its section in the paper, the figures it is checked on, and the predicate."""

    name: str
    section: str
    claim: str
    figures: tuple[str, ...]
    check: Check


class Findings(list[Finding]):
    """A list of findings, filled by the decorator ``about``."""

    def about(self, section: str, claim: str, *figures: str) -> Callable[[Check], Check]:
        """Add the decorated predicate as a finding named after it; it reads the rows of the given figures."""

        def enter(check: Check) -> Check:
            self.append(Finding(check.__name__.replace("_", "-"), section, claim, figures, check))
            return check

        return enter


def verdict(holds: bool, numbers: str, why: str = "") -> Verdict:
    """The verdict on a finding: "reproduced" or "not reproduced"."""
    return Verdict(Outcome.REPRODUCED if holds else Outcome.NOT_REPRODUCED, numbers, why)


def judged(findings: Iterable[Finding], rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[Finding, Verdict]]:
    """Each finding with its verdict on the rows of its figures, or "not measured" if rows are missing."""
    for finding in findings:
        own = [rows.get(name, ()) for name in finding.figures]
        try:
            if not all(own):
                raise MissingError(finding.name)
            yield finding, finding.check(Curves(row for part in own for row in part))
        except MissingError:
            yield finding, Verdict(Outcome.OPEN, "")


def number(value: float) -> str:
    """A number in a finding, with three significant digits and thousands separators."""
    text = (
        f"{value / 1e6:.3g} million" if abs(value) >= 1e6 else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    )
    return text.replace("-", "−")


def _mean(values: Sequence[float]) -> Mean:
    error = float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return Mean(float(np.mean(values)), error)
