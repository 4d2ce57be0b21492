"""Domains whose items have an order, so that ranges, quantiles and means make sense."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .base import Listable
from .scales import Scale


class InOrder(Listable):
    """A domain whose items are in order: codes 0 to ``length`` - 1. An item for all other values comes after them.

    Everything about the order is told by its ``scale``.
    """

    title = "values that have an order (a domain_size, or Ordered)"

    meant: ClassVar[bool] = True
    """Whether the order means something to people. The integers below a size may be mere codes."""

    scale: Scale
    """The numbers that the ordered items stand for, and how they are written."""

    @property
    def length(self) -> int:
        """Number of items in order; an item for all other values is not among them."""
        return self.scale.length

    @property
    def unit(self) -> str:
        """Unit of the ordered values, for axes and tables; empty if there is none."""
        return self.scale.unit

    def points(self) -> npt.NDArray[np.float64]:
        """One number for each ordered item, for means and axes.

        A whole number is its own, a bin has its midpoint, and a date is the number of days since 1970-01-01.
        """
        return self.scale.points()

    def edges(self) -> npt.NDArray[np.float64]:
        """The numbers that bound the ordered items, one more than there are items, for plots.

        A bin has its own edges. A whole number or a day is in the middle of an interval of length 1.
        """
        return self.scale.bounds()

    def places(self, low: Any, high: Any) -> tuple[int, int]:
        """The first and the last code of the range from ``low`` to ``high``, both included.

        They are given in the user's own units, or as texts: numbers or dates, and for bins the lower edge of the first
        bin and the upper edge of the last one. Raises with the nearest valid ends.
        """
        return self.scale.places(low, high)

    def written(self, number: float) -> int | float | str:
        """A number on the scale of ``points`` in the user's own units: 35, 20.5 or "2026-03-01"."""
        return self.scale.written(number)

    def taking_missing(self) -> InOrder:
        """The same ordered values with an item for missing ones after them, if this kind of domain has such a form."""
        return self
