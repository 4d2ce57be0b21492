"""The picture of a search: one column for each step, with the strings found to the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

from ..core.wording import count_text, interval_texts
from .trace import Step, Traced
from .tree import Knot, tree_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _FOUND, _LOST, _FAINT = "#222222", "#4477aa", "#bbbbbb", "#767676"
# Characters missing in the first family come from the second, the one to change for scripts that few fonts cover.
_FONTS = ["monospace", "sans-serif"]
# Lengths in inches; text and lines in points.
_ROW, _GAP, _BARS, _TEXT, _THIN, _THICK = 0.23, 0.16, 1.1, 8.5, 0.7, 7.0
_HEADS = ("characters", "users", "candidates", "kept")
_MOST_COLUMNS, _LEVEL = 12, 0.05
_ORDINALS = {2: "second", 3: "third"}


class Picture:
    """A tree and its layout: x in inches from the left, y in rows from the top."""

    def __init__(self, found: Traced, others: int, *, intervals: bool = True) -> None:
        # Without ``intervals``: only the estimates beside the strings, and no notes.
        self.found, self.intervals = found, intervals
        steps = [step for step in found.trace if step.candidates]
        # If there are too many steps: the first, the last, and evenly spaced ones before the last.
        apart = -(-len(steps) // _MOST_COLUMNS)
        self.steps = [step for x, step in enumerate(steps) if not x or (len(steps) - 1 - x) % apart == 0]
        self.heads = [_head(step) for step in self.steps]
        self.root = tree_of(found, self.steps, others)
        self.edges = list(self.root.edges())
        self.tips = [knot for _, knot in self.edges if knot.place is not None]
        self.largest = max((knot.value for _, knot in self.edges), default=0.0)
        self.numbers = _numbers(found) if intervals else _bounded(found)
        self.notes = ["line width: estimated count", "grey: kept for some steps, then dropped (×)"]
        lucky = [knot for knot in self.tips if intervals and self._luck(knot)]
        zero = all(self._reaches_zero(knot) for knot in lucky)
        why = "the interval contains 0" if zero else "cannot be told apart from noise"
        self.notes += [f"hollow: {why}"] * bool(lucky)
        self.notes += [f"every {_ORDINALS.get(apart, f'{apart}th')} step is shown"] * (apart > 1)
        self.note = "     ".join(self.notes) if intervals else ""
        self.found_head = "found" if self.tips else "nothing found"
        interval = ["95 % interval"] * (found.variance is not None and intervals)
        self.number_heads = ["estimated users", f"of {found.n:,}", *interval]
        self._place()

    def _place(self) -> None:
        # A column is as wide as its widest text; columns are farther apart where lines fan out.
        texts, fans = [0.0] * (len(self.steps) + 1), [0.0] * (len(self.steps) + 1)
        for before, knot in self.edges:
            fans[before.column + 1] = max(fans[before.column + 1], min(0.07 * abs(knot.row - before.row), 0.9))
            if knot.place is None:
                texts[knot.column] = max(texts[knot.column], _width(knot.text))
        # For the root, the steps and the tips: the middle of each column, and half the width of its text.
        right, self.middles, self.halves = 0.1, [0.1], [0.0]
        for text, fan, head in zip(texts, fans, [*self.heads, [""]], strict=True):
            left = max(right + _GAP + fan, max(map(_width, _HEADS)) + _GAP)
            right = left + max(text, *map(_width, head))
            self.middles.append((left + right) / 2)
            self.halves.append(text / 2 + 0.03)
        self.labels = right + 0.08
        # Short strings and small numbers have wider heads than themselves.
        strings = [self.found_head, *(knot.text for knot in self.tips)]
        numbers = [*self.number_heads, *(self.numbers[knot.place or 0] for knot in self.tips)]
        self.bars = self.labels + max(map(_width, strings)) + 0.2
        drawn = _BARS + 0.2 if self.intervals else 0.0
        beside = drawn + max(map(_width, numbers)) if self.tips else 0.0
        self.right = max(self.bars + beside, 0.9 * _width(self.note))
        self.more = len(self.found) - len(self.tips)
        self.top, self.bottom = -4.2, max((knot.row for _, knot in self.edges), default=0.0) + 2.2 + bool(self.more)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height that the picture of the tree needs, in inches."""
        return self.right, (self.bottom - self.top) * _ROW

    def draw(self, ax: Axes | None) -> Axes:
        """Draw the picture of the tree on the given axes, scaled to fit, or on new axes of the right size."""
        size, self.scale = self.size, 1.0
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(figsize=size, layout="constrained")[1]
        else:
            box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
            self.scale = min(1.0, box.width / size[0], box.height / size[1])
        ax.set(xlim=(0, self.right), ylim=(self.bottom, self.top))
        ax.set_axis_off()
        for before, knot in sorted(self.edges, key=lambda edge: edge[1].leads):
            self._draw_line(ax, before, knot)
        for _, knot in self.edges:
            self._draw_knot(ax, knot)
        self._mark(ax, self.middles[0], self.root.row, "o", _INK)
        self._draw_heads(ax)
        if self.tips:
            self._draw_found(ax)
        self._write(ax, 0, self.bottom - 0.5, self.note, _FAINT)
        return ax

    def _draw_heads(self, ax: Axes) -> None:
        columns: list[tuple[float, str, Sequence[str]]] = [(0.0, "left", _HEADS)]
        columns += [(x, "center", head) for x, head in zip(self.middles[1:], self.heads, strict=False)]
        columns += [(self.labels, "left", [self.found_head])]
        columns += [(self.right, "right", self.number_heads)] * bool(self.tips)
        for x, side, lines in columns:
            for i, text in enumerate(lines):
                self._write(ax, x, self.top + 0.4 + 0.75 * i, text, _FAINT if i or not x else _INK, side)

    def _draw_line(self, ax: Axes, before: Knot, knot: Knot) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        if not knot.leads and any(step.first for step in self.steps):
            return  # a fragment that fits no string
        start, end = before.column + 1, knot.column + 1
        left = self.middles[start] + self.halves[start]
        bend = self.middles[start + 1] - self.halves[start + 1]
        half = (left + bend) / 2
        # From text to text; without a seam where there is no text.
        points = [(left if before.text else self.middles[start] - 0.01, before.row), (left, before.row)]
        points += [(half, before.row), (half, knot.row), (bend, knot.row)]
        points += [(self.middles[end] - self.halves[end] * bool(knot.text), knot.row)]
        codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO]
        width = _THIN + (_THICK - _THIN) * max(knot.value, 0.0) / (self.largest or 1.0)
        colour = _FOUND if knot.leads else _LOST
        ax.add_patch(PathPatch(Path(points, codes), fill=False, edgecolor=colour, linewidth=self.scale * width))

    def _draw_knot(self, ax: Axes, knot: Knot) -> None:
        if knot.place is not None:
            self._write(ax, self.labels, knot.row, knot.text, family=_FONTS)
            return
        middle, half = self.middles[knot.column + 1], self.halves[knot.column + 1] * bool(knot.text)
        self._write(ax, middle, knot.row, knot.text, _INK if knot.leads else _FAINT, "center", family=_FONTS)
        if not knot.branches:
            self._mark(ax, middle + half + 0.06, knot.row, "x", _FAINT)

    def _draw_found(self, ax: Axes) -> None:
        found = self.found
        last = max(knot.row for knot in self.tips)
        if self.more:
            self._write(ax, self.labels, last + 1, f"and {self.more:,} more", _FAINT)
        if not self.intervals:
            for knot in self.tips:
                self._write(ax, self.right, knot.row, self.numbers[knot.place or 0], side="right")
            return
        low, high = (found.values, found.values) if found.variance is None else found.interval()
        least = min(0.0, float(low.min()))
        unit = _BARS / ((float(high.max()) - least) or 1.0)
        zero = self.bars - unit * least
        for end in (0.0, float(high.max())):
            self._write(ax, zero + unit * end, last + 1 + bool(self.more), count_text(end), _FAINT, "center")
        ax.plot([zero, zero], [-0.5, last + 0.5], color=_LOST, linewidth=self.scale * 0.6, zorder=1)
        for knot in self.tips:
            ends = [zero + unit * float(end[knot.place]) for end in (low, high)]
            ax.plot(ends, [knot.row, knot.row], color=_INK, linewidth=self.scale, zorder=2)
            inside = "white" if self._luck(knot) else _FOUND
            self._mark(ax, zero + unit * knot.value, knot.row, "o", _FOUND, markerfacecolor=inside)
            self._write(ax, self.right, knot.row, self.numbers[knot.place or 0], side="right")

    def _luck(self, knot: Knot) -> bool:
        significant, p_values = self.found.significant, self.found.p_values
        if self._reaches_zero(knot):
            return True
        if significant is not None:
            return not significant[knot.place]
        return p_values is not None and bool(p_values[knot.place] > _LEVEL)

    def _reaches_zero(self, knot: Knot) -> bool:
        if self.found.variance is None:
            return False
        low, high = (float(side[knot.place]) for side in self.found.interval())
        return low <= 0 <= high

    def _mark(self, ax: Axes, x: float, y: float, kind: str, colour: str, **style: Any) -> None:
        ax.plot(x, y, kind, color=colour, markersize=self.scale * 4, zorder=3, **style)

    def _write(
        self, ax: Axes, x: float, y: float, text: str, colour: str = _INK, side: str = "left", **style: Any
    ) -> None:
        style |= {"color": colour, "fontsize": self.scale * _TEXT, "ha": side, "va": "center_baseline"}
        ax.text(x, y, text, parse_math=False, **style)  # dollar signs are literal


def _head(step: Step) -> list[str]:
    characters = f"{step.first + 1}–{step.length}" if step.length > step.first + 1 else str(step.length)
    return [characters, *map(_count, (step.users, step.candidates, len(step.kept)))]


def _count(number: int) -> str:
    # Rounded to two or three digits: 950, 1.6k, 43k, 129k, 2.6M.
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            return f"{number / unit:.{int(number < 9.95 * unit)}f}".removesuffix(".0") + name
    return str(number)


def _width(text: str) -> float:
    # In a fixed-width font, a character's width is 0.602 times the font size.
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text) * 0.602 * _TEXT / 72


def _numbers(found: Traced) -> list[str]:
    # The estimate of each string with its interval.
    values = [count_text(value) for value in found.values]
    if found.variance is None:
        return values
    intervals = interval_texts(*found.interval(), found.significant)
    return [f"{value}  {interval}" for value, interval in zip(values, intervals, strict=True)]


def _bounded(found: Traced) -> list[str]:
    # The estimate of each string, or the upper bound of one that cannot be told apart from noise.
    values = [count_text(value) for value in found.values]
    if found.variance is None or found.significant is None:
        return values
    high = found.interval()[1].tolist()
    told = zip(values, high, found.significant.tolist(), strict=True)
    return [value if sure else f"at most {count_text(most)}" for value, most, sure in told]
