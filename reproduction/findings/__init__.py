"""The findings of the paper's sections 7 to 9: each claim is a named predicate over the rows, with a verdict."""

from __future__ import annotations

from plausibly.experiments import Finding

from . import oracles, postprocessing, rappor, searches, sketches, times

_FILES = (oracles, rappor, sketches, postprocessing, searches, times)
FINDINGS: tuple[Finding, ...] = tuple(
    sorted(
        (finding for file in _FILES for finding in file.FINDINGS),
        key=lambda finding: [int(number) for number in finding.section.split(".")],
    )
)
"""Every claim, in the paper's order."""
