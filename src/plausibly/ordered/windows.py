"""Blocks of one width at evenly spaced offsets: the windows of a row of items, and sums over them.

Items 0 .. length-1 are cut into blocks of ``width`` items; ``offsets`` ways to cut, ``step`` items apart, are in use.
All blocks of all offsets are the windows of ``width`` items that begin at a multiple of ``step``, in order: window k
ends before item (k+1)*step. Sums over windows are differences of running sums, so they take a few additions an item.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.laws import Floats

MOST_OFFSETS = 256
"""Number of offsets of a width at most: more would lower the variance by less than 0.2 % (docs/adr/0033-slide.md)."""


def step_of(width: int) -> int:
    """Distance of the offsets of a width of SLIDE."""
    return -(-width // MOST_OFFSETS)


@dataclass(frozen=True)
class Windows:
    """The windows of one width over ``length`` items in order."""

    length: int
    width: int

    @property
    def step(self) -> int:
        """Number of items from one offset to the next, of these windows."""
        return step_of(self.width)

    @property
    def offsets(self) -> int:
        """Number of offsets of these windows."""
        return self.width // self.step

    @property
    def blocks(self) -> int:
        """Number of blocks at any one offset of these windows; the last one may be empty."""
        return (self.length - 1 + self.width - self.step) // self.width + 1

    @cached_property
    def count(self) -> int:
        """Number of windows that have an item."""
        return self._steps + self.offsets - 1

    @property
    def _steps(self) -> int:
        return -(-self.length // self.step)

    def sums(self, values: Floats) -> Floats:
        """The sum of the values of each window's items, along the last axis."""
        padded = np.zeros((*values.shape[:-1], self._steps * self.step))
        padded[..., : self.length] = values
        # One number for each step, then windows of as many steps as there are offsets.
        steps = padded.reshape(*values.shape[:-1], self._steps, self.step).sum(axis=-1)
        return _running(steps, self.offsets)

    def spread(self, windows: Floats) -> Floats:
        """The sum over the windows that contain each item, along the last axis: the transpose of ``sums``."""
        steps = _running(windows, self.offsets)[..., self.offsets - 1 : self.offsets - 1 + self._steps]
        return np.repeat(steps, self.step, axis=-1)[..., : self.length]

    def of_blocks(self, table: Floats) -> Floats:
        """The numbers of the windows from a table [offset, block]."""
        return table[::-1].T.reshape(-1)[: self.count]

    def at_offsets(self, windows: Floats) -> Floats:
        """A table [..., offset, block] of the numbers of the windows, as ``of_blocks`` reads it; empty blocks are 0."""
        padded = np.zeros((*windows.shape[:-1], self.offsets * self.blocks))
        padded[..., : self.count] = windows
        table = padded.reshape(*windows.shape[:-1], self.blocks, self.offsets)
        return np.swapaxes(table, -1, -2)[..., ::-1, :]


def _running(values: Floats, window: int) -> Floats:
    # Sums over every run of ``window`` values, those that overlap the ends included.
    if window == 1:
        return values
    size = values.shape[-1]
    totals = np.zeros((*values.shape[:-1], size + 2 * window - 1))
    np.cumsum(values, axis=-1, out=totals[..., window : window + size])
    totals[..., window + size :] = totals[..., window + size - 1, None]
    return totals[..., window:] - totals[..., :-window]
