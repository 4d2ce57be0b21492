"""plausibly merge: merge several tallies into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..core.atomic import expect_suffix
from ..core.errors import StateError
from ..engines.merging import merge_files
from .common import KeyFile, echo_json, exit_on_error, key_of, messages, progress, results


def merge(
    tallies: Annotated[list[Path], typer.Argument(help="Tally files of the same scheme.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The new tally file; not one of those to merge.")],
    simulated: Annotated[bool, typer.Option("--simulated", help="Accept tallies of simulated reports, too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")] = False,
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Merge tally files into a new one, as if all their reports had been collected together.

    A tally records its files of reports. Two tallies that share a file are refused, because its reports would count
    twice; so are tallies of different schemes. plausibly collect writes tallies.

    Example: plausibly merge visits.tally more.tally --out all.tally
    """
    console = messages()
    with exit_on_error(console):
        expect_suffix(out, [".tally"])
        if out.exists() and not force:
            raise StateError(f"{out}: the file exists already; add --force to replace it")
        with progress(console, "merging", "files") as advance:
            whole = merge_files(
                tallies,
                out,
                allow_simulated=simulated,
                overwrite=force,
                progress=advance,
                key=key_of(console, key_file),
            )
    if as_json:
        echo_json(
            {
                "out": str(out),
                "scheme": whole.scheme.name,
                "fingerprint": whole.scheme.fingerprint(),
                "tallies": len(tallies),
                "reports": len(whole),
                "skipped": [vars(each) for each in whole.skipped],
                "simulated": whole.simulated,
            }
        )
        return
    printed = results()
    reports = f"{len(whole):,} reports{' (simulated)' * whole.simulated} of {whole.scheme.name}"
    printed.print(f"{reports} from {len(tallies):,} tallies.", highlight=False)
    printed.print(f"Written: {escape(str(out))}", soft_wrap=True, highlight=False)
