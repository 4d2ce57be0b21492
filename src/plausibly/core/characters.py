"""Linear hashing over GF(2): a report supports x when (h(x) xor y) < w, and one transform counts that for all x.

For a linear hash h with g = 2^t values, the indicator of a window of w values is a sum of characters,

    g*[(h(x) xor y) < w] = sum over s of W[s] * (-1)^<s, y xor h(x)>,

W the Hadamard transform of the window, W[0] = w. Each character of h(x) is a row of the Hadamard matrix of the domain,
so reports are scattered into one array of coefficients, whose transform at x is g*S(x) - n*w
(docs/adr/0008-linear-hashing.md).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from .. import kernels
from .laws import Codes, Scores
from .probability import exp_enclosure

MAX_HASH_BITS = 12
TOLERANCE = Fraction(1, 20)
"""How far above the least possible variance a default may be; less costs more places per report."""


def window_weights(hash_bits: int, window: int) -> npt.NDArray[np.int64]:
    """The Hadamard transform of the indicator of [0, window) over 2^hash_bits values."""
    indicator = (np.arange(1 << hash_bits) < window).astype(np.int64).reshape(1, -1)
    kernels.walsh_hadamard(indicator)
    weights: npt.NDArray[np.int64] = indicator[0]
    return weights


def supports(
    coefficients: npt.NDArray[np.int64], n: int, codes: Codes | None, *, size: int, hash_bits: int, window: int = 1
) -> Scores:
    """How many of n reports support each item, from their scattered coefficients."""
    transformed = coefficients.reshape(1, -1).copy()
    kernels.walsh_hadamard(transformed)
    wanted: Scores = transformed[0, :size] if codes is None else transformed[0, codes]
    return (wanted + n * window) >> hash_bits


def excess(epsilon: Fraction, hash_bits: int, window: int) -> Fraction:
    """Variance per non-holder over the least possible one, minus 1, up to 2^-90."""
    # V(tau)/V* = (1 + tau(E-1))^2/(4E tau(1-tau)), tau = w/g: lowest, 1, at tau = 1/(E+1).
    e = exp_enclosure(epsilon, 96)[0]
    support = Fraction(window, 1 << hash_bits)
    return (1 + support * (e - 1)) ** 2 / (4 * e * support * (1 - support)) - 1


def best_window(epsilon: Fraction, hash_bits: int) -> int:
    """The window with the lowest variance: next to g/(e^eps + 1), and at least 1."""
    ideal = (1 << hash_bits) / (exp_enclosure(epsilon, 96)[0] + 1)
    floor = ideal.numerator // ideal.denominator
    windows = [w for w in (floor, floor + 1) if 1 <= w < 1 << hash_bits]
    return min(windows, key=lambda w: excess(epsilon, hash_bits, w))
