"""Estimates that a running collector has answered, on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core.wording import count_text, plural, visible
from .common import print_table


def show_remote(console: Console, found: dict[str, Any]) -> None:
    """Print the estimates of a collector's JSON answer, and the result of a test of independence."""
    crossed = found["kind"] == "table"
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (found["rows"], found["columns"]) if crossed else ("item",):
        table.add_column(escape(visible(name)))
    for name in ("estimate", "share", f"{100 * found['level']:g} % interval"):
        table.add_column(name, justify="right")
    for row in found["cells" if crossed else "estimates"]:
        names = [row["row"], row["column"]] if crossed else [row["item"]]
        ends = [count_text(end) for end in (row["low"], row["high"]) if end is not None]
        interval = f"\\[{', '.join(ends)}]" if ends else ""
        told = count_text(row["estimate"]), f"{100 * row['share']:z.2f} %", interval
        table.add_row(*(escape(visible(name)) for name in names), *told)
    print_table(console, table)
    if crossed and found["independence"] is not None:
        console.print(f"{escape(visible(found['independence']['text']))}.", highlight=False, soft_wrap=True)
    console.print(f"{plural(found['reports'], 'report')}, ε = {found['epsilon']}", highlight=False)
    if "release" in found:
        show_release(console, found["release"])


def show_release(console: Console, release: dict[str, Any], about: str = "") -> None:
    """Print what a collector says of a collection's releases in batches, after the words ``about``."""
    waiting = f"; {release['waiting']:,} waiting" if "waiting" in release else ""
    told = f"{about}{release['central']['verdict']}, which is the collector{waiting}"
    for sentence in (told, release.get("note")):
        if sentence:
            console.print(escape(sentence), highlight=False, soft_wrap=True)
