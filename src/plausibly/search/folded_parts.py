"""Long prefixes folded into few cells, so that all extensions of a prefix are adjacent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..core.domain.symbols import Rows, symbol_numbers
from ..core.laws import CountMean
from ..core.scheme import Encoded
from .string_parts import Part, as_bytes, content_keys

Places = npt.NDArray[np.int64]


def block_size(symbols: int, step: int) -> int:
    """Cells per block of a folded part: the least power of two with one for each extension by ``step`` symbols."""
    size: int = 1 << (symbols**step - 1).bit_length()
    return size


@dataclass(frozen=True)
class Fold(Part):
    """A part that reports the cell of its prefix.

    The prefix consists of a stem and the last ``last - stem`` symbols. A keyed hash of the stem chooses a block of
    cells and a rotation of it; the last symbols choose the cell in the block. So all extensions of a stem are read as
    two runs, and two stems with the same block but different rotations read different symbols from every cell.
    """

    stem: int = 0
    cohort: int = 0
    hash_seed: int = 0

    @property
    def block(self) -> int:
        """Number of cells in a block of the folded part."""
        return block_size(self.strings.symbols, self.last - self.stem)

    def count_of(self, symbols: int) -> int:
        return block_size(symbols, self.last - self.stem)

    def read(self, shift: Fraction) -> Fraction:
        return CountMean(self.scheme.size).contribution((shift, shift))[0]

    def items(self, rows: Rows) -> Encoded:
        starts, rotations = self.places(rows[:, : self.stem])
        endings = symbol_numbers(rows[:, self.stem : self.last], self.strings.symbols).astype(np.int64)
        return (starts + ((endings + rotations) & (self.block - 1))).astype(np.uint64)

    def places(self, stems: Rows) -> tuple[Places, Places]:
        """First cell and rotation of the block into which each stem is folded."""
        cohort = np.full((len(stems), 1), self.cohort, dtype=np.uint8)
        keys = content_keys(np.hstack([as_bytes(stems), cohort]), self.hash_seed, b"fold")
        blocks = np.uint64(self.scheme.size // self.block - 1)
        starts = (keys >> np.uint64(32) & blocks).astype(np.int64) * self.block
        return starts, (keys & np.uint64(self.block - 1)).astype(np.int64)
