"""plausibly doctor: check whether this installation is complete, fast and correct."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..core.wording import plural
from ..diagnose import facts, self_test
from .options.doctor import DoctorOptions


def doctor(request: DoctorOptions) -> None:
    """Run ``plausibly doctor``."""
    console = Console()
    known = facts()
    if request.as_json:
        checks = [] if request.quick else list(self_test())
        typer.echo(json.dumps({"facts": [asdict(f) for f in known], "checks": [asdict(c) for c in checks]}, indent=2))
        raise typer.Exit(0 if all(check.passed for check in checks) else 1)
    table = Table.grid(padding=(0, 2))
    for fact in known:
        advice = f"\n[yellow]{escape(fact.advice)}[/]" if fact.advice else ""
        table.add_row(fact.name, escape(fact.value) + advice)
    console.print(table)
    failed = 0
    if not request.quick:
        console.print()
        for check in self_test():
            mark = "[green]ok[/]  " if check.passed else "[red]FAIL[/]"
            told = escape(f"{check.name:<5} {check.detail} ({check.seconds:.1f} s)")
            console.print(f"{mark} {told}", highlight=False)
            failed += not check.passed
        console.print("\nEverything works." if not failed else f"\n{plural(failed, 'check')} failed.")
    raise typer.Exit(1 if failed else 0)
