"""plausibly changes: what changed between two tallies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core import changes as core_changes
from ..core.domain import Domain
from ..core.errors import DomainError, ParameterError, StateError
from ..core.wording import label_of
from ..core.words import Words
from ..files.overwriting import refuse_replacing
from ..files.places import same_place
from ..files.tallies import Collected
from ..pages.changes import ChangeReport, check_changes_name, write_changes
from .asking import asked_items, expect_items, typed_items
from .common import echo_json, exit_on_error, key_of, messages, print_table, progress, results
from .inputs import inputs_of
from .options.changes import ChangesOptions

_ROWS = 20


def changes(request: ChangesOptions) -> None:
    """Run ``plausibly changes``."""
    console = messages()
    with exit_on_error(console, request):
        for path in request.out or ():
            refuse_replacing(check_changes_name(path), inputs_of(request))
        key = key_of(console, request.key_file)
        before, after = (Collected.read(path, key=key) for path in (request.before, request.after))
        for name, held in ((request.before, before), (request.after, after)):
            expect_items(name, held.scheme)
            if not len(held):
                raise StateError(f"{name}: the tally has no reports; add some with plausibly collect")
        if before.overlaps(after) or same_place(request.before, request.after):
            raise StateError(f"{request.after}: expected reports that are not in {request.before}, got some that are")
        asked = _comparable(console, request, before.scheme.answers, after.scheme.answers)
        with progress(console, "comparing", "items"):
            one = before.tally.estimate(asked)
            other = after.tally.estimate(one.items)
            whose: dict[str, Any] = {"same_users": request.same_users, "stayed": request.stayed}
            found = core_changes.changes(one, other, level=request.level, **whose)
            report = ChangeReport(
                found,
                before,
                after,
                (Path(request.before).name, Path(request.after).name),
                request.same_users,
                max(1, len(found)) if request.show_all else _ROWS,
                request.title,
                stayed=request.stayed,
            )
            for path in request.out or ():
                write_changes(path, report)
    if request.as_json:
        echo_json(report.to_dict())
    else:
        _show(results(), report, request.out or [])


def _comparable(console: Console, request: ChangesOptions, before: Domain, after: Domain) -> list[Any] | None:
    # The items to compare, which both tallies must have and name alike; None for all items.
    asked = _asked(console, request, request.before, before)
    if before == after:
        return asked
    if asked is None:
        raise ParameterError(
            f"{request.after}: expected the same items as in {request.before}, got others; name those to compare, "
            "with --items"
        )
    if _asked(console, request, request.after, after) != asked:
        raise ParameterError(
            f"{request.after}: expected items with the same names as in {request.before}, got others; leave out those "
            "that the two tallies name differently"
        )
    if before.arrangement.other in asked or after.arrangement.other in asked:
        raise ParameterError("--items: the lists differ, and so do the other items; leave out their common name")
    return asked


def _asked(console: Console, request: ChangesOptions, path: str, domain: Domain) -> list[Any] | None:
    typed = typed_items(request.items, request.item)
    try:
        return asked_items(console, domain, path, typed, request.items_file)
    except DomainError as error:
        raise DomainError(Words(f"{path}: ", error.words)) from None


def _show(console: Console, report: ChangeReport, written: list[Path]) -> None:
    if report.simulated:
        console.print("[bold yellow]SIMULATED[/] reports: not from real users.\n", highlight=False)
    console.print(f"{escape(report.summary())}\n", highlight=False)
    first, *others = report.header()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    for item, *texts in report.lines():
        table.add_row(escape(label_of(item)) or "[italic](empty)[/]", *map(escape, texts))
    print_table(console, table)
    hint = ["If the same users reported both times, add --same-users."] * (not report.same_users)
    console.print(f"\n{escape(' '.join([*report.notes(), *hint]))}", highlight=False)
    for path in written:
        console.print(f"Written: {escape(str(path))}", soft_wrap=True, highlight=False)
