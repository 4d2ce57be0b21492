"""Errors of plausibly: each says what was expected and what it got, and none repeats a private value."""

from __future__ import annotations


class PlausiblyError(Exception):
    """Base class of all errors that plausibly raises on purpose."""


class ParameterError(PlausiblyError, ValueError):
    """Parameters that are invalid or do not fit together."""


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
