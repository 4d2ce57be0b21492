"""ROUND and Rounds: an interactive search, in which fresh users report how the surviving prefixes continue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.collisions import Collisions
from ..core.domain import Integers, Strings, expect_domain
from ..core.domain.symbols import Rows, symbol_numbers, symbol_rows
from ..core.errors import DomainError, ParameterError, StateError
from ..core.history import decoding, search_by
from ..core.laws import Codes, Decoder, Floats
from ..core.parts import PartDecoder
from ..core.probability import EpsilonLike
from ..core.scheme import Encoded, OracleMaker, Scheme, expect_maker
from ..core.selection import of_largest
from ..core.tails import Noise
from ..core.wording import shown
from ..core.words import Kind, Words
from .base import Search, SearchTally
from .heavy_hitters import HeavyHitters
from .multiple_testing import adjusted, significance_level
from .prefixes import Choices, inner_pads, prefix_lengths
from .string_parts import Part, as_bytes, content_keys
from .trace import Step

_MOST_PREFIXES = 2**20


@dataclass(frozen=True)
class Extension(Part):
    """A part that reports the symbols that follow a published prefix, or that no published prefix matches.

    The extensions of prefix number i are the items from i * A^(last - stem) on; the last item means "no match".
    """

    prefixes: tuple[str | bytes, ...] = ()
    stem: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.scheme, Scheme):
            cells = self.scheme.domain.cells
            if cells is None or cells < self.count:
                raise ParameterError(
                    f"{self.role}: expected a scheme with a domain_size of at least {shown(self.count)}"
                )
        super().__post_init__()

    @property
    def more(self) -> int:
        """Number of extensions of a prefix in one round."""
        return self.more_of(self.strings.symbols)

    def more_of(self, symbols: int) -> int:
        """Number of extensions of a prefix in one round, for an alphabet of ``symbols``."""
        more: int = symbols ** (self.last - self.stem)
        return more

    def count_of(self, symbols: int) -> int:
        return len(self.prefixes) * self.more_of(symbols) + 1

    @cached_property
    def rows(self) -> Rows:
        """The prefixes published to the fresh users of one round of an interactive search, as symbols."""
        return self.strings.literal(list(self.prefixes))[:, : self.stem]

    @cached_property
    def _by_key(self) -> tuple[Encoded, npt.NDArray[np.intp]]:
        keys = content_keys(as_bytes(self.rows), 0, b"prefix")
        order = np.argsort(keys)
        return keys[order], order

    def items(self, rows: Rows) -> Encoded:
        own = rows[:, : self.stem]
        keys, order = self._by_key
        place = np.searchsorted(keys, content_keys(as_bytes(own), 0, b"prefix"))
        number = order[np.minimum(place, len(keys) - 1)]
        # Found by their keys, then compared: two different prefixes may have the same key.
        fits = (self.rows[number] == own).all(axis=1)
        item = number.astype(np.uint64) * np.uint64(self.more)
        item += symbol_numbers(rows[:, self.stem : self.last], self.strings.symbols)
        return np.where(fits, item, np.uint64(len(self.prefixes) * self.more))


@dataclass(frozen=True)
class _Extended(PartDecoder):
    """Counts of users whose strings begin with the given ones, which must extend a published prefix."""

    part: Extension

    def estimate(self, evidence: Any, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        assert codes is not None
        if (self.part.items(codes) == self.part.count - 1).any():
            raise DomainError("items: expected strings that begin with a published prefix, got others")
        return super().estimate(evidence, n, codes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ROUND(Search):
    """One round of an interactive search (as in TrieHH, Zhu et al. 2020): report how published prefixes continue.

    ``prefixes`` are the surviving prefixes of ``stem`` characters (one empty prefix in the first round). Users whose
    string begins with one of them report its first ``reach`` characters; the others report that none matches.
    Privacy: the oracle's.
    Variance: the oracle's, because all users of the round report.
    Cost: the oracle's report and a byte. ``plausibly.ROUNDS`` runs a whole search.

    >>> import plausibly
    >>> strings = plausibly.Strings("abcdefgh", 6)
    >>> oracle = plausibly.make("TLH", epsilon=3, domain_size=2 * 9**2 + 1)
    >>> scheme = plausibly.make("ROUND", oracle=oracle, prefixes=["ab", "de"], stem=2, reach=4, domain=strings)
    >>> tally = scheme.simulate({"abba": 6000, "deaf": 3000, "cafe": 1000}, plausibly.SeededRandom(1))
    >>> tally.search(k=2).items.tolist()
    ['abba', 'deaf']
    """

    name = "ROUND"
    next_step = (
        "This is one round of an interactive search: it finds beginnings of strings, which fresh users "
        "continue in the next round (plausibly.ROUNDS in Python)."
    )

    oracle: Scheme
    prefixes: tuple[str | bytes, ...]
    stem: int
    reach: int

    def validate(self) -> None:
        self.check_domain()
        object.__setattr__(self, "stem", whole_number("stem", self.stem, 0, self.strings.length - 1))
        object.__setattr__(self, "reach", whole_number("reach", self.reach, self.stem + 1, self.strings.length))
        object.__setattr__(self, "prefixes", self._published(self.prefixes))
        super().validate()

    def _published(self, given: object) -> tuple[str | bytes, ...]:
        # Distinct and sorted, so that the same prefixes always make the same scheme.
        if isinstance(given, str | bytes) or not isinstance(given, Sequence) or not 1 <= len(given) <= _MOST_PREFIXES:
            raise ParameterError(f"prefixes: expected a list of 1 to {_MOST_PREFIXES} prefixes")
        kind, prefixes = type(self.strings.alphabet), list(given)
        if kind is bytes and all(isinstance(prefix, str) for prefix in prefixes):
            prefixes = _from_hex(prefixes)  # as in JSON
        if not all(isinstance(prefix, kind) and len(prefix) <= self.stem for prefix in prefixes):
            raise ParameterError(
                Words("prefixes: expected ", Kind(kind), f" of at most {self.stem} characters, got others")
            )
        try:
            rows = self.strings.literal(prefixes)
        except DomainError:
            raise ParameterError("prefixes: expected characters of the alphabet only, got others") from None
        # Characters outside the alphabet, if accepted, all become the same symbol.
        return tuple(sorted(set(self.strings.decode(rows).tolist())))

    @cached_property
    def extension(self) -> Extension:
        """The only part of a round."""
        label = f"characters {self.stem + 1} to {self.reach}"
        ends = {"stem": self.stem, "prefixes": self.prefixes}
        return Extension(label, self.oracle, self.strings, 0, self.reach, **ends)  # type: ignore[arg-type]

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.extension,)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return ((0,),)

    @property
    def group_weights(self) -> tuple[int, ...]:
        return (1,)

    @property
    def whole(self) -> int:
        return 0

    @property
    def parameters(self) -> dict[str, Any]:
        prefixes = [prefix if isinstance(prefix, str) else prefix.hex() for prefix in self.prefixes]
        return {"oracle": self.oracle.to_dict(), "prefixes": prefixes, "stem": self.stem, "reach": self.reach}

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Any, through: OracleMaker | None = None, **own: Any) -> Scheme:
        expect_domain(domain, cls.accepts, cls.name)
        # Prefixes long enough that a report is about one string.
        reach = min(domain.length, 3)
        oracle = expect_maker(through, cls.name)(epsilon, Integers(domain.symbols**reach + 1))
        return cls(domain=domain, oracle=oracle, prefixes=(domain.alphabet[:0],), stem=0, reach=reach, **own)

    def estimator(self) -> Decoder:
        return _Extended(self.extension, 0, Fraction(1))

    def shrunk(self, size: int) -> Scheme:
        letters = max(1, min(self.strings.symbols - 1, size // 4))
        strings = replace(self.strings, alphabet=self.strings.alphabet[:letters], other=False)
        oracle = self.oracle.shrunk(strings.symbols ** (self.reach - self.stem) + 1)
        return replace(self, domain=strings, oracle=oracle, prefixes=(strings.alphabet[:1] * self.stem,))

    def search(
        self, tally: SearchTally, *, k: int | None = 10, threshold: float | None = None, level: float | None = None
    ) -> HeavyHitters:
        """Find the round's k most common extensions with positive estimates.

        ``threshold``: drop extensions with a lower estimated count. ``level``: return only those that are significant
        at this level, corrected for all extensions of the round.
        """
        return self._best(tally, Choices(k, threshold, 1, {}), level, above=0.0)

    def survivors(self, tally: SearchTally, keep: int) -> HeavyHitters:
        """Up to ``keep`` of the round's most common extensions, whatever their estimates."""
        return self._best(tally, Choices(keep, None, 1, {}), None, above=-np.inf)

    def _best(self, tally: SearchTally, choices: Choices, level: float | None, *, above: float) -> HeavyHitters:
        part, symbols = self.extension, self.strings.symbols
        values, variance, unheld = tally.estimate_part_and_unheld(0, np.arange(part.count - 1, dtype=np.uint64))
        assert variance is not None  # an oracle over integers has a variance
        endings = symbol_rows(np.arange(part.more), symbols, self.reach - self.stem, self.strings.symbol_dtype)
        rows = np.hstack([np.repeat(part.rows, part.more, axis=0), np.tile(endings, (len(part.rows), 1))])
        real = np.flatnonzero(~inner_pads(rows))
        rows, values, variance = rows[real], values[real], variance[real]
        # Of an extension without holders.
        errors = np.full(len(rows), np.sqrt(self.oracle.variance(max(len(tally), 1))))
        noise = unheld if isinstance(unheld, Collisions) else Noise.of_reports(errors, len(tally), self.oracle.ends())
        p_values = adjusted(noise.chances(values))
        allowed = np.flatnonzero((p_values <= (1.0 if level is None else significance_level(level))) & (values > above))
        best = allowed[choices.best(values[allowed], choices.k)]
        items = self.strings.decode(rows[best])
        return HeavyHitters(
            items=items,
            values=values[best],
            variance=variance[best],
            n=len(tally),
            complete=False,
            history=(search_by(self.name),),
            selection=of_largest(values, noise, best, level=level).above(choices.least),
            p_values=p_values[best],
            trace=(Step(part.label, self.reach, len(tally), len(rows), items, values[best]),),
        )


def _from_hex(texts: Sequence[str]) -> list[bytes]:
    try:
        return [bytes.fromhex(text) for text in texts]
    except ValueError:
        raise ParameterError("prefixes: expected bytes, or their hexadecimal digits, got others") from None


class Rounds:
    """An interactive search: each round asks fresh users how the prefixes that survived the last round continue.

    ``scheme`` is the scheme of the present round. ``close(tally)`` ends the round with its users' reports, keeps the
    ``keep`` most common prefixes and returns whether there is another round. After the last round, ``result`` returns
    the strings found. Users of the last round had no part in choosing its candidates, so its p-values are strict.
    """

    def __init__(
        self, domain: Strings, oracle: Callable[[int], Scheme], *, start: int, step: int, keep: int = 2000
    ) -> None:
        self.domain, self.keep = domain, whole_number("keep", keep, 1, _MOST_PREFIXES)
        self._oracle, self._levels = oracle, prefix_lengths(domain, start, step)
        self._trace: tuple[Step, ...] = ()
        self._tally: SearchTally | None = None
        self.scheme = self._round([b"" if isinstance(domain.alphabet, bytes) else ""])

    def _round(self, prefixes: list[Any]) -> ROUND:
        stem, reach = (0, *self._levels)[len(self._trace) : len(self._trace) + 2]
        oracle = self._oracle(len(prefixes) * self.domain.symbols ** (reach - stem) + 1)
        return ROUND(domain=self.domain, oracle=oracle, prefixes=tuple(prefixes), stem=stem, reach=reach)

    @property
    def rounds(self) -> int:
        """Total number of rounds."""
        return len(self._levels)

    @property
    def number(self) -> int:
        """Number of the present round, counted from 1; the last one's when the search is over."""
        return len(self._trace) + 1

    def close(self, tally: SearchTally) -> bool:
        """End the round with the reports of its users, and return whether another one begins."""
        if self._tally is not None:
            raise StateError("the last round is over; result() returns the strings found")
        if not isinstance(tally, SearchTally) or tally.scheme != self.scheme:
            raise StateError("close: expected the accumulator of the present round's scheme, got another")
        if self.number == self.rounds:
            self._tally = tally
            return False
        kept = self.scheme.survivors(tally, self.keep)
        self._trace += kept.trace
        self.scheme = self._round(kept.items.tolist())
        return True

    def result(self, **options: Any) -> HeavyHitters:
        """The strings found in the last round, with the options of ``ROUND.search``: k, threshold, level."""
        if self._tally is None:
            raise StateError(f"round {self.number} of {self.rounds} is still open; close(tally) ends it")
        last = self._tally.search(**options)
        return replace(last, history=(decoding("interactive search"),), trace=(*self._trace, *last.trace))
