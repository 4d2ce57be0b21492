"""Evidence for a heavy string: log-likelihood ratios of its count, given the count of its prefix."""

from __future__ import annotations

from math import erfc, log, pi, sqrt

import numpy as np

from .evidence import Evidence, Floats, Floats32, Level, Numbers, Symbols, numbers

PARTS = ((1.0, 0.8), (0.8, 0.1), (0.6, 0.05), (0.4, 0.03), (0.22, 0.02))
"""Fractions of its parent's count that a heavy child may have, with prior weights: mostly nearly all of it."""
ANY_PART = 0.1
"""Prior weight of a child with any fraction of its parent's count, because several heavy strings may share a prefix."""
CLIP = 2.5
"""Number of standard errors (of the mean) by which the mean of the cohorts may exceed the least of them. It limits the
effect of a cell shared with a heavy string in one cohort to a fluctuation, and lowers a true count 1 time in 80."""
FOLLOW = 2.0
"""Number of standard errors by which a prefix's count may exceed its extension's and still be pooled with it; any
excess belongs to other strings with that prefix. (0.5, 1, and a bound that falls back to 0 were worse.)"""


def combined(estimates: Floats, variance: float) -> Floats:
    """Estimate to be scored: all cohorts ([cohort, ...]; ``variance`` of one), robust against one shared cell."""
    mean = estimates.mean(axis=0)
    if len(estimates) == 1:
        return np.asarray(mean)
    return np.asarray(np.minimum(mean, estimates.min(axis=0) + CLIP * sqrt(variance / len(estimates))))


def support(count: Floats, variance: Floats | float, parent: Floats, parent_variance: Floats) -> Floats:
    """Score of a child's estimated count: log-likelihood ratio, heavy child against child without holders.

    It is the maximum over the fractions of the parent's count that a heavy child may have: each predicts the child's
    count, with the error of the parent's. An unknown fraction only predicts a count below the parent's.
    """
    squares = count * count / (2 * variance)
    positive = np.maximum(count, 0.0)
    beyond = np.maximum(positive - parent - 2 * np.sqrt(parent_variance), 0.0)
    best = log(ANY_PART) - np.log1p(parent / np.sqrt(2 * pi * variance)) + (positive**2 - beyond**2) / (2 * variance)
    for part, weight in PARTS:
        total = variance + part**2 * parent_variance
        ratio = log(weight) + np.log(variance / total) / 2 - (count - part * parent) ** 2 / (2 * total) + squares
        best = np.maximum(best, ratio)
    return np.asarray(best)


def needed(nats: Floats32, variance: float, parent: Floats, parent_variance: Floats) -> Floats32:
    """Least count, in standard errors, whose score (``support``) reaches the given nats: [parent, nats].

    In single precision, and sometimes slightly low if two fractions compete: candidates that pass are scored again.
    """
    count = (parent / sqrt(variance)).astype(np.float32)[:, None]
    noise = (parent_variance / variance).astype(np.float32)[:, None]
    least = np.sqrt(np.maximum(2 * (nats - np.float32(log(ANY_PART)) + np.log1p(count / np.float32(sqrt(2 * pi)))), 0))
    # Beyond the parent's count, the support grows along a tangent.
    top = count + 2 * np.sqrt(noise)
    least = np.where(least <= top, least, least**2 / (2 * top) + top / 2)
    for part, weight in PARTS:
        spread = np.float32(part**2) * noise
        predicted = np.float32(part) * count
        # support(y) = ln w − ln(1+g)/2 + (g·y² + 2·p·y − p²)/(2(1+g)), g = spread, p = predicted, y in standard errors.
        lack = nats - np.float32(log(weight)) + np.log1p(spread) / 2
        root = (predicted / spread) ** 2 + (2 * (1 + spread) * lack + predicted**2) / spread
        least = np.minimum(least, np.sqrt(np.maximum(root, 0)) - predicted / spread)
    return np.asarray(least, dtype=np.float32)


def followed(count: Floats, variance: Floats | float, parent: Floats, parent_variance: Floats) -> tuple[Floats, Floats]:
    """Count and variance to be scored, pooled with the parent's count, without the excess due to other strings."""
    reachable = np.minimum(parent, count + FOLLOW * np.sqrt(parent_variance + variance))
    pooled = 1 / (1 / parent_variance + 1 / variance)
    return pooled * (np.maximum(reachable, 0.0) / parent_variance + count / variance), pooled


def cells_of(evidence: Evidence, level: int, strings: Symbols) -> Numbers:
    """[cohort, string]: cell to be scored for each string's prefix at a folded level."""
    at = evidence.levels[level]
    before = at.length - at.step
    starts, rotations = evidence.places(level, strings[:, :before])
    own = numbers(strings, before, at.length, evidence.symbols)
    return starts + (own + rotations) % at.block


def read(at: Level, cells: Numbers) -> Floats:
    """[cohort, ...]: values to be scored, from a level's tables in the given cells."""
    return np.stack([table[cell] for table, cell in zip(at.tables, cells, strict=True)]).astype(np.float64)


def upper_tail(z: Floats) -> Floats:
    """For scoring evidence, the upper tail: the probability that a standard normal variable exceeds each z."""
    return np.array([erfc(value / sqrt(2)) / 2 for value in z.ravel().tolist()]).reshape(z.shape)
