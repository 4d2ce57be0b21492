"""TH: TreeHistogram, in which users report a prefix and the whole string, or one of the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ..core.errors import ParameterError
from ..core.probability import EpsilonLike
from ..core.scheme import EXAMPLE_DOMAINS, OracleMaker, Scheme
from .base import Search, SearchTally
from .heavy_hitters import HeavyHitters
from .prefixes import Choices, grow_prefixes, prefix_lengths, prefix_part
from .splits import BUDGET, USERS, expect_split, split_fields, split_groups, split_weights
from .string_parts import Part


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TH(Search):
    """TreeHistogram (Bassily, Nissim, Stemmer and Thakurta 2017; paper, section 5): report a prefix *and* the string.

    Each user reports a prefix of a random length through ``oracle`` and the whole string through ``word_oracle``. The
    search extends prefixes as PEM does, and estimates whole strings by the second oracle. With ``split="users"`` one
    half of the users reports a prefix and the other half the whole string, each with all of the budget.
    Privacy: the sum of both epsilons, because both reports are sent; give each oracle half of the total. With split
    users the larger epsilon of the two; give each oracle all of it.
    Variance: that of ``word_oracle`` over all users; with split users, scaled up from half of them.
    Cost: both reports and a byte, with split users the longer report; keep * A^step candidates per length.

    >>> import plausibly
    >>> oracle = plausibly.make("FLH", epsilon="1.5", domain=plausibly.Keys())
    >>> strings = plausibly.Strings("abcdefgh", 6)
    >>> scheme = plausibly.make("TH", oracle=oracle, word_oracle=oracle, domain=strings, start=2, step=2)
    >>> scheme.epsilon
    Fraction(3, 1)
    >>> plausibly.make("TH", oracle=oracle, word_oracle=oracle, domain=strings, split="users").epsilon
    Fraction(3, 2)
    """

    name = "TH"

    oracle: Scheme
    word_oracle: Scheme
    start: int = 2
    step: int = 2
    split: str = BUDGET

    def validate(self) -> None:
        expect_split(self.split, BUDGET, USERS)
        super().validate()

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        split = cls.example(epsilon, EXAMPLE_DOMAINS["strings"], through, split=USERS)
        return super().examples(through, epsilon=epsilon) | {"users split": split}

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Lengths of the prefixes in the tree, all shorter than the string."""
        levels = prefix_lengths(self.strings, self.start, self.step)[:-1]
        if not levels:
            raise ParameterError(f"start: expected less than the length {self.strings.length} of the strings")
        return levels

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        prefixes = [prefix_part(self.oracle, self.strings, length) for length in self.levels]
        return (*prefixes, prefix_part(self.word_oracle, self.strings, self.strings.length, role="word_oracle"))

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return split_groups(self.split, self.whole)

    @property
    def group_weights(self) -> tuple[int, ...]:
        return split_weights(self.split, self.whole)

    @property
    def whole(self) -> int:
        return len(self.levels)

    @property
    def parameters(self) -> dict[str, Any]:
        oracles = {"oracle": self.oracle.to_dict(), "word_oracle": self.word_oracle.to_dict()}
        return oracles | {"start": self.start, "step": self.step} | split_fields(self.split)

    def search(
        self,
        tally: SearchTally,
        *,
        k: int | None = 10,
        threshold: float | None = None,
        keep: int = 20,
        oracle: Mapping[str, Any] = MappingProxyType({}),
    ) -> HeavyHitters:
        """Find the k most common strings in a tree of prefixes, the ``keep`` most common of each length.

        ``threshold``: drop prefixes and strings with a lower estimated count. ``oracle``: options of the oracles'
        estimates, such as ``{"combine": "median"}``.
        """
        return grow_prefixes(tally, self.levels, Choices(k, threshold, keep, oracle))
