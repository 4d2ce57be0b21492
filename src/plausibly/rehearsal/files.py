"""A rehearsal written to a file, as its name asks: picture, table or JSON, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from ..core.atomic import folder_of, replacing
from ..core.errors import ParameterError
from . import picture
from .result import Rehearsal

SUFFIXES = (*picture.SUFFIXES, ".csv", ".json")


def check_name(path: Path) -> None:
    """Refuses, before anything is computed, a name that says no form, or a folder that is not there."""
    if path.suffix not in SUFFIXES:
        raise ParameterError(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}")
    folder_of(path)


def write(found: Rehearsal, path: Path) -> None:
    """Writes or replaces the file."""
    check_name(path)
    with replacing(path) as unfinished:
        if path.suffix in picture.SUFFIXES:
            picture.draw(found, unfinished, path.suffix[1:])
        elif path.suffix == ".csv":
            unfinished.write_text(found.to_csv(), encoding="utf-8")
        else:
            text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
            unfinished.write_text(text + "\n", encoding="utf-8")
