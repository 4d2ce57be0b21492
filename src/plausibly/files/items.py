"""Items that an analyst lists in a file, one per line."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import DomainError


def read_items(path: str | Path) -> list[str]:
    """The items in a UTF-8 text file: its distinct, non-empty lines, with or without a byte order mark."""
    content = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf")
    found: dict[str, None] = {}
    # Split at line feeds only: any other line separator may be part of an item.
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            text = line.removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            raise DomainError(f"{path}, line {number}: expected UTF-8 text, got other bytes") from None
        if text:
            found[text] = None
    if not found:
        raise DomainError(f"{path}: expected one item per line, got only empty lines")
    return list(found)
