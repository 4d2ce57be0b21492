"""Formatting of numbers, items and names for messages, tables and pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fractions import Fraction
from itertools import accumulate, takewhile
from math import ceil
from typing import Any

from .characters import pieces, with_names

_LONGEST = 60
_WIDEST = 40
_PLACES = 13
_ALIKE = 0.5
"""Similarity of two names from which on one is suggested for the other."""
_CLOSE = 0.6
"""The same where a suggestion stands alone, without the list of valid names."""
_COMPARED = 10_000
"""Maximum number of names that are compared letter by letter for a suggestion."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20", "'")
"""First characters that make a spreadsheet read a cell as a formula, narrow and full-width; and the apostrophe, so that
a reader can remove the one that is added."""


def shown(parameter: object) -> str:
    """The wording of a parameter in a message, shortened. Never use it for an item, which may be a user's secret.

    >>> shown("hash"), shown(list(range(100)))
    ("'hash'", '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16...')
    """
    try:
        text = f"'{visible(parameter)}'" if isinstance(parameter, str) else repr(parameter)
    except ValueError:  # Python does not write integers beyond 4300 digits
        return f"a very long {type(parameter).__name__}"
    return _shortened(text)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def in_json(value: object) -> str:
    """The wording of a value of a JSON document in a message, shortened.

    >>> in_json("1/2"), in_json(None), in_json(list(range(100)))[-10:]
    ("'1/2'", 'null', ' 15, 16...')
    """
    return shown(value) if isinstance(value, str) else _shortened(visible(json.dumps(value, ensure_ascii=False)))


def nearest(given: object, valid: Iterable[str]) -> str:
    """The wording of valid names at the end of a message, with a suggestion if one is close.

    >>> nearest("meen", ["median", "mean"])
    "did you mean 'mean'? valid: mean, median"
    """
    words = sorted(valid)
    name = given[:_LONGEST] if isinstance(given, str) else ""
    close = [word for word in words if word.lower() == name.lower()] or get_close_matches(
        name, words, n=1, cutoff=_ALIKE
    )
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}valid: {', '.join(words) or 'none'}"


def similar(given: str, valid: Sequence[str]) -> str:
    """The wording of a suggestion at the end of a message: the most similar of the valid names, if one is close.

    >>> similar("Dog ", ["cat", "dog"]), similar("zebra", ["cat", "dog"])
    ("; did you mean 'dog'?", '')
    """
    plain = given.strip().casefold()
    close = [word for word in valid if word.strip().casefold() == plain]
    if not close and len(valid) <= _COMPARED:
        close = get_close_matches(given[:_LONGEST], valid, n=1, cutoff=_CLOSE)
    return f"; did you mean {shown(close[0])}?" if close else ""


def visible(item: object) -> str:
    """The wording of a whole item on one line, with characters that cannot be seen named.

    >>> visible("dog\\u200b"), visible(b"a\\xff"), visible(17)
    ('dog‹zero width space›', "b'a\\\\xff'", '17')
    """
    return with_names(str(item))


def label_of(item: object) -> str:
    """The wording of an item as a label in tables and charts, shortened if it is long.

    >>> label_of("https://example.org/a/very/long/path/to/page.html")
    'https://example.org/...ath/to/page.html'
    """
    parts = pieces(str(item))
    length = sum(map(len, parts))
    widest = _WIDEST if length == len(parts) else 2 * _WIDEST  # names need space
    if length <= widest:
        return "".join(parts)
    # Shortened in the middle, between characters: long addresses tend to differ at their ends.
    return f"{_fitting(parts, widest // 2)}...{_fitting(parts[::-1], widest // 2 - 3, backwards=True)}"


def _fitting(parts: Sequence[str], width: int, *, backwards: bool = False) -> str:
    # The first pieces that fit into a width, at least one.
    ends = accumulate(map(len, parts))
    taken = parts[: max(1, sum(1 for end in takewhile(lambda end: end <= width, ends)))]
    return "".join(taken[::-1] if backwards else taken)


def safe_cell(item: Any) -> Any:
    """The wording of an item in a CSV file, with an apostrophe if a spreadsheet might run the item as a formula.

    >>> safe_cell("=1+1"), safe_cell("'quoted'"), safe_cell("a=b"), safe_cell(-5)
    ("'=1+1", "''quoted'", 'a=b', -5)
    """
    return f"'{item}" if isinstance(item, str) and item.startswith(_FORMULA) else item


def decimal(number: Fraction) -> str:
    """The wording of a number: as a decimal if that is exact, otherwise as a fraction.

    >>> decimal(Fraction(1, 2)), decimal(Fraction(1, 3))
    ('0.5', '1/3')
    """
    # Without floating point: messages about a scheme are made on the way of a value, too.
    places = next((places for places in range(_PLACES) if 10**places % number.denominator == 0), None)
    if places is None:
        return str(number)
    digits = str(abs(number.numerator) * 10**places // number.denominator).zfill(places + 1)
    point = len(digits) - places
    return "-" * (number < 0) + digits[:point] + f".{digits[point:]}" * (places > 0)


def count_text(value: float, digits: int = 0) -> str:
    """The wording of a count: thousands separators, and never a negative zero.

    >>> count_text(-1234.56, 1), count_text(-0.2)
    ('-1,234.6', '0')
    """
    return f"{value:z,.{digits}f}"


def interval_texts(
    low: Iterable[float], high: Iterable[float], significant: Iterable[bool] | None, digits: int = 0
) -> list[str]:
    """The wording of intervals, aligned; upper bounds of items that cannot be told apart from noise.

    >>> interval_texts([900.2, 0], [1100.7, 85], [True, False])
    ['[900, 1,101]', 'at most 85']
    """
    ends = [[count_text(end, digits) for end in side] for side in (low, high)]
    left, right = (max(map(len, side), default=0) for side in ends)
    told = [True] * len(ends[0]) if significant is None else significant
    return [f"[{a:>{left}}, {b:>{right}}]" if sure else f"at most {b}" for a, b, sure in zip(*ends, told, strict=True)]


def text_table(columns: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table of texts, given by columns: the first column to the left, the others to the right.

    >>> text_table([["item", "ant"], ["estimate", "12"]])
    ['item  estimate', 'ant         12']
    """
    widths = [max(map(len, column), default=0) for column in columns]
    lines = []
    for name, *texts in zip(*columns, strict=True):
        cells = [f"{text:>{width}}" for text, width in zip(texts, widths[1:], strict=True)]
        lines.append("  ".join([f"{name:<{widths[0]}}", *cells]))
    return lines


def plural(count: int, unit: str) -> str:
    """The wording of a count with its unit.

    >>> plural(1, "byte"), plural(2000, "byte")
    ('1 byte', '2,000 bytes')
    """
    return f"{count:,} {unit}{'s' * (count != 1)}"


def size_text(count: int) -> str:
    """The wording of a number of bytes, to three digits.

    >>> size_text(1), size_text(4_321_000)
    ('1 byte', '4.32 MB')
    """
    for power, unit in ((3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 1000**power:
            return f"{count / 1000**power:.3g} {unit}"
    return plural(count, "byte")


def percent(share: float | str) -> str:
    """The wording of a share in percent, to two or three digits, never as a power of ten.

    >>> percent(0.0123), percent(0.9995), percent(12)
    ('1.2 %', '99.95 %', '1,200 %')
    """
    number = 100 * float(share)
    if number >= 100:
        return f"{number:,.0f} %"
    digits = 2 if number < 10 else 3
    text = f"{number:.{digits}g}" if 1e-4 <= number < 90 or not number else f"{number:.8f}".rstrip("0").rstrip(".")
    return f"{text} %"


def at_most(number: float) -> str:
    """The wording of an upper bound, to one decimal, rounded up so that it remains true."""
    return f"{ceil(10 * number - 1e-6) / 10:,.1f}"
