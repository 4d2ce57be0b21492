"""What the paper found in its sections 7 to 9: each claim a named predicate over the rows, with a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..figure import Row
from . import oracles, postprocessing, searches, sketches
from .verdict import Curves, Finding, MissingError, Outcome, Verdict

__all__ = ["FINDINGS", "Finding", "Outcome", "Verdict", "judged"]

_PARTS = (*oracles.FINDINGS, *sketches.FINDINGS, *postprocessing.FINDINGS, *searches.FINDINGS)
FINDINGS: tuple[Finding, ...] = tuple(
    sorted(_PARTS, key=lambda finding: [int(number) for number in finding.section.split(".")])
)
"""Every claim, in the paper's order."""


def judged(rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[Finding, Verdict]]:
    """Every finding with its verdict; not measured where rows of a figure are missing."""
    for finding in FINDINGS:
        own = [rows.get(name, ()) for name in finding.figures]
        try:
            if not all(own):
                raise MissingError(finding.name)
            yield finding, finding.check(Curves(row for part in own for row in part))
        except MissingError:
            yield finding, Verdict(Outcome.OPEN, "")
