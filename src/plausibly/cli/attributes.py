"""Attributes of a table as people type them: ``theme=dark,light``, ``age=bins:0,18,65,120 years``, or a file."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.domain import Domain, Labels, Table
from ..core.errors import ParameterError
from ..core.wording import shown
from ..core.words import Setting, Words
from ..files.items import numbered_lines
from .domains import ORDERED, WITH_UNIT

_LABELS = "labels"
_UNIT = re.compile(r"(.*[0-9])\s+([^\s0-9,.].*)")


def table_of(
    typed: Sequence[str], path: Path | None, *, other: bool, steps: Sequence[str], missing: bool
) -> Table | None:
    """The table of the attributes that are typed, and then of those in a file, one in each line; None without any."""
    named = [(f"--attribute {shown(text)}", text) for text in typed]
    if path is not None:
        named += [(f"{path}, line {line}", text) for line, text in numbered_lines(path) if text.strip()]
    made = [_attribute(where, text, other, steps) for where, text in named]
    if len(made) == 1:
        raise ParameterError(
            f"{named[0][0]}: expected at least two attributes, got one; plan a single question with --label, --labels, "
            "--range or --bins"
        )
    return Table(made, missing=missing) if made else None


def _attribute(where: str, text: str, other: bool, steps: Sequence[str]) -> tuple[str, Domain]:
    name, equals, values = (part.strip() for part in text.partition("="))
    if not (name and equals and values):
        example = "theme=dark,light or age=bins:0,18,65,120"
        raise ParameterError(f"{where}: expected a name and its values, such as {example}")
    kind, colon, rest = values.partition(":")
    if not colon or kind not in (_LABELS, *ORDERED):
        kind, rest = _LABELS, values
    try:
        return name, _labels(rest, other, steps) if kind == _LABELS else _ordered(kind, rest)
    except ParameterError as error:
        # There are options of the same names, which are not meant.
        parts = error.words.parts if isinstance(error.words, Words) else (str(error.words),)
        plain = [part.name if isinstance(part, Setting) and not part.of else part for part in parts]
        raise ParameterError(Words(f"{where}: ", *plain)) from None


def _labels(text: str, other: bool, steps: Sequence[str]) -> Labels:
    # Separated as in a CSV file, so that a label in quotation marks may contain commas.
    labels = [label.strip() for label in next(csv.reader([text], skipinitialspace=True), [])]
    if "" in labels:
        raise ParameterError("expected labels separated by single commas, got an empty one; missing values need none")
    if len(labels) < 2:
        raise ParameterError(
            "expected at least two labels with commas between them, got one; numbers in order are range:0..120 or "
            "bins:0,18,65,120"
        )
    return Labels(tuple(labels), other, steps)


def _ordered(kind: str, text: str) -> Domain:
    found = _UNIT.fullmatch(text.strip()) if kind in WITH_UNIT else None
    options: dict[str, Any] = {} if found is None else {"unit": found[2]}
    return ORDERED[kind](text if found is None else found[1], **options)
