"""Tables of numbers with bars and intervals for notebooks: a piece of HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite
from typing import NamedTuple

_WIDTH, _HEIGHT = 220, 16
_BAR = "#4477aa"
_BAR_HEAD = "bar and interval"
_PAD = "padding:0.15em 0.6em"
_LEFT, _RIGHT = f"text-align:left;{_PAD}", f"text-align:right;white-space:pre;font-variant-numeric:tabular-nums;{_PAD}"
_APART = ' style="color:#777777"'


class Bar(NamedTuple):
    """One row of a table in a notebook: a label, texts, and the numbers of its bar."""

    label: str
    texts: Sequence[str]
    value: float
    ends: tuple[float, float] | None
    """Ends of the interval, if there is one."""
    hollow: bool
    """Whether the bar is drawn hollow, because its interval contains 0."""
    apart: bool = False
    """Whether the row is grey, because it stands for all other values."""


def html_table(title: str, header: Sequence[str], bars: Sequence[Bar], notes: Sequence[str] = ()) -> str:
    """The table as HTML for a notebook. All texts are escaped."""
    scale = _Scale(bars)
    head = "".join(f'<th style="{_LEFT if i == 0 else _RIGHT}">{escape(name)}</th>' for i, name in enumerate(header))
    rows = []
    for bar in bars:
        # Isolated, so that right-to-left text does not affect its neighbours.
        cells = [f'<td style="{_LEFT}"><bdi>{escape(bar.label) or "<i>(empty)</i>"}</bdi></td>']
        cells += [f'<td style="{_RIGHT}">{escape(text).replace("-", "−")}</td>' for text in bar.texts]
        rows.append(f"<tr{_APART * bar.apart}>{''.join(cells)}<td>{scale.drawn(bar)}</td></tr>")
    said = "".join(f"<p>{escape(note)}</p>" for note in notes)
    head += f'<th style="{_LEFT}">{_BAR_HEAD}</th>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div><p><b>{escape(title)}</b></p>{table}{said}</div>"


class _Scale:
    # From numbers to places in the picture of a bar, the same for all rows.

    def __init__(self, bars: Sequence[Bar]) -> None:
        numbers = [end for bar in bars for end in (bar.value, *(bar.ends or ())) if isfinite(end)]
        self._low: float = min([0.0, *numbers])
        self._high: float = max([0.0, *numbers])

    def _place(self, number: float) -> float:
        inside: float = min(max(number, self._low), self._high)
        return round(1.0 + (_WIDTH - 2) * (inside - self._low) / ((self._high - self._low) or 1.0), 1)

    def drawn(self, bar: Bar) -> str:
        """The bar with its interval, from the line of 0."""
        if not isfinite(bar.value):
            return ""
        zero, end = self._place(0.0), self._place(bar.value)
        fill = "none" if bar.hollow else _BAR
        parts = [
            f'<rect x="{min(zero, end)}" y="3" width="{round(abs(end - zero), 1)}" height="{_HEIGHT - 6}" '
            f'fill="{fill}" stroke="{_BAR}"/>',
            f'<path d="M{zero} 0V{_HEIGHT}" stroke="currentColor" stroke-width="0.5"/>',
        ]
        if bar.ends is not None:
            low, high = map(self._place, bar.ends)
            parts.append(f'<path d="M{low} 8H{high}M{low} 5V11M{high} 5V11" stroke="currentColor" fill="none"/>')
        return f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-hidden="true">{"".join(parts)}</svg>'
