"""How rare a string may be and still be found by a search: its evidence compared with the cost of naming it.

An item held by a share φ of n users provides z²/2 nats of evidence in a group with a share s of the users, where
z = φ·√(n·s/v) and v is the variance of one report. Naming a string costs −ln P nats under the prior of the search. Four
conditions must hold, even if an observed z happens to be smaller than expected:

* all groups that report prefixes together pay for all characters;
* each later level, with the levels after it, pays for the characters that only they report;
* the first level ranks the beginning of the string among the prefixes that the search follows;
* the groups that report the whole string, whose users had no part in choosing it, pay for the last step, for the
  other strings to be found, and for the level of significance.
"""

from __future__ import annotations

from math import exp, log, sqrt
from statistics import NormalDist

import numpy as np

from ..core.domain import Strings
from ..core.laws import law_of
from ..search.base import Search
from ..search.letter_prior import ordinary_text
from ..search.user_shares import TYPICAL_LENGTH

LOOKED_FOR = 10
"""Number of strings to find; the weights of a search are divided among three times as many."""
_KEPT = 20_000
"""Number of first-level prefixes that a search follows."""
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
    """Number of characters in common strings, as assumed for the power of a search."""
    return min(strings.length, TYPICAL_LENGTH)


def smallest_share(scheme: Search, n: int, confidence: float, nats: float, length: int | None = None) -> float:
    """Power of a search: the smallest share of users with which a string of this length is found and significant.

    ``nats``: cost per character; ``confidence``: the chance of being found, and 1 − the level of significance.
    """
    strings = scheme.strings
    length = typical_length(strings) if length is None else length
    levels = scheme.prefix_levels
    ends, shares = [level.length for level in levels], [float(level.share) for level in levels]
    # The end of a string costs something, too, unless the string is cut there.
    total = nats * length + (log(length + 1) if length < strings.length else 0.0)
    whole = next((i for i, end in enumerate(ends) if end > length), len(ends) - 1)
    left = [total, *(total - nats * min(end, length) for end in ends[:whole])]
    # Required number of standard errors, and the share of users who provide them.
    needed = [(_z(cost), sum(shares[i:])) for i, cost in enumerate(left)]
    crowding = log(3 * LOOKED_FOR) if whole else 0.0
    strict = -NormalDist().inv_cdf(max((1 - confidence) * exp(-left[-1] - crowding), _LEAST))
    needed.append((strict, sum(shares[whole:])))
    if whole:
        needed.append((_z(nats * ends[0] - log(_KEPT)), shares[0]))
    # Each condition must hold even with bad luck.
    luck = NormalDist().inv_cdf(1 - (1 - confidence) / len(needed))
    noise = float(law_of(levels[0].oracle.estimator()).averaged.per_report)
    return max((z + luck) / sqrt(share) for z, share in needed) * sqrt(noise / n)


def _z(nats: float) -> float:
    return sqrt(2 * max(nats, 0.0))
