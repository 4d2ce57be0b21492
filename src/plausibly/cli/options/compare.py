"""The options of ``plausibly compare`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, Names, Title


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Compare schemes on a made-up crowd or on your own data: errors, F1, bytes, time.

    This is a simulation. It needs the true counts, makes every user's report on this machine, and sends nothing
    anywhere. It collects no data and protects none. To see what changed between two collections, use plausibly changes.

    Example: plausibly compare OUE OLH FLH:hashes=500 TLH --epsilon 1 --epsilon 3
    """

    schemes: Annotated[
        list[str],
        typer.Argument(
            help="Names of schemes. Add parameters, as in FLH:hashes=500 or "
            "CM:oracle=TLH,width=1024,rows=16,combine=median, or post-processing, as in OLH+norm-sub."
        ),
    ]
    data: Annotated[
        str | None,
        typer.Option(
            help="A made-up crowd: zipf-1.1, uniform or url-clicks. With an order, for ranges and quantiles: smooth, "
            "bimodal, income, spiky, even or ends."
        ),
    ] = None
    values: Annotated[
        Path | None, typer.Option(help="Your own crowd: a CSV file with one user's value in each row.")
    ] = None
    column: Annotated[str | None, typer.Option(help="The column of --values to read.")] = None
    counts: Annotated[Path | None, typer.Option(help="Your own crowd: a CSV file with the columns item and count.")] = (
        None
    )
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Number of users. Default: 100,000, or as in the file.")
    ] = None
    d: Annotated[int | None, typer.Option("--d", min=2, help="Number of items. Default: 1,024, or as in the file.")] = (
        None
    )
    epsilon: Annotated[
        list[float] | None, typer.Option(help="Privacy parameter ε; may be repeated. Default: 1, 2 and 3.")
    ] = None
    repeats: Annotated[int, typer.Option(min=1, max=1000, help="Number of repeats of each measurement.")] = 5
    out: Annotated[Path, typer.Option(help="The folder for picture, measurements and report."), Names.OUTPUT] = Path(
        "comparison"
    )
    title: Title = None
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Number of worker processes.")] = 2
    as_json: Json = False
