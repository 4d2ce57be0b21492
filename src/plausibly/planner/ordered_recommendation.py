"""A plan for values that have an order: the errors of ranges and quantiles, and how far they are from the best."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

from ..core.wording import percent, plural
from .ordered_prediction import OrderedPrediction, half_range
from .recommendation import Plan
from .targets import QuantileWithin, Within, quantile_name, share_of, two_sided

_ALMOST_NOTHING = 0.25
"""Half-width of a range's interval from which on a collection is hardly worth it."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OrderedPlan(Plan):
    """The plan of a collection of ordered values; errors are for users who are spread evenly over them.

    ``best.error`` is the root mean squared error over all ranges, and ``finds`` the share of users from which on a
    single value stands out. ``times_bound``: the mean variance of ranges as a multiple of the least possible one.
    """

    prediction: OrderedPrediction
    times_bound: float

    def range_half_width(self, confidence: float | str = 0.95, *, every: bool = False) -> float:
        """Half-width of the recommended scheme's interval for a range, on average over all, as a share of users."""
        length = self.prediction.order.length
        z = two_sided(share_of("confidence", confidence), length * (length + 1) // 2 if every else 1)
        return z * sqrt(self.prediction.mean_variance(self.users)) / self.users

    def quantile_half_width(self, quantile: float | str = 0.5, confidence: float | str = 0.95) -> float:
        """Half-width of the recommended scheme's interval for a quantile, in the units of the domain."""
        share, z = share_of("quantile", quantile), two_sided(share_of("confidence", confidence))
        room = z * sqrt(self.prediction.quantile_variance(self.users, share)) / self.users
        return half_range(self.prediction.order, share, room)

    @property
    def _half_widths(self) -> dict[str, float]:
        return {"range": self.range_half_width(), "median": self.quantile_half_width()}

    def to_dict(self) -> dict[str, Any]:
        """The plan for ordered values with the definition of its scheme, JSON-ready."""
        return super().to_dict() | {"times_bound": self.times_bound}

    @property
    def _target_text(self) -> str:
        if isinstance(self.target, QuantileWithin):
            return self.target.told(self._length(float(self.target.within)))
        assert isinstance(self.target, Within)
        together = ", all ranges at once" if self.target.every else ""
        sure = f"with {percent(self.target.confidence)} confidence"
        return f"±{percent(self.target.share)} for the share of a range {sure}{together}"

    def _length(self, distance: float) -> str:
        return self.prediction.order.scale.length_text(distance)

    def _about(self, quantile: float) -> str:
        # Two digits: the crowd is an assumption.
        width = self.quantile_half_width(quantile, self.confidence)
        return f"{quantile_name(quantile)} to about ±{self._length(float(f'{width:.2g}'))}"

    @property
    def _quantile(self) -> float:
        return float(self.target.quantile) if isinstance(self.target, QuantileWithin) else 0.5

    @property
    def verdict(self) -> str:
        """How well the recommended scheme knows ranges and the median, in one sentence."""
        half = self.range_half_width(self.confidence)
        known = f"known to ±{percent(half)}, {self._about(self._quantile)}"
        if half >= _ALMOST_NOTHING:
            return f"This plan shows almost nothing: a range's share is only {known}."
        return f"A range's share is {known}, if users are spread evenly."

    def facts(self) -> list[tuple[str, str]]:
        """Expected errors of ranges and quantiles, and costs, as names and values."""
        best, n, items = self.best, self.users, self.prediction.order.length
        sure = percent(self.confidence)
        stands = f"a single value stands out from {percent(self.finds)} of the users on ({sure} confidence)"
        bound = f"{self.times_bound:.2f} times the least possible variance of ranges"
        return [
            *self._targeted(),
            ("error", f"±{best.error:,.0f} users, {percent(best.error / n)} (RMSE over all ranges)"),
            (f"{sure} interval", f"±{percent(self.range_half_width(self.confidence))} for a range, on average"),
            ("quantiles", self._about(self._quantile)),
            ("best possible", bound if self.times_bound < inf else "unknown: the bound is 0 for this ε"),
            ("finds", stands if self.finds < 1 else "no single value stands out"),
            *self._paid("the count of a single value"),
            ("assumed", f"users are spread evenly over the {plural(items, 'item')} in order"),
        ]
