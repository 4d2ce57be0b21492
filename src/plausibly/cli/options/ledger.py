"""The options of ``plausibly ledger`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json


@dataclass(frozen=True, kw_only=True)
class LedgerOptions:
    """Show what this device has sent: every question, every report, and the ε of all of them.

    The ledger has no values and no addresses; --json shows everything that it has, except records that wait to be sent.

    Example: plausibly ledger device.ledger
    """

    file: Annotated[Path | None, typer.Argument(help="The ledger. Default: that of this user.")] = None
    as_json: Json = False
