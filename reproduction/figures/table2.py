"""Table 2: every search over every sketch, finding the 10 most clicked addresses, cut to 6 characters.

In addition: SFP and TH with split users instead of a split budget, our own search, and upper bounds for any search.
The paper's numbers are from the real log. In some of its rows T is not what the label says, because its program set T
after copying the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plausibly.experiments import Dots, Figure, Line, Sweep, Table, line, view

from .sketches import CLICKS, FLH

SIZES = ((32, 1024), (128, 1024), (1024, 2048))
KEPT = (10, 20)
_SKETCHES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "CM (Mean) OUE": ("mean", {"scheme": "OUE"}),
    "CM (Mean) HM": ("mean", {"scheme": "HM", "coefficients": 1}),
    "CM (Median) FLH": ("median", FLH),
}

PAPER: Mapping[str, tuple[float, float, float, float]] = {
    "PEM, CM (Median) FLH, T=20, r=1024, c=2048": (0.822, 0.74, 0.779, 0.052),
    "PEM, CM (Median) FLH, T=20, r=128, c=1024": (0.789, 0.74, 0.763, 0.051),
    "PEM, CM (Mean) OUE, T=10, r=1024, c=2048": (0.626, 0.96, 0.757, 0.057),
    "PEM, CM (Mean) OUE, T=20, r=32, c=1024": (0.782, 0.72, 0.749, 0.025),
    "PEM, CM (Median) FLH, T=10, r=1024, c=2048": (0.758, 0.74, 0.748, 0.061),
    "PEM, CM (Mean) OUE, T=20, r=128, c=1024": (0.786, 0.70, 0.738, 0.035),
    "PEM, CM (Mean) OUE, T=10, r=32, c=1024": (0.782, 0.70, 0.738, 0.025),
    "PEM, CM (Median) FLH, T=20, r=32, c=1024": (0.792, 0.68, 0.731, 0.036),
    "PEM, CM (Mean) OUE, T=20, r=1024, c=2048": (0.766, 0.70, 0.73, 0.029),
    "PEM, CM (Median) FLH, T=10, r=32, c=1024": (0.744, 0.70, 0.721, 0.055),
    "PEM, CM (Median) FLH, T=10, r=128, c=1024": (0.552, 0.88, 0.677, 0.031),
    "PEM, CM (Mean) OUE, T=10, r=128, c=1024": (0.541, 0.88, 0.669, 0.076),
    "PEM, CM (Mean) HM, T=20, r=128, c=1024": (0.616, 0.60, 0.607, 0.098),
    "PEM, CM (Mean) HM, T=20, r=1024, c=2048": (0.580, 0.56, 0.569, 0.093),
    "PEM, CM (Mean) HM, T=10, r=32, c=1024": (0.551, 0.54, 0.545, 0.1),
    "PEM, CM (Mean) HM, T=20, r=32, c=1024": (0.516, 0.48, 0.496, 0.052),
    "SFP, CM (Mean) OUE, T=10, r=128, c=1024": (0.967, 0.32, 0.465, 0.12),
    "SFP, CM (Mean) OUE, T=10, r=1024, c=2048": (0.960, 0.30, 0.45, 0.065),
    "SFP, CM (Mean) OUE, T=20, r=1024, c=2048": (1.000, 0.28, 0.436, 0.051),
    "PEM, CM (Mean) HM, T=10, r=128, c=1024": (0.322, 0.62, 0.424, 0.046),
    "TH, CM (Median) FLH, T=10, r=128, c=1024": (0.202, 0.18, 0.189, 0.068),
}
"""Precision, recall, F1 and the standard deviation of F1 as printed in the paper; it omits the other combinations."""


def _lines(search: str, sizes: tuple[tuple[int, int], ...] = SIZES, *, ours: bool = False) -> list[Line]:
    return [
        line(
            f"{search}, {sketch}, T={keep}, r={rows}, c={width}",
            search,
            view=view(keep=keep, oracle={"combine": combine}),
            ours=ours,
            oracle=oracle,
            rows=rows,
            width=width,
        )
        for sketch, (combine, oracle) in _SKETCHES.items()
        for rows, width in sizes
        for keep in KEPT
    ]


def _sweep(name: str, lines: list[Line]) -> Sweep:
    return Sweep(name=name, lines=lines, data="url-clicks/6", n=CLICKS, d=0)


def _words(label: str) -> list[str]:
    if label not in PAPER:
        return ["", "", ""]
    precision, recall, f1, deviation = PAPER[label]
    return [f"{precision:.3f}", f"{recall:.2f}", f"{f1:.3f} ({deviation:.3f})"]


_SWEEPS = [
    _sweep("PEM", _lines("PEM")),
    *(_sweep(name, [*_lines(name), *_lines(f"{name}, users split", SIZES[1:2], ours=True)]) for name in ("SFP", "TH")),
    _sweep(
        "bounds",
        [
            line("TRELLIS", ours=True),
            line("C3U: all strings tried", "C3U", ours=True),
            line("C1: candidates known", "C1", ours=True),
        ],
    ),
]

FIGURE = Figure(
    name="table2",
    title="Heavy hitters: the 10 most clicked addresses, 6 characters",
    about="How well each search over each sketch finds the 10 most clicked addresses. Hollow marks are the paper's "
    "numbers on the real log; vertical lines show our own search, TRELLIS, and upper bounds for any search.",
    sweeps=_SWEEPS,
    panels=[
        Dots(
            title=name,
            sweeps=[name],
            x="f1",
            xlabel="F1 of the top 10",
            levels=["bounds"],
            printed={label: printed[2] for label, printed in PAPER.items()},
            names=lambda label: label.partition(", ")[2],
        )
        for name in ("PEM", "SFP", "TH")
    ],
    table=Table(
        sweeps=[sweep.name for sweep in _SWEEPS],
        columns={
            "precision": lambda mean: f"{mean['precision']:.3f}",
            "recall": lambda mean: f"{mean['recall']:.2f}",
            "F1 (±)": lambda mean: f"{mean['f1']:.3f} ({mean['±f1']:.3f})",
            "bytes": lambda mean: f"{mean['report_bytes']:.0f}" if "report_bytes" in mean else "",
            "precision in the paper": None,
            "recall in the paper": None,
            "F1 in the paper (±)": None,
        },
        said={one.label: _words(one.label) for sweep in _SWEEPS for one in sweep.lines},
        order="f1",
    ),
)
