"""Parts shared by several figures: the paper's two sweeps, its three panels, and its choice of t."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from plausibly.experiments import Figure, Line, Panel, Sweep

EPSILONS = tuple(half / 2 for half in range(1, 11))
DOMAINS = tuple(2**bits for bits in range(2, 12))

ERRORS = 4096
"""Squared errors per repeat. The mean of five repeats then has an error of 1 %, enough to detect a law 5 % off."""

BY_EPSILON = Panel(title="Varying ε", sweeps=["epsilon"], x="epsilon", xlabel="ε")
BY_DOMAIN = Panel(title="Varying d", sweeps=["domain"], x="d", xlabel="d", logx=2)
TIME = Panel(
    title="Total time",
    sweeps=["domain"],
    x="d",
    y="seconds",
    xlabel="d",
    ylabel="processor seconds",
    logx=2,
    optimum=False,
)


def sweeps(lines: Sequence[Line]) -> list[Sweep]:
    """The lines over ε at d = 1024, and over d at ε = 3, with 100,000 users."""
    return [
        Sweep(name="epsilon", lines=lines, vary={"epsilon": EPSILONS}, errors=ERRORS),
        Sweep(name="domain", lines=lines, vary={"d": DOMAINS}, errors=ERRORS),
    ]


def comparison(name: str, title: str, about: str, lines: Sequence[Line]) -> Figure:
    """A figure of the error over ε, the error over d, and the time over d."""
    panels = [BY_EPSILON, BY_DOMAIN, TIME]
    return Figure(name=name, title=title, about=about, sweeps=sweeps(lines), panels=panels)


def published_t(epsilon: float) -> int:
    """The best number of coefficients for HM as decoded in the paper: 1 up to ε = 1, 3 at ε = 3, 5 at ε = 5."""
    # The variance is n(e^ε + 2^t − 1)²/(t(e^ε − 1)²), section 3.4.
    return min(range(1, 9), key=lambda t: (exp(epsilon) + 2**t - 1) ** 2 / t)
