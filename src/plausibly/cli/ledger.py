"""plausibly ledger: what a device has sent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..client import sent
from ..core.errors import StateError
from ..core.wording import decimal, visible
from .common import echo_json, exit_on_error, messages, print_table, results
from .options.ledger import LedgerOptions


def ledger(request: LedgerOptions) -> None:
    """Run ``plausibly ledger``."""
    with exit_on_error(messages(), request):
        if request.file is not None and not request.file.is_file():
            raise StateError(f"{request.file}: expected the ledger of a device, got no file")
        told = sent(request.file)
    if request.as_json:
        echo_json(told)
        return
    console = results()
    if not told["questions"]:
        console.print("Nothing was sent.", highlight=False)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("question", "reports", "ε spent", "turns"):
        table.add_column(name, justify="left" if name in ("question", "turns") else "right")
    for each in told["questions"]:
        spent = decimal(Fraction(each["spent"]))
        table.add_row(escape(visible(each["question"])), f"{len(each['reports']):,}", spent, escape(_turns(each)))
    print_table(console, table)
    total = decimal(Fraction(told["spent"]))
    lasting = any("caution" in each for each in told["questions"])
    what = "its reports reveal about values" if lasting else "this device has revealed"
    console.print(f"\nAll together, what {what} is bounded by ε = {total}.", highlight=False)
    if lasting:
        console.print("With a memo, this does not bound whether and when a value changed.", highlight=False)


def _turns(question: dict[str, Any]) -> str:
    found = question.get("rota")
    turns = [] if found is None else [f"one of {found['slots']} slots of {visible(found['series'])}"]
    return ", ".join([*turns, *["from a memo"] * ("caution" in question)])
