"""The options of ``plausibly audit`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .common import Json, KeyFile, Names


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """Certify the ε of a scheme: run the client on every outcome of its private coins. Exit code 1 unless it holds.

    The first line of the output says what was run: every item if there are few enough, otherwise some of them or a
    smaller domain, and a sample of the public coins if there are many. The claim about all other items relies on the
    proof in docs/adr/0015-what-the-audit-covers.md, which covers only the client that ships. The thresholds of the
    whole domain are always compared with e^ε, in integers. This takes a few seconds at most.

    Example: plausibly audit OLH:epsilon=1,domain_size=1000
    """

    scheme: Annotated[
        str,
        typer.Argument(help="A scheme (file or words), a file of reports (.parquet) or a tally (.tally)."),
        Names.INPUT,
    ]
    statistical: Annotated[
        int | None,
        typer.Option(
            min=8, help="Also run a statistical attack on this many reports of each of three items, in memory."
        ),
    ] = None
    draws: Annotated[
        int,
        typer.Option(
            min=10_000,
            help="Limit: random draws of the client, about a million per second. More draws cover more items.",
        ),
    ] = 1 << 20
    key_file: KeyFile = None
    as_json: Json = False
