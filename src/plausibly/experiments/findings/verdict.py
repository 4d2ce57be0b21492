"""What a finding is: a claim of the paper, a predicate over measured curves, and the verdict with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import hypot, log2, sqrt
from typing import Any

import numpy as np

from ..figure import Row


class Outcome(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    REVERSED = "reversed once a defect is fixed"
    OPEN = "not measured"


@dataclass(frozen=True)
class Verdict:
    """What the rows say of a claim: the outcome, the numbers, and why it is so."""

    outcome: Outcome
    numbers: str
    why: str = ""


@dataclass(frozen=True)
class Mean:
    """A mean over the repeats with its standard error."""

    value: float
    error: float = 0.0

    def below(self, other: Mean) -> bool:
        """Whether it is less by more than three standard errors of the difference: of five repeats each, chance"
        " does so once in 120 times."""
        return self.value + 3 * hypot(self.error, other.error) < other.value

    def __truediv__(self, other: Mean) -> float:
        return self.value / other.value

    def __format__(self, spec: str) -> str:
        return f"{self.value:{spec}}" if spec else number(self.value)


Curve = Mapping[Any, Mean]
"""Means from left to right, by their place."""

_PLACES = {"epsilon": "epsilon", "domain": "d", "alpha": "alpha"}


class MissingError(LookupError):
    """A finding asked for what no row has."""


class Curves:
    """The rows of some figures, as the curves that are seen in them."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, str], list[Row]] = {}
        for row in rows:
            self._rows.setdefault((row["figure"], row["sweep"], row["metric"]), []).append(row)

    def curve(self, figure: str, sweep: str, label: str, metric: str = "mse", **fixed: Any) -> Curve:
        """The line of this label, over what the sweep is named after; only rows with the fixed values."""
        x = _PLACES.get(sweep, sweep)
        groups: dict[Any, list[float]] = {}
        for row in self._rows.get((figure, sweep, metric), ()):
            if row["label"] == label and all(row.get(name) == value for name, value in fixed.items()):
                groups.setdefault(row.get(x), []).append(row["value"])
        if not groups:
            raise MissingError(f"{figure}, {sweep}, {label}, {metric}")
        return {place: _mean(groups[place]) for place in sorted(groups, key=lambda key: (key is None, key))}

    def level(self, figure: str, sweep: str, label: str, metric: str = "mse", **fixed: Any) -> Mean:
        """The mean of a line that varies nothing, or of the one place that is asked for."""
        (mean,) = self.curve(figure, sweep, label, metric, **fixed).values()
        return mean

    def labels(self, figure: str, sweep: str) -> list[str]:
        """The names of all lines."""
        found = [
            row["label"] for (one, two, _), rows in self._rows.items() if (one, two) == (figure, sweep) for row in rows
        ]
        return list(dict.fromkeys(found))


Check = Callable[[Curves], Verdict]


@dataclass(frozen=True)
class Finding:
    """A claim of the paper in our words, its section, the figures whose rows decide, and the predicate."""

    name: str
    section: str
    claim: str
    figures: tuple[str, ...]
    check: Check


class Findings(list[Finding]):
    """Findings of some sections, in the order in which they were entered."""

    def about(self, section: str, claim: str, *figures: str) -> Callable[[Check], Check]:
        """Enters the decorated predicate as the finding of its name; the figures are those whose rows it reads."""

        def enter(check: Check) -> Check:
            self.append(Finding(check.__name__.replace("_", "-"), section, claim, figures, check))
            return check

        return enter


def verdict(holds: bool, numbers: str, why: str = "") -> Verdict:
    """Reproduced or not."""
    return Verdict(Outcome.REPRODUCED if holds else Outcome.NOT_REPRODUCED, numbers, why)


def as_published(check: Callable[[str, str], tuple[bool, str]], why: str = "") -> Verdict:
    """As ``clipped_or_not``, of a check that also takes which sketches it is about: as defined ("") or as programmed.

    In the paper's program the median and minimum of CM are not debiased. What holds only so is reversed.
    """
    (plain, numbers), (published, also) = check("", ""), check("_clipped", ", not debiased")
    outcome = Outcome.REPRODUCED if plain else Outcome.REVERSED if published else Outcome.NOT_REPRODUCED
    return Verdict(outcome, f"{numbers}. As published, not debiased and clipped at zero: {also}", why)


def clipped_or_not(check: Callable[[str], tuple[bool, str]], why: str = "") -> Verdict:
    """The verdict of a check of errors as the text defines them ("") and as its program computes them ("_clipped").

    The program sets negative estimates to zero and rounds before it compares. What holds only so is reversed.
    """
    (plain, numbers), (clipped, also) = check(""), check("_clipped")
    outcome = Outcome.REPRODUCED if plain else Outcome.REVERSED if clipped else Outcome.NOT_REPRODUCED
    return Verdict(outcome, f"{numbers}. Clipped at zero: {also}", why)


# --- comparing curves -------------------------------------------------------------------------------------------


def ratios(one: Curve, other: Curve) -> dict[Any, float]:
    """One over the other, wherever both have been measured."""
    common = [place for place in one if place in other]
    if not common:
        raise MissingError("no common place")
    return {place: one[place] / other[place] for place in common}


def typical(values: Mapping[Any, float] | Sequence[float]) -> float:
    """The geometric mean."""
    numbers = list(values.values()) if isinstance(values, Mapping) else list(values)
    return float(np.exp(np.mean(np.log(numbers))))


def everywhere_below(one: Curve, other: Curve) -> bool:
    """Nowhere clearly above, and below in the geometric mean."""
    places = [place for place in one if place in other]
    return not any(other[place].below(one[place]) for place in places) and typical(ratios(one, other)) < 1


def part(curve: Curve, keep: Callable[[Any], bool]) -> dict[Any, Mean]:
    """The curve where this holds of the place."""
    kept = {place: mean for place, mean in curve.items() if keep(place)}
    if not kept:
        raise MissingError("no such place")
    return kept


def lowest(curve: Curve) -> Any:
    """The place of the least value."""
    return min(curve, key=lambda place: curve[place].value)


def slope(curve: Curve) -> float:
    """How fast it grows: the exponent of the power of x that fits best."""
    x = [log2(place) for place in curve]
    y = [log2(mean.value) for mean in curve.values()]
    return float(np.polyfit(x, y, 1)[0])


# --- words ------------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Three digits, and thousands told apart."""
    text = (
        f"{value / 1e6:.3g} million" if abs(value) >= 1e6 else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    )
    return text.replace("-", "−")


def span(values: Mapping[Any, float]) -> str:
    """The least and the greatest, with their places."""
    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if number(values[least]) == number(values[most]):
        return number(values[least])
    return f"{number(values[least])} (at {place(least)}) to {number(values[most])} (at {place(most)})"


def place(value: Any) -> str:
    """A place of an axis."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def listed(values: Mapping[str, float] | Mapping[str, Mean]) -> str:
    """Names with their values, the least first."""
    plain = {name: value.value if isinstance(value, Mean) else value for name, value in values.items()}
    return ", ".join(f"{name} {number(plain[name])}" for name in sorted(plain, key=plain.__getitem__))


def _mean(values: Sequence[float]) -> Mean:
    error = float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return Mean(float(np.mean(values)), error)
