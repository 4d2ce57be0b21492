"""Reports of the block of a value with a sign, which tells the halves of the block apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import device, kernels
from ..core.blanket import Blanket
from ..core.laws import Cells, Codes, Decoder, Estimator, Scores
from ..core.linear_hashing import refuse_beyond_total, supports
from ..core.randomness import Draws, Layout
from ..core.records import fields_of, refuse_cells
from ..core.scheme import Component, Encoded, Reports, Scheme
from ..oracles import HM


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Signed(Scheme):
    """The Hadamard mechanism with one coefficient, for items with a sign, and cells for their net counts only."""

    name = "signed"
    max_increment = 1

    epsilon: Fraction = field(init=False)
    oracle: HM

    def validate(self) -> None:
        object.__setattr__(self, "epsilon", self.oracle.epsilon)
        super().validate()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"oracle": self.oracle.to_dict()}

    @property
    def derived(self) -> dict[str, Any]:
        return {}

    @cached_property
    def randomizer(self) -> device.Randomizer:
        made = device.HadamardMechanism(device.Document(self.oracle.to_dict()))
        made.take_signs()
        return made

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return self.oracle.report_dtype

    @property
    def report_bits(self) -> int:
        return self.oracle.report_bits

    @property
    def layout(self) -> Layout:
        return self.oracle.layout

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (1 << self.oracle.order_bits,)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return self.oracle.respond(values, draws, out)

    def check(self, reports: Reports) -> None:
        self.oracle.check(reports)

    def fold(self, cells: Cells, reports: Reports) -> None:
        rows, signs = fields_of(reports)
        kernels.sign_sums(rows, signs, cells)

    def check_cells(self, cells: Cells, n: int) -> None:
        # Every report adds a sign at one place.
        refuse_beyond_total(cells, n)
        refuse_cells((int(cells.sum()) + n) % 2 != 0)

    def estimator(self) -> Decoder:
        raise TypeError("one level does not tell all items apart; HAAR decodes all of them together")

    @cached_property
    def decoder(self) -> Estimator:
        """The estimator of net counts of blocks: users in the left half less users in the right half."""
        return replace(self.oracle.net_estimator(), scores=self._net_counts)

    def _net_counts(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        # For n = 0 and hash_bits = 0 the shared decoder returns the transform itself.
        return supports(cells, 0, codes, size=self.oracle.size, hash_bits=0)

    @property
    def components(self) -> tuple[Component, ...]:
        return (Component(self.oracle, Fraction(1)),)

    def blanket(self) -> Blanket:
        return self.oracle.signed_blanket()

    def likelihood(self, report: np.void, item: int) -> Fraction:
        return self.oracle.likelihood(report, item)


@dataclass(frozen=True)
class Half:
    """The users of one level: the block of the value, negative if the value is in its right half."""

    label: str
    scheme: Signed
    width: int
    role: str = "weights"

    def items(self, values: Encoded) -> Encoded:
        """The block of each value, with the sign of its half."""
        right = values // np.uint64(self.width // 2) % np.uint64(2)
        return values // np.uint64(self.width) + (right << np.uint64(self.scheme.oracle.order_bits))
