"""Not shown in the paper: HR and HM below ε = 1, called almost identical (section 7.3)."""

from plausibly.experiments import Figure, Sweep, line, view

from .shapes import BY_EPSILON, ERRORS

FIGURE = Figure(
    name="extra2",
    title="Hadamard methods at high privacy",
    about="HR beside HM with one coefficient where ε is 1 or less: the paper calls them almost identical there.",
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
    panels=[BY_EPSILON],
)
