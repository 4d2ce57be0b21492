"""Base of all searches: strings that cannot be listed, a part that reports whole strings, and ``tally.search``."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from ..core.accumulator import Accumulator
from ..core.domain import Strings
from ..core.errors import ParameterError
from ..core.grouped import Grouped
from ..core.grouped_accumulator import GroupedAccumulator
from ..core.laws import Decoder
from ..core.levers import Levers
from ..core.parts import PartDecoder
from ..core.probability import EpsilonLike, exact_epsilon
from ..core.randomness import RandomLike
from ..core.scheme import EXAMPLE_DOMAINS, EXAMPLE_SEED, OracleMaker, Scheme, expect_maker, required
from ..core.wording import nearest, shown
from .folded_parts import Fold
from .heavy_hitters import HeavyHitters
from .string_parts import Part

_SMALL: dict[str, Any] = {"start": 1, "step": 1, "fragment": 1, "hash_bits": 1, "hash_seed": EXAMPLE_SEED}
"""Parameters of small examples."""


class PrefixLevel(NamedTuple):
    """Prefixes of one length, with the share of users who report them and the oracle that they use."""

    length: int
    share: Fraction
    oracle: Scheme


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Search(Grouped):
    """A search for heavy hitters among strings that cannot be listed: users report once, then the search runs."""

    domain: Strings

    accepts = (Strings,)
    next_step: ClassVar[str] = ""
    """Instruction for using the result if the search is not over after it."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """Parts of a string that users of any search report."""

    @property
    @abstractmethod
    def whole(self) -> int:
        """Index of the part that reports whole strings; the number of parts if a search has none that does."""

    @abstractmethod
    def search(self, tally: SearchTally) -> HeavyHitters:
        """Find the most common strings, as every search does; the analyst's options are keywords with defaults."""

    @property
    def prefix_levels(self) -> tuple[PrefixLevel, ...]:
        """Prefixes that any search weighs together, by length; empty if it judges them one by one.

        They determine how common a string must be to be found.
        """
        return ()

    @property
    def choices(self) -> tuple[str, ...]:
        """Names of the options of any search, the keywords of ``search``."""
        return tuple(name for name in inspect.signature(self.search).parameters if name != "tally")

    @property
    def strings(self) -> Strings:
        """Domain of any search, as ``Strings``."""
        return self.domain

    @property
    def accumulator_type(self) -> type[Accumulator]:
        return SearchTally

    def accumulator(self) -> SearchTally:
        """An empty tally of the search."""
        tally = super().accumulator()
        assert isinstance(tally, SearchTally)
        return tally

    def simulate(self, counts: object, rng: RandomLike | None = None) -> SearchTally:
        tally = super().simulate(counts, rng)
        assert isinstance(tally, SearchTally)
        return tally

    def estimator(self) -> Decoder:
        return PartDecoder(self.parts[self.whole], self.whole, self.share(self.whole))

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Any, through: OracleMaker | None = None, **own: Any) -> Scheme:
        # Prefixes, fragments and tags as short as possible, and oracles over Keys(), which accept any part. ``own``:
        # further parameters of the search.
        made = expect_maker(through, cls.name)
        small = {field.name: _SMALL[field.name] for field in fields(cls) if field.name in _SMALL}

        def with_parts(each: Fraction) -> Scheme:
            parts = dict.fromkeys(required(cls), made(each, EXAMPLE_DOMAINS["keys"]))
            return cls(domain=domain, **parts | small | own)

        asked = exact_epsilon(epsilon)
        return with_parts(asked * asked / with_parts(asked).epsilon)  # parts that are sent together share epsilon

    @property
    def whole_share(self) -> Fraction:
        """Share of the users of any search who report whole strings; counts are scaled up from them."""
        label = self.parts[self.whole].label
        return sum((self.share(i) for i, part in enumerate(self.parts) if part.label == label), Fraction(0))

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        # The contribution of a report to the count of a given string.
        ends = self.parts[self.whole].contribution()
        return ends and (ends[0] / self.whole_share, ends[1] / self.whole_share)

    def levers(self, asked: int) -> Levers | None:
        # Strings that share cells are solved for together, which adds the leverages of several to the count of one.
        folded = any(isinstance(part, Fold) for part in self.parts)
        return None if folded and asked > 1 else super().levers(asked)

    def seconds(self, n: int, asked: int) -> float:
        # Measured time of the search itself: 0.4 s for 6 symbols, 2 s for 64.
        return super().seconds(n, 0) + 0.25 + 0.03 * self.strings.length

    def shrunk(self, size: int) -> Scheme:
        # A smaller alphabet, and oracles with fewer coins; the groups and their draws stay the same.
        letters = max(1, min(self.strings.symbols - 1, size // 4))
        strings = replace(self.strings, alphabet=self.strings.alphabet[:letters], other=False)
        changes: dict[str, Any] = {"domain": strings}
        for field in fields(self):
            oracle = getattr(self, field.name)
            if isinstance(oracle, Scheme):
                changes[field.name] = self._shrunk_oracle(oracle, size, strings.symbols)
        return replace(self, **changes)

    def _shrunk_oracle(self, oracle: Scheme, size: int, symbols: int) -> Scheme:
        if oracle.domain.hash_seed is None:
            own = [part for part in self.parts if part.scheme is oracle]
            return oracle.shrunk(max(part.count_of(symbols) for part in own))
        # The coins of a sketch depend on its number of cells; other oracles over Keys() need few coins.
        return replace(oracle.shrunk(size), domain=oracle.domain) if oracle.channels is not None else oracle


class SearchTally(GroupedAccumulator):
    """The reports of a search. ``search`` may be called any number of times, with different options."""

    scheme: Search
    usual = (*GroupedAccumulator.usual, "search")

    def search(self, **options: Any) -> HeavyHitters:
        """Find the most common strings, with the options of the scheme's ``search``: ``tally.search(k=10)``."""
        for name in options:
            if name not in self.scheme.choices:
                raise ParameterError(f"unknown option {shown(name)}; {nearest(name, self.scheme.choices)}")
        found = self.scheme.search(self, **options)
        levers = self.scheme.levers(len(found))
        return replace(found, strings=self.scheme.strings, cautions=self.cautions, levers=levers)
