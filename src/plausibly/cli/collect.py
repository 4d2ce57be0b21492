"""plausibly collect: add files of reports to one tally, counting each report once."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from ..core.wording import plural
from ..engines.collecting import Collection
from ..engines.collecting import collect as collected
from ..files.places import expect_ending
from .common import echo_json, exit_on_error, key_of, messages, progress, results, tell_skipped
from .engines import engine_of
from .naming import scheme_of
from .options.collect import CollectOptions

_KEPT = "Interrupted. Everything collected so far is kept; run the same command to continue."


def collect(request: CollectOptions) -> None:
    """Run ``plausibly collect``."""
    console = messages()
    with exit_on_error(console, request, _KEPT):
        expect_ending(request.out, [".tally"])
        engine = engine_of(request.engine, request.master)
        expected = None if request.scheme is None else scheme_of(request.scheme)
        with progress(console, "collecting") as advance:
            found = collected(
                request.inputs,
                request.out,
                engine=engine,
                scheme=expected,
                skip_bad=request.skip_bad,
                allow_simulated=request.simulated,
                progress=advance,
                key=key_of(console, request.key_file),
            )
    tell_skipped(console, found.skipped)
    if request.as_json:
        echo_json(_for_machines(found, request.out))
    else:
        _print(found, request.out)


def _for_machines(found: Collection, out: str) -> dict[str, object]:
    return {
        "out": out,
        "scheme": found.state.scheme.name,
        "fingerprint": found.state.scheme.fingerprint(),
        "added": found.added,
        "resumed": found.resumed,
        "reports": len(found.tally),
        "files": found.files,
        "copies": list(found.copies),
        "skipped": [vars(each) for each in found.skipped],
        "simulated": found.state.simulated,
    }


def _print(found: Collection, out: str) -> None:
    facts = Table.grid(padding=(0, 2))
    before = len(found.tally) - found.added - found.resumed
    counted = f"; {before:,} {'was' if before == 1 else 'were'} counted already" if before else ""
    facts.add_row("added", f"{plural(found.added, 'report')}{counted}")
    if found.resumed:
        facts.add_row("resumed", f"{plural(found.resumed, 'report')}, from an earlier run that was stopped")
    facts.add_row("total", f"{plural(len(found.tally), 'report')}{' (simulated)' * found.state.simulated}")
    facts.add_row("files", f"{found.files:,}")
    if found.copies:
        facts.add_row("copies", f"{len(found.copies):,}, of files that are already counted")
    facts.add_row("scheme", f"{found.state.scheme.name}, {found.state.scheme.fingerprint()[:12]}")
    console = results()
    console.print(facts, highlight=False)
    console.print(f"Written: {escape(out)}", soft_wrap=True, highlight=False)
