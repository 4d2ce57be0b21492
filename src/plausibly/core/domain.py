"""Domains: what a user's value may be, and the integer a scheme sees of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..device import DeviceError, item_key
from .errors import DomainError, ParameterError, nearest, shown

MAX_DOMAIN_SIZE = 2**32
OTHER = "other"

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
            came = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
            raise ParameterError(f"domain: expected labels in order or a Domain, came {came}")
        object.__setattr__(self, "labels", tuple(given))
        for label in self.labels:
            if not isinstance(label, str):
                hint = "; domain_size= makes a domain of integers" * isinstance(label, int | np.integer)
                raise ParameterError(f"domain: expected labels (str), came {type(label).__name__}{hint}")
        index = {str(label): i for i, label in enumerate(self.labels)}
        if len(index) != len(self.labels):
            raise ParameterError("domain: expected distinct labels, some occur more than once")
        if not isinstance(self.other, bool):
            raise ParameterError(f"other: expected True or False, came {type(self.other).__name__}")
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


def make_domain(*, domain_size: object = None, domain: object = None, other: object = None) -> Domain:
    """The domain that ``domain_size=d``, ``domain=[labels]`` (with ``other=``) or ``domain=Keys()`` asks for."""
    if (domain_size is None) == (domain is None):
        came = "neither" if domain is None else "both"
        raise ParameterError(f"expected either domain_size= or domain=, came {came}")
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
        raise ParameterError(f"domain: expected an object, came {type(fields).__name__}")
    kinds = {"integers": ("size",), "labels": ("labels", "other"), "keys": ("hash_seed",)}
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise ParameterError(f"domain: unknown type {shown(kind)}; {nearest(kind, kinds)}")
    names = {"type", *kinds[kind]}
    if fields.keys() != names:
        raise ParameterError(f"domain: expected the fields {sorted(names)}, came {shown(sorted(fields))}")
    if kind == "integers":
        return Integers(fields["size"])
    if kind == "keys":
        return Keys(parse_integer("hash_seed", fields["hash_seed"]))
    if not isinstance(fields["labels"], list):
        raise ParameterError("domain: expected a list of labels")
    return Labels(tuple(fields["labels"]), other=fields["other"])


def whole_number(name: str, number: object, least: int, most: int) -> int:
    """The number as an int, refused unless it is a whole one within bounds."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise ParameterError(f"{name}: expected an integer, came {type(number).__name__}")
    if not least <= number <= most:
        raise ParameterError(f"{name}: expected {least} to {most}, came {shown(int(number))}")
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
        raise DomainError(f"items: expected a sequence of items, came one {type(items).__name__}")
    # Iterating over a table of pandas would give the names of its columns.
    if getattr(items, "ndim", 1) != 1:
        raise DomainError(f"items: expected one dimension, came {type(items).__name__}; choose a column")
    return list(items)


def _one_dimensional(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.ndim != 1:
        raise DomainError(f"items: expected one dimension, came {array.ndim}")
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


def _refuse(wrong: npt.NDArray[np.bool_], expected: str, items: Any = None) -> None:
    # Positions and types only: an item may be somebody's secret.
    positions = np.flatnonzero(wrong)
    if positions.size == 0:
        return
    first = int(positions[0])
    more = f" and {positions.size - 1} more" if positions.size > 1 else ""
    came = "a value outside the domain" if items is None else _type_name(items[first])
    raise DomainError(f"item {first}{more}: {expected}, came {came}")
