"""Scales of ordered domains in time: days, which are days in UTC, and whole units of durations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError
from ..wording import nearest, shown
from ..words import Setting, Words, kind_of
from .items import is_missing, object_array
from .scales import Array, Mark, Scale, WholeNumbers, exact

EPOCH = date(1970, 1, 1).toordinal()
_FIRST, _LAST = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH
UNITS = {"ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
"""Units of durations, in microseconds."""

_SECOND, _DAY = 10**6, UNITS["d"]
_COARSE = {"Y": 10**6, "M": 12 * 10**6, "W": 53 * 10**6}
"""Units of NumPy beyond a day, with the number that a million years have."""
_ATTOSECONDS = {"W": 604_800 * 10**18, "D": 86_400 * 10**18, "h": 3_600 * 10**18, "m": 60 * 10**18} | {
    unit: 10 ** (18 - 3 * place) for place, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs", "as"))
}
_SAFE = 2**62


@dataclass(frozen=True)
class Dates(WholeNumbers):
    """Days, counted from 1970-01-01. A time belongs to its day in UTC; a time without a zone is in UTC."""

    kind = "dates"
    values = "dates"
    required = frozenset({"first", "last"})
    optional = frozenset({"other"})
    _ends = ("first", "last")

    def _whole(self, name: str, given: object) -> int:
        day = Mark.WRONG if given is None else day_of(given)
        if isinstance(day, Mark):
            name, fix = {"low": "first", "high": "last"}[name], ""
            if not isinstance(given, str) and not isinstance(exact(given), Mark):
                numbers = Setting("range", "0..120", of="plan", python="Ordered(low, high)")
                fix = Words("; numbers are given by ", numbers)
            got = shown(given) if isinstance(given, str) else kind_of(given)
            raise ParameterError(Words(Setting(name), ": expected a date such as 2026-01-31, got ", got, fix))
        return int(day)

    def length_text(self, length: float) -> str:
        return f"{length:,g} days"

    def widths(self) -> Iterator[int]:
        """Numbers of days in a bin: 1, or 1, 2, 4, 8, … weeks."""
        yield 1
        weeks = 1
        while True:
            yield 7 * weeks
            weeks *= 2

    def numbers_in(self, array: Array) -> Array | None:
        if array.dtype.kind != "M" or np.datetime_data(array.dtype)[0] == "generic":
            return None
        most = _COARSE.get(np.datetime_data(array.dtype)[0])
        if most is not None:
            # NumPy does not notice when a year is too far away to count its days.
            array = np.clip(array.astype(np.int64), -most, most).astype(array.dtype)
        return array.astype("datetime64[D]").astype(np.int64)

    def number_of(self, value: object) -> Any:
        return day_of(value)

    def names(self, codes: npt.NDArray[Any]) -> Array:
        return object_array(day_text(int(code) + self.low) for code in codes.tolist())

    def written(self, number: float) -> str:
        """The day nearest to a number of days since 1970-01-01."""
        return day_text(min(max(round(number), _FIRST), _LAST))

    def parsed(self, text: str) -> date | None:
        return _moment(text)

    def is_written(self, text: str) -> bool:
        return _moment(text) is not None

    def describe(self) -> str:
        return f"the days {day_text(self.low)} to {day_text(self.high)}"

    @property
    def argument(self) -> str:
        return f'Ordered.dates("{day_text(self.low)}", "{day_text(self.high)}"'

    def fields(self) -> dict[str, Any]:
        return {"first": day_text(self.low), "last": day_text(self.high)}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Scale:
        for name in ("first", "last"):
            if not isinstance(fields[name], str):
                raise ParameterError(Words(f"{name}: expected a date as text, got ", kind_of(fields[name])))
        return cls(fields["first"], fields["last"])


@dataclass(frozen=True)
class Durations(WholeNumbers):
    """Whole units of a duration from ``low`` to ``high``, both included. A rest counts as the whole unit below it."""

    kind = "durations"
    values = "durations"
    required = frozenset({"low", "high", "unit"})
    optional = frozenset({"infinite", "other"})

    def __post_init__(self) -> None:
        if not isinstance(self.unit, str) or self.unit not in UNITS:
            raise ParameterError(Words(Setting("unit"), f": unknown {shown(self.unit)}; {nearest(self.unit, UNITS)}"))
        super().__post_init__()

    def _whole(self, name: str, given: object) -> int:
        units = self._units(given)
        if units is not None:
            if units.denominator > 1:
                raise ParameterError(
                    Words(
                        Setting(name), f": expected a whole number of {self.unit}, got a fraction; use a smaller unit"
                    )
                )
            given = int(units)
        return super()._whole(name, given)

    def _units(self, value: object) -> Fraction | None:
        # A duration in units of the scale, exactly; None if it is none, or one of years or months.
        if isinstance(value, timedelta):
            return Fraction(microseconds(value), UNITS[self.unit])
        ratio = self._ratio(value.dtype) if isinstance(value, np.timedelta64) and not np.isnat(value) else None
        return None if ratio is None else int(value.astype(np.int64)) * ratio  # type: ignore[attr-defined]

    def _ratio(self, dtype: np.dtype[Any]) -> Fraction | None:
        # Number of units of the scale in one unit of a NumPy type.
        name, count = np.datetime_data(dtype)
        return Fraction(count * _ATTOSECONDS[name], UNITS[self.unit] * 10**12) if name in _ATTOSECONDS else None

    def numbers_in(self, array: Array) -> Array | None:
        if array.dtype.kind != "m":
            return super().numbers_in(array)
        ratio = self._ratio(array.dtype)
        if ratio is None:
            return None
        ticks = array.astype(np.int64)
        if ratio.numerator == 1 and ratio.denominator <= _SAFE:
            return ticks // ratio.denominator
        # Far outside of every range, so that the product fits.
        most = _SAFE // ratio.numerator
        if ratio.denominator == 1:
            return np.clip(ticks, -most, most) * ratio.numerator
        units = [tick * ratio.numerator // ratio.denominator for tick in ticks.tolist()]
        return np.array([min(max(unit, -_SAFE), _SAFE) for unit in units], dtype=np.int64)

    def number_of(self, value: object) -> Any:
        if is_missing(value) or (isinstance(value, np.timedelta64) and np.isnat(value)):
            return Mark.NOTHING
        units = self._units(value)
        return exact(value) if units is None else floor(units)

    def exact_end(self, value: object) -> Any:
        units = self._units(value)
        return super().exact_end(value) if units is None else units

    def describe(self) -> str:
        return f"durations of {self.low:,} to {self.high:,} {self.unit}"

    @property
    def argument(self) -> str:
        return f"Ordered.durations({self.low}, {self.high}"


def _moment(text: str) -> datetime | None:
    plain = text.strip()
    try:
        # Without a dash it may be a number.
        return datetime.fromisoformat(plain) if plain[4:5] == "-" else None
    except ValueError:
        return None


def day_of(value: object) -> Any:
    """The day of a value in UTC, counted from 1970-01-01, or a ``Mark``. A text must be written as 2026-01-31."""
    if is_missing(value):
        return Mark.NOTHING
    if isinstance(value, datetime):
        # Without a conversion: near the first and last year Python has no date in UTC.
        seconds = 3600 * value.hour + 60 * value.minute + value.second
        own = seconds * _SECOND + value.microsecond
        return value.toordinal() - EPOCH + (own - microseconds(value.utcoffset() or timedelta(0))) // _DAY
    if isinstance(value, date):
        return value.toordinal() - EPOCH
    if isinstance(value, np.datetime64):
        days = Dates.numbers_in(_ANY, np.array([value]))
        return Mark.WRONG if days is None else Mark.NOTHING if np.isnat(value) else int(days[0])
    return _day_of_text(value) if isinstance(value, str) else Mark.WRONG


def _day_of_text(text: str) -> Any:
    plain = len(text) == 10 and text.isascii() and text[4] == text[7] == "-" and text.replace("-", "").isdigit()
    try:
        return date.fromisoformat(text).toordinal() - EPOCH if plain else Mark.NOTHING
    except ValueError:
        return Mark.NOTHING


def day_text(day: int) -> str:
    """The date of a day that is counted from 1970-01-01."""
    return date.fromordinal(day + EPOCH).isoformat()


def microseconds(duration: timedelta) -> int:
    """A duration in microseconds."""
    return (duration.days * 86_400 + duration.seconds) * _SECOND + duration.microseconds


_ANY = Dates("1970-01-01", "1970-01-02")  # type: ignore[arg-type]
