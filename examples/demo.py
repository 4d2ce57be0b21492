"""One million simulated users each hide the site they visited; the crowd's favourites come out all the same.

python examples/demo.py                  fresh randomness from the operating system, picture in demo.png
python examples/demo.py --seed 7         the same numbers every time
python examples/demo.py --epsilon 3      less noise, less privacy
"""

from __future__ import annotations

import argparse
import math
import time
from itertools import product

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import plausibly

INK, TRUTH, FAINT = "#1b2a41", "#d1495b", "#8d99ae"
COLOURS = {"OLH": "#00798c", "OUE": "#edae49"}
FIRST = """amber birch cedar delta ember fjord grove harbor iris jade
    kelp lunar maple north olive pearl quartz river sable tidal"""
SECOND = """atlas books cinema daily events forum garden health images jobs
    kitchen letters maps news outdoor photos quiz radio shop travel"""
TOPICS = ("", "/archive", "/mobile")

Crowd = tuple[list[str], npt.NDArray[np.int64]]


def crowd(users: int) -> Crowd:
    """About a thousand URL-like values, and how many users hold each: Zipf's law with exponent 1.1."""
    sites = [f"{a}-{b}.example{t}" for t, b, a in product(TOPICS, SECOND.split(), FIRST.split())][:1000]
    # A fixed stride mixes the names, so that neighbours in the alphabet are not neighbours in rank.
    sites = [sites[i * 387 % len(sites)] for i in range(len(sites))]
    share = np.arange(1, len(sites) + 1) ** -1.1
    counts = np.floor(share / share.sum() * users).astype(np.int64)
    counts[0] += users - counts.sum()
    return sites, counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1_000_000, help="how many users (default: one million)")
    parser.add_argument("--epsilon", default="1", help="privacy parameter (default: 1)")
    parser.add_argument("--seed", type=int, help="repeat the same simulation (default: fresh randomness)")
    parser.add_argument("--output", default="demo.png", help="where to draw (default: demo.png)")
    options = parser.parse_args()
    if options.users < 1000:
        parser.error("a crowd needs at least 1000 users; nothing can be seen through the noise of fewer")

    sites, counts = crowd(options.users)
    print(f"{options.users:,} users, {len(sites):,} sites, epsilon = {options.epsilon}: each hides their own.\n")
    schemes = {name: plausibly.make(name, epsilon=options.epsilon, domain=sites) for name in COLOURS}
    results, emerging = {}, []
    for name, scheme in schemes.items():
        rng = plausibly.SecureRandom() if options.seed is None else plausibly.SeededRandom(options.seed)
        start = time.perf_counter()
        # Users in no particular order: the same fixed stride, through the whole crowd.
        order = np.arange(options.users) * 7_368_787 % options.users
        reports = scheme.privatize(np.repeat(sites, counts)[order], rng)
        made = time.perf_counter()
        tally = scheme.accumulator()
        tally.add(reports)
        results[name] = tally.estimate()
        done = time.perf_counter()
        print(
            f"{name}: {reports.itemsize:>4} bytes a report, {made - start:.2f} s to randomize all users, "
            f"{done - made:.2f} s to collect and estimate"
        )
        if name == "OLH":
            sizes = [10**k for k in range(3, 6) if 10**k < options.users] + [options.users]
            emerging = [_estimate_of(scheme, reports[:size]) for size in sizes]
            one = reports[0]
    print()
    _print_table(sites, counts, results)
    _print_observer(schemes["OLH"], one, sites)
    _draw(sites, counts, emerging, results, options)
    print(f"\nPicture: {options.output}")


def _estimate_of(scheme: plausibly.Scheme, reports: npt.NDArray[np.void]) -> plausibly.Estimates:
    tally = scheme.accumulator()
    tally.add(reports)
    return tally.estimate()


def _print_table(sites: list[str], counts: npt.NDArray[np.int64], results: dict[str, plausibly.Estimates]) -> None:
    header = f"{'':3}{'true top 10':<28}{'true':>9}"
    print(header + "".join(f"   {name + ', 95 % interval':>28}" for name in results))
    for rank in range(10):
        row = f"{rank + 1:>2} {sites[rank]:<28}{counts[rank]:>9,}"
        for estimates in results.values():
            low, high = (end[rank] for end in estimates.interval(0.95))
            inside = " " if low <= counts[rank] <= high else "*"
            row += f"   {estimates.values[rank]:>9,.0f} [{low:>7,.0f},{high:>8,.0f}]{inside}"
        print(row)
    covered = {name: np.mean((e.interval()[0] <= counts) & (counts <= e.interval()[1])) for name, e in results.items()}
    found = {name: len({*e.top(10).items} & {*sites[:10]}) for name, e in results.items()}
    print(
        "\n".join(
            f"{name}: {found[name]} of the true top 10 are in its own top 10; "
            f"{covered[name]:.1%} of all {len(sites):,} intervals hold the truth (* marks a miss above)"
            for name in results
        )
    )


def _print_observer(scheme: plausibly.Scheme, report: np.void, sites: list[str]) -> None:
    tally = scheme.accumulator()
    tally.add(np.array([report], dtype=scheme.report_dtype))
    supported = int(tally.scores().sum())
    odds = math.exp(scheme.privacy_loss())
    low, high = (100 * x / (x + 99) for x in (1 / odds, odds))
    print(
        f"\nWhat one report says. Somebody sent (seed {report['seed']:#018x}, hash {report['hash']}).\n"
        f"  It fits {supported} of the {len(sites):,} sites, and it could have come from every one of them.\n"
        f"  Can learn:    the odds between two sites shift at most {odds:.2f}-fold, whatever else one knows:\n"
        f"                a suspicion of 1 % becomes at least {low:.2f} % and at most {high:.2f} %.\n"
        f"  Cannot learn: which site it was; nor can anybody who later gets the server, its logs or its keys.\n"
        f"                (A second report of the same user would shift the odds again: send one.)"
    )


def _draw(
    sites: list[str],
    counts: npt.NDArray[np.int64],
    emerging: list[plausibly.Estimates],
    results: dict[str, plausibly.Estimates],
    options: argparse.Namespace,
) -> None:
    style = {"font.size": 9, "axes.edgecolor": FAINT, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK}
    with mpl.rc_context({**style, "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(11, 7.2), layout="constrained")
        top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.25))
        panels = top.subplots(1, len(emerging), sharey=True)
        for axes, estimates in zip(np.atleast_1d(panels), emerging, strict=True):
            _draw_emerging(axes, counts, estimates)
        np.atleast_1d(panels)[0].set_ylabel("share of users")
        top.suptitle(
            f"A histogram emerges from noise: every report alone is deniable at ε = {options.epsilon}",
            fontsize=13,
            fontweight="bold",
        )
        _draw_intervals(bottom.subplots(), sites, counts, results)
        figure.savefig(options.output, dpi=150)


def _draw_emerging(axes: Axes, counts: npt.NDArray[np.int64], estimates: plausibly.Estimates) -> None:
    shown = np.arange(40)
    axes.bar(shown + 1, estimates.fractions[shown], width=0.85, color=COLOURS["OLH"], label="estimate (OLH)")
    axes.plot(shown + 1, counts[shown] / counts.sum(), color=TRUTH, linewidth=1.6, label="truth")
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.set_title(f"{estimates.n:,} reports")
    axes.set_xlabel("site, by true rank")
    axes.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
    if estimates.n == counts.sum():
        axes.legend(frameon=False, loc="upper right")


def _draw_intervals(
    axes: Axes, sites: list[str], counts: npt.NDArray[np.int64], results: dict[str, plausibly.Estimates]
) -> None:
    rows = np.arange(10)
    for shift, (name, estimates) in zip((-0.16, 0.16), results.items(), strict=True):
        low, high = (end[:10] for end in estimates.interval(0.95))
        axes.hlines(rows + shift, low, high, color=COLOURS[name], linewidth=5, alpha=0.45)
        axes.plot(estimates.values[:10], rows + shift, "o", color=COLOURS[name], markersize=4.5, label=f"{name}, 95 %")
    axes.vlines(counts[:10], rows - 0.38, rows + 0.38, color=TRUTH, linewidth=2, label="truth")
    axes.set_yticks(rows, sites[:10])
    axes.invert_yaxis()
    axes.set_xlabel(f"users, out of {counts.sum():,}")
    axes.set_title("The ten most visited sites, as the server sees them", fontweight="bold", loc="left")
    axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
    axes.legend(frameon=False, loc="lower right")


if __name__ == "__main__":
    main()
