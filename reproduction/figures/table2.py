"""Table 2: every search over every sketch, finding the 10 most clicked addresses, cut to 6 characters.

**Two readings.** The paper's text and its program differ in three places, and both are run:

* PEM. As written, prefixes are built up in steps of 2 characters, and users report 2, 4 or 6. The program reports
  prefixes of 4 and of 6 characters, and starts from all prefixes of 4 (``PEMClient.privatise`` and
  ``PEMServer.find_heavy_hitters``, called with a start of 2 and a step of 2).
* CMS. As written, CM over OUE. The program's ``CMSClient`` flips every bit with probability 1/(1 + e^(ε/2)): CM over
  SUE.
* TH. As written, the second report of each user tells how common whole strings are. The program chooses them by the
  reports of prefixes (``TreeHistServer.find_heavy_hitters``; see ``ByPrefixes``).

**Two metrics.** ``f1_lenient`` is the program's (``HeavyHitterExperiment._compute_metrics``): a search returns T
strings, and only strings that nobody has count as false. ``f1`` is strict: the first 10 strings against the 10 most
common.

**The paper's T.** Its program (``hh_aol``) copies the parameters of a run before it sets T, so that a run has the T of
the run before it: every run printed with T=20 has T=10, and some printed with T=10 have T=20. Precision and recall tell
which: with a recall of .96 and a precision of .626, 15 strings were counted.

**What is not the same.** The paper's numbers are from a search log that AOL published in 2006 and withdrew; ours are
from a model of it.

In addition: SFP and TH with split users instead of a split budget, SFP's fragments alone, our own search, and upper
bounds for any search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plausibly.experiments import Dots, Figure, Line, Sweep, Table, line, view

from .sketches import CLICKS, FLH

SIZES = ((32, 1024), (128, 1024), (1024, 2048))
KEPT = (10, 20)
SKETCHES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "CM (Mean) SUE": ("mean", {"scheme": "SUE"}),
    "CM (Mean) OUE": ("mean", {"scheme": "OUE"}),
    "CM (Median) FLH": ("median", FLH),
    "CM (Mean) HM": ("mean", {"scheme": "HM", "coefficients": 1}),
}
_SUE, _OUE, _FLH, _HM = SKETCHES


@dataclass(frozen=True)
class Reading:
    """One reading of the paper's experiment: its searches, sketches and metric."""

    searches: Mapping[str, str]
    """Our names of the searches, which are those of the sweeps, by the paper's."""
    cms: str
    """The sketch that the paper calls CMS, or CM (Mean) OUE."""
    metric: str

    @property
    def sketches(self) -> tuple[str, ...]:
        """CMS, CM over FLH and HCMS."""
        return (self.cms, _FLH, _HM)


AS_PROGRAMMED = Reading({"PEM": "PEM 4→6", "SFP": "SFP", "TH": "TH by prefixes"}, _SUE, "f1_lenient")
AS_WRITTEN = Reading({"PEM": "PEM 2→4→6", "SFP": "SFP", "TH": "TH"}, _OUE, "f1")


@dataclass(frozen=True)
class Printed:
    """A row of the paper's table: its settings, and precision, recall, F1 and the standard deviation of F1."""

    search: str
    sketch: str
    T: int
    rows: int
    precision: float
    recall: float
    f1: float
    deviation: float

    @property
    def run(self) -> tuple[str, int, int]:
        """Settings that runs of all three searches share in the paper's program."""
        return self.sketch, self.T, self.rows

    @property
    def counted(self) -> float:
        """Number of returned strings that were counted, right or false."""
        return 10 * self.recall / self.precision


PAPER = (
    Printed("PEM", _FLH, 20, 1024, 0.822, 0.74, 0.779, 0.052),
    Printed("PEM", _FLH, 20, 128, 0.789, 0.74, 0.763, 0.051),
    Printed("PEM", _OUE, 10, 1024, 0.626, 0.96, 0.757, 0.057),
    Printed("PEM", _OUE, 20, 32, 0.782, 0.72, 0.749, 0.025),
    Printed("PEM", _FLH, 10, 1024, 0.758, 0.74, 0.748, 0.061),
    Printed("PEM", _OUE, 20, 128, 0.786, 0.70, 0.738, 0.035),
    Printed("PEM", _OUE, 10, 32, 0.782, 0.70, 0.738, 0.025),
    Printed("PEM", _FLH, 20, 32, 0.792, 0.68, 0.731, 0.036),
    Printed("PEM", _OUE, 20, 1024, 0.766, 0.70, 0.73, 0.029),
    Printed("PEM", _FLH, 10, 32, 0.744, 0.70, 0.721, 0.055),
    Printed("PEM", _FLH, 10, 128, 0.552, 0.88, 0.677, 0.031),
    Printed("PEM", _OUE, 10, 128, 0.541, 0.88, 0.669, 0.076),
    Printed("PEM", _HM, 20, 128, 0.616, 0.60, 0.607, 0.098),
    Printed("PEM", _HM, 20, 1024, 0.580, 0.56, 0.569, 0.093),
    Printed("PEM", _HM, 10, 32, 0.551, 0.54, 0.545, 0.1),
    Printed("PEM", _HM, 20, 32, 0.516, 0.48, 0.496, 0.052),
    Printed("SFP", _OUE, 10, 128, 0.967, 0.32, 0.465, 0.12),
    Printed("SFP", _OUE, 10, 1024, 0.960, 0.30, 0.45, 0.065),
    Printed("SFP", _OUE, 20, 1024, 1.000, 0.28, 0.436, 0.051),
    Printed("PEM", _HM, 10, 128, 0.322, 0.62, 0.424, 0.046),
    Printed("TH", _FLH, 10, 128, 0.202, 0.18, 0.189, 0.068),
)
"""The 21 rows that the paper prints, in its order; it omits the other 33 combinations."""

_RUNS = {printed.run: printed.counted for printed in PAPER if printed.search == "PEM"}
_WIDTHS = dict(SIZES)


def label(search: str, sketch: str, kept: int, rows: int) -> str:
    """The label of our line with these settings."""
    return f"{search}, {sketch}, T={kept}, r={rows}, c={_WIDTHS[rows]}"


def run_with(printed: Printed) -> int:
    """The T that the paper's program had in the runs of a printed row.

    PEM as programmed returns T strings, most of which count: more than 10 mean T=20. SFP and TH have the T of PEM.
    """
    return 10 if _RUNS[printed.run] <= 10 else 20


def as_run(printed: Printed) -> str:
    """The label of our line with the settings that the paper's program ran for a printed row."""
    search = AS_PROGRAMMED.searches[printed.search]
    sketch = AS_PROGRAMMED.cms if printed.sketch == _OUE else printed.sketch
    return label(search, sketch, run_with(printed), printed.rows)


def _lines(
    search: str,
    scheme: str,
    sizes: tuple[tuple[int, int], ...] = SIZES,
    *,
    sketches: tuple[str, ...] = AS_WRITTEN.sketches,
    ours: bool = False,
    **own: Any,
) -> list[Line]:
    return [
        line(
            label(search, sketch, kept, rows),
            scheme,
            view=view(k=kept, keep=kept, oracle={"combine": combine}),
            ours=ours,
            oracle=oracle,
            rows=rows,
            width=width,
            **own,
        )
        for sketch in sketches
        for combine, oracle in [SKETCHES[sketch]]
        for rows, width in sizes
        for kept in KEPT
    ]


def _sweep(name: str, lines: list[Line], repeats: int = 5) -> Sweep:
    return Sweep(name=name, lines=lines, data="url-clicks/6", n=CLICKS, d=0, repeats=repeats)


_MIDDLE = SIZES[1:2]
_ALONE: Mapping[str, Any] = {"split": "none", "word_oracle": None}
_ALL = tuple(SKETCHES)
_SWEEPS = [
    # Ten repeats: these lines are compared with printed ones, which have an error, too.
    _sweep("PEM 4→6", _lines("PEM 4→6", "PEM", sketches=_ALL, start=4), repeats=10),
    _sweep("PEM 2→4→6", _lines("PEM 2→4→6", "PEM")),
    _sweep("SFP", _lines("SFP", "SFP", sketches=_ALL)),
    _sweep("TH by prefixes", _lines("TH by prefixes", "TH, by prefixes", sketches=AS_PROGRAMMED.sketches)),
    _sweep("TH", _lines("TH", "TH")),
    _sweep("SFP, users split", _lines("SFP, users split", "SFP", _MIDDLE, ours=True, split="users")),
    _sweep("TH, users split", _lines("TH, users split", "TH", _MIDDLE, ours=True, split="users")),
    _sweep("SFP, one fragment", _lines("SFP, one fragment", "SFP", _MIDDLE, ours=True, **_ALONE)),
    _sweep("SFP, all fragments", _lines("SFP, all fragments", "SFP, all fragments", _MIDDLE, ours=True, **_ALONE)),
    _sweep(
        "bounds",
        [
            line(f"{name}, T={kept}", scheme, view=view(k=kept), ours=True)
            for name, scheme in (("TRELLIS", "TRELLIS"), ("C3U: all strings", "C3U"), ("C1: known ones", "C1"))
            for kept in KEPT
        ],
    ),
]


def _printed() -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for printed in PAPER:
        found.setdefault(as_run(printed), []).append(printed.f1)
    return found


def _words(own: str) -> list[str]:
    rows = [printed for printed in PAPER if as_run(printed) == own]
    return [
        " / ".join(f"T={printed.T}" for printed in rows),
        " / ".join(f"{printed.precision:.3f}" for printed in rows),
        " / ".join(f"{printed.recall:.2f}" for printed in rows),
        " / ".join(f"{printed.f1:.3f} ({printed.deviation:.3f})" for printed in rows),
    ]


def _row(own: str) -> str:
    # "PEM 4→6, CM (Mean) OUE, T=10, r=32, c=1024" is drawn in the row "OUE 32 × 1024".
    search, _, rest = own.partition(", ")
    if not rest.startswith("CM"):
        return search
    sketch, _, rows, width = rest.split(", ")
    return f"{sketch.split()[-1]} {rows[2:]} × {width[2:]}"


_FAMILIES = {
    _SUE: "CM (Mean) SUE: CMS of the program",
    _OUE: "CM (Mean) OUE: CMS of the text",
    _HM: "CM (Mean) HM: HCMS",
}


def _family(own: str) -> str:
    found = [sketch for sketch in SKETCHES if sketch in own.split(", ")]
    return _FAMILIES.get(found[0], found[0]) if found else "our search and ceilings"


def _kind(own: str) -> str:
    return f"T = {10 if 'T=10' in own.split(', ') else 20} strings returned"


def _panel(reading: Reading, search: str, metric: str) -> Dots:
    other = {_SUE: _OUE, _OUE: _SUE}[reading.cms]
    return Dots(
        title=f"{reading.searches[search]}\n{'as programmed' if reading is AS_PROGRAMMED else 'as written'}",
        sweeps=[reading.searches[search], "bounds"],
        x=metric,
        xlabel=_METRICS[metric],
        printed=_printed() if metric == "f1_lenient" else {},
        names=_row,
        kinds=_kind,
        families=_family,
        shows=lambda label: other not in label.split(", "),
    )


LATE_T = (
    "The paper's program sets T too late, so that a run has the T of the run before. Precision and recall tell which: "
    "a recall of .96 with a precision of .626 means that 15 strings were counted, so T was 20. Each printed row is "
    "compared with the T that it had."
)
"""Why printed rows are beside a T other than the printed one."""
_METRICS = {"f1_lenient": "F1 by the program's score", "f1": "F1 by the strict score"}
_PANELS = [(AS_PROGRAMMED, "f1_lenient"), (AS_PROGRAMMED, "f1"), (AS_WRITTEN, "f1")]

FIGURE = Figure(
    name="table2",
    title="Heavy hitters: the 10 most clicked addresses, 6 characters",
    about="How well each search finds the 10 most clicked addresses, over sketches of three kinds (colours) and sizes "
    "(rows × cells). T is the number of pieces kept at each step, and of strings returned; TRELLIS and the ceilings, "
    "C1 (candidates known) and C3U (all strings tried), return T strings, too. First row: everything as in the paper's "
    "program, where only strings that nobody has count as false. Second row: the same runs, with the first 10 strings "
    "compared with the 10 most common. Last row: the searches as the text describes them. The program's PEM reports 4 "
    "and 6 characters, the text's 2, 4 and 6; the program's CMS has the noise of SUE, the text's that of OUE; the "
    "program's TH chooses strings by the reports of prefixes, the text's by those of whole strings. Black outlines are "
    "the paper's numbers, from a log that AOL published in 2006 and withdrew; we use a model of it. "
    f"{LATE_T} Two of them may then be in one place. Bars are standard deviations.",
    note="4→6: prefixes of 4, then 6 characters. CMS: count-mean sketch; HCMS: with HM.\n"
    "As programmed: as the paper's program runs. As written: as its text says.",
    sweeps=_SWEEPS,
    panels=[_panel(reading, search, metric) for reading, metric in _PANELS for search in reading.searches],
    table=Table(
        sweeps=[sweep.name for sweep in _SWEEPS],
        columns={
            "precision, as the program scores it": lambda mean: f"{mean['precision_lenient']:.3f}",
            "recall": lambda mean: f"{mean['recall_lenient']:.2f}",
            "F1, as the program scores it (±)": lambda mean: f"{mean['f1_lenient']:.3f} ({mean['±f1_lenient']:.3f})",
            "strict F1 (±)": lambda mean: f"{mean['f1']:.3f} ({mean['±f1']:.3f})",
            "bytes": lambda mean: f"{mean['report_bytes']:.0f}" if "report_bytes" in mean else "",
            "printed with": None,
            "precision in the paper": None,
            "recall in the paper": None,
            "F1 in the paper (±)": None,
        },
        said={one.label: _words(one.label) for sweep in _SWEEPS for one in sweep.lines},
        order="f1_lenient",
        note=f"PEM 4→6 has ten runs in each setting, all others five; ± is the standard deviation. {LATE_T}",
    ),
)
