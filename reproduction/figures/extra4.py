"""Not in the paper: its sketches as the text defines them, next to the sketches that its program measured.

In the program, all items of a cell of CS share their sign, and the median and the minimum of CM are not debiased
(``variants.SharedSigns``, ``variants.RawCells``). Section 7.5 compares the program's sketches.
"""

from dataclasses import replace

from plausibly.experiments import Figure

from .fig7 import FIGURE as SIZES
from .sketches import FLH, errors, sketch

_PROGRAM = [
    sketch("CM (Median), not debiased", "CM, not debiased", "median", ours=True, oracle=FLH),
    sketch("CM (Min), not debiased", "CM, not debiased", "min", ours=True, oracle=FLH),
    *(
        sketch(f"CS ({combine.capitalize()}), shared signs", "CS, shared signs", combine, ours=True, oracle=FLH)
        for combine in ("mean", "median", "min")
    ),
]
_WIDTH = SIZES.sweeps[0]

FIGURE = Figure(
    name="extra4",
    title="Sketches as defined and as programmed, over FLH (k′ = 500)",
    about="Sketches as the text defines them, and as the paper's program computes them: it takes the sign of a "
    "Count-Sketch from the same hash as the cell, and does not debias the median and the minimum of Count-Min.",
    sweeps=[replace(_WIDTH, lines=[*(one for one in _WIDTH.lines if not one.ours), *_PROGRAM])],
    panels=errors("width", "width", "c", title="Varying c, r = 32", logx=2),
)
