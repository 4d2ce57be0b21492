"""BLH and OLH: local hashing, with a separate hash function for every report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.blanket import Blanket, support_blanket
from ..core.costs import HASHED, REPORT, TEST
from ..core.hashing import HashedScheme, best_hash_range, given_hash_range, hash_field
from ..core.laws import Cells, Codes, Estimator, Scores, pure
from ..core.randomness import Draws
from ..core.records import refuse_cells
from ..core.scheme import Encoded, Reports
from ..core.supported import Bitmaps, Supported, TwoLevels

_NO_SEEDS = np.zeros(0, dtype=np.uint64)
_HASHED = 1 << 20
"""Number of hashes that are computed at a time to list the items that reports support."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LocalHashing(HashedScheme, TwoLevels):
    """Local hashing: a public 64-bit seed, and direct encoding of the item's hash.

    On a domain that can be listed, reports are folded into support counts as they arrive; on ``Keys()`` they are
    kept, and decoded for the candidates that an analyst asks about.
    """

    unbiased_given = "a pairwise uniform hash family"

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("seed", "<u8"), hash_field(self.g)])

    @property
    def report_bits(self) -> int:
        return 64 + (self.g - 1).bit_length()

    @property
    def cell_shape(self) -> tuple[int, ...] | None:
        return None if self.domain.size is None else (self.domain.size,)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return self.answer(values, draws, _NO_SEEDS, out)

    def fold(self, cells: Cells, reports: Reports) -> None:
        cells += kernels.support_counts(reports["seed"], reports["hash"], self.size, self.split, self.g)

    def estimator(self) -> Estimator:
        # The hash family is three-wise uniform (docs/adr/0006-hash-family.md).
        return pure(self.p, Fraction(1, self.g), self._scores, joint=True)

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        if codes is None:
            return cells
        if self.cell_shape is None:
            return kernels.support_of(cells["seed"], cells["hash"], codes, self.split, self.g)
        return cells[codes]

    def supports_each(self, reports: Reports, codes: Codes) -> npt.NDArray[np.bool_]:
        """[report, item]: whether the reported hash of each report is that of each encoded item."""
        seeds, items = np.repeat(reports["seed"], len(codes)), np.tile(codes, len(reports))
        hashes = kernels.local_hash(seeds, items, self.split, self.g).reshape(len(reports), len(codes))
        return np.asarray(hashes == reports["hash"][:, None])

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        yield from ()  # TLH is as accurate, and its server does not test each cell against each report

    def blanket(self) -> Blanket:
        share = Fraction(1, self.g)
        return support_blanket(self.p, share, share**2, given=self.unbiased_given)

    def seconds(self, n: int, asked: int) -> float:
        if self.cell_shape is None:
            return n * REPORT + n * asked * HASHED
        return n * REPORT + n * self.size * TEST

    def supported(self, reports: Reports) -> Supported:
        items, length = np.arange(self.size, dtype=np.uint64), max(1, _HASHED // self.size)
        parts = [np.zeros((0, (self.size + 7) // 8), dtype=np.uint8)]
        for part in (reports[first : first + length] for first in range(0, len(reports), length)):
            seeds = np.repeat(part["seed"], self.size)
            hashes = kernels.local_hash(seeds, np.tile(items, len(part)), self.split, self.g)
            found = hashes.reshape(len(part), self.size) == part["hash"][:, np.newaxis]
            parts.append(np.packbits(found, axis=1, bitorder="little"))
        return Bitmaps(np.concatenate(parts), self.size)

    def seed_of(self, report: np.void) -> int:
        return int(report["seed"])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BLH(LocalHashing):
    """Binary local hashing: a one-bit hash (paper, section 3.3; Bassily and Smith 2015).

    Privacy: p/(1-p) <= e^eps with p = floor(2^64 * e^eps/(e^eps + 1))/2^64, for every seed.
    Variance: n*((e^eps + 1)/(e^eps - 1))^2 - f, over the uniform seed; never below 1 per report.
    Cost: 9 bytes a report, O(1) client, O(n*d) fold.

    >>> import plausibly
    >>> scheme = plausibly.make("BLH", epsilon=1, domain_size=1024)
    >>> scheme.g, round(scheme.variance(n=1), 2)
    (2, 4.68)
    """

    name = "BLH"

    @property
    def g(self) -> int:
        return 2

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    @property
    def derived(self) -> dict[str, Any]:
        return {**super().derived, "hash_range": self.g}

    def check_cells(self, cells: Cells, n: int) -> None:
        super().check_cells(cells, n)
        # A hash is the exclusive or of one bit for x mod split and one for x div split. Within each row of `split`
        # items a report therefore supports the same places as in the first row, or exactly the other places. Hence
        # the parities of the counts of any row equal those of the first row, or are all different from them.
        odd = (cells & 1).astype(np.bool_)
        for first in range(self.split, self.size, self.split):
            here = odd[first : first + self.split]
            differs = here != odd[: len(here)]
            refuse_cells(bool(differs.any() and not differs.all()))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OLH(LocalHashing):
    """Optimal local hashing: g = round(e^eps) + 1 hash values, or ``hash_range`` (paper, section 3.3).

    Privacy: p(g-1)/(1-p) <= e^eps with p = floor(2^64 * e^eps/(e^eps + g - 1))/2^64, for every seed.
    Variance: n*(e^eps + g - 1)^2/((g-1)(e^eps - 1)^2) + f*(1-p-1/g)/(p-1/g), over the uniform seed.
    Cost: 9 or 10 bytes a report, O(1) client, O(n*d) fold: one byte comparison per report and item.

    >>> import plausibly
    >>> scheme = plausibly.make("OLH", epsilon=3, domain_size=1024)
    >>> scheme.g, scheme.report_dtype.itemsize
    (21, 9)
    """

    name = "OLH"

    hash_range: int | None = None

    def validate(self) -> None:
        super().validate()
        object.__setattr__(self, "hash_range", given_hash_range(self.hash_range))

    @cached_property
    def g(self) -> int:
        return self.hash_range or best_hash_range(self.epsilon)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"hash_range": self.g}
