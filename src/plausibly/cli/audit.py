"""plausibly audit: the exact certificate of a scheme."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from ..certify import DRAWS, audit_statistically
from ..certify import audit as audited
from .common import KeyFile, echo_json, exit_on_error, messages, results
from .naming import scheme_or_file


def audit(
    scheme: Annotated[
        str, typer.Argument(help="A scheme (file or words), a file of reports (.parquet) or a tally (.tally).")
    ],
    statistical: Annotated[
        int | None,
        typer.Option(
            min=8, help="Also run a statistical attack on this many reports of each of three items, in memory."
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            min=10_000,
            help="Limit: random draws of the client, about a million per second. More draws cover more items.",
        ),
    ] = DRAWS,
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Certify the ε of a scheme: run the shipped client on every outcome of its private coins. Exit code 1 if it fails.

    The first line of the output says what was run: every item if there are few enough, otherwise some of them or a
    smaller domain, and a sample of the public coins if there are many. The claim about all other items relies on the
    proof in docs/adr/0015, which covers only the client that ships. The thresholds of the whole domain are always
    compared with e^ε, in integers. This takes a few seconds at most.

    Example: plausibly audit OLH:epsilon=1,domain_size=1000
    """
    console = messages()
    with exit_on_error(console):
        made, _ = scheme_or_file(console, scheme, key_file)
        with console.status("Enumerating the coins of the client"):
            found = audited(made, draws=draws)
        attacked = None
        if statistical is not None:
            with console.status("Attacking reports"):
                attacked = audit_statistically(made, reports=statistical)
    if as_json:
        echo_json(found.to_dict() | ({} if attacked is None else {"statistical": attacked.to_dict()}))
    else:
        printed = results()
        printed.print(escape(str(found)), soft_wrap=True, highlight=False)
        if attacked is not None:
            printed.print(escape(str(attacked)), soft_wrap=True, highlight=False)
    if not (found.holds and (attacked is None or attacked.consistent)):
        raise typer.Exit(1)
