"""What estimates have gone through: typed records, so that nobody has to read it off a text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from .wording import shown


class Kind(Enum):
    """What a step does to estimates."""

    DECODING = "decoding"
    """Reads them off the reports in another way than by adding up."""
    SEARCH = "search"
    """Finds the items as well."""
    POSTPROCESSING = "postprocessing"
    """Changes their values."""
    SELECTION = "selection"
    """Keeps some of them for being large."""


@dataclass(frozen=True)
class Applied:
    """One step of a history; ``str()`` is how people are shown it.

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
    """The record of a choice among the items, with all its options."""
    return Applied(name, tuple(options.items()), Kind.SELECTION)


def decoding(words: str) -> Applied:
    """The record of a decoder that does more than add up, in words."""
    return Applied(words, kind=Kind.DECODING)


def search_by(scheme: str) -> Applied:
    """The record of a scheme's own search."""
    return Applied(scheme, kind=Kind.SEARCH)


def without(history: History, *kinds: Kind) -> History:
    """The steps that are of none of these kinds."""
    return tuple(step for step in history if step.kind not in kinds)


def joined(history: History, separator: str = " and ") -> str:
    """A history in words."""
    return separator.join(map(str, history))
