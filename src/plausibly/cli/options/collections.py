"""The options of ``plausibly collections`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Inbox, Json, Names


@dataclass(frozen=True, kw_only=True)
class CollectionsOptions:
    """Create, list, read, close or delete the collections of a collector: in its folder, or over HTTP while it runs.

    A collection is a question to a crowd: a scheme, a time window and a number of reports. It cannot be changed,
    and its id is the SHA-256 of its document. The scheme gets a fresh hash seed, except in a series, which has one
    scheme for all its collections. A closed collection accepts no more reports. Deleting one removes its reports, too.
    A running collector needs the token of an administrator, in a file or in the variable PLAUSIBLY_TOKEN. To list and
    to read, which shows the estimates of a running collector, one of scope read is enough.
    With --smallest-batch, estimates change with whole batches only, which have a central ε, too; reports that are left
    at the close are dropped if they are fewer.

    Example: plausibly collections create collector --name visits --scheme scheme.json --minimum 1000
    """

    action: Annotated[str, typer.Argument(metavar="ACTION", help="create, list, read, close or delete.")]
    folder: Annotated[Path | None, typer.Argument(help="The folder of a collector that is not running.")] = None
    inbox: Inbox = None
    to: Annotated[str | None, typer.Option(help="The address of a running collector, instead of a folder.")] = None
    token_file: Annotated[
        Path | None, typer.Option(help="--to: a file with the token. Default: PLAUSIBLY_TOKEN."), Names.INPUT
    ] = None
    name: Annotated[str | None, typer.Option(help="create: a name for people.")] = None
    scheme: Annotated[
        str | None,
        typer.Option(help="create: the scheme, a file of plausibly plan --save, or a text such as OLH:epsilon=1,…"),
        Names.INPUT,
    ] = None
    minimum: Annotated[int, typer.Option(help="create: show no estimates of fewer reports; they would be noise.")] = 1
    cap: Annotated[int | None, typer.Option(help="create: accept at most this number of reports.")] = None
    opens: Annotated[str | None, typer.Option(help="create: when it opens, such as 2026-01-31T08:00:00Z.")] = None
    closes: Annotated[str | None, typer.Option(help="create: when it closes, such as 2026-02-28T08:00:00Z.")] = None
    series: Annotated[str | None, typer.Option(help="create: the name of a repeated question.")] = None
    slot: Annotated[int | None, typer.Option(help="create: the place in the series, counted from 0.")] = None
    rota: Annotated[
        int | None,
        typer.Option(help="create: each device reports in one of any this many consecutive slots, not once in all."),
    ] = None
    smallest_batch: Annotated[
        int | None,
        typer.Option(help="create: release reports in shuffled batches of at least this number only."),
    ] = None
    id: Annotated[str | None, typer.Option(help="read, close, delete: the id, or its beginning.")] = None
    item: Annotated[list[str] | None, typer.Option(help="read: an item to count. Default: all of them.")] = None
    rows: Annotated[str | None, typer.Option(help="read: the attribute of records to count.")] = None
    columns: Annotated[str | None, typer.Option(help="read: another attribute, for the table of both.")] = None
    as_json: Json = False
