"""Items that an analyst names: from a file or as words, turned into what the domain of a scheme takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.domain import Domain, Integers, Strings
from ..core.errors import DomainError

_WHOLE = re.compile(r"[0-9]{1,20}", re.ASCII)


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file that are not empty, each once; UTF-8, with or without a mark at the beginning."""
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
        raise DomainError(f"{path}: expected an item in each line, the file has none")
    return list(found)


def items_of(domain: Domain, texts: Sequence[str]) -> list[Any]:
    """The items that these texts name. Invalid items are reported by position."""
    for place, text in enumerate(texts):
        if isinstance(domain, Integers) and not _WHOLE.fullmatch(text):
            raise DomainError(f"item {place}: expected an integer in [0, {domain.size})")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise DomainError(f"item {place}: expected text that has a UTF-8 form")
    if isinstance(domain, Integers):
        return [int(text) for text in texts]
    if isinstance(domain, Strings) and isinstance(domain.alphabet, bytes):
        return [text.encode() for text in texts]
    return list(texts)
