"""Crowds from CSV files: one value in each row, or an item and its count. Messages name the line, never what it holds.

The first line names the columns. Which item is which is forgotten: schemes see numbers, the most common item is 0.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..core.errors import ParameterError
from .cells import SOURCES
from .crowds import CROWDS, Counts, resampled

_MOST = 2**31 - 1
"""Users of a crowd."""


@dataclass(frozen=True, eq=False)
class Held:
    """Counts as a crowd, the most common first: exactly these, or so many users drawn from them as are asked for.

    Asked for more items than there are, nobody holds the last ones; for fewer, users are drawn from the most common.
    """

    counts: Counts

    @property
    def n(self) -> int:
        """Users."""
        return int(self.counts.sum())

    @property
    def d(self) -> int:
        """Items."""
        return len(self.counts)

    @cached_property
    def digest(self) -> str:
        """What tells these counts from others."""
        return hashlib.sha256(self.counts.tobytes()).hexdigest()[:12]

    def __call__(self, n: int, d: int, seed: int) -> Counts:
        """The true count of each of d items, n in all."""
        kept = self.counts[:d]
        if n != int(kept.sum()):
            kept = resampled(kept, n, f"held {self.digest} {n} {d}", seed)
        return np.concatenate([kept, np.zeros(d - len(kept), dtype=np.int64)])


def enter(name: str, crowd: Held) -> None:
    """Makes this the data of that name; measurements of other counts under the same name are not taken for its own."""
    if not isinstance(CROWDS.get(name, crowd), Held):
        raise ParameterError(f"{name}: there is made-up data of this name; give yours another")
    CROWDS[name], SOURCES[name] = crowd, crowd.digest


def read_values(path: str | Path, column: str | None = None) -> Held:
    """The crowd of a file with one user's value in each row; the column need not be named if there is only one."""
    path = Path(path)
    found: Counter[str] = Counter()
    with _opened(path) as file:
        for line, (value,) in _records(path, file, None if column is None else [column]):
            if not value:
                raise ParameterError(f"{path.name}, line {line}: no value; leave out users who have none")
            found[value] += 1
    return _held(path, found)


def read_counts(path: str | Path) -> Held:
    """The crowd of a file with the columns ``item`` and ``count``; others are not looked at."""
    path = Path(path)
    found: dict[str, int] = {}
    with _opened(path) as file:
        for line, (item, count) in _records(path, file, ["item", "count"]):
            if not re.fullmatch(r"[0-9]{1,10}", count):
                raise ParameterError(f"{path.name}, line {line}: expected a whole number of users as its count")
            if item in found:
                raise ParameterError(f"{path.name}, line {line}: an item that another line has already")
            found[item] = int(count)
    return _held(path, found)


def _held(path: Path, found: dict[str, int]) -> Held:
    counts = np.sort(np.array([*found.values()], dtype=np.int64))[::-1]
    if len(counts) < 2 or not 1 <= counts.sum() <= _MOST:
        raise ParameterError(
            f"{path.name}: expected two different items or more, of 1 to {_MOST:,} users; "
            f"came {len(counts):,}, of {counts.sum():,}"
        )
    return Held(np.ascontiguousarray(counts))


def _records(path: Path, file: BinaryIO, columns: Sequence[str] | None) -> Iterator[tuple[int, list[str]]]:
    # The fields of these columns with the number of their line; without names, those of the only column.
    rows = csv.reader(_lines(path, file), strict=True)
    try:
        header = next(rows, [])
        # What stands there is not shown: in a file without names of columns it is somebody's value.
        if columns is None and len(header) != 1:
            raise ParameterError(f"{path.name}, line 1: expected one column, came {len(header)}; name the one to take")
        for name in columns or []:
            if header.count(name) != 1:
                raise ParameterError(
                    f"{path.name}, line 1: expected one column named {name!r}, came {header.count(name)}; "
                    "the first line must name the columns"
                )
        places = [0] if columns is None else [header.index(name) for name in columns]
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise ParameterError(
                    f"{path.name}, line {rows.line_num}: expected as many fields as the first line has, "
                    f"{len(header)}; came {len(row)}"
                )
            yield rows.line_num, [row[place] for place in places]
    except csv.Error:
        raise ParameterError(f"{path.name}, line {rows.line_num}: not CSV; is a quotation mark left open?") from None


def _lines(path: Path, file: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise ParameterError(f"{path.name}, line {number}: expected text in UTF-8") from None


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ParameterError(f"{path}: {error.strerror}") from None
