"""Answers that an order of items allows: counts of ranges, distribution functions, quantiles and means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import floor, isfinite, log10
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from .bar_chart import BarChart
from .domain import InOrder, object_array
from .errors import StateError
from .history import History, Kind
from .laws import Floats
from .levers import Levers, Reach, fakes_among, no_bound
from .measured import SHOWN, Measured, expect_level, normal_interval
from .ordered_charts import Caption, DistributionChart, Drawn, Ends, HistogramChart, QuantileChart, plotted
from .wording import count_text, label_of, plural, text_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Places = npt.NDArray[np.intp]

MOST_ASKED = 4096
"""Largest number of items in order for which the effect of fake reports on sums is computed, question by question."""
_HALVINGS = 50

_RAW = "After {steps}, the intervals are still those of the unbiased counts."
_UNKNOWN = "No interval: the error of estimates by {steps} is unknown. SLIDE has intervals."
_TOGETHER = "The intervals are a band: with the stated probability, it contains the whole function (Bonferroni)."
_CONSERVATIVE = (
    "The number of users with a value in the order is estimated, too. The intervals allow for that with the sum of "
    "both standard errors, which is more than enough."
)
_APPROXIMATE = (
    "The mean is a ratio of two estimates, since the number of users with a value in the order is estimated, too. Its "
    "interval is approximate (delta method)."
)


@dataclass(frozen=True, eq=False, repr=False)
class OrderedAnswer(Measured):
    """Numbers about items in order, from ``n`` reports. ``order`` is the domain of the items.

    ``history`` lists the steps that changed the counts; ``cautions`` are sentences about reports that do not fit.
    """

    order: InOrder
    n: int
    history: History = ()
    cautions: tuple[str, ...] = ()
    levers: Levers | None = None

    question: ClassVar[str] = ""
    """Name of the question in files."""
    heading: ClassVar[str] = ""
    """Heading of the answer on pages."""
    drawn: ClassVar[bool] = True
    """Whether there is a chart of the answer."""

    @property
    def processed(self) -> str:
        """The steps that changed the counts, in words; empty if there are none."""
        return " and ".join(str(step) for step in self.history if step.kind is Kind.POSTPROCESSING)

    @property
    def decoded(self) -> str:
        """The decoder whose error is unknown, in words; empty if estimates are sums over reports."""
        return " and ".join(dict.fromkeys(str(step) for step in self.history if step.kind is Kind.DECODING))

    @property
    def reported(self) -> bool:
        return self.n > 0

    def known_variance(self) -> Floats:
        if self.variance is None:
            raise no_interval(self.decoded)
        return self.variance

    def taken(self, places: Places) -> OrderedAnswer:
        variance = None if self.variance is None else self.variance[places]
        return replace(self, items=self.items[places], values=self.values[places], variance=variance)

    def known_levers(self) -> Levers:
        """What one report adds to sums of counts. Raises if that is not known, or if there are too many questions."""
        if self.levers is None:
            raise no_bound()
        if self.order.size > MOST_ASKED:
            raise StateError(
                f"the effect of fake reports is known for at most {MOST_ASKED:,} items in order, got "
                f"{self.order.size:,}; collect with wider bins"
            )
        return self.levers

    def shown_rows(self) -> OrderedAnswer:
        # In order, and evenly spaced if there are too many.
        return self.taken(np.unique(np.linspace(0, len(self) - 1, min(len(self), SHOWN)).round().astype(np.intp)))

    @property
    def title(self) -> str:
        return f"{self.quantities} from {plural(self.n, 'report')}{self.processed and f', {self.processed}'}"

    @property
    def short(self) -> OrderedAnswer:
        """The part of the answer that a printed table shows."""
        return self.shown_rows()

    def texts(self, level: float = 0.95) -> dict[str, list[str]]:
        """The table of the answer for people: texts by the names of the columns."""
        further = self.further_texts()
        columns = {self.label: [label_of(item) for item in self.items.tolist()]}
        columns |= {self.quantity: [self.written(value) for value in self.values.tolist()], **further}
        if self.reported and self.has_interval:
            low, high = ([self.written(end) for end in side.tolist()] for side in self.interval(level))
            left, right = (max(map(len, side), default=0) for side in (low, high))
            ends = [f"[{a:>{left}}, {b:>{right}}]" for a, b in zip(low, high, strict=True)]
            columns[f"{100 * level:g} % interval"] = ends
        return columns

    @property
    def label(self) -> str:
        """Name of the first column of tables for people."""
        return "item"

    @property
    def has_interval(self) -> bool:
        """Whether the answer has intervals, with or without a variance."""
        return self.variance is not None

    def remarks(self) -> list[str]:
        if not self.has_interval:
            return [*self.cautions, *[_UNKNOWN.format(steps=self.decoded)] * bool(self.decoded)]
        return [*self.cautions, *[_RAW.format(steps=self.processed)] * bool(self.processed)]

    def drawn_interval(self, level: float) -> Ends | None:
        """The intervals of the answer's chart, if there are any."""
        return self.interval(level) if self.has_interval else None

    def chart(self, *, level: float = 0.95, title: str | None = None, unit: str = "users") -> Drawn:
        """The chart that ``plot`` draws."""
        raise StateError(f"there is no chart of a {self.quantities}")

    def plot(
        self, ax: Axes | None = None, *, level: float = 0.95, title: str | None = None, unit: str = "users"
    ) -> Axes:
        """A chart of the answer with intervals, as matplotlib axes. ``unit`` names what is counted, in the plural."""
        return plotted(self.chart(level=level, title=title, unit=unit), ax)

    def __repr__(self) -> str:
        shown = self.short
        lines = text_table([[name, *texts] for name, texts in shown.texts().items()])
        more = [f"... and {len(self) - len(shown):,} more"] * (len(shown) < len(self))
        return "\n".join([f"<{self.title}>", *(f"  {line}" for line in [*lines, *more, *self.remarks()])])


@dataclass(frozen=True, eq=False, repr=False)
class Sums(OrderedAnswer):
    """Counts of several items together, each with its variance.

    ``centres`` are the unbiased sums, and the same as ``values`` unless a step has changed the counts. The variance and
    the intervals are always those of the unbiased sums; after a step, the intervals are clipped to [0, n].
    """

    centres: Floats = field(kw_only=True)

    @property
    def fractions(self) -> Floats:
        """The sums as shares of the n reports."""
        if self.n == 0:
            raise StateError("fractions of zero reports are undefined")
        return self.values / self.n

    def taken(self, places: Places) -> Sums:
        taken = super().taken(places)
        assert isinstance(taken, Sums)
        return replace(taken, centres=self.centres[places])

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every sum.

        ``simultaneous``: all intervals contain the truth at once with probability ``level`` (Bonferroni).
        """
        missed = (1 - expect_level(level)) / (max(1, len(self)) if simultaneous else 1)
        low, high = normal_interval(self.centres, self.known_variance(), missed)
        return (np.clip(low, 0.0, self.n), np.clip(high, 0.0, self.n)) if self.processed else (low, high)

    def weights(self) -> Floats:
        """The weights of all items in each of the sums, one sum a row."""
        raise NotImplementedError

    def moved_by_fakes(self, share: float = 0.01) -> Reach:
        return self.known_levers().reach_of(self.weights()).of_fakes(fakes_among(self.n, share))

    def columns(self, level: float = 0.95) -> dict[str, npt.NDArray[Any]]:
        columns = super().columns(level)
        if self.processed:
            # The error of the unprocessed sums; that of the processed ones is unknown.
            columns.pop("standard_error", None)
        return columns | {"share": self.fractions if self.n else np.full(len(self), np.nan)}

    def further_texts(self) -> dict[str, list[str]]:
        digits = 2 if self.n < 1_000_000 else 3
        return {"share": [f"{100 * share:z.{digits}f} %" for share in self.fractions.tolist()]} if self.n else {}

    def written(self, value: float) -> str:
        return count_text(value, 0 if self.n >= 1000 else 1)


@dataclass(frozen=True, eq=False, repr=False)
class RangeCounts(Sums):
    """Numbers of users whose value is in given ranges. ``codes`` has the first and the last item of each.

    The ranges are named by their ends: ``ranges["18..24"]``, or ``ranges[18, 24]``.
    """

    question = "ranges"
    heading = "Ranges"

    codes: npt.NDArray[np.int64] = field(kw_only=True)

    @property
    def label(self) -> str:
        return f"range ({self.order.unit})" if self.order.unit else "range"

    @property
    def title(self) -> str:
        return f"{plural(len(self), 'range')} from {plural(self.n, 'report')}{self.processed and f', {self.processed}'}"

    def place(self, item: Any) -> int:
        return super().place("..".join(map(str, item)) if isinstance(item, tuple) and len(item) == 2 else item)

    def taken(self, places: Places) -> RangeCounts:
        taken = super().taken(places)
        assert isinstance(taken, RangeCounts)
        return replace(taken, codes=self.codes[places])

    def weights(self) -> Floats:
        items = np.arange(self.order.size)
        return ((items >= self.codes[:, :1]) & (items <= self.codes[:, 1:])).astype(np.float64)

    @property
    def edges(self) -> tuple[Floats, Floats]:
        """Lower and upper edges of the ranges as numbers, for plots."""
        edges = self.order.edges()
        return edges[self.codes[:, 0]], edges[self.codes[:, 1] + 1]

    def chart(self, *, level: float = 0.95, title: str | None = None, unit: str = "users") -> Drawn:
        """The chart that ``plot`` draws: a bar for each range."""
        every, own = np.full(len(self), True), f" {self.order.unit}" * bool(self.order.unit)
        names = [f"{item}{own}" for item in self.items.tolist()]
        return BarChart(names, self.values, self.drawn_interval(level), every, ~every, level, self.n, unit, title)


@dataclass(frozen=True, eq=False, repr=False)
class Histogram(RangeCounts):
    """Numbers of users in bins that follow each other. ``reason`` says why there are this many bins."""

    question = "bins"
    heading = "Histogram"

    reason: str = field(kw_only=True)

    @property
    def title(self) -> str:
        return f"{plural(len(self), 'bin')} from {plural(self.n, 'report')}{self.processed and f', {self.processed}'}"

    @property
    def short(self) -> Histogram:
        return self

    def chart(self, *, level: float = 0.95, title: str | None = None, unit: str = "users") -> Drawn:
        """The chart that ``plot`` draws: bars over the edges of the bins."""
        caption = Caption(level, self.n, unit, title, self.reason.partition(":")[0])
        return HistogramChart(self.order, self.edges, self.values, self.drawn_interval(level), caption)

    def remarks(self) -> list[str]:
        return [*super().remarks(), *[self.reason] * bool(self.reason)]


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Sums):
    """The distribution function: for each item, the number of users whose value is that item or a smaller one.

    A bin is named by its upper edge. With ``simultaneous``, the intervals are a band that contains the whole function
    with the stated probability: Bonferroni's intervals, narrowed to those of rising functions from 0 to n.
    """

    question = "cdf"
    heading = "Distribution function"

    simultaneous: bool = False

    @property
    def quantities(self) -> str:
        return "distribution function"

    @property
    def label(self) -> str:
        return f"at most ({self.order.unit})" if self.order.unit else "at most"

    def interval(self, level: float = 0.95, *, simultaneous: bool | None = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval at every item, or of the band around the whole function.

        ``simultaneous``: the band contains the whole function with probability ``level``; by default as asked for in
        ``cdf``.
        """
        if not (self.simultaneous if simultaneous is None else simultaneous):
            return super().interval(level)
        low, high = super().interval(level, simultaneous=True)
        # The function rises: so do the tightest bounds.
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
        return np.clip(low, 0.0, self.n), np.clip(high, 0.0, self.n)

    def weights(self) -> Floats:
        stops = object_array(self.order.written(stop) for stop in self.order.scale.stops).tolist()
        places = [stops.index(item) for item in self.items.tolist()]
        return (np.arange(self.order.size) <= np.array(places)[:, None]).astype(np.float64)

    def taken(self, places: Places) -> Distribution:
        # Part of a band keeps its width.
        taken = super().taken(places)
        assert isinstance(taken, Distribution)
        return _PartOfBand(**vars(taken), whole=self, places=places) if self.simultaneous else taken

    def remarks(self) -> list[str]:
        return [*super().remarks(), *[_TOGETHER] * (self.simultaneous and self.has_interval)]

    def chart(self, *, level: float = 0.95, title: str | None = None, unit: str = "users") -> Drawn:
        """The chart that ``plot`` draws: the function and its band."""
        scale = self.order.scale
        ends = np.array(scale.starts, dtype=np.float64), np.array(scale.stops, dtype=np.float64)
        caption = Caption(level, self.n, unit, title)
        band = self.drawn_interval(level)
        return DistributionChart(self.order, *ends, self.values, band, self.simultaneous, caption)


@dataclass(frozen=True, eq=False, repr=False)
class _PartOfBand(Distribution):
    # Some points of a distribution function whose band was computed for all of them.

    whole: Distribution = field(kw_only=True)
    places: Places = field(kw_only=True)

    def interval(self, level: float = 0.95, *, simultaneous: bool | None = None) -> tuple[Floats, Floats]:
        low, high = self.whole.interval(level, simultaneous=simultaneous)
        return low[self.places], high[self.places]


@dataclass(frozen=True, eq=False)
class Prefixes:
    """The unprocessed distribution function, from which quantiles have their intervals.

    ``errors`` are its standard errors; ``inside`` is the number of users with a value in the order, and ``doubt`` the
    standard error of that number, which is 0 if no item stands outside the order.
    """

    values: Floats
    errors: Floats
    inside: float
    doubt: float

    def hull(self, share: float, factor: float, moved: Reach | None = None) -> tuple[int, int]:
        """The first and the last item that may be a quantile, given ``factor`` standard errors of room.

        x may be the quantile unless too few users are at or below x, or too many below it. ``moved``: what fake reports
        may have added to the number of users at or below each item, less its target.
        """
        room = factor * (self.errors + share * self.doubt)
        target = share * self.inside
        least, most = (moved.low, moved.high) if moved else (0.0 * room, 0.0 * room)
        enough = self.values + room - least >= target
        # As many users as there are have a value that is at most the last one.
        enough[-1] = True
        few = (self.values - room - most)[:-1] <= target
        first = int(np.argmax(enough))
        last = len(few) - int(np.argmax(few[::-1])) if few.any() else 0
        return first, max(last, first)


@dataclass(frozen=True, eq=False, repr=False)
class Quantiles(OrderedAnswer):
    """Quantiles of the values of users: the smallest value that a given share of the users do not exceed.

    ``values`` are numbers on the scale of the domain (days since 1970-01-01 for dates); tables have them in the
    domain's own units. A quantile has no variance, but an interval, from all items that the unprocessed distribution
    function allows. In a bin, users are taken to be spread evenly; the ends of intervals are edges of bins.
    """

    question = "quantiles"
    heading = "Quantiles"

    prefixes: Prefixes | None = field(kw_only=True)
    """The unprocessed distribution function; None if its error is unknown, and there are no intervals."""

    @property
    def quantity(self) -> str:
        return "value"

    @property
    def quantities(self) -> str:
        return "quantiles"

    @property
    def label(self) -> str:
        return "quantile"

    @property
    def has_interval(self) -> bool:
        return self.prefixes is not None

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every quantile, as numbers on the scale of the domain.

        ``simultaneous``: all intervals contain the truth at once with probability ``level`` (Bonferroni).
        """
        missed = (1 - expect_level(level)) / (max(1, len(self)) if simultaneous else 1)
        return self._hulls(missed, [None] * len(self))

    def despite_fakes(self, share: float = 0.01, level: float = 0.95) -> tuple[Floats, Floats]:
        """The interval of every quantile of the honest users, if up to this share of the reports is fake."""
        fakes, levers = fakes_among(self.n, share), self.known_levers()
        items = np.arange(self.order.size)
        outside, prefixes = items >= self.order.length, items <= np.arange(self.order.length)[:, None]
        # A report counts in the number of users below an item, and in the target: a share of those inside the order.
        moved: list[Reach | None] = [
            levers.reach_of(prefixes + asked * outside).added(-asked).of_fakes(fakes) for asked in self.items.tolist()
        ]
        return self._hulls(1 - expect_level(level), moved)

    def _hulls(self, missed: float, moved: Sequence[Reach | None]) -> tuple[Floats, Floats]:
        factor, prefixes = -NormalDist().inv_cdf(missed / 2), self.prefixes
        if prefixes is None:
            raise no_interval(self.decoded)
        hulls = [prefixes.hull(share, factor, ends) for share, ends in zip(self.items.tolist(), moved, strict=True)]
        scale = self.order.scale
        low, high = [scale.starts[first] for first, _ in hulls], [scale.stops[last] for _, last in hulls]
        return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)

    def columns(self, level: float = 0.95) -> dict[str, npt.NDArray[Any]]:
        numbers = {"value": self.values}
        if self.has_interval:
            numbers["low"], numbers["high"] = self.interval(level)
        return {name: in_own_units(self.order, column) for name, column in numbers.items()}

    def written(self, value: float) -> str:
        return written_near(self.order, value, mean_width(self.order))

    def chart(self, *, level: float = 0.95, title: str | None = None, unit: str = "users") -> Drawn:
        """The chart that ``plot`` draws: a box of the quantiles, and each with its interval."""
        caption = Caption(level, self.n, unit, title)
        texts = [self.written(value) for value in self.values.tolist()]
        return QuantileChart(self.order, self.items.tolist(), self.values, self.drawn_interval(level), texts, caption)

    def remarks(self) -> list[str]:
        doubtful = self.prefixes is not None and self.prefixes.doubt > 0
        return [*super().remarks(), *[_CONSERVATIVE] * doubtful]

    def texts(self, level: float = 0.95) -> dict[str, list[str]]:
        return _in_unit(super().texts(level), self.quantity, self.order.unit)


@dataclass(frozen=True, eq=False, repr=False)
class MeanAnswer(OrderedAnswer):
    """The mean of the values of users, a number on the scale of the domain, with its variance.

    ``centres`` is the mean before any step. ``approximate``: it is a ratio of two estimates, and its variance that of
    the delta method. ``inside`` is the number of users with a value in the order, ``worth`` what a report counts as if
    there are no counts.
    """

    question = "mean"
    heading = "Mean"
    drawn = False

    centres: Floats = field(kw_only=True)
    approximate: bool = False
    inside: float = 0.0
    worth: tuple[float, float] | None = None

    @property
    def quantity(self) -> str:
        return "value"

    @property
    def quantities(self) -> str:
        return "mean"

    @property
    def label(self) -> str:
        return ""

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper end of the confidence interval of the mean."""
        return normal_interval(self.centres, self.known_variance(), 1 - expect_level(level))

    def despite_fakes(self, share: float = 0.01, level: float = 0.95) -> tuple[Floats, Floats]:
        """The interval of the mean of the honest users, if up to this share of the reports is fake.

        The mean of the honest users is m if the values less m add up to 0, once the fakes are taken away. It lies
        between the smallest and the largest value of the order.
        """
        fakes, points = fakes_among(self.n, share), self.order.points()
        (low,), (high,) = self.interval(level)
        inside = self.inside or float(self.n)

        def least(mean: float) -> float:
            return float(inside * (low - mean) - self._shifted(mean).of_fakes(fakes).high[0])

        def most(mean: float) -> float:
            return float(inside * (high - mean) - self._shifted(mean).of_fakes(fakes).low[0])

        ends = [_root(side, float(points[0]), float(points[-1])) for side in (least, most)]
        return np.array(ends[:1]), np.array(ends[1:])

    def _shifted(self, mean: float) -> Reach:
        # What a report adds to the sum of the values less the mean, at least and at most.
        if self.worth is not None:
            return Reach(*(np.array([worth - mean]) for worth in self.worth))
        points = self.order.points()
        middle, weights = points[0] / 2 + points[-1] / 2, np.zeros((1, self.order.size))
        weights[0, : len(points)] = points - middle
        weights[0, len(points) :] = mean - middle
        return self.known_levers().reach_of(weights).added(middle - mean)

    def columns(self, level: float = 0.95) -> dict[str, npt.NDArray[Any]]:
        columns = super().columns(level)
        if self.processed:
            columns.pop("standard_error", None)
        own = {name: in_own_units(self.order, columns[name]) for name in ("value", "low", "high") if name in columns}
        return columns | own

    def written(self, value: float) -> str:
        error = mean_width(self.order) if self.variance is None else float(self.variance[0]) ** 0.5
        return written_near(self.order, value, error)

    def remarks(self) -> list[str]:
        return [*super().remarks(), *[_APPROXIMATE] * self.approximate]

    def texts(self, level: float = 0.95) -> dict[str, list[str]]:
        return _in_unit(super().texts(level), self.quantity, self.order.unit)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    # Where a falling function becomes 0, or the end at which it comes closest.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def in_own_units(order: InOrder, numbers: Floats) -> npt.NDArray[Any]:
    """Numbers on the scale of an ordered domain in its own units: an array of numbers, or of texts for dates."""
    if isinstance(order.written(0.0), str):
        # Without a bound there is no date.
        return object_array(order.written(number) if isfinite(number) else "" for number in numbers.tolist())
    return numbers


def mean_width(order: InOrder) -> float:
    """Mean width of the items of an ordered domain."""
    edges = order.edges()
    return float(edges[-1] - edges[0]) / order.length


def no_interval(decoded: str) -> StateError:
    """The refusal of an ordered answer to state the interval of estimates that a decoder made."""
    why = f"the error of estimates by {decoded} is unknown" if decoded else "there is no variance"
    return StateError(f"no interval: {why}; collect with SLIDE, which has intervals")


def written_near(order: InOrder, value: float, error: float) -> str:
    """A number on the scale of an ordered domain in its own units, with as many digits as an error leaves."""
    if not isfinite(value):
        return f"{value}"
    digits = 1 - floor(log10(error)) if isfinite(error) and error > 0 else 6
    own = order.written(round(value, min(max(digits, 0), 12)))
    return own if isinstance(own, str) else f"{own:,}"


def _in_unit(texts: dict[str, list[str]], name: str, unit: str) -> dict[str, list[str]]:
    # The unit in the head of a column.
    return {f"{key} ({unit})" if key == name and unit else key: column for key, column in texts.items()}
