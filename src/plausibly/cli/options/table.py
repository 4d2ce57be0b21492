"""The options of ``plausibly table`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .common import Json, KeyFile, Names, Results, Title, Unit


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Show how the answers to two questions go together: a table with intervals, shares by row and a test.

    The tally must be of a scheme for several attributes, such as plausibly plan recommends for --attribute. Every cell
    has an estimated count with its interval; the shares of a row are ratios, and their intervals approximate. The test
    says whether the two attributes are independent, and accounts for the noise of the reports.

    With --rows alone, the table of one attribute. If its values have an order: plausibly table survey.tally --rows age
    --quantiles .5

    Of a scheme for any number of listed items (Choices), without --rows: how many users have chosen each item.

    Example: plausibly table survey.tally --rows age --columns plan --out table.html
    """

    tally: Annotated[str, typer.Argument(help="A tally file, written by plausibly collect."), Names.INPUT]
    rows: Annotated[str | None, typer.Option(help="The attribute in the rows.")] = None
    columns: Annotated[str | None, typer.Option(help="The attribute in the columns.")] = None
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95
    ranges: Annotated[
        list[str] | None,
        typer.Option(help="Without --columns: ranges of numbers or dates to count, such as 18..24,25..34."),
    ] = None
    quantiles: Annotated[
        str | None, typer.Option(help="Without --columns: quantiles of numbers or dates, such as .25,.5,.75.")
    ] = None
    mean: Annotated[bool, typer.Option("--mean", help="Without --columns: the mean of numbers or dates.")] = False
    out: Results = None
    title: Title = None
    unit: Unit = "users"
    key_file: KeyFile = None
    as_json: Json = False
