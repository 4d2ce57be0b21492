"""Figure 11: post-processing.

The paper's Norm-Sub is a single pass: negative estimates become zero, and all others change by the same number, which
makes some of them negative. Its program then sets those to zero as well. Repeated until none is negative, Norm-Sub is
the projection onto the simplex, to which other papers give this name.
"""

from plausibly.experiments import Figure, Sweep

from .sketches import DOMAINS, USERS, errors, steps

_PAPER = {
    "No post-processing": (),
    "Base-Pos": ("base-pos",),
    "Norm-Sub": ("norm-sub-once",),
    "Norm-Sub, program": ("norm-sub-once", "base-pos"),
    "Simplex": ("simplex",),
    "Base-Cut": ("base-cut",),
}
_OURS = {"Significance-Cut": ("significance-cut",), "Power-NS": ("power-ns",)}

FIGURE = Figure(
    name="fig11",
    title="Post-processing of FLH (k′ = 500)",
    about="One collection, post-processed in several ways: the error over all items, most of which are rare, and over "
    "the 50 most common items. A step that removes small counts may reduce the former and increase the latter. "
    "Norm-Sub sets negative estimates to zero and adds the same number to all others, once, so that they add up to the "
    "number of users; as this makes some negative, the paper's program sets those to zero as well. Repeated until none "
    "is negative, it is the simplex.",
    sweeps=[
        Sweep(
            name="domain",
            lines=[*steps("FLH", _PAPER, hashes=500), *steps("FLH", _OURS, hashes=500, ours=True)],
            vary={"d": DOMAINS},
            n=USERS,
        ),
    ],
    panels=errors("domain", "d", "items, d", optimum=True),
)
