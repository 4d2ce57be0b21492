"""How the predicates read measured curves: as published or as defined, compared with each other, and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

from plausibly.experiments import Curve, Mean, MissingError, Outcome, Verdict, number

# --- as defined, and as published -------------------------------------------------------------------------------


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
