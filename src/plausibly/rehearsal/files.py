"""Write a rehearsal to a file as a picture, a table or JSON, depending on the suffix."""

from __future__ import annotations

import json
from pathlib import Path

from ..core.atomic import expect_suffix, replacing
from . import chart
from .result import Rehearsal

SUFFIXES = (*chart.SUFFIXES, ".csv", ".json")


def check_name(path: Path) -> None:
    """Fail early if a rehearsal cannot be written to this file: unknown suffix or missing folder."""
    expect_suffix(path, SUFFIXES)


def write_rehearsal(found: Rehearsal, path: Path, *, title: str | None = None, unit: str = "users") -> None:
    """Write a rehearsal to a file, or replace the file, completely or not at all.

    ``title`` is the heading of a picture, and ``unit`` names what is counted, in the plural.
    """
    check_name(path)
    suffix = path.suffix.lower()
    with replacing(path) as unfinished:
        if suffix in chart.SUFFIXES:
            chart.draw_chart(found, unfinished, suffix[1:], title=title, unit=unit)
        elif suffix == ".csv":
            unfinished.write_text(found.to_csv(), encoding="utf-8")
        else:
            text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
            unfinished.write_text(text + "\n", encoding="utf-8")
