"""plausibly privatize: turn a file of users' values into a file of reports."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ..core.atomic import expect_suffix
from ..core.scheme import Scheme
from ..core.wording import decimal, size_text
from ..files.privatizing import Privatized, privatize_values
from ..files.values import FORMATS, Values, values
from .common import KeyFile, echo_json, exit_on_error, key_of, messages, progress, results
from .naming import scheme_of

_DELIMITERS = {"tab": "\t", "\\t": "\t"}
"""Names for delimiters that are hard to type in a shell."""


def privatize(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="A file with one user's value in each row; - is standard input.")
    ],
    scheme: Annotated[
        str, typer.Option(help="A file (plan --save), or a text such as OLH:epsilon=1,domain_size=1000.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The new file of reports, such as reports.parquet.")],
    column: Annotated[
        str | None, typer.Option(help="The column of values; needed if the file has several columns.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(FORMATS)}. Default: from the suffix; lines for standard input."),
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="Column separator, such as ; or tab.")] = None,
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line names the columns. Without a header, columns are numbered from 1.",
        ),
    ] = True,
    missing: Annotated[str, typer.Option(help="What to do with missing values: refuse or skip.")] = "refuse",
    seed: Annotated[
        int | None, typer.Option(help="Seed for reproducible noise, for simulations and tests only.")
    ] = None,
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Randomize the value in each row of a CSV, TSV, NDJSON, Parquet or text file, and write a file of reports.

    Devices do this themselves, with plausibly/device.py, and never send a value. This command is for tests, and for a
    gateway that users trust with their values. Each user may appear only once: two reports reveal twice as much.

    Reports are in the order of the rows. The output appears complete or not at all, and never replaces a file.

    "plausibly sample visits.csv" writes made-up visits; the example in "plausibly plan --help" makes a scheme for them.

    Example: plausibly privatize visits.csv --column site --scheme scheme.json --out reports.parquet
    """
    console = messages()
    with exit_on_error(console):
        expect_suffix(out, [".parquet"])
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
                "Simulated: anyone who knows the seed can recover the values from these reports. "
                "Never use a seed for real users.",
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
        console.print("Enter one value per line; end with Ctrl-D.", highlight=False)
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
        # Not in a table: a command to copy must not be wrapped.
        console.print(f"{name:<7}  {escape(value)}", soft_wrap=True, highlight=False)
