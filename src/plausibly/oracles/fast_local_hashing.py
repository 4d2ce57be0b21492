"""FLH: fast local hashing, with a few hash functions that all users share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.agreeing_rows import RowsCounted, public_hashes
from ..core.arguments import json_integer, whole_number
from ..core.blanket import Blanket, support_blanket
from ..core.costs import REPORT, TABULATED
from ..core.domain import Domain
from ..core.hashing import HashedScheme, best_hash_range, given_hash_range, hash_field, public_seeds
from ..core.laws import Cells, Codes, Estimator, Floats, Scores, pure
from ..core.probability import EpsilonLike
from ..core.randomness import Draws
from ..core.records import fields_of, refuse_beyond, refuse_unless_histogram, unsigned
from ..core.scheme import EXAMPLE_SEED, Encoded, OracleMaker, Reports, Scheme
from ..core.support import Found, Items, Support, Weights

_MOST_HASHED = 1 << 28
"""Largest number of hash values to compute for a bound on fake reports."""
_TRIED = tuple(2**k for k in range(8, 22, 2))
"""Numbers of hash functions that a plan tries."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FLH(HashedScheme):
    """Fast local hashing: the client picks one of k' = ``hashes`` public functions (paper, section 3.3).

    Privacy: the same as OLH's, for every function.
    Variance: OLH's plus (F2 - f^2 - n + f)/(k'(g-1)), the error of the k' functions over a fresh ``hash_seed``;
    for a given seed it is a fixed bias, which every collection with that seed repeats.
    Cost: 2 to 6 bytes a report, O(1) client, O(n + k'*d) decode; the state is k' x g counts, so that estimates of
    items of ``Keys()`` need no stored reports.

    >>> import plausibly
    >>> scheme = plausibly.make("FLH", epsilon=3, domain_size=1024, hashes=1000)
    >>> scheme.g, scheme.report_dtype.itemsize
    (21, 3)
    """

    name = "FLH"
    unbiased_given = "a fresh hash_seed"

    hashes: int = 1000
    hash_seed: int = 0
    hash_range: int | None = None

    def validate(self) -> None:
        super().validate()
        object.__setattr__(self, "hashes", whole_number("hashes", self.hashes, 1, 2**24))
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))
        object.__setattr__(self, "hash_range", given_hash_range(self.hash_range))

    @cached_property
    def g(self) -> int:
        return self.hash_range or best_hash_range(self.epsilon)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"hashes": self.hashes, "hash_seed": json_integer(self.hash_seed), "hash_range": self.g}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("index", unsigned(self.hashes)), hash_field(self.g)])

    @property
    def report_bits(self) -> int:
        return (self.hashes * self.g - 1).bit_length()

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (self.hashes, self.g)

    @cached_property
    def _seeds(self) -> npt.NDArray[np.uint64]:
        return public_seeds(self.hash_seed, self.hashes, b"FLH seed")

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return self.answer(values, draws, self._seeds, out)

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["index"], self.hashes, f"a hash function below {self.hashes}")
        super().check(reports)

    def fold(self, cells: Cells, reports: Reports) -> None:
        kernels.histogram(fields_of(reports), cells)

    def check_cells(self, cells: Cells, n: int) -> None:
        refuse_unless_histogram(cells, n)

    def estimator(self) -> Estimator:
        collision = Fraction(1, self.hashes * (self.g - 1))
        q = Fraction(1, self.g)
        return pure(self.p, q, self._scores, collision=collision, context=self._context, public=True)

    def rows_counted(self, cells: Cells, n: npt.NDArray[np.int64]) -> RowsCounted | None:
        """The counts of all public functions with their law; None if nothing is known twice."""
        if self.domain.size is None:
            return None
        hashes = public_hashes(tuple(self._seeds.tolist()), self.split, self.g, self.domain.size)
        if not hashes.tested:
            return None
        # Direct encoding of the hash: a report adds ``scale`` to one cell.
        scale, other = self._scale_in_row, float(1 - self.p) / (self.g - 1)
        return RowsCounted(hashes, cells * scale, scale**2 * other, scale)

    def ends_of_rows(self, table: Floats) -> tuple[float, float]:
        """Least and most that a report adds to a sum over all public functions with these coefficients."""
        return self._scale_in_row * float(table.min()), self._scale_in_row * float(table.max())

    @property
    def _scale_in_row(self) -> float:
        return 1 / float(self.p - (1 - self.p) / (self.g - 1))

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        if codes is None:
            return kernels.table_support(self._seeds, cells, self.size, self.split)
        return kernels.table_support_of(self._seeds, cells, codes, self.split)

    def _context(self, cells: Cells, n: int, codes: Codes | None) -> dict[str, Any]:
        # F2 from the spread of each function's cells: all holders of an item fall into the same cell.
        share = 1 - 1 / self.g
        spread = float(((cells - cells.sum(axis=1, keepdims=True) / self.g) ** 2).sum())
        gap = float(self.p - (1 - self.p) / (self.g - 1))
        return {"f2": n + self.hashes * max(0.0, spread - n * share) / (gap**2 * share)}

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Domain, through: OracleMaker | None = None) -> Scheme:
        return cls(epsilon=epsilon, domain=domain, hashes=6, hash_seed=EXAMPLE_SEED)  # type: ignore[arg-type]

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        most = memory // (8 * best_hash_range(epsilon))
        yield from ({"hashes": hashes} for hashes in sorted({max(1, min(tried, most)) for tried in _TRIED} | {1}))

    def seconds(self, n: int, asked: int) -> float:
        return n * REPORT + self.hashes * asked * TABULATED

    def blanket(self) -> Blanket:
        # The worst of all pairs of items has no function in which both have the same hash.
        return support_blanket(self.p, Fraction(1, self.g), Fraction(0))

    def support(self) -> Support:
        return _Functions(self)

    def seed_of(self, report: np.void) -> int:
        return int(self._seeds[report["index"]])


@dataclass(frozen=True)
class _Functions(Support):
    """Support by public hash functions: a record supports the items with one value under one function."""

    scheme: FLH

    @property
    def functions(self) -> int:
        return self.scheme.hashes

    def most(self, items: Items) -> Found:
        if self.scheme.hashes * len(items) > _MOST_HASHED:
            return super().most(items)
        return Found(max(int(np.bincount(values).max()) for values in self._values(items)), True)

    def best(self, items: Items, weights: Weights) -> Found:
        if self.scheme.hashes * len(items) > _MOST_HASHED:
            return super().best(items, weights)
        most = max(self._sums(values, weights).max() for values in self._values(items.astype(np.uint64)))
        return Found(most.astype(weights.dtype).item(), True)

    @staticmethod
    def _sums(values: npt.NDArray[np.int64], weights: Weights) -> npt.NDArray[np.float64]:
        # A value that no item has supports nothing, and its sum is 0.
        return np.asarray(np.bincount(values, np.resize(weights, len(values))), dtype=np.float64)

    def _values(self, items: Items) -> Iterator[npt.NDArray[np.int64]]:
        # The hash of each item for a few functions at a time, with disjoint ranges for different functions.
        chunk = max(1, (1 << 20) // len(items))
        for first in range(0, self.scheme.hashes, chunk):
            seeds = self.scheme._seeds[first : first + chunk]
            every = np.repeat(seeds, len(items)), np.tile(items, len(seeds))
            values = kernels.local_hash(*every, self.scheme.split, self.scheme.g)
            yield values.astype(np.int64) + np.repeat(np.arange(len(seeds)), len(items)) * self.scheme.g
