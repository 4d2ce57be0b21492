"""Not in the paper: figure 7 with one difference between text and program at a time, the estimator or the error."""

from dataclasses import replace

from plausibly.experiments import Figure

from .fig7 import FIGURE as SIZES
from .sketches import crossed

_TEXT, _PROGRAM = SIZES.sweeps[:2]

FIGURE = Figure(
    name="extra4",
    title="Sketches over FLH (k′ = 500): text and program exchanged",
    about="The paper's program differs from its text in two ways: it does not correct the median of CM and derives the "
    "sign of CS from the cell, and it clips estimates at zero before it compares them. At the left, the text's "
    "sketches with the program's error; at the right, the program's sketches with the text's error.",
    sweeps=[replace(_TEXT, lines=[one for one in _TEXT.lines if not one.ours]), _PROGRAM],
    panels=crossed("width", "width", "cells in a row, c (r = 32)", logx=2),
)
