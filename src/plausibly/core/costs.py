"""What a collection costs the server: bytes of state, and seconds of one core by a simple model."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod
from typing import Final

CLASSES = ((1.0, "at most a second"), (60.0, "at most a minute"), (3600.0, "at most an hour"))
_LONGEST = "more than an hour"

# Seconds on one core, rounded from measurements (bench/results): they tell a second from a minute, not 1 from 2.
REPORT: Final = 5e-9
"""To read a report."""
PLACE: Final = 1.2e-9
"""To add one of its places to a table of coefficients."""
BYTE: Final = 6e-11
"""To count a byte of a bitmap."""
TEST: Final = 3e-11
"""To test a listed item against a hashed report."""
LOOKUP: Final = 2e-8
"""To read an item in one row of a sketch."""
TABULATED: Final = 6e-10
"""To look an item up in the table of one public hash function."""
HASHED: Final = 6e-10
"""To test a candidate against a kept report by hashing it."""
CANDIDATE: Final = 2.5e-9
"""To test a candidate against a kept report in the slowest known way."""
_BUTTERFLY = 1.5e-10


@dataclass(frozen=True)
class Cost:
    """What a scheme costs a collection of n users."""

    report_bytes: int
    state_bytes: int
    seconds: float
    keeps_reports: bool

    @property
    def time_class(self) -> int:
        """0 for a second, 1 for a minute, 2 for an hour at most; 3 for more."""
        return sum(self.seconds > most for most, _ in CLASSES)

    @property
    def time_text(self) -> str:
        """The class in words."""
        return [*(text for _, text in CLASSES), _LONGEST][self.time_class]


def transform(cell_shape: tuple[int, ...]) -> float:
    """Seconds of a Hadamard transform of so many cells."""
    cells = prod(cell_shape)
    return cells * log2(cells + 1) * _BUTTERFLY
