"""Values of NDJSON files: one JSON object, text or number per line. Messages name the line and never show a value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from ..core.arguments import expect_few_brackets
from ..core.wording import shown
from ..core.words import Words
from .sources import CHOOSE_ONE, almost_named
from .text import Text

_MOST_BRACKETS = 2**20
"""Maximum number of brackets in a line: an empty list takes 50 times the memory of its text."""
_KINDS = {bool: "true or false", float: "a fraction", list: "a list", dict: "an object"}


class _TwiceError(ValueError):
    pass


def json_values(text: Text, column: str | None) -> Iterator[tuple[list[int], list[str | int | None]]]:
    """The values of a field in JSON lines, in batches with their line numbers; None if null, NaN or absent.

    Without a name, all lines are texts or numbers, or objects with the only field of the first object.
    """
    quick, strict = json.JSONDecoder().raw_decode, json.JSONDecoder(object_pairs_hook=_object).raw_decode
    name = "" if column is None else f'"{column}"'
    plain: bool | None = None if column is None else False
    for first, block in text:
        places: list[int] = []
        found: list[str | int | None] = []
        for line, written in enumerate(block.removesuffix("\n").split("\n"), first):
            written = written.strip(" \t\r")
            if not written:
                continue
            try:
                expect_few_brackets(written, _MOST_BRACKETS)
                # Checking for duplicate fields is slow. A line that contains the name only once needs no check.
                once = name and written.count(name) == 1 and "\\" not in written
                value, end = quick(written) if once else strict(written)
                if end != len(written):
                    raise ValueError
            except _TwiceError:
                raise text.refused("a field occurs twice", line) from None
            except (ValueError, RecursionError):
                raise text.refused("not JSON; expected one complete object per line", line) from None
            if plain is None:
                plain = not isinstance(value, dict)
                column = None if plain else _only(text, value, line)
                name = "" if column is None else f'"{column}"'
            if not plain:
                value = _field(text, value, str(column), line)
            if not isinstance(value, str):
                value = _number(text, value, line)
            places.append(line)
            found.append(value)
        # Only an escape can produce half of a surrogate pair.
        if "\\u" in block:
            _refuse_halves(text, places, found)
        yield places, found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwiceError
    return found


def _only(text: Text, value: dict[str, Any], line: int) -> str:
    if len(value) != 1:
        raise text.refused(Words(f"expected one field, got {len(value)}; ", CHOOSE_ONE), line)
    return next(iter(value))


def _field(text: Text, value: object, column: str, line: int) -> object:
    if not isinstance(value, dict):
        # A list in the first line is most likely the whole file.
        hint = "; write one object per line, not a list of objects" if isinstance(value, list) else ""
        raise text.refused(f"expected a JSON object, got {_KINDS.get(type(value), 'a text or number')}{hint}", line)
    if column not in value and almost_named(column, list(value)):
        raise text.refused(Words(f"no field {shown(column)}", almost_named(column, list(value))), line)
    return value.get(column)


def _number(text: Text, value: object, line: int) -> int | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise text.refused(f"expected a text or a whole number, got {_KINDS[type(value)]}", line)
    return value


def _refuse_halves(text: Text, places: list[int], found: list[str | int | None]) -> None:
    for line, value in zip(places, found, strict=True):
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                raise text.refused("expected text in UTF-8, got half of a surrogate pair", line) from None
