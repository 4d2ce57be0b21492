"""A strict reader of structs in Thrift's compact protocol, whose memory is bounded by the size of the input.

A shape names the wanted fields: the type of a number or text, a dictionary for a struct, a ``Listed`` for a list. All
other fields are checked and skipped, up to a number that bounds the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, STRUCT = 3, 4, 5, 6, 7, 8, 9, 10, 12
_BOOLS = (1, 2)
_BITS = {I16: 16, I32: 32, I64: 64}
_LOW, _SHIFT = 15, 4
"""Mask of the low half of a byte, and shift to the high half."""
_MORE = 128
"""The bit that is set in all bytes of a number but the last."""
_DEEPEST = 16
"""Maximum nesting of structs and lists; Parquet's metadata have seven levels."""

MOST_SKIPPED = 1 << 20
"""Maximum number of fields and list elements skipped in one struct, which bounds the time. A report file with the
maximum number of row groups has 852,000 in its metadata."""

Content = bytes | memoryview
Shape = dict[int, Any]


class ThriftError(ValueError):
    """Bytes that are not a struct of the shape."""


class CutOffError(ThriftError):
    """Bytes that end before the struct does."""


@dataclass(frozen=True)
class Listed:
    """The shape of a list of at most ``most`` elements with an average of at least ``least`` bytes."""

    element: Any
    most: int
    least: int = 1


def read_struct(
    content: Content, place: int, shape: Shape, *, most_skipped: int = MOST_SKIPPED
) -> tuple[dict[int, Any], int]:
    """The wanted fields, by number, of the Thrift struct that begins at ``place``, and the position after it.

    Refuse a struct with more than ``most_skipped`` fields and list elements that are not in the shape.
    """
    try:
        return _Reading(content, most_skipped).struct(place, shape, 0)
    except IndexError:
        raise CutOffError("cut off") from None


class _Reading:
    """A struct being read, and the number of fields and elements that may still be skipped."""

    def __init__(self, content: Content, most_skipped: int) -> None:
        self._content, self._left = content, most_skipped

    def struct(self, place: int, shape: Shape, depth: int) -> tuple[dict[int, Any], int]:
        if depth > _DEEPEST:
            raise ThriftError("structs nested too deeply")
        content = self._content
        found: dict[int, Any] = {}
        last = 0
        while head := content[place]:
            kind = head & _LOW
            place += 1
            if head > _LOW:
                last += head >> _SHIFT
            else:
                number, place = _integer(content, place, 16)
                if number <= last:
                    raise ThriftError("a field that is repeated or out of order")
                last = number
            wanted = shape.get(last)
            if wanted is None:
                self._spend(1)
                place = self._skipped(place, kind, depth, False)
            elif wanted == kind and kind in _BITS:
                # The fast path: most numbers have one byte, and files have many page headers.
                if content[place] < _MORE:
                    found[last] = (content[place] >> 1) ^ -(content[place] & 1)
                    place += 1
                else:
                    found[last], place = _integer(content, place, _BITS[kind])
            else:
                found[last], place = self._value(place, kind, wanted, depth)
        return found, place + 1

    def _value(self, place: int, kind: int, wanted: Any, depth: int) -> tuple[Any, int]:
        content = self._content
        if isinstance(wanted, dict) and kind == STRUCT:
            return self.struct(place, wanted, depth + 1)
        if isinstance(wanted, Listed) and kind == LIST:
            element, count, place = _list_head(content, place)
            if count > wanted.most:
                raise ThriftError("a list with too many elements")
            start, found = place, []
            for _ in range(count):
                value, place = self._value(place, element, wanted.element, depth + 1)
                found.append(value)
            if place - start < count * wanted.least:
                raise ThriftError("a list whose elements are too short")
            return found, place
        if kind != wanted or kind not in (*_BITS, BINARY):
            raise ThriftError("a field of another type")
        if kind == BINARY:
            start, place = _binary(content, place)
            return bytes(content[start:place]), place
        return _integer(content, place, _BITS[kind])

    def _skipped(self, place: int, kind: int, depth: int, listed: bool) -> int:
        content = self._content
        if kind in _BOOLS:
            return place + listed  # the value of a field is in its head
        if kind in _BITS:
            return _varint(content, place, _BITS[kind])[1]
        if kind == BINARY:
            return _binary(content, place)[1]
        if kind == STRUCT:
            return self.struct(place, {}, depth + 1)[1]
        if kind in (BYTE, DOUBLE):
            return place + (1 if kind == BYTE else 8)
        if kind not in (LIST, SET) or depth > _DEEPEST:  # Parquet has no maps
            raise ThriftError("a field of an unknown type, or lists nested too deeply")
        element, count, place = _list_head(content, place)
        self._spend(count)
        for _ in range(count):
            place = self._skipped(place, element, depth + 1, True)
        return place

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise ThriftError("too many fields and elements that are not in the shape")


def _list_head(content: Content, place: int) -> tuple[int, int, int]:
    head = content[place]
    place += 1
    count = head >> _SHIFT
    if count == _LOW:
        count, place = _varint(content, place, 32)
    # An element has at least one byte: refuse a list that claims more elements before it takes time.
    if count > len(content) - place:
        raise CutOffError("a list that ends after the last byte")
    return head & _LOW, count, place


def _binary(content: Content, place: int) -> tuple[int, int]:
    length, start = _varint(content, place, 32)
    if length > len(content) - start:
        raise CutOffError("a text that ends after the last byte")
    return start, start + length


def _integer(content: Content, place: int, bits: int) -> tuple[int, int]:
    value, place = _varint(content, place, bits)
    return (value >> 1) ^ -(value & 1), place


def _varint(content: Content, place: int, bits: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := content[place]) >= _MORE:
        value |= (byte - _MORE) << shift
        shift += 7
        place += 1
        if shift >= bits:
            raise ThriftError("a number with too many bytes")
    value |= byte << shift
    if value >> bits:
        raise ThriftError("a number that is too large")
    return value, place + 1
