"""The common part of schemes for records: users report the cells of sets of attributes, each through an oracle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, cast

import numpy as np

from ..cells import Bitmaps, Products, cell_oracle, contrast_noise
from ..core.domain import Choices, Domain, Integers, Labels, Ordered, Table
from ..core.errors import ParameterError
from ..core.grouped import MOST_SCHEMES, Grouped
from ..core.laws import Estimator
from ..core.probability import EpsilonLike, exact_epsilon
from ..core.scheme import Encoded, OracleMaker, Scheme
from ..core.table_law import Axes
from ..core.wording import shown
from ..core.words import Setting, Words
from .residuals import Residuals, Sent

MOST_CELLS = 2**20
"""Largest number of cells that are reported together: their state takes 8 MB."""


def expect_few_cells(records: Table, places: Axes) -> None:
    """Refuse to report these attributes of a record together if they have too many cells for an oracle."""
    cells = prod(records.sizes[j] for j in places)
    if cells > MOST_CELLS:
        names = " and ".join(shown(records.names[j]) for j in places)
        together = "have {:,} cells together" if len(places) > 1 else "has {:,} cells"
        few = f"domain: {names} {together.format(cells)}, expected at most {MOST_CELLS:,}; use fewer items, or "
        bins = Setting("attribute", "NAME=bins:0,10,20", of="plan", python="Ordered.equal(low, high, 20)")
        raise ParameterError(Words(few, "wider bins such as ", bins))


@dataclass(frozen=True)
class Joint:
    """A part that reports the cell of some attributes of a record, as ``device.Joint`` does."""

    label: str
    scheme: Bitmaps | Products
    digits: tuple[tuple[int, int], ...]
    """Step and size of each attribute in encoded records; the last one is the lowest digit of the cell."""
    role: str = "cliques"

    def items(self, values: Encoded) -> Encoded:
        """The cell of each record that this part reports."""
        cells = np.zeros(len(values), dtype=np.uint64)
        for step, size in self.digits:
            cells = cells * np.uint64(size) + values // np.uint64(step) % np.uint64(size)
        return cells


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Attributed(Grouped):
    """A scheme for records of several attributes, of which users report some together."""

    accepts = (Table,)

    epsilon: Fraction

    def validate(self) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        self.check_domain()
        self.prepare()
        for places in self.sets:
            expect_few_cells(self.records, places)
        if len(self._oracles) > MOST_SCHEMES:
            raise ParameterError(f"cliques: expected at most {MOST_SCHEMES} different numbers of cells, got more")
        super().validate()

    def prepare(self) -> None:
        """Check and complete the fields of the scheme, once epsilon and the domain are known."""

    @property
    def records(self) -> Table:
        """The domain of the records."""
        return cast(Table, self.domain)

    @property
    def sets(self) -> tuple[Axes, ...]:
        """The sets of attributes that users report together, each by its positions."""
        return tuple((j,) for j in range(len(self.records.names)))

    @property
    def part_epsilon(self) -> Fraction:
        """Epsilon of the report of one set of attributes."""
        return self.epsilon

    @cached_property
    def _oracles(self) -> dict[int, Bitmaps | Products]:
        # By their numbers of cells: sets with equally many share one.
        counts = {prod(self.records.sizes[j] for j in places) for places in self.sets}
        return {cells: cell_oracle(self.part_epsilon, cells) for cells in sorted(counts)}

    @cached_property
    def parts(self) -> tuple[Joint, ...]:
        return tuple(self._part(places) for places in self.sets)

    def _part(self, places: Axes) -> Joint:
        records = self.records
        label = " and ".join(records.names[j] for j in places)
        digits = tuple((records.steps[j], records.sizes[j]) for j in places)
        return Joint(label, self._oracles[prod(size for _, size in digits)], digits)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i,) for i in range(len(self.sets)))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return (1,) * len(self.groups)

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    @property
    def derived(self) -> dict[str, Any]:
        return {"oracles": [oracle.to_dict() for oracle in self._oracles.values()]}

    def estimator(self) -> Residuals:
        return self._decoder

    @cached_property
    def _decoder(self) -> Residuals:
        return Residuals(self.records, tuple(self._sent(i) for i in range(len(self.sets))))

    def _sent(self, number: int) -> Sent:
        oracle = self.parts[number].scheme
        decoder = self._decoders[oracle.size]
        noise, own = self._noises[oracle.size]
        return Sent(self.sets[number], self._shares[number], oracle, decoder, noise, own, oracle.size)

    @cached_property
    def _shares(self) -> list[float]:
        # By part; ``share`` looks through all groups for each.
        shares = [Fraction(0)] * len(self.parts)
        for group, weight in zip(self.groups, self.group_weights, strict=True):
            for part in group:
                shares[part] += Fraction(weight, sum(self.group_weights))
        return [float(share) for share in shares]

    @cached_property
    def _decoders(self) -> dict[int, Estimator]:
        return {cells: oracle.estimator() for cells, oracle in self._oracles.items()}

    @cached_property
    def _noises(self) -> dict[int, tuple[float, float]]:
        pairs = {cells: contrast_noise(decoder) for cells, decoder in self._decoders.items()}
        return {cells: (float(noise), float(own)) for cells, (noise, own) in pairs.items()}

    def contribution(self) -> None:
        return None  # there are no counts of records

    def influence(self) -> float:
        """Maximum change of the count of a cell by one more report of the scheme, whatever its content."""
        return max(map(abs, self._decoder.contribution))

    def small_table(self, size: int) -> Table:
        """A table of the first attributes with few cells each, of up to ``size`` records if that is possible."""
        names, wanted = self.records.names, self.records.sizes
        sizes = [2] * max(2, min(len(names), size.bit_length() - 1))
        for place, own in enumerate(wanted[: len(sizes)]):
            while sizes[place] < own and prod(sizes) // sizes[place] * (sizes[place] + 1) <= size:
                sizes[place] += 1
        return Table(zip(names, sizes, strict=False), missing=False)

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        survey = {"browser": Labels(("a", "b"), other=True), "age": Ordered(0, 3), "plan": Integers(2)}
        tables = {"table": Table(survey), "many": Table({"day": 9, "hour": 8, "ok": ["no", "yes"]}, missing=["ok"])}
        tables["choices"] = Choices(["a", "b", "c"], other=True)
        return {label: cls.example(epsilon, table, through) for label, table in tables.items()}

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        if isinstance(domain, Table):
            yield {}

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        yield from ()
