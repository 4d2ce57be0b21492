"""The contents of a file of reports or a tally, without reading the reports."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.scheme import Scheme
from ..core.wording import plural
from .authentication import Key
from .openers import opener_of
from .places import size_of
from .reports import PARQUET, ReportFile
from .stores import is_address, local_path
from .tallies import MAGIC, Collected
from .unreachable import UnreachableError

SUFFIXES = (".parquet", ".tally")
"""The endings of report files and tally files."""


@dataclass(frozen=True)
class Contents:
    """The contents of a file of reports or a tally, as the file itself describes them."""

    scheme: Scheme
    kind: str
    bytes: int
    reports: int
    simulated: bool
    files: int
    """Number of files that the reports came from."""
    skipped: int
    """Number of row groups and whole files that were left out."""
    skipped_reports: int
    keyed: bool
    """Whether the given key has authenticated the file; without a key, only files without one are read."""

    def facts(self) -> list[tuple[str, str]]:
        """The contents of the file as names and phrases."""
        found = [("file", f"a {self.kind}, {self.bytes:,} bytes"), ("reports", f"{self.reports:,}")]
        if self.kind == "tally" and self.files:
            found.append(("collected from", plural(self.files, "file")))
        if self.skipped:
            found.append(
                ("left out", f"{self.skipped:,} damaged row groups or files, {self.skipped_reports:,} reports")
            )
        if self.simulated:
            found.append(
                ("simulated", "yes: the reports are not from real users, and anyone who knows the seed can read them")
            )
        authentic = "with the key given" if self.keyed else "no: as trustworthy as its source"
        return [*found, ("authenticated", authentic)]

    def to_dict(self) -> dict[str, Any]:
        """The contents of the file without the scheme, JSON-ready."""
        return {name: value for name, value in vars(self).items() if name != "scheme"}


def is_tally(place: str | Path) -> bool:
    """Whether a place has a tally, by its first bytes, whatever its name."""
    return _first_bytes(place).startswith(MAGIC)


def has_reports(place: str | Path) -> bool:
    """Whether a place has reports: a Parquet file, by its first bytes, or a folder. A pipe has none."""
    if is_address(place):
        return not is_tally(place)
    return local_path(place).is_dir() or _first_bytes(place) == PARQUET


def _first_bytes(place: str | Path) -> bytes:
    # Bytes that are read from a pipe would be missing afterwards.
    if not is_address(place) and not local_path(place).is_file():
        return b""
    try:
        with opener_of(place).open() as file:
            return file.read(len(PARQUET))
    except (OSError, UnreachableError):  # a folder in a store, or a file that the next reader reports
        return b""


def contents_of(path: str | Path, *, key: Key | None = None) -> Contents:
    """The contents of a file of reports or a tally."""
    keyed = key is not None
    if os.fspath(path).lower().endswith(".tally"):
        found = Collected.read(path, key=key)
        lost = sum(each.reports or 0 for each in found.skipped)
        size, files = size_of(path), len(found.files)
        skipped = len(found.skipped)
        return Contents(found.scheme, "tally", size, len(found), found.simulated, files, skipped, lost, keyed)
    with ReportFile(path, key=key) as file:
        size = size_of(path)
        return Contents(file.scheme, "file of reports", size, len(file), file.simulated, 1, 0, 0, keyed)
