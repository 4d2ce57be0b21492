"""The picture of the demo: a histogram that emerges from noise, and the final intervals beside the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.atomic import replacing
from ..core.bar_chart import label_above
from ..core.estimates import Estimates
from ..files.reports import ReportFile
from .data import Counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _FAINT, _TRUTH, _LISTED, _FOUND = "#1b2a41", "#8d99ae", "#d1495b", "#00798c", "#b8860b"
_STYLE = {
    "font.size": 11,
    "axes.edgecolor": _FAINT,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "plausibly",
}
_BARS = 40
"""Number of sites in a histogram."""
_ROWS = 7
"""Number of sites whose intervals are drawn."""


@dataclass(frozen=True)
class Known:
    """The truth beside the emerging histogram: items, the most common first, with their numbers of users."""

    items: Sequence[str]
    counts: Counts

    def count(self, item: object) -> int:
        """Number of users who truly have the item, to show beside the emerging estimates."""
        return int(self.counts[self.items.index(str(item))]) if item in self.items else 0

    def covered(self, estimates: Estimates, level: float = 0.95) -> int:
        """Number of final intervals of the emerging histogram that contain the truth."""
        truth = np.array([self.count(item) for item in estimates.items])
        low, high = estimates.interval(level)
        return int(((low <= truth) & (truth <= high)).sum())


def emerging_estimates(file: ReportFile, sizes: Sequence[int]) -> list[Estimates]:
    """Emerging estimates: from the first reports of a file, one for each size, smallest first."""
    tally, left, found = file.scheme.accumulator(), list(sizes), []
    for reports in file:
        while left and len(tally) + len(reports) >= left[0]:
            needed = left.pop(0) - len(tally)
            tally.add(reports[:needed])
            reports = reports[needed:]
            found.append(tally.estimate())
        if not left:
            break
        tally.add(reports)
    return found


def draw_emerging(
    path: Path,
    known: Known,
    emerging: Sequence[Estimates],
    found: Estimates,
    titles: tuple[str, str],
    *,
    narrow: bool = False,
) -> None:
    """Draw emerging histograms above; below, the intervals of listed and of found items beside the truth.

    The picture is six inches wide, with letters that can be read on a telephone, too; ``narrow``: drawn for one.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(4.2, 8.0) if narrow else (6.2, 5.6), layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=(1, 1.2) if narrow else (1, 1.6))
        top, bottom = parts
        down = 2 if narrow and len(emerging) % 2 == 0 else 1
        panels = np.ravel(top.subplots(down, len(emerging) // down, sharey=True))
        for axes, estimates in zip(panels, emerging, strict=True):
            _histogram(axes, known, estimates)
        panels[0].set_ylabel("share of users")
        # Below zero, where the estimates from all reports leave room.
        panels[-1].legend(frameon=False, loc="lower right", handlelength=1)
        top.suptitle("A histogram emerges from noise", fontweight="bold")
        top.supxlabel(f"above: number of reports; bars: the {_BARS} most common sites", fontsize=10 if narrow else 9)
        _intervals(bottom.subplots(), known, emerging[-1], found, titles, narrow)
        with replacing(path) as unfinished:
            figure.savefig(unfinished, format=path.suffix[1:], dpi=200)


def _histogram(axes: Axes, known: Known, estimates: Estimates) -> None:
    from matplotlib.ticker import PercentFormatter

    of = dict(zip(estimates.items.tolist(), estimates.fractions.tolist(), strict=True))
    rows = np.arange(1, _BARS + 1)
    axes.bar(rows, [of[item] for item in known.items[:_BARS]], width=0.85, color=_LISTED, label="estimate")
    axes.plot(rows, known.counts[:_BARS] / known.counts.sum(), color=_TRUTH, linewidth=1.6, label="truth")
    axes.axhline(0, color=_FAINT, linewidth=0.8)
    axes.set_title(f"{estimates.n:,}")
    axes.set_xticks([])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def _intervals(
    axes: Axes, known: Known, listed: Estimates, found: Estimates, titles: tuple[str, str], narrow: bool
) -> None:
    items = known.items[:_ROWS]
    least = np.inf
    for estimates, colour, title, shift in zip((listed, found), (_LISTED, _FOUND), titles, (-0.17, 0.17), strict=True):
        places = {item: place for place, item in enumerate(estimates.items.tolist())}
        there = [place for place, item in enumerate(items) if item in places]
        taken = [places[items[place]] for place in there]
        rows, values = np.array(there) + shift, estimates.values[taken]
        low, high = (end[taken] for end in estimates.interval(0.95))
        axes.hlines(rows, low, high, color=colour, linewidth=5, alpha=0.4)
        axes.plot(values, rows, "o", color=colour, markersize=4.5, label=title)
        # On a log scale the axis begins below the lowest bound that it can show.
        least = min(least, float(values.min(initial=np.inf)), float(low[low > 0].min(initial=np.inf)))
    every = np.arange(len(items), dtype=np.float64)
    axes.vlines(known.counts[:_ROWS], every - 0.4, every + 0.4, color=_TRUTH, linewidth=2, label="truth")
    if narrow:
        label_above(axes, np.asarray(every - 0.3, dtype=np.float64), list(items))
    else:
        axes.set_yticks(every, list(items), parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(items) - 0.4, -0.9 if narrow else -0.6)
    log = " (log scale)" * (0 < least < np.inf)
    axes.set_xlabel(f"users, out of {listed.n:,}{log}\nbars: 95 % intervals")
    if narrow:
        axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=10)
    else:
        axes.legend(frameon=False, loc="lower right", fontsize=9.5)
    _scale(axes, least)


def _scale(axes: Axes, least: float) -> None:
    # On a log scale, so that intervals of rare and of common items are both visible; an interval that begins at zero or
    # below goes to the left edge.
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    if 0 < least < np.inf:
        axes.set_xscale("log")
        axes.set_xlim(left=least / 1.2)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
