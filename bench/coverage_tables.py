"""The table of measured coverage, made from the returned items of all runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import mean, median, stdev

from plausibly.experiments import Sheet

from .returned import NOBODY, Item

LISTED, COMPARED = 0.05, 0.01
"""Largest p-values of the items that ``plausibly search`` lists, and of those whose widths are compared."""
Runs = Sequence[Sequence[Item]]


@dataclass(frozen=True)
class Share:
    """A share of cases with its binomial standard error."""

    hits: int
    cases: int

    @property
    def value(self) -> float:
        """The share; NaN without cases."""
        return self.hits / self.cases if self.cases else nan

    @property
    def error(self) -> float:
        """Binomial standard error of the share."""
        return sqrt(self.value * (1 - self.value) / self.cases) if self.cases else nan

    def __add__(self, other: Share) -> Share:
        return Share(self.hits + other.hits, self.cases + other.cases)

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} ± {100 * self.error:.1f}" if self.cases else "–"


@dataclass(frozen=True)
class Summary:
    """What the runs of one setting show."""

    runs: int
    items: int
    coverage: Share
    listed: Share
    """Coverage of the items with p ≤ .05, which are those that ``plausibly search`` lists."""
    plain: Share
    always: Share
    """Plain coverage of the items that every run returned: no selection excuses their misses."""
    mean_z: float
    always_z: float
    always_spread: float
    """Standard deviation of z over the items that every run returned; 1 by the law."""
    width: float
    """Median width, as a multiple of the plain width, of the items with p ≤ .01."""
    compared: int
    nothing: int
    """Number of items called indistinguishable from nothing."""


def summary(runs: Runs) -> Summary:
    """Coverage, bias and width over all runs of a setting."""
    items = [item for run in runs for item in run]
    returned = Counter(item.place for item in items if item.place != NOBODY)
    always = [item for item in items if returned[item.place] == len(runs)]
    listed = [item for item in items if item.p_value <= LISTED]
    compared = [item for item in items if item.p_value <= COMPARED]
    widths = [(item.high - item.low) / (item.plain_high - item.plain_low) for item in compared]
    return Summary(
        runs=len(runs),
        items=len(items),
        coverage=Share(sum(item.covered for item in items), len(items)),
        listed=Share(sum(item.covered for item in listed), len(listed)),
        plain=Share(sum(item.covered_plainly for item in items), len(items)),
        always=Share(sum(item.covered_plainly for item in always), len(always)),
        mean_z=_mean([item.z for item in items]),
        always_z=_mean([item.z for item in always]),
        always_spread=stdev(item.z for item in always) if len(always) > 1 else nan,
        width=median(widths) if widths else nan,
        compared=len(compared),
        nothing=sum(item.nothing for item in items),
    )


def coverage_sheet(head: tuple[str, ...], measured: Mapping[tuple[str, ...], Runs]) -> Sheet:
    """One line for each setting, and all settings together in the caption."""
    found = {label: summary(runs) for label, runs in measured.items()}
    lines = [(*label, *_cells(one)) for label, one in found.items()]
    header = (*head, *_COLUMNS, *_WIDTHS)
    return Sheet("Coverage of 95 % intervals of returned items", header, tuple(lines), _caption([*found.values()]))


def _caption(found: Sequence[Summary]) -> str:
    whole, always = sum((one.coverage for one in found), Share(0, 0)), sum((one.always for one in found), Share(0, 0))
    worst = min((one.coverage.value for one in found), default=nan)
    caption = f"{whole.cases:,} items: {whole} % covered; in the worst setting {100 * worst:.1f} %."
    if always.cases:
        z = sum(one.always_z * one.always.cases for one in found if one.always.cases) / always.cases
        caption += f" Always found: {always.cases:,} items, {always} % covered by plain intervals, mean z {z:+.2f}."
    return caption


_COLUMNS = ("runs", "items", "covered, %", "if p ≤ .05", "plain", "mean z", "always found", "their z")
_WIDTHS = ("p ≤ .01", "width / plain", "nothing")


def _cells(one: Summary) -> tuple[str, ...]:
    shares = (f"{100 * share.value:.1f}" if share.cases else "–" for share in (one.listed, one.plain, one.always))
    listed, plain, always = shares
    their_z = "–" if isnan(one.always_z) else f"{one.always_z:+.2f} ± {one.always_spread / sqrt(one.always.cases):.2f}"
    width = "–" if isnan(one.width) else f"{one.width:.2f}"
    counted = f"{one.runs:,}", f"{one.items:,}", str(one.coverage), listed, plain
    return (*counted, f"{one.mean_z:+.2f}", always, their_z, f"{one.compared:,}", width, f"{one.nothing:,}")


def _mean(values: Sequence[float]) -> float:
    return mean(values) if values else nan
