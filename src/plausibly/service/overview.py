"""Everything that the page of a collection says about its estimates, in words and as answers to be drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from ..core.diagnosis import Check, Diagnosis
from ..core.domain import Choices
from ..core.domain.ordered import Ordered
from ..core.errors import DomainError, ParameterError, StateError
from ..core.estimates import Estimates
from ..core.mean_only import MeanOnly
from ..core.ordered_estimates import OrderedEstimates
from ..core.scheme import Scheme
from ..core.tables_only import TablesOnly
from ..core.wording import decimal, percent, visible
from ..pages.answers import Answer
from ..pages.plates import Plate, plates
from ..pages.table_page import table_plates
from ..pages.tables import TableAnswer
from ..planner.description import Description
from ..search.base import Search
from .answers import INFLUENCE, Answers, State, expect_enough, facts_beside

FOUND = 20
"""Number of strings that a search is asked for."""
_RATE = 1e-4
"""False-alarm rate of a diagnosis. A page is looked at again and again."""
_MOST_COMPARED = 1 << 13
"""Largest number of values in order whose blocks are compared with each other, which takes many seconds beyond."""
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Hero:
    """The most important number of a collection: what it is about, the number, its interval, and what that means.

    ``ends`` are the interval and the number between them, as shares, to be drawn on a line from 0 to 100 %.
    """

    about: str
    number: str
    interval: str
    remark: str = ""
    unit: str = ""
    ends: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class Attributes:
    """Tables of records: of each attribute, and of the ``chosen`` two, if they are known together.

    ``single`` is empty if the counts of all items are one table. ``refused`` says why there is no table of these two.
    """

    names: tuple[str, ...]
    single: dict[str, Answer]
    chosen: tuple[str, str]
    table: TableAnswer | None = None
    refused: str = ""


@dataclass(frozen=True, eq=False)
class Overview:
    """The answers of a collection at one moment.

    ``items`` are counts of items or of the strings that were found, None if there are none; ``ordered`` are the
    answers to questions about the order, ``attributes`` the tables of records. ``unasked`` says why items have to be
    named first.
    """

    state: State
    items: Answer | None = None
    ordered: Answer | None = None
    attributes: Attributes | None = None
    unasked: str = ""

    @property
    def answers(self) -> dict[str, Answer]:
        """The answers by the beginnings of the names of their charts."""
        return {name: each for name, each in (("", self.items), ("order-", self.ordered)) if each is not None}

    @property
    def first(self) -> Answer | TableAnswer | None:
        """The answer that stands for all of them in files and among the facts; None if items have to be named."""
        if self.attributes is not None and self.items is None:
            return self.attributes.table or next(iter(self.attributes.single.values()))
        return self.items or self.ordered

    def file_of(self, pair: tuple[str, str]) -> Answer | TableAnswer | None:
        """The answer that a file has: the table of these two attributes, or the first answer if none are named."""
        table = None if self.attributes is None else self.attributes.table
        return table if table is not None and all(pair) else self.first

    def plates(self) -> Iterator[Plate]:
        """The charts of all answers."""
        for prefix, answer in self.answers.items():
            yield from plates(answer, prefix)
        if self.attributes is not None and self.attributes.table is not None:
            yield from table_plates(self.attributes.table, "table-")

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Reports that do not fit the scheme, such as a group whose reports were lost, or each other."""
        tally, domain = self.state.tally, self.state.tally.scheme.domain
        if tally.cautions:
            return tally.cautions  # a lost group disagrees with others, too
        slow = isinstance(domain, Ordered) and domain.size > _MOST_COMPARED
        found = Diagnosis(tuple(tally.own_checks() if slow else tally.checks()), _RATE)
        return (_disagreement(found.alarms),) if found.alarms else ()

    @cached_property
    def heroes(self) -> list[Hero]:
        """The number that an analyst looks for first, for each kind of answer."""
        return [*self._of_attributes(), *self._of_order(), *self._of_items()]

    def _of_attributes(self) -> Iterator[Hero]:
        table = None if self.attributes is None else self.attributes.table
        found = None if table is None else table.independence
        if found is not None:
            about = " and ".join(map(visible, found.names))
            chance = "; of 20 pairs that are not related, one passes it by chance" * found.related
            usual = "Related" if found.related else "No relation found"
            number, reason = ("Cannot tell", f"; {found.unclear}") if found.unclear else (usual, chance)
            yield Hero(about, number, found.chance, f"test of independence{reason}")

    def _of_order(self) -> Iterator[Hero]:
        answer = self.ordered
        for asked in answer.asked if answer is not None else ():
            about = {"quantiles": "Median", "mean": "Mean"}.get(asked.question)
            if answer is None or about is None:
                continue
            place = _QUARTILES.index(0.5) if asked.question == "quantiles" else 0
            interval = ""
            if asked.has_interval:
                low, high = (asked.written(end[place]) for end in asked.interval(answer.level))
                interval = f"between {low} and {high}"
            number = asked.written(asked.values[place])
            told = (interval, _sure(answer)) if interval else ("error unknown", "")
            yield Hero(about, number, *told, asked.order.unit)

    def _of_items(self) -> Iterator[Hero]:
        answer = self.items
        if answer is None or not len(answer.estimates) or (answer.panels and self.ordered is not None):
            return
        made = answer.estimates
        # The largest was chosen for being large, and its interval allows for that.
        first = made.arranged(1) if len(made) > int(made.apart.sum()) else made
        about = f"Most common: {visible(first.items[0]) or '(empty)'}"
        if made.variance is None:
            yield Hero(about, f"{100 * first.fractions[0]:z.1f}", "error unknown", "", "%")
        elif not np.all(first.taken(np.array([0])).stands_out):
            yield Hero("Most common", "Nothing stands out", "no item can be told apart from noise")
        else:
            low, high = (min(max(end[0] / first.n, 0.0), 1.0) for end in first.interval(answer.level))
            # More digits than the width of the interval has would pretend.
            digits = 0 if high - low >= 0.1 else 1 if high - low >= 0.01 else 2
            value = first.fractions[0]
            interval = f"between {100 * low:.{digits}f} and {100 * high:.{digits}f} %"
            number = f"{100 * value:.{digits}f}"
            chosen = f"{_sure(answer)}; it allows for the choice of the largest"
            yield Hero(about, number, interval, chosen, "%", (low, float(value), high))


def _sure(answer: Answer) -> str:
    return f"{100 * answer.level:g} % interval"


def overview(answers: Answers, identity: str, items: Sequence[str] = (), pair: tuple[str, str] = ("", "")) -> Overview:
    """The overview of a collection that has enough reports.

    ``items`` are asked for where they cannot be listed, and ``pair`` names two attributes of records.
    """
    state = answers.state(identity)
    expect_enough(state.account)
    scheme = state.collected.scheme
    decoder = scheme.estimator()
    if isinstance(decoder, MeanOnly):
        none = np.zeros(0)
        empty = Estimates(none.astype(object), none, none, len(state.tally), complete=False)
        return Overview(state, ordered=Answer(empty, state.collected, asked=(state.tally.mean_answer(),)))
    if isinstance(decoder, TablesOnly):
        return _of_records(state, decoder, pair)
    if isinstance(scheme, Search) and not items:
        return Overview(state, items=answers.search(identity, {"k": [str(FOUND)]})[1])
    if scheme.answers.size is None and not items:
        return Overview(state, unasked="The values of this collection cannot be listed: name the items to count.")
    try:
        answer = answers.estimates(identity, {"item": list(items)} if items else {})[1]
    except (ParameterError, DomainError) as error:
        return Overview(state, unasked=str(error))
    made, ordered = answer.estimates, None
    if isinstance(made, OrderedEstimates) and made.answerable:
        asked = made.cdf(simultaneous=True), made.quantiles(_QUARTILES), made.mean_answer()
        ordered = Answer(made, state.collected, answer.level, asked=asked)
    listed = Answer(made, state.collected, answer.level, made.usual_number, marked=True)
    return Overview(state, items=listed, ordered=ordered)


def _of_records(state: State, decoder: TablesOnly, pair: tuple[str, str]) -> Overview:
    if not isinstance(decoder.records, Choices):
        single = {name: Answer(state.tally.table(name), state.collected, marked=True) for name in decoder.records.names}
        return Overview(state, attributes=_attributes(state, decoder, pair, single))
    made = state.tally.table()
    items = Answer(made, state.collected, largest=made.usual_number, marked=True)
    together = any(decoder.known_tables(2))
    return Overview(state, items=items, attributes=_attributes(state, decoder, pair, {}) if together else None)


def _attributes(state: State, decoder: TablesOnly, pair: tuple[str, str], single: dict[str, Answer]) -> Attributes:
    names = decoder.records.names
    known = next(decoder.known_tables(2), None)
    if known is None:
        refused = f"{state.collected.scheme.name} knows one attribute at a time."
        return Attributes(names, single, ("", ""), refused=refused)
    rows, columns = pair if all(pair) else (names[known[0]], names[known[1]])
    if rows == columns:
        return Attributes(
            names, single, (rows, columns), refused=f"Choose two different {'attributes' if single else 'items'}."
        )
    try:
        table = TableAnswer(state.tally.table(rows, columns), state.collected)
    except StateError as error:
        return Attributes(names, single, (rows, columns), refused=f"{str(error)[:1].upper()}{str(error)[1:]}.")
    return Attributes(names, single, (rows, columns), table)


def _disagreement(alarms: Sequence[Check]) -> str:
    told = "; ".join(f"{each.name} ({_chance(each.p_value)})" for each in alarms)
    return (
        f"The reports do not agree with each other as honest reports do: {told}. Some of them may be fake. "
        f"(Probability of a false alarm: at most one in {1 / _RATE:,.0f} at each look.)"
    )


def _chance(p_value: float) -> str:
    return f"p = {p_value:.1g}" if p_value >= 1e-99 else "p below 1e-99"


def words_about(scheme: Scheme, n: int) -> list[tuple[str, str]]:
    """Privacy and accuracy of a scheme with this number of users, in words."""
    described = dict(Description(scheme, (max(n, 1),)).sections())
    reveals, accuracy = (dict(described[name]) for name in ("What a report reveals", "How accurate the estimates are"))
    told = [("Privacy", f"ε = {decimal(scheme.epsilon)}: a suspicion of 10 % {reveals['a suspicion of 10 %']}.")]
    typical, found = next(iter(accuracy.values())), accuracy.get(f"found, {n:,} users")
    counts = f"A count is known to {typical}" if typical.startswith("±") else f"{typical[0].upper()}{typical[1:]}"
    return [*told, ("Accuracy", f"{counts}."), *[("Search", f"The search finds {found}.")] * bool(found)]


def influence_of_fakes(scheme: Scheme, n: int) -> str:
    """What fake reports can do to the estimates from n reports, in one sentence."""
    told = facts_beside(scheme, n)[INFLUENCE]
    if told is not None:
        moves = f"a count moves by at most {ceil(told['count_moves_at_most']):,} users"
        if n < 100:
            return f"If a single report is fake, {moves}."
        share = percent(told["count_moves_at_most"] / n)
        return f"If 1 % of the reports ({told['fakes']:,}) are fake, {moves} ({share} of the reports)."
    described = dict(Description(scheme, (max(n, 1),)).sections())
    ((name, fact), *_) = described["What fake reports can do"]
    return f"{name[0].upper()}{name[1:]}: {fact}."
