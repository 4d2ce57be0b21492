"""The options of ``plausibly simulate`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, KeyFile, Names, Title, Unit


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """Rehearse a collection on known counts: the actual errors, beside those that the scheme predicts.

    This is a simulation. It needs the true counts, makes every user's report on this machine, and sends nothing
    anywhere. It protects nobody's data. Items match a scheme with labels by name, and a scheme with numbers by number.
    A scheme for searches has to find the strings; a scheme for any text counts the texts of the file.

    Example: plausibly simulate OLH:epsilon=1,domain_size=100 --data zipf-1.1 --users 50000
    """

    scheme: Annotated[
        str, typer.Argument(help="A scheme: its file, or a text such as OLH:epsilon=1,domain_size=1000."), Names.INPUT
    ]
    counts: Annotated[Path | None, typer.Option(help="A CSV file with the columns item and count.")] = None
    values: Annotated[Path | None, typer.Option(help="A CSV file with one user's value in each row.")] = None
    column: Annotated[str | None, typer.Option(help="The column of --values to read.")] = None
    data: Annotated[str | None, typer.Option(help="A made-up crowd: zipf-1.1, uniform or url-clicks.")] = None
    users: Annotated[
        int | None, typer.Option(min=1, max=2**31 - 1, help="Number of users. Default: 100,000, or as in the file.")
    ] = None
    repeats: Annotated[int, typer.Option(min=1, max=10_000, help="Number of simulated collections.")] = 20
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same numbers.")] = 1
    postprocess: Annotated[str | None, typer.Option(help="A post-processing step, such as norm-sub.")] = None
    top: Annotated[int, typer.Option(min=1, max=10_000, help="Number of most common items to show.")] = 10
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A file to write: .png, .svg, .csv or .json."), Names.OUTPUT
    ] = None
    title: Title = None
    unit: Unit = "users"
    key_file: KeyFile = None
    as_json: Json = False
