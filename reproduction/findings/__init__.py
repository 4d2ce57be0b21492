"""The findings of the paper's sections 4 to 9, those of others and our own: each is a named predicate over the rows."""

from __future__ import annotations

from dataclasses import replace

from plausibly.experiments import Curves, Finding, Verdict

from . import fakes, oracles, ordered, postprocessing, rappor, searches, sketches, times

_FILES = (oracles, rappor, sketches, postprocessing, searches, times, fakes, ordered)
_MODEL = "Measured on a model of the paper's log."


def _naming_the_model(finding: Finding) -> Finding:
    # The paper's claims about its search log are judged on a model of it, unless the user has the log.
    def check(rows: Curves) -> Verdict:
        found = finding.check(rows)
        return replace(found, why=f"{found.why} {_MODEL}".strip()) if "url-clicks" in rows.data() else found

    return replace(finding, check=check)


FINDINGS: tuple[Finding, ...] = tuple(
    sorted(
        (_naming_the_model(finding) for file in _FILES for finding in file.FINDINGS),
        key=lambda finding: (finding.ours, finding.source, [int(n) for n in finding.section.split(".") if n]),
    )
)
"""Every claim, in the paper's order; then those of other publications, then our own."""
