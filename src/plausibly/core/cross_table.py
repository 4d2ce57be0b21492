"""An estimated table of two or more attributes: counts with intervals, margins, shares by row, independence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .arrangement import Arrangement
from .domain import CHOSEN, MISSING, OTHER, Attribute, Choices, InOrder, object_array
from .errors import ParameterError, StateError
from .estimates import Estimates
from .independence import Independence, independence_of
from .laws import CLEAR
from .levers import OfTable, Reach, fakes_among, no_bound
from .linear import Linear
from .measured import Floats, Measured
from .ordered_charts import Caption, Drawn, plotted
from .ordered_estimates import in_order
from .sized_table import SizedTable
from .table_charts import Grid, HeatMap, Mosaic
from .table_law import TableLaw
from .tables_only import Estimated
from .wording import count_text, label_of, nearest, plural, shown, text_table, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame
    from polars import DataFrame as PolarsFrame

Picture = Literal["heat map", "mosaic"]

_WIDEST, _LONGEST = 8, 40
"""Numbers of columns and rows that are printed."""
_CELL = "padding:0.15em 0.6em;text-align:right;font-variant-numeric:tabular-nums"
_UNKNOWN = "?"
_APPROXIMATE = "The shares are ratios of two estimates; their intervals are approximate (delta method)."


@dataclass(frozen=True, eq=False)
class OneWay(Linear):
    """Answers to linear questions about one attribute, by the law of its table."""

    counts: Floats
    law: TableLaw
    n: int

    @property
    def size(self) -> int:
        return len(self.counts)

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        return weights @ self.counts, np.maximum(self.law.variances(weights, self.counts, self.n), 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Celled(Measured):
    """Numbers of the cells of a table, each named by a tuple with a value of every attribute."""

    attributes: tuple[Attribute, ...]
    n: int
    cautions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the table's attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of cells along the table's attributes."""
        return tuple(attribute.size for attribute in self.attributes)

    def grid(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers of all cells as an array with an axis for each of the table's attributes."""
        return numbers.reshape(self.shape)

    def taken(self, places: npt.NDArray[np.intp]) -> Celled:
        variance = None if self.variance is None else self.variance[places]
        return replace(self, items=self.items[places], values=self.values[places], variance=variance)

    @property
    def reported(self) -> bool:
        return self.n > 0

    def label_of_item(self, item: Any) -> str:
        return ", ".join(map(label_of, item))

    def remarks(self) -> list[str]:
        return list(self.cautions)

    # --- tables for other libraries ---------------------------------------------------------------------------

    def _axes(self) -> dict[str, list[Any]]:
        # A column for each attribute. One that is named like a column of numbers comes first all the same.
        return {name: [item[axis] for item in self.items.tolist()] for axis, name in enumerate(self.names)}

    def _long(self, level: float) -> dict[str, Any]:
        axes, columns = self._axes(), self.columns(level)
        taken = {f"{name} (attribute)" if name in columns else name: values for name, values in axes.items()}
        return taken | {name: column.tolist() for name, column in columns.items()}

    def to_frame(self, level: float = 0.95, *, wide: bool = False) -> DataFrame:
        """The table as a pandas DataFrame: a row for each cell, with its interval.

        ``wide``: only the numbers, the first attribute down and the second across.
        """
        try:
            from pandas import DataFrame, Index
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas") from error
        if not wide:
            return DataFrame(self._long(level))
        rows, columns = self._expect_two()
        index, across = (Index(each.cells, name=each.name) for each in (rows, columns))
        return DataFrame(self.grid(self.values), index=index, columns=across)

    def to_polars(self, level: float = 0.95, *, wide: bool = False) -> PolarsFrame:
        """The table as a Polars DataFrame, like ``to_frame``; cells are named by texts."""
        try:
            from polars import DataFrame
        except ImportError as error:
            raise ImportError("to_polars() needs polars: pip install polars") from error
        if not wide:
            long = self._long(level)
            return DataFrame(
                {
                    name: _texts(values) if i < len(self.shape) else values
                    for i, (name, values) in enumerate(long.items())
                }
            )
        rows, columns = self._expect_two()
        grid = self.grid(self.values)
        numbers = {str(cell): grid[:, place] for place, cell in enumerate(columns.cells.tolist())}
        return DataFrame({rows.name: _texts(rows.cells.tolist()), **numbers})

    def to_csv(self, path: Any = None, level: float = 0.95) -> str | None:
        named = replace(self, items=object_array(" | ".join(map(str, item)) for item in self.items.tolist()))
        return Measured.to_csv(named, path, level)

    def _expect_two(self) -> tuple[Attribute, Attribute]:
        if len(self.attributes) != 2:
            raise StateError(f"expected a table of two attributes, got {len(self.attributes)}")
        return self.attributes[0], self.attributes[1]

    # --- tables for people ------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        return f"{' by '.join(self.names)}, from {plural(self.n, 'report')}"

    def texts(self) -> list[list[str]]:
        """The columns of a printed table: names of the rows, then a column of numbers for each column."""
        rows, columns = self.attributes[:-1], self.attributes[-1]
        names = [" | ".join(map(label_of, each)) for each in product(*(one.cells.tolist() for one in rows))]
        numbers = self.values.reshape(-1, columns.size)
        half = _half(self.interval(), numbers.shape) if self.reported else None
        head = " | ".join(self.names[:-1])
        found = [[f"{head} \\ {columns.name}", *names]]
        for place, cell in enumerate(columns.cells.tolist()):
            cells = [self.written(value) for value in numbers[:, place].tolist()]
            if half is not None:
                sides = [self.written(own) for own in half[:, place].tolist()]
                cells = [text if text == _UNKNOWN else f"{text} ±{own}" for text, own in zip(cells, sides, strict=True)]
            found.append([label_of(cell), *cells])
        return found

    def __repr__(self) -> str:
        columns = self.texts()
        short = [column[: _LONGEST + 1] for column in columns[: _WIDEST + 1]]
        more = []
        if len(columns) > len(short) or len(columns[0]) > len(short[0]):
            more = [f"... {len(columns[0]) - 1:,} rows and {len(columns) - 1:,} columns in all; to_frame() has them"]
        lines = [f"<{self.title}; ± is the 95 % interval>", *(f"  {line}" for line in text_table(short))]
        return "\n".join([*lines, *(f"  {line}" for line in [*more, *self.remarks()])])

    def _repr_html_(self) -> str:
        # For notebooks: rows and columns as headings, and the interval below each number.
        if len(self.attributes) != 2:
            return f"<pre>{escape(repr(self))}</pre>"
        rows, columns = self.attributes
        low, high = (self.grid(end) for end in self.interval())
        grid = self.grid(self.values)
        head = "".join(
            f'<th style="{_CELL}"><bdi>{escape(visible(cell))}</bdi></th>' for cell in columns.cells.tolist()
        )
        body = []
        for row, name in enumerate(rows.cells.tolist()):
            cells = "".join(self._html_cell(grid[row, j], low[row, j], high[row, j]) for j in range(columns.size))
            body.append(f'<tr><th style="text-align:left"><bdi>{escape(visible(name))}</bdi></th>{cells}</tr>')
        corner = f"<th>{escape(visible(rows.name))} \\ {escape(visible(columns.name))}</th>"
        said = "".join(f"<p>{escape(note)}</p>" for note in ["Grey: the 95 % interval contains 0.", *self.remarks()])
        table = f"<table><thead><tr>{corner}{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        return f"<div><p><b>{escape(self.title)}</b></p>{table}{said}</div>"

    def _html_cell(self, value: float, low: float, high: float) -> str:
        grey = ";color:#777777" * bool(low <= 0 <= high)
        ends = f"[{self.written(low)}, {self.written(high)}]".replace("-", "−")
        return f'<td style="{_CELL}{grey}">{self.written(value).replace("-", "−")}<br><small>{ends}</small></td>'


@dataclass(frozen=True, eq=False, repr=False)
class CrossTable(Celled):
    """Estimated numbers of users in the cells of a table: unbiased counts, each with its exact variance.

    A cell is named by its values: ``table["dark", "Firefox"]``. All tables of one tally agree with each other: their
    margins are the tables of single attributes, and their counts add up to the number of reports.
    """

    law: TableLaw = field(kw_only=True)
    sized: SizedTable | None = field(default=None, kw_only=True)
    """For tests of a table of two attributes, by their positions; None if nobody reported both."""
    levers: OfTable | None = field(default=None, kw_only=True)

    def moved_by_fakes(self, share: float = 0.01) -> Reach:
        if self.levers is None:
            raise no_bound()
        low, high = (np.full(len(self), end) for end in self.levers.one)
        return Reach(low, high).of_fakes(fakes_among(self.n, share))

    @property
    def counts(self) -> Floats:
        """The counts of the table as an array with an axis for each attribute."""
        return self.grid(self.values)

    @property
    def quantities(self) -> str:
        return "counts"

    def columns(self, level: float = 0.95) -> dict[str, npt.NDArray[Any]]:
        return super().columns(level) | {"share": self.values / self.n if self.n else np.full(len(self), np.nan)}

    def written(self, value: float) -> str:
        return count_text(value, 0 if self.n >= 1000 else 1)

    def margin(self, name: str) -> Estimates:
        """The table of one attribute, as ordinary estimates: the sums of this table over the other attributes."""
        axis = self._axis(name)
        attribute, others = self.attributes[axis], tuple(i for i in range(len(self.shape)) if i != axis)
        law, levers = marginal(self.law, axis), None if self.levers is None else self.levers.margin(axis)
        given: dict[str, Any] = {"basis": self.basis, "cautions": self.cautions, "levers": levers}
        return one_way(attribute, self.counts.sum(axis=others), law, self.n, **given)

    @property
    def margins(self) -> tuple[Estimates, ...]:
        """The tables of the single attributes of this table."""
        return tuple(self.margin(name) for name in self.names)

    def top(self, k: int = 10) -> Estimates:
        """The k largest cells of the table, largest first, named by their values with commas between them.

        The largest cells owe something to luck; their intervals allow for that.
        """
        names = object_array(", ".join(map(str, item)) for item in self.items.tolist())
        given = names, self.values, self.variance, self.n, True
        return Estimates(*given, basis=self.basis.changed, cautions=self.cautions, levers=self.levers).top(k)

    def shares_by(self, name: str) -> SharesBy:
        """Shares of the other attributes' values among the users with each value of one attribute, as a table.

        In a table of theme and browser, ``shares_by("browser")`` says which part of the users of each browser have the
        dark theme. Intervals are approximate; a value that hardly anybody has leaves its row unknown.
        """
        axis = self._axis(name)
        others = tuple(i for i in range(len(self.shape)) if i != axis)
        totals = self.counts.sum(axis=others, keepdims=True)
        law = marginal(self.law, axis)
        total_variance = np.expand_dims(law.cell_variances(totals.reshape(-1), self.n), others)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = self.counts / totals
            # The delta method: the variance of count - share*total, where the share is held fixed.
            variance = (
                self.law.cell_variances(self.counts, self.n)
                - 2 * shares * self.law.sum_covariances(self.counts, self.n, (axis,))
                + shares**2 * total_variance
            ) / totals**2
        clear = totals > CLEAR * np.sqrt(np.maximum(total_variance, 0.0))
        variance = np.where(clear, np.maximum(variance, 0.0), np.inf)
        shares = np.where(clear, shares, np.nan)
        given = self.attributes, self.n, self.cautions
        return SharesBy(self.items, shares.reshape(-1), variance.reshape(-1), *given, basis=self.basis.changed, by=name)

    def independence(self) -> Independence:
        """A test whether the two attributes are independent among the people from whom the users are drawn.

        It accounts for the noise of the reports: a test that took the estimated counts for numbers of users would find
        relations everywhere. Of independent attributes, at most 5 % have a p-value below 0.05, in small crowds too.
        ``needed`` is the number of reports that it takes to notice a relation in which one answer tells the other; with
        fewer, it says that it cannot tell, unless it has found a relation. It also cannot tell if reports were lost or
        added.
        """
        self._expect_two()
        names = self.names[0], self.names[1]
        return independence_of(self.sized, self.law, self.n, names, self.cautions)

    def chart(
        self, kind: Picture = "heat map", *, level: float = 0.95, title: str | None = None, unit: str = "users"
    ) -> Drawn:
        """The chart that ``plot`` draws."""
        rows, columns = self._expect_two()
        charts: dict[str, Callable[[Grid, Caption], Drawn]] = {"heat map": HeatMap, "mosaic": Mosaic}
        if kind not in charts:
            raise ParameterError(f"kind: unknown chart {shown(kind)}; {nearest(kind, charts)}")
        low, high = (self.grid(end) for end in self.interval(level))
        labels = [[label_of(cell) or "(empty)" for cell in each.cells.tolist()] for each in (rows, columns)]
        grid = Grid((rows.name, columns.name), labels[0], labels[1], self.counts, (low, high))
        return charts[kind](grid, Caption(level, self.n, unit, title))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: Picture = "heat map",
        level: float = 0.95,
        title: str | None = None,
        unit: str = "users",
    ) -> Axes:
        """A chart of the table, as matplotlib axes: a heat map with intervals, or a mosaic of shares.

        ``unit`` names what is counted, in the plural.
        """
        return plotted(self.chart(kind, level=level, title=title, unit=unit), ax)

    def _axis(self, name: object) -> int:
        if name not in self.names:
            raise ParameterError(f"unknown attribute {shown(name)}; {nearest(name, self.names)}")
        return self.names.index(name)


@dataclass(frozen=True, eq=False, repr=False)
class SharesBy(Celled):
    """Shares within each value of the attribute ``by``: the cells of a value add up to 1. Intervals are approximate."""

    by: str = field(kw_only=True)

    @property
    def quantity(self) -> str:
        return "share"

    @property
    def quantities(self) -> str:
        return "shares"

    @property
    def title(self) -> str:
        return f"shares by {self.by} in {super().title}"

    def remarks(self) -> list[str]:
        return [*super().remarks(), _APPROXIMATE]

    def written(self, value: float) -> str:
        return f"{100 * value:z.1f} %" if np.isfinite(value) else _UNKNOWN


def crossed(attributes: tuple[Attribute, ...], counts: Floats, law: TableLaw, n: int, **given: Any) -> CrossTable:
    """The table with these counts, an axis for each attribute."""
    items = object_array(product(*(attribute.cells.tolist() for attribute in attributes)))
    variance = np.maximum(law.cell_variances(counts, n), 0.0).reshape(-1)
    return CrossTable(items, counts.reshape(-1), variance, attributes, n, law=law, **given)


def one_way(attribute: Attribute, counts: Floats, law: TableLaw, n: int, **given: Any) -> Estimates:
    """The table of one attribute as ordinary estimates; of values in order, with their ranges and quantiles."""
    variance = np.maximum(law.cell_variances(counts, n), 0.0)
    arrangement = attribute.domain.arrangement
    if attribute.missing:
        # Numbers and a text cannot be sorted together; the cell for missing values stands apart.
        arrangement = Arrangement(other=MISSING)
    found = Estimates(attribute.cells, counts, variance, n, True, arrangement=arrangement, **given)
    order = attribute.domain
    if attribute.missing or not isinstance(order, InOrder):
        return found
    return in_order(found, order, OneWay(counts, law, n))


def chosen(choices: Choices, tables: Sequence[Estimated], n: int, **given: Any) -> Estimates:
    """How many users have chosen each item, from the tables of all single items."""
    counts = np.array([table.counts[CHOSEN] for table in tables])
    variance = np.array([table.law.cell_variances(table.counts, n)[CHOSEN] for table in tables])
    # Users have several items or none: the counts do not add up to n.
    return Estimates(
        object_array(choices.names),
        counts,
        np.maximum(variance, 0.0),
        n,
        False,
        arrangement=Arrangement(other=OTHER if choices.other else None),
        **given,
    )


def marginal(law: TableLaw, axis: int) -> TableLaw:
    """The law of the table of a single attribute, one of those of this table."""
    only = (axis,)
    # A law leaves out pairs without a factor: a user's own cell may add nothing.
    return TableLaw((law.sizes[axis],), {(0,): law.noise[only]}, {((0,), (0,)): law.own.get((only, only), 0.0)})


def _texts(values: list[Any]) -> list[Any]:
    # Polars has one type in a column, and an attribute may have numbers and a text.
    return values if len({type(value) for value in values}) <= 1 else [str(value) for value in values]


def _half(ends: tuple[Floats, Floats], shape: tuple[int, ...]) -> Floats:
    return np.asarray((ends[1] - ends[0]).reshape(shape) / 2)
