"""TRELLIS: this library's own search, which follows the most probable strings through growing prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.arguments import json_integer, whole_number
from ..core.domain import Integers, expect_domain
from ..core.domain.symbols import Rows
from ..core.errors import ParameterError
from ..core.grouped import weights_of
from ..core.history import search_by
from ..core.laws import CountMean, Decoder, Estimator
from ..core.probability import EpsilonLike
from ..core.scheme import EXAMPLE_SEED, OracleMaker, Scheme, expect_maker
from ..core.selection import TOLD, Selection
from ..core.tails import third_moment
from ..core.wording import shown
from ..core.words import Words, kind_of
from .base import PrefixLevel, Search, SearchTally
from .decoding import Found, decode
from .dictionary import dictionary_of
from .evidence import Evidence, Floats, Level, Numbers, Symbols
from .folded_parts import Fold, block_size
from .heavy_hitters import HeavyHitters
from .letter_prior import ordinary_text
from .multiple_testing import significance_level
from .prefixes import prefix_lengths, prefix_part
from .significance import adjusted_p_values, significant
from .string_parts import Part
from .trace import Step
from .whole_strings import Group, WholeStrings

MOST_FOUND = 1000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TRELLIS(Search):
    """Joint decoding of prefixes of all lengths, with a prior learned from some of the users.

    A user is in one public group and reports one thing: the symbol at one position (through ``letters``); two adjacent
    symbols (``pairs``); the first ``start`` symbols (``first``); or one of the longer prefixes, folded into the cells
    of ``folded`` (``deep`` for all but the shortest of these) in one of ``cohorts`` ways. ``weights`` are those of the
    groups, in this order. The preset ``plausibly.TRELLIS`` is the recommended way to make this scheme.
    Derivation: docs/adr/0011-trellis.md.
    Privacy: the largest epsilon of the oracles, because a user reports through one of them.
    Variance of the count of a given string: that of the oracle of the longest prefixes, divided by the square of the
    share of users who report these, plus the variance due to sampling these users and to shared cells.
    Cost: the longest oracle's report and a byte; the state has the cells of all oracles; the search takes 0.4 s for 6
    symbols and 2 s for 64.

    >>> import plausibly
    >>> scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("abcdefgh", 6), users=10_000)
    >>> tally = scheme.simulate({"abba": 6000, "deaf": 3000, "cafe": 1000}, plausibly.SeededRandom(2))
    >>> tally.search(k=10, level=0.05).items.tolist()
    ['abba', 'deaf', 'cafe']
    """

    name = "TRELLIS"

    letters: Scheme
    first: Scheme
    weights: tuple[int, ...]
    pairs: Scheme | None = None
    folded: Scheme | None = None
    deep: Scheme | None = None
    start: int = 4
    step: int = 2
    cohorts: int = 2
    hash_seed: int = 0

    def validate(self) -> None:
        object.__setattr__(self, "cohorts", whole_number("cohorts", self.cohorts, 1, 16))
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))
        object.__setattr__(self, "deep", self.deep or self.folded)
        for name in ("letters", "pairs", "first", "folded", "deep"):
            oracle = getattr(self, name)
            if oracle is not None and not isinstance(oracle, Scheme):
                raise ParameterError(Words(f"{name}: expected a scheme with a domain_size, got ", kind_of(oracle)))
            # The decoder estimates all items of the oracle.
            if oracle is not None and oracle.domain.cells is None:
                raise ParameterError(f"{name}: expected a scheme with a domain_size, got one over another domain")
        super().validate()

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Lengths of the prefixes that users of TRELLIS report."""
        return prefix_lengths(self.strings, self.start, self.step)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return (
            *self.letter_parts,
            *self.pair_parts,
            self.first_part,
            *(fold for level in self.folds for fold in level),
        )

    @cached_property
    def letter_parts(self) -> tuple[Part, ...]:
        """Parts of TRELLIS that report the symbol at each position."""
        places = range(self.strings.length)
        return tuple(Part(f"character {i + 1}", self.letters, self.strings, i, i + 1, role="letters") for i in places)

    @cached_property
    def pair_parts(self) -> tuple[Part, ...]:
        """Parts of TRELLIS that report the two symbols from each position on; none without ``pairs``."""
        if self.pairs is None:
            return ()
        pairs, places = self.pairs, range(self.strings.length - 1)
        return tuple(
            Part(f"characters {i + 1} and {i + 2}", pairs, self.strings, i, i + 2, role="pairs") for i in places
        )

    @cached_property
    def first_part(self) -> Part:
        """Part of TRELLIS that reports the shortest prefix."""
        return prefix_part(self.first, self.strings, self.levels[0], role="first")

    @cached_property
    def folds(self) -> tuple[tuple[Fold, ...], ...]:
        """Parts of TRELLIS that report the longer prefixes: for each length, one per cohort."""
        levels = []
        for stem, last in pairwise(self.levels):
            scheme = self.folded if stem == self.levels[0] else self.deep
            self._check_cells(scheme, block_size(self.strings.symbols, last - stem))
            assert scheme is not None
            fold = Fold(f"first {last} characters", scheme, self.strings, 0, last, stem=stem, hash_seed=self.hash_seed)
            levels.append(tuple(replace(fold, cohort=cohort) for cohort in range(self.cohorts)))
        return tuple(levels)

    def _check_cells(self, scheme: Scheme | None, block: int) -> None:
        if not isinstance(scheme, Scheme) or scheme.domain.cells is None:
            raise ParameterError("folded: expected a scheme with a domain_size, its number of cells, got another")
        if scheme.size & scheme.size - 1 or scheme.size < block:
            raise ParameterError(f"folded: expected a power of two of at least {block} cells, got {shown(scheme.size)}")

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Any, through: OracleMaker | None = None, **own: Any) -> Scheme:
        expect_domain(domain, cls.accepts, cls.name)
        made, symbols, block = expect_maker(through, cls.name), domain.symbols, block_size(domain.symbols, 1)
        sizes = {"letters": symbols, "pairs": symbols**2, "first": symbols, "folded": 2 * block, "deep": 4 * block}
        tables: dict[str, Any] = {table: made(epsilon, Integers(size)) for table, size in sizes.items()}
        weights = tuple(range(1, 4 * domain.length - 1))
        return cls(domain=domain, weights=weights, start=1, step=1, hash_seed=EXAMPLE_SEED, **tables | own)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i,) for i in range(len(self.parts)))

    @cached_property
    def group_weights(self) -> tuple[int, ...]:
        return weights_of(self.weights, len(self.groups), ())

    @property
    def whole(self) -> int:
        return len(self.parts) - 1

    @property
    def prefix_levels(self) -> tuple[PrefixLevel, ...]:
        start = self.parts.index(self.first_part)
        found = [PrefixLevel(self.levels[0], self.share(start), self.first)]
        for i, folds in enumerate(self.folds):
            own = range(start + 1 + i * self.cohorts, start + 1 + (i + 1) * self.cohorts)
            found.append(PrefixLevel(folds[0].last, sum(map(self.share, own), Fraction(0)), folds[0].scheme))
        return tuple(found)

    def estimator(self) -> Decoder:
        if not self.folds:
            return super().estimator()
        numbers = range(self.parts.index(self.first_part), len(self.parts))
        groups = [Group(self.parts[number], number, self.share(number)) for number in numbers]
        # A sketch in place of the first oracle helps to find strings, but its counts follow another law.
        linear = [group for group in groups if isinstance(group.part.scheme.estimator(), Estimator)]
        return WholeStrings(tuple(linear), self.strings.length)

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        decoder = self.estimator()
        return decoder.contribution() if isinstance(decoder, WholeStrings) else super().contribution()

    def shrunk(self, size: int) -> Scheme:
        letters = max(1, min(self.strings.symbols - 1, size // 8))
        strings = replace(self.strings, alphabet=self.strings.alphabet[:letters], other=False)
        changes: dict[str, Any] = {"domain": strings}
        for name, items in (("letters", 1), ("pairs", 2), ("first", self.levels[0])):
            oracle = getattr(self, name)
            changes[name] = oracle and oracle.shrunk(max(2, strings.symbols**items))
        for name in ("folded", "deep"):
            oracle = getattr(self, name)
            changes[name] = oracle and oracle.shrunk(2 * block_size(strings.symbols, self.step))
        return replace(self, **changes)

    @property
    def parameters(self) -> dict[str, Any]:
        given = {"letters": self.letters, "pairs": self.pairs, "first": self.first}
        given |= {"folded": self.folded, "deep": self.deep}
        return {name: scheme.to_dict() for name, scheme in given.items() if scheme is not None} | {
            "weights": list(self.group_weights),
            "start": self.start,
            "step": self.step,
            "cohorts": self.cohorts,
            "hash_seed": json_integer(self.hash_seed),
        }

    def search(
        self, tally: SearchTally, *, k: int = 10, level: float | None = None, dictionary: Sequence[Any] | None = None
    ) -> HeavyHitters:
        """Find the k strings that are most probably the most common, decoded by TRELLIS, best first.

        ``level``: return only significant strings, those with a p-value of at most ``level``. p-values are adjusted for
        all possible strings: the chance that any string without holders is returned is at most ``level``.
        ``dictionary``: strings that are publicly known to be likely, as a list or an array. They are found with less
        evidence; other strings are still found.
        """
        known = dictionary_of(dictionary, self.strings)
        k = whole_number("k", k, 1, MOST_FOUND)
        level = None if level is None else significance_level(level)
        evidence = self.evidence(tally)
        found = decode(evidence, k, known)
        chances, weights = significant(
            evidence, found.model, found.strings, found.own, found.noise, k=k, alpha=1, dictionary=known
        )
        p_values = adjusted_p_values(chances, weights)
        values, variance = self._counts(tally, found.strings, p_values <= TOLD)
        allowed = np.flatnonzero((values > 0) & (p_values <= (1.0 if level is None else level)))
        # The most common first; at the end, strings that cannot be told apart from noise.
        chosen = allowed[:k]
        chosen = chosen[np.lexsort((-values[chosen], p_values[chosen] > TOLD))]
        return HeavyHitters(
            items=self._texts(found.strings[chosen]),
            values=values[chosen],
            variance=None if variance is None else variance[chosen],
            n=len(tally),
            complete=False,
            history=(search_by(self.name),),
            selection=_selection(found, values, weights, chosen, allowed[k:], level),
            p_values=p_values[chosen],
            trace=self._trace(found, tally),
            dictionary=frozenset() if known is None else frozenset(self._texts(known.strings)),
            judged=dict(zip(self._texts(found.strings).tolist(), p_values.tolist(), strict=True)),
        )

    def evidence(self, tally: SearchTally) -> Evidence:
        """Decoded reports of all groups of TRELLIS."""
        strings, n, reported = self.strings, len(tally), tally.evidence
        numbers = {part: number for number, part in enumerate(self.parts)}

        def counts(part: Part) -> _Counted:
            own = reported[numbers[part]]
            scale = n / max(own.users, 1)
            decoder = part.scheme.estimator()
            if isinstance(decoder, Estimator):
                values = decoder.values(own.evidence, own.users, None)
            else:
                values, _ = decoder.estimate(own.evidence, own.numbers, None)
            if not isinstance(part, Fold):
                values = values[: part.count]  # the oracle's domain may be larger
            noise = part.scheme.variance(own.users) * scale**2 if own.users else np.inf
            low, high = (end * scale for end in part.scheme.ends() or (0.0, 0.0))
            return _Counted(values * scale, noise, own.users, high, high - low)

        def shares(parts: Sequence[Part]) -> tuple[Floats, Floats]:
            found = [counts(part) for part in parts]
            users = max(n, 1)
            return np.stack([own.values / users for own in found]), np.array([own.noise / users**2 for own in found])

        letters, letters_variance = shares(self.letter_parts)
        pairs, pairs_variance = shares(self.pair_parts) if self.pair_parts else (None, None)
        first = counts(self.first_part)
        levels = tuple(self._level(folds, [counts(fold) for fold in folds], n) for folds in self.folds)

        def places(level: int, stems: Symbols) -> tuple[Numbers, Numbers]:
            rows = stems.astype(strings.symbol_dtype)
            found = [fold.places(rows) for fold in self.folds[level]]
            return np.stack([starts for starts, _ in found]), np.stack([rotations for _, rotations in found])

        return Evidence(
            symbols=strings.symbols,
            length=strings.length,
            n=n,
            start=self.levels[0],
            letters=letters,
            letters_variance=letters_variance,
            pairs=None if pairs is None else pairs.reshape(-1, strings.symbols, strings.symbols),
            pairs_variance=pairs_variance,
            first=first.values.astype(np.float32),
            first_variance=first.noise,
            first_users=first.users,
            first_third=first.third,
            first_jump=first.jump,
            levels=levels,
            places=places,
            text=ordinary_text(strings),
        )

    def _level(self, folds: Sequence[Fold], found: Sequence[_Counted], n: int) -> Level:
        count_mean = CountMean(folds[0].scheme.size)
        scale = float(count_mean.scale)
        return Level(
            length=folds[0].last,
            step=folds[0].last - folds[0].stem,
            block=folds[0].block,
            tables=np.stack([count_mean.counts(own.values, n).astype(np.float32) for own in found]),
            variance=max(own.noise for own in found) * scale**2,
            users=sum(own.users for own in found),
            third=max(own.third for own in found) * scale**3,
            jump=max(own.jump for own in found) * scale,
        )

    def _counts(self, tally: SearchTally, found: Symbols, real: npt.NDArray[np.bool_]) -> tuple[Floats, Floats | None]:
        # Counts of found strings; ``real``: those that can be told apart from noise.
        decoder, rows = self.estimator(), self._rows(found)
        if isinstance(decoder, WholeStrings):
            return decoder.of_found(tally.evidence, len(tally), rows, real)
        return decoder.estimate(tally.evidence, tally.numbers, rows)

    def _trace(self, found: Found, tally: SearchTally) -> tuple[Step, ...]:
        steps = []
        first = self.parts.index(self.first_part)
        for i, stage in enumerate(found.trace):
            start = first + 1 + (i - 1) * self.cohorts if i else first
            users = sum(len(part) for part in tally.parts[start : start + (self.cohorts if i else 1)])
            names = self._texts(stage.prefixes)
            steps.append(Step(self.parts[start].label, stage.length, users, stage.looked_at, names, stage.counts))
        return tuple(steps)

    def _texts(self, strings: Symbols) -> npt.NDArray[Any]:
        return self.strings.decode(self._rows(strings))

    def _rows(self, strings: Symbols) -> Rows:
        return strings.astype(self.strings.symbol_dtype)


class _Counted(NamedTuple):
    """Counts of all items of a part, scaled up to all users, and the noise of an item without holders."""

    values: Floats
    noise: float
    """Variance of an item without holders."""
    users: int
    most: float
    """Most that a report adds to a count; 0 if this is not known."""
    jump: float
    """How much more a report adds to a count that it supports than to others."""

    @property
    def third(self) -> float:
        """Third moment of an item without holders."""
        return self.users * float(third_moment(self.noise / self.users, self.most)) if self.users else 0.0


def _selection(
    found: Found, values: Floats, weights: Floats, chosen: Numbers, beaten: Numbers, level: float | None
) -> Selection:
    # ``values`` estimate the counts by a law, ``found.own`` are robust counts of the same groups, which chose.
    least = np.full(len(chosen), -np.inf)
    if len(beaten):
        least = found.ranking.least(chosen, float(found.posterior[beaten].max()))
    noise, shift = found.noise.picked(chosen), values[chosen] - found.own[chosen]
    return Selection.beyond(least, noise, weights[chosen], level, shift=shift)
