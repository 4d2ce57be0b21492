"""Decoders that know the mean of the values, and nothing about single items."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from .errors import StateError
from .words import Setting, Words


@runtime_checkable
class MeanOnly(Protocol):
    """A decoder that knows the mean of values in order, and no counts of items.

    Items have places, whole numbers that are linear in their values. Everything about places is exact.
    """

    def place(self, item: int, /) -> int:
        """The place of an encoded item, of which only the mean can be known."""
        ...

    def total(self, evidence: Any, n: int, /) -> Fraction:
        """Unbiased sum of the places of all users, from which the mean is computed."""
        ...

    def variance_of_one(self, item: int, /) -> Fraction:
        """Variance of what one report adds to the total of places, from a user with this item."""
        ...

    def mean_and_variance(self, evidence: Any, n: int, /) -> tuple[float, float]:
        """The mean on the scale of the domain, and the largest variance that it may have, from n reports."""
        ...

    def worth(self) -> tuple[float, float]:
        """The two numbers between which one report counts in the mean, on the scale of the domain."""
        ...

    def largest_error(self, n: int, /) -> float:
        """Largest standard error of the mean of n users, whatever their values."""
        ...


def no_counts() -> StateError:
    """The refusal to count items where only the mean is known."""
    mean = Setting("mean", of="estimate", python="tally.mean()")
    return StateError(Words("this scheme has no counts of items, only the mean of the values; ask for it with ", mean))
