"""Strings that are publicly known to be likely: a hint to a search, never a limit."""

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
from .evidence import Numbers, Symbols

LN_KNOWN = log(0.5)
"""Of the chance to be common, what all strings of a dictionary have together before anybody has counted."""


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Distinct strings in the order of their symbols, so that those with a common prefix stand side by side."""

    strings: Symbols

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def lengths(self) -> Numbers:
        """The number of symbols of each string."""
        return np.asarray(np.count_nonzero(self.strings, axis=1))

    @cached_property
    def _shared(self) -> Numbers:
        # How many symbols each string shares with the one before it; none of the first, not even the empty prefix.
        differ = self.strings[1:] != self.strings[:-1]
        return np.concatenate([[-1], np.argmax(differ, axis=1)])

    def prefixes(self, before: int, length: int) -> tuple[Numbers, Numbers, Numbers]:
        """The prefixes of a length of strings with at least ``before`` symbols.

        The first string with each; how many have it; and where its own prefix of ``before`` symbols is among those.
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
    """The strings as their users would report them; None where nothing is given."""
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
        raise ParameterError(f"dictionary: expected a list of strings, got one {type(given).__name__}")
    try:
        rows = np.asarray(domain.encode(given))
    except DomainError as error:
        raise DomainError(f"dictionary: {error}") from None
    if not len(rows):
        return None
    return Dictionary(rows[distinct(rows)].astype(np.uint16))


def distinct(rows: npt.NDArray[Any]) -> Numbers:
    """Where each string first occurs, in the order of their symbols."""
    return np.unique(_keys(rows), return_index=True)[1]


def places_in(strings: Symbols, ordered: Symbols) -> Numbers:
    """Where each string stands among others that are distinct and in order; −1 if it does not."""
    keys, wanted = _keys(ordered), _keys(strings)
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _keys(rows: npt.NDArray[Any]) -> npt.NDArray[np.bytes_]:
    # Of two bytes for each symbol, the high one first: they are ordered like the rows.
    return np.ascontiguousarray(rows.astype(">u2")).view(f"S{2 * rows.shape[1]}")[:, 0]
