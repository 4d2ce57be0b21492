"""Helpers of the predicates: compare curves as defined and as published, and describe them in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from plausibly.experiments import (
    Contrast,
    Curve,
    Curves,
    Evidence,
    Mean,
    MissingError,
    Outcome,
    Verdict,
    all_of,
    average,
    decided,
    number,
)

# --- as defined, and as published -------------------------------------------------------------------------------


def text_and_program(text: Verdict, program: Verdict, *, differ: str, why: str = "") -> Verdict:
    """The verdict on a claim from its verdicts as the text defines things and as the published program computes them.

    A claim that the program shows and the text's definitions refute is reversed. ``differ`` says what the program does.
    """
    outcome = text.outcome
    if text.outcome is Outcome.NOT_REPRODUCED and program.outcome is Outcome.REPRODUCED:
        outcome = Outcome.REVERSED
    if text.outcome is program.outcome:
        numbers = f"{text.numbers}. As the program computes it, {differ}: {program.numbers}"
    else:
        numbers = (
            f"As the text defines it ({text.outcome}): {text.numbers}. As the program computes it, {differ}"
            f" ({program.outcome}): {program.numbers}"
        )
    return Verdict(outcome, numbers, why or text.why, f"{text.rule}; as the program computes it: {program.rule}")


def plain_and_clipped(check: Callable[[str], tuple[Evidence, str]], why: str = "", *, rule: str) -> Verdict:
    """The verdict of a check on errors as the text defines them ("") and as the program computes them ("_clipped").

    The program rounds estimates and sets negative ones to zero before it compares them with the truth.
    """
    plain, clipped = (decided(*check(suffix), rule=rule) for suffix in ("", "_clipped"))
    clipped = replace(clipped, rule=clipped.rule.removeprefix(rule).strip(" ()"))  # the same rule
    return text_and_program(plain, clipped, differ="clipped at zero", why=why)


def unless_fully_decoded(published: Verdict, numbers: str, why: str, *, opposite: Evidence, rule: str) -> Verdict:
    """The verdict on a claim about HM, whose published decoder uses only a part of each report.

    ``opposite`` is the evidence that all products of the coefficients refute the claim, by a rule of its own.
    """
    turned = published.outcome is Outcome.REPRODUCED and opposite.confirmed
    told = str(opposite).replace("the claim", "this")
    return Verdict(
        Outcome.DECODER if turned else published.outcome,
        f"{published.numbers}. Decoded from all products of the coefficients: {numbers}",
        why,
        f"{published.rule}; decoded from all products: {rule} ({told})",
    )


# --- enough data -------------------------------------------------------------------------------------------------

_HALF = 0.5


def half_the_top_ten(figure: str, *sweeps: str) -> Callable[[Curves], str]:
    """A finding's need: the best line of the figure's sweeps, ceilings included, finds half of the top 10.

    Where even the best method finds less, the differences between methods are those between kinds of noise.
    """

    def too_few(rows: Curves) -> str:
        scores = {
            label: rows.curve(figure, sweep, label, "f1") for sweep in sweeps for label in rows.labels(figure, sweep)
        }
        best = max(scores, key=lambda label: max(mean.value for mean in scores[label].values()))
        reached = max(mean.value for mean in scores[best].values())
        return (
            ""
            if reached >= _HALF
            else (
                f"even the best, {best}, finds {100 * reached:.0f} % of the 10 most common items; a verdict needs"
                f" {100 * _HALF:.0f} %"
            )
        )

    return too_few


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


def contrasts(one: Curve, other: Curve) -> dict[Any, Contrast]:
    """One curve divided by the other with its error, wherever both have been measured."""
    common = [place for place in one if place in other]
    if not common:
        raise MissingError("no common place")
    return {place: one[place].over(other[place]) for place in common}


def overall(found: Mapping[Any, Contrast] | Iterable[Contrast]) -> Contrast:
    """The geometric mean with its error."""
    given = list(found.values() if isinstance(found, Mapping) else found)
    if not given:
        raise MissingError("no such place")
    return average(given)


def above(found: Mapping[Any, Contrast], bound: float = 1.0) -> Evidence:
    """Evidence that all contrasts are above the bound."""
    return _every(one.above(bound) for one in found.values())


def below(found: Mapping[Any, Contrast], bound: float = 1.0) -> Evidence:
    """Evidence that all contrasts are below the bound."""
    return _every(one.below(bound) for one in found.values())


def _every(parts: Iterable[Evidence]) -> Evidence:
    given = list(parts)
    if not given:
        raise MissingError("no such place")
    return all_of(given)


def first(curves: Mapping[str, Curve], label: str) -> Evidence:
    """Evidence that the line with this label has the lowest geometric mean."""
    return all_of(overall(contrasts(curve, curves[label])).above(1) for name, curve in curves.items() if name != label)


def in_order(curves: Mapping[str, Curve]) -> Evidence:
    """Evidence that each line has a higher geometric mean than the one before."""
    given = list(curves.values())
    return all_of(overall(contrasts(after, before)).above(1) for before, after in pairwise(given))


def growth(curve: Curve) -> Contrast:
    """The exponent of the best-fitting power of x, with its error."""
    x = np.log([float(place) for place in curve])
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    terms = [
        Contrast(mean.contrast(is_ratio=True).terms).times(float(weight))
        for mean, weight in zip(curve.values(), weights, strict=True)
    ]
    return average(terms).times(len(terms))


def part(curve: Curve, keep: Callable[[Any], bool]) -> dict[Any, Mean]:
    """The points of the curve whose x value satisfies ``keep``."""
    kept = {place: mean for place, mean in curve.items() if keep(place)}
    if not kept:
        raise MissingError("no such place")
    return kept


def lowest(curve: Curve) -> Any:
    """The x value of the minimum."""
    return min(curve, key=lambda place: curve[place].value)


# --- words ------------------------------------------------------------------------------------------------------


def span(values: Mapping[Any, float] | Mapping[Any, Contrast]) -> str:
    """Minimum and maximum, with their positions and errors."""
    plain = {at: _value(value) for at, value in values.items()}
    least, most = min(plain, key=plain.__getitem__), max(plain, key=plain.__getitem__)
    if number(plain[least]) == number(plain[most]):
        return _told(values[least])
    return f"{_told(values[least])} (at {place(least)}) to {_told(values[most])} (at {place(most)})"


def place(value: Any) -> str:
    """An x value as text."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def listed(values: Mapping[str, float] | Mapping[str, Mean] | Mapping[str, Contrast]) -> str:
    """Names with their values, in increasing order."""
    return ", ".join(f"{name} {_told(values[name])}" for name in sorted(values, key=lambda name: _value(values[name])))


def _value(value: float | Mean | Contrast) -> float:
    return value.value if isinstance(value, Mean | Contrast) else value


def _told(value: float | Mean | Contrast) -> str:
    return f"{value}" if isinstance(value, Contrast) else number(_value(value))
