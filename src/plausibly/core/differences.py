"""The difference between two schemes in words, from their documents, whatever fields these have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from .wording import decimal, visible

_MOST = 4
"""Maximum number of differences to name."""
_LONGEST = 30
"""Maximum number of characters of a text to quote."""


def difference(expected: Mapping[str, Any], got: Mapping[str, Any]) -> str:
    """The fields in which one document of a scheme differs from another, each with both values.

    >>> difference({"epsilon": "1", "oracle": {"rows": 3}}, {"epsilon": "1/2", "oracle": {"rows": 4}})
    'epsilon is 0.5, not 1; oracle rows is 4, not 3'
    """
    found: dict[tuple[str, ...], str] = {}
    for path, words in sorted(_differences(expected, got), key=lambda each: len(each[0])):
        # A part that differs just as the whole does is not worth another word.
        wholes = ((*path[:depth], path[-1]) for depth in range(len(path) - 1))
        if words not in map(found.get, wholes):
            found[path] = words
    named = [f"{' '.join(path)} {words}" for path, words in found.items()]
    more = f"; {len(named) - _MOST} more" if len(named) > _MOST else ""
    return "; ".join(named[:_MOST]) + more


def _differences(
    expected: Mapping[str, Any], got: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    # Fields of different kinds of things (schemes, domains) cannot be compared: naming the kinds is enough.
    alike = all(expected.get(name) == got.get(name) for name in ("scheme", "type"))
    for name in {**expected, **got}:
        old, new, place = expected.get(name), got.get(name), (*path, name)
        if old == new or (not alike and (name not in expected or name not in got)):
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _differences(old, new, place)
        elif isinstance(old, list) and isinstance(new, list):
            yield place, _lists(old, new)
        elif name not in got or name not in expected:
            yield place, f"is {'missing' if name in expected else 'given in addition'}"
        else:
            first, second = _value(new), _value(old)
            yield place, f"is {first}, not {second}" if first != second else "differs"


def _lists(old: list[Any], new: list[Any]) -> str:
    if len(old) != len(new):
        return f"has {len(new):,} entries, not {len(old):,}"
    wrong = sum(a != b for a, b in zip(old, new, strict=True))
    return f"differs in {wrong:,} of {len(new):,} entries"


def _value(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, bool | None):
        return {True: "true", False: "false", None: "nothing"}[value]
    text = visible(value)
    whole, _, part = text.partition("/")
    if whole.isdecimal() and part.isdecimal():
        return decimal(Fraction(text))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
