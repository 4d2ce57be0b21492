"""A scheme by whatever has one: its file, words, a file of reports, or a tally."""

from __future__ import annotations

from pathlib import Path

from ..core.scheme import Scheme
from ..files.holding import SUFFIXES, Holding, holding
from ..files.keys import Key
from .common import scheme_of


def scheme_or_file(named: str, *, key: Key | None = None) -> tuple[Scheme, Holding | None]:
    """The scheme of that name; with what the file holds, if it is one of reports or a tally."""
    if Path(named).suffix in SUFFIXES:
        held = holding(named, key=key)
        return held.scheme, held
    return scheme_of(named), None
