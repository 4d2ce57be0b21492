"""Figure 6: RAPPOR by the penalty of its ridge regression.

A penalty α shrinks an isolated item by a factor of 1/(1 + α); the paper's penalty has another scale.
"""

from typing import Any

from plausibly.experiments import Figure, Panel, Sweep, line, view

from .sketches import USERS

_ALPHAS = (0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_BLOOM: dict[str, Any] = {"hashes": 2, "cohorts": 8}

FIGURE = Figure(
    name="fig6",
    title="RAPPOR and its regularisation",
    about="RAPPOR estimates counts from Bloom filters by regression with a penalty α. Too small a penalty leaves the "
    "noise in; too large a penalty shrinks the counts.",
    sweeps=[
        Sweep(
            name="alpha",
            lines=[
                *(
                    line(f"m = {bits}", "BLOOM", view=view(alpha=alpha), bits=bits, **_BLOOM)
                    for bits in (32, 64, 128)
                    for alpha in _ALPHAS
                ),
                *(
                    line(
                        "one bit by TLH, m = 128",
                        "BLOOM",
                        view=view(alpha=alpha),
                        ours=True,
                        width=128,
                        oracle={"scheme": "TLH"},
                        **_BLOOM,
                    )
                    for alpha in _ALPHAS
                ),
            ],
            n=USERS,
            d=100_000,
        ),
    ],
    panels=[Panel(title="Varying α", sweeps=["alpha"], x="alpha", xlabel="α", logx=10, optimum=False)],
)
