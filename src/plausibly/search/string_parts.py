"""The parts of a search: each reports some symbols of the string, optionally with a tag, through an oracle."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.domain import Strings
from ..core.domain.symbols import Rows, symbol_numbers
from ..core.errors import ParameterError
from ..core.scheme import Encoded, Scheme
from ..core.wording import shown


@dataclass(frozen=True)
class Tag:
    """A few bits of a hash of the whole string, which mark the fragments of the same string."""

    hash_seed: int
    bits: int

    def of(self, rows: Rows) -> Encoded:
        """Tag of each whole string, which a part reports with its symbols."""
        return symbol_keys(rows, self.hash_seed, b"tag") & np.uint64((1 << self.bits) - 1)


@dataclass(frozen=True)
class Part:
    """One part of a search: its oracle reports the symbols in [first, last), with the tag if there is one.

    An oracle over ``Keys()`` gets a hash of the symbols; an oracle over integers gets their number, so its domain must
    be large enough for all.
    """

    label: str
    scheme: Scheme
    strings: Strings
    first: int
    last: int
    tag: Tag | None = None
    role: str = "oracle"
    """Name of the search's parameter for this oracle, for error messages."""

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Scheme):
            example, got = 'make("FLH", epsilon=3, domain=Keys())', type(self.scheme).__name__
            raise ParameterError(f"{self.role}: expected a scheme such as {example}, got {got}")
        cells, hash_seed = self.scheme.domain.cells, self.scheme.domain.hash_seed
        if cells is None and hash_seed is None:
            got = self.scheme.domain.title
            raise ParameterError(f"{self.role}: expected a scheme over keys or integers, got one over {got}")
        if self.scheme.domain.normalize:
            raise ParameterError(
                f"{self.role}: expected keys without normalize, since it gets no texts; the strings take the steps"
            )
        if cells is not None and cells < self.count:
            room = f"a domain_size of at least {shown(self.count)} for {self.label}"
            raise ParameterError(f"{self.role}: expected keys, or {room}, got a domain_size of {shown(cells)}")

    @property
    def count(self) -> int:
        """Number of different inputs of the part's oracle."""
        return self.count_of(self.strings.symbols)

    def count_of(self, symbols: int) -> int:
        """Number of different inputs of the part's oracle, for an alphabet of ``symbols``."""
        count: int = symbols ** (self.last - self.first)
        return count << self.tag.bits if self.tag else count

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        """Minimum and maximum that a report adds to a part's count; None without a variance law."""
        ends = self.scheme.contribution()
        return ends and (self.read(ends[0]), self.read(ends[1]))

    def read(self, shift: Fraction) -> Fraction:
        """Shift of the count of a part of the string if its oracle's count shifts by ``shift``."""
        return shift

    def items(self, rows: Rows) -> Encoded:
        """Input of the part's oracle for each string."""
        return self.items_of(rows[:, self.first : self.last], self.tag.of(rows) if self.tag else None)

    def items_of(self, seen: Rows, tags: Encoded | None = None) -> Encoded:
        """Input of the part's oracle for the symbols ``seen`` at its position of the string, and their tags."""
        hash_seed = self.scheme.domain.hash_seed
        if hash_seed is not None:
            content = as_bytes(seen)
            if tags is not None:
                content = np.hstack([content, tags.astype("<u2").view(np.uint8).reshape(-1, 2)])
            return content_keys(content, hash_seed, b"symbols")
        numbers = symbol_numbers(seen, self.strings.symbols)
        return numbers if tags is None or self.tag is None else numbers << np.uint64(self.tag.bits) | tags


def symbol_keys(rows: Rows, hash_seed: int, tag: bytes) -> Encoded:
    """64-bit key of the string's symbols in each row, for a part's oracle or tag."""
    return content_keys(as_bytes(rows), hash_seed, tag)


def as_bytes(rows: Rows) -> npt.NDArray[np.uint8]:
    """The symbols of string parts, encoded as bytes for hashing."""
    little = np.ascontiguousarray(rows).astype(rows.dtype.newbyteorder("<"), copy=False)
    return little.view(np.uint8).reshape(len(rows), rows.shape[1] * rows.dtype.itemsize)


def content_keys(content: npt.NDArray[np.uint8], hash_seed: int, tag: bytes) -> Encoded:
    """64-bit key of each row of bytes, which encodes the string's part."""
    size = content.shape[1]
    ends = np.arange(size, size * len(content) + 1, size, dtype=np.int64) if size else np.zeros(len(content), np.int64)
    return kernels.keyed_hash(np.ascontiguousarray(content).reshape(-1), ends[: len(content)], hash_seed, tag)
