"""Definitions shared by the kernels and their twins: names of array types, and the fields GF(2^t)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I16 = npt.NDArray[np.int16]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
# A field of packed records: unsigned integers of any width, one record length apart. Fields named `out` are written,
# each in its own width.
Field = npt.NDArray[Any]
Fields = tuple[Field, ...]

# GF(2^t) is GF(2)[X] modulo entry t - 1: the numerically smallest irreducible polynomial of degree t with a
# constant term, bit i for X^i.
POLYNOMIALS = (0b11, 0b111, 0b1011, 0x13, 0x25, 0x43, 0x83, 0x11B, 0x203, 0x409, 0x805, 0x1009)


def line_count(hash_bits: int, dimension: int) -> int:
    """Number of lines for the kernels: projective points with `dimension` coordinates in GF(2^hash_bits)."""
    return ((1 << hash_bits * dimension) - 1) // ((1 << hash_bits) - 1)


def refuse_outside(count: int) -> None:
    """Raise if a kernel found reports with numbers out of range; `count` is how many."""
    if count:
        raise IndexError(f"expected reports with numbers in range, got {count} out of range")
