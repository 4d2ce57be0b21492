"""Not in the paper: its sketches as the text defines them, beside those that its program measured.

There the items of a cell of CS share their sign, and the median and the minimum of CM are not debiased
(``variants.SharedSigns``, ``variants.RawCells``). Section 7.5 compares those.
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
    title="Sketches as defined, and as published, over FLH (k′ = 500)",
    about="The paper's program takes the sign of a Count-Sketch from the same hash as the cell, and leaves what others "
    "add to a cell in the median and minimum of Count-Min. Beside the sketches as the text defines them.",
    sweeps=[replace(_WIDTH, lines=[*(one for one in _WIDTH.lines if not one.ours), *_PROGRAM])],
    panels=errors("width", "width", "c", title="Varying c, r = 32", logx=2),
)
