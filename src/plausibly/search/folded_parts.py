"""Long prefixes folded into few cells, so that all extensions of a prefix are adjacent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.domain.symbols import Rows, symbol_numbers
from ..core.history import History
from ..core.laws import Codes, CountMean, Estimator, Floats, Scores, VarianceLaw, thinned
from ..core.parts import PartEvidence
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


@dataclass(frozen=True)
class FoldedStrings:
    """Counts of given strings from the cohorts that fold whole strings: the sum of the strings' cells.

    The expected contribution of other strings is subtracted, as in a count-mean sketch with a row for each cohort.
    """

    cohorts: tuple[Fold, ...]
    numbers: tuple[int, ...]
    share: Fraction
    """Share of all users who are in one of the cohorts."""
    history: History = ()

    @cached_property
    def _oracle(self) -> Estimator:
        estimator = self.cohorts[0].scheme.estimator()
        assert isinstance(estimator, Estimator)  # an oracle over integers is linear
        return estimator

    @property
    def _count_mean(self) -> CountMean:
        return CountMean(self.cohorts[0].scheme.size)

    @cached_property
    def law(self) -> VarianceLaw | None:
        oracle, together = self._oracle.law, Fraction(1, len(self.cohorts))
        return None if oracle is None else thinned(self._count_mean.law(oracle, together), self.share)

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        assert codes is not None  # strings cannot be listed
        found = np.zeros(len(codes), dtype=np.int64)
        for fold, number in zip(self.cohorts, self.numbers, strict=True):
            own: PartEvidence = evidence[number]
            found += self._oracle.scores(own.evidence, own.numbers, fold.items(codes))
        return found

    def estimate(self, evidence: Any, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        assert codes is not None
        cells, share = self._count_mean.cells, float(self.share)
        values, pairs = np.zeros(len(codes)), 0.0
        for fold, number in zip(self.cohorts, self.numbers, strict=True):
            own: PartEvidence = evidence[number]
            table, _ = self._oracle.estimate(own.evidence, own.numbers, None)
            table -= own.users / cells
            values += table[fold.items(codes).astype(np.int64)]
            pairs += self._pairs(table, own.users)
        values *= float(self._count_mean.scale) / share
        if self.law is None:
            return values, None
        total = int(np.sum(n))
        squares = total + max(0.0, pairs) * len(self.cohorts) / share**2
        return values, np.maximum(self.law.at(total, np.clip(values, 0, total), f2=squares), 0.0)

    def _pairs(self, table: Floats, users: int) -> float:
        # The spread of the cells beyond their noise shows how many pairs of users hold the same string.
        if self._oracle.law is None:
            return 0.0
        law, cells = self._oracle.law.averaged, len(table)
        beyond = float((table**2).sum()) - cells * users * float(law.per_report)
        # An oracle with its own hash functions increases the spread.
        inflation = float(law.collision) * (cells - 1)
        return (beyond - inflation * users * (users / cells - 1)) / (1 + inflation)
