"""plausibly show: describe a scheme in words."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..planner.description import USERS, Description
from ..shuffling import Shuffled
from ..shuffling import shuffled as shuffled_in_batches
from .common import echo_json, exit_on_error, messages, results
from .naming import scheme_or_file
from .options.show import ShowOptions
from .spelling import spelled


def show(request: ShowOptions) -> None:
    """Run ``plausibly show``."""
    console = messages()
    with exit_on_error(console, request):
        made, held = scheme_or_file(console, request.scheme, request.key_file)
        number = request.users or (held.reports if held is not None else 0)
        described = Description(made, (number,) if number else USERS)
        crowd = _shuffled(made, request)
        if request.as_json:
            more = ({} if held is None else {"file": held.to_dict()}) | (
                {} if crowd is None else {"shuffled": crowd.to_dict()}
            )
            echo_json(described.to_dict() | more)
            return
        sections = described.sections()
    console = results()
    sections = [*([] if held is None else [("The file", held.facts())]), *sections]
    sections += [] if crowd is None else [("With a shuffler", crowd.facts())]
    width = 2 + max(len(name) for _, facts in sections for name, _ in facts)
    for heading, facts in sections:
        table = Table.grid(padding=(0, 2))
        table.add_column(min_width=width)
        table.add_column(overflow="fold")  # never truncate a fingerprint
        for name, value in facts:
            table.add_row(f"  {escape(name)}", escape(spelled(value, request)))
        console.print(f"[bold]{heading}[/]", table, "", sep="\n", highlight=False)


def _shuffled(scheme: Scheme, request: ShowOptions) -> Shuffled | None:
    if request.shuffled is not None:
        return shuffled_in_batches(scheme, request.shuffled, request.delta, rounds=request.rounds)
    if request.delta != "1e-6" or request.rounds != 1:
        raise ParameterError("--delta and --rounds need --shuffled")
    return None
