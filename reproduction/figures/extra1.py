"""Not shown in the paper: uniform inputs, which it calls less accurate (footnote of section 7)."""

from dataclasses import replace

from .fig5 import FIGURE as ZIPF

FIGURE = replace(
    ZIPF,
    name="extra1",
    title="Frequency oracles compared on uniform data",
    about="Figure 5 again, where every item is equally common and no count stands out.",
    sweeps=[replace(sweep, data="uniform") for sweep in ZIPF.sweeps],
)
