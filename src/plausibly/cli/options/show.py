"""The options of ``plausibly show`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .common import Json, KeyFile, Names


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Describe in words what a scheme protects, reveals and costs, for those who must sign it off.

    The description lists the possible values; the requested and the actual ε, and its effect on a suspicion; the
    contents of a report; the expected error; the harm that fake reports can do to one item, to all items and to a
    search; and the server's state. For a file, it adds the number of reports.

    With a shuffler: plausibly show OLH:epsilon=3,domain_size=1000 --shuffled 10000

    Example: plausibly show OLH:epsilon=1,domain_size=1000 --users 100000
    """

    scheme: Annotated[
        str,
        typer.Argument(help="A scheme (file or words), a file of reports (.parquet) or a tally (.tally)."),
        Names.INPUT,
    ]
    users: Annotated[int | None, typer.Option(min=1, help="Number of users who report. Default: as in the file.")] = (
        None
    )
    shuffled: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Add the central ε if a trusted shuffler releases the reports in batches, the smallest of this number "
            "of honest users.",
        ),
    ] = None
    delta: Annotated[str, typer.Option(help="With --shuffled: the chance that the promise fails, from 1e-12.")] = "1e-6"
    rounds: Annotated[
        int, typer.Option(min=1, help="With --shuffled: number of batches to which the same users send fresh reports.")
    ] = 1
    key_file: KeyFile = None
    as_json: Json = False
