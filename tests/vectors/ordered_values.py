"""Writes the vectors of ordered values: `PYTHONPATH=tests python -m vectors.ordered_values`. Nothing from the package.

schemes   JSON fields of schemes over ordered domains; all else refers by number
vectors   scheme, value, tape (words as decimal text) -> record; a double is {"double": its 8 bytes in hex}, a time is
          {"time": milliseconds since 1970 in UTC}
refused   scheme, value: values that every client must refuse
broken    domains that every client and the library must refuse, each within a scheme
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import naive_client as naive
from naive_client import Fields
from vectors.generate import Crafted, in_lines, words

PATH = Path(__file__).parent / "ordered" / "vectors.json"
UP = math.nextafter

WHOLE: Fields = {"type": "whole numbers", "low": -3, "high": 120}
TOP: Fields = {"type": "whole numbers", "low": 2**53 - 5, "high": 2**53 - 1, "unit": "Å", "infinite": "clamp"}
BINS: Fields = {"type": "bins", "edges": ["-1.5", 0, "0.1", "0.3", 10, "20.5"]}
FAR: Fields = {"type": "bins", "edges": ["-1e+300", "-5e-324", "5e-324", "9007199254740994.0", "1e+300"], "unit": "€"}
DATES: Fields = {"type": "dates", "first": "1969-12-30", "last": "1970-01-03"}
SPRING: Fields = {"type": "dates", "first": "2024-02-27", "last": "2024-03-31"}
TIMES: Fields = {"type": "durations", "low": 0, "high": 60, "unit": "min", "infinite": "clamp"}

NUMBERS = [
    -4, -3, -2, 0, 1, 35, 119, 120, 121, 2**53 - 4, 2**53 - 1, -(2**53) + 1,
    -3.5, -2.5, -0.0, 0.0, 0.1, UP(0.1, 0), UP(0.1, 1), 0.3, 0.1 + 0.2, 35.7, 120.9, 121.5, UP(120, 0), 10.0, UP(10, 0),
    20.5, UP(20.5, 99), -1.5, UP(-1.5, -9), 5e-324, -5e-324, 1e-323, 2.0**53, 2.0**53 + 2, 2.0**53 + 4, 1e300, -1e300,
    1.7976931348623157e308, math.nan, math.inf, -math.inf, None, "", "35", "other", "0 to 0.1",
]  # fmt: skip
WIDE = [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53) - 1, 10**400]
DAYS = [
    "1969-12-29", "1969-12-30", "1969-12-31", "1970-01-01", "1970-01-03", "1970-01-04", "0001-01-01", "9999-12-31",
    "2024-02-29", "2023-02-29", "2024-03-31", "2024-13-01", "2024-00-10", "0000-01-01", "2024-3-1", "20240301",
    "2024-03-01T00:00:00", " 2024-03-01", "2024-03-01 ", "", "today", None,
]  # fmt: skip
# Midnight in UTC and around it; the hours when Europe and New York change their clocks.
MOMENTS = [
    datetime(1969, 12, 31, 23, 59, 59, 999_000), datetime(1970, 1, 1), datetime(1969, 12, 30),
    datetime(1969, 12, 29, 23),
    datetime(2024, 2, 28, 23, 59, 59), datetime(2024, 2, 29), datetime(2024, 3, 1), datetime(2024, 3, 10, 6, 59, 59),
    datetime(2024, 3, 10, 7), datetime(2024, 3, 31, 0, 59, 59), datetime(2024, 3, 31, 1), datetime(2024, 3, 31, 23, 59),
    datetime(2024, 4, 1), datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59),
]  # fmt: skip


def written(value: Any) -> Any:
    """A value as the file has it."""
    if isinstance(value, float):
        return {"double": struct.pack(">d", value).hex()}
    if isinstance(value, datetime):
        # Whole milliseconds, exactly.
        return {"time": (value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days * 86_400_000 + (
            3600 * value.hour + 60 * value.minute + value.second) * 1000 + value.microsecond // 1000}  # fmt: skip
    return {"int": str(value)} if type(value) is int and abs(value) >= 2**53 else value


def values_of(domain: Fields) -> list[Any]:
    """The values of the vectors of a domain."""
    return [*DAYS, *MOMENTS] if domain["type"] == "dates" else [*NUMBERS, *WIDE]


def schemes() -> Iterator[Fields]:
    """Schemes over every kind of ordered domain, with an item for others and without."""
    for domain in (WHOLE, TOP, BINS, FAR, DATES, SPRING, TIMES):
        yield naive.scheme_of("DE", "3", domain | {"other": True})
    yield naive.scheme_of("OLH", "2", WHOLE | {"other": True})
    yield naive.scheme_of("OUE", "1", BINS | {"other": True})
    for domain in (WHOLE, TOP, BINS, DATES, TIMES):
        yield naive.scheme_of("DE", "3", domain)


def vectors(listed: list[Fields]) -> Iterator[Fields]:
    """An honest record of every value, and a random one of some."""
    for number, scheme in enumerate(listed):
        fill = words(f"ordered/{number}")
        for place, value in enumerate(values_of(scheme["domain"])):
            if naive.encode(scheme["domain"], value) >= naive.size_of(scheme["domain"]):
                continue
            for honest in (True, False) if place % 5 == 0 else (True,):
                tape = Crafted(fill, {}, honest=honest)
                record = naive.record(scheme, value, tape).hex()
                own = [str(word) for word in tape.words]
                yield {"scheme": number, "value": written(value), "tape": own, "record": record}


def refused(listed: list[Fields]) -> Iterator[Fields]:
    """Values without an item, and values of another type, which no item takes."""
    for number, scheme in enumerate(listed):
        domain = scheme["domain"]
        for value in values_of(domain):
            if naive.encode(domain, value) >= naive.size_of(domain):
                yield {"scheme": number, "value": written(value)}
        numbers = [5, written(5.5)] if domain["type"] == "dates" else [written(MOMENTS[0])]
        for value in [True, False, [], [5], {"bytes": "35"}, *numbers]:
            yield {"scheme": number, "value": value}


def broken() -> Iterator[Fields]:
    """Documents whose domain is wrong."""
    for why, domain, changes in (
        ("no low", WHOLE, {"low": None}),
        ("a text", WHOLE, {"low": "0"}),
        ("a fraction", WHOLE, {"high": 5.5}),
        ("a truth value", WHOLE, {"high": True}),
        ("ends the wrong way round", WHOLE, {"low": 121}),
        ("one item", WHOLE, {"low": 120}),
        ("too many items", WHOLE, {"high": 2**32}),
        ("too large a number", WHOLE, {"low": 2**53, "high": 2**53 + 5}),
        ("other is its default", WHOLE, {"other": False}),
        ("other is a number", WHOLE, {"other": 1}),
        ("infinite is its default", WHOLE, {"infinite": "refuse"}),
        ("infinite is another word", WHOLE, {"infinite": "drop"}),
        ("infinite is a truth value", WHOLE, {"infinite": True}),
        ("an empty unit", WHOLE, {"unit": ""}),
        ("a long unit", WHOLE, {"unit": "x" * 41}),
        ("a unit without a UTF-8 form", WHOLE, {"unit": "\ud800"}),
        ("a unit that is a number", WHOLE, {"unit": 5}),
        ("a size", WHOLE, {"size": 124}),
        ("edges", WHOLE, {"edges": [0, 1, 2]}),
        ("equal edges", BINS, {"edges": [0, 1, 1]}),
        ("falling edges", BINS, {"edges": [0, 2, 1]}),
        ("one bin", BINS, {"edges": [0, 1]}),
        ("no edges", BINS, {"edges": []}),
        ("edges that are texts", BINS, {"edges": ["0", "1", "2"]}),
        ("an edge with a decimal point", BINS, {"edges": [0, 0.5, 1]}),
        ("an edge that is too large", BINS, {"edges": [0, 1, 2**53]}),
        ("the text of a whole number", BINS, {"edges": [0, "1.0", 2]}),
        ("a double with too many digits", BINS, {"edges": [0, "0.50", 2]}),
        ("a double with a wrong digit", BINS, {"edges": [0, "0.10000000000000001", 2]}),
        ("a double as JavaScript writes it", BINS, {"edges": [0, "1e-7", 2]}),
        ("a large double as JavaScript writes it", BINS, {"edges": [0, "9007199254740994", "1e+300"]}),
        ("a large double without its sign", BINS, {"edges": [0, 1, "1e300"]}),
        ("a double in capitals", BINS, {"edges": [0, 1, "1E+300"]}),
        ("a double that is too large", BINS, {"edges": [0, 1, "1e+400"]}),
        ("a double with a space", BINS, {"edges": [0, " 0.5", 1]}),
        ("a double with a line end", BINS, {"edges": [0, "0.5\n", 1]}),
        ("a double in hexadecimal", BINS, {"edges": [0, "0x1", 2]}),
        ("not a number", BINS, {"edges": [0, "nan", 2]}),
        ("an infinite edge", BINS, {"edges": [0, 1, "inf"]}),
        ("an infinite edge in JavaScript", BINS, {"edges": [0, 1, "Infinity"]}),
        ("an empty edge", BINS, {"edges": [0, "", 2]}),
        ("an edge that is nothing", BINS, {"edges": [0, None, 2]}),
        ("an edge that is a truth value", BINS, {"edges": [0, True, 2]}),
        ("a list in the edges", BINS, {"edges": [0, [1], 2]}),
        ("edges in a text", BINS, {"edges": "0,1,2"}),
        ("low", BINS, {"low": 0}),
        ("steps", BINS, {"normalize": ["lower"]}),
        ("days the wrong way round", DATES, {"first": "1970-01-04"}),
        ("one day", DATES, {"last": "1969-12-30"}),
        ("no such day", DATES, {"last": "1970-02-30"}),
        ("a short date", DATES, {"last": "1970-1-3"}),
        ("a time", DATES, {"last": "1970-01-03T00:00:00"}),
        ("the year 0", DATES, {"first": "0000-01-01"}),
        ("a date that is a number", DATES, {"last": 5}),
        ("infinite dates", DATES, {"infinite": "clamp"}),
        ("dates with a unit", DATES, {"unit": "d"}),
        ("an unknown unit", TIMES, {"unit": "us"}),
        ("no unit", TIMES, {"unit": None}),
        ("a fraction of a unit", TIMES, {"high": 0.5}),
    ):
        made = {name: value for name, value in (domain | changes).items() if value is not None}
        yield {"why": why, "fields": naive.scheme_of("DE", "1", domain) | {"domain": made}}


def contents() -> dict[str, list[Fields]]:
    """Everything in the file."""
    listed = list(schemes())
    sections = {"schemes": listed, "vectors": list(vectors(listed)), "refused": list(refused(listed))}
    return sections | {"broken": list(broken())}


def text_of() -> str:
    """The text of the file."""
    return in_lines(contents())


if __name__ == "__main__":
    PATH.write_text(text_of(), encoding="utf-8")
