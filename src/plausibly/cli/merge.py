"""plausibly merge: merge several tallies into one."""

from __future__ import annotations

from rich.markup import escape

from ..core.memoised import Memoised
from ..core.wording import plural
from ..engines.merging import merge_files
from ..files.overwriting import refuse_inputs
from ..files.places import expect_ending
from ..files.stores import local_path
from .common import echo_json, exit_on_error, key_of, messages, progress, results
from .inputs import inputs_of
from .options.merge import MergeOptions


def merge(request: MergeOptions) -> None:
    """Run ``plausibly merge``."""
    console = messages()
    with exit_on_error(console, request):
        expect_ending(request.out, [".tally"])
        refuse_inputs(local_path(request.out), inputs_of(request))
        with progress(console, "merging", "files") as advance:
            whole = merge_files(
                request.tallies,
                request.out,
                allow_simulated=request.simulated,
                overwrite=request.overwrite,
                progress=advance,
                key=key_of(console, request.key_file),
            )
    if request.as_json:
        echo_json(
            {
                "out": request.out,
                "scheme": whole.scheme.name,
                "fingerprint": whole.scheme.fingerprint(),
                "tallies": len(request.tallies),
                "reports": len(whole),
                "skipped": [vars(each) for each in whole.skipped],
                "simulated": whole.simulated,
            }
        )
        return
    printed = results()
    reports = f"{plural(len(whole), 'report')}{' (simulated)' * whole.simulated} of {whole.scheme.name}"
    printed.print(f"{reports} from {len(request.tallies):,} tallies.", highlight=False)
    if isinstance(whole.scheme, Memoised):
        printed.print(
            "If the tallies have reports of the same users, the errors of their memos repeat, and intervals are too "
            "narrow: keep one tally for each day.",
            highlight=False,
        )
    printed.print(f"Written: {escape(request.out)}", soft_wrap=True, highlight=False)
