"""Base of the row sketches: a user draws a public row, hashes the item with it and reports the hash by an oracle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .. import device, kernels
from ..core.agreeing_rows import RowsCounted, public_hashes
from ..core.arguments import json_integer, whole_number
from ..core.blanket import Blanket
from ..core.costs import LOOKUP
from ..core.domain import Domain, Integers, Keys, Listable
from ..core.errors import ParameterError
from ..core.hashing import MAX_CELLS, public_seeds, split_for
from ..core.laws import Cells, Decoder, Estimator, Floats, VarianceLaw, choose_estimator
from ..core.memoised import expect_no_memo
from ..core.probability import EpsilonLike
from ..core.randomness import Draws, Layout
from ..core.records import refuse_beyond, unsigned
from ..core.scheme import EXAMPLE_SEED, Component, Encoded, OracleMaker, Reports, Scheme, expect_maker
from ..core.support import Everything, Support
from ..core.wording import nearest, shown
from ..core.words import Setting, Words, kind_of
from .combining import MeanOfRows, MedianOfRows, MinOfRows, RowLaws, Rows
from .peeling import PeelOfRows

MAX_ROWS = 2**16

COMBINE: dict[str, Callable[[Rows], Decoder]] = {
    "mean": MeanOfRows,
    "median": MedianOfRows,
    "min": MinOfRows,
    "peel": PeelOfRows,
}


@dataclass(frozen=True)
class _Rows(Support):
    """Support by rows: a record supports the items of some cells of one row."""

    rows: int

    @property
    def functions(self) -> int:
        return 4 * self.rows  # in each row, items are sorted by their cells


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowSketch(Scheme):
    """A sketch of ``rows`` public hash functions over an oracle, which makes the reports and provides the privacy.

    A user draws a row, hashes the item with its function and reports the hash through the oracle. The users of a row
    are one channel of the state.
    """

    accepts = (Listable, Keys)
    max_increment = 2**12  # the largest of any oracle
    unbiased_given = "a fresh hash_seed"

    epsilon: Fraction = field(init=False)
    oracle: Scheme
    rows: int
    hash_seed: int = 0

    signed: ClassVar[bool]
    """Whether items have signs: half of the hashes then stand for negative cells."""

    @property
    def net(self) -> bool:
        """Whether a cell has the net count of its items, positive less negative, instead of one cell for each sign."""
        return False

    def validate(self) -> None:
        expect_oracle(self.oracle)
        object.__setattr__(self, "epsilon", self.oracle.epsilon)
        super().validate()
        least = 4 if self.signed else 2
        whole_number("oracle: domain_size", self.oracle.size, least, MAX_CELLS)
        object.__setattr__(self, "rows", whole_number("rows", self.rows, 1, MAX_ROWS))
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of cells in a row of the sketch."""

    @abstractmethod
    def row_law(self, law: VarianceLaw, together: Fraction) -> VarianceLaw:
        """Variance law of the sum of all rows, given the oracle's; ``together``: chance that two users share a row."""

    @property
    def listed_size(self) -> int | None:
        """Number of items that a row of the sketch may hash; None if they cannot be listed."""
        return self.domain.size

    @property
    def parameters(self) -> dict[str, Any]:
        return {"oracle": self.oracle.to_dict(), "rows": self.rows, "hash_seed": json_integer(self.hash_seed)}

    @property
    def split(self) -> int:
        """Divisor that the hash of a row uses to split an item in two: quotient and remainder."""
        return split_for(self.domain)

    @property
    def derived(self) -> dict[str, Any]:
        return {"split": self.split}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("row", unsigned(self.rows)), ("report", self.oracle.report_dtype)])

    @property
    def report_bits(self) -> int:
        return (self.rows - 1).bit_length() + self.oracle.report_bits

    @property
    def layout(self) -> Layout:
        return Layout(dense=1 + self.oracle.layout.dense, split=self.oracle.layout.split)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        shape = self.oracle.cell_shape
        assert shape is not None  # an oracle over integers has cells
        return shape

    @property
    def channels(self) -> int:
        return self.rows

    def channel_of(self, reports: Reports) -> npt.NDArray[np.integer[Any]]:
        rows: npt.NDArray[np.integer[Any]] = reports["row"]
        return rows

    @cached_property
    def seeds(self) -> npt.NDArray[np.uint64]:
        """Seed of each row's hash function."""
        return public_seeds(self.hash_seed, self.rows, b"row seed")

    @property
    def hash_range(self) -> int:
        """Number of values of a row's hash function: cells, or cells with a sign."""
        return self.width * (1 + self.signed)

    def hash_items(self, rows: npt.NDArray[np.integer[Any]], items: Encoded, size: int) -> npt.NDArray[np.uint32]:
        """The hash of each item under the function of its row, below ``size``."""
        return kernels.local_hash(self.seeds[rows], items, self.split, size)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        rows, refused, rest = draws.choose(self.rows)
        cells = self.hash_items(rows, values, self.hash_range)
        out["row"] = rows
        redo = self.oracle.respond(cells.astype(np.uint64), rest, out["report"])
        return np.union1d(refused, redo)

    def by_row(self, reports: Reports) -> tuple[Scheme, list[Reports]]:
        """The oracle of a sketch, and its reports from each row."""
        order = np.argsort(reports["row"], kind="stable")
        bounds = np.cumsum(np.bincount(reports["row"], minlength=self.rows))[:-1]
        return self.oracle, np.split(reports["report"][order], bounds)

    def rows_counted(self, cells: Cells, n: npt.NDArray[np.int64]) -> RowsCounted | None:
        """The counts of all rows of a sketch with their law; None if nothing is known twice.

        With signs on coefficients, a row has net counts, which this law is not about.
        """
        size, decoder = self.listed_size, self.oracle.estimator()
        assert isinstance(decoder, Estimator)  # expect_oracle refuses others
        law = decoder.law
        if size is None or self.net or law is None or law.hashed or not law.joint:
            return None
        hashes = public_hashes(tuple(self.seeds.tolist()), self.split, self.hash_range, size)
        if not hashes.tested:
            return None
        rows, (noise, own) = Rows(self, decoder, None, None), law.contrast
        return RowsCounted(hashes, rows.counts(rows.scores(cells, n), n), float(noise), float(own))

    def ends_of_rows(self, table: Floats) -> tuple[float, float]:
        """Least and most that a report of a sketch adds to a sum with these coefficients."""
        reach = self.oracle.leverage(table)
        return float(reach.low.min()), float(reach.high.max())

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["row"], self.rows, f"a row below {self.rows}")
        self.oracle.check(reports["report"])

    def fold(self, cells: Cells, reports: Reports) -> None:
        self.oracle.fold(cells, reports["report"])

    def check_cells(self, cells: Cells, n: int) -> None:
        self.oracle.check_cells(cells, n)

    def estimator(
        self,
        combine: Literal["mean", "median", "min", "peel"] = "mean",
        postprocess_rows: str | None = None,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> Decoder:
        if postprocess_rows is not None and self.net:
            raise ParameterError(
                f"postprocess_rows: expected none with signs on coefficients, where rows hold net counts, got"
                f" {shown(postprocess_rows)}"
            )
        if not isinstance(oracle, Mapping):
            raise ParameterError(Words("oracle: expected a mapping of the oracle's options, got ", kind_of(oracle)))
        chosen = choose_estimator(self.cell_estimator, oracle)
        assert isinstance(chosen, Estimator)  # expect_oracle refuses others
        if not isinstance(combine, str) or combine not in COMBINE:
            raise ParameterError(Words(Setting("combine"), f": unknown {shown(combine)}; {nearest(combine, COMBINE)}"))
        laws = None
        if chosen.law is not None:
            laws = RowLaws(*(self.row_law(chosen.law, together) for together in (Fraction(1, self.rows), Fraction(0))))
        return COMBINE[combine](Rows(self, chosen, laws, postprocess_rows))

    @property
    def cell_estimator(self) -> Callable[..., Decoder]:
        """The function from the oracle's options to the estimator of the cells of a row."""
        return self.oracle.estimator

    @property
    def components(self) -> tuple[Component, ...]:
        return (Component(self.oracle, Fraction(1)),)

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Domain, through: OracleMaker | None = None) -> Scheme:
        oracle = expect_maker(through, cls.name)(epsilon, Integers(6))
        return cls(oracle=oracle, rows=5, hash_seed=EXAMPLE_SEED, domain=domain)

    def blanket(self) -> Blanket:
        # The worst of all pairs of items has different hashes in every row, whichever the oracle tells apart best.
        return replace(self.oracle.blanket(), third=())

    def support(self) -> Support:
        return Everything() if self.oracle.support().everything and not self.signed else _Rows(self.rows)

    def seconds(self, n: int, asked: int) -> float:
        decoding = self.oracle.seconds(0, 0) * self.rows + LOOKUP * asked * self.rows
        return self.oracle.seconds(n, 0) + decoding

    def shrunk(self, size: int) -> Scheme:
        width = min(size, self.oracle.size)
        width = max(4, width - width % 2) if self.signed else width
        return replace(self, domain=Integers(min(size, self.domain.size or size)), oracle=self.oracle.shrunk(width))

    def likelihood(self, report: np.void, item: int) -> Fraction:
        cell = device.local_hash(int(self.seeds[report["row"]]), item, self.split, self.hash_range)
        return self.oracle.likelihood(report["report"], cell)


def expect_oracle(given: object) -> None:
    """Raise unless ``given`` is an oracle that can report a cell of a sketch's row."""
    if not isinstance(given, Scheme):
        example = 'make("OLH", epsilon=3, domain_size=1024)'
        raise ParameterError(Words(f"oracle: expected a scheme such as {example}, got ", kind_of(given)))
    expect_no_memo(given, "oracle")
    if given.domain.cells is None or given.channels is not None or given.cell_shape is None:
        got = f"{given.name} over another domain, or with rows or groups of its own"
        raise ParameterError(f"oracle: expected an oracle with a domain_size, the number of cells in a row, got {got}")
    if not isinstance(given.estimator(), Estimator):
        got = f"{given.name}, whose estimates are not sums over reports"
        raise ParameterError(f"oracle: expected an oracle that counts the cells of a row, such as OLH, got {got}")
