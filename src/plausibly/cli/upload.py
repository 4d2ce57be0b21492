"""plausibly upload: send files of reports to a collector, counting each report once."""

from __future__ import annotations

from rich.table import Table

from ..core.wording import plural
from ..engines.uploading import upload as uploaded
from .common import echo_json, exit_on_error, key_of, messages, progress, results
from .options.upload import UploadOptions

_INTERRUPTED = "Interrupted. Run the same command again to continue; no report counts twice."


def upload(request: UploadOptions) -> None:
    """Run ``plausibly upload``."""
    console = messages()
    with exit_on_error(console, request, _INTERRUPTED), progress(console, "uploading") as advance:
        found = uploaded(
            request.inputs,
            request.to,
            state=request.state,
            allow_simulated=request.simulated,
            key=key_of(console, request.key_file),
            wait=request.wait,
            progress=advance,
        )
    if request.as_json:
        echo_json(
            {
                "collection": found.collection,
                "scheme": found.scheme.name,
                "fingerprint": found.scheme.fingerprint(),
                "reports": found.new + found.repeated,
                "new": found.new,
                "repeated": found.repeated,
                "batches": found.batches,
                "files": found.files,
                "copies": list(found.copies),
            }
        )
        return
    facts = Table.grid(padding=(0, 2))
    before = f"; {found.repeated:,} {'was' if found.repeated == 1 else 'were'} counted already" * bool(found.repeated)
    facts.add_row("uploaded", f"{plural(found.new, 'report')}{before}")
    facts.add_row("files", f"{found.files:,}")
    if found.copies:
        facts.add_row("copies", f"{len(found.copies):,}, of files that are already counted")
    facts.add_row("scheme", f"{found.scheme.name}, {found.scheme.fingerprint()[:12]}")
    results().print(facts, highlight=False)
