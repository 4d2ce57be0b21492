"""Upper bounds on the accuracy of any search: two idealised searches, simulated from the truth.

Both spend every user's whole budget on the full string and the best known oracle, whose noise is normal with variance
n·V*, V* = 4e^ε/(e^ε−1)². They see the true counts plus that noise, and answer with k strings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erfc, log, sinh, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from plausibly import ParameterError
from plausibly.experiments import MAX_LENGTH, Cell, Crowd, Measured, View, domain_of, scores, strings
from plausibly.extend import whole_number

Floats = npt.NDArray[np.float64]
Bins = npt.NDArray[np.int64]

CANDIDATES = 2_000
UNHELD = "\N{REPLACEMENT CHARACTER}"
"""Placeholder in an answer for any string that no user has: a wrong answer."""

STEP = 0.01
"""Width in nats of the bins by which strings are grouped by their prior: bin b is ln P = −b·STEP."""
_MIXED = 0.05
"""Weight of the uniform distribution in the prior, so that no string is impossible."""

_tail = np.vectorize(lambda z: erfc(z / sqrt(2)) / 2, otypes=[np.float64])
_quantile = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])


def known_candidates(crowd: Crowd, epsilon: float, k: int, rng: np.random.Generator) -> list[str]:
    """The k strings with the highest noisy counts among the 2,000 truly most frequent ones.

    Out of reach for a search with few users, which must first learn which strings occur.
    """
    counts = crowd.counts[:CANDIDATES]
    estimates = counts + rng.normal(0.0, sqrt(_variance(crowd, epsilon)), len(counts))
    best: list[str] = crowd.strings[np.argsort(-estimates)[:k]].tolist()
    return best


def exhaustive(
    crowd: Crowd, epsilon: float, k: int, length: int, alphabet_size: int, rng: np.random.Generator
) -> list[str]:
    """The k best of all strings of at most ``length`` characters, by their estimates and a prior on their characters.

    All strings are candidates, whether any user has them or not; one of the ``alphabet_size`` symbols is padding, which
    only padding follows. The prior P treats characters as independent, with the exact share of each at each position
    among the users whose strings reach it. A string with estimate y and variance v scores S = max(y, 0)²/(2v) + ln P
    nats. Strings that no user has are ``UNHELD`` in the answer.
    """
    wanted = 20 * whole_number("k", k, 1, 2**31 - 1) + 300
    if crowd.strings.dtype.itemsize > 4 * length:
        crowd = crowd.truncated(length)
    prior = character_prior(crowd, length, alphabet_size)
    held = crowd.counts / sqrt(_variance(crowd, epsilon)) + rng.standard_normal(len(crowd.counts))
    bins, unheld = drawn_nulls(prior.unheld, wanted, rng)
    z = np.concatenate([held, unheld])
    nats = np.maximum(z, 0) ** 2 / 2 - STEP * np.concatenate([prior.held, bins])
    # As many as the unheld strings drawn: with more, the two kinds would be treated differently.
    best = np.argsort(-nats)[:wanted]
    best = best[np.argsort(-_top_probability(z[best], nats[best], k), kind="stable")][:k]
    return [str(crowd.strings[place]) if place < len(held) else UNHELD for place in best.tolist()]


@dataclass(frozen=True, eq=False)
class CharacterPrior:
    """Prior probabilities of strings, given their characters, in bins of ``STEP`` nats."""

    held: Bins
    """The bin of each string of the crowd."""
    unheld: Floats
    """Number of strings in each bin that no user has; floats, because there are up to 10^300."""


def character_prior(crowd: Crowd, length: int, alphabet_size: int) -> CharacterPrior:
    """The prior of every string of at most ``length`` characters: individual for the crowd's, counts for all others."""
    whole_number("length", length, 1, MAX_LENGTH)
    whole_number("alphabet_size", alphabet_size, 2, 2**15)
    # One row of code points for each string, padded with 0.
    points = np.ascontiguousarray(crowd.strings).view(np.uint32).reshape(len(crowd.strings), -1)
    held = np.zeros(len(points), dtype=np.int64)
    alive = np.arange(len(points))
    # Number of strings in each bin up to this position: those that may continue, and those that have ended.
    going, ended = np.ones(1), np.zeros(1)
    characters: set[int] = set()
    for place in range(length):
        column = points[alive, place] if place < points.shape[1] else np.zeros(len(alive), dtype=np.uint32)
        users = np.bincount(column, weights=crowd.counts[alive], minlength=1)
        seen = 1 + np.flatnonzero(users[1:])
        characters.update(seen.tolist())
        if len(characters) >= alphabet_size:
            raise ParameterError(f"alphabet_size: expected more than the crowd's characters, got {alphabet_size}")
        # At positions that no user's string reaches, all symbols are equally probable.
        certain = _MIXED if len(alive) else 1.0
        shares = users / max(users.sum(), 1.0)
        bins = np.rint(-np.log((1 - certain) * shares + certain / alphabet_size) / STEP).astype(np.int64)
        unseen = round(-log(certain / alphabet_size) / STEP)
        held[alive] += bins[column]
        alive = alive[column != 0]
        ended = _sum([ended, _shifted(going, int(bins[0]))])
        rare = (alphabet_size - 1 - len(seen)) * _shifted(going, unseen)
        going = _sum([rare, *(_shifted(going, int(shift)) for shift in bins[seen])])
    strings = _sum([ended, going])
    return CharacterPrior(held, np.maximum(strings - np.bincount(held, minlength=len(strings)), 0.0))


def passing(bins: Bins, threshold: float) -> Floats:
    """Probability that an unheld string of each bin has S above the threshold."""
    needed = threshold + STEP * bins
    # S is at least ln P, whatever the estimate.
    return np.where(needed < 0, 1.0, _tail(np.sqrt(2 * np.maximum(needed, 0.0))))


def drawn_nulls(unheld: Floats, wanted: int, rng: np.random.Generator) -> tuple[Bins, Floats]:
    """About ``wanted`` unheld strings with the largest S: their bins, and their estimates in units of the noise.

    Strings pass a threshold independently: their number in a bin is binomial, or Poisson where there are too many to
    count, and their estimates are normal, conditioned on passing the threshold.
    """
    bins = np.flatnonzero(unheld)
    strings = unheld[bins]
    # All pass the lower threshold. At most about one passes the upper one, since Φ(−z) ≤ e^(−z²/2) and ΣP = 1.
    low, high = -STEP * len(unheld), 0.0
    while strings.sum() > wanted and high - low > STEP:
        middle = (low + high) / 2
        enough = strings @ passing(bins, middle) <= wanted
        low, high = (low, middle) if enough else (middle, high)
    threshold = high if strings.sum() > wanted else low
    chance = passing(bins, threshold)
    few = strings < 2**53
    number = np.where(
        few,
        rng.binomial(np.where(few, strings, 0).astype(np.int64), chance),
        rng.poisson(np.where(few, 0.0, strings * chance)),
    )
    beyond = np.repeat(chance, number) * rng.random(number.sum())
    return np.repeat(bins, number), -_quantile(np.clip(beyond, 1e-300, 1 - 1e-16))


def _top_probability(z: Floats, nats: Floats, k: int) -> Floats:
    # The probability that a string is one of the k heavy ones: it is heavy at all with odds k·e^S, since of k heavy
    # strings k·P(x) are expected at x; and it is above the k-th of those that are more likely heavy than not.
    # Ranking by S alone is as good: F1 .705 and .704, averaged over 9 datasets, 3 sizes and 3 values of ε.
    heavy = 1 / (1 + np.exp(-np.clip(nats + log(k), -700, 700)))
    likely = np.sort(z[heavy > 0.5])
    kth = likely[-k] if len(likely) >= k else 0.0
    return np.asarray(heavy * _tail(kth - z))


def _variance(crowd: Crowd, epsilon: float) -> float:
    # n·V*, with V* = 4e^ε/(e^ε−1)² = 1/sinh²(ε/2).
    if not 0 < epsilon < 100:
        raise ParameterError(f"epsilon: expected a number above 0 and below 100, got {epsilon}")
    return crowd.n / sinh(epsilon / 2) ** 2


def _shifted(histogram: Floats, bins: int) -> Floats:
    return np.concatenate([np.zeros(bins), histogram])


def _sum(histograms: list[Floats]) -> Floats:
    total = np.zeros(max(map(len, histograms)))
    for histogram in histograms:
        total[: len(histogram)] += histogram
    return total


# --- as measures ------------------------------------------------------------------------------------------------

_WANTED = 10
_strings = lru_cache(maxsize=1)(strings)


def _measure(cell: Cell, views: Sequence[View], number: int) -> Measured:
    crowd = _strings(cell.data, cell.n, cell.data_seed)
    return {}, {view.key: scores(_found(cell, number, view.keywords.get("k", _WANTED)), crowd) for view in views}


def _found(cell: Cell, number: int, k: int) -> list[str]:
    # The same noise for every k.
    crowd, rng = _strings(cell.data, cell.n, cell.data_seed), np.random.default_rng(cell.seed("noise", number))
    if cell.scheme == "C1":
        return known_candidates(crowd, cell.epsilon, k, rng)
    domain = domain_of(cell.data)
    return exhaustive(crowd, cell.epsilon, k, domain.length, domain.symbols, rng)


CEILINGS: Mapping[str, Callable[[Cell, Sequence[View], int], Measured]] = {"C1": _measure, "C3U": _measure}
"""The ceilings by the scheme name in cells: candidates known (C1), and all strings tried (C3U)."""
