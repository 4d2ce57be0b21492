"""Find popular addresses without a list of candidates: a table, and the figure of docs/searches.md.

python examples/search.py --output docs/search.png
"""

from __future__ import annotations

import argparse

import plausibly
from plausibly.experiments import ALPHABET, URL_CLICKS_N, Crowd, url_clicks

LENGTH = 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=URL_CLICKS_N, help=f"number of users (default: {URL_CLICKS_N:,})")
    parser.add_argument("--output", default="search.png", help="picture file (default: search.png)")
    options = parser.parse_args()

    # Synthetic clicks, as skewed as those of a search engine; the server never sees them.
    crowd = url_clicks(options.users, LENGTH, seed=7)
    clicks = dict(zip(crowd.strings.tolist(), crowd.counts.tolist(), strict=True))

    # The whole search: every user sends a few bytes once, and all strings of up to 24 characters are possible.
    scheme = plausibly.TRELLIS(3, domain=plausibly.Strings(ALPHABET, LENGTH), users=crowd.n)
    tally = scheme.simulate(clicks, plausibly.SeededRandom(7))
    found = tally.search(k=20, level=0.05)

    print(
        f"{crowd.n:,} users, {len(clicks):,} addresses, epsilon = 3: {scheme.report_dtype.itemsize} bytes per user.\n"
    )
    _print_table(crowd, found)
    missed = next((address for address in crowd.top(1000) if address not in found.items.tolist()), None)
    if missed is not None:
        print(f"\nThe most popular address that was missed has {clicks[missed]:,} users. Why?\n{found.explain(missed)}")
    found.plot_tree().get_figure().savefig(options.output, dpi=150)
    print(f"\nPicture: {options.output}")


def _print_table(crowd: Crowd, found: plausibly.HeavyHitters) -> None:
    truth = dict(zip(crowd.strings.tolist(), crowd.counts.tolist(), strict=True))
    low, high = found.interval(0.95)
    print(f"   {'found':<{LENGTH}}{'estimate, 95 % interval':>26}{'p-value':>10}{'true':>9}")
    for i, address in enumerate(found.items.tolist()):
        interval = f"{found.values[i]:>8,.0f} [{low[i]:>6,.0f}, {high[i]:>6,.0f}]"
        print(f"{i + 1:>2} {address:<{LENGTH}}{interval:>26}{found.p_values[i]:>10.1g}{truth.get(address, 0):>9,}")


if __name__ == "__main__":
    main()
