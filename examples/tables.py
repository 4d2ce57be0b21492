"""Plans by age in a made-up crowd: a heat map with intervals and a mosaic, for docs/tables.md.

python examples/tables.py --output docs/tables.png
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

import plausibly

AGES = {"18–29": 60_000, "30–49": 80_000, "50–69": 40_000, "70+": 20_000}
PLANS = {"free": (0.7, 0.4, 0.3, 0.6), "basic": (0.2, 0.35, 0.5, 0.35), "pro": (0.1, 0.25, 0.2, 0.05)}


def crowd() -> dict[tuple[str, str, str], int]:
    """Number of people with each age, plan and theme; the theme depends on neither of them."""
    found = {}
    for place, (age, people) in enumerate(AGES.items()):
        for plan, shares in PLANS.items():
            half = round(people * shares[place] / 2)
            found |= {(age, plan, theme): half for theme in ("dark", "light")}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="tables.png", help="picture file (default: tables.png)")
    options = parser.parse_args()
    survey = plausibly.Table({"age": list(AGES), "plan": list(PLANS), "theme": ["dark", "light"]}, missing=["plan"])
    scheme = plausibly.make("CLIQUE", epsilon=1, domain=survey)
    table = scheme.simulate(crowd(), plausibly.SeededRandom(3)).table("age", "plan")
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    left, right = np.ravel(figure.subplots(1, 2))
    table.plot(left, title="Plans by age, ε = 1")
    table.plot(right, kind="mosaic", title="The same as shares")
    figure.savefig(options.output, dpi=100)


if __name__ == "__main__":
    main()
