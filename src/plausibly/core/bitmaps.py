"""Helpers of schemes whose report is a bitmap over the items."""

from __future__ import annotations

import numpy as np

from .. import kernels
from .costs import BYTE, REPORT
from .laws import Cells
from .records import refuse_beyond
from .scheme import Reports


def bitmap_dtype(size: int) -> np.dtype[np.void]:
    """The record of a bitmap: bit i is bit i mod 8 of byte i div 8."""
    return np.dtype([("bits", np.uint8, ((size + 7) // 8,))])


def refuse_spare_bits(reports: Reports, size: int) -> None:
    """Raise if a bitmap has a bit set beyond the last item."""
    if size % 8:
        refuse_beyond(reports["bits"][:, -1], 1 << size % 8, f"a bitmap of {size} bits with spare bits zero")


def fold_bitmaps(cells: Cells, reports: Reports) -> None:
    """Add to each item's cell the number of bitmaps with its bit set."""
    cells += kernels.column_sums(np.ascontiguousarray(reports["bits"]), len(cells))


def bitmap_seconds(n: int, size: int) -> float:
    """Seconds on one core to add n reports that are bitmaps of ``size`` bytes to the items' cells."""
    return n * REPORT + n * size * BYTE
