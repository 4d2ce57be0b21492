"""Answers: estimates from the tally and from everything that is pending, which is folded when somebody asks.

A collection that releases batches only is answered from its tally alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.accumulator import Accumulator
from ..core.cross_table import CrossTable
from ..core.domain import Choices
from ..core.domain.scales import parsed_number
from ..core.errors import ParameterError, StateError
from ..core.estimates import Estimates
from ..core.ordered_answers import OrderedAnswer
from ..core.ordered_estimates import OrderedEstimates
from ..core.scheme import Scheme
from ..core.tables_only import TablesOnly
from ..core.wording import nearest, plural, shown
from ..files.tallies import Collected
from ..pages.answers import Answer
from ..pages.tables import TableAnswer
from ..search.base import SearchTally
from .folder import Folder
from .inbox import Account, Inbox, View
from .rolling import Locks

_KEPT = 16
"""Number of collections whose last state is kept in memory."""
_MOST_FOUND = 1000
_LEVEL = 0.05
_FAKES = Fraction(1, 100)
INFLUENCE = "influence_of_one_percent_fakes"
"""The name of what fake reports can do, in answers."""
_ORDERED = ("ranges", "quantiles", "mean")
QUESTIONS = ("item", "top", *_ORDERED, "level", "postprocess")
SEARCHES = ("k", "level")
TABLES = ("rows", "columns", *_ORDERED, "level")


class TooFewError(StateError):
    """A collection with fewer reports than its minimum."""


class UnknownError(StateError):
    """A collection that does not exist."""


class OtherTallyError(StateError):
    """A tally that is not that of the report files which its account knows."""


@dataclass(frozen=True)
class State:
    """Everything that a collection has received, or released in batches, at one moment. ``tag`` names the moment."""

    account: Account
    last: int
    collected: Collected = field(repr=False)

    @property
    def tag(self) -> str:
        """The state's name for caches: it changes with every commit and every roll; of batches, with rolls alone."""
        return tag_of(self.account, self.last)

    @property
    def tally(self) -> Accumulator:
        """The accumulator of all reports of the state."""
        return self.collected.tally


def tag_of(account: Account, last: int) -> str:
    """The name of a collection's state for caches."""
    return f"{account.rolled}-{last}"


class Answers:
    """Answers to analysts, each from the latest state of a collection."""

    def __init__(self, folder: Folder, inbox: Inbox, locks: Locks, complete: Callable[[str], int]) -> None:
        self._folder, self._inbox, self._locks, self._complete = folder, inbox, locks, complete
        self._kept: OrderedDict[str, State] = OrderedDict()
        self._own = threading.Lock()

    def tag(self, identity: str) -> str:
        """The name of the latest state, found without folding anything. Raises below the minimum."""
        account, tag = self.moment(identity)
        expect_enough(account)
        return tag

    def moment(self, identity: str) -> tuple[Account, str]:
        """The account of a collection and the name of its latest state, found without folding anything."""
        with self._inbox.view() as view:
            account = _expect(view.account(identity))
            return account, tag_of(account, _last(view, account))

    def state(self, identity: str) -> State:
        """The latest state of a collection: its tally, and what is pending."""
        with self._locks.of(identity):
            try:
                return self._state(identity)
            except OtherTallyError:
                # Another collector may have ended between its tally and its account.
                if not self._complete(identity):
                    raise
                return self._state(identity)

    def _state(self, identity: str) -> State:
        with self._inbox.view() as view:
            account = _expect(view.account(identity))
            last = _last(view, account)
            kept = self._kept.get(identity)
            made = None if kept is None else (kept.account.number, kept.account.rolled)
            if kept is None or made != (account.number, account.rolled) or kept.last > last:
                kept = State(account, account.rolled, self._collected(account))
            if kept.last < last:
                tally = kept.tally
                more = account.collection.scheme.accumulator()
                for records in view.pending(account, kept.last, last):
                    more.add(np.frombuffer(records, dtype=account.collection.scheme.report_dtype))
                more.merge(tally)
                kept = State(account, last, replace(kept.collected, tally=more))
            if len(kept.tally) != account.released:
                raise StateError(
                    f"{identity}: expected {plural(account.released, 'report')}, found {len(kept.tally):,}; "
                    "a file was changed"
                )
            kept = replace(kept, account=account)
            self._keep(identity, kept)
            return kept

    def estimates(self, identity: str, asked: Mapping[str, Sequence[str]]) -> tuple[State, Answer]:
        """The estimates of a collection, with the state they come from."""
        _expect_known(asked, QUESTIONS)
        state = self._enough(identity)
        scheme = state.collected.scheme
        if isinstance(decoder := scheme.estimator(), TablesOnly):
            names = ", ".join(decoder.records.names)
            every = "…/table for the counts of all items, or " * isinstance(decoder.records, Choices)
            raise ParameterError(
                f"{scheme.name} has no estimates of whole records; ask for {every}…/table?rows=NAME&columns=NAME; "
                f"the names are {names}"
            )
        items = scheme.answers.parse(list(asked["item"])) if asked.get("item") else None
        with _as_asked():
            made = state.tally.estimate(items)
            for step in asked.get("postprocess", ()):
                made = made.postprocess(step)
        if asked.get("top"):
            made = made.top(_number("top", asked["top"][0], len(made)))
        return state, _answered(state, made, asked, listed=items is None)

    def table(self, identity: str, asked: Mapping[str, Sequence[str]]) -> tuple[State, Answer | TableAnswer]:
        """The table of one or two attributes of a collection of records, with the state it comes from.

        No attribute, of ``Choices``: the counts of all items.
        """
        _expect_known(asked, TABLES)
        state = self._enough(identity)
        scheme = state.collected.scheme
        decoder = scheme.estimator()
        if not isinstance(decoder, TablesOnly):
            raise ParameterError(
                f"expected a scheme for records of several attributes, got {scheme.name}; ask for …/estimates"
            )
        names = [_attribute(name, asked[name]) for name in ("rows", "columns") if asked.get(name)]
        every = not names and isinstance(decoder.records, Choices)
        if not (asked.get("rows") or every):
            raise ParameterError(f"rows: expected the name of an attribute; {nearest('', decoder.records.names)}")
        with _as_asked():
            made = state.tally.table(*names)
        if not isinstance(made, CrossTable):
            return state, _answered(state, made, asked, listed=True)
        for name in _ORDERED:
            if asked.get(name):
                raise ParameterError(
                    f"{name}: expected one attribute whose values have an order, got two; drop columns"
                )
        return state, TableAnswer(made, state.collected, _share("level", asked.get("level"), 0.95))

    def search(self, identity: str, asked: Mapping[str, Sequence[str]]) -> tuple[State, Answer]:
        """The most common strings of a collection whose scheme is for searches."""
        _expect_known(asked, SEARCHES)
        state = self._enough(identity)
        if not isinstance(state.tally, SearchTally):
            scheme = state.collected.scheme
            route = "table" if isinstance(scheme.estimator(), TablesOnly) else "estimates"
            raise ParameterError(f"expected a scheme for searches, got {scheme.name}; ask for …/{route}")
        number = _number("k", asked["k"][0], _MOST_FOUND) if asked.get("k") else 10
        options: dict[str, Any] = {"k": number}
        if "level" in state.tally.scheme.choices:
            options["level"] = _share("level", asked.get("level"), _LEVEL)
        elif asked.get("level"):
            raise ParameterError(f"level: searches by {state.collected.scheme.name} do not use it; leave it out")
        with _as_asked():
            found = state.tally.search(**options)
        return state, Answer(found, state.collected, largest=number, significance=options.get("level"))

    def _enough(self, identity: str) -> State:
        state = self.state(identity)
        expect_enough(state.account)
        return state

    def forget(self, identity: str) -> None:
        """Drop what is kept of a collection."""
        with self._own:
            self._kept.pop(identity, None)

    def _collected(self, account: Account) -> Collected:
        path, scheme = self._folder.tally(account.collection.id), account.collection.scheme
        if not account.filed:
            return Collected(scheme.accumulator())
        found = Collected.read(path)
        if found.scheme != scheme or len(found) != account.filed:
            raise OtherTallyError(
                f"{path}: expected {plural(account.filed, 'report')} of the collection, got another tally; remove it, "
                "so that the next roll makes it again from the report files"
            )
        return found

    def _keep(self, identity: str, state: State) -> None:
        with self._own:
            self._kept[identity] = state
            self._kept.move_to_end(identity)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


def facts_beside(scheme: Scheme, n: int) -> dict[str, Any]:
    """What belongs beside every estimate: the ε of a report, and what fake reports can do."""
    influence = scheme.influence()
    told = None
    if influence is not None:
        fakes = max(1, int(n * _FAKES))
        told = {"fakes": fakes, "count_moves_at_most": influence * fakes}
    return {"epsilon_per_report": str(scheme.epsilon), INFLUENCE: told}


def expect_enough(account: Account) -> None:
    """Raise if a collection has released fewer reports than its minimum."""
    minimum, smallest = account.collection.minimum, account.collection.smallest_batch
    if account.released < minimum or not account.released:
        least = f"{plural(max(minimum, smallest or 0), 'report')}{' in batches' if smallest else ''}"
        raise TooFewError(f"expected at least {least} before estimates are shown, got fewer")


@contextmanager
def _as_asked() -> Iterator[None]:
    # A question that makes no sense is the mistake of the analyst, not of the files.
    try:
        yield
    except StateError as error:
        raise ParameterError(error.words) from None


def _last(view: View, account: Account) -> int:
    # Of batches, not even a tag may follow the reports that wait.
    return view.last(account) if account.collection.smallest_batch is None else account.rolled


def _expect(account: Account | None) -> Account:
    if account is None:
        raise UnknownError("there is no such collection")
    return account


def _expect_known(asked: Mapping[str, object], valid: Sequence[str]) -> None:
    for name in asked:
        if name not in valid:
            raise ParameterError(f"unknown parameter {shown(name)}; {nearest(name, valid)}")


def _attribute(name: str, texts: Sequence[str]) -> str:
    if len(texts) > 1:
        raise ParameterError(f"{name}: expected one attribute, got {len(texts):,}")
    return texts[0]


def _answered(state: State, made: Estimates, asked: Mapping[str, Sequence[str]], *, listed: bool) -> Answer:
    # ``listed``: the estimates are of all items, and can be asked about their order.
    questions = [name for name in _ORDERED if asked.get(name)]
    if questions and not (listed and isinstance(made, OrderedEstimates)):
        raise ParameterError(f"{questions[0]}: expected all items of a domain that has an order, got others")
    told: tuple[OrderedAnswer, ...] = ()
    if isinstance(made, OrderedEstimates):
        with _as_asked():
            told = tuple(_ordered(made, name, asked[name]) for name in questions)
    return Answer(made, state.collected, _share("level", asked.get("level"), 0.95), asked=told, marked=True)


def _ordered(made: OrderedEstimates, question: str, texts: Sequence[str]) -> OrderedAnswer:
    parts = [part for text in texts for part in text.split(",")]
    if question == "ranges":
        ends = [part.partition("..") for part in parts]
        if not all(low.strip() and dots and high.strip() for low, dots, high in ends):
            raise ParameterError("ranges: expected pairs of ends such as 18..24,25..34")
        return made.ranges([(low.strip(), high.strip()) for low, _, high in ends])
    if question == "quantiles":
        shares = [share for part in parts if (share := parsed_number(part)) is not None]
        if len(shares) < len(parts):
            raise ParameterError("quantiles: expected shares such as .25,.5,.75")
        return made.quantiles(shares)
    return made.mean_answer()


def _number(name: str, text: str, most: int) -> int:
    number = parsed_number(text)
    if not isinstance(number, int) or not 1 <= number <= most:
        raise ParameterError(f"{name}: expected 1 to {most:,}, got {shown(text)}")
    return number


def _share(name: str, texts: Sequence[str] | None, default: float) -> float:
    if not texts:
        return default
    number = parsed_number(texts[0])
    if number is None:
        raise ParameterError(f"{name}: expected a share such as 0.95, got {shown(texts[0])}")
    return float(number)
