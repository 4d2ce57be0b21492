"""The effect of post-processing on one simulated histogram: the figure of docs/postprocessing.md.

python examples/postprocessing.py --output docs/postprocessing.png
"""

from __future__ import annotations

import argparse

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import plausibly

INK, TRUTH, FAINT = "#1b2a41", "#d1495b", "#8d99ae"
STEPS = {"base": "#66717e", "norm-sub": "#00798c", "significance-cut": "#b5651d"}
ITEMS, USERS = 1024, 100_000


def crowd() -> npt.NDArray[np.int64]:
    """Number of users who have each item: Zipf's law with exponent 1.1."""
    share = np.arange(1, ITEMS + 1) ** -1.1
    counts = np.floor(share / share.sum() * USERS).astype(np.int64)
    counts[0] += USERS - counts.sum()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="postprocessing.png", help="picture file (default: postprocessing.png)")
    options = parser.parse_args()
    counts = crowd()
    scheme = plausibly.make("OUE", epsilon=1, domain_size=ITEMS)
    estimates = scheme.simulate(counts, rng=plausibly.SeededRandom(7)).estimate()
    noise = float(np.sqrt(scheme.variance(USERS)))

    style = {"font.size": 11, "axes.edgecolor": FAINT, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK}
    with mpl.rc_context({**style, "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(11, 4.1), layout="constrained")
        panels = figure.subplots(1, len(STEPS), sharey=True)
        for axes, name in zip(panels, STEPS, strict=True):
            _draw(axes, name, counts, estimates.postprocess(name).values, noise)
        panels[0].set_ylabel("users: linear near 0, log beyond")
        legend = panels[-1].legend(frameon=False, loc="lower right", markerscale=2, handlelength=1.4, fontsize=10)
        # One legend for all panels, whose estimates have different colours.
        next(mark for mark in legend.legend_handles if mark.get_label() == "estimate").set_color("black")
        figure.suptitle(
            f"One histogram of {ITEMS:,} items from {USERS:,} reports at ε = 1, before and after post-processing",
            fontsize=12,
            fontweight="bold",
        )
        figure.savefig(options.output, dpi=150)


def _draw(axes: Axes, name: str, counts: npt.NDArray[np.int64], values: npt.NDArray[np.float64], noise: float) -> None:
    ranks = np.arange(1, ITEMS + 1)
    axes.axhspan(-noise, noise, color=FAINT, alpha=0.15, linewidth=0, label="noise, ±1 standard deviation")
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.plot(ranks, values, ".", color=STEPS[name], markersize=3, label="estimate")
    axes.plot(ranks, counts, color=TRUTH, linewidth=1.6, label="truth")
    axes.set_xscale("log")
    # Linear within two standard deviations, so that zero and negative estimates can be shown.
    axes.set_yscale("symlog", linthresh=2 * noise, linscale=1.2)
    axes.set_ylim(-3500, 40_000)
    axes.set_yticks([-2000, -1000, 0, 1000, 2000, 5000, 10_000, 20_000])
    axes.yaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_minor_locator(mpl.ticker.NullLocator())
    axes.set_xlabel("item, by true rank")
    error = np.sqrt(np.mean((values - counts) ** 2))
    axes.set_title(name, fontweight="bold", fontsize=10.5, color=STEPS[name], loc="left")
    axes.set_title(f"RMS error {error:,.0f}, sum {values.sum():,.0f}", fontsize=9, loc="right")


if __name__ == "__main__":
    main()
