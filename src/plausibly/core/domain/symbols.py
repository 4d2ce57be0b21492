"""Symbols of strings as the digits of numbers, the first symbol the highest digit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.unsignedinteger[Any]]
"""Symbols of strings, a row for each string."""
Numbers = npt.NDArray[np.uint64]


def symbol_number(row: Iterable[int], symbols: int) -> int:
    """The number whose digits are the symbols of one row; any length."""
    number = 0
    for symbol in row:
        number = number * symbols + symbol
    return number


def symbol_row(number: int, symbols: int, length: int) -> list[int]:
    """The symbols that are the digits of one number; any length."""
    return [number // symbols ** (length - 1 - i) % symbols for i in range(length)]


def symbol_numbers(rows: Rows, symbols: int) -> Numbers:
    """The number of each row of symbols, for rows whose numbers fit into 64 bits."""
    numbers = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        numbers *= np.uint64(symbols)
        numbers += column.astype(np.uint64, copy=False)
    return numbers


def symbol_rows(numbers: npt.NDArray[Any], symbols: int, length: int, dtype: npt.DTypeLike) -> Rows:
    """The row of symbols of each number, for numbers of 64 bits."""
    rows = np.empty((len(numbers), length), dtype=dtype)
    rest = numbers.astype(np.uint64)
    for i in range(length - 1, -1, -1):
        rest, rows[:, i] = np.divmod(rest, np.uint64(symbols))
    return rows
