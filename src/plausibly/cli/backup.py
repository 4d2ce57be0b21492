"""plausibly backup: a copy of a collector's folder, while it runs."""

from __future__ import annotations

import typer

from ..core.wording import plural
from ..service.backup import backup as copied
from ..service.collector import summary
from .common import echo_json, exit_on_error, messages
from .options.backup import BackupOptions


def backup(request: BackupOptions) -> None:
    """Run ``plausibly backup``."""
    with exit_on_error(messages(), request, "Interrupted; remove the copy."):
        told = [summary(account) for account in copied(request.folder, request.out, request.inbox)]
    if request.as_json:
        echo_json(told)
    else:
        reports = sum(each["reports"] for each in told)
        typer.echo(f"copied {plural(len(told), 'collection')} with {plural(reports, 'report')} to {request.out}")
