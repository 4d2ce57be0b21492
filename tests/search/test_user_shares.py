"""Levels and shares for every alphabet and length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import drawn
from plausibly.search.folded_parts import block_size
from plausibly.search.user_shares import FIRST_CELLS, SIBLINGS, cell_count, level_lengths, shares


@pytest.mark.parametrize(
    ("symbols", "start", "step"), [(40, 4, 2), (257, 2, 1), (3, 13, 6), (20_000, 1, 1), (2, 22, 11), (2048, 2, 1)]
)
def test_levels_are_as_long_as_their_cells_allow(symbols: int, start: int, step: int) -> None:
    assert level_lengths(symbols, 64)[:2] == (start, step)


@pytest.mark.parametrize(
    ("length", "ends"),
    [(1, ()), (4, ()), (5, (5,)), (6, (6,)), (7, (6, 7)), (12, (6, 8, 10, 12)), (11, (6, 8, 10, 11))],
)
def test_the_last_level_is_the_whole_length(length: int, ends: tuple[int, ...]) -> None:
    assert level_lengths(40, length)[2] == ends


@drawn(200)
@given(st.integers(2, 30_000), st.integers(1, 64), st.integers(1, 10**8), st.floats(1e-4, 100))
def test_shares_are_positive_and_sum_to_one(symbols: int, length: int, n: int, variance: float) -> None:
    start, step, ends = level_lengths(symbols, length)
    part = shares(n, symbols, length, letter_variance=variance)
    assert part.letters + part.pairs + part.first + sum(part.levels) == pytest.approx(1)
    assert len(part.levels) == len(ends)
    assert min(part.letters, part.first, *part.levels) > 0
    assert part.pairs == 0 or (length > 1 and symbols**2 <= FIRST_CELLS)
    assert symbols**start <= FIRST_CELLS or start == 1
    assert symbols**step <= SIBLINGS or step == 1
    assert block_size(symbols, step) >= symbols**step
    assert cell_count(0, symbols, step) % block_size(symbols, step) == 0
