"""plausibly collections: create, list, close and delete the collections of a collector that is not running."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..core.errors import ParameterError, StateError
from ..core.wording import nearest, plural, shown
from ..service.collections import Collection, parsed_time, with_fresh_hashes
from ..service.collector import Collector, opened, summary
from .common import echo_json, exit_on_error, messages, print_table, results
from .naming import scheme_of
from .options.collections import CollectionsOptions


def collections(request: CollectionsOptions) -> None:
    """Run ``plausibly collections``."""
    console = messages()
    with exit_on_error(console, request):
        if request.action not in _ACTIONS:
            raise ParameterError(f"unknown action {shown(request.action)}; {nearest(request.action, _ACTIONS)}")
        made = _collection(request) if request.action == "create" else None
        if made is None and not request.folder.is_dir():
            raise StateError(f"{request.folder}: there is no such folder; make a collection with create")
        for words in () if made is None else made.warnings:
            console.print(escape(words), style="yellow", soft_wrap=True, highlight=False)
        with opened(request.folder) as collector:
            if made is not None:
                collector.create(made)
            told = _ACTIONS[request.action](collector, request, made)
    if request.as_json:
        echo_json(told)
    else:
        _print(request.action, told)


def _collection(request: CollectionsOptions) -> Collection:
    for option in ("name", "scheme"):
        if getattr(request, option) is None:
            raise ParameterError(f"expected --{option} for a new collection")
    scheme = scheme_of(str(request.scheme))
    return Collection(
        name=str(request.name),
        scheme=scheme if request.series is not None else with_fresh_hashes(scheme),
        opens=parsed_time("opens", request.opens),
        closes=parsed_time("closes", request.closes),
        minimum=request.minimum,
        cap=request.cap,
        series=request.series,
        slot=request.slot,
    )


def _created(collector: Collector, request: CollectionsOptions, made: Collection | None) -> list[dict[str, Any]]:
    return [] if made is None else _told(collector, made.id)


def _listed(collector: Collector, request: CollectionsOptions, made: Collection | None) -> list[dict[str, Any]]:
    return [summary(account) for account in collector.accounts()]


def _closed(collector: Collector, request: CollectionsOptions, made: Collection | None) -> list[dict[str, Any]]:
    identity = _named(collector, request.id)
    collector.close(identity)
    return _told(collector, identity)


def _deleted(collector: Collector, request: CollectionsOptions, made: Collection | None) -> list[dict[str, Any]]:
    identity = _named(collector, request.id)
    told = _told(collector, identity)
    collector.delete(identity)
    return told


_ACTIONS: Mapping[str, Callable[[Collector, CollectionsOptions, Collection | None], list[dict[str, Any]]]] = {
    "create": _created,
    "list": _listed,
    "close": _closed,
    "delete": _deleted,
}


def _told(collector: Collector, identity: str) -> list[dict[str, Any]]:
    account = collector.account(identity)
    return [] if account is None else [summary(account)]


def _named(collector: Collector, beginning: str | None) -> str:
    if not beginning:
        raise ParameterError("expected --id with the id of a collection; list shows all of them")
    found = [account.collection.id for account in collector.accounts()]
    matching = [identity for identity in found if identity.startswith(beginning.lower())]
    if len(matching) != 1:
        raise ParameterError(f"--id: expected the beginning of one id, got {plural(len(matching), 'collection')}")
    return matching[0]


def _print(action: str, told: list[dict[str, Any]]) -> None:
    console = results()
    if not told:
        console.print("No collections.", highlight=False)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("name", "id", "scheme", "reports", "state"):
        table.add_column(name, justify="right" if name == "reports" else "left")
    for each in told:
        state = {"delete": "deleted"}.get(action, "closed" if each["closed"] else "open")
        table.add_row(escape(each["name"]), each["id"], each["scheme"], f"{each['reports']:,}", state)
    print_table(console, table)
