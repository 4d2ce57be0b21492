"""A dry run: which rows of files of values cannot be privatized, and why, without writing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..core.domain import Domain, encode_column
from ..core.errors import ParameterError
from .faults import Fault
from .sources import ValuesError
from .values import Values


@dataclass(frozen=True)
class Checked:
    """Summary of files of values."""

    good: int
    """Number of values that can be privatized."""
    skipped: int
    """Number of missing values, where they are skipped."""
    bad: tuple[Fault, ...]
    """Rows that would be refused, by reason, the most common one first."""
    changed: Mapping[str, int]
    """Number of good values that the domain changes, by what happens to them."""
    stopped: str
    """The error after which a file cannot be read any further; empty if all rows have been read."""

    @property
    def bad_rows(self) -> int:
        """Number of rows that would be refused."""
        return sum(fault.rows for fault in self.bad)


def check_values(
    values: Values, domain: Domain, *, advance: Callable[[int, int | None], None] = lambda done, whole: None
) -> Checked:
    """Count the values that the domain can encode, and the bad rows by reason.

    The values must come from ``values(..., faults=Faults())``. Nothing is randomized or written.
    """
    if values.faults is None:
        raise ParameterError("expected values that count bad rows (with faults), got values that refuse them")
    good, stopped = 0, ""
    changed: Counter[str] = Counter()
    try:
        for chunk in values:
            kept = values.encodable(chunk, domain)
            changed.update(domain.changes(encode_column(domain, kept.column), kept.column.item_at))
            good += len(kept)
            advance(good, values.expected)
    except ValuesError as error:
        stopped = error.words
    return Checked(good, values.skipped, values.faults.most_common(), dict(changed), stopped)
