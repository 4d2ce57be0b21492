"""The options of ``plausibly changes`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, KeyFile, Names, Title


@dataclass(frozen=True, kw_only=True)
class ChangesOptions:
    """Show what changed between two tallies: the shares of all items, and which of them really differ.

    The schemes may differ, the items may not. The intervals of all differences hold together, with the confidence of
    --level, so that you may look for the largest change among many items: the probability that any item that did not
    change is listed as changed is at most 5 % with the default level of 0.95. To compare schemes instead, use plausibly
    compare.

    Example: plausibly changes visits.tally more.tally --items amber-atlas.example,iris-jobs.example --out changes.html
    """

    before: Annotated[str, typer.Argument(help="The earlier tally file, written by plausibly collect."), Names.INPUT]
    after: Annotated[str, typer.Argument(help="The later tally file, of other reports."), Names.INPUT]
    items: Annotated[list[str] | None, typer.Option(help="Items to compare, separated by commas.")] = None
    item: Annotated[list[str] | None, typer.Option(help="One item, which may contain commas; may be repeated.")] = None
    items_file: Annotated[Path | None, typer.Option(help="A file of items to compare, one per line.")] = None
    level: Annotated[float, typer.Option(help="Confidence level of all intervals together.")] = 0.95
    same_users: Annotated[
        bool,
        typer.Option(
            "--same-users",
            help="The same users reported both times. Without it, each tally is a random sample of a population, and "
            "differences between two samples do not count as changes.",
        ),
    ] = False
    stayed: Annotated[
        float,
        typer.Option(
            help="With --same-users and a scheme with a memo: the least share of users who have the same value both "
            "times, such as 0.9. Their memos add the same error both times, which makes the intervals narrower."
        ),
    ] = 0.0
    show_all: Annotated[bool, typer.Option("--all", help="Print all items, not only the first 20.")] = False
    title: Title = None
    out: Annotated[
        list[Path] | None,
        typer.Option("--out", "-o", help="A file to write: .csv .json .png .svg or .html; may be repeated."),
        Names.OUTPUT,
    ] = None
    key_file: KeyFile = None
    as_json: Json = False
