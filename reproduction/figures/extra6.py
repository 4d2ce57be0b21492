"""Not in the paper: figure 8 with one difference between text and program at a time, the estimator or the error."""

from dataclasses import replace

from plausibly.experiments import Figure

from .fig8 import FIGURE as SMALL
from .sketches import crossed

_TEXT, _PROGRAM = SMALL.sweeps[:2]

FIGURE = Figure(
    name="extra6",
    title="Small sketches over SUE: text and program exchanged",
    about="In a sketch of 128 cells, collisions add much to every cell. At the left, the text's sketches with the "
    "program's error; at the right, the program's sketches, whose median is not corrected and whose signs of CS depend "
    "on the cell, with the text's error.",
    sweeps=[replace(_TEXT, lines=[one for one in _TEXT.lines if not one.ours]), _PROGRAM],
    panels=crossed("domain", "d", "items, d"),
)
