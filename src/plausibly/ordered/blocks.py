"""Reports of the block of a value: a public offset, and an oracle's report of the block that holds the value."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .. import device
from ..cells import Bitmaps, Products
from ..core.accumulator import Accumulator, ChannelAccumulator
from ..core.blanket import Blanket
from ..core.laws import Cells, Decoder, Estimator, Floats
from ..core.parts import PartEvidence
from ..core.randomness import Draws, Layout
from ..core.records import refuse_beyond, unsigned
from ..core.scheme import Component, Encoded, Reports, Scheme
from .windows import Windows


class BlockAccumulator(ChannelAccumulator):
    """Reports of blocks, added to the cells of all offsets at once: there may be hundreds, with few reports each."""

    def absorb(self, reports: Reports) -> None:
        # Folded apart and added at the end: whatever interrupts the fold, the state is as before.
        delta = np.zeros_like(self.state)
        added = self._fold_all(delta, reports)
        # Nothing is called from here on: an interrupt cannot come between the cells and their number.
        self.state += delta
        self.n += added

    def absorb_single_threaded(self, reports: Reports) -> None:
        self.n += self._fold_all(self.state, reports)

    def _fold_all(self, cells: Cells, reports: Reports) -> npt.NDArray[np.int64]:
        channels = self.scheme.channel_of(reports)
        cast(Blocks, self.scheme).oracle.scatter(cells, channels, reports["report"])
        return np.bincount(channels, minlength=len(cells))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Blocks(Scheme):
    """The users of one width of SLIDE. Those of one offset are one channel of the state."""

    name = "blocks"
    max_increment = Products.max_increment

    epsilon: Fraction = field(init=False)
    oracle: Bitmaps | Products
    windows: Windows

    def validate(self) -> None:
        object.__setattr__(self, "epsilon", self.oracle.epsilon)
        super().validate()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"oracle": self.oracle.to_dict(), "width": self.windows.width}

    @property
    def derived(self) -> dict[str, Any]:
        return {}

    @cached_property
    def randomizer(self) -> device.Randomizer:
        oracle = device.Oracle(device.Document(self.oracle.to_dict()), "oracles")
        return device.Blocks(oracle, self.size, self.windows.length, self.windows.width)

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("offset", unsigned(self.windows.offsets)), ("report", self.oracle.report_dtype)])

    @property
    def report_bits(self) -> int:
        return (self.windows.offsets - 1).bit_length() + self.oracle.report_bits

    @property
    def layout(self) -> Layout:
        return Layout(dense=1 + self.oracle.layout.dense)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        shape = self.oracle.cell_shape
        assert shape is not None  # an oracle over integers has cells
        return shape

    @property
    def channels(self) -> int:
        return self.windows.offsets

    @property
    def accumulator_type(self) -> type[Accumulator]:
        return BlockAccumulator

    def channel_of(self, reports: Reports) -> npt.NDArray[np.integer[Any]]:
        offsets: npt.NDArray[np.integer[Any]] = reports["offset"]
        return offsets

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        offsets, refused, rest = draws.choose(self.windows.offsets)
        out["offset"] = offsets
        redo = self.oracle.respond(self._blocks_of(values, offsets), rest, out["report"])
        return np.union1d(refused, redo)

    def _blocks_of(self, values: Encoded, offsets: npt.NDArray[np.uint64]) -> Encoded:
        windows = self.windows
        blocks = (values + offsets * np.uint64(windows.step)) // np.uint64(windows.width)
        # An item that has no place in the order is one more block, the last.
        return np.where(values < windows.length, blocks, np.uint64(windows.blocks))

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["offset"], self.windows.offsets, f"an offset below {self.windows.offsets}")
        self.oracle.check(reports["report"])

    def fold(self, cells: Cells, reports: Reports) -> None:
        self.oracle.fold(cells, reports["report"])

    def check_cells(self, cells: Cells, n: int) -> None:
        self.oracle.check_cells(cells, n)

    def estimator(self) -> Decoder:
        raise TypeError("one width does not tell all items apart; SLIDE decodes all of them together")

    @cached_property
    def decoder(self) -> Estimator:
        """The estimator of the counts of blocks at one offset."""
        decoder = self.oracle.estimator()
        assert isinstance(decoder, Estimator)
        return decoder

    def counts(self, own: PartEvidence) -> Floats:
        """Unbiased counts [offset, block] of those users who have reported through this width."""
        channels = zip(own.evidence, own.numbers.tolist(), strict=True)
        return np.array([self.decoder.values(cells, n, None) for cells, n in channels])

    @property
    def components(self) -> tuple[Component, ...]:
        return (Component(self.oracle, Fraction(1)),)

    def blanket(self) -> Blanket:
        # The offset is public, and far items are in different blocks at all offsets.
        return self.oracle.blanket()

    def likelihood(self, report: np.void, item: int) -> Fraction:
        offsets = np.array([report["offset"]], dtype=np.uint64)
        block = self._blocks_of(np.array([item], dtype=np.uint64), offsets)
        return self.oracle.likelihood(report["report"], int(block[0]))
