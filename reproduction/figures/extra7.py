"""Not in the paper: where the sign of a Count-Sketch over HM goes, a second cell or the coefficient (section 4)."""

from math import exp
from typing import Any

from plausibly.experiments import Figure, Line, Panel, Sweep

from .sketches import sketch

_EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
_USERS, _ITEMS = 100_000, 10_000
_ROWS: dict[str, Any] = {"width": 1024, "rows": 32}


def _best_net_t(epsilon: float) -> int:
    # The variance of a net count is 2n(e^ε + g − 1)²/(g(e^ε − 1)²), g = 2^t.
    return min(range(1, 9), key=lambda t: (exp(epsilon) + 2**t - 1) ** 2 / 2**t)


def _lines(oracle: dict[str, Any], net: dict[str, Any], **options: Any) -> list[Line]:
    return [
        sketch("CM (Mean)", "CM", "mean", options=options, oracle=oracle, **_ROWS),
        sketch(
            "CS (Mean), sign on the coefficient",
            "CS, signs on coefficients",
            "mean",
            options=options,
            oracle=net,
            **_ROWS,
        ),
        sketch("CS (Mean), sign as a second cell", "CS", "mean", options=options, ours=True, oracle=oracle, **_ROWS),
    ]


def _sweep(name: str, lines: list[Line]) -> Sweep:
    return Sweep(name=name, lines=lines, vary={"epsilon": _EPSILONS}, data="uniform", n=_USERS, d=_ITEMS)


_ONE = {"scheme": "HM", "coefficients": 1}
_BEST = {"scheme": "HM"}
_BEST_NET = {"scheme": "HM", "coefficients": _best_net_t}

FIGURE = Figure(
    name="extra7",
    title="Count-Sketch over HM: where the sign goes, r = 32, c = 1024",
    about="The items of a Count-Sketch have signs. HM can multiply its coefficients by the sign; any other oracle "
    "needs a second cell for negative items, which doubles the noise. With one coefficient, the sign on it costs "
    "nothing: the lines of CM and CS coincide. With the best number of coefficients, our decoder uses their products, "
    "half of which lose the sign.",
    sweeps=[_sweep("epsilon", _lines(_ONE, _ONE)), _sweep("epsilon, best t", _lines(_BEST, _BEST_NET))],
    panels=[
        Panel(title="One coefficient", sweeps=["epsilon"], x="epsilon", xlabel="ε"),
        Panel(title="The best number of coefficients", sweeps=["epsilon, best t"], x="epsilon", xlabel="ε"),
    ],
)
