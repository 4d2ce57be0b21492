"""Who reports what: levels of the search, and how the users are divided among its groups."""

from __future__ import annotations

from dataclasses import dataclass

from .folding import block_size

FIRST_CELLS = 1 << 22
"""Prefixes that the first level may have: all of them are decoded."""
SIBLINGS = 1 << 11
"""Extensions that one prefix may have from level to level."""
COHORTS = 2
CELLS = (1 << 20, 1 << 18)
"""Cells of one cohort at the first folded level, where most candidates are looked up, and at later ones."""
TYPICAL_LENGTH = 16
"""Of heavy strings, where nothing else is known: levels far beyond it get few users."""


COMMON_PAIR = 0.005
"""The share of users with a common pair of symbols at one position."""


TICKETS = 10**6
"""Weights of groups are whole numbers out of so many."""


@dataclass(frozen=True)
class Shares:
    """The share of users in each group; they sum to 1."""

    letters: float
    pairs: float
    first: float
    levels: tuple[float, ...]


def level_lengths(symbols: int, length: int) -> tuple[int, int, tuple[int, ...]]:
    """Length of the prefixes of the first level, symbols from level to level, and the lengths of the folded levels."""
    start = min(length, longest(symbols, FIRST_CELLS))
    step = longest(symbols, SIBLINGS)
    return start, step, tuple(min(end, length) for end in range(start + step, length + step, step) if start < length)


def shares(n: int, symbols: int, length: int, *, letter_variance: float, typical_length: int | None = None) -> Shares:
    """How n users are divided; ``letter_variance``: per report, of the share of one symbol.

    Letters: enough for an error of .007 at each of some six positions, 3 % at most. Pairs: 3 %, and 6 % where there are
    several folded levels, because the longer a string the more it costs to name; none where their error would exceed
    that of a common pair's share, or where the pairs are more than the first level's cells. Of the others the first
    level gets .7/levels, 16 % at least. The folded levels get the rest by weights 1/(1 + (length/(1.15·typical))⁸):
    equally up to the typical length, since only the levels from some place on tell how a string goes on from there, and
    little beyond it; of several, the last has 5 % beforehand, because it shows every string whole.
    """
    _, _, lengths = level_lengths(symbols, length)
    letters = min(0.03, 7.5 * letter_variance / (0.007**2 * max(n, 1)))
    pairs = 0.06 if len(lengths) > 1 else 0.03
    if letter_variance > COMMON_PAIR**2 * pairs * n or symbols**2 > FIRST_CELLS or length < 2:
        pairs = 0.0
    rest = 1 - letters - pairs
    if not lengths:
        return Shares(letters, pairs, rest, ())
    first = max(0.16, 0.7 / (1 + len(lengths)))
    typical = min(length, TYPICAL_LENGTH) if typical_length is None else typical_length
    weights = [1 / (1 + (end / (1.15 * typical)) ** 8) for end in lengths]
    last = 0.05 if len(lengths) > 1 else 0.0
    scale = rest * (1 - first) / sum(weights)
    folded = [scale * (1 - last) * weight for weight in weights]
    folded[-1] += last * rest * (1 - first)
    return Shares(letters, pairs, rest * first, tuple(folded))


def cell_count(level: int, symbols: int, step: int) -> int:
    """Cells of one cohort at a folded level; 16 blocks at least, whatever the alphabet."""
    return max(CELLS[level > 0], 16 * block_size(symbols, step))


def longest(symbols: int, most: int) -> int:
    """The largest exponent with symbols^exponent at most so many, 1 at least."""
    exponent, product = 1, symbols * symbols
    while product <= most:
        exponent, product = exponent + 1, product * symbols
    return exponent


def weights(divided: Shares, length: int) -> tuple[int, ...]:
    """The weights of all groups: symbols and pairs by position, the first level, the cohorts of the folded ones.

    Positions get 1/max(position, 6) of a group's users: most strings are short, and what comes first is needed most.
    """
    positions = [1 / max(position, 6) for position in range(1, length + 1)]
    groups = [divided.letters * weight / sum(positions) for weight in positions]
    if divided.pairs:
        groups += [divided.pairs * weight / sum(positions[:-1]) for weight in positions[:-1]]
    groups.append(divided.first)
    groups += [share / COHORTS for share in divided.levels for _ in range(COHORTS)]
    return tuple(max(1, round(share * TICKETS)) for share in groups)
