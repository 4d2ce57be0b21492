"""Candidates in blocks: a row group is compared with one block at a time, so that no task takes minutes."""

from __future__ import annotations

from collections.abc import Mapping

from ..files.tallies import Collected
from .folding import merge

Block = tuple[int, int]
"""Consecutive candidates [first, last)."""
States = Mapping[Block, Collected]
"""The scores of some blocks, each with the row groups that it was compared with."""


def blocks_of(candidates: int, most: int) -> list[Block]:
    """All candidates, in blocks of at most ``most``.

    >>> blocks_of(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    >>> blocks_of(0, 2)
    [(0, 0)]
    """
    firsts = range(0, max(1, candidates), most)
    return [(first, min(first + most, candidates)) for first in firsts]


def merge_blocks(one: States, other: States) -> States:
    """Merge the scores of each block. Refuse a row group that a block was compared with twice."""
    both = {block: merge(one[block], other[block]) for block in one.keys() & other.keys()}
    return {**one, **other, **both}
