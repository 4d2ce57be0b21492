"""Schemes for users who report again and again: a memo of lasting choices, and fresh answers from it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..device import Memoised as MemoisedClient
from .arguments import whole_number
from .domain import Domain, encode_column
from .errors import DomainError, ParameterError
from .laws import MemoLaw
from .parallel import in_chunks
from .probability import WORD, EpsilonLike, exact_epsilon, log_upper_bound, within_exp
from .randomness import MAX_REPORTS, Draws, Layout, RandomLike, Stream, open_stream, seeded
from .scheme import Encoded, OracleMaker, Reports, Scheme
from .wording import decimal, percent
from .words import Setting

Entries = npt.NDArray[Any]
"""Entries of memos, one of each user."""
Positions = npt.NDArray[np.int64]
MemoWords = npt.NDArray[np.uint64]

_USERS_AT_ONCE = 1 << 15

FALSE_ALARMS = 0.05
"""The share of users without a change who are taken for one, in statements about changes."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Memoised(Scheme):
    """A scheme whose reports are drawn from a memo, so that all reports of one value together reveal only its entry.

    ``epsilon`` is that of a first report, ``memo_epsilon`` that of an entry of the memo, hence of all reports from it.
    A device keeps one key instead of the memo (``device.Memo``); simulations use a ``crowd``
    (docs/adr/0041-memos.md).
    """

    memo_epsilon: Fraction

    linkable = "all reports of one user come from one memo"

    def validate(self) -> None:
        super().validate()
        object.__setattr__(self, "memo_epsilon", exact_epsilon(self.memo_epsilon, Setting("memo_epsilon")))
        if self.epsilon >= self.memo_epsilon:
            raise ParameterError(
                f"epsilon: expected less than memo_epsilon, which is {decimal(self.memo_epsilon)}, because a report is "
                f"drawn from the memo; got {decimal(self.epsilon)}"
            )

    @property
    @abstractmethod
    def cells(self) -> int:
        """Number of entries of a user's memo."""

    @property
    @abstractmethod
    def word_parts(self) -> tuple[int, int, int]:
        """Numbers of words of the public choices, of an entry of the memo, and of an answer."""

    @abstractmethod
    def locate(self, values: Encoded, words: MemoWords, out: Reports) -> npt.NDArray[np.uint64]:
        """The cells of the memo of encoded values; writes the public part of the reports."""

    @abstractmethod
    def memoise(self, cells: npt.NDArray[np.uint64], words: MemoWords) -> tuple[Entries, Positions]:
        """The entries of cells of the memo, and the positions that the scalar code must redo."""

    @abstractmethod
    def answer(self, entries: Entries, words: MemoWords, out: Reports) -> Positions:
        """Write fresh answers from entries of the memo, and return the positions that the scalar code must redo."""

    @property
    @abstractmethod
    def memo_law(self) -> MemoLaw: ...

    @property
    @abstractmethod
    def same_entry(self) -> float:
        """Probability that two different values have equal entries in the memo of a user, over all lasting choices."""

    @property
    def change_shows(self) -> float:
        """Probability that one change of a value is detected in the end, at ``FALSE_ALARMS``.

        Enough reports show both entries of the memo. If these are equal, nothing distinguishes the user from others.
        """
        return 1 - (1 - FALSE_ALARMS) * self.same_entry

    @property
    def caution(self) -> str:
        shows = f"with probability {self.change_shows:.2f}" if self.change_shows < 0.995 else "almost certainly"
        return (
            "The memo bounds what is learned about values, not whether and when a value changed: after enough reports, "
            f"one change is detected {shows}, at {percent(FALSE_ALARMS)} false alarms. The reports of one user can be "
            "linked. The ε of the memo holds for an ideal pseudo-random function. A lost key starts a new memo and "
            "costs the ε of the memo again."
        )

    @property
    def layout(self) -> Layout:
        return Layout(dense=sum(self.word_parts))

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> Positions:
        # A first report: also the lasting words are fresh.
        hashed, entry, _ = self.word_parts
        words = draws.words
        cells = self.locate(values, words[:, :hashed], out)
        entries, redo = self.memoise(cells, words[:, hashed : hashed + entry])
        return np.union1d(redo, self.answer(entries, words[:, hashed + entry :], out))

    @property
    def client(self) -> MemoisedClient:
        """The memoised scheme's scalar client."""
        made = self.randomizer
        assert isinstance(made, MemoisedClient)
        return made

    def memo_loss(self) -> Fraction:
        """Epsilon that an entry of the memo delivers, at most the requested one."""
        return log_upper_bound(self.client.memo_ratio(), self.memo_epsilon)

    def crowd(self, users: int, rng: RandomLike | None = None) -> Crowd:
        """Simulated users of the memoised scheme, whose memos last over many calls of ``privatize``."""
        number = whole_number("users", users, 1, MAX_REPORTS // self.cells)
        return Crowd(self, number, open_stream(rng), open_stream(rng), seeded(rng))

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Domain, through: OracleMaker | None = None) -> Scheme:
        return cls(epsilon=epsilon, memo_epsilon=2 * exact_epsilon(epsilon), domain=domain)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Crowd:
    """Simulated users who report again and again, each with lasting public choices and a memo.

    The words of a memo are found by user and cell, so there is no table here either.
    """

    scheme: Memoised
    users: int
    hashes: Stream = field(repr=False)
    memos: Stream = field(repr=False)
    simulated: bool = False

    def privatize(self, items: object, rng: RandomLike | None = None) -> Reports:
        """One report of each user of the crowd, in the order of the users; ``rng`` has the fresh words."""
        scheme = self.scheme
        values = scheme.domain.encoded(encode_column(scheme.domain, items))
        if len(values) != self.users:
            raise DomainError(f"items: expected one for each of the {self.users:,} users, got {len(values):,}")
        fresh = open_stream(rng)
        plain = np.empty(self.users, dtype=scheme.report_dtype)
        reports = scheme.tag(plain, simulated=self.simulated or seeded(rng))

        def work(first: int, last: int) -> None:
            self._respond(values[first:last], first, fresh, reports[first:last])

        for _ in in_chunks(self.users, max(1, _USERS_AT_ONCE // max(scheme.word_parts)), work):
            pass
        return reports

    def _respond(self, values: Encoded, first: int, fresh: Stream, out: Reports) -> None:
        scheme, client = self.scheme, self.scheme.client
        hashed, entry, answer = scheme.word_parts
        users = np.arange(first, first + len(values), dtype=np.int64)
        cells = scheme.locate(values, self.hashes.tail_words(users, hashed), out)
        places = users * scheme.cells + cells.astype(np.int64)
        entries, redo = scheme.memoise(cells, self.memos.tail_words(places, entry))
        layout = Layout(dense=answer)
        redo = np.union1d(redo, scheme.answer(entries, fresh.words(layout, first, len(values)), out))
        for i in redo.tolist():
            public = client.public(self.hashes.tail_source(int(users[i]), hashed))
            kept = client.memoise(int(cells[i]), self.memos.tail_source(int(places[i]), entry))
            record = client.answer(kept, public, fresh.source(layout, first + i))
            out[i] = np.frombuffer(record, dtype=scheme.report_dtype)[0]


def largest_threshold(ratio: Callable[[int], Fraction], exponent: Fraction, low: int) -> int:
    """The largest threshold of a memoised answer, above ``low``, whose likelihood ratio is at most e^exponent.

    ``ratio`` grows with the threshold, and is 1 at ``low``.
    """
    high = WORD - 1
    least = low
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if within_exp(ratio(middle), exponent) else (low, middle - 1)
    if low == least:
        raise ParameterError(
            f"epsilon: {float(exponent):.3g} is too small: 64-bit probabilities cannot represent it with this memo"
        )
    return low


def expect_no_memo(scheme: Scheme, name: str) -> None:
    """Raise if a scheme that another one reports through has a memo: one memo is for one way of reporting."""
    if isinstance(scheme, Memoised):
        raise ParameterError(f"{name}: expected a scheme without a memo, got {scheme.name}")
