"""The server's cost of a collection: bytes of state, and seconds on one core by a simple model."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod
from typing import Final

CLASSES = ((1.0, "at most a second"), (60.0, "at most a minute"), (3600.0, "at most an hour"))
_LONGEST = "more than an hour"

# Seconds on one core, rounded from measurements (bench/results): they separate a second from a minute, not 1 from 2.
REPORT: Final = 5e-9
"""Seconds to read a report."""
PLACE: Final = 1.2e-9
"""Seconds to add one coefficient of a report to a table."""
BYTE: Final = 6e-11
"""Seconds to count a byte of a bitmap."""
TEST: Final = 3e-11
"""Seconds to test a listed item against a hashed report."""
LOOKUP: Final = 2e-8
"""Seconds to read an item in one row of a sketch."""
TABULATED: Final = 6e-10
"""Seconds to look up an item in the table of one public hash function."""
HASHED: Final = 6e-10
"""Seconds to test a candidate against a kept report by hashing it."""
CANDIDATE: Final = 2.5e-9
"""Seconds to test a candidate against a kept report in the slowest known way."""
_BUTTERFLY = 1.5e-10


@dataclass(frozen=True)
class Cost:
    """The cost of a collection from n users with a scheme."""

    report_bytes: int
    state_bytes: int
    seconds: float
    keeps_reports: bool

    @property
    def time_class(self) -> int:
        """Class of the cost in time: 0 for at most a second, 1 for a minute, 2 for an hour, 3 for more."""
        return sum(self.seconds > most for most, _ in CLASSES)

    @property
    def time_text(self) -> str:
        """The cost in time in words."""
        return [*(text for _, text in CLASSES), _LONGEST][self.time_class]


def transform_seconds(cell_shape: tuple[int, ...]) -> float:
    """Cost in seconds of a Hadamard transform of cells of this shape."""
    cells = prod(cell_shape)
    return cells * log2(cells + 1) * _BUTTERFLY
