"""Figure 11: post-processing. The paper's Norm-Sub is a single pass; other papers call its simplex Norm-Sub."""

from plausibly.experiments import Figure, Sweep

from .sketches import DOMAINS, USERS, errors, steps

_PAPER = {
    "No post-processing": (),
    "Base-Pos": ("base-pos",),
    "Norm-Sub": ("norm-sub-once",),
    "Simplex": ("simplex",),
    "Base-Cut": ("base-cut",),
}
_OURS = {"Significance-Cut": ("significance-cut",), "Power-NS": ("power-ns",)}

FIGURE = Figure(
    name="fig11",
    title="Post-processing of FLH (k′ = 500)",
    about="One collection, post-processed in several ways: the error over all items, most of which are rare, and over "
    "the 50 most common items. A step that removes small counts may reduce the former and increase the latter.",
    sweeps=[
        Sweep(
            name="domain",
            lines=[*steps("FLH", _PAPER, hashes=500), *steps("FLH", _OURS, hashes=500, ours=True)],
            vary={"d": DOMAINS},
            n=USERS,
        ),
    ],
    panels=errors("domain", "d", "d", optimum=True),
)
