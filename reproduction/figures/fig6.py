"""Figure 6: RAPPOR by the penalty of its ridge regression.

The published client never clears a set bit. Solid lines have this defect; dashed ones are of a client that also clears
bits. Our own regression is drawn apart, because its penalty has another scale: it shrinks an isolated item by a factor
of 1/(1 + α).
"""

from typing import Any

from plausibly.experiments import Figure, Line, Panel, Sweep, line, view

from ..published_rappor import CLEARED, NOT_PRIVATE
from .sketches import USERS

_ALPHAS = (0, 0.0001, 0.0005, 0.00075, 0.001, 0.005, 0.0075, 0.01, 0.05, 0.075, 0.1, 0.5, 0.75, 1, 5)
_OUR_ALPHAS = (0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_BITS = (32, 64, 128)
_BLOOM: dict[str, Any] = {"hashes": 2, "cohorts": 8}


def _lines(named: str, scheme: str, alphas: tuple[float, ...], *, ours: bool) -> list[Line]:
    return [
        line(named.format(bits), scheme, view=view(alpha=alpha), ours=ours, bits=bits, **_BLOOM)
        for bits in _BITS
        for alpha in alphas
    ]


FIGURE = Figure(
    name="fig6",
    title="RAPPOR and its regularisation",
    about="RAPPOR estimates counts from Bloom filters by a regression with penalty α, which shrinks the counts. The "
    "published client never clears a set bit, so that all counts come out too high, and shrinking them helps. With a "
    "client that also clears bits (dashed), any penalty adds error.",
    sweeps=[
        Sweep(
            name="alpha",
            lines=[
                *_lines("m = {}, published", NOT_PRIVATE, _ALPHAS, ours=False),
                *_lines("m = {}, correct", CLEARED, _ALPHAS, ours=True),
            ],
            n=USERS,
            d=100_000,
        ),
        Sweep(
            name="penalty",
            lines=[
                *_lines("m = {}", "BLOOM", _OUR_ALPHAS, ours=True),
                *(
                    line(
                        "one bit by TLH",
                        "BLOOM",
                        view=view(alpha=alpha),
                        ours=True,
                        width=128,
                        oracle={"scheme": "TLH"},
                        **_BLOOM,
                    )
                    for alpha in _OUR_ALPHAS
                ),
            ],
            n=USERS,
            d=100_000,
        ),
    ],
    panels=[
        Panel(
            title="Published and correct client",
            sweeps=["alpha"],
            x="alpha",
            colours="bits",
            xlabel="α",
            logx=10,
            optimum=False,
        ),
        Panel(
            title="Correct client, our regression",
            sweeps=["penalty"],
            x="alpha",
            colours="bits",
            xlabel="α (other scale)",
            logx=10,
            optimum=False,
        ),
    ],
)
