"""PEM: the prefix extending method, in which each user reports a prefix of one length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ..core.grouped import weights_of
from ..core.scheme import Scheme
from .base import Search, SearchTally
from .heavy_hitters import HeavyHitters
from .prefixes import Choices, grow_prefixes, prefix_lengths, prefix_part
from .string_parts import Part


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PEM(Search):
    """The prefix extending method (Wang, Li and Jha 2019; paper, section 5): each user reports a prefix of one length.

    The lengths go from ``start`` in steps of ``step`` up to that of the domain; ``weights`` are the proportions of
    users who report each (equal by default). The search extends the ``keep`` most common prefixes of a length to the
    next.
    Privacy: the oracle's, for every length: a user reports only one prefix.
    Variance: the oracle's, divided by the square of the share of users who report whole strings, plus the variance of
    sampling these users.
    Cost: the oracle's report and a byte; the search estimates keep * A^step candidates per length.

    >>> import plausibly
    >>> oracle = plausibly.make("FLH", epsilon=3, domain=plausibly.Keys())
    >>> scheme = plausibly.make("PEM", oracle=oracle, domain=plausibly.Strings("abcdefgh", 6), start=2, step=2)
    >>> tally = scheme.simulate({"abba": 6000, "deaf": 3000, "cafe": 1000}, plausibly.SeededRandom(1))
    >>> tally.search(k=2).items.tolist()
    ['abba', 'deaf']
    """

    name = "PEM"

    oracle: Scheme
    start: int = 2
    step: int = 2
    weights: tuple[int, ...] | None = None

    def validate(self) -> None:
        super().validate()
        object.__setattr__(self, "weights", weights_of(self.weights, len(self.levels), [1] * len(self.levels)))

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Lengths of the prefixes that users report, each extended to the next."""
        return prefix_lengths(self.strings, self.start, self.step)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return tuple(prefix_part(self.oracle, self.strings, length) for length in self.levels)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i,) for i in range(len(self.levels)))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return self.weights or (1,) * len(self.levels)

    @property
    def whole(self) -> int:
        return len(self.levels) - 1

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "oracle": self.oracle.to_dict(),
            "start": self.start,
            "step": self.step,
            "weights": list(self.group_weights),
        }

    def search(
        self,
        tally: SearchTally,
        *,
        k: int | None = 10,
        threshold: float | None = None,
        keep: int = 20,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> HeavyHitters:
        """Find the k most common strings by prefix extending, with the ``keep`` most common prefixes of each length.

        ``threshold``: drop prefixes and strings with a lower estimated count. ``oracle``: options of the oracle's
        estimates, such as ``{"combine": "median"}``.
        """
        return grow_prefixes(tally, self.levels[:-1], Choices(k, threshold, keep, oracle))
