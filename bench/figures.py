"""Plots of the results, each drawn from the saved numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .remote import whole_job

Results = dict[str, Any]
Line = list[tuple[float, float]]

INK, FAINT, GRID = "#1b2a41", "#8d99ae", "#e3e6ec"
COLOURS = {"plausibly": "#00798c", "pure-ldp": "#d1495b", "multi-freq-ldpy": "#b36b00"}
MARKS = {"plausibly": "o", "pure-ldp": "s", "multi-freq-ldpy": "D"}
DASHES: dict[str, Any] = {"plausibly": "-", "pure-ldp": (0, (3, 1.5)), "multi-freq-ldpy": (0, (1, 1))}
STYLE = {
    "font.size": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@dataclass(frozen=True)
class Picture:
    """A picture file and its caption."""

    file: str
    caption: str


def draw(results: Results, folder: Path) -> list[Picture]:
    """Draw all pictures for which there are results."""
    plan = results["plan"]
    ends = "lines end where a run needs too much time or memory"
    threads = f"plausibly on {results['machine']['threads']} threads"
    drawings: list[tuple[Picture, Callable[[Results], Figure]]] = [
        (
            Picture(
                "whole-job.png",
                f"From values to estimates: {plan['whole_n']:,} users, {plan['whole_d']:,} items, ε = 3 ({threads})",
            ),
            _whole_job,
        ),
        (Picture("limits.png", "Speed of the kernels as a share of the machine's limit, on one thread"), _limits),
        (
            Picture(
                "scaling-n.png", f"From values to estimates, by number of users ({plan['whole_d']:,} items); {ends}"
            ),
            _by_n,
        ),
        (
            Picture(
                "scaling-d.png", f"From values to estimates, by number of items ({plan['curve_users']:,} users); {ends}"
            ),
            _by_d,
        ),
        (
            Picture(
                "sketches.png", f"Sketches, from values to estimates: {plan['sketch_n']:,} users, ε = 3 ({threads})"
            ),
            _sketches,
        ),
    ]
    with mpl.rc_context(STYLE):
        for picture, drawing in drawings:
            figure = drawing(results)
            figure.suptitle(picture.caption, fontweight="bold", fontsize=10)
            figure.savefig(folder / picture.file, dpi=150)
    return [picture for picture, _ in drawings]


def _whole_job(results: Results) -> Figure:
    return _side_by_side([{**row, "name": row["oracle"]} for row in results["whole"]])


def _sketches(results: Results) -> Figure:
    return _side_by_side(results["sketch_races"])


def _side_by_side(rows: list[Results]) -> Figure:
    rows = sorted(rows, key=_slowest, reverse=True)
    figure = Figure(figsize=(7.2, 0.45 * len(rows) + 1.7), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        axes.plot([row["seconds"], _slowest(row)], [place, place], color=GRID, lw=3, zorder=1)
        for library, peer in row["peers"].items():
            axes.plot(peer["seconds"], place, MARKS[library], color=COLOURS[library], ms=7, zorder=3)
            # The quotient of the times in the picture; the table has the median of the ratios within the rounds.
            _label(axes, (peer["seconds"], place), f"{peer['seconds'] / row['seconds']:,.0f}×", library)
        axes.plot(row["seconds"], place, MARKS["plausibly"], color=COLOURS["plausibly"], ms=8, zorder=4)
    axes.set(xscale="log", ylim=(len(rows) - 0.3, -0.8))
    axes.set_xlabel("seconds (log scale); labels: multiples of plausibly's seconds")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.grid(axis="x", color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    there = [name for name in COLOURS if name == "plausibly" or any(name in row["peers"] for row in rows)]
    for name in there:
        axes.plot([], [], MARKS[name], color=COLOURS[name], label=_told(name), ms=7)
    figure.legend(frameon=False, loc="outside lower center", ncols=len(there), fontsize=8, columnspacing=1.2)
    return figure


def _told(library: str) -> str:
    # Peers take one user at a time: as many as fit into the time for a measurement, and the rest is multiplied out.
    return library if library == "plausibly" else f"{library} (from its cost per user)"


def _slowest(row: Results) -> float:
    return max([row["seconds"], *(peer["seconds"] for peer in row["peers"].values())])


def _label(axes: Axes, place: tuple[float, float], words: str, library: str) -> None:
    # One library's label above its mark and the other's below: their times are often similar.
    above = library == "pure-ldp"
    style = {"fontsize": 8, "color": COLOURS[library], "ha": "center", "va": "bottom" if above else "top"}
    axes.annotate(words, place, xytext=(0, 5 if above else -5), textcoords="offset points", **style)


def _limits(results: Results) -> Figure:
    clients = {f"{name} client": row["share"] for name, row in results["clients"].items()}
    bars = {"OUE server": results["unary_server"]["server_share"]}
    bars |= dict(sorted(clients.items(), key=lambda bar: -bar[1]))
    figure = Figure(figsize=(7.2, 0.34 * len(bars) + 1.4), layout="constrained")
    axes = figure.subplots()
    for place, share in enumerate(bars.values()):
        axes.barh(place, share, color=COLOURS["plausibly"], height=0.7)
        axes.annotate(f"{share:.2f}", (0, place), xytext=(6, 0), textcoords="offset points", va="center").set(
            color="white", fontweight="bold"
        )
    axes.set_yticks(range(len(bars)), list(bars))
    axes.set(xlim=(0, max(1.0, *bars.values())), ylim=(len(bars) - 0.4, -0.6))
    axes.set_xlabel("share of the limit: reading from memory for the server, encryption by AES-256 for the clients")
    axes.grid(axis="x", color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    return figure


def _by_n(results: Results) -> Figure:
    def theirs(oracle: str, library: str) -> Line:
        peers = [row["peers"].get(library) for row in results["whole"] if row["oracle"] == oracle]
        return [(n, whole_job(peer, n)) for peer in peers if peer for n in results["plan"]["curve_n"]]

    return _curves(results, "n", "users", theirs)


def _by_d(results: Results) -> Figure:
    def theirs(oracle: str, library: str) -> Line:
        cells = [(cell["d"], cell["peers"].get(library)) for cell in results["cells"] if cell["oracle"] == oracle]
        return [(d, whole_job(peer, results["plan"]["curve_users"])) for d, peer in cells if peer]

    return _curves(results, "d", "items in the domain", theirs)


def _curves(results: Results, axis: str, label: str, theirs: Callable[[str, str], Line]) -> Figure:
    # One small panel for each oracle on common axes: a dozen lines in one panel would be indistinguishable.
    curves = [curve for curve in results["curves"] if curve["axis"] == axis]
    across = min(4, len(curves))
    down = math.ceil(len(curves) / across)
    figure = Figure(figsize=(2.5 * across + 0.6, 2.0 * down + 1.2), layout="constrained")
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    lines = {}
    for panel, curve in zip(panels.flat, curves, strict=False):
        points = [(point[axis], point["seconds"]) for point in curve["points"]]
        drawn = {"plausibly": points} | {name: theirs(curve["oracle"], name) for name in COLOURS if name != "plausibly"}
        for name, line in drawn.items():
            if line:
                # Marks are measurements. Peers are measured in every domain, but not with every number of users.
                mark = "" if axis == "n" and name != "plausibly" else MARKS[name]
                style = {"marker": mark, "ms": 3.5, "lw": 1.6, "ls": DASHES[name]}
                lines[name] = panel.plot(*zip(*line, strict=True), color=COLOURS[name], **style)[0]
        panel.set(xscale="log", yscale="log", title=curve["oracle"])
        panel.grid(color=GRID, lw=0.7)
        panel.set_axisbelow(True)
        panel.minorticks_off()
    for panel in panels.flat[len(curves) :]:
        panel.set_visible(False)
    for place in range(max(0, len(curves) - across), len(curves)):
        panels.flat[place].set_xlabel(label)
        panels.flat[place].tick_params(labelbottom=True)
    for panel in panels[:, 0]:
        panel.set_ylabel("seconds")
    figure.legend(lines.values(), map(_told, lines), loc="outside lower center", ncols=3, frameon=False)
    return figure
