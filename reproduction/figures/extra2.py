"""Not shown in the paper: HR and HM below ε = 1, where it calls them almost identical (section 7.3)."""

from plausibly.experiments import Figure, Sweep, line, view

from .shapes import BY_EPSILON, ERRORS, RELATIVE

FIGURE = Figure(
    name="extra2",
    title="Hadamard methods at high privacy",
    about=f"HR and HM with one coefficient for ε up to 1, where the paper calls them almost identical. {RELATIVE}",
    sweeps=[
        Sweep(
            name="epsilon",
            lines=[
                line("HR"),
                line("HM (t = 1)", "HM", view=view(decoder="paper"), coefficients=1),
                line("HM (all products)", "HM", ours=True),
            ],
            vary={"epsilon": tuple(tenth / 10 for tenth in range(1, 11))},
            errors=ERRORS,
        ),
    ],
    panels=BY_EPSILON,
)
