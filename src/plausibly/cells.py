"""The oracles of schemes whose answers are sums over cells: blocks of items in order, tables of several attributes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from . import kernels
from .core.domain import Integers
from .core.laws import Cells, Codes, Decoder, Floats, Scores
from .core.linear_hashing import refuse_unless_scattered, supports, window_weights
from .core.records import fields_of
from .core.scheme import Reports, Scheme
from .core.support import Subsets
from .oracles import HM, SS

Channels = npt.NDArray[np.integer[Any]]

FEW = 64
"""Largest number of cells that subset selection reports, one bit each."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Products(HM):
    """The Hadamard mechanism with the cells of the full decoder only: the paper's decoder needs as many again."""

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (1 << self.order_bits,)

    def fold(self, cells: Cells, reports: Reports) -> None:
        rows, signs = fields_of(reports)
        cells += kernels.gray_scatter(rows, signs, self.order_bits, window_weights(self.t, 1))

    def scatter(self, cells: Cells, channels: Channels, reports: Reports) -> None:
        """Add reports to the cells [channel, place] of their channels."""
        rows, signs = fields_of(reports)
        kernels.channel_products(channels, rows, signs, cells)

    def check_cells(self, cells: Cells, n: int) -> None:
        refuse_unless_scattered(cells, n, hash_bits=self.t)

    def _supports(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        return supports(cells, n, codes, size=self.size, hash_bits=self.t)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Bitmaps(SS):
    """Subset selection whose reports are added to the cells of many channels at once."""

    def scatter(self, cells: Cells, channels: Channels, reports: Reports) -> None:
        """Add reports to the cells [channel, item] of their channels."""
        kernels.channel_bitmaps(channels, reports["bits"], cells)


def cell_oracle(epsilon: Fraction, cells: int) -> Bitmaps | Products:
    """The oracle that reports one of this many cells.

    Its noise at two cells must not depend on a third one, or sums of cells would be noisier than the cells: TLH and
    AGR are therefore no choice.
    """
    return (Bitmaps if cells <= FEW else Products)(epsilon=epsilon, domain=Integers(cells))


def least_and_most(coefficients: Floats, oracle: Scheme, scale: float) -> tuple[Floats, Floats]:
    """Bounds of what one report of a cell adds to an answer, from the coefficients of all cells (last axis).

    The coefficients add up to 0, so only those of the supported cells count. Exact for subset selection, and for the
    Hadamard mechanism with one coefficient.
    """
    if isinstance(oracle, Products):
        low, high = oracle.sums_within(coefficients)
        return low * scale, high * scale
    support = oracle.support()
    number = support.total(coefficients.shape[-1]).number
    ordered = np.sort(coefficients, axis=-1) * scale
    least, most = ordered[..., :number], ordered[..., -number:]
    if not isinstance(support, Subsets):  # a report may support fewer cells
        least, most = least.clip(max=0.0), most.clip(0.0)
    return least.sum(axis=-1), most.sum(axis=-1)


def contrast_noise(decoder: Decoder) -> tuple[Fraction, Fraction]:
    """Variance per report, and per holder, of a sum of cells with coefficients that add up to 0."""
    law = decoder.law
    assert law is not None
    return law.contrast
