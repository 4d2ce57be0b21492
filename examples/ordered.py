"""Ages of a made-up crowd: histogram, distribution function and quantiles beside the truth, for docs/ordered.md.

python examples/ordered.py --output docs/ordered.png
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

import plausibly

TRUTH = "#d1495b"
USERS, LAST = 100_000, 120


def crowd() -> npt.NDArray[np.int64]:
    """The age of each person: a gamma distribution with a mean of 39 years."""
    years = np.arange(LAST + 1)
    share = years**5 * np.exp(-years / 6.5)
    return np.repeat(years, np.rint(USERS * share / share.sum()).astype(int))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="ordered.png", help="picture file (default: ordered.png)")
    options = parser.parse_args()
    ages = crowd()
    scheme = plausibly.make("SLIDE", epsilon=1, domain=plausibly.Ordered(0, LAST, unit="years"))
    tally = scheme.accumulator()
    tally.add(scheme.privatize(ages, rng=plausibly.SeededRandom(7)))
    estimates = tally.estimate()
    assert isinstance(estimates, plausibly.OrderedEstimates)

    figure = Figure(figsize=(8, 11), layout="constrained")
    top, middle, below = figure.subplots(3, height_ratios=[4, 4, 3])
    found = estimates.binned()
    found.plot(top, title=f"How old are they? One noisy report from each of {len(ages):,} people, ε = 1", unit="people")
    edges = np.append(found.edges[0], found.edges[1][-1])
    widths = np.diff(edges)
    counts = np.histogram(ages, edges)[0] * np.median(widths) / widths
    top.stairs(counts, edges, color=TRUTH, linewidth=1.6, label="truth")
    estimates.postprocess("monotone").cdf(simultaneous=True).plot(middle, unit="people")
    middle.plot(range(LAST + 1), np.cumsum(np.bincount(ages, minlength=LAST + 1)), color=TRUTH, label="truth")
    estimates.quantiles([0.05, 0.25, 0.5, 0.75, 0.95]).plot(below, unit="people")
    below.scatter(np.quantile(ages, [0.05, 0.25, 0.5, 0.75, 0.95]), range(1, 6), color=TRUTH, marker="|", s=200)
    below.set_xlim(middle.get_xlim())
    for axes, place in ((top, "upper right"), (middle, "lower right")):
        axes.legend(frameon=False, loc=place)
    figure.savefig(options.output, dpi=110)


if __name__ == "__main__":
    main()
