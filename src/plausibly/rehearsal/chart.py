"""The picture of a rehearsal: the true counts beside the errors of every repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ParameterError
from ..core.wording import label_of, visible
from ..experiments.plots import GRID, INK, STYLE
from ..planner.targets import two_sided
from .expected_errors import LEVEL
from .result import Rehearsal

SUFFIXES = (".png", ".svg")
_BAR, _BAND, _DOT = "#4477aa", "#cfe0f0", "#0077bb"
_MOST = 60
"""Maximum number of items in a picture."""


def draw_chart(found: Rehearsal, path: Path, kind: str, *, title: str | None = None, unit: str = "users") -> None:
    """Draw the chart of a rehearsal as PNG or SVG; ``unit`` names what is counted, in the plural."""
    if len(found.top) > _MOST:
        raise ParameterError(f"top: expected at most {_MOST} items in a picture, got {len(found.top)}")
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(9, 1.9 + 0.3 * len(found.top)), layout="constrained")
        heading = _title(found) if title is None else visible(title)
        canvas.suptitle(heading, fontsize=11, fontweight="bold", parse_math=False)
        counts, errors = canvas.subplots(1, 2, sharey=True, width_ratios=(1, 1.5))
        legend = {**_draw_counts(counts, found, unit), **_draw_errors(errors, found, unit)}
        canvas.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=len(legend))
        # Without a date, the same numbers give the same file.
        canvas.savefig(path, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {})


def _title(found: Rehearsal) -> str:
    after = f" + {found.postprocess}" if found.postprocess else ""
    setting = f"ε = {float(found.scheme.epsilon):g}, {found.truth.n:,} users, {found.repeats:,} simulated collections"
    return f"{found.scheme.name}{after} on {label_of(found.truth.name)}: {setting}"


def _draw_counts(axes: Any, found: Rehearsal, unit: str) -> dict[str, Any]:
    rows = np.arange(len(found.top))
    bars = axes.barh(rows, [each.count for each in found.top], color=_BAR, height=0.66)
    (mean,) = axes.plot([each.mean for each in found.top], rows, "|", color=INK, markersize=11, markeredgewidth=1.6)
    # A label with dollar signs is text, not a formula.
    axes.set_yticks(rows, [label_of(each.item) or "(empty)" for each in found.top], parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.locator_params(axis="x", nbins=4)
    axes.set_xlabel(f"{visible(unit)} with the item", parse_math=False)
    axes.set(xlim=(min(0.0, *(each.mean for each in found.top)), None))
    _grid(axes)
    return {"true count": bars, "mean estimate": mean}


def _draw_errors(axes: Any, found: Rehearsal, unit: str) -> dict[str, Any]:
    rows = np.arange(len(found.top))
    legend: dict[str, Any] = {}
    deviations = [each.predicted for each in found.top]
    if None not in deviations:
        half = two_sided(LEVEL) * np.array(deviations, dtype=np.float64)
        after = ", before post-processing" if found.postprocess else ""
        legend[f"predicted 95 % range{after}"] = axes.barh(rows, 2 * half, left=-half, color=_BAND, height=0.66)
    truth = np.array([each.count for each in found.top])
    # A small fixed shift, so that dots do not hide each other.
    shift = (np.arange(found.repeats) * 0.618034 % 1 - 0.5) * 0.5
    errors = found.estimates - truth
    places = rows[None, :] + shift[:, None]
    dots: dict[str, Any] = {"markersize": 3.2, "color": _DOT, "alpha": max(0.15, min(0.8, 16 / found.repeats))}
    (each_one,) = axes.plot(errors.ravel(), places.ravel(), "o", markeredgewidth=0, **dots)
    legend["error of one collection"] = each_one
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.tick_params(axis="y", length=0)
    axes.use_sticky_edges = False  # otherwise the widest range would touch the frame
    axes.margins(x=0.04)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(f"estimate minus true count, in {visible(unit)}", parse_math=False)
    _grid(axes)
    return legend


def _grid(axes: Any) -> None:
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
