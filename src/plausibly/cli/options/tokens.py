"""The options of ``plausibly tokens`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json


@dataclass(frozen=True, kw_only=True)
class TokensOptions:
    """Create, list or revoke tokens for analysts (--scope read) or administrators (--scope admin) of a collector.

    A token is printed once; the folder keeps only its digest, whose first digits are the id of the token. A running
    collector follows at once. To replace a token, create another one, hand it out, and revoke the old one.

    Example: plausibly tokens create collector --scope read --name dashboard
    """

    action: Annotated[str, typer.Argument(metavar="ACTION", help="create, list or revoke.")]
    folder: Annotated[Path, typer.Argument(help="The folder of the collector.")]
    scope: Annotated[str, typer.Option(help="create: read, or admin, which includes read.")] = "read"
    name: Annotated[str, typer.Option(help="create: a name to recognise the token by.")] = ""
    id: Annotated[str, typer.Option(help="revoke: the id of the token, or its beginning.")] = ""
    as_json: Json = False
