"""The law of estimated tables of several attributes: variances and covariances of sums over their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from math import prod

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Axes = tuple[int, ...]
"""Some axes of a table, in rising order."""


def subsets(axes: Axes) -> Iterator[Axes]:
    """All sets of some of these axes of a table, the smallest first; the empty set is the first one.

    >>> list(subsets((0, 2)))
    [(), (0,), (2,), (0, 2)]
    """
    return chain.from_iterable(combinations(axes, count) for count in range(len(axes) + 1))


def component(table: Floats, kept: Axes, axes: Axes) -> Floats:
    """The part of a table that depends on the ``kept`` axes together, and on no fewer of them.

    Of the other ``axes`` the table is averaged, with a length of 1. All components of a table add up to it, and the sum
    of a component along any of its axes is 0.
    """
    for axis in axes:
        mean = table.mean(axis=axis, keepdims=True)
        table = table - mean if axis in kept else mean
    return table


@dataclass(frozen=True, eq=False)
class TableLaw:
    """Variances of sums over the cells of one estimated table, whose components are estimated one by one.

    A question has a weight for each cell. With its components z, and f users in a cell, the variance of its answer is
    n*sum of noise*|z|^2 + sum over the cells of f*(sum of own*z*z' - (sum of z)^2), where the sums are over components,
    or pairs of them, that are not the mean. It is linear in the counts, so estimated counts give an unbiased variance
    (docs/adr/0039-clique.md).
    """

    sizes: tuple[int, ...]
    noise: Mapping[Axes, float]
    """Variance per user of each component, per unit of its squared coefficients."""
    own: Mapping[tuple[Axes, Axes], float]
    """What a user's own cell adds, for each pair of components."""

    @cached_property
    def axes(self) -> Axes:
        """All axes of the table."""
        return tuple(range(len(self.sizes)))

    def cell_variances(self, counts: Floats, n: int | float) -> Floats:
        """Variance of the estimated count of each cell of the table, in a crowd of n users with these counts."""
        return self.sum_covariances(counts, n, self.axes)

    def sum_covariances(self, counts: Floats, n: int | float, fixed: Axes) -> Floats:
        """Covariance of the count of each cell with the sum over all cells that have its values on the fixed axes.

        The result has the table's shape. In a table of two attributes, with the first axis fixed, the sums are those of
        the rows.
        """
        # A cell sees another one only by the axes on which both agree: their number is a sum of margins.
        found = np.full(self.sizes, n * self._noise_with(fixed))
        for margin in subsets(self.axes):
            sign = {met: (-1) ** (len(margin) - len(met)) for met in subsets(margin)}
            factor = sum(sign[met] * self._met(met, fixed) for met in sign)
            others = tuple(axis for axis in self.axes if axis not in margin)
            found += factor * counts.sum(axis=others, keepdims=True)
        return found

    def _noise_with(self, fixed: Axes) -> float:
        return sum(
            noise * prod(self._product(axis, axis in kept, axis in fixed) for axis in self.axes)
            for kept, noise in self.noise.items()
        )

    def _product(self, axis: int, kept: bool, fixed: bool) -> float:
        # Along one axis, a cell and the sum over its fixed axes: the sum of the products of their components.
        size = self.sizes[axis]
        if fixed:
            return 1 - 1 / size if kept else 1 / size**2
        return 0.0 if kept else 1 / size

    def _met(self, met: Axes, fixed: Axes) -> float:
        # What a user adds who agrees with the cell on these axes.
        cell = {kept: self._part(kept, met, self.axes) for kept in self.noise}
        total = {kept: self._part(kept, met, fixed) for kept in self.noise}
        second = sum(own * cell[one] * total[other] for (one, other), own in self.own.items())
        return second - sum(cell.values()) * sum(total.values())

    def _part(self, kept: Axes, met: Axes, fixed: Axes) -> float:
        # The weights of a sum are 1 all along the other axes: their mean is 1, and nothing remains without it.
        if not set(kept) <= set(fixed):
            return 0.0
        shares = ((axis in kept and axis in met) - (1 if axis in kept else -1) / self.sizes[axis] for axis in fixed)
        return prod(shares)

    def even_variance(self) -> float:
        """Variance per user of the count of a cell, if users are spread evenly over all cells of the table."""
        return float(self.cell_variances(np.full(self.sizes, 1 / prod(self.sizes)), 1.0).flat[0])

    def covariance(self, questions: Floats, counts: Floats, n: int) -> Floats:
        """Covariances of the answers to questions about the table, given by their weights [question, cell…]."""
        parts = self._components(questions)
        flat = {kept: part.reshape(len(questions), -1) for kept, part in parts.items()}
        found = sum((n * self.noise[kept] * part @ part.T for kept, part in flat.items()), np.zeros(()))
        whole = {kept: self._whole(part) for kept, part in parts.items()}
        held = counts.reshape(-1)
        for (one, other), own in self.own.items():
            found = found + own * (whole[one] * held) @ whole[other].T
        centred = sum(whole.values(), np.zeros(()))
        return np.asarray(found - (centred * held) @ centred.T)

    def variances(self, questions: Floats, counts: Floats, n: int) -> Floats:
        """Variances of the answers to questions about the table, given by their weights [question, cell…]."""
        parts = self._components(questions)
        axes = tuple(range(1, questions.ndim))
        found = sum((n * self.noise[kept] * (part**2).sum(axis=axes) for kept, part in parts.items()), np.zeros(()))
        for (one, other), own in self.own.items():
            found = found + own * (parts[one] * parts[other] * counts).sum(axis=axes)
        centred = sum(parts.values(), np.zeros(()))
        return np.asarray(found - (centred**2 * counts).sum(axis=axes))

    def _components(self, questions: Floats) -> dict[Axes, Floats]:
        axes = tuple(axis + 1 for axis in self.axes)
        return {kept: component(questions, tuple(axis + 1 for axis in kept), axes) for kept in self.noise}

    def _whole(self, part: Floats) -> Floats:
        return np.broadcast_to(part, (len(part), *self.sizes)).reshape(len(part), -1)


def transposed(law: TableLaw, ranks: Axes) -> TableLaw:
    """The law of the same table with its axes in another order: the axis at each place is the one of this number."""
    new = {old: place for place, old in enumerate(ranks)}

    def moved(kept: Axes) -> Axes:
        return tuple(sorted(new[axis] for axis in kept))

    return TableLaw(
        tuple(law.sizes[axis] for axis in ranks),
        {moved(kept): noise for kept, noise in law.noise.items()},
        {(moved(one), moved(other)): own for (one, other), own in law.own.items()},
    )
