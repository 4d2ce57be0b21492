"""Numbers computed from estimates of different crowds: shares, differences and ratios, with variances by a law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from .basis import Basis
from .errors import ParameterError, StateError
from .laws import Floats, of_ratio, of_sample, of_sum
from .levers import Reach, no_bound
from .measured import SHOWN, Measured, expect_level, normal_interval
from .wording import label_of, plural, shown, text_table

Kind = TypeVar("Kind", bound=Measured)
Whose = Literal["crowd", "population"]
"""Whose shares: those of the users who reported, or of the population of which they are a random sample."""


@dataclass(frozen=True, eq=False, repr=False)
class Derived(Measured):
    """Numbers computed from estimates, each with its variance.

    ``name`` says what they are, ``column`` is the name of their column in tables. ``approximate``: the variance is that
    of the delta method, which holds for small relative errors; otherwise it follows from the laws of the estimates.
    """

    name: str
    column: str
    approximate: bool = False
    percent: bool = False
    sides: tuple[Measured, Measured] | None = None
    """The two crowds' numbers of which these are the differences."""

    @property
    def quantity(self) -> str:
        return self.column

    @property
    def quantities(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        return f"{self.name} of {plural(len(self), 'item')}"

    def interval(self, level: float = 0.95, *, together: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every derived number.

        ``together``: all intervals contain the truth at once with probability ``level`` (Bonferroni), so that items
        may be picked for their numbers afterwards.
        """
        missed = 1 - expect_level(level)
        return normal_interval(self.values, self.known_variance(), missed / (max(1, len(self)) if together else 1))

    def moved_by_fakes(self, share: float = 0.01) -> Reach:
        if self.sides is None:
            raise no_bound()
        one, other = (side.moved_by_fakes(share) for side in self.sides)
        return Reach(one.low - other.high, one.high - other.low)

    def taken(self, places: npt.NDArray[np.intp]) -> Derived:
        variance = None if self.variance is None else self.variance[places]
        sides = None if self.sides is None else (self.sides[0].taken(places), self.sides[1].taken(places))
        return replace(self, items=self.items[places], values=self.values[places], variance=variance, sides=sides)

    def written(self, value: float) -> str:
        return f"{100 * value:z.2f} %" if self.percent else f"{value:z,.4g}"

    @property
    def _some_shown(self) -> bool:
        return len(self) > SHOWN

    def interval_of_shown(self, seen: Measured) -> tuple[Floats, Floats]:
        # The largest numbers owe something to luck.
        missed = _MISSED / (len(self) if self._some_shown else 1)
        return normal_interval(seen.values, seen.known_variance(), missed)

    def remarks(self) -> list[str]:
        together = [_TOGETHER] * (self._some_shown and self.variance is not None)
        return [*together, *[_APPROXIMATE] * self.approximate]

    def __repr__(self) -> str:
        lines = [f"<{self.title}{', approximate' * self.approximate}>"]
        columns = [[label_of(item) or "(empty)" for item in self.items.tolist()[:SHOWN]]]
        columns.append([self.written(value) for value in self.values.tolist()[:SHOWN]])
        if self.variance is not None:
            low, high = ([self.written(end) for end in side.tolist()[:SHOWN]] for side in self.interval())
            columns.append([f"[{a}, {b}]" for a, b in zip(low, high, strict=True)])
        lines += [f"  {line}" for line in text_table(columns)]
        return "\n".join([*lines, *[f"  ... and {len(self) - SHOWN:,} more"] * (len(self) > SHOWN)])


_MISSED = 1 - 0.95
_TOGETHER = "The largest are shown. The intervals of all items contain the truth at once with a probability of 95 %."
_APPROXIMATE = "Variances and intervals are approximate (delta method)."


@dataclass(frozen=True, eq=False, repr=False)
class Shares(Derived):
    """Shares of items among the users of a crowd, or in the population of which the crowd is a random sample."""

    counts: Measured | None = None
    n: int = 0

    def moved_by_fakes(self, share: float = 0.01) -> Reach:
        if self.counts is None:
            raise no_bound()
        counts = self.counts.moved_by_fakes(share)
        return Reach(counts.low / self.n, counts.high / self.n)

    def shared_with(self, other: Basis, *, adds: bool = False) -> Floats:
        if self.counts is None:
            return super().shared_with(other, adds=adds)
        return self.counts.shared_with(other, adds=adds) / self.n**2

    def taken(self, places: npt.NDArray[np.intp]) -> Shares:
        taken = super().taken(places)
        assert isinstance(taken, Shares)
        return replace(taken, counts=None if self.counts is None else self.counts.taken(places))

    def __sub__(self, other: object) -> Derived:
        return difference(self, other) if isinstance(other, Shares) else NotImplemented

    def __truediv__(self, other: object) -> Derived:
        return ratio(self, other) if isinstance(other, Shares) else NotImplemented


def shares_of(counts: Measured, n: int, of: Whose = "crowd") -> Shares:
    """Shares of items, derived from their counts among n users; of a population, with the variance of sampling."""
    if of not in ("crowd", "population"):
        raise ParameterError(f'of: expected "crowd" or "population", got {shown(of)}')
    _expect_unselected(counts)
    if n == 0:
        raise StateError("shares of zero reports are undefined")
    values = counts.values / n
    variance = None if counts.variance is None else counts.variance / n**2
    name = "shares"
    if of == "population":
        name = "shares of the population"
        variance = None if variance is None else variance + of_sample(values, n)
    return Shares(counts.items, values, variance, name, "share", percent=True, counts=counts, n=n, basis=counts.basis)


def difference(one: Measured, other: Measured) -> Derived:
    """Derived numbers: one minus the other, item by item, for estimates from different reports."""
    other = aligned_with(one, other)
    variance = None
    if one.variance is not None and other.variance is not None:
        variance = of_sum((one.variance, other.variance), _shared(one, other))
    return replace(_derived(one, other, one.values - other.values, variance, "difference"), sides=(one, other))


def ratio(one: Measured, other: Measured) -> Derived:
    """Derived numbers: one divided by the other, item by item; their variances are those of the delta method.

    Without a variance, and where the denominator is not clearly positive, the interval is unbounded.
    """
    other = aligned_with(one, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = one.values / other.values
    variance = None
    if one.variance is not None and other.variance is not None:
        variance = of_ratio(one.values, other.values, (one.variance, other.variance), _shared(one, other))
    return replace(_derived(one, other, values, variance, "ratio"), approximate=True, percent=False)


def _derived(one: Measured, other: Measured, values: Floats, variance: Floats | None, name: str) -> Derived:
    percent = isinstance(one, Derived) and one.percent
    basis = (one.basis | other.basis).changed
    return Derived(one.items, values, variance, f"{name}s of {one.quantities}", name, percent=percent, basis=basis)


def _shared(one: Measured, other: Measured) -> tuple[Floats, Floats]:
    return one.shared_with(other.basis), other.shared_with(one.basis)


def aligned_with(one: Measured, other: Kind) -> Kind:
    """The other derived numbers in the order of the one's items. Raises unless no law forbids to compute with both."""
    if one.quantities != other.quantities:
        raise ParameterError(f"expected numbers of the same kind, got {one.quantities} and {other.quantities}")
    _expect_unselected(one)
    _expect_unselected(other)
    if one is other:
        raise StateError("expected estimates from different reports, got the same estimates twice")
    one.basis.expect_apart(other.basis)
    return other.aligned(one.items)


def _expect_unselected(numbers: Measured) -> None:
    # Whatever is computed from selected estimates would need an interval that allows for the selection.
    if numbers.selected:
        raise StateError(
            "expected estimates of items chosen beforehand, got items that were selected for large estimates; compute "
            "with the estimates before top() or search(), or estimate these items from other reports"
        )
