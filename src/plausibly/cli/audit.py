"""plausibly audit: the exact certificate of a scheme."""

from __future__ import annotations

import typer
from rich.markup import escape

from ..certify import audit as audited
from ..certify import audit_statistically
from .common import echo_json, exit_on_error, messages, results
from .naming import scheme_or_file
from .options.audit import AuditOptions


def audit(request: AuditOptions) -> None:
    """Run ``plausibly audit``."""
    console = messages()
    with exit_on_error(console, request):
        made, _ = scheme_or_file(console, request.scheme, request.key_file)
        with console.status("Enumerating the coins of the client"):
            found = audited(made, draws=request.draws)
        attacked = None
        if request.statistical is not None:
            with console.status("Attacking reports"):
                attacked = audit_statistically(made, reports=request.statistical)
    if request.as_json:
        echo_json(found.to_dict() | ({} if attacked is None else {"statistical": attacked.to_dict()}))
    else:
        printed = results()
        printed.print(escape(str(found)), soft_wrap=True, highlight=False)
        if attacked is not None:
            printed.print(escape(str(attacked)), soft_wrap=True, highlight=False)
    if not (found.proved and (attacked is None or attacked.consistent)):
        raise typer.Exit(1)
