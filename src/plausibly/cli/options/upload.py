"""The options of ``plausibly upload`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, KeyFile, Names


@dataclass(frozen=True, kw_only=True)
class UploadOptions:
    """Send files of reports to a collection of a collector, over HTTP.

    Every report counts once: after an interrupt or a crash, of this command or of the collector, run the same command
    again. For that, a secret is kept beside each file, in NAME.upload; keep it with the file. Reports of another
    scheme are refused. plausibly privatize writes files of reports, plausibly serve runs a collector.

    Example: plausibly upload reports.parquet --to http://localhost:8080/v1/collections/ID
    """

    inputs: Annotated[
        list[str],
        typer.Argument(help="Files of reports, or folders of them, also in object stores: s3://bucket/day."),
        Names.INPUT,
    ]
    to: Annotated[str, typer.Option("--to", metavar="ADDRESS", help="The collection: https://host/v1/collections/ID.")]
    state: Annotated[
        Path | None,
        typer.Option(help="Keep the secret in this file, for reports in object stores and read-only folders."),
    ] = None
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to try again if the collector is busy or down.")
    ] = 60.0
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Accept simulated reports, too; a collector does not mark them.")
    ] = False
    key_file: KeyFile = None
    as_json: Json = False
