"""The common part of schemes for ordered values: users in public levels, each of which reports through one part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from ..core.domain import Domain, InOrder, Ordered
from ..core.errors import ParameterError
from ..core.grouped import Grouped, weights_of
from ..core.probability import EpsilonLike, exact_epsilon
from ..core.scheme import OracleMaker, Scheme
from ..core.words import Setting, Words

MOST_ITEMS = 2**20
"""Largest number of items in order: their equations take seconds, and their state 80 MB."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Levels(Grouped):
    """A scheme for values in order whose users are divided among levels by ``weights``."""

    accepts = (InOrder,)

    epsilon: Fraction
    weights: tuple[int, ...] | None = None

    def check_order(self) -> None:
        """Make epsilon exact, and raise unless the domain has an order and not too many items."""
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        self.check_domain()
        if self.length > MOST_ITEMS:
            fewer = Setting("bins", "0..1000/1024", of="plan", python="Ordered.equal(low, high, 1024)")
            most = f"domain: {self.name} works on at most {MOST_ITEMS:,} items in order, got {self.length:,}"
            raise ParameterError(Words(most, "; use fewer, wider bins: ", fewer))

    def set_weights(self, usual: tuple[int, ...]) -> None:
        """Set the checked weights of the levels, by default the usual ones."""
        object.__setattr__(self, "weights", weights_of(self.weights, len(usual), usual))

    @property
    def length(self) -> int:
        """Number of the items that have a place in the order."""
        return cast(InOrder, self.domain).length

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i,) for i in range(len(self.parts)))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return self.weights or ()

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        # An item outside the order, and blocks too many for subset selection.
        more = {"ordered": Ordered(-2, 20, other=True), "many": Ordered(0, 69)}
        own = {label: cls.example(epsilon, domain, through) for label, domain in more.items()}
        return super().examples(through, epsilon=epsilon) | own

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        # Plans and sketches ask for counts of single items, which the oracle of one level alone knows better.
        yield from ()

    @classmethod
    def variants_in_order(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        yield {}

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        yield from ()
