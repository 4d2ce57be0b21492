"""Errors of plausibly: each says what was expected and what was given, and none repeats a private value."""

from __future__ import annotations

from .words import Words


class PlausiblyError(Exception):
    """Base class of all errors that plausibly raises on purpose."""

    @property
    def words(self) -> str:
        """The message of the error: `Words` if it names settings, which each tool spells in its own way."""
        return self.args[0] if self.args and isinstance(self.args[0], Words) else str(self)


class ParameterError(PlausiblyError, ValueError):
    """Parameters that are invalid or do not fit together."""


class DomainError(PlausiblyError, ValueError):
    """An item is not in the domain. Items are named by position only.

    ``position`` and ``reason`` are those of the first invalid item, for callers that know a better name of its place,
    such as a line number; ``more`` is the number of further invalid items. ``told`` is the reason in other words, with
    a suggestion. It reveals something about the invalid item, and is for callers that show that one anyway.
    """

    position: int | None = None
    more: int = 0
    reason: str = ""
    told: str = ""


class ReportError(PlausiblyError, ValueError):
    """Reports or their bytes are not what this scheme produces."""


class StateError(PlausiblyError, ValueError):
    """An accumulator cannot be merged, restored or estimated from as requested."""
