"""Values that have an order: whole numbers of a range, bins of real numbers, days, or durations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..arguments import whole_number
from ..arrangement import Arrangement
from ..errors import ParameterError
from ..wording import shown
from ..words import Setting, Words, kind_of
from .base import MAX_DOMAIN_SIZE, OTHER, TAKE_OTHERS, Encoded, Facts, Items
from .in_order import InOrder
from .items import listed, one_dimensional, refuse, refuse_asked
from .registry import register_domain
from .scales import Bins, Mark, Scale, WholeNumbers
from .time_scales import Dates, Durations

_SCALES: dict[str, type[Scale]] = {scale.kind: scale for scale in (WholeNumbers, Bins, Dates, Durations)}
_INFINITE = ("refuse", "clamp")
_CLAMP = Setting("infinite", "clamp", of="plan")
_TEXTS = frozenset({Mark.NOTHING.value, Mark.TEXT.value})
_PLAIN = frozenset({int, float})
"""Types of numbers that NumPy takes over exactly, if all of a list are of one."""


@register_domain
@dataclass(frozen=True, init=False, repr=False)
class Ordered(InOrder):
    """The whole numbers from ``low`` to ``high``, both included; 35.7 counts as 35.

    ``Ordered.bins`` and ``Ordered.equal`` are bins of real numbers, ``Ordered.dates`` are days,
    ``Ordered.durations`` are whole units of time.

    A value outside is clamped: it counts as the nearest item. With ``other``, one more item, outside the order, takes
    missing values (None, NaN, NaT) and texts that are no number; without, they are refused. Infinite numbers are
    treated like missing values, or clamped with ``infinite="clamp"``. ``unit`` is a text for axes and tables.

    >>> ages = Ordered(0, 120, unit="years")
    >>> ages.size, ages.encode([0, 35, 35.7, 120, 131]).tolist()
    (121, [0, 35, 35, 120, 120])
    """

    kinds = tuple(_SCALES)

    scale: Scale
    other: bool
    infinite: str
    size: int = field(compare=False)

    def __init__(
        self,
        low: int,
        high: int,
        *,
        other: bool = False,
        unit: str = "",
        infinite: Literal["refuse", "clamp"] = "refuse",
    ) -> None:
        self._fill(WholeNumbers(low, high, unit), other, infinite)

    @classmethod
    def bins(
        cls,
        edges: Iterable[Any],
        *,
        other: bool = False,
        unit: str = "",
        infinite: Literal["refuse", "clamp"] = "refuse",
    ) -> Ordered:
        """Bins of real numbers between these edges: a value on an edge is in the bin above it, or in the last bin.

        >>> Ordered.bins([0, 10, 20.5, 50]).named([0, 9.99, 10, 50, 1000]).tolist()
        ['0 to 10', '0 to 10', '10 to 20.5', '20.5 to 50', '20.5 to 50']
        """
        return cls._made(Bins(edges, unit), other, infinite)  # type: ignore[arg-type]

    @classmethod
    def equal(
        cls,
        low: float,
        high: float,
        count: int,
        *,
        other: bool = False,
        unit: str = "",
        infinite: Literal["refuse", "clamp"] = "refuse",
    ) -> Ordered:
        """``count`` bins of equal width between two real numbers.

        >>> Ordered.equal(0, 1, 4)
        Ordered.bins([0, 0.25, 0.5, 0.75, 1])
        """
        return cls._made(Bins.equal(low, high, count, unit), other, infinite)

    @classmethod
    def dates(cls, first: date | str, last: date | str, *, other: bool = False) -> Ordered:
        """The days from ``first`` to ``last``, both included, in UTC; a time without a zone is in UTC.

        >>> Ordered.dates("2026-01-01", "2026-12-31").size
        365
        """
        return cls._made(Dates(first, last), other, "refuse")  # type: ignore[arg-type]

    @classmethod
    def durations(
        cls,
        low: int | timedelta,
        high: int | timedelta,
        *,
        unit: str = "s",
        other: bool = False,
        infinite: Literal["refuse", "clamp"] = "refuse",
    ) -> Ordered:
        """Durations from ``low`` to ``high`` whole units, both included: ms, s, min, h or d.

        Values are timedeltas, or numbers in this unit.

        >>> Ordered.durations(0, 100, unit="ms").encode([timedelta(microseconds=2_900), 2.9]).tolist()
        [2, 2]
        """
        return cls._made(Durations(low, high, unit), other, infinite)  # type: ignore[arg-type]

    @classmethod
    def _made(cls, scale: Scale, other: object, infinite: object) -> Ordered:
        made = cls.__new__(cls)
        made._fill(scale, other, infinite)
        return made

    def _fill(self, scale: Scale, other: object, infinite: object) -> None:
        if not isinstance(other, bool):
            raise ParameterError(Words(Setting("other"), ": expected true or false, got ", kind_of(other)))
        if infinite not in _INFINITE:
            words = f": expected refuse or clamp, got {shown(infinite)}"
            raise ParameterError(Words(Setting("infinite"), words))
        size = whole_number("domain: number of items", scale.length + other, 2, MAX_DOMAIN_SIZE)
        for name, given in (("scale", scale), ("other", other), ("infinite", infinite), ("size", size)):
            object.__setattr__(self, name, given)

    # --- codes ------------------------------------------------------------------------------------------------

    takes_arrays = True

    def encode(self, items: object) -> Encoded:
        array = items if isinstance(items, np.ndarray) and items.dtype.kind in "iufMmb" else None
        given = None if array is not None else listed(items)
        if given is not None:
            array = _plain_array(given)
        codes = self._codes_of_list(given or []) if array is None else self._codes_of_array(one_dimensional(array))
        return self._resolved(codes, given)

    def _codes_of_array(self, array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        absent = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
        plain: npt.NDArray[Any] = np.asarray(array)
        kind = plain.dtype.kind
        if kind in "Mm":
            absent = np.isnat(plain) if absent is None else absent | np.isnat(plain)
        if kind == "f":
            nan = plain != plain
            absent = nan if absent is None else absent | nan
        numbers = self.scale.numbers_in(plain)
        if numbers is None:
            # An array of nothing but missing values may have any type: pandas makes one of floats.
            present = np.ones(len(plain), dtype=np.bool_) if absent is None else ~absent
            refuse(present, f"expected {self.scale.values}", got=f"an array of {plain.dtype}")
            return np.full(len(plain), Mark.NOTHING.value, dtype=np.int64)
        infinite = np.isinf(numbers) if kind == "f" and self.infinite == "refuse" else None
        if absent is not None and absent.any():
            numbers = np.where(absent, numbers.dtype.type(0), numbers)
        codes = self.scale.codes(numbers)
        if infinite is not None:
            codes[infinite] = Mark.INFINITE.value
        if absent is not None:
            codes[absent] = Mark.NOTHING.value
        return codes

    def _codes_of_list(self, items: list[Any]) -> npt.NDArray[np.int64]:
        return np.fromiter((self._code_of(item) for item in items), dtype=np.int64, count=len(items))

    def _code_of(self, item: object) -> int:
        number = self.scale.number_of(item)
        if not isinstance(number, Mark):
            return self.scale.code(number)
        if number is Mark.INFINITE and self.infinite == "clamp":
            return self.scale.length - 1 if item > 0 else 0  # type: ignore[operator]
        if isinstance(item, str):
            named = self.scale.length if self.other and item == OTHER else self.scale.code_named(item)
            if named is not None:
                return named
            number = Mark.TEXT if self.scale.is_written(item) else Mark.NOTHING
        return int(number.value)

    def _resolved(self, codes: npt.NDArray[np.int64], given: list[Any] | None) -> Encoded:
        # Codes below zero are marks of values that are not on the scale.
        if len(codes) and codes.min() < 0:
            values = f"expected {self.scale.values}"
            refuse(codes == Mark.WRONG.value, values, given)
            fix = f"a text that means one; convert texts to {self.scale.values} first"
            refuse(codes == Mark.TEXT.value, values, got=fix)
            if not self.other:
                others = Words(values, " (with ", TAKE_OTHERS, ", any value)")
                refuse(codes == Mark.NOTHING.value, others, given, got="a missing value")
                clamps = Words("expected finite numbers (", _CLAMP, " clamps infinite ones)")
                refuse(codes == Mark.INFINITE.value, clamps, got="an infinite one")
            codes[codes < 0] = self.scale.length
        return codes.view(np.uint64)

    def decode(self, codes: Encoded) -> Items:
        if not self.other:
            return self.scale.names(codes)
        others = codes >= self.scale.length
        names = self.scale.names(np.where(others, np.uint64(0), codes)).astype(object)
        names[others] = OTHER
        return names

    def changes(self, codes: Encoded, item_at: Callable[[int], Any]) -> Mapping[str, int]:
        last = self.scale.length - 1
        clamped = {0: 0, last: 0}
        outside: dict[Any, bool] = {}
        for place in np.flatnonzero((codes == 0) | (codes == last)).tolist():
            item = item_at(place)
            if item not in outside:
                outside[item] = self._is_clamped(item)
            clamped[int(codes[place])] += outside[item]
        first_name, last_name = self.scale.names(np.array([0, last], dtype=np.uint64)).tolist()
        others = int(np.count_nonzero(codes > last))
        found = {
            f"below the range, each reported as {first_name}": clamped[0],
            f"above the range, each reported as {last_name}": clamped[last],
            f'missing, or not {self.scale.values}, each reported as "{OTHER}"': others,
        }
        return {words: count for words, count in found.items() if count}

    def _is_clamped(self, item: object) -> bool:
        number = self.scale.number_of(item)
        return number is Mark.INFINITE or (not isinstance(number, Mark) and self.scale.outside(number))

    def ask(self, items: object) -> tuple[Encoded, Items]:
        given = listed(items)
        for position, item in enumerate(given):
            code = self._code_of(item)
            own = isinstance(item, str) and item == OTHER
            if self._is_clamped(item) or code in _TEXTS or (code == self.scale.length and not own):
                reason = f"expected one of {self.scale.describe()}"
                refuse_asked(position, f"{reason}, got another value", f"{reason}, got {shown(item)}")
        return super().ask(given)

    # --- files and command lines ------------------------------------------------------------------------------

    @property
    def takes_missing(self) -> bool:
        return self.other

    def taking_missing(self) -> Ordered:
        return self if self.other else self._made(self.scale, True, self.infinite)

    @property
    def item_type(self) -> type:
        return str if self.scale.kind == Dates.kind else int

    def parse(self, texts: Sequence[str]) -> list[Any]:
        parsed = [self._parsed(text) for text in texts]
        if not self.other:
            wrong = np.array([value is None for value in parsed], dtype=np.bool_)
            expected = Words(f"expected {self.scale.values} (with ", TAKE_OTHERS, ", any text)")
            refuse(wrong, expected, got="another text")
        return [text if value is None else value for text, value in zip(texts, parsed, strict=True)]

    def _parsed(self, text: str) -> Any:
        value = self.scale.parsed(text)
        return text if value is None and self.scale.code_named(text) is not None else value

    # --- words ------------------------------------------------------------------------------------------------

    def describe(self) -> str:
        return self.scale.describe() + " and all others" * self.other

    def facts(self) -> Facts:
        first, last = self.scale.names(np.array([0, self.scale.length - 1], dtype=np.uint64)).tolist()
        infinite: str = "clamped, too" if self.infinite == "clamp" else "treated like missing values"
        others: str = Words("refused, and devices refuse the scheme (", TAKE_OTHERS, " takes them as one more item)")
        if self.other:
            others = f'missing values and texts that are not {self.scale.values} are reported as the item "{OTHER}"'
        found = [
            ("values", self.scale.describe()),
            ("outside", f"clamped: lower values are reported as {first}, higher ones as {last}"),
        ]
        if self.scale.kind != Dates.kind:
            found.append(("infinite", infinite))
        return [*found, ("others", others)]

    @property
    def arrangement(self) -> Arrangement:
        return Arrangement(ordered=True, other=OTHER if self.other else None)

    @property
    def argument(self) -> str:
        return f"domain={self!r}"

    def __repr__(self) -> str:
        unit = f", unit={self.unit!r}" if self.unit else ""
        infinite = f", infinite={self.infinite!r}" if self.infinite != "refuse" else ""
        return f"{self.scale.argument}{', other=True' * self.other}{unit}{infinite})"

    @property
    def refusals(self) -> tuple[str, ...]:
        if self.other:
            return ()
        return (Words("it has no item for missing values. ", TAKE_OTHERS, " adds one."),)

    # --- JSON -------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        fields = {"type": self.scale.kind} | self.scale.fields()
        if self.other:
            fields["other"] = True
        if self.infinite != "refuse":
            fields["infinite"] = self.infinite
        return fields

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Ordered:
        scale = _SCALES[fields["type"]]
        needed, possible = {"type"} | scale.required, {"type"} | scale.required | scale.optional
        if not needed <= fields.keys() <= possible:
            raise ParameterError(f"domain: expected the fields {sorted(needed)}, got {shown(sorted(fields))}")
        own = {name: fields[name] for name in fields if name not in ("type", "other", "infinite")}
        made = cls._made(scale.from_fields(own), fields.get("other", False), fields.get("infinite", "refuse"))
        # One text for each domain: 1.0 for 1, or an option with its default, would have another fingerprint.
        if json.dumps(made.to_dict(), sort_keys=True) != json.dumps(dict(fields), sort_keys=True):
            raise ParameterError("domain: expected the fields as to_json writes them, got another spelling")
        return made


def _plain_array(items: list[Any]) -> npt.NDArray[Any] | None:
    kinds = set(map(type, items))
    if len(kinds) != 1 or not kinds <= _PLAIN:
        return None
    try:
        return np.array(items, dtype=np.int64) if kinds == {int} else np.array(items)
    except OverflowError:
        return None
