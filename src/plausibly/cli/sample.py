"""plausibly sample: write a CSV file of made-up visits for trying out the other commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..core.atomic import expect_suffix
from ..core.errors import StateError
from ..demo.data import SITES, counts, sites, write_sites, write_visits
from .common import echo_json, exit_on_error, messages, results


def sample(
    out: Annotated[Path, typer.Argument(help="The CSV file to write.")] = Path("visits.csv"),
    users: Annotated[int, typer.Option(help="Number of users.")] = 200_000,
    list_sites: Annotated[
        Path | None, typer.Option("--sites", help="Also write all sites to this file, one per line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write made-up visits for trying things out: a CSV file with a column "site" and one line per user.

    There are 1,000 fictitious sites, some of them popular (Zipf's law). Every run writes the same visits.

    Example: plausibly sample visits.csv
    """
    with exit_on_error(messages()):
        top = list(zip(sites()[:3], counts(users).tolist()[:3], strict=True))
        for path in (out, list_sites):
            if path is not None and path.exists():
                raise StateError(f"{path}: the file exists already; remove it or choose another name")
        expect_suffix(out, [".csv"])
        if list_sites is not None:
            expect_suffix(list_sites, [".txt"])
        write_visits(out, users)
        if list_sites is not None:
            write_sites(list_sites)
    if as_json:
        echo_json({"file": str(out), "users": users, "sites": SITES, "top": dict(top)})
        return
    printed = results()
    printed.print(f"{escape(str(out))}: {users:,} made-up users, each with one of {SITES:,} sites.", highlight=False)
    known = ", ".join(f"{site} {count:,}" for site, count in top)
    printed.print(f"The true counts, which the server never learns, begin: {known} …", highlight=False, soft_wrap=True)
