"""BITSTOGRAM: users report the string's bucket with one of its symbols, or the whole string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.arguments import json_integer, whole_number
from ..core.grouped import weights_of
from ..core.scheme import Scheme
from .base import Search, SearchTally
from .fragments import fragment_parts, tagged_estimates
from .heavy_hitters import HeavyHitters
from .prefixes import Choices, conclude, prefix_part
from .string_parts import Part, Tag
from .trace import Step


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BITSTOGRAM(Search):
    """Bitstogram by symbols (Bassily, Nissim, Stemmer and Thakurta 2017): every bucket of a hash names one string.

    A user reports *either* one random symbol with the string's bucket (``hash_bits`` bits of a hash) through
    ``oracle``, *or* the whole string through ``word_oracle``. ``weights`` are their proportions: one number for each
    position, one for the whole string. In each bucket the most common symbols of all positions form a candidate.
    Privacy: the larger epsilon of the two oracles, because a user sends one report.
    Variance: that of ``word_oracle``, scaled up from the share of users who report whole strings.
    Cost: the longer report and a byte; A * 2^hash_bits estimates per position, one candidate per bucket.

    >>> import plausibly
    >>> oracle = plausibly.make("FLH", epsilon=3, domain=plausibly.Keys())
    >>> strings = plausibly.Strings("abcdefgh", 6)
    >>> scheme = plausibly.make("BITSTOGRAM", oracle=oracle, word_oracle=oracle, domain=strings)
    >>> scheme.weights
    (1, 1, 1, 1, 1, 1, 6)
    """

    name = "BITSTOGRAM"

    oracle: Scheme
    word_oracle: Scheme
    hash_bits: int = 10
    weights: tuple[int, ...] | None = None
    hash_seed: int = 0

    def validate(self) -> None:
        object.__setattr__(self, "hash_bits", whole_number("hash_bits", self.hash_bits, 0, 16))
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))
        super().validate()
        object.__setattr__(self, "weights", weights_of(self.weights, len(self.groups), self.group_weights))

    @cached_property
    def bucket(self) -> Tag:
        """Tag that assigns a string to its bucket in BITSTOGRAM."""
        return Tag(self.hash_seed, self.hash_bits)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        words = prefix_part(self.word_oracle, self.strings, self.strings.length, role="word_oracle")
        return (*fragment_parts(self.oracle, self.strings, 1, self.bucket), words)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i,) for i in range(len(self.parts)))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return self.weights or (*(1,) * self.whole, self.whole)

    @property
    def whole(self) -> int:
        return len(self.parts) - 1

    @property
    def parameters(self) -> dict[str, Any]:
        oracles = {"oracle": self.oracle.to_dict(), "word_oracle": self.word_oracle.to_dict()}
        hashing = {"hash_bits": self.hash_bits, "hash_seed": json_integer(self.hash_seed)}
        return oracles | {"weights": list(self.group_weights)} | hashing

    def search(
        self,
        tally: SearchTally,
        *,
        k: int | None = 10,
        threshold: float | None = None,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> HeavyHitters:
        """Find the k most common strings among the candidates from BITSTOGRAM's buckets.

        ``threshold``: drop strings with a lower estimated count. ``oracle``: options of the oracles' estimates, such as
        ``{"combine": "median"}``.
        """
        choices = Choices(k, threshold, 1, oracle)
        named, trace = [], []
        for number in range(self.whole):
            symbols, values = tagged_estimates(tally, number, choices)
            best = values.argmax(axis=0)
            named.append(symbols[best])
            part, users = self.parts[number], len(tally.parts[number])
            names, estimates = self.strings.decode(symbols[best]), values.max(axis=0)
            trace.append(Step(part.label, part.last, users, values.size, names, estimates, first=part.first))
        rows = np.hstack(named)
        rows[np.logical_or.accumulate(rows == 0, axis=1)] = 0  # a string ends at its first pad symbol
        candidates = np.unique(rows, axis=0)
        return conclude(tally, self.whole, candidates, choices, tuple(trace))
