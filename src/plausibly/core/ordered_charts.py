"""Charts of answers about an order: histogram, distribution function and quantiles, drawn on matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from .bar_chart import BARS, FAINT, GRID, INK, hide_spines
from .domain import InOrder
from .wording import plural, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]

_BAND = "#c5d5e6"
_WIDE, _NARROW = 8.0, 4.2
_FEW, _FEW_NARROW = 40, 24
"""Numbers of bars up to which their intervals have caps."""


class Drawn(Protocol):
    """A chart that can be drawn on axes."""

    def draw(self, ax: Axes, *, narrow: bool = False) -> None:
        """Draw the chart on axes; if ``narrow``, for the width of a telephone."""

    @property
    def height(self) -> float:
        """Height of the chart in inches."""
        ...


@dataclass(frozen=True, eq=False)
class Caption:
    """The words of a chart of ordered values: what is counted, the level, the number of reports, title and remark."""

    level: float
    n: int
    unit: str = "users"
    title: str | None = None
    remark: str = ""

    def interval(self, ends: Ends | None, *, band: bool = False) -> str:
        """The kind of the intervals in the chart."""
        if ends is None:
            return "no interval"
        return f"{100 * self.level:g} % {'band' if band else 'interval'}"

    def written(self, what: str, narrow: bool) -> str:
        """The caption below the chart: what is drawn, and the number of reports."""
        told = f"{what} ({plural(self.n, 'report')})"
        return "\n".join(fill(line, 36 if narrow else 88) for line in (told, self.remark) if line)

    def write_title(self, ax: Axes) -> None:
        """Write the title above the axes."""
        if self.title is not None:
            ax.set_title(visible(self.title), loc="left", fontweight="bold", parse_math=False, wrap=True)


@dataclass(frozen=True, eq=False)
class HistogramChart:
    """Counts of ranges as bars over their edges. If the ranges differ in width, the areas are the counts."""

    order: InOrder
    edges: Ends
    values: Floats
    ends: Ends | None
    caption: Caption

    @property
    def height(self) -> float:
        """Height of the histogram in inches."""
        return 4.2

    @property
    def hollow(self) -> npt.NDArray[np.bool_]:
        """Mask of the bars whose intervals contain 0."""
        if self.ends is None:
            return np.zeros(len(self.values), dtype=np.bool_)
        return (self.ends[0] <= 0) & (self.ends[1] >= 0)

    def draw(self, ax: Axes, *, narrow: bool = False) -> None:
        """Draw the histogram on axes; if ``narrow``, for the width of a telephone."""
        low, high = self.edges
        width = high - low
        usual = float(np.median(width))
        factor = usual / width
        even = bool(np.allclose(factor, 1.0))
        values = self.values * factor
        middle = low / 2 + high / 2
        ax.set_axisbelow(True)
        ax.grid(axis="y", color=GRID, linewidth=0.6)
        fills = np.where(self.hollow, "white", BARS).tolist()
        # Many narrow bars would disappear behind the caps of their intervals.
        line, ink, cap = (0.5, FAINT, 0) if len(values) > (_FEW_NARROW if narrow else _FEW) else (1.0, INK, 2)
        ax.bar(middle, values, width=0.94 * width, color=fills, edgecolor=BARS, linewidth=0.8 * line)
        if self.ends is not None:
            errors = _lengths(values, (self.ends[0] * factor, self.ends[1] * factor))
            ax.errorbar(middle, values, yerr=errors, fmt="none", ecolor=ink, elinewidth=line, capsize=cap)
        ax.axhline(0, color=INK, linewidth=0.8)
        unit = visible(self.caption.unit)
        per = "" if even else f" per {visible(self.order.scale.length_text(usual))}"
        hollow = "\nhollow: the interval contains 0" * bool(self.hollow.any())
        _axis_of_values(
            ax,
            self.order,
            self.caption.written(f"estimated {unit}{per}, {self.caption.interval(self.ends)}", narrow) + hollow,
            narrow,
        )
        ax.yaxis.set_major_formatter("{x:,.0f}")
        if even and self.caption.n:
            _shares_on_the_right(ax, self.caption.n)
        self.caption.write_title(ax)


@dataclass(frozen=True, eq=False)
class DistributionChart:
    """A distribution function with its band. ``starts`` and ``stops``: where the items begin and end."""

    order: InOrder
    starts: Floats
    stops: Floats
    values: Floats
    ends: Ends | None
    simultaneous: bool
    caption: Caption

    @property
    def height(self) -> float:
        """Height of the distribution function in inches."""
        return 4.2

    def draw(self, ax: Axes, *, narrow: bool = False) -> None:
        """Draw the distribution function on axes; if ``narrow``, for the width of a telephone."""
        # A whole number is a step. The users of a bin are spread evenly between its edges.
        steps = bool(np.array_equal(self.starts, self.stops))
        places = self.stops if steps else np.concatenate([self.starts[:1], self.stops])
        rows = [self.values, *(self.ends or ())]
        rows = rows if steps else [np.concatenate([[0.0], row]) for row in rows]
        ax.set_axisbelow(True)
        ax.grid(axis="both", color=GRID, linewidth=0.6)
        if self.ends is not None:
            ax.fill_between(places, rows[1], rows[2], step="post" if steps else None, color=_BAND, linewidth=0)
        ax.plot(places, rows[0], drawstyle="steps-post" if steps else "default", color=BARS, linewidth=1.6)
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.axhline(self.caption.n, color=FAINT, linewidth=0.8, linestyle=":")
        unit = visible(self.caption.unit)
        ends = self.caption.interval(self.ends, band=self.simultaneous)
        told = self.caption.written(f"estimated {unit} with at most this value, {ends}", narrow)
        _axis_of_values(ax, self.order, told, narrow)
        ax.yaxis.set_major_formatter("{x:,.0f}")
        if self.caption.n:
            _shares_on_the_right(ax, self.caption.n)
        self.caption.write_title(ax)


@dataclass(frozen=True, eq=False)
class QuantileChart:
    """Quantiles as points with intervals. With both quartiles, there is a box between them above the points."""

    order: InOrder
    shares: Sequence[float]
    values: Floats
    ends: Ends | None
    labels: Sequence[str]
    caption: Caption

    @property
    def height(self) -> float:
        """Height of the quantiles in inches."""
        return 0.36 * (len(self.shares) + 1) + 1.5

    @property
    def boxed(self) -> list[int]:
        """Places of the quantiles that the box shows: the quartiles and those between them; none without both."""
        quartiles = 0.25 in self.shares and 0.75 in self.shares
        return [place for place, share in enumerate(self.shares) if quartiles and 0.25 <= share <= 0.75]

    def draw(self, ax: Axes, *, narrow: bool = False) -> None:
        """Draw the quantiles on axes; if ``narrow``, for the width of a telephone."""
        inside = self.values[self.boxed]
        rows = np.arange(len(self.values)) + float(len(inside) > 0)
        ax.set_axisbelow(True)
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        if len(inside):
            lowest, highest = float(inside.min()), float(inside.max())
            ax.barh([0.0], [highest - lowest], left=[lowest], height=0.6, color=_BAND, edgecolor=BARS, linewidth=0.8)
            ax.vlines(inside, -0.3, 0.3, color=BARS, linewidth=2)
        low, high = self.ends or (self.values, self.values)
        errors = None if self.ends is None else _lengths(self.values, self.ends)
        ax.errorbar(self.values, rows, xerr=errors, fmt="o", color=BARS, ecolor=INK, elinewidth=1, capsize=3)
        ax.set_yticks(rows, [f"{100 * share:g} %" for share in self.shares])
        room = max((float(high.max()) - float(low.min())) * 0.03, 1e-9)
        for row, end, text in zip(rows, high, self.labels, strict=True):
            ax.text(float(end) + room, float(row), text, va="center", fontsize=9, color=FAINT, parse_math=False)
        ax.use_sticky_edges = False  # without intervals, the box would end at the edge
        ax.margins(x=0.16)
        ax.set_ylim(float(rows[-1]) + 0.6, -0.6)
        ends = self.caption.interval(self.ends)
        who = f"this share of the {visible(self.caption.unit)} have at most this value, {ends}"
        _axis_of_values(ax, self.order, self.caption.written(who, narrow), narrow)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left"]].set_visible(False)
        self.caption.write_title(ax)


def _lengths(values: Floats, ends: Ends) -> Floats:
    # From the values down and up to the ends of their intervals.
    return np.stack([np.maximum(values - ends[0], 0.0), np.maximum(ends[1] - values, 0.0)])


def plotted(chart: Drawn, ax: Axes | None) -> Axes:
    """The axes with the chart drawn on them; new ones if none are given."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
    if ax is None:
        ax = pyplot.subplots(figsize=(_WIDE, chart.height), layout="constrained")[1]
    chart.draw(ax)
    return ax


def _axis_of_values(ax: Axes, order: InOrder, caption: str, narrow: bool) -> None:
    # The horizontal axis in the user's own units; dates are texts and need more space.
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    texts = isinstance(order.written(float(order.points()[0])), str)
    ticks = (2 if texts else 5) if narrow else (5 if texts else 9)
    ax.xaxis.set_major_locator(MaxNLocator(ticks, integer=texts))
    ax.xaxis.set_major_formatter(FuncFormatter(partial(_written, order)))
    unit = f"{visible(order.unit)}\n" * bool(order.unit)
    ax.set_xlabel(f"{unit}{caption}", parse_math=False)
    hide_spines(ax)


def _written(order: InOrder, value: float, place: Any) -> str:
    own = order.written(value)
    return own if isinstance(own, str) else f"{value:,g}"


def _shares_on_the_right(ax: Axes, n: int) -> None:
    right = ax.secondary_yaxis("right", functions=(partial(np.multiply, 100 / n), partial(np.multiply, n / 100)))
    right.set_ylabel("share of the reports", color=FAINT)
    right.yaxis.set_major_formatter("{x:g} %")
    right.tick_params(axis="y", colors=FAINT, length=3)
    right.spines[:].set_visible(False)
