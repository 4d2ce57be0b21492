"""The options of ``plausibly merge`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .common import Json, KeyFile, Names


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """Merge tally files into a new one, as if all their reports had been collected together.

    A tally records its files of reports. Two tallies that share a file are refused, because its reports would count
    twice; so are tallies of different schemes. plausibly collect writes tallies.

    Example: plausibly merge visits.tally more.tally --out all.tally
    """

    tallies: Annotated[list[str], typer.Argument(help="Tally files of the same scheme."), Names.INPUT]
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="PATH", help="The new tally file; not one of those to merge."),
        Names.OUTPUT,
    ]
    simulated: Annotated[bool, typer.Option("--simulated", help="Accept tallies of simulated reports, too.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", "--force", help="Replace the output file if it exists.")] = (
        False
    )
    key_file: KeyFile = None
    as_json: Json = False
