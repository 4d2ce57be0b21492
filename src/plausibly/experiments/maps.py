"""Draw maps of the best methods: who has the least error where, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import hypot, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .figure import Map, Row
from .item_crowds import crowd, is_ordered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAP_WIDTH, MAP_HEIGHT = 2.4, 2.3
"""Inches of a map: two of them side by side can be read on a telephone."""
_PALE = 0.65
"""How much nearer to white the colour of a cell is whose two best methods are too close to call."""
_CLOSE = 2.0
"""Standard errors within which two methods are too close to call."""
_PARTS = 128
"""Number of columns of the picture of a crowd."""
_USERS = 1_000_000
_OTHER = "#4477aa"


class Score(NamedTuple):
    """The error of a method in one cell of a map, as a root mean square, with its relative standard error."""

    error: float
    uncertainty: float


def draw_map(axes: Axes, panel: Map, rows: Sequence[Row], letter: str = "") -> None:
    """Draw a cell for each x and y of the map, with its best method, and the shape of the crowd above them."""
    own = [row for row in rows if row["sweep"] in panel.sweeps and row["metric"] == panel.metric]
    xs, ys = (sorted({row[name] for row in own}) for name in (panel.x, panel.y))
    for (across, x), (up, y) in product(enumerate(xs), enumerate(ys)):
        here = [row for row in own if row[panel.x] == x and row[panel.y] == y]
        ranked = sorted(scores(panel, here).items(), key=lambda item: item[1].error)
        if len(ranked) > 1:
            _draw_cell(axes, panel, (across, up), ranked)
    axes.set(xlim=(-0.5, len(xs) - 0.5), ylim=(-0.5, len(ys) - 0.5), xlabel=panel.xlabel, ylabel=panel.ylabel)
    axes.set_xticks(range(len(xs)), [f"{x:g}" for x in xs])
    axes.set_yticks(range(len(ys)), [_number(y) for y in ys])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _draw_crowds(axes, sorted({(row["data"], row["d"], row["data_seed"]) for row in own}))
    axes.set_title(f"({letter}) {panel.title}" if letter else panel.title, parse_math=False)


def scores(panel: Map, rows: Sequence[Row]) -> dict[str, Score]:
    """The score of each method of a map on the rows of one cell: that of its best line."""
    found: dict[str, Score] = {}
    for method, labels in panel.methods.items():
        own = [[row["value"] for row in rows if row["label"] == label] for label in labels]
        lines = [_score(values) for values in own if values]
        if lines:
            found[method] = min(lines)
    return found


def _score(squares: Sequence[float]) -> Score:
    mean = float(np.mean(squares))
    error = float(np.std(squares, ddof=1)) / sqrt(len(squares)) if len(squares) > 1 else 0.0
    return Score(sqrt(mean), error / (2 * mean) if mean > 0 else 0.0)


def is_close(first: Score, second: Score) -> bool:
    """Whether the scores of a map are too close to call which of them is the better one."""
    if min(first.error, second.error) <= 0:
        return first.error == second.error
    return abs(log(second.error / first.error)) < _CLOSE * hypot(first.uncertainty, second.uncertainty)


def _draw_cell(axes: Axes, panel: Map, place: tuple[int, int], ranked: Sequence[tuple[str, Score]]) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    (name, best), (rival, second), *_ = ranked
    colour = np.array(to_rgb(panel.looks.get(panel.methods[name][0], (_OTHER, ""))[0]))
    close = is_close(best, second)
    corner = (place[0] - 0.5, place[1] - 0.5)
    fill = tuple(1 - (1 - colour) * (1 - _PALE) if close else colour)
    axes.add_patch(Rectangle(corner, 1, 1, facecolor=fill, edgecolor="white", linewidth=1.5))
    text = f"{name} ≈\n{rival}" if close else f"{name}\n{_times(second.error / best.error)}"
    colour_of_text = "#222222" if close else "white"
    axes.text(*place, text, ha="center", va="center", fontsize=7 if close else 8, color=colour_of_text)


def _times(factor: float) -> str:
    return f"{factor:.1f}×" if factor < 9.95 else f"{factor:.0f}×"


def _number(count: float) -> str:
    return f"{count / 1e6:g} million" if count >= 1e6 else f"{count:,.0f}"


def _draw_crowds(axes: Axes, crowds: Sequence[tuple[str, int, int]]) -> None:
    # A small picture of the distribution, if there is one: its name alone says little.
    if len(crowds) != 1 or not is_ordered(crowds[0][0]):
        return
    data, d, seed = crowds[0]
    counts = crowd(data, _USERS, d, seed)
    parts = [int(part.max()) for part in np.array_split(counts, min(d, _PARTS))]
    small = axes.inset_axes((0, 1.03, 1, 0.3))
    small.fill_between(np.arange(len(parts)), parts, color="#777777", step="mid", linewidth=0.8)
    small.set(ylim=(0, 1.05 * max(parts)), xlim=(-0.5, len(parts) - 0.5))
    small.axis("off")
