"""Strict significance: which of the strings found are not the work of chance, with a family-wise error of α.

The users who told where to look do not testify. A string x gets a weight w(x) computed from the groups whose prefixes
do not show the whole of x with its end, and a p-value p(x) from the other groups alone: the two are independent. The
weights of all strings there are sum to 1 at most, whatever the reports. Accepting x where p(x) ≤ α·w(x) therefore
accepts any string that nobody holds with probability at most Σ E[α·w(x)] ≤ α, however the candidates were chosen. This
is up to the normal approximation of tails and up to shared cells, of which the clipped mean of the cohorts lets little
through; a wrong ending of a true string is a string that nobody holds.

The weights walk down the tree. Strings that end on the way keep what the prior gives them. The rest of a node's weight
goes to its longer children in proportion to min(1, e^S), S being the log-odds of a child from the reports up to its
own level: not to e^S, so that of several heavy strings none starves the others.
"""

from __future__ import annotations

from math import log

import numpy as np

from .decoding import Found
from .evidence import Evidence, Floats, Symbols, numbers
from .prior import CharacterModel
from .scoring import combined, followed, read, support, upper_tail

_LEADING = 3
"""Times k: at the root so many prefixes share the weight equally, though more may be beyond doubt."""
_PARENTS_AT_ONCE = 64


def log_weights(evidence: Evidence, model: CharacterModel, strings: Symbols, k: int) -> Floats:
    """ln w(x) of each string. The model must come from the symbols and pairs alone (``character_model``)."""
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
    lead = min(_LEADING * k, len(score)) - 1
    score -= max(0.0, float(-np.partition(-score, lead)[lead]))
    shared = np.minimum(score, 0.0).astype(np.float64)
    going = log(max(1 - float(np.exp(ended, dtype=np.float64).sum()), 1e-300))
    shared += going - log(max(1.0, float(np.exp(shared).sum())))
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


def adjusted_p_values(evidence: Evidence, found: Found, k: int) -> Floats:
    """For each string the least level at which it is significant: p(x)/w(x), 1 at most."""
    p, weights = significant(evidence, found.model, found.strings, found.own, k=k, alpha=1.0)
    return np.asarray(np.minimum(1.0, p / np.maximum(weights, 1e-300)))


def significant(
    evidence: Evidence, model: CharacterModel, strings: Symbols, own: tuple[Floats, Floats], *, k: int, alpha: float
) -> tuple[Floats, Floats]:
    """p-value and threshold α·w of each string, accepted where p ≤ α·w; ``own``: estimate and variance from the groups
    that show the whole string."""
    estimate, variance = own
    p = upper_tail(estimate / np.sqrt(variance))
    return p, alpha * np.exp(log_weights(evidence, model, strings, k))


def _step(
    evidence: Evidence, model: CharacterModel, i: int, strings: Symbols, count: Floats, variance: Floats
) -> tuple[Floats, Floats, Floats]:
    # ln of the part of its parent's weight that goes to each string's prefix at level i, then its count and variance.
    level = evidence.levels[i]
    before = level.length - level.step
    noise = evidence.noise(level.pooled)
    prior = model.extensions(before, level.step)[model.rows(strings[:, before - 1])]
    children = np.arange(prior.shape[1])
    starts, rotations = evidence.places(i, strings[:, :before])
    cells = starts[:, :, None] + (children + rotations[:, :, None]) % level.block
    y = combined(read(level, cells), evidence.noise(level.variance))
    # Strings that end here have this level as a witness, so they get no more than the prior's part.
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
