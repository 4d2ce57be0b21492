"""Table 1: the costs of the oracles, as bounded in the paper and as measured.

The paper's bounds have no constants, so each row also has the variance per user of an item that nobody has, with its
constant. E = e^ε, and F₂ is the sum of the squared counts.
"""

from plausibly.experiments import Figure, Sweep, Table, line, view

from .shapes import ERRORS

FIGURE = Figure(
    name="table1",
    title="Costs of frequency oracles",
    about="The paper's bounds, which leave out constants, the variance per user of an item that nobody has, with its "
    "constant (E = e^ε, F₂ is the sum of the squared counts), and our measurements: the mean squared error per user, "
    "the server's time, and the size of a report.",
    sweeps=[
        Sweep(
            name="costs",
            lines=[
                line("DE"),
                line("SUE"),
                line("OUE"),
                line("BLH"),
                line("OLH"),
                line("FLH", hashes=1000),
                line("HM", view=view(decoder="paper"), coefficients=1),
                line("HR (pure)", "HR", variant="pure"),
                line("HR (block)", "HR", variant="block"),
                line("SS", ours=True),
                line("TLH", ours=True),
                line("AGR", ours=True),
            ],
            errors=ERRORS,
        ),
    ],
    table=Table(
        sweeps=["costs"],
        columns={
            "bound in the paper, O(·)": None,
            "variance per user": None,
            "MSE/n": lambda mean: f"{mean['mse'] / mean['n']:.3f}",
            "predicted": lambda mean: f"{mean['mse_theory'] / mean['n']:.3f}",
            "decode time, O(·)": None,
            "ms": lambda mean: f"{1000 * (mean['server_seconds'] + mean['estimate_seconds']):.1f}",
            "report, O(·)": None,
            "bytes": lambda mean: f"{mean['report_bytes']:.0f}",
        },
        said={
            "DE": ("(E + d − 2)/(E − 1)²", "(E + d − 2)/(E − 1)²", "n + d", "log d"),
            "SUE": ("√E/(√E − 1)²", "√E/(√E − 1)²", "nd", "d"),
            "OUE": ("E/(E − 1)²", "4E/(E − 1)²", "nd", "d"),
            "BLH": ("(E + 1)²/(E − 1)²", "(E + 1)²/(E − 1)²", "nd", "log d"),
            "OLH": ("E/(E − 1)²", "4E/(E − 1)²", "nd", "log d"),
            "FLH": ("heuristic", "4E/(E − 1)² + F₂/(nk′E)", "k′d", "log d"),
            "HM": ("(E + 1)²/(E − 1)²", "(E + 1)²/(E − 1)²", "n + d", "log d"),
            "HR (pure)": ("", "(E + 1)²/(E − 1)²", "n + d", "log d"),
            "HR (block)": ("E/(E − 1)²", "8E/(E − 1)²", "n + d", "log d"),
            "SS": ("", "4E/(E − 1)²", "nd", "d"),
            "TLH": ("", "≤ 4.2E/(E − 1)²", "ng + d log d", "log d"),
            "AGR": ("", "≤ 4.2E/(E − 1)²", "n + g^m log g", "log d"),
        },
        note="The data are Zipf's with an exponent of 1.1 (zipf-1.1). E = e^ε, F₂ is the sum of the squared counts, "
        "and FLH has k′ = 1,000 hash functions. For TLH and AGR, the variance per user is an upper bound.",
    ),
)
