"""Values of NDJSON files: one JSON object, text or number per line. Messages name the line and never show a value.

Arrow reads ordinary blocks, those of which it is certain that Python's reader finds the same values in the same lines;
every other block, and every error, is left to Python (docs/adr/0028-reading.md).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.arguments import expect_few_brackets
from ..core.domain import Column
from ..core.domain.columns import arrow_column
from ..core.parallel import in_order
from ..core.wording import shown
from ..core.words import Words
from .batches import Batch, Joined, SeparatorError, arrow_is_installed, is_absent
from .sources import CHOOSE_ONE, ValuesError, almost_named
from .text import Text, has_short_lines

_MOST_BRACKETS = 2**20
"""Maximum number of brackets in a line: an empty list takes 50 times the memory of its text."""
_FEW_BRACKETS = 500
"""Number of brackets that Python's reader can certainly nest."""
_DIGITS = 4000
"""Number of digits that Python certainly reads as a number; it refuses some more, because they take long."""
_LONG_NUMBER = re.compile(rb"[0-9]{%d}" % _DIGITS)
_HALF = re.compile("[\ud800-\udfff]")
_LARGEST = 1 << 26
"""A number of bytes that no block has: Arrow does not divide it again."""
_KINDS = {bool: "true or false", int: "a number", float: "a fraction", list: "a list", dict: "an object"}


class _Repeating(dict[str, Any]):
    """An object with fields that occur more than once."""

    repeated: frozenset[str]


class JsonColumn:
    """The values of a field in JSON lines, or of several fields that are joined, in batches; None if null or absent.

    A field that no line has is refused. Without a name, all lines are texts or numbers, or objects with the only field
    of the first object. ``fractions`` allows numbers that are not whole, ``lists`` allows lists of texts, which become
    tuples.
    """

    def __init__(
        self,
        text: Text,
        fields: Sequence[str] | None,
        joined: Joined | None = None,
        *,
        fractions: bool = False,
        lists: bool = False,
    ) -> None:
        self._text, self._joined, self._fractions, self._lists = text, joined, fractions, lists
        self._fields: list[str] = [] if fields is None else list(fields)
        """The fields to read; none if every line is a text or a number."""
        self._decided = fields is not None
        self._seen: set[str] = set()
        """The fields that some line has."""
        self._objects = False
        """Whether any line is an object."""
        self._quick = json.JSONDecoder().raw_decode
        self._strict = json.JSONDecoder(object_pairs_hook=_object).raw_decode

    def __iter__(self) -> Iterator[Batch]:
        blocks = ((first, content) for first, content in self._text if self._decide(first, content))
        if arrow_is_installed():
            yield from in_order(self._tasks(blocks))
        else:
            yield from (self._by_lines(first, content) for first, content in blocks)
        for name in self._fields if self._objects else ():
            if name not in self._seen:
                absent = f"no line has a field {shown(name)}; write null where its value is missing"
                raise self._text.source.refused(absent)

    def _tasks(self, blocks: Iterator[tuple[int, bytes]]) -> Iterator[partial[Batch]]:
        by_arrow = None
        for first, content in blocks:
            if not self._fields or self._lists:
                yield partial(_unchanged, self._by_lines(first, content))
                continue
            by_arrow = by_arrow or _Arrow(self._fields, self._joined)
            yield partial(self._batch, by_arrow, first, content)

    def _batch(self, by_arrow: _Arrow, first: int, content: bytes) -> Batch:
        found, seen = by_arrow.column(content)
        if found is None:
            return self._by_lines(first, content)
        self._seen.update(seen)
        self._objects = True
        batch = Batch(range(first, first + len(found)), found)
        absent = [is_absent(value) for value in found.distinct]
        if any(absent):
            # Python tells null from a field that is absent because its name is misspelt.
            lines = content.split(b"\n")
            missing = found.rows_with(absent)
            for row in np.flatnonzero(missing).tolist():
                try:
                    self._value(lines[row].decode().strip(" \t\r"), first + row)
                except ValuesError:
                    return self._by_lines(first, content)
        return batch

    def _by_lines(self, first: int, content: bytes) -> Batch:
        places: list[int] = []
        found: list[Any] = []
        for line, written in enumerate(content.decode().removesuffix("\n").split("\n"), first):
            written = written.strip(" \t\r")
            if not written:
                continue
            try:
                value = self._value(written, line)
            except ValuesError as error:
                self._text.source.tolerate(error)
                continue
            # Only an escape can produce half of a surrogate pair.
            if "\\u" in written and _HALF.search(_text_of(value)):
                self._text.refuse("expected text in UTF-8, got half of a surrogate pair", line)
                continue
            places.append(line)
            found.append(value)
        return Batch(places, Column(found))

    def _decide(self, first: int, content: bytes) -> bool:
        # The first line that is not empty decides what every line is.
        for line, written in enumerate(content.decode().split("\n"), first) if not self._decided else ():
            written = written.strip(" \t\r")
            if written:
                value = self._parsed(written, line)
                self._fields = [_only(self._text, value, line)] if isinstance(value, dict) else []
                self._decided = True
                break
        return self._decided

    def _parsed(self, written: str, line: int) -> Any:
        try:
            expect_few_brackets(written, _MOST_BRACKETS)
            # Looking for fields that occur twice is slow. A line that contains the names only once needs it not.
            once = self._fields and "\\" not in written and all(written.count(f'"{f}"') == 1 for f in self._fields)
            value, end = self._quick(written) if once else self._strict(written)
            if end != len(written):
                raise ValueError
        except (ValueError, RecursionError):
            raise self._text.refused("not JSON; expected one complete object per line", line) from None
        return value

    def _value(self, written: str, line: int) -> Any:
        value = self._parsed(written, line)
        if not self._fields:
            return self._text_or_number(value, line)
        if isinstance(value, dict):
            self._seen.update(value.keys() & self._fields)
            self._objects = True
        if self._joined is None:
            return self._text_or_number(_field(self._text, value, self._fields[0], line), line)
        found = [
            self._text_or_number(_field(self._text, value, name, line), line, f"{shown(name)}: ")
            for name in self._fields
        ]
        try:
            return self._joined.value(found)
        except SeparatorError as error:
            raise self._text.refused(error.why, line) from None

    def _text_or_number(self, value: object, line: int, of: str = "") -> str | int | float | tuple[str, ...] | None:
        if self._lists:
            return self._list_or_text(value, line)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, float) and math.isnan(value):
            return None
        if isinstance(value, float) and self._fractions:
            return value
        if not isinstance(value, int) or isinstance(value, bool):
            kind = dict if isinstance(value, dict) else type(value)
            expected = "a text or a number" if self._fractions else "a text or a whole number"
            raise self._text.refused(f"{of}expected {expected}, got {_KINDS[kind]}", line)
        return value

    def _list_or_text(self, value: object, line: int) -> str | tuple[str, ...] | None:
        if value is None or isinstance(value, str):
            return value
        if not isinstance(value, list):
            kind = dict if isinstance(value, dict) else type(value)
            raise self._text.refused(f"expected a list of texts, got {_KINDS[kind]}", line)
        if not all(isinstance(item, str) for item in value):
            raise self._text.refused("expected a list of texts, got a list of other things", line)
        return tuple(value)


class _Arrow:
    """Arrow's JSON reader, for ordinary blocks of one file."""

    def __init__(self, fields: Sequence[str], joined: Joined | None) -> None:
        import pyarrow
        from pyarrow import json as arrow_json

        self._arrow, self._json, self._joined = pyarrow, arrow_json, joined
        self._read = arrow_json.ReadOptions(use_threads=False, block_size=_LARGEST)
        self._kinds = [
            arrow_json.ParseOptions(
                explicit_schema=pyarrow.schema([(name, kind) for name in fields]), unexpected_field_behavior="ignore"
            )
            for kind in (pyarrow.string(), pyarrow.int64())
        ]

    def column(self, content: bytes) -> tuple[Column | None, list[str]]:
        """The values of a block, or None if it is not ordinary, and the names of the fields that certainly occur."""
        lines = content.count(b"\n") + (not content.endswith(b"\n"))
        if not _is_ordinary(content, lines):
            return None, []
        for kind in self._kinds:
            try:
                table = self._json.read_json(
                    self._arrow.BufferReader(content), read_options=self._read, parse_options=kind
                )
            except self._arrow.ArrowInvalid:
                continue
            seen = [name for name in table.column_names if table[name].null_count < len(table)]
            columns = [arrow_column(column.chunks, str(column.type)) for column in table.columns]
            try:
                found = columns[0] if self._joined is None else self._joined.column(columns)
            except SeparatorError:
                return None, []
            return (found, seen) if len(found) == lines else (None, [])
        return None, []


def _is_ordinary(content: bytes, lines: int) -> bool:
    # One object per line: at each line end, an object has ended and the next one begins.
    end = b"}\r\n" if content.endswith(b"}\r\n") else b"}\n"
    if not content.startswith(b"{") or not content.endswith((end, b"}")) or content.count(end + b"{") != lines - 1:
        return False
    brackets = content.count(b"{") + content.count(b"[")
    if brackets - lines > _FEW_BRACKETS and (brackets > _MOST_BRACKETS or _most_in_a_line(content) > _FEW_BRACKETS):
        return False
    return has_short_lines(content, _DIGITS) or _LONG_NUMBER.search(content) is None


def _most_in_a_line(content: bytes) -> int:
    block = np.frombuffer(content, dtype=np.uint8)
    brackets = np.flatnonzero((block == ord("{")) | (block == ord("[")))
    ends = np.searchsorted(brackets, np.flatnonzero(block == ord("\n")))
    return int(np.diff(np.concatenate([[0], ends, [len(brackets)]])).max())


def _text_of(value: object) -> str:
    # The text of a value, or all texts of a list.
    if isinstance(value, tuple):
        return " ".join(filter(None, map(_text_of, value)))
    return value if isinstance(value, str) else ""


def _unchanged(batch: Batch) -> Batch:
    return batch


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    names = [name for name, _ in pairs]
    repeating = _Repeating(found)
    repeating.repeated = frozenset(name for name in found if names.count(name) > 1)
    return repeating


def _only(text: Text, value: dict[str, Any], line: int) -> str:
    if len(value) != 1:
        raise text.refused(Words(f"expected one field, got {len(value)}; ", CHOOSE_ONE), line)
    return next(iter(value))


def _field(text: Text, value: object, column: str, line: int) -> object:
    if not isinstance(value, dict):
        # A list in the first line is most likely the whole file.
        hint = "; write one object per line, not a list of objects" if isinstance(value, list) else ""
        raise text.refused(f"expected a JSON object, got {_KINDS.get(type(value), 'a text or number')}{hint}", line)
    if isinstance(value, _Repeating) and column in value.repeated:
        raise text.refused("a field occurs twice", line)
    if column not in value and almost_named(column, list(value)):
        raise text.refused(Words(f"no field {shown(column)}", almost_named(column, list(value))), line)
    return value.get(column)
