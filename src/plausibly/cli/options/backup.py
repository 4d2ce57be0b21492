"""The options of ``plausibly backup`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Inbox, Json, Names


@dataclass(frozen=True, kw_only=True)
class BackupOptions:
    """Copy the folder of a collector at one moment, while it runs or not.

    The copy has everything that was acknowledged before that moment, and is checked. It is a folder that plausibly
    serve can run; if the inbox is in PostgreSQL, its copy is a file of that folder. It also has the digests of all
    tokens, and keys and reports as the folder itself: protect it alike, and delete it when you delete a collection.

    Example: plausibly backup collector --out copy
    """

    folder: Annotated[Path, typer.Argument(help="The folder of the collector.")]
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the copy, which must be new."), Names.OUTPUT]
    inbox: Inbox = None
    as_json: Json = False
