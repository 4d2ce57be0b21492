"""plausibly privatize: users' values from a file to a file of their reports."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ..core.scheme import Scheme
from ..core.wording import decimal, size_text
from ..files.privatizing import Privatized, privatize_values
from ..files.values import FORMATS, Values, values
from .common import KeyFile, echo_json, exit_on_error, key_of, messages, progress, results, scheme_of

_DELIMITERS = {"tab": "\t", "\\t": "\t"}
"""What a shell makes hard to type."""


def privatize(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="A file with one user's value in each row; - is standard input.")
    ],
    scheme: Annotated[str, typer.Option(help="A file (plan --save), or words: OLH:epsilon=1,domain_size=1000.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The new file of reports, such as reports.parquet.")],
    column: Annotated[str | None, typer.Option(help="The column of the values; needed if there are several.")] = None,
    format: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(FORMATS)}. Default: by suffix; lines for standard input.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns: ; or tab, for instance.")] = None,
    header: Annotated[
        bool, typer.Option("--header/--no-header", help="Without: columns are numbers, the first is 1.")
    ] = True,
    missing: Annotated[str, typer.Option(help="Missing values: refuse, or skip.")] = "refuse",
    seed: Annotated[int | None, typer.Option(help="For simulations and tests only: reproducible noise.")] = None,
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write a file of reports: the value in each row of a CSV, TSV, NDJSON, Parquet or text file, randomized.

    Devices do this themselves, with plausibly/device.py, and never send a value. This command is for tests, and for a
    gateway that users trust with their values. Each user must be there once: two reports reveal twice as much.

    Reports come in the order of the rows. The file appears whole or not at all, and none is overwritten.

    "plausibly sample visits.csv" makes visits up; the example of "plausibly plan --help" a scheme for them.

    Example: plausibly privatize visits.csv --column site --scheme scheme.json --out reports.parquet
    """
    console = messages()
    with exit_on_error(console):
        chosen, key = scheme_of(scheme), key_of(console, key_file)
        given = values(
            _opened(source, console),
            domain=chosen.domain,
            column=column,
            format=format,
            missing=missing,  # type: ignore[arg-type]
            delimiter=_DELIMITERS.get(delimiter or "", delimiter),
            header=header,
        )
        if seed is not None:
            console.print(
                "Simulated: whoever knows the seed can read the values off these reports. Never for real users.",
                style="yellow",
                soft_wrap=True,
                highlight=False,
            )
        with progress(console, "privatizing") as advance:
            written = privatize_values(given, chosen, out, seed=seed, key=key, advance=advance)
    if as_json:
        echo_json(_facts(chosen, given, out, written))
    else:
        _print(chosen, given, out, written, key_file)


def _opened(source: str, console: Console) -> Any:
    if source != "-":
        return source
    if sys.stdin is not None and sys.stdin.isatty():
        console.print("One value in each line; Ctrl-D ends.", highlight=False)
    return None if sys.stdin is None else sys.stdin.buffer


def _facts(scheme: Scheme, given: Values, out: Path, written: Privatized) -> dict[str, object]:
    return {
        "input": given.name,
        "out": str(out),
        **asdict(written),
        "report_bytes": scheme.report_dtype.itemsize,
        "scheme": scheme.name,
        "fingerprint": scheme.fingerprint(),
        "epsilon": float(scheme.epsilon),
    }


def _print(scheme: Scheme, given: Values, out: Path, written: Privatized, key_file: Path | None) -> None:
    lines = [("reports", f"{written.reports:,} of {given.name}{', simulated' * written.simulated}")]
    if written.skipped:
        lines.append(("skipped", f"{written.skipped:,} without a value"))
    tally = out.stem if given.path is None else given.path.name.partition(".")[0]
    keyed = [] if key_file is None else ["--key-file", str(key_file)]
    collect = shlex.join(["plausibly", "collect", str(out), "--out", f"{tally or out.stem}.tally", *keyed])
    lines += [
        ("written", f"{out}, {size_text(written.bytes)}"),
        ("privacy", f"ε = {decimal(scheme.epsilon)} for each user ({scheme.name})"),
        ("next", collect + " --simulated" * written.simulated),
    ]
    console = results()
    for name, value in lines:
        # Not in a table: what is to be copied must not be broken into lines.
        console.print(f"{name:<7}  {escape(value)}", soft_wrap=True, highlight=False)
