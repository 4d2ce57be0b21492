"""The field GF(2^t): tables of logarithms, with which a server divides."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..device import field_multiply

Elements = npt.NDArray[np.int64]


@lru_cache(maxsize=16)
def field_tables(bits: int) -> tuple[Elements, Elements]:
    """Tables of the Galois field GF(2^t): powers of a generator, and logarithms of all elements but 0.

    The powers are written twice so that a sum of two logarithms is an index.
    """
    order = (1 << bits) - 1
    for generator in range(1, order + 1):
        powers, element = [1], generator
        while element != 1:
            powers.append(element)
            element = field_multiply(element, generator, bits)
        if len(powers) == order:
            break
    logarithm = np.zeros(order + 1, dtype=np.int64)
    logarithm[powers] = np.arange(order)
    return np.array(powers * 2, dtype=np.int64), logarithm
