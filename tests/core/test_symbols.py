"""Symbols as digits: numbers and rows are inverse, one by one and in bulk, for any length."""

from __future__ import annotations

import numpy as np

from plausibly import Strings
from plausibly.core.domain.symbols import symbol_number, symbol_numbers, symbol_row, symbol_rows


def test_numbers_and_symbols_are_inverse() -> None:
    numbers = np.arange(4**5)
    rows = symbol_rows(numbers, 4, 5, np.uint8)
    assert symbol_numbers(rows, 4).tolist() == numbers.tolist()
    assert rows[27].tolist() == [0, 0, 1, 2, 3]


def test_one_row_and_many_give_the_same_numbers() -> None:
    rows = symbol_rows(np.array([0, 1, 26, 27, 27**6 - 1, 123456789]), 27, 6, np.uint16)
    assert [symbol_number(row, 27) for row in rows.tolist()] == symbol_numbers(rows, 27).tolist()
    assert [symbol_row(int(number), 27, 6) for number in symbol_numbers(rows, 27)] == rows.tolist()


def test_the_largest_number_of_64_bits_is_exact() -> None:
    number = 2**64 - 1
    rows = symbol_rows(np.array([number], dtype=np.uint64), 256, 8, np.uint8)
    assert rows.tolist() == [[255] * 8]
    assert symbol_numbers(rows, 256).tolist() == [number]


def test_numbers_of_long_rows_are_exact() -> None:
    number = 27**200 - 5
    assert symbol_number(symbol_row(number, 27, 200), 27) == number


def test_evenly_spaced_texts_are_by_length_and_then_by_the_alphabet() -> None:
    domain = Strings("ab", 3)
    assert domain.code_count == 15
    every = domain.decode(domain.spread(domain.code_count)).tolist()
    assert every == sorted(every, key=lambda text: (len(text), text))
    assert len(set(every)) == 15
    assert domain.decode(domain.spread(3)).tolist() == ["", "aaa", "bbb"]
    long = Strings("ab", 200)  # far more texts than 64 bits can count
    assert long.decode(long.spread(3)).tolist() == ["", "a" * 200, "b" * 200]
    assert [len(domain.spread(count)) for count in (1, 2, 14, 15, 99)] == [1, 2, 14, 15, 15]
