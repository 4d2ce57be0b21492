"""Estimated counts with their variances, and the usual operations on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .arrangement import Arrangement
from .bar_chart import BarChart, chart_size
from .errors import ParameterError, StateError
from .history import Applied, History, Kind, history_text, selection
from .selection import Selection, of_largest
from .steps import apply, find_step
from .wording import count_text, interval_texts, label_of, plural, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Floats = npt.NDArray[np.float64]


_PLAIN = Arrangement()
_SHOWN, _BARS, _ORDERED = 10, 20, 31
"""Numbers of items in a printed table, in a chart, and in a chart of items that have an order of their own."""
MOST_BARS = 60
"""Largest number of bars in a chart."""


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Unbiased counts of items, each with its variance.

    ``values`` are counts, not fractions, and may be negative: noise is centred on the truth. ``variance`` is None
    after a step for which none is known. ``complete`` says whether the items are the whole domain. ``history`` lists
    the steps that produced the estimates.
    """

    items: npt.NDArray[Any]
    values: Floats
    variance: Floats | None
    n: int
    complete: bool
    history: History = ()
    selection: Selection | None = None
    arrangement: Arrangement = _PLAIN

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'item')} from {plural(self.n, 'report')}"
        steps = "".join(f", {step}" for step in self.history)
        if len(self) == 0:
            return f"<estimates of {size}{steps}>"
        shown = self.arranged(_SHOWN)
        digits = 0 if self.n >= 1000 else 1
        columns = [["item", *map(label_of, shown.items)], ["estimate", *_numbers(shown.values, digits)]]
        if shown.variance is not None:
            columns.append(["95 % interval", *interval_texts(*shown.interval(), shown.significant, digits)])
        widths = [max(map(len, column)) for column in columns]
        lines = [f"<estimates of {size}{steps}{', the largest' if len(self) > len(shown) else ''}>"]
        for name, *numbers in zip(*columns, strict=True):
            cells = [f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([f"  {name:<{widths[0]}}", *cells]))
        if len(self) > len(shown):
            lines.append(f"  ... and {len(self) - len(shown):,} more")
        return "\n".join(lines)

    @property
    def fractions(self) -> Floats:
        """The estimates as shares of the n reports."""
        if self.n == 0:
            raise StateError("fractions of zero reports are undefined")
        return self.values / self.n

    @property
    def standard_error(self) -> Floats:
        """Standard error of every estimate, the square root of its variance. Raises if there is none."""
        if self.variance is None:
            raise StateError(f"no variance, hence no standard error, after {history_text(self.history)}")
        return np.sqrt(self.variance)

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
        half = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(self.variance)
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
        order = np.argsort(-self.values, kind="stable")[: checked_k(k)]
        return self._ordered(order, selection("top", k=int(k)))

    @property
    def usual_number(self) -> int:
        """Number of items that tables and charts show: 20, or up to 31 with an order of their own, such as days."""
        return _ORDERED if self.arrangement.ordered and len(self) <= _ORDERED else _BARS

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Mask of the item that takes all other values, which tables and charts show last and apart."""
        other = self.arrangement.other
        return np.array([other is not None and item == other for item in self.items.tolist()], dtype=np.bool_)

    def arranged(self, k: int) -> Estimates:
        """The k largest estimates as tables and charts show them: ordered items in their order if all are shown.

        The item for all other values is one more, at the end. Since it is always shown, its interval is a plain one.
        """
        listed, last = np.flatnonzero(~self.apart), np.flatnonzero(self.apart)
        order = listed[np.argsort(-self.values[listed], kind="stable")]
        if k < len(order):
            return self._ordered(np.concatenate([order[:k], last]), selection("top", k=k), spared=len(last))
        if self.arrangement.ordered and not any(step.kind is Kind.SELECTION for step in self.history):
            order = listed[np.argsort(self.items[listed], kind="stable")]
        return self._ordered(np.concatenate([order, last]))

    def _ordered(self, order: npt.NDArray[np.intp], *steps: Applied, spared: int = 0) -> Estimates:
        # ``spared``: number of items at the end that were not selected for large estimates.
        variance = None if self.variance is None else self.variance[order]
        complete = self.complete and len(order) == len(self)
        history, selected = (*self.history, *steps), self._selection_of(order, spared)
        return Estimates(
            self.items[order], self.values[order], variance, self.n, complete, history, selected, self.arrangement
        )

    def _selection_of(self, order: npt.NDArray[np.intp], spared: int) -> Selection | None:
        before = None if self.selection is None else self.selection.take(order)
        if self.variance is None or len(order) == len(self):
            return before
        largest = of_largest(self.values, np.sqrt(self.variance), order, total=self.complete).sparing(spared)
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

    def plot(
        self,
        ax: Axes | None = None,
        *,
        k: int | None = None,
        level: float = 0.95,
        title: str | None = None,
        unit: str = "users",
    ) -> Axes:
        """A bar chart of the k largest estimates with their intervals, as matplotlib axes.

        Items that have an order of their own, such as numbers, are drawn in that order if all are drawn. The item for
        all other values is drawn last and apart. Bars of items that are not ``significant`` are hollow, and their lines
        go from 0 to the upper bound. ``unit`` names what is counted, in the plural.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
        drawn = self.chart(k, level=level, title=title, unit=unit)
        if ax is None:
            ax = pyplot.subplots(figsize=chart_size(len(drawn.labels)), layout="constrained")[1]
        drawn.draw(ax)
        return ax

    def chart(
        self, k: int | None = None, *, level: float = 0.95, title: str | None = None, unit: str = "users"
    ) -> BarChart:
        """The bar chart that ``plot`` draws."""
        shown = self.arranged(self.usual_number if k is None else checked_k(k))
        return BarChart(
            [label_of(item) or "(empty)" for item in shown.items],
            shown.values,
            None if shown.variance is None else shown.interval(level),
            np.full(len(shown), True) if shown.significant is None else shown.significant,
            shown.apart,
            level,
            shown.n,
            unit,
            title,
        )


def _numbers(values: Floats, digits: int) -> list[str]:
    return [count_text(value, digits) for value in values]


def checked_k(k: object) -> int:
    """A number of estimates to select. Raises unless it is a positive integer."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"k: expected a positive integer, got {shown(k)}")
    return int(k)
