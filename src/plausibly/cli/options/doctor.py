"""The options of ``plausibly doctor`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .common import Json


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """Show versions, active kernels, threads and extras, then run every scheme once (half a minute).

    Example: plausibly doctor --quick
    """

    as_json: Json = False
    quick: Annotated[bool, typer.Option("--quick", help="Skip the self-test.")] = False
