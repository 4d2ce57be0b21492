"""Numbers of items with their variances: look them up, list them, and turn them into tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .atomic import replacing
from .basis import Basis
from .errors import DomainError, ParameterError, StateError
from .levers import Reach, no_bound
from .notebook import Bar, html_table
from .wording import label_of, plural, safe_cell, shown, visible
from .words import Setting, Words

if TYPE_CHECKING:
    from pandas import DataFrame
    from polars import DataFrame as PolarsFrame

Floats = npt.NDArray[np.float64]


class MissingItemError(DomainError, KeyError):
    """An item that was looked up is not among the estimates."""

    __str__ = Exception.__str__  # that of KeyError would quote the message


@dataclass(frozen=True, eq=False, repr=False)
class Measured:
    """Numbers of items, each with its variance; ``variance`` is None if none is known."""

    items: npt.NDArray[Any]
    values: Floats
    variance: Floats | None
    basis: Basis = field(default=Basis(), kw_only=True)

    @property
    def quantity(self) -> str:
        """The name of a measured number, and of its column in tables."""
        return "estimate"

    @property
    def quantities(self) -> str:
        """What the measured numbers are, in the plural."""
        return "counts"

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Row]:
        return (Row(self.taken(np.array([place]))) for place in range(len(self)))

    def __contains__(self, item: object) -> bool:
        return item in self._places

    def __getitem__(self, item: Any) -> Row:
        """The number of one item with its interval, by the item itself: ``estimates["dog"]``."""
        return Row(self.taken(np.array([self.place(item)])))

    def place(self, item: Any) -> int:
        """The place of an item among the measured ones. Raises if it is not one of them."""
        try:
            return self._places[item]
        except (KeyError, TypeError):
            raise MissingItemError(f"expected one of the {len(self):,} items of these estimates, got another") from None

    @cached_property
    def _places(self) -> dict[Any, int]:
        # The first place of each item; an item may have been asked for twice.
        return {item: place for place, item in reversed(list(enumerate(self.items.tolist())))}

    def taken(self, places: npt.NDArray[np.intp]) -> Self:
        """The measured numbers of some items, by their places; they do not count as selected for being large."""
        raise NotImplementedError

    def aligned(self, items: npt.NDArray[Any]) -> Self:
        """The measured numbers in the order of the given items. Raises unless they are of exactly these items."""
        wanted = items.tolist()
        if wanted == self.items.tolist():
            return self
        if len(wanted) != len(self) or self._places.keys() != set(wanted):
            raise ParameterError(
                f"expected estimates of the same items, got {len(wanted):,} and {len(self):,} that are not; "
                "estimate the items of one from the other tally: tally.estimate(estimates.items)"
            )
        return self.taken(np.array([self._places[item] for item in wanted], dtype=np.intp))

    def shared_with(self, other: Basis, *, adds: bool = False) -> Floats:
        """The part of the variance that the measured numbers may share with others on the given basis: all or none.

        ``adds``: the numbers are added up.
        """
        return self.basis.changed.shared_error(other, self.known_variance(), adds=adds)

    @property
    def selected(self) -> bool:
        """Whether the measured items were selected for large estimates."""
        return False

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every measured number, not clipped."""
        return normal_interval(self.values, self.known_variance(), 1 - expect_level(level))

    def moved_by_fakes(self, share: float = 0.01) -> Reach:
        """The least and the most that fake reports have added to every measured number, if this share is fake.

        Fakes are any records, sent by people who work together.
        """
        raise no_bound()

    def despite_fakes(self, share: float = 0.01, level: float = 0.95) -> tuple[Floats, Floats]:
        """The interval of every measured number among the honest users, if up to this share of the reports is fake.

        It is the usual interval, moved by as much as the fakes can have done. Like that, it is not clipped.
        """
        low, high = self.interval(level)
        moved = self.moved_by_fakes(share)
        return low - moved.high, high - moved.low

    def known_variance(self) -> Floats:
        """The variance of the measured numbers. Raises if there is none."""
        if self.variance is None:
            raise StateError("no variance, hence no interval")
        return self.variance

    @property
    def standard_error(self) -> Floats:
        """Standard error of every measured number, the square root of its variance. Raises if there is none."""
        return np.sqrt(self.known_variance())

    def columns(self, level: float = 0.95) -> dict[str, npt.NDArray[Any]]:
        """The columns of numbers in tables of the measured items, by name."""
        columns: dict[str, npt.NDArray[Any]] = {self.quantity: self.values}
        if self.variance is not None:
            low, high = self.interval(level)
            columns |= {"standard_error": np.sqrt(self.variance), "low": low, "high": high}
        return columns

    def to_dict(self, level: float = 0.95) -> dict[Any, dict[str, Any]]:
        """The table as a dictionary: item to name of the column to number."""
        columns = self.columns(level)
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return {item: dict(zip(columns, row, strict=True)) for item, row in zip(self.items.tolist(), rows, strict=True)}

    def to_frame(self, level: float = 0.95) -> DataFrame:
        """The table as a pandas DataFrame: the items, their numbers, standard errors and intervals."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas") from error
        return DataFrame({"item": self.items, **self.columns(level)})

    def to_polars(self, level: float = 0.95) -> PolarsFrame:
        """The table as a Polars DataFrame, like ``to_frame``."""
        try:
            from polars import DataFrame
        except ImportError as error:
            raise ImportError("to_polars() needs polars: pip install polars") from error
        return DataFrame({"item": self.items.tolist(), **self.columns(level)})

    def to_csv(self, path: str | Path | None = None, level: float = 0.95) -> str | None:
        """Write the table to a CSV file that is safe to open in a spreadsheet; without a path, return its text."""
        columns, text = self.columns(level), io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(["item", *columns])
        numbers = zip(*(column.tolist() for column in columns.values()), strict=True)
        for item, row in zip(self.items.tolist(), numbers, strict=True):
            name = item.hex() if isinstance(item, bytes) else item
            writer.writerow([safe_cell(name), *(str(each).lower() if isinstance(each, bool) else each for each in row)])
        if path is None:
            return text.getvalue()
        with replacing(Path(path)) as unfinished:
            unfinished.write_text(text.getvalue(), encoding="utf-8", newline="")
        return None

    def _repr_html_(self) -> str:
        # For notebooks: the largest numbers with bars and intervals.
        seen = self.shown_rows()
        further = seen.further_texts()
        columns = ["item", self.quantity, *further]
        texts = [
            [self.written(value), *others]
            for value, *others in zip(seen.values.tolist(), *further.values(), strict=True)
        ]
        ends: list[Any] = [None] * len(seen)
        if seen.variance is not None and self.reported:
            columns.append("95 % interval")
            ends = list(zip(*(side.tolist() for side in self.interval_of_shown(seen)), strict=True))
        bars = []
        for item, text, value, pair, hollow, apart in zip(
            seen.items.tolist(), texts, seen.values.tolist(), ends, seen.hollow.tolist(), seen.apart, strict=True
        ):
            if pair is not None:
                low, high = map(self.written, pair)
                text.append(f"at most {high}" if hollow else f"[{low}, {high}]")
            doubtful = pair is not None and (hollow or pair[0] <= 0 <= pair[1])
            bars.append(Bar(visible(item), text, value, pair, doubtful, bool(apart)))
        more = [f"… and {len(self) - len(seen):,} more"] * (len(seen) < len(self))
        empty = ["Hollow bars: the interval contains 0."] * any(bar.hollow for bar in bars)
        return html_table(self.title, columns, bars, [*more, *empty, *self.remarks()])

    @property
    def title(self) -> str:
        """The heading of the measured numbers in a notebook."""
        return f"{self.quantity} of {plural(len(self), 'item')}"

    @property
    def apart(self) -> npt.NDArray[np.bool_]:
        """Mask of the item that takes all other values, which tables and charts show last and apart."""
        return np.zeros(len(self), dtype=np.bool_)

    def further_texts(self) -> dict[str, list[str]]:
        """Further columns of texts in a notebook, by name."""
        return {}

    def remarks(self) -> list[str]:
        """Sentences below the measured numbers in a notebook."""
        return []

    def label_of_item(self, item: Any) -> str:
        """The name of a measured item on one line, shortened if it is long."""
        return label_of(item)

    def written(self, value: float) -> str:
        """The text of one measured number."""
        return f"{value:,.4g}"

    def shown_rows(self) -> Measured:
        """The measured numbers that a notebook shows, largest first."""
        return self.taken(np.argsort(-np.abs(np.nan_to_num(self.values)), kind="stable")[:SHOWN])

    def interval_of_shown(self, seen: Measured) -> tuple[Floats, Floats]:
        """Reach of the intervals of the measured numbers that a notebook shows."""
        return seen.interval()

    @property
    def reported(self) -> bool:
        """Whether there are any reports behind the measured numbers."""
        return True

    @property
    def hollow(self) -> npt.NDArray[np.bool_]:
        """Mask of measured items that cannot be told apart from noise, and have an upper bound only."""
        return np.zeros(len(self), dtype=np.bool_)


SHOWN = 20
"""Number of rows in a notebook."""


@dataclass(frozen=True, eq=False, repr=False)
class Row:
    """One item with its number; ``float(row)`` is the number."""

    only: Measured

    @property
    def item(self) -> Any:
        """The item of the row."""
        return self.only.items.tolist()[0]

    @property
    def value(self) -> float:
        """The number of the row's item."""
        return float(self.only.values[0])

    @property
    def variance(self) -> float | None:
        """The variance of the row's number; None if none is known."""
        return None if self.only.variance is None else float(self.only.variance[0])

    @property
    def standard_error(self) -> float | None:
        """The standard error of the row's number; None if none is known."""
        return None if self.variance is None else self.variance**0.5

    @property
    def share(self) -> float:
        """The row's number as a share of the reports. Raises if it is neither a count nor a share."""
        columns = self.only.columns()
        if "share" not in columns:
            raise StateError(f"expected a count, got a {self.only.quantity}, which has no share")
        return float(columns["share"][0])

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper end of the confidence interval of the row's number."""
        low, high = self.only.interval(level)
        return float(low[0]), float(high[0])

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        name = f"{self.only.label_of_item(self.item) or '(empty)'}: {self.only.written(self.value)}"
        if self.variance is None:
            return f"<{name}>"
        low, high = map(self.only.written, self.interval())
        return f"<{name}, at most {high}>" if self.only.hollow[0] else f"<{name} [{low}, {high}]>"


def expect_level(level: Any) -> float:
    """The confidence level of measured numbers. Raises unless it is strictly between 0 and 1."""
    if not isinstance(level, Real) or not 0 < level < 1:  # type: ignore[operator]  # compared as it is: it may be huge
        expected = f": expected a number strictly between 0 and 1, got {shown(level)}"
        raise ParameterError(Words(Setting("level"), expected))
    return float(level)


def normal_interval(values: Floats, variance: Floats, missed: float) -> tuple[Floats, Floats]:
    """Reach of intervals of measured numbers by the normal law; each misses the truth with probability ``missed``."""
    half = -NormalDist().inv_cdf(missed / 2) * np.sqrt(variance)
    return values - half, values + half
