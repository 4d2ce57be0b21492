"""The options of ``plausibly collect`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .common import Engine, Json, KeyFile, Master, Names, Simulated, SkipBad


@dataclass(frozen=True, kw_only=True)
class CollectOptions:
    """Add up files of reports into a tally file, ready for estimate and search.

    Every report counts once, even if its file is copied or renamed. Running the command again adds only new reports;
    after an interrupt or a crash it continues where it stopped. Reports of another scheme are refused, and so are
    damaged files and row groups, unless --skip-bad leaves them out. plausibly privatize writes files of reports.

    Example: plausibly collect reports.parquet --out visits.tally

    On a cluster: plausibly collect s3://bucket/day --out day.tally --engine spark --master sc://host:15002
    """

    inputs: Annotated[
        list[str],
        typer.Argument(help="Files of reports, or folders of them, also in object stores: s3://bucket/day."),
        Names.INPUT,
    ]
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="PATH", help="The tally to create or add to, such as visits.tally."),
        Names.OUTPUT,
    ]
    scheme: Annotated[
        str | None,
        typer.Option(
            help="Accept only reports of this scheme: a file, or a text such as OLH:epsilon=1,domain_size=1000."
        ),
        Names.INPUT,
    ] = None
    skip_bad: SkipBad = False
    simulated: Simulated = False
    engine: Engine = "threads"
    master: Master = None
    key_file: KeyFile = None
    as_json: Json = False
