"""plausibly tokens: tokens for analysts and administrators of a collector."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from ..core.errors import ParameterError, StateError
from ..core.wording import nearest, shown
from ..service.folder import Folder
from ..service.tokens import create_token, listed_tokens, revoke_token, scope_named, token_id
from .common import echo_json, exit_on_error, messages, print_table, results
from .options.tokens import TokensOptions

_ACTIONS = ("create", "list", "revoke")


def tokens(request: TokensOptions) -> None:
    """Run ``plausibly tokens``."""
    with exit_on_error(messages(), request):
        if request.action not in _ACTIONS:
            raise ParameterError(f"unknown action {shown(request.action)}; {nearest(request.action, _ACTIONS)}")
        if request.action == "create":
            _create(request)
            return
        path = Folder(request.folder).tokens
        if not path.is_file():
            raise StateError(f"{path}: there is no such file; plausibly tokens create makes it")
        told = listed_tokens(path) if request.action == "list" else [revoke_token(path, request.id)]
    if request.as_json:
        echo_json(told)
    else:
        _print(told)


def _create(request: TokensOptions) -> None:
    scope, folder = scope_named(request.scope), Folder(request.folder)
    folder.make()
    token = create_token(folder.tokens, scope, request.name)
    if request.as_json:
        echo_json({"token": token, "id": token_id(token), "scope": scope.value, "name": request.name})
    else:
        typer.echo(token)


def _print(told: list[dict[str, Any]]) -> None:
    console = results()
    if not told:
        console.print("No tokens.", highlight=False)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "scope", "name"):
        table.add_column(name)
    for each in told:
        table.add_row(each["id"], each["scope"], escape(each["name"]))
    print_table(console, table)
