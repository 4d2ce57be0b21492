"""Figure 2: fast local hashing by number of hash functions."""

from plausibly.experiments import Figure, Sweep, line

from .shapes import ERRORS, RELATIVE, relative_error

_USERS, _ITEMS = 1_000_000, 500

FIGURE = Figure(
    name="fig2",
    title="Fast local hashing approaches OLH",
    about="The more hash functions FLH chooses from, the closer it comes to OLH, where every user has a hash function "
    f"of their own. Methods without the parameter k′ are horizontal lines. {RELATIVE}",
    sweeps=[
        Sweep(
            name="hashes",
            lines=[line("FLH")],
            vary={"hashes": range(100, 20_001, 100)},
            n=_USERS,
            d=_ITEMS,
            errors=ERRORS,
        ),
        Sweep(name="levels", lines=[line("OLH"), line("TLH", ours=True)], n=_USERS, d=_ITEMS, errors=ERRORS),
    ],
    panels=relative_error("Varying k′", ["hashes", "levels"], "hashes", "hash functions of FLH, k′"),
)
