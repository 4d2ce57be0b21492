"""Figure 4: the two Hadamard methods."""

from plausibly.experiments import Figure, Sweep, line, view

from .shapes import BY_DOMAIN, BY_EPSILON, ERRORS, RELATIVE, relative_error, sweeps

_PAPER = view(decoder="paper")

FIGURE = Figure(
    name="fig4",
    title="Hadamard methods",
    about="HM reports t coefficients of a Hadamard transform; the best t depends on ε. The paper decodes each "
    f"coefficient separately; the dashed line also uses their products, which the same report reveals. {RELATIVE}",
    sweeps=[
        Sweep(
            name="coefficients",
            lines=[line("HM", view=_PAPER)],
            vary={"coefficients": range(1, 8), "epsilon": (0.1, 0.5, 1, 2, 3, 4)},
            kept=["coefficients"],
            errors=ERRORS,
            # At ε = 4, t = 3 and t = 4 differ by 4 %: more repeats tell them apart.
            repeats=20,
        ),
        *sweeps(
            [
                line("HR"),
                *(line(f"HM (t = {t})", "HM", view=_PAPER, coefficients=t) for t in range(1, 6)),
                line("HM (all products)", "HM", ours=True),
            ]
        ),
    ],
    panels=[
        *relative_error("Varying t of HM", ["coefficients"], "coefficients", "t", lines="epsilon"),
        *BY_EPSILON,
        *BY_DOMAIN,
    ],
)
