"""Scales of ordered domains: whole numbers, or bins of real numbers, and the values that users may have on them.

A value is compared with the numbers at which items start; nothing is divided or rounded on the way to its code.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, lcm
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..arguments import whole_number
from ..errors import ParameterError
from ..wording import shown
from ..words import Setting, Words, kind_of
from .items import is_missing

LARGEST = 2**53 - 1
"""The largest whole number of a scale: JavaScript and doubles know all smaller ones exactly."""
MOST_BINS = 2**20
"""Largest number of bins: each edge is written in the scheme, which every device reads."""
_LONGEST_UNIT = 40
_DOUBLE = np.dtype(np.float64)
_WHOLE_TEXT = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER_TEXT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL_TEXT = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_SPACES = " \t\r\n"

Array = npt.NDArray[Any]
Number = int | float
"""A number of a scale: an int, or a float that is not a whole number below 2^53."""


class Mark(Enum):
    """A value that is not on the scale."""

    NOTHING = -1
    """A missing value, or a text that is no value."""
    INFINITE = -2
    WRONG = -3
    """A value of another type, which is a mistake of the program."""
    TEXT = -4
    """A text that means a value, and would be lost among the others."""


class Scale(ABC):
    """The ordered items of a domain as numbers: item i takes the values from ``starts[i]`` up to the next one."""

    kind: ClassVar[str]
    """The ``"type"`` of the domain in JSON."""
    values: ClassVar[str] = "numbers"
    """The values of users, for messages."""
    unit: str

    def length_text(self, length: float) -> str:
        """A length on the scale, in words: 10 years."""
        return f"{length:,g} {self.unit or 'values'}"

    def widths(self) -> Iterator[int]:
        """Numbers of items in a bin that people like, from 1 up: 1, 2, 5, 10, 20, 50, 100 and so on."""
        power = 1
        while True:
            yield from (power, 2 * power, 5 * power)
            power *= 10

    def middle_places(self, most: int) -> tuple[int, ...] | None:
        """Places of the middles of the items as whole numbers from 0, on the scale; None if they are 0, 1, 2 and so on.

        The places are exact if the last one is at most ``most`` then, else rounded to that many steps.
        """
        doubled = [Fraction(start) + Fraction(stop) for start, stop in zip(self.starts, self.stops, strict=True)]
        unit = lcm(*(middle.denominator for middle in doubled))
        shifts = [int((middle - doubled[0]) * unit) for middle in doubled]
        common, last = gcd(*shifts), shifts[-1]
        if last // common <= most:
            places = tuple(shift // common for shift in shifts)
        else:
            places = tuple((2 * shift * most + last) // (2 * last) for shift in shifts)
        return None if places == tuple(range(self.length)) else places

    # --- the numbers ------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def starts(self) -> Sequence[Number]:
        """The number at which each item starts."""

    @property
    @abstractmethod
    def stops(self) -> Sequence[Number]:
        """The number that ends a range whose last item is this one."""

    @property
    def length(self) -> int:
        """Number of items on the scale."""
        return len(self.starts)

    @abstractmethod
    def beyond(self, number: Any) -> bool:
        """Whether a number is above the last item."""

    @abstractmethod
    def points(self) -> npt.NDArray[np.float64]:
        """One number for each item of the scale."""

    def first_and_last(self) -> tuple[float, float]:
        """The numbers of the first and the last item."""
        points = self.points()
        return float(points[0]), float(points[-1])

    @abstractmethod
    def bounds(self) -> npt.NDArray[np.float64]:
        """The numbers that bound the items of the scale in plots."""

    # --- from values to codes ---------------------------------------------------------------------------------

    def numbers_in(self, array: Array) -> Array | None:
        """The numbers of an array of values, NaT among them; None if its type does not fit the scale."""
        return array if array.dtype.kind in "iuf" else None

    @abstractmethod
    def codes(self, numbers: Array) -> npt.NDArray[np.int64]:
        """The code of each number of an array without NaN; numbers outside get that of the nearest item."""

    def number_of(self, value: object) -> Any:
        """The exact number of one value, or a ``Mark``."""
        return exact(value)

    def code(self, number: Any) -> int:
        """The code of one exact number; a number outside gets that of the nearest item."""
        return min(max(bisect_right(self.starts, number) - 1, 0), self.length - 1)

    def code_named(self, text: str) -> int | None:
        """The code of the item with this name, if names are texts that are not values themselves."""
        return None

    def outside(self, number: Any) -> bool:
        """Whether a number is below the first item or above the last one."""
        return bool(number < self.starts[0]) or self.beyond(number)

    # --- words ------------------------------------------------------------------------------------------------

    @abstractmethod
    def names(self, codes: npt.NDArray[Any]) -> Array:
        """The items of these codes, as estimates name them."""

    @abstractmethod
    def describe(self) -> str:
        """The items of the scale in a few words."""

    @property
    @abstractmethod
    def argument(self) -> str:
        """The call of ``Ordered`` up to its options, with a long list of edges left out."""

    def written(self, number: float) -> int | float | str:
        """A number of the scale in the user's own units."""
        return int(number) if number == number // 1 else float(number)

    def parsed(self, text: str) -> Any:
        """The value that a text means, or None."""
        return parsed_number(text)

    def is_written(self, text: str) -> bool:
        """Whether a text means a value."""
        plain = text.strip(_SPACES)
        return any(form.fullmatch(plain) for form in (_WHOLE_TEXT, _SPECIAL_TEXT, _NUMBER_TEXT))

    @property
    def _in_unit(self) -> str:
        return f" {self.unit}" * bool(self.unit)

    # --- ranges -----------------------------------------------------------------------------------------------

    def places(self, low: Any, high: Any) -> tuple[int, int]:
        """The first and the last code of a range, both included. Raises with the nearest valid ends."""
        starts, stops = self.starts, self.stops
        lower, upper = self.end_of(low), self.end_of(high)
        # The items that hold the two ends: a wrong range gets the nearest one around it.
        first = max(bisect_right(starts, lower) - 1, 0)
        last = max(min(bisect_left(stops, upper), self.length - 1), first)
        if starts[first] == lower and stops[last] == upper:
            return first, last
        asked = f"{low}..{high}"
        if lower > upper:
            raise ParameterError(f"range: expected the lower end first, got {asked}")
        near = f"{self.written(starts[first])}..{self.written(stops[last])}"
        raise ParameterError(f"range: expected {self._ends_in_words}, got {asked}; the nearest range is {near}")

    def end_of(self, given: Any) -> Any:
        """The exact number of one end of a range. Raises unless it is a value of the scale."""
        value = self.parsed(given) if isinstance(given, str) else given
        number = Mark.WRONG if value is None else self.exact_end(value)
        if number is Mark.INFINITE:
            ends = f"{self.written(self.starts[0])} and {self.written(self.stops[-1])}"
            raise ParameterError(f"range: expected finite ends, got {shown(given)}; the outermost ones are {ends}")
        if isinstance(number, Mark):
            raise ParameterError(f"range: expected {self.values} as ends, got {shown(given)}")
        return number

    def exact_end(self, value: object) -> Any:
        """The exact number of one end of a range, or a ``Mark``; nothing is rounded to a whole item."""
        return self.number_of(value)

    @property
    def _ends_in_words(self) -> str:
        return f"ends among {self.describe()}"

    # --- JSON -------------------------------------------------------------------------------------------------

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """The scale as JSON-ready fields."""

    @classmethod
    @abstractmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Scale:
        """The scale of the fields that ``fields`` wrote."""

    required: ClassVar[frozenset[str]]
    """Names of the fields that JSON always has."""
    optional: ClassVar[frozenset[str]] = frozenset({"unit", "infinite", "other"})
    """Names of the fields that JSON has only where they differ from their default."""

    def _unit_field(self) -> dict[str, str]:
        return {"unit": self.unit} if self.unit else {}


@dataclass(frozen=True)
class WholeNumbers(Scale):
    """The whole numbers from ``low`` to ``high``, both included. A fraction counts as the whole number below it."""

    kind = "whole numbers"
    required = frozenset({"low", "high"})

    low: int
    high: int
    unit: str = ""

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, self._whole(name, getattr(self, name)))
        object.__setattr__(self, "unit", expect_unit(self.unit))
        if self.low >= self.high:
            low, high = self.written(self.low), self.written(self.high)
            fix = "; swap them" if self.low > self.high else ": two items or more"
            raise ParameterError(f"{self._ends[0]}: expected less than {self._ends[1]} ({high}), got {low}{fix}")

    _ends: ClassVar[tuple[str, str]] = ("low", "high")

    def _whole(self, name: str, given: object) -> int:
        if not isinstance(given, int | np.integer) or isinstance(exact(given), Mark):
            fix = _other_scale(given)
            raise ParameterError(Words(Setting(name), ": expected a whole number, got ", kind_of(given), fix))
        return whole_number(name, given, -LARGEST, LARGEST)

    def middle_places(self, most: int) -> tuple[int, ...] | None:
        return None

    @property
    def starts(self) -> Sequence[int]:
        return range(self.low, self.high + 1)

    @property
    def stops(self) -> Sequence[int]:
        return self.starts

    @property
    def length(self) -> int:
        return self.high - self.low + 1

    def beyond(self, number: Any) -> bool:
        return bool(number >= self.high + 1)

    def points(self) -> npt.NDArray[np.float64]:
        return np.arange(self.low, self.high + 1).astype(np.float64)

    def first_and_last(self) -> tuple[float, float]:
        return float(self.low), float(self.high)  # without the numbers between, of which there may be billions

    def bounds(self) -> npt.NDArray[np.float64]:
        return np.arange(self.low, self.high + 2).astype(np.float64) - 0.5

    def codes(self, numbers: Array) -> npt.NDArray[np.int64]:
        low, high = self.low, self.high
        if numbers.dtype.kind == "f":
            # Doubles hold all numbers up to ``high`` exactly, smaller ones may not.
            wide = numbers if numbers.dtype.itemsize > 8 else numbers.astype(_DOUBLE, copy=False)
            kept = np.clip(np.floor(wide), low, high)
        elif numbers.dtype.kind == "u":
            kept = np.minimum(numbers, max(high, 0), dtype=np.uint64)
        else:
            kept = numbers
        codes: npt.NDArray[np.int64] = np.clip(kept.astype(np.int64, copy=False), low, high)
        codes -= low
        return codes

    def names(self, codes: npt.NDArray[Any]) -> Array:
        return codes.astype(np.int64) + self.low

    def describe(self) -> str:
        return f"the whole numbers {self.low:,} to {self.high:,}{self._in_unit}"

    @property
    def argument(self) -> str:
        return f"Ordered({self.low}, {self.high}"

    def fields(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high} | self._unit_field()

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Scale:
        return cls(**fields)


@dataclass(frozen=True)
class Bins(Scale):
    """Bins of real numbers between given edges: the lower edge belongs to a bin, and the last bin has both."""

    kind = "bins"
    required = frozenset({"edges"})

    edges: tuple[Number, ...]
    unit: str = ""

    def __post_init__(self) -> None:
        given: object = self.edges
        if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
            raise ParameterError(Words("edges: expected numbers in rising order, got ", kind_of(given)))
        edges = tuple(_edge(place, edge) for place, edge in zip(range(MOST_BINS + 2), given, strict=False))
        if len(edges) > MOST_BINS + 1:
            raise ParameterError(f"edges: expected at most {MOST_BINS + 1:,}, got more")
        if len(edges) < 3:
            raise ParameterError(f"edges: expected at least 3, which make 2 bins, got {len(edges)}")
        for place, (lower, upper) in enumerate(pairwise(edges)):
            if not lower < upper:
                what = "equal ones" if lower == upper else "a smaller one after a larger one"
                raise ParameterError(f"edges: expected numbers in rising order, got {what} at position {place + 1}")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "unit", expect_unit(self.unit))

    @classmethod
    def equal(cls, low: object, high: object, count: object, unit: str) -> Bins:
        """``count`` bins of equal width; each edge is the nearest double to the exact one, and 0.3 means 3/10."""
        given = [_edge(place, end, name) for place, (name, end) in enumerate((("low", low), ("high", high)))]
        ends = [Fraction(repr(end)) for end in given]
        if not ends[0] < ends[1]:
            fix = "; swap them" if ends[0] > ends[1] else ""
            raise ParameterError(f"low: expected less than high ({given[1]}), got {given[0]}{fix}")
        number = whole_number("count", count, 2, MOST_BINS)
        step = (ends[1] - ends[0]) / number
        edges = tuple(float(ends[0] + step * i) for i in range(number + 1))
        if len(set(edges)) <= number:
            same = "some of whose edges are the same floating-point number"
            raise ParameterError(f"count: expected fewer bins, got {number:,}, {same}")
        return cls(edges, unit)

    @property
    def starts(self) -> Sequence[Number]:
        return self.edges[:-1]

    @property
    def stops(self) -> Sequence[Number]:
        return self.edges[1:]

    @property
    def length(self) -> int:
        return len(self.edges) - 1

    def beyond(self, number: Any) -> bool:
        return bool(number > self.edges[-1])

    def points(self) -> npt.NDArray[np.float64]:
        lower, upper = (self._doubles[:-1], self._doubles[1:])
        # Half of each, since the sum of two large numbers is none.
        return lower / 2 + upper / 2

    def bounds(self) -> npt.NDArray[np.float64]:
        return self._doubles.copy()

    @cached_property
    def _doubles(self) -> npt.NDArray[np.float64]:
        return np.array(self.edges, dtype=np.float64)

    def length_text(self, length: float) -> str:
        return f"{length:,g}{self._in_unit}"

    def codes(self, numbers: Array) -> npt.NDArray[np.int64]:
        # The inner edges decide: all numbers below the first one are in the first bin.
        inner = self._doubles[1:-1] if numbers.dtype.kind == "f" else self._whole_edges(numbers.dtype.kind == "i")
        if numbers.dtype.kind in "iu":
            numbers = numbers.astype(inner.dtype, copy=False)
        return np.searchsorted(inner, numbers, side="right").astype(np.int64, copy=False)

    def _whole_edges(self, signed: bool) -> Array:
        # A whole number is at or above an edge if it is so for the next whole number: NumPy would compare doubles.
        return self._ceilings_int64 if signed else self._ceilings_uint64

    @cached_property
    def _ceilings_int64(self) -> npt.NDArray[np.int64]:
        return np.array(self._ceilings(-(2**63), 2**63 - 1), dtype=np.int64)

    @cached_property
    def _ceilings_uint64(self) -> npt.NDArray[np.uint64]:
        return np.array(self._ceilings(0, 2**64 - 1), dtype=np.uint64)

    def _ceilings(self, least: int, most: int) -> list[int]:
        # Edges above all numbers of a type are left out: no number reaches them.
        ratios = (edge.as_integer_ratio() for edge in self.edges[1:-1])
        return [max(ceiling, least) for n, d in ratios if (ceiling := -(-n // d)) <= most]

    def code_named(self, text: str) -> int | None:
        return self._named.get(text)

    @cached_property
    def _named(self) -> dict[str, int]:
        return {self._name(code): code for code in range(self.length)}

    def _name(self, code: int) -> str:
        return f"{self.edges[code]} to {self.edges[code + 1]}"

    def names(self, codes: npt.NDArray[Any]) -> Array:
        names = np.empty(len(codes), dtype=object)
        names[:] = [self._name(code) for code in codes.tolist()]
        return names

    def describe(self) -> str:
        return f"{self.length:,} bins from {self.edges[0]} to {self.edges[-1]}{self._in_unit}"

    @property
    def _ends_in_words(self) -> str:
        return "edges of bins as ends"

    @property
    def argument(self) -> str:
        edges = "..." if self.length > 12 else ", ".join(map(str, self.edges))
        return f"Ordered.bins([{edges}]"

    def fields(self) -> dict[str, Any]:
        # Texts where JavaScript would not keep a number as it is written.
        edges = [edge if isinstance(edge, int) else repr(edge) for edge in self.edges]
        return {"edges": edges} | self._unit_field()

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Scale:
        if not isinstance(fields["edges"], list):
            raise ParameterError(Words("edges: expected a list of numbers, got ", kind_of(fields["edges"])))
        # A text that means no number stays one, and is refused as such.
        parsed = ((parsed_number(edge), edge) if isinstance(edge, str) else (edge, edge) for edge in fields["edges"])
        return cls(**{**fields, "edges": (written if number is None else number for number, written in parsed)})


def exact(value: object) -> Any:
    """The number of a value, exactly: an int or a Fraction, or a ``Mark``."""
    # For NumPy, a duration is an integer, whatever its unit.
    if isinstance(value, bool | np.bool_ | np.timedelta64):
        return Mark.WRONG
    if isinstance(value, int | np.integer):
        return int(value)
    if is_missing(value) or isinstance(value, str):
        return Mark.NOTHING
    ratio = getattr(value, "as_integer_ratio", None)
    if ratio is None:
        return Mark.WRONG
    try:
        return Fraction(*ratio())
    except ValueError:
        return Mark.NOTHING
    except OverflowError:
        return Mark.INFINITE


def parsed_number(text: str) -> Number | None:
    """The number that a text means: "35", "-0.5", "1e3", "inf" or "nan"; None if it means none."""
    plain = text.strip(_SPACES)
    if _WHOLE_TEXT.fullmatch(plain):
        return int(plain)
    if _SPECIAL_TEXT.fullmatch(plain):
        return float(plain)
    if not _NUMBER_TEXT.fullmatch(plain):
        return None
    # A number that is written with its digits is finite, however large.
    return min(max(float(plain), -sys.float_info.max), sys.float_info.max)


def expect_unit(unit: object) -> str:
    """The unit unchanged. Raises unless it is a short text."""
    if not isinstance(unit, str):
        raise ParameterError(Words(Setting("unit"), ': expected a text such as "years", got ', kind_of(unit)))
    if len(unit) > _LONGEST_UNIT or not unit.isprintable():
        raise ParameterError(
            Words(Setting("unit"), f": expected at most {_LONGEST_UNIT} characters that can be seen, got others")
        )
    return unit


def _other_scale(given: object) -> str:
    # The scale for an end of another type.
    if hasattr(given, "toordinal"):
        dates = Setting("dates", "2026-01-01..2026-12-31", of="plan", python="Ordered.dates(first, last)")
        return Words("; dates are given by ", dates)
    if hasattr(given, "total_seconds") or isinstance(given, np.timedelta64):
        times = Setting("durations", "0..500ms", of="plan", python="Ordered.durations(low, high, unit=...)")
        return Words("; durations are given by ", times)
    if hasattr(given, "as_integer_ratio") and not isinstance(given, bool | int):
        python = "Ordered.equal(low, high, count) or Ordered.bins(edges)"
        bins = Setting("bins", "0..1000/256", of="plan", python=python)
        return Words("; real numbers need bins: ", bins)
    return ""


def _edge(place: int, given: Any, name: str = "edges") -> Number:
    where = f"{name}: " if name != "edges" else f"edges, position {place}: "
    number = exact(given)
    if number is Mark.WRONG or isinstance(given, str) or given is None:
        raise ParameterError(Words(where, "expected a number, got ", kind_of(given), _other_scale(given)))
    if isinstance(number, Mark):
        got = "a missing one" if number is Mark.NOTHING else "an infinite one"
        raise ParameterError(f"{where}expected a finite number, got {got}")
    if number.denominator == 1 and abs(number) <= LARGEST:
        return int(number)
    try:
        double = float(number)
    except OverflowError:
        raise ParameterError(f"{where}expected a number below 10^308, got a larger one") from None
    if isinstance(number, int) and int(double) != number:
        raise ParameterError(f"{where}expected a number that a double holds exactly, got a longer one")
    return double if double % 1 or abs(double) > LARGEST else int(double)
