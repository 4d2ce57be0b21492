"""Figure 7: sketches of different sizes, with different ways to combine the rows, on clicked addresses."""

from plausibly.experiments import Figure, Sweep

from .sketches import CLICKED, CLICKS, FLH, both_readings, ours, panels, six

_TEXT = [*six(oracle=FLH), *ours(oracle=FLH)]
_PROGRAM = six(oracle=FLH, program=True)
_WIDTH = Sweep(
    name="width",
    lines=_TEXT,
    vary={"width": tuple(2**bits for bits in range(5, 12)), "rows": (32,)},
    data="url-clicks",
    n=CLICKS,
    d=CLICKED,
)
_ROWS = Sweep(
    name="rows",
    lines=_TEXT,
    vary={"rows": tuple(2**bits for bits in range(1, 10)), "width": (1024,)},
    data="url-clicks",
    n=CLICKS,
    d=CLICKED,
)

FIGURE = Figure(
    name="fig7",
    title="Numbers of cells and rows of sketches over FLH (k′ = 500)",
    about="A sketch hashes a large domain into r rows of c cells. The upper panels vary the number of cells, the lower "
    "ones the number of rows. The text corrects the mean and the median of CM and takes the minimum as it is; the "
    "program corrects the mean alone. At the left, sketches and errors are those that the paper's text defines, and "
    "dashed lines are our estimators; at the right, they are those of the paper's program. The clicks come from a "
    "model of the paper's log.",
    sweeps=[*both_readings(_WIDTH, _PROGRAM), *both_readings(_ROWS, _PROGRAM)],
    panels=[
        *panels("width", "width", "cells in a row, c (r = 32)", logx=2),
        *panels("rows", "rows", "rows, r (c = 1024)", logx=2),
    ],
)
