"""Domains: what a user's value may be, and the integer a scheme sees of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..device import DeviceError, item_key
from .errors import DomainError, ParameterError, nearest, shown
from .memory import unshared

MAX_DOMAIN_SIZE = 2**32
OTHER = "other"
OTHER_CHARACTER = "\N{REPLACEMENT CHARACTER}"
MAX_SYMBOLS = 2**16
MAX_LENGTH = 256
_TEXTS_AT_ONCE = 2**16

Encoded = npt.NDArray[np.uint64]
Items = npt.NDArray[Any]


class Domain(ABC):
    """A set of possible values, each known to schemes as an integer."""

    size: int | None
    """Number of items, or None where they cannot be listed."""

    @abstractmethod
    def encode(self, items: object) -> Encoded:
        """The integer of each item; refuses what is not in the domain, naming positions and never items."""

    @abstractmethod
    def decode(self, codes: Encoded) -> Items:
        """The items of these integers, for a domain that can be listed."""

    def encoded(self, values: object) -> Encoded:
        """The values as they are, if they look like what ``encode`` returns; refuses others."""
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.ndim != 1:
            raise DomainError("values: expected an array of items that the domain has encoded, got something else")
        # Kernels read whole words, and another process must not change what has been checked.
        codes: Encoded = np.require(values, np.uint64, ["C", "A"])
        if not unshared(codes):
            codes = codes.copy()
        if self.size is not None and codes.size and kernels.extremes(codes)[1] >= self.size:
            raise DomainError("values: expected items that the domain has encoded, got other numbers")
        return codes

    def number(self, code: Any) -> int:
        """One encoded item as the integer that a client on a device makes of it."""
        return int(code)

    def spread(self, count: int) -> Encoded:
        """So many encoded items from the first to the last, or all where there are fewer."""
        last = (self.size or 2**64) - 1
        return np.array(sorted({i * last // (count - 1) for i in range(count)}), dtype=np.uint64)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The domain as JSON-ready fields."""


@dataclass(frozen=True)
class Integers(Domain):
    """The integers 0 .. size-1."""

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", whole_number("domain_size", self.size, 2, MAX_DOMAIN_SIZE))

    def encode(self, items: object) -> Encoded:
        expected = f"expected integers in [0, {self.size})"
        array = items if type(items) is np.ndarray and items.dtype.kind in "iu" else None
        if array is None:
            # Element by element: an array made of a mixed list would say "float" of its integers, too.
            given = listed(items)
            if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in set(map(type, given))):
                _refuse(
                    np.array([isinstance(x, bool) or not isinstance(x, int | np.integer) for x in given]),
                    expected,
                    given,
                )
            array = np.array([x if 0 <= x < self.size else self.size for x in given], dtype=np.uint64)
        _one_dimensional(array)
        array = np.ascontiguousarray(array)
        # Eight bytes are read where they lie. A negative integer is a huge one without its sign, and refused.
        same_bytes = array.dtype.isnative and array.dtype.itemsize == 8
        codes: Encoded = array.view(np.uint64) if same_bytes else array.astype(np.uint64)
        if len(codes) and kernels.extremes(codes)[1] >= self.size:
            _refuse(codes >= self.size, expected)
        return codes

    def decode(self, codes: Encoded) -> Items:
        return codes.astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "integers", "size": self.size}


@dataclass(frozen=True)
class Labels(Domain):
    """Distinct strings in a fixed order; with ``other`` one more, last item takes every other string.

    A scheme for devices should have ``other``: refusing to report is itself an output that reveals something.
    """

    labels: tuple[str, ...]
    other: bool = False
    size: int = field(init=False, repr=False)
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: object = self.labels
        # A set has no order that all processes agree on.
        if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
            got = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
            raise ParameterError(f"domain: expected labels in order or a Domain, got {got}")
        object.__setattr__(self, "labels", tuple(given))
        for label in self.labels:
            if not isinstance(label, str):
                hint = "; domain_size= makes a domain of integers" * isinstance(label, int | np.integer)
                raise ParameterError(f"domain: expected labels (str), got {type(label).__name__}{hint}")
        index = {str(label): i for i, label in enumerate(self.labels)}
        if len(index) != len(self.labels):
            raise ParameterError("domain: expected distinct labels, some occur more than once")
        if not isinstance(self.other, bool):
            raise ParameterError(f"other: expected True or False, got {type(self.other).__name__}")
        if self.other and OTHER in index:
            raise ParameterError(f"domain: the label {OTHER!r} is the name of the item that other=True adds")
        try:
            "".join(index).encode()
        except UnicodeEncodeError:
            raise ParameterError("domain: expected labels that have a UTF-8 form") from None
        size = whole_number("domain: number of labels", len(index) + self.other, 2, MAX_DOMAIN_SIZE)
        object.__setattr__(self, "labels", tuple(index))
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "_index", index)

    def encode(self, items: object) -> Encoded:
        given = listed(items)
        if not all(issubclass(kind, str) for kind in set(map(type, given))):
            wrong = np.array([not isinstance(x, str) for x in given])
            _refuse(wrong, "expected labels (str)", given)
        missing = self.size - 1 if self.other else self.size
        index = self._index
        codes = np.fromiter((index.get(x, missing) for x in given), dtype=np.uint64, count=len(given))
        _refuse(codes >= self.size, f"expected one of the {self.size} labels (with other=True any text)")
        return codes

    def decode(self, codes: Encoded) -> Items:
        names = np.array([*self.labels, OTHER] if self.other else self.labels, dtype=object)
        return names[codes]

    def to_dict(self) -> dict[str, Any]:
        return {"type": "labels", "labels": list(self.labels), "other": self.other}


@dataclass(frozen=True)
class Keys(Domain):
    """Any str, bytes or int, known by a 64-bit keyed hash. Nothing lists them: estimates are of given candidates.

    ``hash_seed`` makes another collection's keys other ones, so that a collision is not for ever.
    """

    hash_seed: int = 0
    size: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))

    def encode(self, items: object) -> Encoded:
        given = listed(items)
        seed = self.hash_seed
        contents, tag = _contents(given)
        if contents is not None:
            ends = np.cumsum(np.fromiter(map(len, contents), dtype=np.int64, count=len(contents)))
            return kernels.keyed_hash(np.frombuffer(b"".join(contents), dtype=np.uint8), ends, seed, tag)
        try:
            return np.fromiter((item_key(x, seed) for x in given), dtype=np.uint64, count=len(given))
        except DeviceError:
            # Found out again one by one, so that the common case pays nothing for the position.
            wrong = np.array([not _is_key(x, seed) for x in given])
            _refuse(wrong, "expected keys (str with a UTF-8 form, bytes or int)", given)
            raise

    def decode(self, codes: Encoded) -> Items:
        raise ParameterError("Keys() cannot be listed: the items must be given")

    def to_dict(self) -> dict[str, Any]:
        return {"type": "keys", "hash_seed": json_integer(self.hash_seed)}


@dataclass(frozen=True)
class Strings(Domain):
    """Texts of up to ``length`` characters of an alphabet, the empty one included; byte strings, if that is bytes.

    Schemes see the symbols of a text: 0 is the pad, which fills what a short text leaves and never occurs inside; the
    characters follow in the order of the alphabet. What is longer is cut (``long="truncate"``) or refused. With
    ``other`` one more, last symbol takes every character outside the alphabet: a scheme for devices should have it,
    and should truncate, because refusing to report is itself an output that reveals something.
    """

    alphabet: str | bytes
    length: int
    long: Literal["truncate", "refuse"] = "truncate"
    other: bool = False
    size: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.alphabet, str | bytes):
            raise ParameterError(f"alphabet: expected characters (str or bytes), got {_type_name(self.alphabet)}")
        if len(set(self.alphabet)) != len(self.alphabet):
            raise ParameterError("alphabet: expected distinct characters, some occur more than once")
        if isinstance(self.alphabet, str) and any("\ud800" <= character <= "\udfff" for character in self.alphabet):
            raise ParameterError("alphabet: expected characters that have a UTF-8 form")
        if not isinstance(self.other, bool):
            raise ParameterError(f"other: expected True or False, got {type(self.other).__name__}")
        if self.other and not isinstance(self.alphabet, str):
            raise ParameterError("other: goes with an alphabet of text; bytes(range(256)) has every byte")
        if self.other and OTHER_CHARACTER in str(self.alphabet):
            raise ParameterError("alphabet: the replacement character stands for those that other=True takes")
        if self.long not in ("truncate", "refuse"):
            raise ParameterError(f'long: expected "truncate" or "refuse", got {shown(self.long)}')
        whole_number("alphabet: number of characters", len(self.alphabet) + self.other, 1, MAX_SYMBOLS - 1)
        object.__setattr__(self, "length", whole_number("length", self.length, 1, MAX_LENGTH))

    @property
    def symbols(self) -> int:
        """Number of symbols: the pad, the characters, and the one for all others if there is one."""
        return 1 + len(self.alphabet) + self.other

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The type of a symbol; its bytes are what is hashed of it."""
        return np.dtype("<u1" if self.symbols <= 256 else "<u2")

    @cached_property
    def _symbol_of(self) -> npt.NDArray[Any]:
        # By code point; 0 for what is not in the alphabet. The last place is for all beyond the alphabet's last one.
        points = [ord(character) for character in self._characters]
        table = np.full(max(points, default=0) + 2, self.symbols - 1 if self.other else 0, dtype=self.symbol_dtype)
        table[points] = np.arange(1, 1 + len(points))
        return table

    def _symbols_of(self, points: npt.NDArray[Any]) -> npt.NDArray[Any]:
        last = np.uint32(len(self._symbol_of) - 1)
        symbols: npt.NDArray[Any] = self._symbol_of[np.minimum(points, last)]
        return symbols

    @property
    def _characters(self) -> str:
        return self.alphabet if isinstance(self.alphabet, str) else self.alphabet.decode("latin-1")

    def encode(self, items: object) -> Encoded:
        """The symbols of each text, a row of ``length`` symbols each."""
        rows: Any = self._rows_of_array(items) if type(items) is np.ndarray and items.dtype.kind == "U" else None
        if rows is not None:
            return rows  # type: ignore[no-any-return]
        given, kind = listed(items), type(self.alphabet)
        if not all(issubclass(came, kind) for came in set(map(type, given))):
            wrong = np.array([not isinstance(x, kind) for x in given])
            _refuse(wrong, f"expected texts ({kind.__name__})", given)
        rows = np.zeros((len(given), self.length), dtype=self.symbol_dtype)
        for first in range(0, len(given), _TEXTS_AT_ONCE):
            self._encode_texts(given[first : first + _TEXTS_AT_ONCE], rows[first : first + _TEXTS_AT_ONCE], first)
        return rows  # type: ignore[no-any-return]

    def _encode_texts(self, texts: list[Any], rows: npt.NDArray[Any], first: int) -> None:
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self._refuse_long(lengths > self.length, first)
        points: npt.NDArray[Any]
        if isinstance(self.alphabet, bytes):
            points = np.frombuffer(b"".join(texts), dtype=np.uint8)
        else:
            points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        if int(lengths.max()) > self.length:
            place = np.arange(len(points)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            points = points[place < self.length]
            lengths = np.minimum(lengths, self.length)
        symbols = self._symbols_of(points)
        if not symbols.all():
            self._refuse_unknown(np.repeat(np.arange(len(texts)), lengths)[symbols == 0], len(texts), first)
        rows[np.arange(self.length) < lengths[:, None]] = symbols

    def _rows_of_array(self, texts: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
        # NumPy's texts are rows of code points already, filled up with zeros; None where a zero is also a character.
        if not isinstance(self.alphabet, str) or "\0" in self.alphabet or not texts.dtype.isnative or not texts.size:
            return None
        texts = np.ascontiguousarray(_one_dimensional(texts))
        points = texts.view(np.uint32).reshape(len(texts), texts.itemsize // 4)
        rows = np.zeros((len(texts), self.length), dtype=self.symbol_dtype)
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            chunk = points[first : first + _TEXTS_AT_ONCE]
            pads = chunk == 0
            if (pads[:, :-1] & ~pads[:, 1:]).any():
                return None
            self._encode_points(chunk, pads, rows[first : first + _TEXTS_AT_ONCE], first)
        return rows

    def _encode_points(
        self, points: npt.NDArray[Any], pads: npt.NDArray[np.bool_], rows: npt.NDArray[Any], first: int
    ) -> None:
        width = min(self.length, points.shape[1])
        if width < points.shape[1]:
            self._refuse_long(~pads[:, width], first)
        points, pads, symbols = points[:, :width], pads[:, :width], rows[:, :width]
        symbols[...] = self._symbols_of(points)
        if self.other:
            symbols[pads] = 0
        elif np.count_nonzero(symbols) + np.count_nonzero(pads) != symbols.size:
            unknown = (symbols == 0) & ~pads
            self._refuse_unknown(np.flatnonzero(unknown.any(axis=1)), len(rows), first)

    def _refuse_long(self, long: npt.NDArray[np.bool_], first: int) -> None:
        if self.long == "refuse":
            _refuse(long, f'expected at most {self.length} characters (long="truncate" cuts the rest)', first=first)

    def _refuse_unknown(self, texts: npt.NDArray[np.intp], count: int, first: int) -> None:
        wrong = np.zeros(count, dtype=np.bool_)
        wrong[texts] = True
        hint = " (other=True takes any)" * isinstance(self.alphabet, str)
        _refuse(wrong, f"expected characters of the alphabet only{hint}", first=first)

    def encoded(self, values: object) -> Encoded:
        rows_given = isinstance(values, np.ndarray) and values.dtype == self.symbol_dtype and values.ndim == 2
        if not rows_given or values.shape[1] != self.length:  # type: ignore[attr-defined]
            expected = f"rows of {self.length} symbols ({self.symbol_dtype})"
            raise DomainError(f"values: expected {expected} that the domain has encoded, got something else")
        rows: Any = np.ascontiguousarray(values)
        ended = (rows[:, :-1] == 0) & (rows[:, 1:] != 0)
        if len(rows) and (int(rows.max()) >= self.symbols or ended.any()):
            raise DomainError("values: expected symbols that the domain has encoded, got others")
        return rows  # type: ignore[no-any-return]

    def decode(self, codes: Encoded) -> Items:
        """The texts of rows of symbols."""
        names = np.empty(len(codes), dtype=object)
        characters = "\0" + self._characters + OTHER_CHARACTER * self.other
        rows = np.asarray(codes)
        if isinstance(self.alphabet, str) and "\0" not in self.alphabet and rows.shape[1]:
            # NumPy forgets the zeros at the end of a text.
            points = np.array([ord(character) for character in characters], dtype=np.uint32)[rows]
            names[:] = points.view(f"<U{rows.shape[1]}")[:, 0].tolist()
            return names
        texts = ["".join([characters[symbol] for symbol in row if symbol]) for row in rows.tolist()]
        names[:] = texts if isinstance(self.alphabet, str) else [text.encode("latin-1") for text in texts]
        return names

    def number(self, code: Any) -> int:
        """The symbols as the digits of a number, the first one the highest."""
        number = 0
        for symbol in np.asarray(code).tolist():
            number = number * self.symbols + symbol
        return number

    def row(self, number: int) -> npt.NDArray[Any]:
        """The symbols whose number this is."""
        digits = [number // self.symbols ** (self.length - 1 - i) % self.symbols for i in range(self.length)]
        return np.array(digits, dtype=self.symbol_dtype)

    def spread(self, count: int) -> Encoded:
        """So many texts from the empty one to the last, by length and then in the order of the alphabet."""
        letters = self.symbols - 1
        starts = [0]  # the number of the first text of each length
        for length in range(self.length + 1):
            starts.append(starts[-1] + letters**length)
        last = starts[-1] - 1
        rows: Any = np.zeros((0, self.length), dtype=self.symbol_dtype)
        for number in sorted({i * last // (count - 1) for i in range(count)}):
            length = next(size for size in range(self.length + 1) if number < starts[size + 1])
            rank = number - starts[length]
            digits = [1 + rank // letters ** (length - 1 - i) % letters for i in range(length)]
            rows = np.vstack([rows, [*digits, *[0] * (self.length - length)]]).astype(self.symbol_dtype)
        return rows  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        text = isinstance(self.alphabet, str)
        alphabet = self.alphabet if isinstance(self.alphabet, str) else self.alphabet.hex()
        fields = {"type": "strings" if text else "byte strings", "alphabet": alphabet, "length": self.length}
        return fields | {"long": self.long, "other": self.other}


def describe(domain: Domain) -> str:
    """A domain in words."""
    if isinstance(domain, Keys):
        return "any text, asked about by candidates"
    if isinstance(domain, Strings):
        return f"unknown strings of up to {domain.length} of {domain.symbols - 1} characters"
    if isinstance(domain, Labels) and domain.other:
        return f"a list of {domain.size - 1:,} item{'s' * (domain.size > 2)} and all others"
    return f"a list of {domain.size:,} items"


def make_domain(*, domain_size: object = None, domain: object = None, other: object = None) -> Domain:
    """The domain that ``domain_size=d``, ``domain=[labels]`` (with ``other=``) or ``domain=Keys()`` asks for."""
    if (domain_size is None) == (domain is None):
        got = "neither" if domain is None else "both"
        raise ParameterError(f"expected either domain_size= or domain=, got {got}")
    if other is not None and (domain is None or isinstance(domain, Domain)):
        raise ParameterError("other: goes with domain=[labels] only")
    if domain is None:
        return Integers(whole_number("domain_size", domain_size, 2, MAX_DOMAIN_SIZE))
    if isinstance(domain, Domain):
        return domain
    options: dict[str, Any] = {"labels": domain} if other is None else {"labels": domain, "other": other}
    return Labels(**options)


def domain_from_dict(fields: object) -> Domain:
    """The domain of the JSON fields that ``Domain.to_dict`` wrote."""
    if not isinstance(fields, dict):
        raise ParameterError(f"domain: expected an object, got {type(fields).__name__}")
    texts = ("alphabet", "length", "long", "other")
    kinds = {
        "integers": ("size",),
        "labels": ("labels", "other"),
        "keys": ("hash_seed",),
        "strings": texts,
        "byte strings": texts,
    }
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise ParameterError(f"domain: unknown type {shown(kind)}; {nearest(kind, kinds)}")
    names = {"type", *kinds[kind]}
    if fields.keys() != names:
        raise ParameterError(f"domain: expected the fields {sorted(names)}, got {shown(sorted(fields))}")
    if kind == "integers":
        return Integers(fields["size"])
    if kind == "keys":
        return Keys(parse_integer("hash_seed", fields["hash_seed"]))
    if kind in ("strings", "byte strings"):
        alphabet = fields["alphabet"]
        if not isinstance(alphabet, str):
            raise ParameterError("alphabet: expected text")
        if kind == "byte strings":
            try:
                alphabet = bytes.fromhex(alphabet)
            except ValueError:
                raise ParameterError("alphabet: expected the bytes in hexadecimal") from None
        return Strings(alphabet, fields["length"], long=fields["long"], other=fields["other"])
    if not isinstance(fields["labels"], list):
        raise ParameterError("domain: expected a list of labels")
    return Labels(tuple(fields["labels"]), other=fields["other"])


def whole_number(name: str, number: object, least: int, most: int) -> int:
    """The number as an int, refused unless it is a whole one within bounds."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise ParameterError(f"{name}: expected an integer, got {type(number).__name__}")
    if not least <= number <= most:
        raise ParameterError(f"{name}: expected {least} to {most}, got {shown(int(number))}")
    return int(number)


def json_integer(number: int) -> int | str:
    """The integer for JSON: decimal text from 2^53 on, where a JavaScript number would lose digits."""
    return number if number < 2**53 else str(number)


def parse_integer(name: str, written: object) -> int:
    """The integer that ``json_integer`` wrote."""
    return whole_number(name, from_decimal(written), 0, 2**64 - 1)


def from_decimal(written: object) -> object:
    """The integer of a decimal text of at most 64 bits; anything else as it is."""
    digits = isinstance(written, str) and written.isascii() and written.isdigit() and len(written) <= 20
    return int(str(written)) if digits else written


def listed(items: object) -> list[Any]:
    """The items as a list (what is masked becomes None); refuses a single item, and more than one dimension."""
    if isinstance(items, np.ndarray):
        as_list: list[Any] = _one_dimensional(items).tolist()
        return as_list
    if isinstance(items, str | bytes | Mapping | Set) or not isinstance(items, Iterable):
        raise DomainError(f"items: expected a sequence of items, got one {type(items).__name__}")
    # Iterating over a table of pandas would give the names of its columns.
    if getattr(items, "ndim", 1) != 1:
        raise DomainError(f"items: expected one dimension, got {type(items).__name__}; choose a column")
    return list(items)


def _one_dimensional(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.ndim != 1:
        raise DomainError(f"items: expected one dimension, got {array.ndim}")
    return array


def _contents(items: list[Any]) -> tuple[list[bytes] | None, bytes]:
    # The bytes of keys that are all of one plain type, and its tag; None where they must be looked at one by one.
    kinds = set(map(type, items))
    try:
        if kinds == {str}:
            return [item.encode() for item in items], b"str"
        if kinds == {int}:
            return [b"%d" % item for item in items], b"int"
    except ValueError:
        return None, b""
    return (items, b"") if kinds == {bytes} else (None, b"")


def _is_key(item: object, hash_seed: int) -> bool:
    try:
        item_key(item, hash_seed)
    except DeviceError:
        return False
    return True


def _type_name(item: object) -> str:
    return "a missing value" if item is None else type(item).__name__


def _refuse(wrong: npt.NDArray[np.bool_], expected: str, items: Any = None, *, first: int = 0) -> None:
    # Positions and types only: an item may be somebody's secret. ``first`` is the position of the first one.
    positions = np.flatnonzero(wrong)
    if positions.size == 0:
        return
    position = int(positions[0])
    more = f" and {positions.size - 1} more" if positions.size > 1 else ""
    got = "a value outside the domain" if items is None else _type_name(items[position])
    error = DomainError(f"item {first + position}{more}: {expected}, got {got}")
    error.position, error.reason = first + position, f"{expected}, got {got}"
    raise error
