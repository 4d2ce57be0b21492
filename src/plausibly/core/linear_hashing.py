"""Linear hashing over GF(2): a report supports x if (h(x) xor y) < w, and one transform counts this for all x.

For a linear hash h with g = 2^t values, the indicator of a window of w values is a sum of characters,

    g*[(h(x) xor y) < w] = sum over s of W[s] * (-1)^<s, y xor h(x)>,

W the Hadamard transform of the window, W[0] = w. Each character of h(x) is a row of the Hadamard matrix of the domain,
so reports are scattered into one array of coefficients, whose transform at x is g*S(x) - n*w
(docs/adr/0008-linear-hashing.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..kernels import reference
from .laws import Codes, Floats, Scores
from .levers import Reach
from .probability import exp_enclosure
from .records import exact_sum, refuse_cells
from .supported import Supported
from .walsh import walsh

MAX_HASH_BITS = 12
TOLERANCE = Fraction(1, 20)
"""Maximum relative excess of a default over the least possible variance; less takes more coefficients per report."""
MOST_RECORDS = 1 << 14
"""Largest number of records that are compared one by one to learn the most that a record adds to an answer."""


def window_weights(hash_bits: int, window: int) -> npt.NDArray[np.int64]:
    """Weights of linear hashing: the Hadamard transform of the indicator of [0, window) over 2^hash_bits values."""
    indicator = (np.arange(1 << hash_bits) < window).astype(np.int64).reshape(1, -1)
    kernels.walsh_hadamard(indicator)
    weights: npt.NDArray[np.int64] = indicator[0]
    return weights


def supports(
    coefficients: npt.NDArray[np.int64], n: int, codes: Codes | None, *, size: int, hash_bits: int, window: int = 1
) -> Scores:
    """Number of the n reports that support each item under linear hashing, from their scattered coefficients."""
    transformed = coefficients.reshape(1, -1).copy()
    kernels.walsh_hadamard(transformed)
    wanted: Scores = transformed[0, :size] if codes is None else transformed[0, codes]
    return (wanted + n * window) >> hash_bits


@dataclass(frozen=True)
class Hashed(Supported):
    """Reports under linear hash functions: ``counts`` of them by hash function and reported hash.

    The rows of ``places`` are the coefficients of the characters of each hash function, and ``weights`` those of the
    window, divided by the number of hashes. Both sums are one transform of the domain and one of each row.
    """

    counts: Floats
    places: npt.NDArray[np.int64]
    weights: Floats
    size: int
    order: int

    def masses(self, shares: Floats) -> Floats:
        characters = np.zeros((1, self.order))
        characters[0, : self.size] = shares
        _transform(characters)
        found: Floats = characters[0, self.places] * self.weights
        _transform(found)
        return found

    def gathered(self, weights: Floats) -> Floats:
        scattered = weights.copy()
        _transform(scattered)
        scattered *= self.weights
        sums = np.asarray(np.bincount(self.places.reshape(-1), scattered.reshape(-1), self.order), np.float64)
        sums = sums.reshape(1, -1)
        _transform(sums)
        return np.asarray(sums[0, : self.size])


def _transform(a: Floats) -> None:
    # The NumPy twin of the kernel takes floating point as well.
    reference.walsh_hadamard(a)  # type: ignore[arg-type]


def hashed(
    rows: npt.NDArray[np.int64], hashes: npt.NDArray[np.integer[Any]], *, size: int, order: int, window: int = 1
) -> Hashed:
    """The items that reports support under linear hashing; ``rows`` has t rows of the Hadamard matrix for each report.

    Reports with the same rows are counted together.
    """
    functions, which = np.unique(rows, axis=0, return_inverse=True)
    t, places = rows.shape[1], characters_of(functions)
    counts = np.bincount((which.reshape(-1) << t) + hashes, minlength=places.size).reshape(places.shape)
    return Hashed(counts.astype(np.float64), places, window_weights(t, window) / (1 << t), size, order)


def supported_sums(weights: Floats, places: npt.NDArray[np.int64], *, order_bits: int, window: int = 1) -> Reach:
    """Least and most sum of the weights of the items that one record supports, over all functions and hashes.

    Each row of ``weights`` has one for each item, and each row of ``places`` the characters of a hash function.

    >>> one = np.array([[0, 1]])  # a hash function of one bit: whether the item is odd
    >>> supported_sums(np.array([[1.0, 2.0, 3.0, -7.0]]), one, order_bits=2)
    Reach(low=array([-5.]), high=array([4.]))
    """
    bits = places.shape[1].bit_length() - 1
    factors = window_weights(bits, window) / (1 << bits)
    sums = (walsh(characters[places] * factors, bits) for characters in walsh(weights, order_bits))
    ends = np.array([(own.min(), own.max()) for own in sums]).reshape(-1, 2)
    return Reach(ends[:, 0], ends[:, 1])


def sums_by_rows(weights: Floats, number: int, order_bits: int) -> Reach | None:
    """``supported_sums`` of records with any ``number`` rows of the Hadamard matrix; None if these are too many.

    If k of the rows are independent, a record supports the items with k given signs, whatever the basis, or no items.
    """
    ranks = range(1, min(number, order_bits) + 1)
    if sum(number_of_subspaces(order_bits, rank) << rank for rank in ranks) > MOST_RECORDS:
        return None
    total = weights.sum(axis=-1)
    low, high = np.minimum(total, 0.0), np.maximum(total, 0.0)  # of rows of zeros
    for rank in ranks:
        own = supported_sums(weights, characters_of(subspaces(order_bits, rank)), order_bits=order_bits)
        low, high = np.minimum(low, own.low), np.maximum(high, own.high)
    return Reach(low, high)


def subspaces(bits: int, dimension: int) -> npt.NDArray[np.int64]:
    """Bases of all linear subspaces of this dimension of the vectors of ``bits`` bits, one in each row.

    >>> subspaces(2, 1).tolist()
    [[1], [3], [2]]
    """
    if dimension == 0:
        return np.zeros((1, 0), dtype=np.int64)
    if dimension > bits:
        return np.zeros((0, dimension), dtype=np.int64)
    # Without its last bit, a subspace that has the last unit vector is one of a dimension less, and any other is the
    # graph of a linear function that gives the last bit of each vector of its basis.
    functions = (np.arange(1 << dimension)[:, np.newaxis] >> np.arange(dimension) & 1) << bits - 1
    graphs = (subspaces(bits - 1, dimension)[:, np.newaxis] | functions).reshape(-1, dimension)
    with_unit = np.pad(subspaces(bits - 1, dimension - 1), ((0, 0), (0, 1)), constant_values=1 << bits - 1)
    return np.concatenate([graphs, with_unit])


def number_of_subspaces(bits: int, dimension: int) -> int:
    """Number of the rows of ``subspaces``: a Gaussian binomial coefficient."""
    above, below = (prod((1 << top - i) - 1 for i in range(dimension)) for top in (bits, dimension))
    return above // below


def characters_of(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """[function, s]: the row of the Hadamard matrix that is the product of those of the set bits of s.

    ``rows`` has t rows of the matrix for each hash function, one for each bit of a hash.
    """
    places = np.zeros((len(rows), 1 << rows.shape[1]), dtype=np.int64)
    for bit in range(rows.shape[1]):
        places[:, 1 << bit : 2 << bit] = places[:, : 1 << bit] ^ rows[:, bit : bit + 1]
    return places


def refuse_unless_scattered(coefficients: npt.NDArray[np.int64], n: int, *, hash_bits: int, window: int = 1) -> Scores:
    """Number of the n reports that support each point under linear hashing.

    Raises if no n reports scatter into these coefficients: a report adds weights of a known total size and a known
    divisor, and supports a point once or not at all. This condition is sufficient for one hash bit, where a report is a
    sign at any place. For more bits it is only necessary (docs/adr/0016-states.md).
    """
    # If 2^a divides the window, the last a bits of a hash do not matter, and 2^a divides every weight.
    refuse_cells(int(np.bitwise_or.reduce(coefficients)) % (window & -window) != 0)
    refuse_beyond_total(coefficients, n * _total_weight(hash_bits, window))
    transformed = coefficients.reshape(1, -1).copy()
    kernels.walsh_hadamard(transformed)
    counts: Scores = transformed[0]
    counts += n * window
    refuse_cells(int(np.bitwise_or.reduce(counts)) % (1 << hash_bits) != 0)
    counts >>= hash_bits
    refuse_cells(int(counts.min()) < 0 or int(counts.max()) > n)
    return counts


def refuse_beyond_total(coefficients: npt.NDArray[np.int64], most: int) -> None:
    """Raise if the absolute values of a linear-hashing state add up to more than ``most``."""
    sizes = np.abs(coefficients).view(np.uint64)  # the absolute value of the lowest int64 fits only an unsigned number
    refuse_cells(exact_sum(sizes) > most)


@lru_cache(maxsize=256)
def _total_weight(hash_bits: int, window: int) -> int:
    # The sum of the absolute weights that one report adds.
    return int(np.abs(window_weights(hash_bits, window)[1:]).sum())


def excess_variance(epsilon: Fraction, hash_bits: int, window: int) -> Fraction:
    """Variance per non-holder in linear hashing relative to the least possible one, minus 1, up to 2^-90."""
    # V(tau)/V* = (1 + tau(E-1))^2/(4E tau(1-tau)), tau = w/g: lowest, 1, at tau = 1/(E+1).
    e = exp_enclosure(epsilon, 96)[0]
    support = Fraction(window, 1 << hash_bits)
    return (1 + support * (e - 1)) ** 2 / (4 * e * support * (1 - support)) - 1


def best_window(epsilon: Fraction, hash_bits: int) -> int:
    """The window of linear hashing with the lowest variance: next to g/(e^eps + 1), and at least 1."""
    ideal = (1 << hash_bits) / (exp_enclosure(epsilon, 96)[0] + 1)
    floor = ideal.numerator // ideal.denominator
    windows = [w for w in (floor, floor + 1) if 1 <= w < 1 << hash_bits]
    return min(windows, key=lambda w: excess_variance(epsilon, hash_bits, w))
