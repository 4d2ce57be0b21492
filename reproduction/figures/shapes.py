"""Parts shared by several figures: the paper's two sweeps, its three panels, and its choice of t."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp

from plausibly.experiments import Figure, Line, Panel, Sweep

EPSILONS = tuple(half / 2 for half in range(1, 11))
DOMAINS = tuple(2**bits for bits in range(2, 12))

ERRORS = 4096
"""Squared errors per repeat. The mean of five repeats then has an error of 1 %, enough to detect a law 5 % off."""

TEXT, PROGRAM = "as the text defines it", "as the program computes it"
"""The program rounds estimates and sets negative ones to zero before it compares them with the truth."""


def relative_error(
    title: str, sweeps: Sequence[str], x: str, xlabel: str, *, logx: int | None = None, lines: str = "label"
) -> list[Panel]:
    """Panels of the error relative to the optimum in large domains: left the text's, right the program's."""
    plain = Panel(
        title=f"{title}, {TEXT}",
        sweeps=sweeps,
        lines=lines,
        x=x,
        xlabel=xlabel,
        ylabel="MSE / large-domain optimum",
        logx=logx,
        relative=True,
    )
    clipped = replace(plain, title=f"{title}, {PROGRAM}", y="mse_clipped", ylabel="clipped MSE / large-domain optimum")
    return [plain, clipped]


BY_EPSILON = relative_error("Varying ε", ["epsilon"], "epsilon", "ε")
BY_DOMAIN = relative_error("Varying d", ["domain"], "d", "items, d", logx=2)
RELATIVE = (
    "Errors are divided by the least error of unbiased estimates in a large domain; small domains and clipping can go "
    "below 1. At the left is the MSE that the text defines, at the right that of the program, which sets negative "
    "estimates to zero first."
)
_TIME = Panel(
    title="Total time",
    sweeps=["domain"],
    x="d",
    y="seconds",
    xlabel="items, d",
    ylabel="processor seconds",
    logx=2,
    optimum=False,
)
_BYTES = replace(_TIME, title="Size of a report", y="report_bytes", ylabel="bytes")
_COSTS = [_TIME, _BYTES]


def sweeps(lines: Sequence[Line]) -> list[Sweep]:
    """The lines over ε at d = 1024, and over d at ε = 3, with 100,000 users."""
    return [
        Sweep(name="epsilon", lines=lines, vary={"epsilon": EPSILONS}, errors=ERRORS),
        Sweep(name="domain", lines=lines, vary={"d": DOMAINS}, errors=ERRORS),
    ]


def comparison(name: str, title: str, about: str, lines: Sequence[Line]) -> Figure:
    """A figure of the error over ε and over d, each by the text and by the program, and of time and bytes over d."""
    panels = [*BY_EPSILON, *BY_DOMAIN, *_COSTS]
    return Figure(name=name, title=title, about=f"{about} {RELATIVE}", sweeps=sweeps(lines), panels=panels)


def published_t(epsilon: float) -> int:
    """The best number of coefficients for HM as decoded in the paper: 1 up to ε = 1, 3 at ε = 3, 5 at ε = 5."""
    # Decoded coefficient by coefficient, the variance is n(e^ε + 2^t − 1)²/(t(e^ε − 1)²): section 3.5 without products.
    return min(range(1, 9), key=lambda t: (exp(epsilon) + 2**t - 1) ** 2 / t)
