"""How the predicates read measured curves: as published or as defined, compared with each other, and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

from plausibly.experiments import Curve, Mean, MissingError, Outcome, Verdict, number

# --- as defined, and as published -------------------------------------------------------------------------------


def as_published(check: Callable[[str, str], tuple[bool, str]], why: str = "") -> Verdict:
    """The verdict of a check on sketches as the text defines them, and as the paper's program computes them.

    The check takes the suffix of the metric and that of the label. In the program the median and minimum of CM are not
    debiased; a claim that holds only then is reversed.
    """
    (plain, numbers), (published, also) = check("", ""), check("_clipped", ", not debiased")
    outcome = Outcome.REPRODUCED if plain else Outcome.REVERSED if published else Outcome.NOT_REPRODUCED
    return Verdict(outcome, f"{numbers}. As published, not debiased and clipped at zero: {also}", why)


def clipped_or_not(check: Callable[[str], tuple[bool, str]], why: str = "") -> Verdict:
    """The verdict of a check on errors as the text defines them ("") and as the program computes them ("_clipped").

    The program sets negative estimates to zero and rounds before it compares. A claim that holds only then is reversed.
    """
    (plain, numbers), (clipped, also) = check(""), check("_clipped")
    outcome = Outcome.REPRODUCED if plain else Outcome.REVERSED if clipped else Outcome.NOT_REPRODUCED
    return Verdict(outcome, f"{numbers}. Clipped at zero: {also}", why)


# --- comparing curves -------------------------------------------------------------------------------------------


def ratios(one: Curve, other: Curve) -> dict[Any, float]:
    """Ratios of two curves, at all places where both have been measured."""
    common = [place for place in one if place in other]
    if not common:
        raise MissingError("no common place")
    return {place: one[place] / other[place] for place in common}


def typical(values: Mapping[Any, float] | Sequence[float]) -> float:
    """The geometric mean."""
    numbers = list(values.values()) if isinstance(values, Mapping) else list(values)
    return float(np.exp(np.mean(np.log(numbers))))


def everywhere_below(one: Curve, other: Curve) -> bool:
    """Whether a curve is nowhere clearly above another, and below it in the geometric mean."""
    places = [place for place in one if place in other]
    return not any(other[place].below(one[place]) for place in places) and typical(ratios(one, other)) < 1


def part(curve: Curve, keep: Callable[[Any], bool]) -> dict[Any, Mean]:
    """The part of a curve at the places to keep."""
    kept = {place: mean for place, mean in curve.items() if keep(place)}
    if not kept:
        raise MissingError("no such place")
    return kept


def lowest(curve: Curve) -> Any:
    """The place of the minimum."""
    return min(curve, key=lambda place: curve[place].value)


def slope(curve: Curve) -> float:
    """Growth of a curve: the exponent of the power law that fits best."""
    x = [log2(place) for place in curve]
    y = [log2(mean.value) for mean in curve.values()]
    return float(np.polyfit(x, y, 1)[0])


# --- words ------------------------------------------------------------------------------------------------------


def span(values: Mapping[Any, float]) -> str:
    """Minimum and maximum, with their places, in words."""
    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if number(values[least]) == number(values[most]):
        return number(values[least])
    return f"{number(values[least])} (at {place(least)}) to {number(values[most])} (at {place(most)})"


def place(value: Any) -> str:
    """A place on an axis, in words."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def listed(values: Mapping[str, float] | Mapping[str, Mean]) -> str:
    """Names with their values, the smallest first, in words."""
    plain = {name: value.value if isinstance(value, Mean) else value for name, value in values.items()}
    return ", ".join(f"{name} {number(plain[name])}" for name in sorted(plain, key=plain.__getitem__))
