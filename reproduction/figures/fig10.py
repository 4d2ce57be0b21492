"""Figure 10: sketches over different oracles on the 330,000 most clicked addresses, as its caption says."""

from plausibly.experiments import Figure, Line, Sweep, line

from .shapes import EPSILONS, published_t
from .sketches import CLICKS, both_readings, count_min, over, panels


def _seven(*, program: bool) -> list[Line]:
    one, best = over("HM", coefficients=1), over("HM", coefficients=published_t)
    return [
        count_min("CM (Mean) OUE", "mean", **over("OUE")),
        count_min("CM (Mean) HM (t = 1)", "mean", decoder="paper", **one),
        count_min("CM (Mean) HM (best t)", "mean", decoder="paper", **best),
        count_min("CM (Mean) FLH", "mean", **over("FLH", hashes=500)),
        count_min("CM (Median) FLH", "median", program=program, **over("FLH", hashes=500)),
        count_min("CM (Median) HR", "median", program=program, **over("HR")),
        count_min("CM (Median) HM (best t)", "median", program=program, decoder="paper", **best),
    ]


_OURS = [
    count_min("CM (Median) FLH, ours", "median", ours=True, **over("FLH", hashes=500)),
    count_min("CM (Peel) TLH, ours", "peel", ours=True, **over("TLH")),
    line("AGR, no sketch", "AGR", ours=True),
]
_EPSILON = Sweep(
    name="epsilon",
    lines=[*_seven(program=False), *_OURS],
    vary={"epsilon": EPSILONS},
    data="url-clicks",
    n=CLICKS,
    d=330_000,
)

FIGURE = Figure(
    name="fig10",
    title="Sketches over different oracles on clicked addresses, r = 32, c = 1024",
    about="The error as privacy gets weaker, for sketches whose cells are reported by different oracles. The clicks "
    "come from a model of the paper's log. At the left, sketches and errors are those that the paper's text defines, "
    "and dashed lines are ours; at the right, they are those of the paper's program. AGR needs no sketch: it handles "
    "the large domain itself.",
    sweeps=both_readings(_EPSILON, _seven(program=True)),
    panels=panels("epsilon", "epsilon", "ε", optimum=True),
)
