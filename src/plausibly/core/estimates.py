"""Estimated counts with their variance, and what people do with them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import ParameterError, StateError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimates:
    """Unbiased counts of items, each with its variance.

    ``values`` are counts, not fractions, and may be negative: noise is centred on the truth. ``variance`` is None
    after a step that has no honest one. ``complete`` says whether the items are the whole domain.
    """

    items: npt.NDArray[Any]
    values: Floats
    variance: Floats | None
    n: int
    complete: bool
    history: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def fractions(self) -> Floats:
        """The estimates as shares of the n reports."""
        if self.n == 0:
            raise StateError("fractions of zero reports are undefined")
        return self.values / self.n

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every item, not clipped."""
        if not 0 < level < 1:
            raise ParameterError(f"level: expected a number strictly between 0 and 1, came {level!r}")
        if self.variance is None:
            raise StateError(f"no variance, hence no interval, after {' and '.join(self.history)}")
        half = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(self.variance)
        return self.values - half, self.values + half

    def top(self, k: int) -> Estimates:
        """The k largest estimates, largest first (ties in the order of the domain)."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ParameterError(f"k: expected a positive integer, came {k!r}")
        order = np.argsort(-self.values, kind="stable")[:k]
        return self._take(order, f"top {k}")

    def _take(self, order: npt.NDArray[np.intp], step: str) -> Estimates:
        variance = None if self.variance is None else self.variance[order]
        complete = self.complete and len(order) == len(self)
        return Estimates(self.items[order], self.values[order], variance, self.n, complete, (*self.history, step))

    def to_frame(self, level: float = 0.95) -> DataFrame:
        """A pandas DataFrame: item, estimate, and where there is a variance the standard error and interval."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install 'plausibly[frames]'") from error
        columns: dict[str, Any] = {"item": self.items, "estimate": self.values}
        if self.variance is not None:
            low, high = self.interval(level)
            columns |= {"standard_error": np.sqrt(self.variance), "low": low, "high": high}
        return DataFrame(columns)

    def plot(self, ax: Axes | None = None, *, k: int = 20, level: float = 0.95) -> Axes:
        """A bar chart of the k largest estimates with their intervals, as matplotlib axes."""
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() needs matplotlib: pip install 'plausibly[plots]'") from error
        axes: Axes = pyplot.subplots(figsize=(8, 0.32 * min(k, len(self)) + 1.2))[1] if ax is None else ax
        shown = self.top(k)
        rows = np.arange(len(shown))
        axes.barh(rows, shown.values, color="#4477aa", height=0.7)
        if shown.variance is not None:
            low, high = shown.interval(level)
            errors = np.stack([shown.values - low, high - shown.values])
            axes.errorbar(shown.values, rows, xerr=errors, fmt="none", ecolor="#222222", elinewidth=1, capsize=2)
            axes.set_xlabel(f"estimated count, {level:.0%} interval ({self.n:,} reports)")
        else:
            axes.set_xlabel(f"estimated count ({self.n:,} reports)")
        axes.set_yticks(rows, [str(item) for item in shown.items])
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
        return axes
