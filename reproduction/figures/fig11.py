"""Figure 11: post-processing. The paper's Norm-Sub is one pass, and its simplex is what others call Norm-Sub."""

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
    about="One collection read in several ways: the error of all items, of which most are rare, beside that of the 50 "
    "most common. A step that cuts small counts away may help the one and hurt the other.",
    sweeps=[
        Sweep(
            name="domain",
            lines=[*steps("FLH", _PAPER, hashes=500), *steps("FLH", _OURS, hashes=500, ours=True)],
            vary={"d": DOMAINS},
            n=USERS,
        ),
    ],
    panels=errors("domain", "d", "d", title="Varying d", optimum=True)[:2],  # clipping is one of the steps
)
