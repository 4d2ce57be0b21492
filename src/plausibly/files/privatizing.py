"""Users' values to a file of their reports, in the same order, for a gateway that they trust or for a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..core.randomness import SeededRandom
from ..core.scheme import Scheme
from .keys import Key
from .reports import report_writer
from .values import Values


@dataclass(frozen=True)
class Privatized:
    """What was written."""

    reports: int
    skipped: int
    """Missing values, of which there is no report."""
    bytes: int
    """Of the file."""
    simulated: bool


def privatize_values(
    values: Values,
    scheme: Scheme,
    out: str | Path,
    *,
    seed: int | None = None,
    key: Key | None = None,
    advance: Callable[[int, int | None], None] = lambda done, whole: None,
) -> Privatized:
    """Writes a report of each value to a new file, whole or not at all.

    Noise comes from the secure source; a seed takes it from a seeded one, and marks the file as simulated. Then the
    reports are those of one call of ``scheme.privatize``, however the values are divided into chunks.
    """
    done = 0
    with report_writer(out, scheme, simulated=seed is not None, key=key) as writer:
        for chunk in values:
            source = None if seed is None else SeededRandom(seed)
            with chunk.located():
                reports = scheme.privatize(chunk.values, source, first_report=done)
            writer.write(reports)
            done += len(reports)
            advance(done, values.expected)
    return Privatized(done, values.skipped, Path(out).stat().st_size, seed is not None)
