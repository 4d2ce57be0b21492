"""plausibly collections: create, list, read, close and delete the collections of a collector, stopped or running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..core.errors import ParameterError, StateError
from ..core.wording import nearest, plural, shown, visible
from ..service.administration import Administration, There, in_folder
from ..service.collections import Collection, parsed_time, with_fresh_hashes
from ..service.tokens import Scope
from .common import echo_json, exit_on_error, messages, print_table, results
from .naming import scheme_of
from .options.collections import CollectionsOptions
from .remote import show_release, show_remote

_ACTIONS = ("create", "list", "read", "close", "delete")


def collections(request: CollectionsOptions) -> None:
    """Run ``plausibly collections``."""
    console = messages()
    with exit_on_error(console, request):
        if request.action not in _ACTIONS:
            raise ParameterError(f"unknown action {shown(request.action)}; {nearest(request.action, _ACTIONS)}")
        if (request.folder is None) == (request.to is None):
            raise ParameterError("expected the folder of a collector, or --to with the address of a running one")
        if request.folder is None and request.inbox is not None:
            raise ParameterError("expected --inbox together with a folder, got --to; the running collector has its own")
        if request.action == "read":
            _read(request)
            return
        made = _collection(request) if request.action == "create" else None
        for words in () if made is None else made.warnings:
            console.print(escape(words), style="yellow", soft_wrap=True, highlight=False)
        with _administration(request) as collector:
            told = _done(collector, request, made)
    if request.as_json:
        echo_json(told)
    else:
        _print(request.action, told)


@contextmanager
def _administration(request: CollectionsOptions) -> Iterator[Administration]:
    if request.folder is None:
        yield There(str(request.to), _token(request), Scope.READ if request.action == "list" else Scope.ADMIN)
        return
    if request.action != "create" and not request.folder.is_dir():
        raise StateError(f"{request.folder}: there is no such folder; make a collection with create")
    with in_folder(request.folder, request.inbox) as collector:
        yield collector


def _token(request: CollectionsOptions) -> str:
    # Never from the command line, which all users of a machine can read.
    if request.token_file is not None:
        return request.token_file.read_text(encoding="utf-8", errors="replace").strip()
    if (found := os.environ.get("PLAUSIBLY_TOKEN")) is None:
        raise ParameterError("expected --token-file, or a token in the environment variable PLAUSIBLY_TOKEN")
    return found


def _done(collector: Administration, request: CollectionsOptions, made: Collection | None) -> list[dict[str, Any]]:
    if made is not None:
        collector.create(made)
    before = _listed(collector)
    if request.action == "list":
        return before
    identity = _named(before, request.id) if made is None else made.id
    if request.action == "close":
        collector.close(identity)
    if request.action == "delete":
        collector.delete(identity)
    return [each for each in (before if request.action == "delete" else _listed(collector)) if each["id"] == identity]


def _listed(collector: Administration) -> list[dict[str, Any]]:
    return [each | {"address": collector.address(each["id"])} for each in collector.listed()]


def _read(request: CollectionsOptions) -> None:
    if request.to is None:
        raise ParameterError(
            "read: expected --to with the address of a running collector; of a stopped one, use "
            "plausibly estimate FOLDER/ID/collected.tally"
        )
    collector = There(request.to, _token(request), Scope.READ)
    identity = _named(collector.listed(), request.id)
    names = {"rows": [request.rows] if request.rows else [], "columns": [request.columns] if request.columns else []}
    query = names | {"item": request.item or []}
    tables = any(names.values()) or (not request.item and collector.has_choices(identity))
    found = collector.answered(identity, "table" if tables else "estimates", query)
    if request.as_json:
        echo_json(found)
    else:
        show_remote(results(), found)


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
        rota=request.rota,
        smallest_batch=request.smallest_batch,
    )


def _named(listed: list[dict[str, Any]], beginning: str | None) -> str:
    if not beginning:
        raise ParameterError("expected --id with the id of a collection; list shows all of them")
    matching: list[str] = [each["id"] for each in listed if each["id"].startswith(beginning.lower())]
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
    for each in told:
        if "release" in each:
            show_release(console, each["release"], about=f"{visible(each['name'])}: ")
    for each in told if action == "create" else ():
        where = "" if "://" in each["address"] else ", after the address that plausibly serve prints"
        lines = ("", "A device needs:", f"address      {each['address']}{where}", f"fingerprint  {each['fingerprint']}")
        console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
