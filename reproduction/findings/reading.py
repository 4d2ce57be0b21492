"""Helpers of the predicates: compare curves as defined and as published, and describe them in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

from plausibly.experiments import Curve, Mean, MissingError, Outcome, Verdict, number

# --- as defined, and as published -------------------------------------------------------------------------------


def as_published(check: Callable[[str, str], tuple[bool, str]], why: str = "") -> Verdict:
    """Like ``clipped_or_not``, for a check that also takes the kind of sketch: as defined ("") or as programmed.

    In the paper's program the median and minimum of CM are not debiased. A claim that holds only there is reversed.
    """
    (plain, numbers), (published, also) = check("", ""), check("_clipped", ", not debiased")
    outcome = Outcome.REPRODUCED if plain else Outcome.REVERSED if published else Outcome.NOT_REPRODUCED
    return Verdict(outcome, f"{numbers}. As published, without debiasing and clipped at zero: {also}", why)


def clipped_or_not(check: Callable[[str], tuple[bool, str]], why: str = "") -> Verdict:
    """Verdict of a check on errors as the text defines them ("") and as the program computes them ("_clipped").

    The program rounds and sets negative estimates to zero before it compares. A claim that holds only there is
    reversed.
    """
    (plain, numbers), (clipped, also) = check(""), check("_clipped")
    outcome = Outcome.REPRODUCED if plain else Outcome.REVERSED if clipped else Outcome.NOT_REPRODUCED
    return Verdict(outcome, f"{numbers}. Clipped at zero: {also}", why)


# --- comparing curves -------------------------------------------------------------------------------------------


def ratios(one: Curve, other: Curve) -> dict[Any, float]:
    """One curve divided by the other, wherever both have been measured."""
    common = [place for place in one if place in other]
    if not common:
        raise MissingError("no common place")
    return {place: one[place] / other[place] for place in common}


def typical(values: Mapping[Any, float] | Sequence[float]) -> float:
    """The geometric mean."""
    numbers = list(values.values()) if isinstance(values, Mapping) else list(values)
    return float(np.exp(np.mean(np.log(numbers))))


def everywhere_below(one: Curve, other: Curve) -> bool:
    """Whether the curve is nowhere clearly above the other, and below it in the geometric mean."""
    places = [place for place in one if place in other]
    return not any(other[place].below(one[place]) for place in places) and typical(ratios(one, other)) < 1


def part(curve: Curve, keep: Callable[[Any], bool]) -> dict[Any, Mean]:
    """The points of the curve whose x value satisfies ``keep``."""
    kept = {place: mean for place, mean in curve.items() if keep(place)}
    if not kept:
        raise MissingError("no such place")
    return kept


def lowest(curve: Curve) -> Any:
    """The x value of the minimum."""
    return min(curve, key=lambda place: curve[place].value)


def slope(curve: Curve) -> float:
    """Growth rate: the exponent of the best-fitting power of x."""
    x = [log2(place) for place in curve]
    y = [log2(mean.value) for mean in curve.values()]
    return float(np.polyfit(x, y, 1)[0])


# --- words ------------------------------------------------------------------------------------------------------


def span(values: Mapping[Any, float]) -> str:
    """Minimum and maximum, with their positions."""
    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    if number(values[least]) == number(values[most]):
        return number(values[least])
    return f"{number(values[least])} (at {place(least)}) to {number(values[most])} (at {place(most)})"


def place(value: Any) -> str:
    """An x value as text."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def listed(values: Mapping[str, float] | Mapping[str, Mean]) -> str:
    """Names with their values, in increasing order."""
    plain = {name: value.value if isinstance(value, Mean) else value for name, value in values.items()}
    return ", ".join(f"{name} {number(plain[name])}" for name in sorted(plain, key=plain.__getitem__))
