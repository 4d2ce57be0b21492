"""How rare a string may be and still be found by a search: its evidence compared with the cost of naming it.

An item held by a share φ of n users provides z²/2 nats of evidence in a group with a share s of the users, where
z = φ·√(n·s/v) and v is the variance of one report. Naming a string costs −ln P nats under the prior of the search. Five
conditions must hold, even if an observed z happens to be smaller than expected:

* all groups that report prefixes together pay for all characters;
* each later level, with the levels after it, pays for the characters that only they report;
* the first level ranks the beginning of the string among the prefixes that the search follows;
* all levels from one to another pay for their characters, but for those that the search follows without evidence;
* the groups that report the whole string, whose users had no part in choosing it, pay for the last step, for the
  other strings to be found, for the level of significance, and for all that earlier levels could not pay by themselves:
  the weight of a string in the test falls at every level where its reports say less than its characters cost.
"""

from __future__ import annotations

from itertools import combinations
from math import exp, log, sqrt
from statistics import NormalDist

import numpy as np

from ..core.domain import Strings
from ..core.laws import law_of
from ..core.scheme import Scheme
from ..search.base import Search
from ..search.letter_prior import ordinary_text
from ..search.user_shares import TYPICAL_LENGTH

LOOKED_FOR = 10
"""Number of strings to find; the weights of a search are divided among three times as many."""
_KEPT = 20_000
"""Number of first-level prefixes that a search follows."""
_FOLLOWED = 10_000
"""Number of prefixes that it follows at later levels."""
_PART = 1.5
"""Nats that a level needs besides the characters: it must tell which part of the prefix's users continue so."""
_HALVINGS = 40
_LEAST = 1e-300
"""Smallest tail probability whose quantile floating-point numbers can represent."""


def nats_per_character(strings: Strings) -> tuple[float, float]:
    """Cost of a character in nats, for the power of a search: in ordinary text, and in a random string.

    The two are equal if the alphabet is not one for words.
    """
    random = log(strings.symbols - 1) if strings.symbols > 2 else log(2)
    text = ordinary_text(strings)
    if text is None:
        return random, random
    follow = text.ratios * text.letters[None]
    follow /= follow.sum(axis=1, keepdims=True)
    shares = text.letters / text.letters.sum()
    return float(-(shares[:, None] * follow * np.log(follow)).sum()), random


def typical_length(strings: Strings) -> int:
    """Number of characters in common strings, for which the power of a search is best."""
    return min(strings.length, TYPICAL_LENGTH)


def share_up_to(scheme: Search, n: int, confidence: float, nats: float, length: int | None = None) -> float:
    """Power of a search: the smallest share of users with which any string of up to this length is found.

    ``length`` defaults to that of the longest strings of the domain.
    """
    length = scheme.strings.length if length is None else length
    # Longer strings need more users, but for the last character: only a shorter string has to show where it ends.
    return max(smallest_share(scheme, n, confidence, nats, each) for each in {max(1, length - 1), length})


def smallest_share(scheme: Search, n: int, confidence: float, nats: float, length: int) -> float:
    """Power of a search: the smallest share of users with which a string of this length is found and significant.

    ``nats``: cost per character; ``confidence``: the chance of being found, and 1 − the level of significance.
    """
    strings = scheme.strings
    levels = scheme.prefix_levels
    ends, shares = [level.length for level in levels], [float(level.share) for level in levels]
    # The end of a string costs something, too, unless the string is cut there.
    total = nats * length + (log(length + 1) if length < strings.length else 0.0)
    whole = next((i for i, end in enumerate(ends) if end > length), len(ends) - 1)
    left = [total, *(total - nats * min(end, length) for end in ends[:whole])]
    # Required number of standard errors, and the share of users who provide them.
    needed = [(_z(cost), sum(shares[i:])) for i, cost in enumerate(left)]
    crowding = log(3 * LOOKED_FOR) if whole else 0.0
    if whole:
        needed.append((_z(nats * ends[0] - log(_KEPT)), shares[0]))
    # Each condition must hold even with bad luck.
    luck = NormalDist().inv_cdf(1 - (1 - confidence) / (len(needed) + 1))
    noise = float(law_of(levels[0].oracle.estimator()).averaged.per_report)
    scale = sqrt(noise / n)
    starts = [0, *ends]
    for i, j in combinations(range(whole + 1), 2):
        # One walk through the levels, not as many tests as there are pairs of them: the luck stays the same.
        if j > i + 1:
            needed.append((_z(nats * (ends[j - 1] - starts[i]) - log(_FOLLOWED)), sum(shares[i:j])))
    steps = [(nats * (ends[i] - ends[i - 1]), shares[i]) for i in range(1, whole)]

    def proven(share: float) -> bool:
        # Whether a string with this share of users is significant, even with bad luck.
        lost, spread = 0.0, 0.0
        for cost, users in steps:
            mean, variance = _unpaid(cost + _PART, share * sqrt(users) / scale)
            lost, spread = lost + mean, spread + variance
        strict = -NormalDist().inv_cdf(max((1 - confidence) * exp(-left[-1] - crowding - lost), _LEAST))
        return share * sqrt(sum(shares[whole:])) / scale >= strict + luck * sqrt(1 + spread / strict**2)

    least = max((z + luck) / sqrt(users) for z, users in needed) * scale
    if proven(least):
        return least
    low, high = least, 2 * least
    while not proven(high):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if proven(middle) else (middle, high)
    return high


def extending_share(oracle: Scheme, strings: Strings, step: int, n: int, confidence: float) -> float:
    """Power of a search that keeps the best prefixes of each length (PEM), with equal groups of users.

    The string stands out among all candidates of the last step, and is among the best at each step before it.
    """
    steps = -(-strings.length // step)
    candidates = 2 * LOOKED_FOR * strings.symbols**step
    z = -NormalDist().inv_cdf((1 - confidence) / candidates)
    luck = NormalDist().inv_cdf(1 - (1 - confidence) / steps)
    noise = float(law_of(oracle.estimator()).averaged.per_report)
    return min(1.0, (z + luck) * sqrt(noise * steps / n))


def _unpaid(cost: float, z: float) -> tuple[float, float]:
    # Mean and variance of max(0, cost − evidence) for evidence of z²/2 nats on average, with a standard deviation of z.
    if z <= 0:
        return cost, 0.0
    normal, gap = NormalDist(), cost - z * z / 2
    at, below = normal.pdf(gap / z), normal.cdf(gap / z)
    mean = gap * below + z * at
    square = (gap * gap + z * z) * below + gap * z * at
    return mean, max(0.0, square - mean * mean)


def _z(nats: float) -> float:
    return sqrt(2 * max(nats, 0.0))
