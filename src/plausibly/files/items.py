"""Items that an analyst names in a file, one in each line."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import DomainError


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 text file, with or without a byte order mark: not the empty ones, and each only once."""
    content = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf")
    found: dict[str, None] = {}
    # At line feeds only: what else ends a line somewhere may be part of an item.
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            text = line.removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            raise DomainError(f"{path}, line {number}: expected UTF-8 text") from None
        if text:
            found[text] = None
    if not found:
        raise DomainError(f"{path}: expected an item in each line, got empty lines only")
    return list(found)
