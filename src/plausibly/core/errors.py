"""Errors of plausibly: each says what was expected and what came, and never repeats a private value."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PlausiblyError(Exception):
    """Base of every error this package raises on purpose."""


class ParameterError(PlausiblyError, ValueError):
    """A scheme was asked for with parameters that do not make sense."""


class DomainError(PlausiblyError, ValueError):
    """An item cannot be a value of the domain. Items are named by position only.

    ``position`` and ``reason`` are those of the first such item, for a caller that knows a better name of its place;
    ``more`` is the number of further ones.
    """

    position: int | None = None
    more: int = 0
    reason: str = ""


class ReportError(PlausiblyError, ValueError):
    """Reports or their bytes are not what this scheme produces."""


class StateError(PlausiblyError, ValueError):
    """Accumulators cannot be combined, restored or estimated from as asked."""


def as_bytes(blob: object, error: type[PlausiblyError]) -> memoryview:
    """The bytes of anything bytes-like; another object is refused with the given error."""
    try:
        return memoryview(blob).cast("B")  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise error(f"expected bytes, got {type(blob).__name__}") from None


def shown(parameter: object) -> str:
    """A parameter as a message shows it, cut where it is long. Never for an item: that may be somebody's secret."""
    try:
        text = repr(parameter)
    except ValueError:  # Python does not write integers beyond 4300 digits
        return f"a very long {type(parameter).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def nearest(given: object, valid: Iterable[str]) -> str:
    """A half sentence that names the valid words, and the one closest to what was given if there is one."""
    words = sorted(valid)
    name = given[:60] if isinstance(given, str) else ""
    close = [word for word in words if word.lower() == name.lower()] or get_close_matches(name, words, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}valid: {', '.join(words) or 'none'}"
