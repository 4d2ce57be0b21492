"""Items that an analyst lists in a file, one per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..core.errors import DomainError


def read_items(path: str | Path) -> list[str]:
    """The items in a UTF-8 text file: its distinct, non-empty lines, with or without a byte order mark."""
    found = dict.fromkeys(text for _, text in numbered_lines(path))
    if not found:
        raise DomainError(f"{path}: expected one item per line, got only empty lines")
    return list(found)


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The numbers and texts of the non-empty lines of a UTF-8 text file, with or without a byte order mark."""
    content = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf")
    # Split at line feeds only: any other line separator may be part of an item.
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            text = line.removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            raise DomainError(f"{path}, line {number}: expected UTF-8 text, got other bytes") from None
        if text:
            yield number, text
