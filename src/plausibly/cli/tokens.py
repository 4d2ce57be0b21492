"""plausibly tokens: tokens for analysts and administrators of a collector."""

from __future__ import annotations

import typer

from ..core.errors import ParameterError
from ..core.wording import nearest, shown
from ..service.folder import Folder
from ..service.tokens import create_token, scope_named
from .common import echo_json, exit_on_error, messages
from .options.tokens import TokensOptions

_ACTIONS = ("create",)


def tokens(request: TokensOptions) -> None:
    """Run ``plausibly tokens``."""
    with exit_on_error(messages(), request):
        if request.action not in _ACTIONS:
            raise ParameterError(f"unknown action {shown(request.action)}; {nearest(request.action, _ACTIONS)}")
        scope = scope_named(request.scope)
        folder = Folder(request.folder)
        folder.make()
        token = create_token(folder.tokens, scope, request.name)
    if request.as_json:
        echo_json({"token": token, "scope": scope.value, "name": request.name})
    else:
        typer.echo(token)
