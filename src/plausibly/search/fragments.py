"""Fragments with a tag of their string, shared by SFP and BITSTOGRAM."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..core.domain import Strings
from ..core.domain.symbols import Rows
from ..core.errors import ParameterError, StateError
from ..core.history import History, decoding
from ..core.laws import Decoder, Floats, Scores
from ..core.parts import scaled_up
from ..core.scheme import Encoded, Scheme
from .base import SearchTally
from .prefixes import MOST_CANDIDATES, Choices, extensions, inner_pads
from .string_parts import Part, Tag


def fragment_parts(oracle: Scheme, strings: Strings, size: int, tag: Tag) -> tuple[Part, ...]:
    """Parts that report a tagged fragment of ``size`` symbols each; the last may be shorter."""
    parts = []
    for first in range(0, strings.length, size):
        last = min(first + size, strings.length)
        label = f"characters {first + 1} to {last}" if last > first + 1 else f"character {last}"
        parts.append(Part(label, oracle, strings, first, last, tag))
    return tuple(parts)


def tagged_estimates(tally: SearchTally, number: int, choices: Choices) -> tuple[Rows, Floats]:
    """Every fragment of a part, with its estimated count under each tag."""
    part, strings = tally.scheme.parts[number], tally.scheme.strings
    assert part.tag is not None
    fragments = extensions(strings, np.zeros((1, 0), dtype=strings.symbol_dtype), part.last - part.first)
    tags = 1 << part.tag.bits
    if len(fragments) * tags > MOST_CANDIDATES:
        raise ParameterError(
            f"hash_bits: expected fewer, got {len(fragments):,} fragments with {tags:,} tags, too many to estimate"
        )
    items = part.items_of(np.repeat(fragments, tags, axis=0), np.tile(np.arange(tags, dtype=np.uint64), len(fragments)))
    values, _ = tally.estimate_part(number, items, choices.oracle)
    return fragments, values.reshape(len(fragments), tags)


@dataclass(frozen=True)
class FragmentMean:
    """Counts of strings as means over their tagged fragments.

    Too high by the users of other strings with the same fragment and tag.
    """

    parts: tuple[Part, ...]
    decoders: tuple[Decoder, ...]
    shares: tuple[Fraction, ...]
    law: ClassVar[None] = None
    """The bias depends on all other strings."""

    @property
    def history(self) -> History:
        return (*self.decoders[0].history, decoding("mean of tagged fragments"))

    def scores(self, evidence: Any, n: Any, codes: Any, /) -> Scores:
        raise StateError("the mean of fragments has no integer scores; ask for estimates")

    def estimate(self, evidence: Any, n: Any, codes: Any) -> tuple[Floats, None]:
        """Mean over the fragments of each string, all scaled up to the whole crowd."""
        counts = [
            scaled_up(decoder, own, part.items(codes), float(share))[0]
            for part, decoder, share, own in zip(self.parts, self.decoders, self.shares, evidence, strict=True)
        ]
        return np.mean(counts, axis=0), None


def joined_fragments(strings: Strings, fragments: list[tuple[Rows, Encoded]], tag: Tag) -> Rows:
    """Every string whose tagged fragments all occur under the string's own tag."""
    found = []
    for common in sorted(set.intersection(*(set(tags.tolist()) for _, tags in fragments))):
        whole = np.zeros((1, 0), dtype=strings.symbol_dtype)
        for rows, tags in fragments:
            own = rows[tags == common]
            if len(whole) * len(own) > MOST_CANDIDATES:
                raise ParameterError(
                    "keep: too many combinations to try; take a smaller keep, or a scheme with more hash_bits"
                )
            whole = np.hstack([np.repeat(whole, len(own), axis=0), np.tile(own, (len(whole), 1))])
            whole = whole[~inner_pads(whole)]
        found.append(whole[tag.of(whole) == common])
    whole = np.vstack([np.zeros((0, strings.length), dtype=strings.symbol_dtype), *found])
    return np.unique(whole, axis=0)  # in alphabetical order, which breaks ties between estimates
