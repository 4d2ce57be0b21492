"""The options of ``plausibly privatize`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .common import Json, KeyFile, Names

FORMATS = ("csv", "tsv", "ndjson", "lines", "parquet")
"""Names of the file formats. A test compares them with those that are read."""


@dataclass(frozen=True, kw_only=True)
class PrivatizeOptions:
    """Randomize the value in each row of a CSV, TSV, NDJSON, Parquet or text file, and write a file of reports.

    Devices do this themselves, with plausibly/device.py, and never send a value. This command is for tests, and for a
    gateway that users trust with their values. Each user may appear only once: two reports reveal twice as much.

    Reports are in the order of the rows. The output appears complete or not at all, and never replaces a file.

    "plausibly sample visits.csv" writes made-up visits; the example in "plausibly plan --help" makes a scheme for them.

    A scheme of several attributes reports a record of several columns: plausibly privatize survey.csv --columns
    browser,theme,age --scheme survey.json --out reports.parquet

    A scheme for any number of listed items (Choices) takes a column of lists: in Parquet and NDJSON as they are, in CSV
    as texts such as Maps;Mail, where an empty field is an empty list: plausibly privatize apps.csv --column apps
    --separator ';' --scheme apps.json --out reports.parquet

    Example: plausibly privatize visits.csv --column site --scheme scheme.json --out reports.parquet
    """

    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Files with one user's value in each row, or patterns such as 'visits-*.csv'; - is standard input.",
        ),
        Names.INPUT,
    ]
    scheme: Annotated[
        str, typer.Option(help="A file (plan --save), or a text such as OLH:epsilon=1,domain_size=1000."), Names.INPUT
    ]
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            help="The new file of reports, such as reports.parquet. Needed without --dry-run.",
        ),
        Names.OUTPUT,
    ] = None
    column: Annotated[
        str | None, typer.Option(help="The column of values; needed if the file has several columns.")
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            help="For a scheme of several attributes: their columns, such as browser,theme,age, or "
            "browser=q1,theme=q2 if they have other names. Default: the columns with the names of the attributes."
        ),
    ] = None
    glue: Annotated[
        str | None,
        typer.Option(
            help="Columns whose values together are one value, such as browser,theme: joined by --separator, as in the "
            "labels of the scheme."
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            help="The text between glued values, which none of them may contain (default: a space), or between the "
            "items of a list in a text, such as ; for Maps;Mail (default: a comma)."
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(FORMATS)}. Default: from the suffix; lines for standard input."),
    ] = None
    delimiter: Annotated[str | None, typer.Option(help="Column separator, such as ; or tab.")] = None
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line names the columns. Without a header, columns are numbered from 1.",
        ),
    ] = True
    normalize: Annotated[
        str | None,
        typer.Option(
            help="Make spellings equal first, by some of nfc,lower,strip. Only for a scheme that does not do so itself "
            "(plan --normalize): devices do what their scheme says."
        ),
    ] = None
    missing: Annotated[
        str,
        typer.Option(
            help="What to do with missing values: refuse or skip. A scheme that has an item for them reports it, "
            "unless they are skipped."
        ),
    ] = "refuse"
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; count the bad rows of all files by reason.")
    ] = False
    seed: Annotated[int | None, typer.Option(help="Seed for reproducible noise, for simulations and tests only.")] = (
        None
    )
    key_file: KeyFile = None
    as_json: Json = False
