"""Your own experiment: is there a better unary encoding between SUE and OUE, or beyond?

    plausibly reproduce examples/own_experiment.py

A unary report spends ε in two portions: one on the true item's bit and one on all others. SUE splits it in half, OUE
spends nothing on the true bit. This experiment tries every other split, on a crowd that is neither Zipf nor uniform.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from plausibly.core.domain import make_domain
from plausibly.core.probability import WORD, keep_threshold
from plausibly.experiments import CROWDS, SCHEMES, Figure, Panel, Sweep, line
from plausibly.oracles.unary import Unary

# --- a scheme: any subclass of Scheme, entered with a function that makes it ------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Divided(Unary):
    """Unary encoding that spends ``percent`` of ε on the true item's bit: 50 is SUE, 0 is OUE."""

    name = "Divided"
    percent: int

    @cached_property
    def keep(self) -> int:
        return keep_threshold(self.epsilon * Fraction(self.percent, 100), 1, 1) if self.percent else WORD // 2

    @cached_property
    def flip(self) -> int:
        return WORD - keep_threshold(self.epsilon * Fraction(100 - self.percent, 100), 1, 1)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"percent": self.percent}


def divided(epsilon: float, domain_size: int, hash_seed: int, percent: int) -> Divided:
    return Divided(epsilon=epsilon, domain=make_domain(domain_size=domain_size), percent=percent)


SCHEMES["Divided"] = divided

# --- a crowd: a function from n, d and a seed to the count of each item -----------------------------------------


def half_alike(n: int, d: int, seed: int) -> Any:
    """A crowd in which half of all users have item 0, and the others are spread evenly."""
    others = np.bincount(np.arange(n - n // 2) % (d - 1), minlength=d - 1)
    return np.append(n // 2, others).astype(np.int64)


CROWDS["half alike"] = half_alike

# --- what to measure, and how to draw it ------------------------------------------------------------------------

FIGURE = Figure(
    name="own",
    title="Unary encoding between OUE and SUE",
    about="The share of ε spent on the true item's bit: at ε = 3, less is better; at ε = 1, it hardly matters.",
    sweeps=[
        Sweep(
            name="share",
            lines=[line("Divided")],
            vary={"percent": range(0, 91, 10), "epsilon": (1, 3)},
            data="half alike",
            n=20_000,
            d=128,
            repeats=5,
        ),
    ],
    panels=[
        Panel(title="All items", sweeps=["share"], x="percent", lines="epsilon", xlabel="% of ε", optimum=False),
        Panel(
            title="The 50 most common",
            sweeps=["share"],
            x="percent",
            y="k_mse",
            lines="epsilon",
            xlabel="% of ε",
            ylabel="k-MSE",
            optimum=False,
        ),
    ],
)
