"""Estimated counts of items that have an order, and the questions that only an order allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .binning import bins_by_noise, bins_for_eyes, expect_bins
from .domain import InOrder, object_array
from .domain.scales import Mark, exact
from .errors import ParameterError, StateError
from .estimates import Estimates
from .history import Applied, Kind, history_text
from .isotonic import rising
from .laws import CLEAR, Floats
from .linear import Added, Linear
from .measured import Row
from .ordered_answers import Distribution, Histogram, MeanAnswer, Prefixes, Quantiles, RangeCounts
from .steps import find_step
from .wording import shown
from .words import Setting, Words, kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 31
"""Number of items up to which each has its own bar."""
_NUMBERS = 1 << 22
"""Size of the arrays in which questions are asked together."""


@dataclass(frozen=True, eq=False, repr=False)
class OrderedEstimates(Estimates):
    """Unbiased counts of items in order, each with its variance.

    ``ranges``, ``cdf``, ``quantiles`` and ``mean`` answer questions about the order, with intervals. ``order`` is the
    domain of the items. ``linear`` answers questions about sums of counts; None if the scheme has no law for them, or
    after a step that leaves none. After ``postprocess("monotone")`` the answers come from the changed counts, and
    their intervals from the unchanged ones. If the error of all counts is unknown, because a decoder does more than add
    up, the answers have no intervals.
    """

    order: InOrder | None = None
    linear: Linear | None = None

    @property
    def in_order(self) -> bool:
        return self.order is not None and self.complete

    def __add__(self, other: object) -> Any:
        """Counts in both crowds together, with the sums of both laws."""
        if isinstance(other, OrderedEstimates) and self.order is not None and other.order is not None:
            _expect_one_unit(self.order, other.order)
        added = super().__add__(other)
        if not isinstance(added, OrderedEstimates):
            return added
        both = None
        if isinstance(other, OrderedEstimates) and self.linear is not None and other.linear is not None:
            both = Added((self.linear, other.linear))
        return replace(added, linear=both)

    def postprocess(self, name: str, **options: Any) -> Estimates:
        changed = super().postprocess(name, **options)
        assert isinstance(changed, OrderedEstimates)
        kept = find_step(name).needs_order or np.array_equal(changed.values, self.values)
        return changed if kept else replace(changed, linear=None)

    def fitted(self, values: Floats, step: Applied) -> Estimates:
        changed = super().fitted(values, step)
        assert isinstance(changed, OrderedEstimates)
        return replace(changed, linear=None)

    # --- questions --------------------------------------------------------------------------------------------

    def ranges(self, ranges: Iterable[tuple[Any, Any]]) -> RangeCounts:
        """Numbers of users whose value is in each range, given by its two ends, both included, in the domain's units.

        For bins, the ends are the lower edge of the first bin and the upper edge of the last one.
        """
        pairs = [_expect_pair(each) for each in _listed("ranges", ranges, "pairs such as (18, 24)")]
        order = self._order
        codes = np.array([order.places(low, high) for low, high in pairs], dtype=np.int64)
        return self._counted(codes)

    def _counted(self, codes: npt.NDArray[np.int64]) -> RangeCounts:
        order = self._order
        names = object_array(range_name(order, first, last) for first, last in codes.tolist())
        given = order, self.n, self.history, self.cautions, self.levers
        sums = np.concatenate([[0.0], np.cumsum(self.values[: order.length])])
        counts = sums[codes[:, 1] + 1] - sums[codes[:, 0]]
        centres, variance = (counts, None) if self._unmeasured else self._sums_by_law(codes)
        values = counts if self._changed else centres
        return RangeCounts(names, values, variance, *given, centres=centres, codes=codes, basis=self.basis.changed)

    def _sums_by_law(self, codes: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        # The unbiased counts of ranges of codes, and their variances.
        linear, items = self._asked(), np.arange(len(self))
        size = max(1, _NUMBERS // len(items))
        answers = []
        for part in (codes[first : first + size] for first in range(0, len(codes), size)):
            inside = (items >= part[:, :1]) & (items <= part[:, 1:])
            answers.append(linear.weighted(inside.astype(np.float64)))
        centres, variances = (np.concatenate(each) for each in zip(*answers, strict=True))
        return centres, variances

    def binned(self, bins: Any = "auto") -> Histogram:
        """Numbers of users in bins that follow each other.

        ``bins``: ``"auto"`` for as many as the noise allows; their number; or their edges, where an edge belongs to the
        bin above it, and the last one to the last bin. The result says why it has this many bins.
        """
        order, reason = self._order, ""
        codes = expect_bins(order, bins)
        if codes is None and self._unmeasured:
            codes, reason = bins_for_eyes(order)
        elif codes is None:
            codes, reason = bins_by_noise(order, self._users_in_order, lambda some: self._counted(some).standard_error)
        return Histogram(**vars(self._counted(codes)), reason=reason)

    def cdf(self, *, simultaneous: bool = False) -> Distribution:
        """The distribution function: for each item in order, the number of users whose value is at most that item.

        ``simultaneous``: its intervals are a band that contains the whole function with the stated probability.
        """
        order = self._order
        centres, variance = self._prefixes
        values = np.cumsum(self.values[: order.length]) if self._changed else centres
        stops = object_array(order.written(stop) for stop in order.scale.stops)
        given = order, self.n, self.history, self.cautions, self.levers, simultaneous
        return Distribution(stops, values, variance, *given, centres=centres, basis=self.basis.changed)

    def quantiles(self, shares: Iterable[float] = (0.25, 0.5, 0.75)) -> Quantiles:
        """Quantiles of the values of users: the smallest value that each share of the users do not exceed.

        The item for all other values does not count. An interval contains all items that the unprocessed distribution
        function allows.
        """
        asked = np.array([_expect_share(share) for share in _listed("quantiles", shares, "shares such as 0.5")])
        order, inside = self._order, self._users_in_order
        if inside <= 0:
            raise StateError("quantiles need users with a value in the order, got none according to the estimates")
        centres, variance = self._prefixes
        risen = rising(np.cumsum(self.values[: order.length]) if self._changed else centres, inside)
        values = _quantiles_of(risen, asked * inside, order)
        prefixes = None if variance is None else Prefixes(centres, np.sqrt(variance), inside, self._doubt)
        given = order, self.n, self.history, self.cautions, self.levers
        return Quantiles(
            object_array(asked.tolist()), values, None, *given, prefixes=prefixes, basis=self.basis.changed
        )

    def mean(self) -> Row:
        """The mean of the values of users, as one row: unbiased, with its exact variance.

        The item for all other values does not count; if there is one, the mean is a ratio of two estimates, and its
        variance that of the delta method. A bin counts with its midpoint.
        """
        return Row(self.mean_answer())

    def mean_answer(self) -> MeanAnswer:
        """The mean as a table of one row, like the other answers."""
        order, inside = self._order, self._users_in_order
        if inside <= 0:
            raise StateError("a mean needs users with a value in the order, got none according to the estimates")
        points = order.points()
        # Seen from the middle: if the estimated counts do not add up to n, large numbers would magnify that.
        middle = points[0] / 2 + points[-1] / 2
        value = float((points - middle) @ self.values[: order.length]) / inside
        ratio, variance = (value, None) if self._unmeasured else self._mean_by_law(points - middle, inside)
        value = value if self._changed else ratio
        return MeanAnswer(
            object_array(["mean"]),
            np.array([middle + value]),
            variance,
            order,
            self.n,
            self.history,
            self.cautions,
            self.levers,
            centres=np.array([middle + ratio]),
            approximate=self._doubt > 0,
            inside=inside,
            basis=self.basis.changed,
        )

    def _mean_by_law(self, points: Floats, inside: float) -> tuple[float, Floats]:
        # The mean of the points from the unbiased counts, and its variance.
        linear, weights = self._asked(), np.zeros((1, len(self)))
        weights[0, : len(points)] = points
        ratio = float(linear.weighted(weights)[0][0]) / inside
        # By the delta method, A/N has the variance of A - N*ratio, where N = n - (the count of the others).
        weights[0, len(points) :] = ratio
        variance = linear.weighted(weights)[1] / inside**2
        return ratio, variance if inside > CLEAR * self._doubt else np.full(1, np.inf)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        k: int | None = None,
        level: float = 0.95,
        title: str | None = None,
        unit: str = "users",
    ) -> Axes:
        """A histogram with as many bins as the noise allows, or a bar chart of the k largest estimates.

        Few items, mere codes, and estimates without a law of sums are drawn like others: see ``Estimates.plot``.
        """
        if k is None and self.binnable:
            return self.binned().plot(ax, level=level, title=title, unit=unit)
        return super().plot(ax, k=k, level=level, title=title, unit=unit)

    @property
    def binnable(self) -> bool:
        """Whether charts and tables show the items in bins, because there are many and their order means something."""
        return self.answerable and len(self) > max(self.usual_number, FEW)

    @property
    def answerable(self) -> bool:
        """Whether sums of counts can be estimated, and the order of the items means something."""
        counted = self.linear is not None or self._unmeasured
        return self.order is not None and self.order.meant and counted and self.n > 0

    # --- what they share --------------------------------------------------------------------------------------

    @property
    def _order(self) -> InOrder:
        if self.order is None:
            raise StateError("expected estimates of items in order, got others")
        return self.order

    @property
    def _changed(self) -> bool:
        # Whether a step has changed the counts and left the law of their sums.
        return self.variance is None

    @property
    def _unmeasured(self) -> bool:
        # Whether a decoder made counts whose error is unknown: answers are sums of them, without intervals.
        return self.linear is None and any(step.kind is Kind.DECODING for step in self.history)

    def known_variance(self) -> Floats:
        if self.variance is None and self._unmeasured and self._order.meant:
            after = history_text(self.history)
            raise StateError(f"no variance, hence no interval, after {after}; collect with SLIDE, which has intervals")
        return super().known_variance()

    @cached_property
    def _prefixes(self) -> tuple[Floats, Floats | None]:
        if self._unmeasured:
            return np.cumsum(self.values[: self._order.length]), None
        return self._asked().prefixes(self._order.length)

    @cached_property
    def _others(self) -> tuple[float, float]:
        # The count of the item outside the order, and its standard error.
        outside = np.zeros((1, len(self)))
        outside[0, self._order.length :] = 1.0
        if not outside.any():
            return 0.0, 0.0
        if self._unmeasured:
            return float(outside[0] @ self.values), 0.0
        values, variance = self._asked().weighted(outside)
        return float(values[0]), float(variance[0]) ** 0.5

    @property
    def _users_in_order(self) -> float:
        return self.n - min(max(self._others[0], 0.0), self.n)

    @property
    def _doubt(self) -> float:
        return self._others[1]

    def _asked(self) -> Linear:
        if self.linear is None:
            steps = [step for step in self.history if step.kind is Kind.POSTPROCESSING]
            after = f" after {history_text(tuple(steps))}; ask before that, or after monotone"
            scheme = "; collect with a scheme that has one, such as SLIDE"
            raise StateError(f"sums of counts have no law here{after if steps else scheme}")
        return self.linear


def in_order(found: Estimates, order: InOrder, linear: Linear | None) -> OrderedEstimates:
    """The estimates of all items of an ordered domain, ready for questions about their order."""
    given = {each.name: getattr(found, each.name) for each in fields(found)}
    return OrderedEstimates(**given, order=order, linear=linear)


def range_name(order: InOrder, first: int, last: int) -> str:
    """The name of the range from one ordered item to another, by their ends: "18..24"."""
    starts, stops = order.scale.starts, order.scale.stops
    return f"{order.written(starts[first])}..{order.written(stops[last])}"


def _expect_one_unit(one: InOrder, other: InOrder) -> None:
    # 35 years and 35 months are items of the same name.
    if one.unit and other.unit and one.unit != other.unit:
        raise ParameterError(f"expected estimates in the same unit, got {one.unit} and {other.unit}")


def _quantiles_of(risen: Floats, targets: Floats, order: InOrder) -> Floats:
    # Within a bin, users are taken to be spread evenly; a whole number is its own start and end.
    codes = np.searchsorted(risen, targets).clip(0, order.length - 1)
    before = np.where(codes > 0, risen[codes - 1], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.clip(np.nan_to_num((targets - before) / (risen[codes] - before)), 0.0, 1.0)
    starts = np.array([order.scale.starts[code] for code in codes.tolist()], dtype=np.float64)
    stops = np.array([order.scale.stops[code] for code in codes.tolist()], dtype=np.float64)
    found: Floats = starts + part * (stops - starts)
    return found


def _listed(name: str, given: Any, expected: str) -> Sequence[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ParameterError(Words(Setting(name), f": expected a list of {expected}, got ", kind_of(given)))
    found = list(given)
    if not found:
        raise ParameterError(Words(Setting(name), f": expected a list of {expected}, got an empty one"))
    return found


def _expect_pair(given: Any) -> tuple[Any, Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) != 2:
        raise ParameterError(Words(Setting("ranges"), f": expected pairs such as (18, 24), got {shown(given)}"))
    return given[0], given[1]


def _expect_share(given: Any) -> float:
    share = exact(given)
    if isinstance(share, Mark) or not 0 <= share <= 1:
        fix = f"; {given} % is {float(share) / 100:g}" if not isinstance(share, Mark) and 1 < share <= 100 else ""
        raise ParameterError(Words(Setting("quantiles"), f": expected shares from 0 to 1, got {shown(given)}{fix}"))
    return float(share)
