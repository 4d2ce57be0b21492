"""Names of characters that cannot be seen: control characters, odd spaces, zero-width and direction marks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_CONTROLS = {
    "\0": "null",
    "\a": "bell",
    "\b": "backspace",
    "\t": "tab",
    "\n": "line feed",
    "\v": "vertical tab",
    "\f": "form feed",
    "\r": "carriage return",
    "\x1b": "escape",
    "\x7f": "delete",
    "\x85": "next line",
    "\ufeff": "byte order mark",
}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}
"""Unicode categories of control and format characters, halves of characters, private characters and spaces."""
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters of other categories that show nothing."""
_JOINERS = "\u200c\u200d"
_FLAG = "\U0001f3f4"
_VIRAMA = 9


def with_names(text: str) -> str:
    """The text with every character that cannot be seen replaced by its name, in ``‹ ›``.

    Joined emoji, flags and the joiners of Arabic and Indic scripts are kept.

    >>> with_names("a\\tb"), with_names("pass\\u200bword"), with_names("\\u202egnp.exe"), with_names("déjà vu")
    ('a‹tab›b', 'pass‹zero width space›word', '‹right-to-left override›gnp.exe', 'déjà vu')
    """
    return "".join(pieces(text))


def pieces(text: str) -> Sequence[str]:
    """The characters of a text, those that cannot be seen as their names."""
    if text.isascii() and text.isprintable():
        return text
    return [_shown(text, place) for place in range(len(text))]


def _shown(text: str, place: int) -> str:
    character = text[place]
    if character == " " or not _unseen(character) or _belongs(text, place):
        return character
    name = _CONTROLS.get(character) or unicodedata.name(character, "").lower()
    return f"‹{name or f'U+{ord(character):04X}'}›"


def _unseen(character: str) -> bool:
    kinds = unicodedata.category(character) in _UNSEEN, character in _FILLERS, _selects(character), _is_none(character)
    return any(kinds)


def _is_none(character: str) -> bool:
    # Unicode will never assign these, and XML, which charts are written in, forbids some. Other unassigned code points
    # may be new emoji, which a browser knows before Python does.
    return ord(character) & 0xFFFE == 0xFFFE or "\ufdd0" <= character <= "\ufdef"


def _selects(character: str) -> bool:
    # Variation selectors choose between two pictures of the character before them.
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def _belongs(text: str, place: int) -> bool:
    # Whether the character changes how its neighbours are drawn, as in joined emoji.
    before, character, after = text[place - 1 : place] if place else "", text[place], text[place + 1 : place + 2]
    if not before:
        return False
    if character in _JOINERS:
        if unicodedata.combining(before) == _VIRAMA:
            return True
        if after and unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL":
            return True
        return _pictured(before) and bool(after) and _pictured(after)
    if _selects(character):
        return before == "\N{INFORMATION SOURCE}" or not (before.isalpha() or before.isspace())
    if "\U000e0020" <= character <= "\U000e007f":  # the region of a flag
        return text[:place].rstrip("".join(map(chr, range(0xE0020, 0xE0080)))).endswith(_FLAG)
    return False


def _pictured(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk", "Sm", "Po") or _selects(character)
