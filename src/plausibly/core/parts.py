"""Parts of grouped schemes, and counts for all users from the random share who report through a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from .arguments import whole_number
from .errors import ParameterError
from .history import History
from .laws import Codes, Decoder, Floats, Scores, VarianceLaw, choose_estimator, estimate_and_unheld, thinned
from .scheme import Encoded, Scheme
from .tails import Unheld
from .words import Words, kind_of


class Part(Protocol):
    """One aspect of a value that users report: its name, its scheme, and the items given to that scheme."""

    @property
    def label(self) -> str:
        """Name of this part of a grouped scheme, in words."""
        ...

    @property
    def scheme(self) -> Scheme:
        """The oracle of this part, through which its users report."""
        ...

    @property
    def role(self) -> str:
        """Parameter of the grouped scheme that holds the part's oracle, for messages."""
        ...

    def items(self, values: Encoded, /) -> Encoded:
        """The items of the part's oracle for encoded values, encoded by the oracle's domain."""
        ...


@dataclass(frozen=True)
class Digit:
    """A part that reports one digit of an encoded value: ``value // step % base``, as ``device.Digit`` does.

    If ``step`` is a power of the base, the part is a level of a hierarchy; if it is a product of attribute sizes, the
    part is an attribute.
    """

    label: str
    scheme: Scheme
    step: int
    base: int
    role: str = "oracle"
    """Parameter of the grouped scheme that holds the oracle, for messages."""

    def __post_init__(self) -> None:
        whole_number("step", self.step, 1, 2**64 - 1)
        whole_number("base", self.base, 1, 2**64 - 1)
        if not isinstance(self.scheme, Scheme):
            expected = f"{self.role}: expected a scheme with a domain_size of {self.base}, got "
            raise ParameterError(Words(expected, kind_of(self.scheme)))
        if (self.scheme.domain.cells or 0) < self.base:
            raise ParameterError(
                f"{self.role}: expected a scheme with a domain_size of at least the {self.base} of {self.label}"
            )

    def items(self, values: Encoded) -> Encoded:
        """The digit of each value that this part reports."""
        return values // np.uint64(self.step) % np.uint64(self.base)


class PartEvidence(NamedTuple):
    """The evidence of one part for a decoder."""

    evidence: Any
    numbers: Any

    @property
    def users(self) -> int:
        """Number of users who have reported through this part of a grouped scheme."""
        return int(np.sum(self.numbers))


@dataclass(frozen=True)
class PartDecoder:
    """Decoder of item counts from the users of one part that distinguishes all items."""

    part: Part
    number: int
    share: Fraction
    """Share of the users who report through the part."""
    size: int | None = None
    """Number of items, if the domain can be listed."""

    @cached_property
    def _decoder(self) -> Decoder:
        return self.part.scheme.estimator()

    @property
    def history(self) -> History:
        return self._decoder.history

    @property
    def law(self) -> VarianceLaw | None:
        # Averaged: the law of the part's oracle is about the oracle's items, not about those of the domain.
        law = self._decoder.law
        return None if law is None else thinned(law.averaged, self.share)

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        own: PartEvidence = evidence[self.number]
        return self._decoder.scores(own.evidence, own.numbers, self._items(codes))

    def estimate(self, evidence: Any, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        return scaled_up(self._decoder, evidence[self.number], self._items(codes), float(self.share))

    def estimate_and_unheld(
        self, evidence: Any, n: Any, codes: Codes | None
    ) -> tuple[Floats, Floats | None, Unheld | None]:
        """Counts from the part and their variances, and the law of items without holders if it is known."""
        # Subclasses change the estimates of some items; the law of items without holders does not depend on items.
        none = np.zeros(0, dtype=np.uint64)
        unheld = scaled_up_with_unheld(self._decoder, evidence[self.number], none, float(self.share))[2]
        return *self.estimate(evidence, n, codes), unheld

    def _items(self, codes: Codes | None) -> Codes:
        if codes is None:
            assert self.size is not None  # items that cannot be listed are named by the caller
            codes = np.arange(self.size, dtype=np.uint64)
        return self.part.items(codes)


def part_decoder(part: Part, options: Mapping[str, Any] = MappingProxyType({})) -> Decoder:
    """The decoder of a part's oracle with the analyst's options."""
    return choose_estimator(part.scheme.estimator, options)


def scaled_up(decoder: Decoder, own: PartEvidence, items: Codes | None, share: float) -> tuple[Floats, Floats | None]:
    """Counts for all users, scaled up from the random share who report through one part.

    The random choice of these users adds f(1-share)/share to the variance.
    """
    return scaled_up_with_unheld(decoder, own, items, share)[:2]


def scaled_up_with_unheld(
    decoder: Decoder, own: PartEvidence, items: Codes | None, share: float
) -> tuple[Floats, Floats | None, Unheld | None]:
    """Counts from one part, and the law of items without holders if its hash functions are public."""
    values, variance, unheld = estimate_and_unheld(decoder, own.evidence, own.numbers, items)
    values = values / share
    if variance is not None:
        variance = variance / share**2 + np.maximum(values, 0.0) * (1 - share) / share
    return values, variance, None if unheld is None else unheld.scaled(1 / share)
