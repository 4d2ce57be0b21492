"""Privatize a file of values: one report per value, in the same order, at a trusted gateway or in a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..core.domain import Domain, encode_column
from ..core.randomness import SeededRandom
from ..core.scheme import Scheme
from .authentication import Key
from .places import size_of
from .reports import report_writer
from .values import Values


@dataclass(frozen=True)
class Privatized:
    """Summary of a file of reports that was written."""

    reports: int
    skipped: int
    """Number of missing values, which have no report."""
    bytes: int
    """Size of the file in bytes."""
    simulated: bool
    changed: Mapping[str, int] = field(default_factory=dict)
    """Number of values that the domain has changed, by what happened to them; empty if nobody has counted them."""


def privatize_values(
    values: Values,
    scheme: Scheme,
    out: str | Path,
    *,
    domain: Domain | None = None,
    seed: int | None = None,
    key: Key | None = None,
    advance: Callable[[int, int | None], None] = lambda done, whole: None,
) -> Privatized:
    """Privatize values: write one report per value to a new file, which appears complete or not at all.

    ``domain`` encodes the values in place of the scheme's: the same domain and codes, with ``normalize``.

    Noise comes from the secure source. With a seed it comes from a seeded source, and the file is marked as simulated;
    the reports are then the same as from one call of ``scheme.privatize``, however the values are divided into chunks.
    """
    done, domain = 0, domain or scheme.domain
    changed: Counter[str] = Counter()
    with report_writer(out, scheme, simulated=seed is not None, key=key) as writer:
        for chunk in values:
            source = None if seed is None else SeededRandom(seed)
            with chunk.located():
                codes = encode_column(domain, chunk.column)
                reports = scheme.privatize_encoded(codes, source, first_report=done)
            writer.write(reports)
            changed.update(domain.changes(codes, chunk.column.item_at))
            done += len(reports)
            advance(done, values.expected)
    return Privatized(done, values.skipped, size_of(out), seed is not None, dict(changed))
