"""Figure 9: sketches over different oracles."""

from plausibly.experiments import Figure, Sweep, line

from .sketches import DOMAINS, USERS, errors, over, sketch

FIGURE = Figure(
    name="fig9",
    title="Sketches over different oracles, r = 32, c = 1024",
    about="The error as the domain grows, for sketches whose cells are reported by different oracles. AGR needs no "
    "sketch: it handles the large domain itself.",
    sweeps=[
        Sweep(
            name="domain",
            lines=[
                sketch("CM (Mean) OUE", "CM", "mean", **over("OUE")),
                sketch("CM (Mean) HM (t = 1)", "CM", "mean", decoder="paper", **over("HM", coefficients=1)),
                sketch("CM (Mean) HM (t = 3)", "CM", "mean", decoder="paper", **over("HM", coefficients=3)),
                sketch("CM (Median) FLH", "CM", "median", **over("FLH", hashes=500)),
                sketch("CM (Median) HR", "CM", "median", **over("HR")),
                sketch("CM (Median) HM (t = 3)", "CM", "median", decoder="paper", **over("HM", coefficients=3)),
                sketch("CM (Median) TLH", "CM", "median", ours=True, **over("TLH")),
                sketch("CM (Peel) TLH", "CM", "peel", ours=True, **over("TLH")),
                line("AGR, no sketch", "AGR", ours=True),
            ],
            vary={"d": DOMAINS},
            n=USERS,
        ),
    ],
    panels=errors("domain", "d", "d", title="Varying d", optimum=True),
)
