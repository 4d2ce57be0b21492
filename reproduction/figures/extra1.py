"""Not shown in the paper: uniform inputs, which it says lower accuracy (footnote of section 7)."""

from dataclasses import replace

from .fig5 import FIGURE as ZIPF
from .shapes import RELATIVE

FIGURE = replace(
    ZIPF,
    name="extra1",
    title="Frequency oracles compared on uniform data",
    about="Figure 5 with uniform data: every item is equally common, and no count stands out. Clipping halves the "
    f"error of items with counts that are small compared with the noise, as all are here at small ε. {RELATIVE}",
    sweeps=[replace(sweep, data="uniform") for sweep in ZIPF.sweeps],
)
