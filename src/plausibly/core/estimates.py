"""Estimated counts with their variances, and the usual operations on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import ParameterError, StateError
from .history import Applied, History, history_text, selection
from .selection import Selection, of_largest
from .steps import apply, find_step
from .tails import Noise
from .wording import count_text, interval_texts, label_of, plural, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Floats = npt.NDArray[np.float64]


_SHOWN = 10
_INK, _BARS, _FAINT, _GRID = "#222222", "#4477aa", "#666666", "#dddddd"
_HOLLOW = "\nhollow: cannot be told apart from noise; the line ends at the upper bound"


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Unbiased counts of items, each with its variance.

    ``values`` are counts, not fractions, and may be negative: noise is centred on the truth. ``variance`` is None
    after a step for which none is known. ``complete`` says whether the items are the whole domain. ``history`` lists
    the steps that produced the estimates. ``ends`` has the least and the most that one report adds to an estimate; it
    tells how skewed the noise is.
    """

    items: npt.NDArray[Any]
    values: Floats
    variance: Floats | None
    n: int
    complete: bool
    history: History = ()
    selection: Selection | None = None
    ends: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'item')} from {plural(self.n, 'report')}"
        steps = "".join(f", {step}" for step in self.history)
        if len(self) == 0:
            return f"<estimates of {size}{steps}>"
        shown = self.largest(_SHOWN)
        digits = 0 if self.n >= 1000 else 1
        columns = [["item", *map(label_of, shown.items)], ["estimate", *_numbers(shown.values, digits)]]
        if shown.variance is not None:
            columns.append(["95 % interval", *interval_texts(*shown.interval(), shown.significant, digits)])
        widths = [max(map(len, column)) for column in columns]
        lines = [f"<estimates of {size}{steps}{', the largest' if len(self) > _SHOWN else ''}>"]
        for name, *numbers in zip(*columns, strict=True):
            cells = [f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([f"  {name:<{widths[0]}}", *cells]))
        if len(self) > _SHOWN:
            lines.append(f"  ... and {len(self) - _SHOWN:,} more")
        return "\n".join(lines)

    @property
    def fractions(self) -> Floats:
        """The estimates as shares of the n reports."""
        if self.n == 0:
            raise StateError("fractions of zero reports are undefined")
        return self.values / self.n

    def interval(self, level: float = 0.95, *, plain: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every estimate, not clipped.

        If the items were selected for large estimates, by ``top`` or by a search, the intervals take this into
        account: they contain the truth as often as they say among the items selected, and an item that is not
        ``significant`` has an upper bound only, from 0. ``plain``: intervals for items chosen beforehand.
        """
        if not isinstance(level, Real) or not 0 < level < 1:
            raise ParameterError(f"level: expected a number strictly between 0 and 1, got {shown(level)}")
        if self.variance is None:
            raise StateError(f"no variance, hence no interval, after {history_text(self.history)}")
        if self.selection is not None and not plain:
            return self.selection.interval(self.values, np.sqrt(self.variance), float(level))
        half = -NormalDist().inv_cdf((1 - level) / 2) * np.sqrt(self.variance)
        return self.values - half, self.values + half

    @property
    def significant(self) -> npt.NDArray[np.bool_] | None:
        """Whether each selected item can be told apart from noise; None if the items were not selected.

        The chance that any item without holders is called significant is at most 5 %.
        """
        return None if self.selection is None else self.selection.told(self.values)

    def top(self, k: int = 10) -> Estimates:
        """The k largest estimates, largest first (ties in the order of the domain).

        Items selected for large estimates owe something to luck, and tend to be overestimated. Their intervals allow
        for that (see ``interval``), and ``significant`` marks those that can be told apart from noise.
        """
        order = np.argsort(-self.values, kind="stable")[: number_of_items(k)]
        return self._ordered(order, selection("top", k=int(k)))

    def largest(self, k: int) -> Estimates:
        """The k largest estimates, to show: ``top``, without a step in the history if these are all."""
        if number_of_items(k) < len(self):
            return self.top(k)
        return self._ordered(np.argsort(-self.values, kind="stable"))

    def _ordered(self, order: npt.NDArray[np.intp], *steps: Applied) -> Estimates:
        return self._picked(order, self._selection_of(order), *steps)

    def _picked(self, order: npt.NDArray[np.intp], selected: Selection | None, *steps: Applied) -> Estimates:
        variance = None if self.variance is None else self.variance[order]
        complete, history = self.complete and len(order) == len(self), (*self.history, *steps)
        return Estimates(
            self.items[order], self.values[order], variance, self.n, complete, history, selected, self.ends
        )

    def _selection_of(self, order: npt.NDArray[np.intp]) -> Selection | None:
        before = None if self.selection is None else self.selection.take(order)
        if self.variance is None or len(order) == len(self):
            return before
        noise = Noise.of_reports(np.sqrt(self.variance), self.n, self.ends)
        largest = of_largest(self.values, noise, order, total=self.complete)
        return largest if before is None else before.above(largest.least)

    def postprocess(self, name: str, **options: Any) -> Estimates:
        """New estimates after a step of ``plausibly.POSTPROCESS``, by its name: ``postprocess("norm-sub")``.

        Steps trade bias for less noise. Most are not linear and leave no variance, hence no interval.
        """
        step = find_step(name)
        applied = step.checked(options)
        if step.needs_total and not self.complete:
            raise StateError(f"{name} needs every item of the domain, got a part; estimate the whole domain first")
        if step.needs_variance and self.variance is None:
            gone = f"is gone after {history_text(self.history)}" if self.history else "these estimates do not have"
            raise StateError(f"{name} needs the variance, which {gone}; apply it to estimates that still have one")
        values, variance = apply(name, self.values, self.n, self.variance, **options)
        if self.selection is not None and variance is not None:
            raise StateError(f"{name} changes estimates whose items are already selected; apply it before top()")
        return replace(self, values=values, variance=variance, history=(*self.history, applied))

    def to_frame(self, level: float = 0.95) -> DataFrame:
        """The estimates as a pandas DataFrame; with a variance, also the standard error and the interval."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas") from error
        columns: dict[str, Any] = {"item": self.items, "estimate": self.values}
        if self.variance is not None:
            low, high = self.interval(level)
            columns |= {"standard_error": np.sqrt(self.variance), "low": low, "high": high}
        if self.selection is not None:
            columns["significant"] = self.significant
        return DataFrame(columns)

    def plot(self, ax: Axes | None = None, *, k: int = 20, level: float = 0.95) -> Axes:
        """A bar chart of the k largest estimates with their intervals, as matplotlib axes.

        Bars of items that are not ``significant`` are hollow, and their lines go from 0 to the upper bound.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
        shown = self.largest(k)
        rows = np.arange(len(shown))
        if ax is None:
            ax = pyplot.subplots(figsize=chart_size(len(shown)), layout="constrained")[1]
        ax.set_axisbelow(True)
        ax.grid(axis="x", color=_GRID, linewidth=0.6)
        told = np.full(len(shown), True) if shown.significant is None else shown.significant
        fills = np.where(told, _BARS, "white").tolist()
        ax.barh(rows, shown.values, color=fills, edgecolor=_BARS, linewidth=0.8, height=0.7)
        ax.axvline(0, color=_INK, linewidth=0.8)
        if shown.variance is not None:
            low, high = shown.interval(level)
            errors = np.stack([shown.values - low, high - shown.values])
            ax.errorbar(shown.values, rows, xerr=errors, fmt="none", ecolor=_INK, elinewidth=1, capsize=2)
            label = f"estimated count, {100 * level:g} % interval ({self.n:,} reports)"
            ax.set_xlabel(label + _HOLLOW * (not told.all()))
        else:
            ax.set_xlabel(f"estimated count ({self.n:,} reports)")
        # A label with dollar signs is not a formula.
        ax.set_yticks(rows, [label_of(item) or "(empty)" for item in shown.items], parse_math=False)
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.locator_params(axis="x", nbins=6)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        if self.n:
            _add_shares(ax, self.n)
        return ax


def chart_size(bars: int) -> tuple[float, float]:
    """Width and height in inches of a chart by ``Estimates.plot`` with ``bars`` bars."""
    return 8.0, 0.3 * bars + 1.4


def _add_shares(ax: Axes, n: int) -> None:
    # A second scale at the top, in percent of the reports.
    top = ax.secondary_xaxis("top", functions=(partial(np.multiply, 100 / n), partial(np.multiply, n / 100)))
    top.set_xlabel("share of the reports", color=_FAINT)
    top.xaxis.set_major_formatter("{x:g} %")
    top.locator_params(axis="x", nbins=6)
    top.tick_params(axis="x", colors=_FAINT, length=3)
    top.spines[:].set_visible(False)


def number_of_items(k: object) -> int:
    """The given number of items to show of the estimates, checked."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"k: expected a positive integer, got {shown(k)}")
    return int(k)


def _numbers(values: Floats, digits: int) -> list[str]:
    return [count_text(value, digits) for value in values]
