"""Bar charts of counts with intervals, drawn on matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .wording import plural, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

INK, BARS, APART, FAINT, GRID = "#222222", "#4477aa", "#999999", "#666666", "#dddddd"
"""Colours of all charts: text and intervals, bars, the item for all other values, remarks, and lines behind."""
_GAP = 0.6
"""Space, in rows, between the listed items and the item that stands apart."""


@dataclass(frozen=True, eq=False)
class BarChart:
    """Bars with their labels, the first at the top.

    ``ends`` are the ends of the intervals, at the confidence level ``level``; ``told`` marks items that can be told
    apart from noise, and ``apart`` items that stand below the others. ``n`` is the number of reports and ``unit`` names
    what is counted.
    """

    labels: list[str]
    values: Floats
    ends: tuple[Floats, Floats] | None
    told: Mask
    apart: Mask
    level: float
    n: int
    unit: str
    title: str | None

    @property
    def height(self) -> float:
        """Height of the bars in inches."""
        return chart_size(len(self.labels))[1]

    @property
    def hollow(self) -> Mask:
        """Mask of the bars that are hollow: their intervals contain 0, from the start or as an upper bound only."""
        return ~self.told if self.ends is None else ~self.told | ((self.ends[0] <= 0) & (self.ends[1] >= 0))

    def draw(self, ax: Axes, *, narrow: bool = False) -> None:
        """Draw the bars on axes; if ``narrow``, with every label above its bar, for the width of a telephone."""
        rows = np.arange(len(self.values)) + _GAP * self.apart
        fills = np.where(self.hollow, "white", np.where(self.apart, APART, BARS)).tolist()
        edges = np.where(self.apart, APART, BARS).tolist()
        places, height = (rows + 0.2, 0.34) if narrow else (rows, 0.7)
        ax.set_axisbelow(True)
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        ax.barh(places, self.values, color=fills, edgecolor=edges, linewidth=0.8, height=height)
        ax.axvline(0, color=INK, linewidth=0.8)
        if self.ends is not None:
            errors = np.stack([self.values - self.ends[0], self.ends[1] - self.values])
            ax.errorbar(self.values, places, xerr=errors, fmt="none", ecolor=INK, elinewidth=1, capsize=2)
        self._label(ax, rows, narrow)
        ax.set_ylim((rows[-1] if len(rows) else 0) + 0.6, -0.6)
        if self.title is not None:
            ax.set_title(visible(self.title), loc="left", fontweight="bold", parse_math=False, wrap=True)

    def _label(self, ax: Axes, rows: Floats, narrow: bool) -> None:
        # A label with dollar signs is not a formula.
        if narrow:
            label_above(ax, rows, self.labels)
        else:
            ax.set_yticks(rows, self.labels, parse_math=False)
        ax.set_xlabel(self._caption("\n" if narrow else " "), parse_math=False)
        ticks = 4 if narrow else 6
        ax.locator_params(axis="x", nbins=ticks)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        if self.n:
            _add_shares(ax, self.n, ticks)

    def _caption(self, break_or_space: str) -> str:
        interval = f", {100 * self.level:g} % interval" if self.ends is not None else ""
        told = f"estimated {visible(self.unit)}{interval}{break_or_space}({plural(self.n, 'report')})"
        if self.hollow.any():
            told += "\nhollow: the interval contains 0"
        if self.ends is not None and not self.told.all():
            told += f"\nupper bound only:{break_or_space}cannot be told apart from noise"
        return told


def label_above(ax: Axes, rows: Floats, labels: Sequence[str]) -> None:
    """Write the label of each row of a bar chart above the row, where a telephone has space for it."""
    ax.set_yticks([])
    for row, label in zip(rows, labels, strict=True):
        text = ax.text(0.0, row, label, fontsize=10, va="bottom", parse_math=False)
        text.set_transform(ax.get_yaxis_transform())
        text.set_bbox({"pad": 0.5, "facecolor": "white", "edgecolor": "none"})  # hides the line at zero


def hide_spines(ax: Axes) -> None:
    """Hide the lines around the axes at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)


def chart_size(bars: int) -> tuple[float, float]:
    """Width and height in inches of a chart with ``bars`` bars."""
    return 8.0, 0.3 * bars + 1.4


def _add_shares(ax: Axes, n: int, ticks: int) -> None:
    # A second scale at the top, in percent of the reports.
    top = ax.secondary_xaxis("top", functions=(partial(np.multiply, 100 / n), partial(np.multiply, n / 100)))
    top.set_xlabel("share of the reports", color=FAINT)
    top.xaxis.set_major_formatter("{x:g} %")
    top.locator_params(axis="x", nbins=ticks)
    top.tick_params(axis="x", colors=FAINT, length=3)
    top.spines[:].set_visible(False)
