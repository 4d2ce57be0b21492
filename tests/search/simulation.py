"""Evidence made up from known strings: cells, sums and normal noise, without any client."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from plausibly.search.evidence import Evidence, Level, Numbers, Symbols, numbers
from plausibly.search.folded_parts import block_size
from plausibly.search.user_shares import COHORTS, cell_count, level_lengths, shares

Array = npt.NDArray[Any]


def mixed(words: Array) -> Array:
    """SplitMix64's finalizer."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def evidence_of(
    strings: Symbols,
    counts: Numbers,
    symbols: int,
    *,
    noise: float,
    seed: int,
    layout: tuple[int, tuple[int, ...]] | None = None,
) -> Evidence:
    """What n users with these strings tell the groups of a search; ``noise`` is the variance per report.

    ``layout``: length of the first prefixes and of the folded ones, if not those of the plan.
    """
    rng = np.random.default_rng(seed)
    n, length = int(counts.sum()), strings.shape[1]
    start, _, planned = level_lengths(symbols, length)
    start, ends = (start, planned) if layout is None else layout
    part = shares(n, symbols, length, letter_variance=noise)
    chances = [part.letters, part.pairs, part.first, *part.levels]
    if layout is not None:
        chances = [0.05, part.pairs, *[0.95 / (1 + len(ends))] * (1 + len(ends))]
    users = np.repeat(np.arange(len(counts)), counts)
    group = np.searchsorted(np.cumsum(chances)[:-1], rng.random(n), side="right")

    def spread(where: Array, size: int, reports: int) -> Array:
        tally = np.bincount(where, minlength=size) + rng.normal(0, np.sqrt(max(reports, 1) * noise), size)
        return np.asarray(tally * (n / max(reports, 1)))

    def at_positions(members: Array, width: int) -> tuple[Array, Array]:
        # Shares of the symbols (or pairs) that start at each position, and their variance.
        position = rng.integers(0, length - width + 1, len(members))
        reports = np.bincount(position, minlength=length - width + 1)
        value = np.zeros(len(members), dtype=np.int64)
        for step in range(width):
            value = value * symbols + strings[members, position + step]
        seen = [spread(value[position == j], symbols**width, reports[j]) / n for j in range(len(reports))]
        return np.array(seen).reshape(-1, *(symbols,) * width), noise / np.maximum(reports, 1)

    letters, letters_variance = at_positions(users[group == 0], 1)
    pairs, pairs_variance = at_positions(users[group == 1], 2) if part.pairs else (None, None)
    members = users[group == 2]
    first = spread(numbers(strings, 0, start, symbols)[members], symbols**start, len(members))
    levels = []

    def places(level: int, prefixes: Symbols) -> tuple[Numbers, Numbers]:
        at = levels[level]
        word = np.full(len(prefixes), seed + 1, dtype=np.uint64)
        for column in prefixes.T:
            word = mixed(word * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64) + np.uint64(1))
        keys = [mixed(word ^ np.uint64(1_000 * level + cohort + 1)) for cohort in range(COHORTS)]
        blocks = np.uint64(at.tables.shape[1] // at.block)
        starts = [(key >> np.uint64(32)) % blocks * np.uint64(at.block) for key in keys]
        return (
            np.stack(starts).astype(np.int64),
            np.stack([key % np.uint64(at.block) for key in keys]).astype(np.int64),
        )

    for i, (before, end) in enumerate(zip((start, *ends), ends, strict=False)):
        step = end - before
        size = cell_count(i, symbols, step) if layout is None else 64 * block_size(symbols, step)
        members = users[group == 3 + i]
        levels.append(Level(end, step, block_size(symbols, step), np.zeros((COHORTS, size), dtype=np.float32), 0.0, 0))
        starts, rotations = places(i, strings[:, :before])
        cell = starts + (numbers(strings, before, end, symbols) + rotations) % levels[i].block
        cohort = rng.integers(0, COHORTS, len(members))
        tables = [spread(cell[r][members[cohort == r]], size, int((cohort == r).sum())) for r in range(COHORTS)]
        levels[i] = Level(
            end,
            step,
            levels[i].block,
            (np.array(tables) - n / size).astype(np.float32),
            n * n * noise * COHORTS / max(len(members), 1),
            len(members),
        )
    return Evidence(
        symbols=symbols,
        length=length,
        n=n,
        start=start,
        letters=letters,
        letters_variance=letters_variance,
        pairs=pairs,
        pairs_variance=pairs_variance,
        first=first.astype(np.float32),
        first_variance=n * n * noise / max(len(users[group == 2]), 1),
        first_users=len(users[group == 2]),
        levels=tuple(levels),
        places=places,
    )


def random_strings(rng: np.random.Generator, size: int, length: int, symbols: int, *, shortest: int = 1) -> Symbols:
    """Distinct strings of skewed letters, of different lengths."""
    weights = 1 / np.arange(1, symbols)
    drawn = rng.choice(np.arange(1, symbols), (2 * size + 50, length), p=weights / weights.sum())
    drawn[np.arange(length) >= rng.integers(shortest, length + 1, len(drawn))[:, None]] = 0
    _, first = np.unique(drawn, axis=0, return_index=True)
    return drawn[np.sort(first)[:size]].astype(np.uint16)
