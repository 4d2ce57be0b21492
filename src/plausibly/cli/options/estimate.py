"""The options of ``plausibly estimate`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Engine, KeyFile, Master, Names, Results, Simulated, SkipBad, Title, Unit

STEPS = (
    *("base", "base-pos", "base-cut", "norm-sub", "norm-sub-once", "simplex", "norm-cut", "norm-mul"),
    "significance-cut",
    "power-ns",
    "monotone",
)
"""Names of the built-in post-processing steps. A test compares them with the steps themselves."""


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """Estimate how many users have each item, with confidence intervals.

    Without a choice of items, every item of the scheme is estimated. The table shows the 20 largest, with intervals
    that allow for the selection; up to 31 numbers are shown in their order. Files for programs have all items, in the
    order of the scheme, with plain intervals. Choose items with --items a,b, with --item "a, b" if they contain commas,
    or with --items-file.

    If the items cannot be listed, the tally of some schemes keeps every report. You can name the files of reports
    instead, without collecting them: plausibly estimate reports.parquet --items-file candidates.txt

    Numbers and dates have an order: ask for --ranges 18..24,65..120, --quantiles .5,.95, --mean, --cdf or --bins auto.
    Without a question, many of them are shown in as many bins as the noise allows.

    Example: plausibly estimate visits.tally --items amber-atlas.example,iris-jobs.example --out chart.png
    """

    inputs: Annotated[
        list[str],
        typer.Argument(help="A tally file, written by plausibly collect; or files of reports, or folders of them."),
        Names.INPUT,
    ]
    items: Annotated[list[str] | None, typer.Option(help="Items to count, separated by commas.")] = None
    item: Annotated[list[str] | None, typer.Option(help="One item, which may contain commas; may be repeated.")] = None
    items_file: Annotated[Path | None, typer.Option(help="A file of items to count, one per line.")] = None
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Print and write only this many items, those with the largest counts; intervals allow for the choice.",
        ),
    ] = None
    show_all: Annotated[bool, typer.Option("--all", help="Print all items, not only the 20 largest.")] = False
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95
    postprocess: Annotated[
        list[str] | None,
        typer.Option(
            help="A post-processing step, with options as name:option=value; may be repeated. "
            f"One of {', '.join(STEPS)}."
        ),
    ] = None
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            help="Ranges of numbers or dates to count, both ends included, separated by commas: 18..24,25..34."
        ),
    ] = None
    quantiles: Annotated[
        str | None,
        typer.Option(help="Quantiles of numbers or dates, as shares separated by commas: .25,.5,.75."),
    ] = None
    mean: Annotated[bool, typer.Option("--mean", help="The mean of numbers or dates.")] = False
    cdf: Annotated[
        bool,
        typer.Option(
            "--cdf", help="The distribution function of numbers or dates, with a band that contains the whole function."
        ),
    ] = False
    bins: Annotated[
        str | None,
        typer.Option(
            help="A histogram of numbers or dates: auto for as many bins as the noise allows, a number, or their edges "
            "separated by commas."
        ),
    ] = None
    combine: Annotated[
        str | None, typer.Option(help="How to combine the rows of a sketch: mean, median, min or peel.")
    ] = None
    skip_bad: SkipBad = False
    simulated: Simulated = False
    engine: Engine = "threads"
    master: Master = None
    out: Results = None
    title: Title = None
    unit: Unit = "users"
    key_file: KeyFile = None
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines, with all items.")] = False
