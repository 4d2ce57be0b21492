"""Checks of arguments, and JSON: its integers, and a limit on its brackets."""

from __future__ import annotations

import numpy as np

from .errors import ParameterError, PlausiblyError
from .wording import shown
from .words import Setting, Words, kind_of


def whole_number(name: str, number: object, least: int, most: int) -> int:
    """The argument as an int. Raises unless it is an integer within the bounds."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise ParameterError(Words(Setting(name), ": expected an integer, got ", kind_of(number)))
    if not least <= number <= most:
        raise ParameterError(Words(Setting(name), f": expected {least} to {most}, got {shown(int(number))}"))
    return int(number)


def json_integer(number: int) -> int | str:
    """The integer argument for JSON; decimal text from 2^53, where JavaScript numbers lose digits."""
    return number if number < 2**53 else str(number)


def parse_integer(name: str, written: object) -> int:
    """The integer argument that ``json_integer`` wrote."""
    return whole_number(name, from_decimal(written), 0, 2**64 - 1)


def from_decimal(written: object) -> object:
    """The integer of an argument in decimal text of at most 64 bits; anything else unchanged."""
    digits = isinstance(written, str) and written.isascii() and written.isdigit() and len(written) <= 20
    return int(str(written)) if digits else written


def as_bytes(blob: object, error: type[PlausiblyError]) -> memoryview:
    """The bytes of an argument that is bytes-like. Raises the given error for anything else."""
    try:
        return memoryview(blob).cast("B")  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise error(f"expected bytes, got {type(blob).__name__}") from None


def expect_few_brackets(text: str, most: int) -> None:
    """Raise ValueError if a JSON argument has too many lists and objects: an empty one takes 50 times its text."""
    if text.count("[") + text.count("{") > most:
        raise ValueError(f"expected at most {most} opening brackets, got more")
