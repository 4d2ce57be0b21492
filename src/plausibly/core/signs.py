"""Oracles that also take negative items: what a Count-Sketch with its signs on the oracle's coefficients needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from .blanket import Blanket
from .laws import Cells, Estimator
from .scheme import Reports


class TakesSigns(ABC):
    """An oracle over d = 2^b items whose clients may also hold the negative of an item x, written as x + d.

    A negative item reverses every coefficient before it is perturbed. Cells that are folded with signs give the net
    count of each item: users with the item less users with its negative.
    """

    @abstractmethod
    def fold_signs(self, cells: Cells, reports: Reports) -> None:
        """Add reports on items with signs to the cells."""

    @abstractmethod
    def check_signs(self, cells: Cells, n: int) -> None:
        """Raise unless n reports on items with signs can add up to these cells."""

    @abstractmethod
    def net_estimator(self, decoder: Literal["full", "paper"] = "full") -> Estimator:
        """Estimator of net counts. In its law, holders of an item are all users with the item or its negative."""

    @abstractmethod
    def signed_blanket(self) -> Blanket:
        """The blanket for the two items with signs that differ most."""
