"""Figure 9: sketches over different oracles."""

from plausibly.experiments import Figure, Line, Sweep, line

from .sketches import DOMAINS, USERS, both_readings, count_min, over, panels


def _six(*, program: bool) -> list[Line]:
    one, three = over("HM", coefficients=1), over("HM", coefficients=3)
    return [
        count_min("CM (Mean) OUE", "mean", **over("OUE")),
        count_min("CM (Mean) HM (t = 1)", "mean", decoder="paper", **one),
        count_min("CM (Mean) HM (t = 3)", "mean", decoder="paper", **three),
        count_min("CM (Median) FLH", "median", program=program, **over("FLH", hashes=500)),
        count_min("CM (Median) HR", "median", program=program, **over("HR")),
        count_min("CM (Median) HM (t = 3)", "median", program=program, decoder="paper", **three),
    ]


_OURS = [
    count_min("CM (Median) FLH, ours", "median", ours=True, **over("FLH", hashes=500)),
    count_min("CM (Peel) TLH, ours", "peel", ours=True, **over("TLH")),
    line("AGR, no sketch", "AGR", ours=True),
]
_DOMAIN = Sweep(name="domain", lines=[*_six(program=False), *_OURS], vary={"d": DOMAINS}, n=USERS)

FIGURE = Figure(
    name="fig9",
    title="Sketches over different oracles, r = 32, c = 1024",
    about="The error as the domain grows, for sketches whose cells are reported by different oracles. At the left, "
    "sketches and errors are those that the paper's text defines, and dashed lines are ours; at the right, they are "
    "those of the paper's program. AGR needs no sketch: it handles the large domain itself.",
    sweeps=both_readings(_DOMAIN, _six(program=True)),
    panels=panels("domain", "d", "items, d", optimum=True),
)
