"""Tables and plots of the heavy-hitter runs, made from their rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plausibly.experiments import Sheet

Row = dict[str, Any]
Key = tuple[Any, ...]

COLOURS = {
    "TRELLIS": ("#4477aa", "o-"),
    "PEM+": ("#ee7733", "s-"),
    "C3U": ("#222222", "--"),
    "C1": ("#999999", ":"),
}
NAMES = {"C3U": "C3U: exhaustive", "C1": "C1: candidates known"}


def grid_sheet(rows: Sequence[Row]) -> Sheet:
    """Mean F1 of every method in every cell, and the number of significant strings."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = []
    for (data, length, n, epsilon), own in _grouped(rows, "data", "length", "n", "epsilon").items():
        scores = [f"{_mean(row for row in own if row['method'] == method):.3f}" for method in methods]
        ours = [row for row in own if row["method"] == "TRELLIS"]
        strict = [f"{_mean(ours, name):.1f}" for name in ("significant", "significant_right")]
        false = f"{sum(row['false'] > 0 for row in ours)} of {len(ours)}"
        lines.append((data, str(length), f"{n:,}", f"{epsilon:g}", *scores, *strict, false))
    runs = max(row["run"] for row in rows) + 1
    header = ("data", "length", "n", "ε", *methods, "significant", "right", "runs with a false string")
    return Sheet(f"Top-10 F1, {runs} runs per cell", header, tuple(lines), _summary(rows, methods))


def _summary(rows: Sequence[Row], methods: Sequence[str]) -> str:
    means = [f"{method} {_mean(row for row in rows if row['method'] == method):.3f}" for method in methods]
    ours = [row for row in rows if row["method"] == "TRELLIS"]
    false = sum(row["false"] > 0 for row in ours)
    found, right, listed = _mean(ours, "significant"), _mean(ours, "significant_right"), 10 * _mean(ours, "recall")
    return (
        f"Mean F1: {', '.join(means)}. Significant at 5 %: {found:.2f} strings per run, {right:.2f} of them right; the "
        f"plain top 10 has {listed:.2f} right. {false} of {len(ours)} runs have a false string."
    )


def uniform_sheet(rows: Sequence[Row]) -> Sheet:
    """How often a search reports significant strings in a crowd without heavy hitters."""
    lines = [
        (str(length), f"{n:,}", f"{epsilon:g}", str(len(own)), str(sum(row["significant"] > 0 for row in own)))
        for (length, n, epsilon), own in _grouped(rows, "length", "n", "epsilon").items()
    ]
    header = ("length", "n", "ε", "runs", "runs with a report")
    return Sheet("No heavy hitters: runs that report a string as significant at 5 %", header, tuple(lines))


def draw_grid(rows: Sequence[Row], path: Path) -> None:
    """Draw the mean F1 over all crowds by number of users, for long strings by length; one panel for each ε.

    Panels must not differ by their crowds: those that were not measured at every ε are left out.
    """
    from matplotlib import pyplot

    by = "n" if len({row["length"] for row in rows}) == 1 else "length"
    epsilons = sorted({row["epsilon"] for row in rows})
    seen = {key: {row["epsilon"] for row in own} for key, own in _grouped(rows, "data", "n").items()}
    rows = [row for row in rows if len(seen[row["data"], row["n"]]) == len(epsilons)]
    pyplot.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    size = (3.3 * len(epsilons) + 1.2, 3.3)
    figure, panels = pyplot.subplots(1, len(epsilons), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for panel, epsilon in zip(panels[0], epsilons, strict=True):
        own = [row for row in rows if row["epsilon"] == epsilon]
        for (method,), scored in _grouped(own, "method").items():
            points = sorted((key, _mean(part), _error(part)) for (key,), part in _grouped(scored, by).items())
            places, means, errors = zip(*points, strict=True)
            colour, line = COLOURS.get(method, ("#009988", "-"))
            label = NAMES.get(method, method)
            # No bars, in the legend either, if there is one run in each cell.
            bars = errors if any(errors) else None
            panel.errorbar(places, means, bars, fmt=line, color=colour, label=label, capsize=2, markersize=4)
        panel.set(title=f"ε = {epsilon:g}", xlabel="users" if by == "n" else "characters", ylim=(0, 1.03), xscale="log")
        ticks = sorted({row[by] for row in rows})
        panel.set_xticks(ticks, [f"{tick / 1e6:.3g}M" if tick >= 10**6 else f"{tick:,}" for tick in ticks], fontsize=8)
        panel.minorticks_off()
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
    panels[0, 0].set_ylabel("F1 of the top 10")
    panels[0, -1].legend(frameon=False, fontsize=9, loc="lower right")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _grouped(rows: Iterable[Row], *names: str) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _mean(rows: Iterable[Row], name: str = "f1") -> float:
    return float(np.mean([row[name] for row in rows]))


def _error(rows: Sequence[Row]) -> float:
    # One standard error of the mean within cells: differences between crowds are not chance.
    cells = list(_grouped(rows, "data", "n", "length").values())
    within = [np.var([row["f1"] for row in cell], ddof=1) / len(cell) if len(cell) > 1 else 0.0 for cell in cells]
    return float(np.sqrt(np.sum(within)) / len(cells))
