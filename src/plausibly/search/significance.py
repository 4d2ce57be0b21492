"""Strict significance: which of the strings found are not due to chance, with a family-wise error of α.

Users whose reports chose a candidate do not count as evidence for it. A string x has a weight w(x), computed from the
groups whose prefixes do not reach the end of x, and a p-value p(x) from all other groups, so the two are independent.
The weights of all possible strings sum to at most 1, whatever the reports. The rule that accepts x if p(x) ≤ α·w(x)
therefore accepts any string without holders with probability at most Σ E[α·w(x)] ≤ α, however the candidates were
chosen. This is exact except for shared cells, whose effect the clipped mean of the cohorts keeps small, and for the law
of the noise, which does not understate tails (``core/tails.py``). A true string with a wrong ending is a string without
holders.

The weights are passed down the tree. Strings that end on the way keep the weight that the prior gives them. The rest of
a node's weight goes to its longer children in proportion to min(1, e^S), where S is the log-odds of a child from the
reports up to its own level; in proportion to e^S, one heavy string would starve the others. With a dictionary, a second
set of weights is passed down the tree of its strings, and each string has the mean of both.
"""

from __future__ import annotations

from math import log

import numpy as np
import numpy.typing as npt

from ..core.tails import Noise
from .dictionary import Dictionary, places_in
from .evidence import Evidence, Floats, Numbers, Symbols, numbers
from .prior import CharacterModel
from .scoring import cells_of, combined, followed, read, support

_LEADING = 3
"""Number of leading prefixes that share the weight equally at the root, as a multiple of k."""
_PARENTS_AT_ONCE = 64


def log_weights(
    evidence: Evidence, model: CharacterModel, strings: Symbols, k: int, dictionary: Dictionary | None = None
) -> Floats:
    """Weights of the strings in the significance test, as ln w(x).

    The model must be learned from symbols and pairs alone (``character_model``).
    """
    weights = _weights_by_model(evidence, model, strings, k)
    if dictionary is None:
        return weights
    known = np.full(len(strings), -np.inf)
    place = places_in(strings, dictionary.strings)
    found = np.flatnonzero(place >= 0)
    known[found] = _weights_by_dictionary(evidence, dictionary, place[found], k)
    # The mean of both weights.
    return np.asarray(np.logaddexp(weights, known) - log(2))


def _weights_by_model(evidence: Evidence, model: CharacterModel, strings: Symbols, k: int) -> Floats:
    symbols = evidence.symbols
    whole = evidence.first_whole(strings)
    prior = model.prefixes(evidence.start)
    own = numbers(strings, 0, evidence.start, symbols)
    weights = prior[own].astype(np.float64)
    if not evidence.levels:
        return weights
    noise = evidence.noise(evidence.first_variance)
    score = np.maximum(evidence.first, 0) ** 2 / np.float32(2 * noise) + prior
    ended = prior.reshape(-1, symbols)[:, 0]
    score.reshape(-1, symbols)[:, 0] = -np.inf
    shared = _at_the_root(score, float(np.exp(ended, dtype=np.float64).sum()), k)
    weights = np.where(whole == 0, weights, shared[own])
    count = np.maximum(evidence.first[own], 0).astype(np.float64)
    variance = np.full(len(strings), noise)
    for i in range(len(evidence.levels)):
        for first in range(0, len(strings), _PARENTS_AT_ONCE):
            part = np.arange(first, min(first + _PARENTS_AT_ONCE, len(strings)))
            part = part[whole[part] > i]
            if len(part):
                gain, count[part], variance[part] = _step(
                    evidence, model, i, strings[part], count[part], variance[part]
                )
                weights[part] += gain
    return weights


def _weights_by_dictionary(evidence: Evidence, dictionary: Dictionary, wanted: Numbers, k: int) -> Floats:
    # ln w(x) within a dictionary, where the prior of a prefix is the share of strings that begin with it.
    start, each = evidence.start, -log(len(dictionary))
    if not evidence.levels or not len(wanted):
        return np.full(len(wanted), each)
    first, sizes, _ = dictionary.prefixes(0, start)
    own = evidence.first[numbers(dictionary.strings[first], 0, start, evidence.symbols)]
    count, variance = (
        np.maximum(own, 0).astype(np.float64),
        np.full(len(first), evidence.noise(evidence.first_variance)),
    )
    ended = dictionary.lengths[first] < start
    score = np.where(ended, -np.inf, count**2 / (2 * variance) + np.log(sizes / len(dictionary)))
    weights = _at_the_root(score, float(ended.sum()) / len(dictionary), k)
    # From here on, only prefixes of the wanted strings and their siblings.
    group = np.repeat(np.arange(len(first)), sizes)
    some = np.unique(group[wanted])
    near = np.isin(group, some)
    dictionary, wanted = Dictionary(dictionary.strings[near]), np.cumsum(near)[wanted] - 1
    first, sizes, _ = dictionary.prefixes(0, start)
    weights, count, variance = weights[some], count[some], variance[some]
    found = np.full(len(dictionary), each)
    for i, level in enumerate(evidence.levels):
        before = level.length - level.step
        going = dictionary.lengths[first] >= before
        weights, count, variance, above = weights[going], count[going], variance[going], sizes[going]
        first, sizes, parents = dictionary.prefixes(before, level.length)
        prior = np.log(sizes / above[parents])
        y = combined(read(level, cells_of(evidence, i, dictionary.strings[first])), evidence.noise(level.variance))
        noise, count, variance = evidence.noise(level.pooled), count[parents], variance[parents]
        ends = (dictionary.lengths[first] < level.length) | (level.length == evidence.length)
        weights = weights[parents] + _parts(prior, prior + support(y, noise, count, variance), ends, parents)
        found[first[ends]] = weights[ends]
        pooled, variance = followed(y, noise, count, variance)
        count = np.maximum(pooled, 0.0)
    return np.asarray(found[wanted])


def _parts(prior: Floats, score: Floats, ends: npt.NDArray[np.bool_], parents: Numbers) -> Floats:
    # ln of the fraction of its parent's weight that each child gets: as in `_step`, for families of any size.
    families = int(parents.max(initial=-1)) + 1
    rest = 1 - np.bincount(parents[ends], np.exp(prior[ends]), families)
    part, of = prior.copy(), parents[~ends]
    going = np.log(np.maximum(rest[of], 1e-300))
    longer = np.minimum(score[~ends] - going, 0.0)
    total = np.bincount(of, np.exp(longer), families)[of]
    part[~ends] = longer + going - np.log(np.maximum(1.0, total))
    return part


def _at_the_root(score: npt.NDArray[np.floating], ended: float, k: int) -> Floats:
    # ln of the fraction of the total weight that each first-level prefix gets, after the strings that have ended.
    lead = min(_LEADING * k, len(score)) - 1
    score -= max(0.0, float(-np.partition(-score, lead)[lead]))
    shared = np.minimum(score, 0.0).astype(np.float64)
    going = log(max(1 - ended, 1e-300))
    return np.asarray(shared + (going - log(max(1.0, float(np.exp(shared).sum())))))


def adjusted_p_values(chances: Floats, weights: Floats) -> Floats:
    """Strict significance of each string as a p-value, the lowest level that accepts it: p(x)/w(x), at most 1."""
    return np.asarray(np.minimum(1.0, chances / np.maximum(weights, 1e-300)))


def significant(
    evidence: Evidence,
    model: CharacterModel,
    strings: Symbols,
    own: Floats,
    noise: Noise,
    *,
    k: int,
    alpha: float,
    dictionary: Dictionary | None = None,
) -> tuple[Floats, Floats]:
    """Significance of each string: its p-value and its threshold α·w; it is accepted if p ≤ α·w.

    ``own``: estimate from the groups that report the whole string; ``noise``: its noise if nobody has the string.
    """
    return noise.chances(own), alpha * np.exp(log_weights(evidence, model, strings, k, dictionary))


def _step(
    evidence: Evidence, model: CharacterModel, i: int, strings: Symbols, count: Floats, variance: Floats
) -> tuple[Floats, Floats, Floats]:
    # ln of the fraction of its parent's weight that each string's prefix gets at level i, then count and variance.
    level = evidence.levels[i]
    before = level.length - level.step
    noise = evidence.noise(level.pooled)
    prior = model.extensions(before, level.step)[model.rows(strings[:, before - 1])]
    children = np.arange(prior.shape[1])
    starts, rotations = evidence.places(i, strings[:, :before])
    cells = starts[:, :, None] + (children + rotations[:, :, None]) % level.block
    y = combined(read(level, cells), evidence.noise(level.variance))
    # For strings that end here this level is evidence, so their weight must not depend on it: only the prior counts.
    ends = (children % evidence.symbols == 0) | (level.length == evidence.length)
    with np.errstate(divide="ignore"):
        going = np.log(np.maximum(1 - np.exp(prior[:, ends]).sum(axis=1), 0.0))[:, None]
    part = prior.copy()
    if not ends.all():
        longer = prior[:, ~ends] - going + support(y[:, ~ends], noise, count[:, None], variance[:, None])
        longer = np.minimum(longer, 0.0)
        part[:, ~ends] = longer + going - np.log(np.maximum(1.0, np.exp(longer).sum(axis=1)))[:, None]
    rows = np.arange(len(strings))
    own = numbers(strings, before, level.length, evidence.symbols)
    pooled, pooled_variance = followed(y[rows, own], noise, count, variance)
    return part[rows, own], np.maximum(pooled, 0.0), pooled_variance
