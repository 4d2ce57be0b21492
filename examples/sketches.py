"""Mean, median, minimum and peeling of the rows of a sketch, side by side: a table, and docs/sketches.png.

python examples/sketches.py [picture.png]
"""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np

import plausibly

SITES, USERS, ROWS, WIDTH, RUNS = 20_000, 1_000_000, 32, 1024, 10
# Colours: dark for the default, orange for the robust one, green for peeling, grey for the minimum.
CHOICES = {
    ("CM", "mean"): ("#4477aa", "-"),
    ("CM", "median"): ("#ee7733", "-"),
    ("CM", "min"): ("#999999", "-"),
    ("CM", "peel"): ("#009988", "-"),
    ("CS", "mean"): ("#4477aa", "--"),
    ("CS", "median"): ("#ee7733", "--"),
    ("CS", "peel"): ("#009988", "--"),
}
EDGES = np.unique(np.geomspace(1, SITES, 13).astype(int))


def crowd() -> np.ndarray:
    """Number of users of each site: Zipf(1.1)."""
    weights = np.arange(1, SITES + 1) ** -1.1
    counts = np.floor(USERS * weights / weights.sum()).astype(np.int64)
    counts[0] += USERS - counts.sum()
    return counts


def errors(truth: np.ndarray) -> tuple[dict[tuple[str, str], np.ndarray], dict[tuple[str, str], float]]:
    """The errors of every choice in every run, and the share of its 95 % intervals that contain the truth."""
    found: dict[tuple[str, str], list[np.ndarray]] = {choice: [] for choice in CHOICES}
    covered: dict[tuple[str, str], list[float]] = {choice: [] for choice in CHOICES}
    for run in range(RUNS):
        for kind, cells in (("CM", WIDTH), ("CS", 2 * WIDTH)):
            oracle = plausibly.make("TLH", epsilon=3, domain_size=cells)
            scheme = plausibly.make(kind, oracle=oracle, rows=ROWS, domain_size=SITES, hash_seed=run)
            tally = scheme.simulate(truth, plausibly.SeededRandom(run))
            for choice in (choice for choice in CHOICES if choice[0] == kind):
                estimates = tally.estimate(combine=choice[1])
                found[choice].append(estimates.values - truth)
                if estimates.variance is not None:
                    low, high = estimates.interval()
                    covered[choice].append(float(((low <= truth) & (truth <= high)).mean()))
    shares = {choice: float(np.mean(runs)) if runs else float("nan") for choice, runs in covered.items()}
    return {choice: np.array(runs) for choice, runs in found.items()}, shares


def table(found: dict[tuple[str, str], np.ndarray], covered: dict[tuple[str, str], float]) -> str:
    """Mean squared error per user, bias of rare sites, and coverage, as text."""
    lines = [f"{'':12}{'MSE/n':>8}{'top 100':>10}{'bias':>8}{'coverage':>10}"]
    for choice, error in found.items():
        squared = (error**2).mean(axis=0) / USERS
        coverage = "none" if np.isnan(covered[choice]) else f"{100 * covered[choice]:.1f} %"
        bias = error[:, SITES // 2 :].mean()
        name = f"{choice[0]} {choice[1]}"
        lines.append(f"{name:12}{squared.mean():8.2f}{squared[:100].mean():10.2f}{bias:8.0f}{coverage:>10}")
    return "\n".join(lines)


def draw(found: dict[tuple[str, str], np.ndarray], path: str) -> None:
    """Draw the root mean squared error by rank, and the distribution of the errors of rare sites."""
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    centres = np.sqrt(EDGES[:-1] * EDGES[1:])
    for choice, error in found.items():
        colour, line = CHOICES[choice]
        squared = (error**2).mean(axis=0)
        by_rank = [squared[a - 1 : b - 1].mean() for a, b in pairwise(EDGES)]
        left.plot(centres, np.sqrt(by_rank), line, color=colour, label=f"{choice[0]} {choice[1]}", linewidth=1.8)
        rare = error[:, SITES // 2 :].ravel()
        heights, bins = np.histogram(rare, bins=np.linspace(-11_000, 9000, 81), density=True)
        right.plot((bins[:-1] + bins[1:]) / 2, 1000 * heights, line, color=colour, linewidth=1.8)
    left.set(xscale="log", yscale="log", xlabel="rank of the site", ylabel="root mean squared error, users")
    left.set_yticks([500, 1000, 2000, 5000], ["500", "1,000", "2,000", "5,000"])
    left.minorticks_off()
    left.legend(frameon=False, fontsize=9, ncols=2, loc="center", bbox_to_anchor=(0.6, 0.68))
    left.set_title("Error by rank", loc="left", fontsize=11)
    right.set(xlabel="error of the rarer half of the sites, users", ylabel="density per 1,000 users")
    right.set_xlim(-11_000, 9000)
    right.set_xticks([-10_000, -5000, 0, 5000])
    right.xaxis.set_major_formatter("{x:,.0f}")
    right.axvline(0, color="#222222", linewidth=0.8)
    right.set_title("Distribution of the errors", loc="left", fontsize=11)
    figure.savefig(path, dpi=160)


if __name__ == "__main__":
    truth = crowd()
    found, covered = errors(truth)
    print(f"{USERS:,} users, {SITES:,} sites, Zipf(1.1); epsilon = 3, TLH, {ROWS} rows of {WIDTH}; {RUNS} runs\n")
    print(table(found, covered))
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])
