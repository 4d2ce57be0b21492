"""Not in the paper: HM decoded from all products of its coefficients, by their number."""

from dataclasses import replace

from plausibly.experiments import PLAIN, Figure

from .fig4 import FIGURE as HADAMARD

_SWEEP = next(sweep for sweep in HADAMARD.sweeps if sweep.name == "coefficients")

FIGURE = Figure(
    name="extra5",
    title="HM decoded from all products",
    about="HM sends t coefficients, and with them the products of any of them: 2^t − 1 in all. Decoded from all of "
    "these, more coefficients pay for longer than in figure 4a.",
    sweeps=[replace(_SWEEP, lines=[replace(_SWEEP.lines[0], label="HM (all products)", view=PLAIN, ours=True)])],
    panels=[HADAMARD.panels[0]],
)
