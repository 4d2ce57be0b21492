"""Figure 3: local hashing."""

from plausibly.experiments import line

from .shapes import comparison

FIGURE = comparison(
    "fig3",
    "Local hashing",
    "A user reports the hash of an item: by a function of their own with two values (BLH) or with as many as are best "
    "(OLH), or by one of only k′ functions (FLH), which a server decodes faster and less exactly. TLH is a family of "
    "functions that can all be decoded at once.",
    [
        line("BLH"),
        line("OLH"),
        *(line(f"FLH (k′ = {hashes:,})", "FLH", hashes=hashes) for hashes in (100, 500, 1000, 5000, 10_000)),
        line("TLH", ours=True),
    ],
)
