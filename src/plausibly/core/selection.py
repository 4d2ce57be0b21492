"""Intervals that stay valid for items chosen because of their estimates.

The largest of many estimates is large partly by luck, so an interval around it is wrong more often than it says. Three
answers are combined, item by item (docs/adr/0025-intervals-after-selection.md):

* Conditional: among collections in which the item is chosen, its estimate follows a normal law cut off at the least
  value with which it would have been chosen. Intervals by that law are valid however the choice was made, and far above
  the cut they are the plain ones.
* Simultaneous: intervals so wide that those of all items that could have been chosen hold at once limit the others.
* One-sided: an item whose estimate noise alone could explain gets an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from .tails import Unheld, normal_scores, normal_tail

Floats = npt.NDArray[np.float64]

TOLD = 0.05
"""Level at which an item is told apart from noise: the chance that any item without holders passes."""
_CUT = 0.2
"""Intervals are conditional on an estimate that noise alone reaches, for any of the items, with this probability. With
``TOLD`` itself, estimates that just pass are closer to the cut, and their intervals are an eighth wider."""
_RESERVED = 0.1
"""Part of the error probability that is spent on the simultaneous intervals."""
_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class Selection:
    """What the estimates of chosen items had to be for these items to be chosen, and to be told apart from noise."""

    least: Floats
    """Smallest estimate with which each item would have been chosen and examined, given all other estimates."""
    needed: Floats
    """Smallest estimate that tells each item apart from noise."""
    weights: Floats
    """Part of the error probability of simultaneous intervals that each item gets; over all items that could have been
    chosen they add up to at most 1."""

    @classmethod
    def beyond(
        cls, least: Floats, noise: Unheld, weights: Floats, level: float | None = None, shift: Floats | float = 0.0
    ) -> Selection:
        """The selection of items above ``least``, given the noise of items without holders.

        ``level``: only items significant at this level were eligible. ``shift``: difference between the estimates and
        the numbers by which items were chosen.
        """
        cut = noise.least(min(_CUT, level or 1.0) * weights)
        return cls(np.maximum(least, cut) + shift, noise.least(TOLD * weights) + shift, weights)

    def take(self, order: npt.NDArray[np.intp]) -> Selection:
        """The selection of some of the items."""
        return Selection(*(getattr(self, field.name)[order] for field in fields(self)))

    def above(self, least: Floats | float) -> Selection:
        """The selection if, in addition, only estimates of at least ``least`` were eligible."""
        return replace(self, least=np.maximum(self.least, least))

    def sparing(self, count: int) -> Selection:
        """The selection if the last ``count`` items were not chosen for their estimates: their intervals are plain."""
        spared = np.arange(len(self.least)) >= len(self.least) - count
        least, needed = (np.where(spared, -np.inf, bound) for bound in (self.least, self.needed))
        return replace(self, least=least, needed=needed)

    def told(self, values: Floats) -> npt.NDArray[np.bool_]:
        """Mask of the chosen items that can be told apart from noise."""
        return np.asarray(values >= self.needed)

    def interval(self, values: Floats, errors: Floats, level: float) -> tuple[Floats, Floats]:
        """Ends of intervals that are valid after the selection, given estimates with their standard errors."""
        spared = np.isneginf(self.needed)
        told = self.told(values) & ~spared
        low, high = np.zeros((2, len(values)))
        safe = np.where(errors > 0, errors, 1.0)
        z, least, needed = values / safe, self.least / safe, self.needed / safe
        ends = _two_sided(z[told], least[told], self.weights[told], 1 - level)
        low[told], high[told] = (end * errors[told] for end in ends)
        # By the law of the cut, an estimate just above it speaks for far smaller counts only, and hardly ever occurs.
        high[told] = np.maximum(high[told], values[told])
        # The number of holders is not negative.
        bound = ~told & ~spared
        high[bound] = np.maximum(_upper(z[bound], needed[bound], 1 - level) * errors[bound], 0.0)
        half = normal_scores(np.array([(1 - level) / 2])) * errors[spared]
        low[spared], high[spared] = values[spared] - half, values[spared] + half
        certain = errors == 0
        low[certain] = high[certain] = values[certain]
        return low, high


def of_largest(
    values: Floats, noise: Unheld, chosen: npt.NDArray[np.intp], *, total: bool = False, level: float | None = None
) -> Selection:
    """The selection of the largest estimates, given the noise of items without holders.

    ``total``: the true counts of all items have a known sum. ``level``: only items that are significant at this level
    were eligible.
    """
    noise = noise.picked(chosen)
    count = max(len(values), 1)
    own, weights = values[chosen], np.full(len(chosen), 1 / count)
    beaten = np.delete(values, chosen)
    least = np.full(len(chosen), beaten.max() if len(beaten) else -np.inf)
    if total and len(beaten):
        # If one estimate is larger, the others are smaller on average.
        least = own - (own - least) * (count - 1) / count
    # Estimates move in steps: to be the largest, one had to exceed the middle between two steps.
    return Selection.beyond(least - noise.steps / 2, noise, weights, level)


def _two_sided(z: Floats, least: Floats, weights: Floats, alpha: float) -> tuple[Floats, Floats]:
    # The hybrid of Andrews, Kitagawa and McCloskey (2024): conditional on the cut and on the simultaneous interval.
    reserved = _RESERVED * alpha
    within = normal_scores(reserved * weights / 2)
    rest = (alpha - reserved) / (1 - reserved)

    def chance_above(true: Floats) -> Floats:
        # Chance of a larger estimate, by the law of a chosen item with the given count, in standard errors.
        lower, upper = normal_tail(np.maximum(least - true, -within)), normal_tail(within)
        chance = (normal_tail(z - true) - upper) / np.maximum(lower - upper, 1e-300)
        return np.asarray(np.clip(chance, 0.0, 1.0))

    low = _root(lambda true: chance_above(true) >= rest / 2, z - within, z + within)
    high = _root(lambda true: chance_above(true) >= 1 - rest / 2, z - within, z + within)
    return low, high


def _upper(z: Floats, most: Floats, alpha: float) -> Floats:
    # Upper bound of a count whose estimate stayed below ``most``, limited by the bound that ignores this.
    reserved = _RESERVED * alpha
    within = -NormalDist().inv_cdf(reserved)
    rest = (alpha - reserved) / (1 - reserved)

    def chance_below(true: Floats) -> Floats:
        # Chance of a smaller estimate, among those below ``most``.
        none = normal_tail(np.full(len(z), within))
        chance = (normal_tail(true - z) - none) / np.maximum(normal_tail(true - most) - none, 1e-300)
        return np.asarray(np.clip(chance, 0.0, 1.0))

    return _root(lambda true: chance_below(true) <= rest, z - within, z + within)


def _root(reached: Callable[[Floats], npt.NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    # Where a condition that holds from some value on begins to hold, by bisection.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        met = reached(middle)
        low, high = np.where(met, low, middle), np.where(met, middle, high)
    return (low + high) / 2
