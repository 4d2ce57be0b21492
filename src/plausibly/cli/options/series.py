"""The options of ``plausibly series`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, KeyFile, Names, Results, Title


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """Show the trend of a question that is asked again and again: one tally per slot, with intervals.

    The slot of a tally is the date in the name of its file, or the last number in it. With a rota of 7, each user
    reports in one of any 7 consecutive slots, so that each slot has a seventh of the users.

    Example: plausibly series day*.tally --rota 7 --mean 7 --out trend.html
    """

    tallies: Annotated[list[str], typer.Argument(help="The tally files of the slots, such as day*.tally."), Names.INPUT]
    rota: Annotated[
        int, typer.Option(help="Each user reports in one of this number of slots; 1 if everyone reports in each.")
    ]
    mean: Annotated[int | None, typer.Option(help="Also show moving means over this number of slots.")] = None
    items: Annotated[list[str] | None, typer.Option(help="Items to show, separated by commas.")] = None
    item: Annotated[list[str] | None, typer.Option(help="One item, which may contain commas; may be repeated.")] = None
    items_file: Annotated[Path | None, typer.Option(help="A file of items to show, one per line.")] = None
    counts: Annotated[bool, typer.Option("--counts", help="Show numbers of users instead of shares.")] = False
    level: Annotated[float, typer.Option(help="Confidence level of each interval.")] = 0.95
    title: Title = None
    out: Results = None
    key_file: KeyFile = None
    as_json: Json = False
