"""Not in the paper: HM decoded from all products of its coefficients, by their number."""

from dataclasses import replace

from plausibly.experiments import PLAIN, Figure

from .fig4 import FIGURE as HADAMARD
from .shapes import RELATIVE

_SWEEP = next(sweep for sweep in HADAMARD.sweeps if sweep.name == "coefficients")

FIGURE = Figure(
    name="extra5",
    title="HM decoded from all products",
    about="A report of HM with t coefficients also reveals all their products: 2^t − 1 numbers. Decoded from all of "
    f"them, HM gains from more coefficients than in figure 4a. {RELATIVE}",
    sweeps=[replace(_SWEEP, lines=[replace(_SWEEP.lines[0], label="HM (all products)", view=PLAIN, ours=True)])],
    panels=HADAMARD.panels[:2],
)
