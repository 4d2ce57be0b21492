"""The levels of TRELLIS, and the division of the users among its groups."""

from __future__ import annotations

from dataclasses import dataclass

from .folded_parts import block_size

FIRST_CELLS = 1 << 22
"""Largest number of prefixes at the first level, all of which are decoded."""
SIBLINGS = 1 << 11
"""Largest number of extensions of one prefix from level to level."""
COHORTS = 2
CELLS = (1 << 20, 1 << 18)
"""Number of cells of one cohort at the first folded level, where most candidates are looked up, and at later ones."""
TYPICAL_LENGTH = 16
"""Assumed length of heavy strings by default: levels far beyond it get few users."""


COMMON_PAIR = 0.005
"""Share of users with a common pair of symbols at one position."""


TICKETS = 10**6
"""Sum of the integer weights of all groups, approximately."""


@dataclass(frozen=True)
class Shares:
    """Share of users in each group; the shares sum to 1."""

    letters: float
    pairs: float
    first: float
    levels: tuple[float, ...]


def level_lengths(symbols: int, length: int) -> tuple[int, int, tuple[int, ...]]:
    """Levels that share the users: first prefix length, symbols added per level, lengths of the folded levels."""
    start = min(length, longest_prefix(symbols, FIRST_CELLS))
    step = longest_prefix(symbols, SIBLINGS)
    return start, step, tuple(min(end, length) for end in range(start + step, length + step, step) if start < length)


def shares(n: int, symbols: int, length: int, *, letter_variance: float, typical_length: int | None = None) -> Shares:
    """Shares of n users in the groups; ``letter_variance``: variance of one symbol's share, per report.

    Letters get enough users for an error of 0.007 at each of about six positions, at most 3 %. Pairs get 3 %, or 6 % if
    there are several folded levels, because longer strings take more evidence; they get none if their error would
    exceed a common pair's share, or if there are more pairs than cells at the first level. Of the other users, the
    first level gets 0.7/levels, at least 16 %. The folded levels share the rest with weights
    1/(1 + (length/(1.15·typical))⁸): equally up to the typical length, because only the levels beyond a position show
    how a string continues there, and few beyond it. If there are several folded levels, the last one gets 5 % in
    advance, because it shows every string whole.
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
    """Number of cells for the users of a cohort at a folded level of TRELLIS: at least 16 blocks."""
    return max(CELLS[level > 0], 16 * block_size(symbols, step))


def longest_prefix(symbols: int, most: int) -> int:
    """Length of the longest level that can get a share of the users: at most ``most`` prefixes, at least 1 symbol."""
    exponent, product = 1, symbols * symbols
    while product <= most:
        exponent, product = exponent + 1, product * symbols
    return exponent


def weights(divided: Shares, length: int) -> tuple[int, ...]:
    """Users' shares as weights of all groups: symbols and pairs by position, first level, folded levels' cohorts.

    A position's weight is 1/max(position, 6): most strings are short, and the first positions are needed most.
    """
    positions = [1 / max(position, 6) for position in range(1, length + 1)]
    groups = [divided.letters * weight / sum(positions) for weight in positions]
    if divided.pairs:
        groups += [divided.pairs * weight / sum(positions[:-1]) for weight in positions[:-1]]
    groups.append(divided.first)
    groups += [share / COHORTS for share in divided.levels for _ in range(COHORTS)]
    return tuple(max(1, round(share * TICKETS)) for share in groups)
