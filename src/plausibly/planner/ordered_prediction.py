"""Predicted errors of ranges and quantiles, for users who are spread evenly over the items in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt
from typing import cast

import numpy as np
import numpy.typing as npt

from ..core.bound import Workload
from ..core.domain import InOrder
from ..core.linear import Linear, predicted_of
from ..core.scheme import Scheme
from .prediction import Prediction

_AROUND = 0.1 * (np.arange(1, 6) * 0.6180339887 % 1 - 0.5)
"""Places around a quantile, as shares of the order: multiples of the golden ratio, which no tree favours."""


@dataclass(frozen=True)
class OrderedPrediction(Prediction):
    """Predicted variances of ranges, quantiles and single items, per user. Nobody has the item outside the order."""

    @property
    def order(self) -> InOrder:
        """The domain of the scheme."""
        return cast(InOrder, self.scheme.domain)

    @property
    def assumes(self) -> bool:
        # Schemes whose items collide have no law of ranges.
        return False

    @cached_property
    def _linear(self) -> Linear:
        found = linear_law(self.scheme)
        assert found is not None
        return found

    @cached_property
    def ranges(self) -> float:
        """Predicted mean variance over all ranges, per user."""
        return self._linear.range_variance(self.order.length)

    @property
    def times_bound(self) -> float:
        """The predicted variance of ranges as a multiple of the least possible one; infinite without a bound."""
        bound = Workload.of_ranges(self.order.length).bound(float(self.scheme.epsilon))
        return self.ranges / bound if bound else float("inf")

    @cached_property
    def _item(self) -> float:
        return self._asked(np.arange(self._linear.size)[None] == self.order.length // 2)

    def variance(self, n: int, frequency: float = 0.0) -> float:
        # That of the item in the middle, as common as all others: noise hardly depends on who holds it.
        return n * self._item

    def mean_variance(self, n: int) -> float:
        """Predicted mean variance over all ranges."""
        return n * self.ranges

    def quantile_variance(self, n: int, quantile: float) -> float:
        """Predicted variance of the number of users below a quantile, as its interval takes it."""
        return n * self._below(quantile) ** 2

    @lru_cache(maxsize=16)  # noqa: B019
    def _below(self, quantile: float) -> float:
        # Nobody knows the place beforehand: some around it stand for it, so that no end of a block is favoured.
        length, items = self.order.length, np.arange(self._linear.size)
        around = np.clip(quantile + _AROUND, 0.0, 1.0) * length
        places = np.clip(np.rint(around), 1, max(1, length - 1))
        error = sqrt(self._asked(items < places[:, None]))
        if self._linear.size > length:
            # How many users have a value in the order is estimated, too.
            error += quantile * sqrt(self._asked(items[None] < length))
        return error

    def _asked(self, holds: npt.NDArray[np.bool_]) -> float:
        return float(self._linear.weighted(holds.astype(np.float64))[1].mean())


def linear_law(scheme: Scheme) -> Linear | None:
    """The predicted law of all sums of counts for one user, who has any item in order; None if there is none."""
    order = cast(InOrder, scheme.domain)
    counts = np.zeros(order.size)
    counts[: order.length] = 1 / order.length
    return predicted_of(scheme.estimator(), counts, 1)


def half_range(order: InOrder, quantile: float, share: float) -> float:
    """Half the width of a predicted interval of a quantile, in the units of the domain; at least half an item.

    ``share``: half the width of the interval of the share of users below the quantile.
    """
    edges = order.edges()
    low, high = (quantile + sign * share for sign in (-1, 1))
    ends = np.interp([low * order.length, high * order.length], np.arange(len(edges)), edges)
    return max(float(ends[1] - ends[0]) / 2, half_item(order, quantile))


def half_item(order: InOrder, quantile: float) -> float:
    """Half the width of the item at a quantile, in the units of the domain: no interval of a quantile is shorter."""
    edges = order.edges()
    place = min(int(quantile * order.length), order.length - 1)
    return float(edges[place + 1] - edges[place]) / 2
