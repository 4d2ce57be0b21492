"""Strings that are publicly known to be likely: a hint to a search, not a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.domain import Strings
from ..core.errors import DomainError, ParameterError
from ..core.words import Words, kind_of
from .evidence import Numbers, Symbols

LN_KNOWN = log(0.5)
"""ln of the prior probability that a common string is in the dictionary."""


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Distinct strings sorted by their symbols, so that strings with a common prefix are adjacent."""

    strings: Symbols

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def lengths(self) -> Numbers:
        """Number of symbols in each string of the dictionary."""
        return np.asarray(np.count_nonzero(self.strings, axis=1))

    @cached_property
    def _shared(self) -> Numbers:
        # Length of the common prefix of each string and the one before it; −1 for the first string.
        differ = self.strings[1:] != self.strings[:-1]
        return np.concatenate([[-1], np.argmax(differ, axis=1)])

    def prefixes(self, before: int, length: int) -> tuple[Numbers, Numbers, Numbers]:
        """All prefixes of ``length`` symbols of the dictionary's strings with at least ``before`` symbols.

        For each: the first string that has it, the number of strings that have it, and the position of its parent
        among the prefixes of ``before`` symbols.
        """
        parents, _ = self._runs(before, before)
        first, sizes = self._runs(before, length)
        return first, sizes, np.searchsorted(parents, first, side="right") - 1

    def _runs(self, before: int, length: int) -> tuple[Numbers, Numbers]:
        first = np.flatnonzero(self._shared < length)
        sizes = np.diff(first, append=len(self))
        enough = self.lengths[first] >= before
        return first[enough], sizes[enough]


def dictionary_of(given: object, domain: Strings) -> Dictionary | None:
    """Dictionary of the given strings as users would report them, or None if none are given."""
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
        raise ParameterError(Words("dictionary: expected a list of strings, got one ", kind_of(given)))
    try:
        rows = np.asarray(domain.encode(given))
    except DomainError as error:
        raise DomainError(f"dictionary: {error}") from None
    if not len(rows):
        return None
    return Dictionary(rows[distinct(rows)].astype(np.uint16))


def distinct(rows: npt.NDArray[Any]) -> Numbers:
    """Positions of the distinct strings for a dictionary: each one's first occurrence, sorted by the symbols."""
    return np.unique(_keys(rows), return_index=True)[1]


def places_in(strings: Symbols, ordered: Symbols) -> Numbers:
    """Position of each string in a dictionary's ``ordered`` strings, distinct and sorted; −1 if it is not there."""
    keys, wanted = _keys(ordered), _keys(strings)
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _keys(rows: npt.NDArray[Any]) -> npt.NDArray[np.bytes_]:
    # Two bytes for each symbol, the high one first, so that the keys sort like the rows.
    return np.ascontiguousarray(rows.astype(">u2")).view(f"S{2 * rows.shape[1]}")[:, 0]
