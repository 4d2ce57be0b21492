"""The Walsh-Hadamard transform of real numbers, to see what one report with signs can add to an answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def walsh(rows: Floats, bits: int) -> Floats:
    """Sums of each row's numbers with the signs of all rows of the Hadamard matrix of order 2^bits.

    Place r has the sum over x of (-1)^(number of ones in r & x) times the number at x; missing numbers are 0.

    >>> walsh(np.array([[3.0, 1.0]]), 1).tolist()
    [[4.0, 2.0]]
    """
    found = np.zeros((*rows.shape[:-1], 1 << bits))
    found[..., : rows.shape[-1]] = rows
    for bit in range(bits):
        pairs = found.reshape(*rows.shape[:-1], -1, 2, 1 << bit)
        found = np.concatenate(
            [pairs[..., :1, :] + pairs[..., 1:, :], pairs[..., :1, :] - pairs[..., 1:, :]], axis=-2
        ).reshape(*rows.shape[:-1], -1)
    return found
