"""The options of ``plausibly reproduce`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, Names


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Measure figures and tables of the paper, check its findings, and write a report.

    All users are simulated: no data are needed, and nothing leaves this machine. Finished measurements are kept: after
    an interrupt, run the same command to continue. The paper's experiments are in the repository, not in the installed
    package, so run this command in a clone. Your own files can be measured anywhere.

    Example: plausibly reproduce fig1 fig5c --quick
    """

    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="fig1 … fig11, table1, table2, extra1 …, a panel such as fig1a, or your own file. Default: all."
        ),
        Names.INPUT,
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer repeats, points and users.")] = False
    rows: Annotated[
        Path | None, typer.Option(help="The file for measurements. Default: rows.jsonl in --out."), Names.OUTPUT
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for pictures and report. Default: reproduced, or reproduced-quick."),
        Names.OUTPUT,
    ] = None
    folder: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the paper's experiments. Default: reproduction/ in a clone of the repository."
        ),
    ] = None
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Number of worker processes.")] = 2
    aol: Annotated[
        Path | None,
        typer.Option(help="Your copy of the AOL search log: a file, .gz or folder. Only clicked URLs are read."),
    ] = None
    show: Annotated[bool, typer.Option("--list", help="List the figures and tables without measuring.")] = False
    as_json: Json = False
