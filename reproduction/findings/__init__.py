"""The findings of the paper's sections 7 to 9: each claim is a named predicate over the rows, with a verdict."""

from __future__ import annotations

from plausibly.experiments import Finding

from . import oracles, postprocessing, rappor, searches, sketches

_PARTS = (*oracles.FINDINGS, *rappor.FINDINGS, *sketches.FINDINGS, *postprocessing.FINDINGS, *searches.FINDINGS)
FINDINGS: tuple[Finding, ...] = tuple(
    sorted(_PARTS, key=lambda finding: [int(number) for number in finding.section.split(".")])
)
"""Every claim, in the paper's order."""
