"""The steps that produced estimates, as typed records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from .wording import shown


class Kind(Enum):
    """The kind of a step."""

    DECODING = "decoding"
    """Decodes estimates in another way than by adding up reports."""
    SEARCH = "search"
    """Finds the items as well as their counts."""
    POSTPROCESSING = "postprocessing"
    """Changes the values of the estimates."""
    SELECTION = "selection"
    """Keeps only some of the estimates, selected for being large."""


@dataclass(frozen=True)
class Applied:
    """One step of a history; ``str()`` gives the text shown to users.

    ``options`` holds the choices that differ from the defaults, in the order in which they were given.
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    kind: Kind = Kind.POSTPROCESSING

    def __str__(self) -> str:
        if self.kind is Kind.SELECTION:
            return " ".join([self.name, *(shown(value) for _, value in self.options)])
        if self.kind is Kind.SEARCH:
            return f"search by {self.name}"
        return self.name + "".join(f" {option}={shown(value)}" for option, value in self.options)


History = tuple[Applied, ...]


def selection(name: str, **options: Any) -> Applied:
    """Record of a selection of items for the history of estimates, with all its options."""
    return Applied(name, tuple(options.items()), Kind.SELECTION)


def decoding(words: str) -> Applied:
    """Record of a decoder for the history of estimates, in words, if it does more than add up."""
    return Applied(words, kind=Kind.DECODING)


def search_by(scheme: str) -> Applied:
    """Record of a scheme's own search for the history of estimates."""
    return Applied(scheme, kind=Kind.SEARCH)


def without_steps(history: History, *kinds: Kind) -> History:
    """The history without steps of the given kinds."""
    return tuple(step for step in history if step.kind not in kinds)


def history_text(history: History, separator: str = " and ") -> str:
    """The history of estimates in words."""
    return separator.join(map(str, history))
