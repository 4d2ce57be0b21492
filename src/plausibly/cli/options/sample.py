"""The options of ``plausibly sample`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, Names


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """Write made-up visits for trying things out: a CSV file with a column "site" and one line per user.

    There are 1,000 fictitious sites, some of them popular (Zipf's law). Every run writes the same visits.

    A survey of eight questions instead, for tables: plausibly sample survey.csv --survey --questions questions.txt

    Example: plausibly sample visits.csv
    """

    out: Annotated[Path, typer.Argument(help="The CSV file to write."), Names.OUTPUT] = Path("visits.csv")
    users: Annotated[int, typer.Option(help="Number of users.")] = 200_000
    list_sites: Annotated[
        Path | None, typer.Option("--sites", help="Also write all sites to this file, one per line."), Names.OUTPUT
    ] = None
    survey: Annotated[
        bool, typer.Option("--survey", help="Write a made-up survey instead: eight questions, one line per user.")
    ] = False
    questions: Annotated[
        Path | None,
        typer.Option(help="With --survey: also write the questions and all possible answers, for plan --attributes."),
        Names.OUTPUT,
    ] = None
    as_json: Json = False
