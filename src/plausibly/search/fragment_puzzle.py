"""SFP: the sequence fragment puzzle, in which users report a tagged fragment and the whole string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.arguments import json_integer, whole_number
from ..core.scheme import Scheme
from .base import Search, SearchTally
from .fragments import fragment_parts, joined_fragments, tagged_estimates
from .heavy_hitters import HeavyHitters
from .prefixes import Choices, conclude, prefix_part
from .string_parts import Part, Tag
from .trace import Step


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SFP(Search):
    """The sequence fragment puzzle (Apple 2017; paper, section 5): report a tagged fragment *and* the whole string.

    Each user reports one random fragment of ``fragment`` characters, tagged with ``hash_bits`` bits of a hash of the
    string, through ``oracle``, and the whole string through ``word_oracle``. The search takes the ``keep`` most common
    tagged fragments of every position and joins those with the same tag.
    Privacy: the sum of both epsilons, because both reports are sent; give each oracle half of the total.
    Variance: that of ``word_oracle`` over all users.
    Cost: both reports and a byte; A^fragment * 2^hash_bits candidates per position.

    >>> import plausibly
    >>> oracle = plausibly.make("FLH", epsilon="1.5", domain=plausibly.Keys())
    >>> strings = plausibly.Strings("abcdefgh", 6)
    >>> scheme = plausibly.make("SFP", oracle=oracle, word_oracle=oracle, domain=strings)
    >>> scheme.epsilon, len(scheme.parts)
    (Fraction(3, 1), 4)
    """

    name = "SFP"

    oracle: Scheme
    word_oracle: Scheme
    fragment: int = 2
    hash_bits: int = 8
    hash_seed: int = 0

    def validate(self) -> None:
        object.__setattr__(self, "hash_bits", whole_number("hash_bits", self.hash_bits, 0, 16))
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))
        super().validate()

    @cached_property
    def string_tag(self) -> Tag:
        """Tag by which the puzzle recognises the fragments of the same string."""
        return Tag(self.hash_seed, self.hash_bits)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        size = whole_number("fragment", self.fragment, 1, self.strings.length)
        words = prefix_part(self.word_oracle, self.strings, self.strings.length, role="word_oracle")
        return (*fragment_parts(self.oracle, self.strings, size, self.string_tag), words)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i, self.whole) for i in range(self.whole))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return (1,) * self.whole

    @property
    def whole(self) -> int:
        return len(self.parts) - 1

    @property
    def parameters(self) -> dict[str, Any]:
        oracles = {"oracle": self.oracle.to_dict(), "word_oracle": self.word_oracle.to_dict()}
        hashing = {"hash_bits": self.hash_bits, "hash_seed": json_integer(self.hash_seed)}
        return oracles | {"fragment": self.fragment} | hashing

    def search(
        self,
        tally: SearchTally,
        *,
        k: int | None = 10,
        threshold: float | None = None,
        keep: int = 20,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> HeavyHitters:
        """Find the k most common strings by the fragment puzzle, from ``keep`` tagged fragments per position.

        ``threshold``: drop fragments and strings with a lower estimated count. ``oracle``: options of the oracles'
        estimates, such as ``{"combine": "median"}``.
        """
        choices = Choices(k, threshold, keep, oracle)
        pieces, trace = [], []
        for number in range(self.whole):
            fragments, values = tagged_estimates(tally, number, choices)
            best = choices.best(values.reshape(-1), choices.keep)
            rows, tags = np.divmod(best, values.shape[1])
            pieces.append((fragments[rows], tags.astype(np.uint64)))
            part, users = self.parts[number], len(tally.parts[number])
            names, estimates = self.strings.decode(fragments[rows]), values.reshape(-1)[best]
            trace.append(Step(part.label, part.last, users, values.size, names, estimates, first=part.first))
        return conclude(
            tally, self.whole, joined_fragments(self.strings, pieces, self.string_tag), choices, tuple(trace)
        )
