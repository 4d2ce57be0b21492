"""A table for tests: estimated, and its law known, for the numbers of users who did report each set of attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .table_law import Axes, Floats, TableLaw, component


@dataclass(frozen=True, eq=False)
class Reporters:
    """The users who reported one set of attributes, and what their reports add to a table."""

    reports: int
    axes: Axes
    """Axes of the table whose attributes are in the set."""
    weights: Mapping[Axes, float]
    """How much a report counts in each component of the table."""
    cells: int
    """Number of cells of the set."""
    scale: float
    """What a report adds to the cells that it supports."""
    other: float
    """Probability that a report supports a cell that is not its user's own; for the own one it is 1/scale larger."""

    def excess(self, questions: Floats, inverse: Floats, shares: Floats) -> float:
        """What the fourth moments of these reports add to the variance of a statistic, at least 0.

        The statistic is the squared length of the answers to the questions by the ``inverse`` of their covariance. The
        supports of cells count as independent coins, and what they add is counted from the mean of a report. Nothing
        is taken off for cells whose fourth cumulant is negative.
        """
        across = tuple(axis + 1 for axis in range(shares.ndim))
        parts = [
            weight * component(questions, tuple(axis + 1 for axis in kept), across)
            for kept, weight in self.weights.items()
        ]
        seen = [len(questions), *(size if axis in self.axes else 1 for axis, size in enumerate(shares.shape))]
        found = sum((np.broadcast_to(part, seen) for part in parts), np.zeros(seen)).reshape(len(questions), -1)
        others = tuple(axis for axis in range(shares.ndim) if axis not in self.axes)
        held = shares.sum(axis=others).reshape(-1)
        alike = self.cells / len(held)
        chance = self.other + held / (alike * self.scale)
        found = found - (found @ chance)[:, None] / chance.sum()
        variance = chance * (1 - chance)
        cumulant = np.clip(variance * (1 - 6 * variance), 0.0, None)
        lengths = self.scale**2 * (found * (inverse @ found)).sum(axis=0)
        return float(self.reports * alike * (cumulant * lengths**2).sum())


@dataclass(frozen=True, eq=False)
class SizedTable:
    """An estimated table and its law, given how many users reported each set of attributes.

    It differs from the table for all users in that it does not take these numbers for their expectations.
    """

    counts: Floats
    law: TableLaw
    reporters: tuple[Reporters, ...]
