"""Not in the paper: the small sketches of figure 8, as the text defines them and as its program computes them."""

from dataclasses import replace
from typing import Any

from plausibly.experiments import Figure

from .fig8 import FIGURE as SMALL
from .sketches import errors, sketch

_SWEEP = SMALL.sweeps[0]
_OF: dict[str, Any] = {"oracle": {"scheme": "SUE"}, "width": 128, "rows": 16}
_PROGRAM = [
    sketch("CM (Median), not debiased", "CM, not debiased", "median", ours=True, **_OF),
    sketch("CM (Min), not debiased", "CM, not debiased", "min", ours=True, **_OF),
    sketch("CS (Min), shared signs", "CS, shared signs", "min", ours=True, **_OF),
]

FIGURE = Figure(
    name="extra6",
    title="Small sketches as defined and as programmed, over SUE",
    about="In a sketch of 128 cells, collisions add much to every cell. Without debiasing, as in the paper's program, "
    "they hide that the minimum of noisy rows is far too low.",
    sweeps=[replace(_SWEEP, lines=[*(one for one in _SWEEP.lines if one.scheme == "CM" and not one.ours), *_PROGRAM])],
    panels=errors("domain", "d", "d", title="Varying d"),
)
