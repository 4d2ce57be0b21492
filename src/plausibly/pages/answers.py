"""Answers: estimates together with the data and settings behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, isfinite
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..core.estimates import MOST_BARS, Estimates, Floats
from ..core.history import Kind, history_text, without_steps
from ..core.ordered_answers import OrderedAnswer
from ..core.ordered_estimates import OrderedEstimates
from ..core.scheme import Scheme
from ..core.skipped import Skipped, left_out
from ..core.wording import count_text, decimal, interval_texts, plural, visible
from ..search.heavy_hitters import HeavyHitters

VERSION = 1
_ONLY_AT_MOST = "“At most” marks items that cannot be told apart from noise."
_MANY = 1000
_CERTAIN = 1e-99


class Source(Protocol):
    """The reports behind an answer, such as a collected tally (`plausibly.files.Collected`)."""

    @property
    def scheme(self) -> Scheme:
        """The scheme of the reports behind the answer, for its pages and files."""

    @property
    def simulated(self) -> bool:
        """Whether any of the reports behind the answer is simulated."""

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Files and row groups that were left out when the reports behind the answer were collected."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer: estimates, the tally they come from, and how to show them.

    ``level`` is the confidence level of the intervals. Tables and charts show at most the ``largest`` largest items;
    files for programs have all items. ``significance`` is the level of a search that returned only significant strings.
    ``title`` is the heading of pages and charts, and ``unit`` names what is counted, in the plural. ``detectable`` is
    the smallest share of users with which the search finds a string, if it is known. ``asked`` are answers to questions
    about an order; they are shown instead of single items. ``marked``: files for programs say of all items whether they
    stand out from noise, because somebody may sort them. ``beside`` are further facts for programs, by name.
    """

    estimates: Estimates
    source: Source
    level: float = 0.95
    largest: int = 20
    significance: float | None = None
    title: str | None = None
    unit: str = "users"
    detectable: float | None = None
    asked: tuple[OrderedAnswer, ...] = ()
    marked: bool = False
    beside: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.estimates.variance is not None:
            self.interval  # noqa: B018  refuses an invalid level

    @cached_property
    def interval(self) -> tuple[Floats, Floats] | None:
        """Lower and upper ends of the answer's intervals, if there is a variance."""
        return None if self.estimates.variance is None else self.estimates.interval(self.level)

    @property
    def found(self) -> HeavyHitters | None:
        """The estimates of the answer, if they are the result of a search."""
        return self.estimates if isinstance(self.estimates, HeavyHitters) else None

    @property
    def privacy(self) -> str:
        """The epsilon behind the answer and what it guarantees, for people."""
        return scheme_facts(self.source.scheme)["Privacy"]

    @cached_property
    def shown(self) -> Estimates:
        """The estimates that the answer shows, as tables arrange them: all of a search, otherwise the largest."""
        return self.estimates.arranged(len(self.estimates) if self.found is not None else self.largest)

    @property
    def picked(self) -> bool:
        """Whether the items that the answer shows were selected for being large."""
        return self.shown.selection is not None

    @cached_property
    def charted(self) -> Estimates:
        """The estimates that the chart of the answer shows."""
        return self.estimates.arranged(max(1, min(self.largest, len(self.estimates), MOST_BARS)))

    @cached_property
    def panels(self) -> tuple[OrderedAnswer, ...]:
        """Answers about an order that tables and charts show: those asked for, or many items in bins."""
        made = self.estimates
        if self.asked or not isinstance(made, OrderedEstimates):
            return self.asked
        return (made.binned(),) if made.binnable and self.largest == made.usual_number else ()

    def columns(self) -> dict[str, npt.NDArray[Any] | None]:
        """The answer's columns of numbers by name; None for a column without values."""
        made = self.estimates
        low, high = self.interval or (None, None)
        columns = {
            "estimate": made.values,
            "standard_error": None if made.variance is None else np.sqrt(made.variance),
            "low": low,
            "high": high,
            "share": made.fractions if made.n else None,
        }
        if made.selection is not None or (self.marked and made.variance is not None and made.n):
            columns["significant"] = made.stands_out
        return columns if self.found is None else columns | {"p_value": self.found.p_values}

    def facts(self) -> dict[str, Any]:
        """Everything in the answer but its numbers, JSON-ready."""
        scheme, made = self.source.scheme, self.estimates
        return {
            "version": VERSION,
            "kind": "estimates" if self.found is None else "search",
            "scheme": scheme.name,
            "fingerprint": scheme.fingerprint(),
            "epsilon": str(scheme.epsilon),
            "reports": made.n,
            "simulated": self.source.simulated,
            "complete": made.complete,
            "level": self.level,
            **({} if self.found is None else {"significance": self.significance}),
            "history": list(map(str, made.history)),
            "skipped": [vars(each) for each in self.source.skipped],
            **({"cautions": list(made.cautions)} if made.cautions else {}),
            **self.beside,
        }

    def to_dict(self) -> dict[str, Any]:
        """Facts and numbers of the answer, JSON-ready; the items in the order of the estimates."""
        names = ["item", *(columns := self.columns())]
        lists = [column.tolist() if column is not None else [None] * len(self.estimates) for column in columns.values()]
        rows = zip(plain_items(self.estimates), *lists, strict=True)
        own = {each.question: answer_rows(each, self.level) for each in self.asked}
        return self.facts() | {"estimates": [dict(zip(names, row, strict=True)) for row in rows]} | own

    def header(self) -> tuple[str, ...]:
        """The column names of the answer's table, on its page and on the terminal."""
        interval = f"{100 * self.level:g} % interval"
        tested = self.found is not None and self.found.p_values is not None
        return ("item", "estimate", "share", *[interval] * (self.interval is not None), *["p-value"] * tested)

    def lines(self, shown: Estimates | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows of the answer's table for people: the item itself, then texts; of the estimates that it shows."""
        made = self.shown if shown is None else shown
        p_values = None if self.found is None else self.found.p_values
        digits, fine = (0 if made.n >= _MANY else 1), (2 if made.n < _MANY**2 else 3)
        intervals: list[str] = []
        if made.variance is not None:
            intervals = interval_texts(*made.interval(self.level), made.significant, digits)
        for i, value in enumerate(made.values.tolist()):
            texts = [count_text(value, digits), f"{100 * value / made.n:z.{fine}f} %" if made.n else "–"]
            texts += intervals[i : i + 1]
            if p_values is not None:
                texts.append(f"{p_values[i]:.1g}" if p_values[i] >= _CERTAIN else f"< {_CERTAIN:g}")
            yield made.items[i], *texts

    def about(self) -> dict[str, str]:
        """Facts about the data behind the answer, as names and phrases."""
        scheme, made = self.source.scheme, self.estimates
        definition = (type(scheme).__doc__ or "").strip().partition("\n")[0].replace("`", "")
        told = {
            **scheme_facts(scheme),
            "Reports": f"{made.n:,}",
            "Items": f"{len(made):,}{', all of the domain' * made.complete}",
            "Intervals": f"{100 * self.level:g} %" if self.interval is not None else "none without a variance",
            "Steps": history_text(made.history, ", ") or "none; the estimates are unbiased",
        }
        if self.found is not None and self.found.p_values is not None:
            level = self.significance
            told["Significance"] = (
                f"{100 * level:g} %" if level is not None else "not requested: some may be due to chance"
            )
        if self.source.skipped:
            told["Left out"] = left_out(self.source.skipped)
        return told | {"Definition": definition, "Fingerprint": scheme.fingerprint()}

    def selected_text(self, shown: Estimates | None = None) -> str:
        """The items that the answer or one of its charts shows, in words, if these are not all."""
        shown = self.shown if shown is None else shown
        others = int(self.estimates.apart.sum())
        listed = f"the {len(shown) - others:,} largest of {len(self.estimates) - others:,} items"
        return listed + ", and all others" * bool(others)

    def good_for(self) -> str:
        """One sentence on what the answer's intervals are good for."""
        share = f"{100 * self.level:g} %"
        if self.interval is None:
            return "There are no intervals: the error of these estimates is unknown."
        if self.charted.selection is None:
            return (
                f"Each interval is good for an item that you had in mind before you saw the estimates: {share} of such "
                f"intervals contain the true number of {self.unit}."
            )
        least = "; “at most” is an upper limit for an item that may be nothing but noise"
        shown = self.charted
        return (
            f"The items were picked because their estimates are large, and the intervals allow for that: {share} of "
            f"them contain the true number of {self.unit}{least * (not np.all(shown.significant))}."
        )

    def notes(self, *, picked: bool = True) -> list[str]:
        """Remarks for the reader of the answer; ``picked``: also on the intervals of items picked for being large."""
        made = self.estimates
        told = list(made.cautions)
        if self.panels:
            remarks = [remark for each in self.panels for remark in each.remarks() if remark not in told]
            left_out_files = [f"Left out when collecting: {left_out(self.source.skipped)}."] * bool(self.source.skipped)
            return [*told, *dict.fromkeys(remarks), *left_out_files]
        if len(self.shown) < len(made):
            told.append(f"{self.selected_text()[0].upper()}{self.selected_text()[1:]}.")
        if self.interval is None:
            steps = without_steps(made.history, Kind.SELECTION)
            told.append(f"After {history_text(steps)}, there is no variance and no interval.")
        elif picked and self.picked and len(made):
            told.append(
                "The items were chosen for their large estimates. The intervals allow for that: they are wider than "
                "for items chosen beforehand."
            )
            told += [_ONLY_AT_MOST] * (not np.all(self.shown.significant))
        if self.significance is not None and len(made):
            told.append(
                "The probability that the list contains even one string that nobody has is at most "
                f"{100 * self.significance:g} %."
            )
        elif self.found is not None and len(made):
            told.append("Some of the listed strings may be due to chance: perhaps nobody has them.")
        if self.source.skipped:
            told.append(f"Left out when collecting: {left_out(self.source.skipped)}.")
        return told

    def needed(self) -> list[str]:
        """What would have helped, for the reader of an answer that found nothing: the share of users, and more data."""
        if self.found is None or len(self.found):
            return []
        reports, unit, share = plural(self.estimates.n, "report"), visible(self.unit), self.detectable
        told = []
        if share is not None and share >= 1:
            few = "is" if self.estimates.n == 1 else "are"
            told.append(f"{reports} {few} too few: not even a string that all {unit} have would be found reliably.")
        elif share is not None:
            finds = f"a string that at least {100 * share:.2g} % of the {unit} have"
            told.append(f"With {reports}, the search reliably finds {finds}.")
        return [*told, "More reports or a larger ε reveal rarer strings."]


def answer_rows(asked: OrderedAnswer, level: float) -> list[dict[str, Any]]:
    """The rows of an answer about an order for JSON, without numbers that are not finite."""
    columns = {"item": asked.items, **asked.columns(level)}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, map(_finite, row), strict=True)) for row in rows]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


def scheme_facts(scheme: Scheme) -> dict[str, str]:
    """Facts about the scheme behind an answer, as names and phrases for people."""
    most = exp(float(scheme.epsilon))
    return {
        "Scheme": f"{scheme.name}: each device randomizes its value before it sends a report",
        "Values": scheme.domain.describe(),
        "Privacy": f"ε = {decimal(scheme.epsilon)}: whatever value a user has, any report is at most {most:,.3g} times "
        "as likely as with any other value",
        **({"All reports of a user": scheme.caution} if scheme.caution else {}),
    }


def plain_items(estimates: Estimates) -> list[Any]:
    """The items of an answer's estimates for JSON and CSV: integers and texts unchanged, bytes in hexadecimal."""
    return [item.hex() if isinstance(item, bytes) else item for item in estimates.items.tolist()]
