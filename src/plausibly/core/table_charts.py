"""Charts of tables of two attributes: a heat map with intervals, and a mosaic of shares, on matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from .bar_chart import BARS
from .ordered_charts import Caption
from .table_law import Floats
from .wording import count_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LIGHT, _DARK = "#f4f7fa", "#93b3d3"
_INK, _GREY = "#000000", "#505050"
"""Counts whose interval is above 0, and others: both are legible in every cell, also where a page turns dark."""
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Paul Tol's colours, which people with colour blindness can tell apart."""
_NARROWEST = 0.04
"""Width of a column, as a share of all, from which on it has room for its name."""
_FEW = 12
"""Number of columns up to which cells have room for their intervals."""
_COUNTED, _COUNTED_NARROW = 24, 9
"""Numbers of columns up to which cells have room for their counts, on a page and on a telephone."""


_LONGEST, _LONGEST_NARROW, _LONGEST_UP = 30, 12, 10
"""Numbers of characters of a name, on a page, on a telephone, and upright; the table below has whole names."""
_ACROSS, _LEAST_ACROSS, _MOST_LINES, _LINE = 80, 12, 3, 0.17
"""Numbers of characters of all columns' names beside each other, and of each; lines of a name, and their height."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The numbers of a chart of a table: names of both axes and of their cells, counts, and ends of the intervals."""

    names: tuple[str, str]
    rows: Sequence[str]
    columns: Sequence[str]
    counts: Floats
    ends: tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A table as a grid of coloured cells, each with its count and interval."""

    grid: Grid
    caption: Caption

    @property
    def height(self) -> float:
        """Height of the heat map in inches."""
        return 1.6 + 0.5 * len(self.grid.rows) + _LINE * self._broken[0].count("\n")

    @property
    def _broken(self) -> list[str]:
        # Names of columns in as many lines each as the longest one needs to fit between the others.
        width = max(_LEAST_ACROSS, _ACROSS // len(self.grid.columns))
        lines = [wrap(name, width, max_lines=_MOST_LINES, placeholder="…") or [""] for name in self.grid.columns]
        most = max(map(len, lines))
        return ["\n".join([*each, *[""] * (most - len(each))]) for each in lines]

    def draw(self, ax: Axes, *, narrow: bool = False) -> None:
        """Draw the heat map on axes; if ``narrow``, without the intervals, for the width of a telephone."""
        from matplotlib.colors import LinearSegmentedColormap

        grid = self.grid
        # Cells whose interval contains 0 are in the lighter half, however noisy the table is.
        top = max(float(grid.ends[1].max()), 1.0)
        roomy = not narrow and len(grid.columns) <= _FEW
        counted = len(grid.columns) <= (_COUNTED_NARROW if narrow else _COUNTED)
        colours = LinearSegmentedColormap.from_list("counts", [_LIGHT, _DARK if counted else BARS])
        ax.imshow(np.clip(grid.counts, 0.0, None), cmap=colours, vmin=0.0, vmax=top, aspect="auto")
        for (row, column), count in np.ndenumerate(grid.counts):
            low, high = (float(end[row, column]) for end in grid.ends)
            ink = _GREY if low <= 0 <= high else _INK
            text = count_text(count) if counted else ""
            if roomy:
                text += f"\n[{count_text(low)}, {count_text(high)}]"
            size = 8 if roomy else 7
            ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=size, parse_math=False)
        columns = self._broken if roomy else [_short(name, _LONGEST_UP) for name in grid.columns]
        rows = [_short(name, _LONGEST_NARROW if narrow else _LONGEST) for name in grid.rows]
        ax.set_xticks(range(len(columns)), columns, rotation=0 if roomy else 90, parse_math=False)
        ax.set_yticks(range(len(rows)), rows, parse_math=False)
        ax.set_ylabel(_short(grid.names[0], min(_LONGEST, 6 + 6 * len(rows))), parse_math=False)
        what = f"estimated {self.caption.unit}, {self.caption.interval(grid.ends)}" if roomy else "estimated counts"
        note = "grey: the interval contains 0" if counted else "darker: more of them"
        name = _short(grid.names[1], _LONGEST)
        ax.set_xlabel(f"{name}\n{self.caption.written(what, narrow)}\n{note}", parse_math=False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        self.caption.write_title(ax)


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


@dataclass(frozen=True, eq=False)
class Mosaic:
    """A table as tiles: columns as wide as the first attribute's shares, cut by the shares of the second."""

    grid: Grid
    caption: Caption

    @property
    def height(self) -> float:
        """Height of the mosaic in inches."""
        return 4.6

    def draw(self, ax: Axes, *, narrow: bool = False) -> None:
        """Draw the mosaic on axes; if ``narrow``, for the width of a telephone."""
        grid = self.grid
        held = np.clip(grid.counts, 0.0, None)
        widths = held.sum(axis=1) / (held.sum() or 1.0)
        starts = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
        heights = held / np.where(held.sum(axis=1) > 0, held.sum(axis=1), 1.0)[:, None]
        for column, name in enumerate(grid.columns):
            bottom = heights[:, :column].sum(axis=1)
            colour = _COLOURS[column % len(_COLOURS)]
            ax.bar(
                starts,
                heights[:, column],
                widths,
                bottom=bottom,
                align="edge",
                color=colour,
                edgecolor="white",
                label=name,
            )
        middles = starts + widths / 2
        names = [name if width >= _NARROWEST else "" for name, width in zip(grid.rows, widths.tolist(), strict=True)]
        ax.set_xticks(middles, names, rotation=90 if narrow or len(grid.rows) > _FEW else 0, parse_math=False)
        ax.set_ylabel(f"share of each {grid.names[1]}", parse_math=False)
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        note = "negative estimates are drawn as 0; the table has the intervals"
        what = f"{grid.names[0]}: width is the share of {self.caption.unit}"
        ax.set_xlabel(f"{self.caption.written(what, narrow)}\n{note}", parse_math=False)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        ax.spines[:].set_visible(False)
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), title=grid.names[1], frameon=False)
        for text in [*legend.get_texts(), legend.get_title()]:
            text.set_parse_math(False)
        self.caption.write_title(ax)
