"""Figure 8: Bloom filters and sketches, all over SUE as the text says.

The program has its sketches over DE (``group5_bloom_comparison``), and we do not: only their estimators and errors are
the program's. Its client for Bloom filters never clears a set bit (``published_rappor``).
"""

from typing import Any

from plausibly.experiments import Figure, Panel, Sweep, line, view

from ..published_rappor import NOT_PRIVATE
from .sketches import DOMAINS, PROGRAM, USERS, both_readings, ours, panels, six

_SIZE: dict[str, Any] = {"bits": 128, "hashes": 2, "cohorts": 8}
_BLOOM = line("Bloom filter", "BLOOM", **_SIZE)
_PUBLISHED = line("Bloom filter", NOT_PRIVATE, view=view(alpha=0.005), **_SIZE)
_SUE: dict[str, Any] = {"oracle": {"scheme": "SUE"}, "rows": 16}
_DOMAIN = Sweep(
    name="domain",
    lines=[_BLOOM, *six(**_SUE, width=128), *ours(**_SUE, width=128)],
    vary={"d": DOMAINS},
    n=USERS,
)
_LARGE = Sweep(
    name="width",
    lines=[*six(**_SUE), *ours(**_SUE)],
    vary={"width": (128, 512, 2048)},
    n=USERS,
    d=100_000,
    repeats=3,
)
_LEVEL = Sweep(name="Bloom filter", lines=[_BLOOM], n=USERS, d=100_000)


def _larger(whose: str, suffix: str, metric: str, name: str) -> Panel:
    return Panel(
        title=f"Larger sketches {whose}",
        sweeps=["Bloom filter" + suffix, "width" + suffix],
        x="width",
        y=metric,
        xlabel="cells in a row, c (r = 16)",
        ylabel=name,
        logx=2,
        optimum=False,
    )


FIGURE = Figure(
    name="fig8",
    title="Bloom filters and sketches over SUE",
    about="Three ways to fit a large domain into 128 bits of unary encoding. A Bloom filter is decoded by regression, "
    "a sketch by combining its 16 rows. At the left, estimators and errors are those that the paper's text defines, "
    "and dashed lines are our estimators; at the right, they are those of the paper's program, whose client for Bloom "
    "filters never clears a set bit. The program runs its sketches over DE; here all of them are over SUE, as the text "
    "says. The last two panels compare larger sketches with the same Bloom filter.",
    sweeps=[
        *both_readings(_DOMAIN, [_PUBLISHED, *six(**_SUE, width=128, program=True)]),
        *both_readings(_LEVEL, [_PUBLISHED]),
        *both_readings(_LARGE, six(**_SUE, program=True)),
    ],
    panels=[
        *panels("domain", "d", "items, d"),
        _larger("by the text: MSE", "", "mse", "MSE"),
        _larger("by the program: MSE", PROGRAM, "mse_clipped", "MSE, clipped at 0"),
    ],
)
