"""From integer scores to estimates, and how far those are from the truth: exact rational laws."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .errors import ParameterError
from .history import History
from .wording import nearest, shown

Cells = npt.NDArray[Any]
"""One channel of a state, or the reports themselves where a scheme keeps them."""
Scores = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class VarianceLaw:
    """Var f^(x) = n*per_report + f*per_holder + F_blk*per_mate + the errors of public hash functions, given the data.

    ``per_mate`` belongs to schemes that put items into blocks (F_blk = users whose item shares x's block, its own
    holders included; ``mate_share`` of all others where nothing is known).
    Public hash functions add, over their random choice, ``collision`` for each ordered pair of users of one item other
    than x (F2 - f^2 - n + f pairs), ``per_pair`` for each pair of users of any items but x, and ``per_fellow`` for
    each pair of holders of x (docs/adr/0003-variance-laws.md, docs/adr/0009-sketches.md).
    ``covariance`` is that of the estimates of two items, per report and per holder of either, where the other users
    are spread evenly over the items.
    """

    per_report: Fraction
    per_holder: Fraction
    per_mate: Fraction = Fraction(0)
    mate_share: Fraction = Fraction(0)
    collision: Fraction = Fraction(0)
    per_pair: Fraction = Fraction(0)
    per_fellow: Fraction = Fraction(0)
    covariance: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    def exact(self, n: int, f: int, *, f2: int | None = None, mates: int | None = None) -> Fraction:
        """The variance as a rational number."""
        block = f + (n - f) * self.mate_share if mates is None else Fraction(mates)
        hashing: Fraction = self.collision * (self._known(f2) - f * f - n + f)
        hashing += self.per_pair * (n - f) * (n - f - 1) + self.per_fellow * f * (f - 1)
        return n * self.per_report + f * self.per_holder + block * self.per_mate + hashing

    def at(self, n: Any, f: Any, *, f2: float | None = None, mates: Any = None) -> Any:
        """The variance in floating point, for one count or an array of them."""
        f = np.asarray(f, dtype=np.float64)
        variance = n * float(self.per_report) + f * float(self.per_holder)
        if self.per_mate:
            block = f + (n - f) * float(self.mate_share) if mates is None else mates
            variance = variance + block * float(self.per_mate)
        if self.collision:
            hashing = np.maximum(self._known(f2) - f * f - n + f, 0.0)  # F2 is an estimate and may be too low
            variance = variance + float(self.collision) * hashing
        if self.per_pair or self.per_fellow:
            rest = n - f
            variance = variance + float(self.per_pair) * rest * np.maximum(rest - 1, 0)
            variance = variance + float(self.per_fellow) * f * np.maximum(f - 1, 0)
        return float(variance) if np.ndim(variance) == 0 else variance

    def _known(self, f2: Any) -> Any:
        if f2 is None and self.collision:
            raise ParameterError("f2: this scheme's variance depends on the sum of squared counts; give f2=")
        return 0 if f2 is None else f2


class Decoder(Protocol):
    """How the evidence of an accumulator becomes estimates; ``n`` counts its reports, by channel if it has any."""

    @property
    def law(self) -> VarianceLaw:
        """The variance of its estimates, where it has one in closed form."""
        ...

    @property
    def history(self) -> History:
        """What it does beyond adding up, for those who read the estimates."""
        ...

    def scores(self, evidence: Cells, n: Any, codes: Codes | None, /) -> Scores:
        """The exact integers behind the estimates."""
        ...

    def estimate(self, evidence: Cells, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        """Counts of the items with these codes (all for None), and their variances where there are honest ones."""
        ...


@dataclass(frozen=True)
class Estimator:
    """f^(x) = (score(x) - n*offset) * scale, and its variance law.

    ``scores`` turns one channel's cells into an exact integer per item (``codes``, or the whole domain for None);
    ``context`` estimates from the cells what else the law depends on (f2, mates).
    """

    scale: Fraction
    offset: Fraction
    law: VarianceLaw
    scores: Callable[[Cells, int, Codes | None], Scores]
    context: Callable[[Cells, int, Codes | None], dict[str, Any]] = lambda cells, n, codes: {}
    history: History = ()

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """The least and the most that one report adds to a count: its score is 0 or 1, or a sign if the offset is 0."""
        return -self.scale * (self.offset or 1), self.scale * (1 - self.offset)

    def estimate(self, cells: Cells, n: int, codes: Codes | None) -> tuple[Floats, Floats]:
        """Unbiased counts and their variances, the latter with the estimated count (clipped to [0, n]) put in."""
        scores = self.scores(cells, n, codes)
        values: Floats = (scores.astype(np.float64) - float(n * self.offset)) * float(self.scale)
        variance = self.law.at(n, np.clip(values, 0, n), **self.context(cells, n, codes))
        return values, np.maximum(np.broadcast_to(variance, values.shape), 0.0)


def pure(
    p: Fraction,
    q: Fraction,
    scores: Callable[[Cells, int, Codes | None], Scores],
    *,
    both: tuple[Fraction, Fraction] | None = None,
    collision: Fraction = Fraction(0),
    context: Callable[[Cells, int, Codes | None], dict[str, Any]] = lambda cells, n, codes: {},
) -> Estimator:
    """The estimator of a pure protocol: holders support their item with probability p, all others with q.

    ``both``: the probability that a report supports its holder's item and another given one, and that it supports
    two given items of others; by default the products p*q and q*q.
    """
    gap = p - q
    own, others = both or (p * q, q * q)
    per_report = (others - q * q) / gap**2
    covariance = per_report, (own - p * q) / gap**2 - per_report
    law = VarianceLaw(q * (1 - q) / gap**2, (1 - p - q) / gap, collision=collision, covariance=covariance)
    return Estimator(1 / gap, q, law, scores, context)


def support_of_both(p: Fraction, support: int, points: int) -> tuple[Fraction, Fraction]:
    """``both`` of a protocol whose report supports ``support`` of the points, any set of them in like position."""
    own = p * Fraction(support - 1, points - 1)
    pairs = p * (support - 1) * (support - 2) + (1 - p) * support * (support - 1)
    return own, pairs / ((points - 1) * max(points - 2, 1))


def count_mean(ends: tuple[Fraction, Fraction], cells: int) -> tuple[Fraction, Fraction]:
    """What a report adds to the count of an item, given what it adds to its cell.

    What other users are expected to add to one of so many cells is subtracted, for each report.
    """
    low, high = ((end - Fraction(1, cells)) * Fraction(cells, cells - 1) for end in ends)
    return low, high


def choose_estimator(estimator: Callable[..., Decoder], options: Mapping[str, Any]) -> Decoder:
    """A scheme's estimator with the analyst's choices; an unknown choice is refused with the nearest name."""
    valid = inspect.signature(estimator).parameters
    for name in options:
        if name not in valid:
            raise ParameterError(f"unknown option {shown(name)}; {nearest(name, valid)}")
    return estimator(**options)
