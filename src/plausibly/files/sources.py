"""Sources of users' values: the path of a file or a stream of bytes, with errors that name it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from ..core.errors import ParameterError, PlausiblyError
from ..core.wording import shown
from ..core.words import Setting, Words
from .faults import Fault, Faults
from .stores import is_address, local_path
from .unreachable import UnreachableError

CHOOSE_ONE = Words("choose one with ", Setting("column", "NAME"))


class ValuesError(PlausiblyError, ValueError):
    """A file of users' values is refused. The message names the file, the line and the reason, and shows no value."""

    fault: Fault | None = None
    """The row that is refused, if it is only one."""


def almost_named(name: str, names: Sequence[str], chosen: bool = True) -> str:
    """A hint if one of the columns differs from the wanted name only in case or spaces; no other column is shown.

    ``chosen``: whether the name was chosen by the reader of the hint, who can choose another one.
    """
    alike = [other for other in names if other != name and other.strip().casefold() == name.strip().casefold()]
    if not alike or name in names:
        return ""
    if chosen:
        return Words("; did you mean ", Setting("column", alike[0]), "?")
    return f"; rename the column {shown(alike[0])}"


class Source:
    """A source of values: the path of a file, or a stream of bytes such as standard input."""

    def __init__(self, given: str | Path | BinaryIO, faults: Faults | None = None) -> None:
        if isinstance(given, io.TextIOBase):
            raise ParameterError("expected a stream of bytes, got one of text; pass its .buffer")
        if is_address(given):
            raise UnreachableError(given, "values are read from this machine only; copy the file here first")
        self.path = local_path(given) if isinstance(given, str | Path) else None
        self.name = "standard input" if self.path is None else str(given)
        self.read = 0
        """Number of bytes read so far."""
        self.size: int | None = None
        """Total number of bytes, if known."""
        self.faults = faults
        """Where bad rows are counted; None if they are refused."""
        self._given = given

    def refused(self, why: str, place: str = "") -> ValuesError:
        """A `ValuesError` that names the source of the values, and the place in it such as "line 7"."""
        error = ValuesError(Words(f"{self.name}{place and f', {place}'}: ", why))
        kind, _, number = place.partition(" ")
        if number.isdecimal():
            error.fault = Fault(why, 1, self.name, kind, int(number))
        return error

    def tolerate(self, error: ValuesError) -> None:
        """Count the row that an error is about where bad rows are counted, else raise the error."""
        if self.faults is None or error.fault is None:
            raise error
        self.faults.add(error.fault)

    def refuse(self, why: str, place: str, number: int, rows: int = 1) -> None:
        """Raise a `ValuesError` about bad rows of the source, or count them where they are counted."""
        if self.faults is None:
            raise self.refused(why, f"{place} {number}")
        self.faults.add(Fault(why, rows, self.name, place, number))

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The source of the values, a file or stream, open for reading."""
        if self.path is None:
            if getattr(self._given, "closed", True):
                raise self.refused("cannot be read because it is closed")
            yield cast(BinaryIO, self._given)
            return
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise self.refused(error.strerror or "cannot be opened") from None
        with file:
            whole = os.fstat(file.fileno())
            self.size = whole.st_size or None  # a pipe has none
            yield file
