"""From integer scores to estimates and their variances: exact rational laws."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from .collisions import Collisions
from .errors import ParameterError, StateError
from .history import History, history_text
from .mean_only import MeanOnly, no_counts
from .tables_only import TablesOnly, no_histogram
from .tails import Unheld
from .wording import nearest, shown

Cells = npt.NDArray[Any]
"""One channel of a state, or the reports themselves if the scheme keeps them."""
Scores = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

CLEAR = 4.0
"""Number of standard errors by which the denominator of a ratio must exceed 0."""


@dataclass(frozen=True)
class VarianceLaw:
    """Var f^(x) = n*per_report + f*per_holder + the errors of public hash functions, given the data.

    Public hash functions add, over their random choice, ``collision`` for each ordered pair of users of one item other
    than x (F2 - f^2 - n + f pairs), ``per_pair`` for each pair of users of any items but x, and ``per_fellow`` for
    each pair of holders of x (docs/adr/0003-variance-laws.md, docs/adr/0009-sketches.md).
    ``covariance`` is that of the estimates of two items, per report and per holder of either, if the other users are
    spread evenly over the items; with ``joint``, whatever items the other users have.
    A scheme whose variance depends on more, such as on the other users' items, extends this class: ``exact`` and ``at``
    take a further keyword, and ``averaged``, ``beyond_average`` and ``context_of`` provide the rest
    (docs/adr/0020-histories-and-laws.md).
    """

    per_report: Fraction
    per_holder: Fraction
    collision: Fraction = Fraction(0)
    per_pair: Fraction = Fraction(0)
    per_fellow: Fraction = Fraction(0)
    covariance: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    joint: bool = False

    def exact(self, n: int, f: int, *, f2: int | None = None) -> Fraction:
        """The variance by this law as a rational number."""
        hashing: Fraction = self.collision * (self._known(f2) - f * f - n + f)
        hashing += self.per_pair * (n - f) * (n - f - 1) + self.per_fellow * f * (f - 1)
        return n * self.per_report + f * self.per_holder + hashing

    def at(self, n: Any, f: Any, *, f2: Any = None) -> Any:
        """The variance by this law in floating point, for one count or an array of them."""
        f = np.asarray(f, dtype=np.float64)
        variance = n * float(self.per_report) + f * float(self.per_holder)
        if self.collision:
            hashing = np.maximum(self._known(f2) - f * f - n + f, 0.0)  # F2 is an estimate and may be too low
            variance = variance + float(self.collision) * hashing
        if self.per_pair or self.per_fellow:
            rest = n - f
            variance = variance + float(self.per_pair) * rest * np.maximum(rest - 1, 0)
            variance = variance + float(self.per_fellow) * f * np.maximum(f - 1, 0)
        return float(variance) if np.ndim(variance) == 0 else variance

    def of_one(self, x: int, y: int) -> Fraction:
        """The law's exact variance of the estimate of item y in a crowd of one user, who has item x."""
        average = self.averaged.exact(1, int(x == y), f2=1)
        return average if x == y else average + self.beyond_average(x, y)

    @property
    def averaged(self) -> VarianceLaw:
        """The variance law if the users of other items are spread evenly over them."""
        return self

    def beyond_average(self, x: int, y: int) -> Fraction:
        """In the variance law of item y, the excess of a user of item x over the average user of other items."""
        return Fraction(0)

    def context_of(self, counts: npt.NDArray[Any]) -> dict[str, Any]:
        """Further keywords of the variance law's ``at``, computed from the counts of all items."""
        return {}

    @property
    def caveat(self) -> str:
        """A sentence about items for which the variance law states too small an error; empty if there are none."""
        return ""

    @property
    def hashed(self) -> bool:
        """Whether the variance law has terms of public hash functions."""
        return bool(self.collision or self.per_pair or self.per_fellow)

    @property
    def contrast(self) -> tuple[Fraction, Fraction]:
        """By the variance law, the second moment per report, and per holder, of a sum with coefficients that add to 0.

        The part of the covariance that all items share drops out of it (docs/adr/0033-slide.md: V_c and H).
        """
        return self.per_report - self.covariance[0], 1 + self.per_holder - 2 * self.covariance[1]

    @property
    def of_coins(self) -> VarianceLaw:
        """The variance law without the terms of public hash functions."""
        return replace(self, collision=Fraction(0), per_pair=Fraction(0), per_fellow=Fraction(0))

    def shared(self, variance: Floats, n: int, f: Floats) -> Floats:
        """By this variance law, the part of a variance that a crowd with the same public hash functions may share.

        Two crowds share the errors of all pairs of a user of one and a user of the other. Each crowd's part counts its
        own pairs, including every user with themselves, so that the covariance is at most the product of the roots.
        """
        pairs = np.clip(variance - self.of_coins.at(n, f), 0.0, None)
        alone = float(self.collision + self.per_pair) * (n - f) + float(self.per_fellow) * f
        return np.asarray(np.minimum(variance, pairs + alone))

    def of_total(self, items: int) -> VarianceLaw:
        """The variance law of the sum of the estimates of some different items; f counts the holders of any of them.

        Raises if the covariance of two items depends on more than their holders.
        """
        if self.hashed or not self.joint:
            raise StateError(
                "the variance of a sum needs the covariance of every two items, and this scheme has no law for it; "
                "collect with one that has, such as OUE or OLH"
            )
        shared, per_holder = self.covariance
        return VarianceLaw(
            items * self.per_report + items * (items - 1) * shared,
            self.per_holder + 2 * (items - 1) * per_holder,
        )

    def _known(self, f2: Any) -> Any:
        if f2 is None and self.collision:
            raise ParameterError("f2: this scheme's variance depends on the sum of squared counts; give f2")
        return 0 if f2 is None else f2


@dataclass(frozen=True)
class MemoLaw:
    """Covariance of the estimates of one item from two days, n*per_report + f*per_holder, for users with a memo.

    It counts the users who report on both days and have the same item on both; f of them have this item. Users who
    changed add something that is not negative. ``memo`` names what the memo depends on: another one is independent.
    """

    memo: str
    per_report: Fraction
    per_holder: Fraction

    def at(self, n: float, f: Any) -> Any:
        """The covariance by this law in floating point, for one count or an array of them."""
        return n * float(self.per_report) + np.asarray(f, dtype=np.float64) * float(self.per_holder)


@dataclass(frozen=True)
class CountMean:
    """Count-mean debiasing for items hashed to c cells: f = (x - n/c) * c/(c-1) for a cell that counts x of n users.

    All users of an item are in its cell, and each other user is there with probability 1/c. Their expected number is
    subtracted (Apple 2017, the count-mean sketch; docs/adr/0009-sketches.md).
    """

    cells: int

    @property
    def scale(self) -> Fraction:
        """In the count-mean law, the factor of a count after the other users are subtracted."""
        return Fraction(self.cells, self.cells - 1)

    @property
    def offset(self) -> Fraction:
        """In the count-mean law, the expected contribution of each user to a cell of another item."""
        return Fraction(1, self.cells)

    def counts(self, counted: Any, n: Any) -> Any:
        """Counts of items by the count-mean law, from the counts of their cells."""
        return (counted - n / self.cells) * (self.cells / (self.cells - 1))

    def decoded(self, scale: Fraction, offset: Fraction) -> tuple[Fraction, Fraction]:
        """Scale and offset of the exact law from an oracle's scores to counts of items, given the law for cells."""
        return scale * self.scale, offset + self.offset / scale

    def contribution(self, ends: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
        """By the exact law of counts, the least and most that one report adds to an item, given those for its cell."""
        low, high = ((end - self.offset) * self.scale for end in ends)
        return low, high

    def law(self, oracle: VarianceLaw, together: Fraction) -> VarianceLaw:
        """Variance law of item counts, given the oracle's; two users share a hash with probability ``together``."""
        law, c = oracle.averaged, self.cells
        miss, met = 1 / self.scale, Fraction(1, c - 1)
        # A user of another item is in the cell with probability 1/c.
        noise, holder = law.per_report + law.per_holder / c, miss * law.per_holder
        pairs = law.collision * (together * met + (1 - together) * Fraction(2, c * (c - 1)))
        return VarianceLaw(
            noise / miss**2 + met,
            holder / miss**2 - met,
            collision=together * (met + law.collision),
            per_pair=pairs,
        )


def thinned(law: VarianceLaw, share: Fraction) -> VarianceLaw:
    """The variance law of counts that are scaled up from a random share of the users.

    Terms for pairs of users stay the same.
    """
    covariance = law.covariance[0] / share, law.covariance[1] / share
    return replace(
        law,
        per_report=law.per_report / share,
        per_holder=(law.per_holder + 1 - share) / share,
        covariance=covariance,
    )


def of_sum(variances: Sequence[Floats], shared: Sequence[Floats]) -> Floats:
    """The variance law of a sum or difference of estimates from different reports, at most.

    Their coins are independent. ``shared``: the part of each variance that comes from public hash functions which all
    of them may use; these errors may be equal, and their standard errors add up.
    """
    apart = sum((own - part for own, part in zip(variances, shared, strict=True)), np.zeros(()))
    together: Floats = sum((np.sqrt(part) for part in shared), np.zeros(()))
    return np.asarray(apart + together**2, dtype=np.float64)


def of_ratio(one: Floats, other: Floats, variances: tuple[Floats, Floats], shared: tuple[Floats, Floats]) -> Floats:
    """The variance law of the ratio of two estimates by the delta method, an approximation.

    It is infinite unless the denominator is clearly positive: at least four standard errors above 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = 1 / other, one / other**2
        scaled = [slope**2 * own for slope, own in zip(slopes, variances, strict=True)]
        parts = [slope**2 * part for slope, part in zip(slopes, shared, strict=True)]
        variance = of_sum(scaled, parts)
    return np.where(other > CLEAR * np.sqrt(variances[1]), variance, np.inf)


def of_sample(shares: Floats, n: int) -> Floats:
    """The variance law of the shares of items in a random sample of n users, around those of the population."""
    held = np.clip(shares, 0.0, 1.0)
    return np.asarray(held * (1 - held) / n)


class Decoder(Protocol):
    """A method to turn the evidence of an accumulator into estimates; ``n`` counts its reports, by channel if any."""

    @property
    def law(self) -> VarianceLaw | None:
        """The exact variance law of the decoder's estimates; None if there is no closed form."""
        ...

    @property
    def history(self) -> History:
        """Records of what the decoder does beyond a linear law, for the history of the estimates."""
        ...

    def scores(self, evidence: Cells, n: Any, codes: Codes | None, /) -> Scores:
        """The exact integers that the decoder's law turns into estimates."""
        ...

    def estimate(self, evidence: Any, n: Any, codes: Codes | None, /) -> tuple[Floats, Floats | None]:
        """Estimates from scores or other evidence (codes None: of all items), with variances by the law if known."""
        ...


@runtime_checkable
class KnowsUnheld(Protocol):
    """A decoder that knows the law of items without holders from the evidence, because hash functions are public."""

    def estimate_and_unheld(
        self, evidence: Any, n: Any, codes: Codes | None, /
    ) -> tuple[Floats, Floats | None, Unheld | None]:
        """Estimates and variances of the decoder, and the law of items without holders, if it is known."""
        ...


def no_context(cells: Cells, n: int, codes: Codes | None) -> dict[str, Any]:
    """The ``context`` of an estimator whose variance law depends on nothing but the counts."""
    return {}


class ByLaw:
    """A decoder whose estimates have the variances of its law, whatever the items; others use theirs for planning."""


@dataclass(frozen=True)
class Estimator(ByLaw):
    """f^(x) = (score(x) - n*offset) * scale, with its variance law if there is one.

    ``scores`` turns one channel's cells into an exact integer per item (``codes``, or the whole domain for None);
    ``context`` estimates further keywords of ``VarianceLaw.at`` from the cells. ``public``: the score of an item is the
    sum of one cell of each row, chosen by public hash functions.
    """

    scale: Fraction
    offset: Fraction
    law: VarianceLaw | None
    scores: Callable[[Cells, int, Codes | None], Scores]
    context: Callable[[Cells, int, Codes | None], dict[str, Any]] = no_context
    history: History = ()
    public: bool = False

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """By the estimator's law, the minimum and maximum that one report adds to a count.

        The score of a report is 0 or 1, or a sign if the offset is 0.
        """
        return -self.scale * (self.offset or 1), self.scale * (1 - self.offset)

    def values(self, cells: Cells, n: int, codes: Codes | None) -> Floats:
        """Unbiased counts without their variances, by the estimator's scale and offset."""
        counts: Floats = self.scores(cells, n, codes).astype(np.float64)
        counts -= float(n * self.offset)
        counts *= float(self.scale)
        return counts

    def estimate(self, cells: Cells, n: int, codes: Codes | None) -> tuple[Floats, Floats | None]:
        """Unbiased counts and their variances by the law, at the estimated counts clipped to [0, n]."""
        values = self.values(cells, n, codes)
        if self.law is None:
            return values, None
        variance = self.law.at(n, np.clip(values, 0, n), **self.context(cells, n, codes))
        return values, np.maximum(np.broadcast_to(variance, values.shape), 0.0)

    def estimate_and_unheld(
        self, cells: Cells, n: int, codes: Codes | None
    ) -> tuple[Floats, Floats | None, Unheld | None]:
        """Counts and variances by the estimator's law, and the law of items without holders if hashes are public."""
        unheld = Collisions.of_table(cells, float(self.scale), float(n * self.offset)) if self.public else None
        return *self.estimate(cells, n, codes), unheld


def pure(
    p: Fraction,
    q: Fraction,
    scores: Callable[[Cells, int, Codes | None], Scores],
    *,
    both: tuple[Fraction, Fraction] | None = None,
    collision: Fraction = Fraction(0),
    context: Callable[[Cells, int, Codes | None], dict[str, Any]] = no_context,
    joint: bool = False,
    public: bool = False,
) -> Estimator:
    """Estimator and variance law of a pure protocol: users support their own item with probability p, others with q.

    ``both``: the probabilities that a report supports its user's item and a given other item, and that it supports
    two given other items; by default the products p*q and q*q. ``joint``: these are the probabilities for any items,
    not only on average over the items of the other users. ``public``: see ``Estimator``.
    """
    gap = p - q
    own, others = both or (p * q, q * q)
    per_report = (others - q * q) / gap**2
    covariance = per_report, (own - p * q) / gap**2 - per_report
    law = VarianceLaw(q * (1 - q) / gap**2, (1 - p - q) / gap, collision=collision, covariance=covariance, joint=joint)
    return Estimator(1 / gap, q, law, scores, context, public=public)


def support_of_both(p: Fraction, support: int, points: int) -> tuple[Fraction, Fraction]:
    """``both`` for the variance law of ``pure``, if each report supports ``support`` of the points.

    All sets of that size are treated alike.
    """
    own = p * Fraction(support - 1, points - 1)
    pairs = p * (support - 1) * (support - 2) + (1 - p) * support * (support - 1)
    return own, pairs / ((points - 1) * max(points - 2, 1))


def choose_estimator(estimator: Callable[..., Decoder], options: Mapping[str, Any]) -> Decoder:
    """A scheme's estimator, with its law, for the analyst's options. Raises for an unknown option.

    The message suggests the nearest name.
    """
    valid = inspect.signature(estimator).parameters
    for name in options:
        if name not in valid:
            raise ParameterError(f"unknown option {shown(name)}; {nearest(name, valid)}")
    return estimator(**options)


def estimate_and_unheld(
    decoder: Decoder, evidence: Any, n: Any, codes: Codes | None
) -> tuple[Floats, Floats | None, Unheld | None]:
    """Estimates and variances of a decoder, and the law of items without holders if it knows one."""
    if isinstance(decoder, KnowsUnheld):
        return decoder.estimate_and_unheld(evidence, n, codes)
    return *decoder.estimate(evidence, n, codes), None


def law_of(decoder: Decoder) -> VarianceLaw:
    """The variance law of a decoder. Raises if it has none."""
    if isinstance(decoder, MeanOnly):
        raise no_counts()
    if isinstance(decoder, TablesOnly):
        raise no_histogram()
    if decoder.law is None:
        subject = history_text(decoder.history) or "this decoder"
        raise StateError(f"{subject} has no variance in closed form; a simulation shows how far its estimates scatter")
    return decoder.law
