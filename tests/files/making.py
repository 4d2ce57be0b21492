"""Report files for tests: small row groups, reports that are not marked as simulated, and damage in chosen places."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from contract.entries import reports_of
from plausibly import Scheme, make
from plausibly.files import reports, write_reports

SMALL = make("DE", epsilon=1, domain_size=11)


def users_reports(scheme: Scheme, count: int, seed: int = 1) -> Any:
    """Reports without the mark of a simulation, the same ones every time."""
    return scheme.tag(reports_of(scheme, count, seed))


def group_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Has row groups of so many reports written."""
    monkeypatch.setattr(reports, "_GROUP_REPORTS", size)


def small_file(path: Path, count: int = 25, *, scheme: Scheme = SMALL, seed: int = 1) -> Any:
    """Writes a file of so many reports, and returns them."""
    content = users_reports(scheme, count, seed)
    write_reports(path, scheme, content)
    return content


def pages(path: Path, group: int) -> tuple[int, int]:
    """Where the pages of a row group begin and end in the file."""
    column = parquet.read_metadata(path).row_group(group).column(0)
    return column.data_page_offset, column.data_page_offset + column.total_compressed_size


def flip(path: Path, place: int, bit: int = 0) -> None:
    """Flips one bit of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def damage_group(path: Path, group: int) -> None:
    """Flips a bit of the last byte of a row group: one of a report's, or of how it is compressed."""
    flip(path, pages(path, group)[1] - 1)


def resealed(content: bytes, old: bytes, new: bytes) -> bytes:
    """A file in whose metadata something of the same length was replaced, with a checksum that fits."""
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = content[-8 - length : -8]
    assert (footer.count(old), len(old)) == (1, len(new))
    changed = footer.replace(old, new)
    place, _ = reports._seal_of(changed)
    assert place is not None
    start = len(content) - 8 - length
    seal = hashlib.sha256(changed[:place] + b"0" * 64 + changed[place + 64 :] + struct.pack("<Q", start)).hexdigest()
    return content[:start] + changed[:place] + seal.encode() + changed[place + 64 :] + content[-8:]
