"""Parts shared by the figures of sketches: the paper's users, domains, lines and panels.

A sketch can be read in two ways. The *text* defines the estimators and the error: section 4 corrects the mean and the
median of Count-Min, and takes the minimum as it is. The *program* does not correct the median, takes the sign of a
Count-Sketch from the same hash as the cell, and rounds and clips estimates at zero before it compares them
(``variants``). Figures 7 to 10 show both ways side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plausibly.experiments import MODEL_CLICKS_D, URL_CLICKS_N, Line, Panel, Sweep, View, line, view

USERS = 1_000_000
DOMAINS = tuple(range(10_000, 100_001, 10_000))
CLICKS = URL_CLICKS_N
"""Number of clicks in the paper's log."""
CLICKED = MODEL_CLICKS_D
"""Distinct addresses among as many clicks of the model; the paper's log has 383,467."""
FLH: Mapping[str, Any] = {"scheme": "FLH", "hashes": 500}
PROGRAM = ", program"
"""Suffix of the sweeps of what the paper's program computes."""
_CLIPPED = "_clipped"
_RAW, _SHARED = "CM, not debiased", "CS, shared signs"
_WAYS = ("mean", "median", "min")


def sketch(label: str, scheme: str, combine: str, *, ours: bool = False, options: Any = None, **of: Any) -> Line:
    """The line of a sketch whose rows are combined by ``combine``; ``options``: further ones of its estimator."""
    return line(label, scheme, view=view(combine=combine, **(options or {})), ours=ours, **of)


def six(*, program: bool = False, **of: Any) -> list[Line]:
    """The six estimators of the paper, as its text defines them or as its program computes them."""
    return [
        count_min("CM (Mean)", "mean", **of),
        count_min("CM (Median)", "median", program=program, **of),
        count_min("CM (Min)", "min", **of),
        *(sketch(f"CS ({way.capitalize()})", _SHARED if program else "CS", way, **of) for way in _WAYS),
    ]


def count_min(
    label: str, combine: str, *, program: bool = False, ours: bool = False, decoder: str | None = None, **of: Any
) -> Line:
    """A Count-Min sketch as published; ``ours``: as we debias it; ``decoder`` selects how HM inside it is decoded."""
    options: dict[str, Any] = {} if decoder is None else {"oracle": {"decoder": decoder}}
    if combine == "min" or (program and combine == "median"):
        return sketch(label, _RAW, combine, options=options, **of)
    if combine == "median" and not ours:
        return sketch(label, _RAW, combine, options={**options, "correction": "n/c"}, **of)
    return sketch(label, "CM", combine, ours=ours, options=options, **of)


def ours(**of: Any) -> list[Line]:
    """Our estimators on the same sketch: the median less the median of all cells, and peeling."""
    return [
        count_min("CM (Median), ours", "median", ours=True, **of),
        count_min("CM (Peel), ours", "peel", ours=True, **of),
    ]


def both_readings(sweep: Sweep, program: Sequence[Line]) -> list[Sweep]:
    """The sweep, which reads the paper by its text, and one with the same settings and the program's lines."""
    return [sweep, replace(sweep, name=sweep.name + PROGRAM, lines=program)]


def panels(sweep: str, x: str, xlabel: str, *, logx: int | None = None, optimum: bool = False) -> list[Panel]:
    """The error over all items and over the 50 most common: by the text at the left, by the program at the right."""
    return [*_pair(sweep, x, xlabel, logx=logx, optimum=optimum, across=False)]


def crossed(sweep: str, x: str, xlabel: str, *, logx: int | None = None) -> list[Panel]:
    """The text's sketches with the program's error at the left, and the program's with the text's at the right."""
    return [*_pair(sweep, x, xlabel, logx=logx, optimum=False, across=True)]


def _pair(sweep: str, x: str, xlabel: str, *, logx: int | None, optimum: bool, across: bool) -> Iterator[Panel]:
    for metric, name in (("mse", "MSE"), ("k_mse", "k-MSE")):
        for program in (False, True):
            clipped = program != across
            whose = "As the program computes it" if program else "As the text defines it"
            if across:
                whose = f"{'Program' if program else 'Text'}'s sketches, {'' if clipped else 'not '}clipped"
            yield Panel(
                title=f"{whose}: {name}",
                sweeps=[sweep + PROGRAM if program else sweep],
                x=x,
                y=metric + _CLIPPED if clipped else metric,
                xlabel=xlabel,
                ylabel=f"{name}{', clipped at 0' if clipped else ''}",
                logx=logx,
                optimum=optimum and metric == "mse" and not clipped,
            )


def errors(sweep: str, x: str, xlabel: str, *, optimum: bool = False) -> list[Panel]:
    """Panels of the error over all items and over the 50 most common."""
    every = Panel(title="All items", sweeps=[sweep], x=x, xlabel=xlabel, optimum=optimum)
    return [every, replace(every, title="The 50 most common items", y="k_mse", ylabel="k-MSE", optimum=False)]


def over(oracle: str, **parameters: Any) -> dict[str, Any]:
    """Parameters of a sketch with 32 rows of 1024 cells over an oracle."""
    return {"oracle": {"scheme": oracle, **parameters}, "width": 1024, "rows": 32}


def steps(base: str, named: Mapping[str, Sequence[str]], *, ours: bool = False, **parameters: Any) -> list[Line]:
    """Lines of one scheme, post-processed in several ways; ``named`` maps names in the legend to steps."""
    return [line(label, base, view=View(tuple(way)), ours=ours, **parameters) for label, way in named.items()]
