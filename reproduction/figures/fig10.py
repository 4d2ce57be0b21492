"""Figure 10: sketches over different oracles on the 330,000 most clicked addresses, as its caption says."""

from plausibly.experiments import Figure, Sweep, line

from .shapes import EPSILONS, published_t
from .sketches import CLICKS, errors, over, sketch

FIGURE = Figure(
    name="fig10",
    title="Sketches over different oracles on clicked addresses, r = 32, c = 1024",
    about="The error as privacy gets weaker, for sketches whose cells are reported by different oracles. The clicks "
    "come from a model of a search log. AGR needs no sketch: it handles the large domain itself.",
    sweeps=[
        Sweep(
            name="epsilon",
            lines=[
                sketch("CM (Mean) OUE", "CM", "mean", **over("OUE")),
                sketch("CM (Mean) HM (t = 1)", "CM", "mean", decoder="paper", **over("HM", coefficients=1)),
                sketch("CM (Mean) HM (best t)", "CM", "mean", decoder="paper", **over("HM", coefficients=published_t)),
                sketch("CM (Mean) FLH", "CM", "mean", **over("FLH", hashes=500)),
                sketch("CM (Median) FLH", "CM", "median", **over("FLH", hashes=500)),
                sketch("CM (Median) HR", "CM", "median", **over("HR")),
                sketch(
                    "CM (Median) HM (best t)", "CM", "median", decoder="paper", **over("HM", coefficients=published_t)
                ),
                sketch("CM (Mean) TLH", "CM", "mean", ours=True, **over("TLH")),
                sketch("CM (Peel) TLH", "CM", "peel", ours=True, **over("TLH")),
                line("AGR, no sketch", "AGR", ours=True),
            ],
            vary={"epsilon": EPSILONS},
            data="url-clicks",
            n=CLICKS,
            d=330_000,
        ),
    ],
    panels=errors("epsilon", "epsilon", "ε", title="Varying ε", optimum=True),
)
