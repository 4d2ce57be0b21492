"""Draw docs/shuffling.png: the central epsilon of shuffled reports against the number of users, in half a minute.

Run it in a clone after `make test-fast`, which installs Matplotlib: .venv/bin/python docs/draw_shuffling.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

import plausibly
from plausibly.shuffling import clones, stronger_clones

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
USERS = [round(10 ** (2 + i / 3)) for i in range(13)]
SCHEMES = [("DE", 4, "C0"), ("DE", 1024, "C1"), ("HM", 1024, "C2")]


def main() -> None:
    """Draw one panel for each local epsilon."""
    figure, panels = plt.subplots(1, 3, figsize=(11, 4), sharey=True, constrained_layout=True)
    for panel, epsilon in zip(panels, (1, 3, 6), strict=True):
        for name, items, colour in SCHEMES:
            scheme = plausibly.make(name, epsilon=epsilon, domain_size=items)
            central = [plausibly.shuffled(scheme, users).epsilon for users in USERS]
            panel.loglog(USERS, central, color=colour, label=f"{name}, {items:,} items")
        for form, style, label in (
            (clones, ":", "any scheme, FOCS 2021"),
            (stronger_clones, "--", "any scheme, SODA 2023"),
        ):
            known = [(users, form(epsilon, users, 1e-6)) for users in USERS]
            panel.loglog(*zip(*[pair for pair in known if pair[1]], strict=True), style, color="0.5", label=label)
        panel.axhline(epsilon, color="0.8", linewidth=1)
        panel.set(title=f"local ε = {epsilon}", xlabel="reports in the smallest batch")
    panels[0].set_ylabel("central ε at δ = $10^{-6}$")
    panels[2].legend(fontsize="small", loc="lower left")
    figure.savefig(HERE / "shuffling.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
