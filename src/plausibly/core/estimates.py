"""Estimated counts with their variances, and the usual operations on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .arrangement import Arrangement
from .bar_chart import BarChart, chart_size
from .basis import Basis
from .collisions import added
from .derived import Derived, Shares, Whose, aligned_with, difference, ratio, shares_of
from .domain import object_array
from .errors import ParameterError, StateError
from .history import Applied, History, Kind, history_text, selection, without_steps
from .laws import of_sum
from .levers import Levers, Reach, fakes_among, no_bound, widest
from .measured import Measured, Row, expect_level, normal_interval
from .selection import Selection, of_largest
from .steps import apply, find_step
from .tails import Noise, Unheld
from .wording import count_text, interval_texts, label_of, plural, shown
from .words import Setting, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .ordered_answers import Distribution, Histogram, MeanAnswer, Quantiles, RangeCounts

Floats = npt.NDArray[np.float64]


_PLAIN = Arrangement()
_SHOWN, _BARS, _ORDERED = 10, 20, 31
"""Numbers of items in a printed table, in a chart, and in a chart of items that have an order of their own."""
MOST_BARS = 60
"""Largest number of bars in a chart."""
_NOTHING = "No reports yet: the counts of no users are 0, and say nothing about the items."
_PICKED = "Chosen for large estimates; the intervals allow for this choice."
_AT_MOST = "“At most” marks items that cannot be told apart from noise."


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Measured):
    """Unbiased counts of items, each with its variance.

    ``values`` are counts, not fractions, and may be negative: noise is centred on the truth. ``variance`` is None
    after a step for which none is known. ``complete`` says whether the items are the whole domain. ``history`` lists
    the steps that produced the estimates. ``estimates["dog"]`` is one item; iterating yields all of them.
    ``ends`` has the least and the most that one report adds to an estimate; it tells how skewed the noise is.
    ``levers`` knows what one report adds to counts and their sums, to bound the effect of fakes.
    ``collisions`` is the law of items without holders if all users share public hash functions. ``cautions`` are
    sentences about reports that do not fit the scheme, such as a group whose reports were lost.

    Estimates of the same items from different crowds are added, subtracted and divided: ``monday + tuesday`` has the
    counts of both crowds together, ``tuesday - monday`` the differences of the counts, ``tuesday / monday`` their
    ratios (approximate); ``tuesday.shares() - monday.shares()`` compares crowds of different sizes.
    """

    n: int
    complete: bool
    history: History = ()
    selection: Selection | None = None
    arrangement: Arrangement = _PLAIN
    ends: tuple[float, float] | None = None
    collisions: Unheld | None = None
    cautions: tuple[str, ...] = ()
    levers: Levers | None = None

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'item')} from {plural(self.n, 'report')}"
        steps = "".join(f", {step}" for step in self.history)
        told = [f"  {each}" for each in self.cautions]
        if len(self) == 0:
            return "\n".join([f"<estimates of {size}{steps}>", *told])
        shown = self.arranged(_SHOWN)
        digits = 0 if self.n >= 1000 else 1
        columns = [
            ["item", *(label_of(item) or "(empty)" for item in shown.items)],
            ["estimate", *_numbers(shown.values, digits)],
        ]
        if shown.variance is not None and self.reported:
            columns.append(["95 % interval", *interval_texts(*shown.interval(), shown.significant, digits)])
        widths = [max(map(len, column)) for column in columns]
        lines = [f"<estimates of {size}{steps}{', the largest' if len(self) > len(shown) else ''}>"]
        for name, *numbers in zip(*columns, strict=True):
            cells = [f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([f"  {name:<{widths[0]}}", *cells]))
        if len(self) > len(shown):
            choice = "; the intervals allow for this choice, those of to_frame() do not"
            plain = choice * (self.selection is None and shown.selection is not None and self.reported)
            lines.append(f"  ... and {len(self) - len(shown):,} more{plain}")
        return "\n".join([*lines, *[f"  {_NOTHING}"] * (not self.reported), *told])

    @property
    def fractions(self) -> Floats:
        """The estimates as shares of the n reports."""
        if self.n == 0:
            raise StateError("fractions of zero reports are undefined")
        return self.values / self.n

    @property
    def standard_error(self) -> Floats:
        """Standard error of every estimate, the square root of its variance. Raises if there is none."""
        if self.variance is None:
            raise StateError(f"no variance, hence no standard error, after {history_text(self.history)}")
        return np.sqrt(self.variance)

    def shares(self, of: Whose = "crowd") -> Shares:
        """The estimates as shares of the reports, with variances, to be compared with those of another crowd.

        ``of="population"``: the shares in the population of which the crowd is a random sample. The values are the
        same, and the variances include that of the sample.
        """
        return shares_of(self, self.n, of)

    def total(self, items: Iterable[Any] | None = None) -> Row:
        """The estimated number of users who have any of the given items, by default of all, as one row.

        Its variance includes the covariances of the items. Raises if the scheme has no law for them.
        """
        some = self.taken(self._places_of(self.items.tolist() if items is None else items))
        if self.selected:
            raise StateError("expected items chosen beforehand, got selected ones; add up the estimates before top()")
        if self.basis.law is None or self.variance is None:
            after = f" after {history_text(self.history)}" if self.history else ""
            raise StateError(f"no law has the variance of sums{after}")
        value = float(some.values.sum())
        variance = self.basis.law.of_total(len(some)).at(self.n, min(max(value, 0.0), self.n))
        name = f"total of {plural(len(some), 'item')}"
        summed = replace(some, items=object_array([name]), values=np.array([value]), complete=False)
        return Row(replace(summed, variance=np.array([max(variance, 0.0)]), basis=self.basis.changed))

    def _places_of(self, items: Iterable[Any]) -> npt.NDArray[np.intp]:
        places = [self.place(item) for item in items]
        if len(set(places)) != len(places) or not places:
            raise ParameterError("items: expected at least one item, each once, got none or the same item twice")
        return np.array(places, dtype=np.intp)

    def __add__(self, other: object) -> Estimates:
        """Counts in both crowds together, from different reports; variances add up."""
        if not isinstance(other, Estimates):
            return NotImplemented
        other = aligned_with(self, other)
        variance = None
        if self.variance is not None and other.variance is not None:
            shared = self.shared_with(other.basis, adds=True), other.shared_with(self.basis, adds=True)
            variance = of_sum((self.variance, other.variance), shared)
        return replace(
            self,
            values=self.values + other.values,
            variance=variance,
            n=self.n + other.n,
            complete=self.complete and other.complete,
            history=(*self.history, *other.history),
            ends=_widest(self.ends, other.ends),
            collisions=collisions_of([self, other], [1.0, 1.0]),
            basis=self.basis | other.basis,
            cautions=tuple(dict.fromkeys([*self.cautions, *other.cautions])),
            levers=widest(self.levers, other.levers),
        )

    def __sub__(self, other: object) -> Derived:
        """Differences of the counts in two crowds, with their variances."""
        return difference(self, other) if isinstance(other, Estimates) else NotImplemented

    def __truediv__(self, other: object) -> Derived:
        """Ratios of the counts in two crowds, with approximate variances."""
        return ratio(self, other) if isinstance(other, Estimates) else NotImplemented

    def shared_with(self, other: Basis, *, adds: bool = False) -> Floats:
        return self.basis.shared_error(other, self.known_variance(), self.values, self.n, adds=adds)

    @property
    def selected(self) -> bool:
        return self.selection is not None

    def taken(self, places: npt.NDArray[np.intp]) -> Estimates:
        return self._picked(places, None if self.selection is None else self.selection.take(places))

    def interval(self, level: float = 0.95, *, plain: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every estimate, not clipped.

        If the items were selected for large estimates, by ``top`` or by a search, the intervals take this into
        account: they contain the truth as often as they say among the items selected, and an item that is not
        ``significant`` has an upper bound only, from 0. ``plain``: intervals for items chosen beforehand.
        """
        share, variance = expect_level(level), self.known_variance()
        if self.selection is not None and not plain:
            return self.selection.interval(self.values, np.sqrt(variance), share)
        return normal_interval(self.values, variance, 1 - share)

    def known_variance(self) -> Floats:
        if self.variance is None:
            raise StateError(f"no variance, hence no interval, after {history_text(self.history)}")
        return self.variance

    def moved_by_fakes(self, share: float = 0.01) -> Reach:
        if self.levers is None or self.variance is None:
            raise no_bound()
        low, high = (np.full(len(self), end) for end in self.levers.one)
        return Reach(low, high).of_fakes(fakes_among(self.n, share))

    @property
    def significant(self) -> npt.NDArray[np.bool_] | None:
        """Whether each selected item can be told apart from noise; None if the items were not selected.

        The chance that any item without holders is called significant is at most 5 %. This is about whether anybody
        has the item, by the law of items without holders; the interval is about how many do, by the law of the item
        itself. Next to the threshold, the interval of a significant item may therefore reach below 0.
        """
        return None if self.selection is None else self.selection.told(self.values)

    @property
    def stands_out(self) -> npt.NDArray[np.bool_]:
        """Mask of the items that can be told apart from noise, also if they were not selected.

        The chance that any item without holders stands out is at most 5 %, over all items of the estimates, or over all
        those from which they were selected. A plain interval that excludes 0 says less: of many items that nobody has,
        one in 40 has one.
        """
        if self.selection is not None:
            return self.selection.told(self.values)
        self.known_variance()
        return of_largest(self.values, self.unheld, np.arange(len(self))).told(self.values)

    def top(self, k: int = 10) -> Estimates:
        """The k largest estimates, largest first (ties in the order of the domain).

        Items selected for large estimates owe something to luck, and tend to be overestimated. Their intervals allow
        for that (see ``interval``), and ``significant`` marks those that can be told apart from noise.
        """
        order = np.argsort(-self.values, kind="stable")[: checked_k(k)]
        return self._ordered(order, selection("top", k=int(k)))

    @property
    def usual_number(self) -> int:
        """Number of items that tables and charts show: 20, or up to 31 with an order of their own, such as days."""
        return _ORDERED if self.arrangement.ordered and len(self) <= _ORDERED else _BARS

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Mask of the item that takes all other values, which tables and charts show last and apart."""
        other = self.arrangement.other
        return np.array([other is not None and item == other for item in self.items.tolist()], dtype=np.bool_)

    def arranged(self, k: int) -> Estimates:
        """The k largest estimates as tables and charts show them: ordered items in their order if all are shown.

        The item for all other values is one more, at the end. Since it is always shown, its interval is a plain one.
        """
        listed, last = np.flatnonzero(~self.apart), np.flatnonzero(self.apart)
        order = listed[np.argsort(-self.values[listed], kind="stable")]
        if k < len(order):
            return self._ordered(np.concatenate([order[:k], last]), selection("top", k=k), spared=len(last))
        if self.arrangement.ordered and not any(step.kind is Kind.SELECTION for step in self.history):
            order = listed[np.argsort(self.items[listed], kind="stable")]
        return self._ordered(np.concatenate([order, last]))

    def _ordered(self, order: npt.NDArray[np.intp], *steps: Applied, spared: int = 0) -> Estimates:
        # ``spared``: number of items at the end that were not selected for large estimates.
        return self._picked(order, self._selection_of(order, spared), *steps)

    def _picked(self, order: npt.NDArray[np.intp], selected: Selection | None, *steps: Applied) -> Estimates:
        given = self.items[order], self.values[order], None if self.variance is None else self.variance[order]
        complete, history = self.complete and len(order) == len(self), (*self.history, *steps)
        collisions = None if self.collisions is None else self.collisions.picked(order)
        return Estimates(
            *given,
            self.n,
            complete,
            history,
            selected,
            self.arrangement,
            self.ends,
            collisions,
            self.cautions,
            self.levers,
            basis=self.basis,
        )

    def _selection_of(self, order: npt.NDArray[np.intp], spared: int) -> Selection | None:
        before = None if self.selection is None else self.selection.take(order)
        if self.variance is None or len(order) == len(self):
            return before
        largest = of_largest(self.values, self.unheld, order, total=self.complete).sparing(spared)
        return largest if before is None else before.above(largest.least)

    @property
    def unheld(self) -> Unheld:
        """Law of the estimates of items without holders."""
        return self.collisions or Noise.of_reports(self.standard_error, self.n, self.ends)

    @property
    def in_order(self) -> bool:
        """Whether the estimates are those of all items of an ordered domain, in their order."""
        return False

    def postprocess(self, name: str, **options: Any) -> Estimates:
        """New estimates after a step of ``plausibly.POSTPROCESS``, by its name: ``postprocess("norm-sub")``.

        Steps trade bias for less noise. Most are not linear and leave no variance, hence no interval.
        """
        step = find_step(name)
        applied = step.checked(options)
        if step.needs_total and not self.complete:
            raise StateError(f"{name} needs every item of the domain, got a part; estimate the whole domain first")
        if step.needs_order and not self.in_order:
            raise StateError(f"{name} needs values that have an order, such as numbers or dates, and all of them")
        if step.needs_variance and self.variance is None:
            gone = f"is gone after {history_text(self.history)}" if self.history else "these estimates do not have"
            raise StateError(f"{name} needs the variance, which {gone}; apply it to estimates that still have one")
        values, variance = apply(name, self.values, self.n, self.variance, **options)
        if self.selection is not None and variance is not None:
            raise StateError(f"{name} changes estimates whose items are already selected; apply it before that")
        history = (*self.history, applied)
        return replace(self, values=values, variance=variance, history=history, basis=self.basis.changed)

    def fitted(self, values: Floats, step: Applied) -> Estimates:
        """The estimates with values that were fitted to the same reports: they have no variance, hence no interval."""
        history = (*self.history, step)
        return replace(self, values=values, variance=None, history=history, basis=self.basis.changed)

    # --- questions about an order, which only OrderedEstimates answer -----------------------------------------

    def ranges(self, ranges: Iterable[tuple[Any, Any]]) -> RangeCounts:
        """Numbers of users in ranges, for all items of an ordered domain: see ``OrderedEstimates.ranges``."""
        raise _without_order()

    def binned(self, bins: Any = "auto") -> Histogram:
        """Numbers of users in bins, for all items of an ordered domain: see ``OrderedEstimates.binned``."""
        raise _without_order()

    def cdf(self, *, simultaneous: bool = False) -> Distribution:
        """The distribution function of all items of an ordered domain: see ``OrderedEstimates.cdf``."""
        raise _without_order()

    def quantiles(self, shares: Iterable[float] = (0.25, 0.5, 0.75)) -> Quantiles:
        """Quantiles, for all items of an ordered domain: see ``OrderedEstimates.quantiles``."""
        raise _without_order()

    def mean(self) -> Row:
        """The mean, for all items of an ordered domain: see ``OrderedEstimates.mean``."""
        raise _without_order()

    def mean_answer(self) -> MeanAnswer:
        """The mean of all items of an ordered domain as a table: see ``OrderedEstimates.mean_answer``."""
        raise _without_order()

    def columns(self, level: float = 0.95) -> dict[str, npt.NDArray[Any]]:
        columns = super().columns(level)
        columns["share"] = self.fractions if self.n else np.full(len(self), np.nan)
        if self.significant is not None:
            columns["significant"] = self.significant
        return columns

    def shown_rows(self) -> Estimates:
        return self.arranged(self.usual_number)

    @property
    def hollow(self) -> npt.NDArray[np.bool_]:
        return super().hollow if self.significant is None else ~self.significant

    @property
    def title(self) -> str:
        steps = "".join(f", {step}" for step in self.history)
        return f"{plural(len(self), 'item')} from {plural(self.n, 'report')}{steps}"

    @property
    def reported(self) -> bool:
        return self.n > 0

    def remarks(self) -> list[str]:
        shown = self.shown_rows()
        if not self.reported:
            return [_NOTHING]
        told = list(self.cautions)
        if self.variance is None:
            steps = without_steps(self.history, Kind.SELECTION, Kind.SEARCH)
            return told + [f"No intervals: {history_text(steps)} leaves no variance."] * bool(steps)
        if self.selection is not None:
            told.append(_PICKED)
        elif shown.selection is not None:
            count = len(shown) - int(shown.apart.sum())
            told.append(f"The {count:,} largest; the intervals allow for this choice. to_frame() has plain ones.")
        return told + [_AT_MOST] * bool(shown.hollow.any())

    def further_texts(self) -> dict[str, list[str]]:
        digits = 2 if self.n < 1_000_000 else 3
        return {"share": [f"{100 * share:z.{digits}f} %" for share in self.fractions.tolist()]} if self.n else {}

    def written(self, value: float) -> str:
        return count_text(value, 0 if self.n >= 1000 else 1)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        k: int | None = None,
        level: float = 0.95,
        title: str | None = None,
        unit: str = "users",
    ) -> Axes:
        """A bar chart of the k largest estimates with their intervals, as matplotlib axes.

        Items that have an order of their own, such as numbers, are drawn in that order if all are drawn. The item for
        all other values is drawn last and apart. Bars are hollow where the interval contains 0; the lines of
        items that are not ``significant`` go from 0 to the upper bound. ``unit`` names what is counted, in the plural.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from error
        drawn = self.chart(k, level=level, title=title, unit=unit)
        if ax is None:
            ax = pyplot.subplots(figsize=chart_size(len(drawn.labels)), layout="constrained")[1]
        drawn.draw(ax)
        return ax

    def chart(
        self, k: int | None = None, *, level: float = 0.95, title: str | None = None, unit: str = "users"
    ) -> BarChart:
        """The bar chart that ``plot`` draws."""
        shown = self.arranged(self.usual_number if k is None else checked_k(k))
        return BarChart(
            [label_of(item) or "(empty)" for item in shown.items],
            shown.values,
            None if shown.variance is None else shown.interval(level),
            np.full(len(shown), True) if shown.significant is None else shown.significant,
            shown.apart,
            level,
            shown.n,
            unit,
            title,
        )


def _without_order() -> StateError:
    return StateError(
        "expected estimates of all items of an ordered domain, such as numbers or dates, got others; ask before top()"
    )


def _numbers(values: Floats, digits: int) -> list[str]:
    return [count_text(value, digits) for value in values]


def _widest(one: tuple[float, float] | None, other: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def collisions_of(parts: Sequence[Estimates], weights: Sequence[float]) -> Unheld | None:
    """The law of items without holders in a weighted sum of estimates of different reports, if any of them has one."""
    if all(part.collisions is None for part in parts) or any(part.variance is None for part in parts):
        return None
    seeds = [part.basis.hash_seeds for part in parts]
    shared = len(frozenset().union(*seeds)) < sum(map(len, seeds))
    return added(tuple(part.unheld.scaled(weight) for part, weight in zip(parts, weights, strict=True)), shared=shared)


def checked_k(k: object) -> int:
    """A number of estimates to select. Raises unless it is a positive integer."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(Words(Setting("k"), f": expected a positive integer, got {shown(k)}"))
    return int(k)
