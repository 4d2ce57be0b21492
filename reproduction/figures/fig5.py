"""Figure 5: the best oracles of each kind."""

from plausibly.experiments import line, view

from .shapes import comparison, published_t

FIGURE = comparison(
    "fig5",
    "Frequency oracles compared",
    "The best oracles of each kind: unary encoding (OUE), local hashing (OLH, FLH) and Hadamard transforms (HR, HM). "
    "The panels show the error as privacy gets weaker and as the domain grows, the time, and the size of a report. "
    "Lines that coincide have their marks side by side: OUE, OLH, SS, TLH, AGR and HM decoded from all products are "
    "all close to the optimum.",
    [
        line("OUE"),
        line("OLH"),
        line("FLH (k′ = 10,000)", "FLH", hashes=10_000),
        line("HR"),
        line("HM (best t)", "HM", view=view(decoder="paper"), coefficients=published_t),
        line("HM (all products)", "HM", ours=True),
        line("SS", ours=True),
        line("TLH", ours=True),
        line("AGR", ours=True),
    ],
)
