"""Rows that cannot be privatized, counted by reason instead of refused one by one. No value is kept."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True)
class Fault:
    """A reason why rows are bad, the number of these rows, and where the first one is."""

    reason: str
    rows: int
    file: str
    place: str
    """Whether ``number`` counts lines or rows of the file."""
    number: int

    @property
    def first(self) -> str:
        """The file and the line or row of the first bad row."""
        return f"{self.file}, {self.place} {self.number}"


class Faults:
    """Bad rows of files, by reason."""

    def __init__(self) -> None:
        self._found: dict[str, Fault] = {}
        self._lock = Lock()  # blocks of a file are read in parallel

    def add(self, found: Fault) -> None:
        """Count bad rows. Files come one after the other, but the rows of a file in any order."""
        with self._lock:
            before = self._found.get(found.reason)
            if before is None:
                self._found[found.reason] = found
                return
            earlier = found.file == before.file and found.number < before.number
            number = found.number if earlier else before.number
            rows = before.rows + found.rows
            self._found[found.reason] = Fault(found.reason, rows, before.file, before.place, number)

    def __len__(self) -> int:
        """Number of bad rows."""
        return sum(fault.rows for fault in self._found.values())

    def most_common(self) -> tuple[Fault, ...]:
        """The reasons for bad rows, the most common one first."""
        return tuple(sorted(self._found.values(), key=lambda fault: -fault.rows))
