"""Figure 3: local hashing."""

from plausibly.experiments import line

from .shapes import comparison

FIGURE = comparison(
    "fig3",
    "Local hashing",
    "A user reports a hash of the item: by their own hash function with two values (BLH) or with the optimal number of "
    "values (OLH), or by one of only k′ functions (FLH), which the server decodes faster and less accurately. TLH is a "
    "family of functions that can be decoded all at once.",
    [
        line("BLH"),
        line("OLH"),
        *(line(f"FLH (k′ = {hashes:,})", "FLH", hashes=hashes) for hashes in (100, 500, 1000, 5000, 10_000)),
        line("TLH", ours=True),
    ],
)
