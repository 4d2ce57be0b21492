"""Options that several commands have."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path
from typing import Annotated

import typer


class Names(Enum):
    """What an option names, where its type does not tell: a path without a mark is an input."""

    INPUT = auto()
    """A text that may be the name of a file to read."""
    OUTPUT = auto()
    """A path or an address to write to."""


KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        help="A file of at least 16 secret bytes that authenticates reports and tallies, written and read. "
        "Schemes, values and results are not authenticated.",
    ),
]

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output file if it exists.")]
Title = Annotated[str | None, typer.Option(help="A heading for pages and charts.")]
Unit = Annotated[str, typer.Option(help="A name for what is counted, in the plural, such as households.")]

Results = Annotated[
    list[Path] | None,
    typer.Option("--out", "-o", help="A file to write: .csv .parquet .json .png .svg or .html; may be repeated."),
    Names.OUTPUT,
]

Engine = Annotated[
    str, typer.Option("--engine", help="What reads the reports: threads, processes, or a cluster: spark, dask.")
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="ADDRESS", help="The cluster: sc://host:15002 or local[2] (spark), tcp://host:8786 (dask)."
    ),
]
Simulated = Annotated[bool, typer.Option("--simulated", help="Accept simulated reports, too.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out damaged files and row groups, and list them.")]

Inbox = Annotated[
    str | None,
    typer.Option(
        "--inbox",
        metavar="ADDRESS",
        help="The inbox, if it is in PostgreSQL: postgresql://name@host/database. Several collectors may share it.",
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
