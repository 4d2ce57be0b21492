"""SFP: the sequence fragment puzzle, in which users report a tagged fragment, and the whole string or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.arguments import json_integer, whole_number
from ..core.errors import ParameterError
from ..core.laws import Decoder
from ..core.parts import part_decoder
from ..core.probability import EpsilonLike
from ..core.scheme import EXAMPLE_DOMAINS, OracleMaker, Scheme
from .base import Search, SearchTally
from .fragments import FragmentMean, fragment_parts, joined_fragments, tagged_estimates
from .heavy_hitters import HeavyHitters
from .prefixes import Choices, best_strings, conclude, prefix_part
from .splits import BUDGET, NONE, USERS, expect_split, split_fields, split_groups, split_weights
from .string_parts import Part, Tag
from .trace import Step


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SFP(Search):
    """The sequence fragment puzzle (Apple 2017; paper, section 5): report a tagged fragment *and* the whole string.

    Each user reports one random fragment of ``fragment`` characters, tagged with ``hash_bits`` bits of a hash of the
    string, through ``oracle``, and the whole string through ``word_oracle``. The search takes the ``keep`` most common
    tagged fragments of every position and joins those with the same tag. With ``split="users"`` one half of the users
    reports a fragment and the other half the whole string, each with all of the budget. With ``split="none"`` and
    ``word_oracle=None`` all users report a fragment only; counts are then means over the fragments of a string, too
    high by the users of other strings with the same fragment and tag.
    Privacy: the sum of both epsilons, because both reports are sent; give each oracle half of the total. Otherwise the
    larger epsilon of the two; give each oracle all of it.
    Variance: that of ``word_oracle`` over all users; with split users, scaled up from half of them. Counts from
    fragments have none.
    Cost: both reports and a byte, otherwise the longer report; A^fragment * 2^hash_bits candidates per position.

    >>> import plausibly
    >>> oracle = plausibly.make("FLH", epsilon="1.5", domain=plausibly.Keys())
    >>> strings = plausibly.Strings("abcdefgh", 6)
    >>> scheme = plausibly.make("SFP", oracle=oracle, word_oracle=oracle, domain=strings)
    >>> scheme.epsilon, len(scheme.parts)
    (Fraction(3, 1), 4)
    >>> plausibly.make("SFP", oracle=oracle, word_oracle=oracle, domain=strings, split="users").epsilon
    Fraction(3, 2)
    >>> len(plausibly.make("SFP", oracle=oracle, word_oracle=None, domain=strings, split="none").parts)
    3
    """

    name = "SFP"

    oracle: Scheme
    word_oracle: Scheme | None
    fragment: int = 2
    hash_bits: int = 8
    hash_seed: int = 0
    split: str = BUDGET

    def validate(self) -> None:
        expect_split(self.split, BUDGET, USERS, NONE)
        if self.split == NONE and self.word_oracle is not None:
            raise ParameterError("word_oracle: expected nothing if split is none, got a scheme")
        object.__setattr__(self, "hash_bits", whole_number("hash_bits", self.hash_bits, 0, 16))
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))
        super().validate()

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        texts = EXAMPLE_DOMAINS["strings"]
        split = cls.example(epsilon, texts, through, split=USERS)
        alone = cls.example(epsilon, texts, through, split=NONE, word_oracle=None)
        return super().examples(through, epsilon=epsilon) | {"users split": split, "fragments alone": alone}

    @cached_property
    def string_tag(self) -> Tag:
        """Tag by which the puzzle recognises the fragments of the same string."""
        return Tag(self.hash_seed, self.hash_bits)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        size = whole_number("fragment", self.fragment, 1, self.strings.length)
        pieces = fragment_parts(self.oracle, self.strings, size, self.string_tag)
        if self.split == NONE:
            return pieces
        return (*pieces, prefix_part(self.word_oracle, self.strings, self.strings.length, role="word_oracle"))

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return split_groups(self.split, self.whole)

    @property
    def group_weights(self) -> tuple[int, ...]:
        return split_weights(self.split, self.whole)

    @property
    def whole(self) -> int:
        return len(self.parts) - (self.word_oracle is not None)

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        return None if self.word_oracle is None else super().contribution()

    def estimator(self) -> Decoder:
        return self._fragment_mean({}) if self.word_oracle is None else super().estimator()

    def _fragment_mean(self, options: Mapping[str, Any]) -> FragmentMean:
        decoders = [part_decoder(part, options) for part in self.parts]
        return FragmentMean(self.parts, tuple(decoders), tuple(map(self.share, range(self.whole))))

    @property
    def parameters(self) -> dict[str, Any]:
        words = {} if self.word_oracle is None else {"word_oracle": self.word_oracle.to_dict()}
        hashing = {"hash_bits": self.hash_bits, "hash_seed": json_integer(self.hash_seed)}
        fields = {"oracle": self.oracle.to_dict(), **words, "fragment": self.fragment}
        return fields | hashing | split_fields(self.split)

    @classmethod
    def from_dict(
        cls, given: Mapping[str, Any], parts: Mapping[str, Scheme | tuple[Scheme, ...]] = MappingProxyType({})
    ) -> Scheme:
        # A scheme without whole strings has no field for them, and says so in another: none is missing by accident.
        absent: dict[str, Any] = {"word_oracle": None} if given.get("split") == NONE else {}
        return super().from_dict(given, {**absent, **parts})

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
        candidates = joined_fragments(self.strings, pieces, self.string_tag)
        if self.word_oracle is not None:
            return conclude(tally, self.whole, candidates, choices, tuple(trace))
        decoder = self._fragment_mean(choices.oracle)
        counts = *decoder.estimate(tally.evidence, tally.numbers, candidates), None
        last = partial(Step, "whole strings", self.strings.length, len(tally))
        return best_strings(tally, candidates, counts, choices, history=decoder.history, trace=tuple(trace), last=last)
