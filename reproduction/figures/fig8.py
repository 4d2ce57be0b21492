"""Figure 8: Bloom filters and sketches, all over SUE as the text says (the program has sketches over DE)."""

from plausibly.experiments import Figure, Sweep, line

from .sketches import DOMAINS, USERS, errors, six

FIGURE = Figure(
    name="fig8",
    title="Bloom filters and sketches over SUE",
    about="Three ways to fit a large domain into 128 bits of unary encoding. A Bloom filter is decoded by regression, "
    "a sketch by combining its rows.",
    sweeps=[
        Sweep(
            name="domain",
            lines=[
                line("Bloom filter", "BLOOM", bits=128, hashes=2, cohorts=8),
                *six(oracle={"scheme": "SUE"}, width=128, rows=16),
            ],
            vary={"d": DOMAINS},
            n=USERS,
        ),
    ],
    panels=errors("domain", "d", "d", title="Varying d"),
)
