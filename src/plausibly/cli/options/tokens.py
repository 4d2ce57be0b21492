"""The options of ``plausibly tokens`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json


@dataclass(frozen=True, kw_only=True)
class TokensOptions:
    """Create a token for analysts (--scope read) or administrators (--scope admin) of a collector.

    The token is printed once; the folder keeps only its digest. A running collector accepts it at once. To revoke
    tokens, remove their lines from tokens.json in the folder.

    Example: plausibly tokens create collector --scope read --name dashboard
    """

    action: Annotated[str, typer.Argument(metavar="ACTION", help="create.")]
    folder: Annotated[Path, typer.Argument(help="The folder of the collector.")]
    scope: Annotated[str, typer.Option(help="What the token allows: read, or admin, which includes read.")] = "read"
    name: Annotated[str, typer.Option(help="A name to recognise the token by in tokens.json.")] = ""
    as_json: Json = False
