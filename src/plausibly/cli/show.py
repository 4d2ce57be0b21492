"""plausibly show: describe a scheme in words."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..planner.description import USERS, Description
from .common import KeyFile, echo_json, exit_on_error, messages, results
from .naming import scheme_or_file


def show(
    scheme: Annotated[
        str, typer.Argument(help="A scheme (file or words), a file of reports (.parquet) or a tally (.tally).")
    ],
    users: Annotated[
        int | None, typer.Option(min=1, help="Number of users who report. Default: as in the file.")
    ] = None,
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Describe in words what a scheme protects, reveals and costs, for those who must sign it off.

    The description lists the possible values; the requested and the actual ε, and its effect on a suspicion; the
    contents of a report; the expected error; the harm that fake reports can do to one item, to all items and to a
    search; and the server's state. For a file, it adds the number of reports.

    Example: plausibly show OLH:epsilon=1,domain_size=1000 --users 100000
    """
    console = messages()
    with exit_on_error(console):
        made, held = scheme_or_file(console, scheme, key_file)
        number = users or (held.reports if held is not None else 0)
        described = Description(made, (number,) if number else USERS)
        if as_json:
            echo_json(described.to_dict() | ({} if held is None else {"file": held.to_dict()}))
            return
        sections = described.sections()
    console = results()
    sections = [*([] if held is None else [("The file", held.facts())]), *sections]
    width = 2 + max(len(name) for _, facts in sections for name, _ in facts)
    for heading, facts in sections:
        table = Table.grid(padding=(0, 2))
        table.add_column(min_width=width)
        table.add_column(overflow="fold")  # never truncate a fingerprint
        for name, value in facts:
            table.add_row(f"  {escape(name)}", escape(value))
        console.print(f"[bold]{heading}[/]", table, "", sep="\n", highlight=False)
