"""The options of ``plausibly search`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, KeyFile, Names, Results, Title, Unit


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Find the most common strings, with their counts and the certainty that users have them.

    The tally must be of a scheme for searches, such as plausibly plan recommends for --alphabet and --length. A
    dictionary is a hint, not a limit: its strings are found with less evidence. It must not be made from reports of the
    same users.

    Example: plausibly search visits.tally --out found.html
    """

    tally: Annotated[str, typer.Argument(help="A tally file, written by plausibly collect."), Names.INPUT]
    top: Annotated[int, typer.Option(min=1, help="Return at most this many strings.")] = 10
    level: Annotated[
        float | None,
        typer.Option(help="Probability that the list contains even one string that nobody has. Default: 0.05."),
    ] = None
    no_level: Annotated[bool, typer.Option("--no-level", help="Also return strings that may be due to chance.")] = False
    dictionary: Annotated[
        Path | None, typer.Option(help="A file of strings that are publicly known to be likely, one per line.")
    ] = None
    explain: Annotated[
        list[str] | None, typer.Option(help="Explain why this string was found or not; may be repeated.")
    ] = None
    tree: Annotated[
        list[Path] | None, typer.Option(help="Draw the search as a tree, .png or .svg; may be repeated."), Names.OUTPUT
    ] = None
    out: Results = None
    title: Title = None
    unit: Unit = "users"
    key_file: KeyFile = None
    as_json: Json = False
