"""Records of several named attributes: the answers to a survey, the columns of a table."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from ..arguments import whole_number
from ..errors import DomainError, ParameterError
from ..memory import unshared
from ..wording import nearest, plural, shown, similar
from ..words import Setting, Words, kind_of
from .attributes import Attribute
from .base import MAX_DOMAIN_SIZE, Domain, Encoded, Facts, Items
from .items import listed, object_array, refuse
from .registry import register_domain

MOST_ATTRIBUTES = 64
_SHOWN = 6
_HAS = "it has "
_PASS_NONE = "pass None for a value that is missing"


@register_domain
@dataclass(frozen=True, init=False, repr=False)
class Table(Domain):
    """Records with a value for each attribute, which is a domain of its own: labels, a number of items, ``Ordered``.

    ``missing``: whether every attribute has a cell for missing values, or the names of those that have one. A user who
    skips a question would otherwise reveal that, and could not be counted. ``Ordered`` attributes take missing values
    as their item for other values.

    Records are dictionaries, or tuples in the order of the attributes; or a table with these columns: a mapping of
    columns, a table of pandas, Polars or pyarrow, or a structured array.

    >>> survey = Table({"browser": ["Firefox", "Chrome"], "theme": ["dark", "light"], "age": 100})
    >>> survey.encode([{"browser": "Chrome", "theme": None, "age": 7}, ("Firefox", "dark", 35)]).tolist()
    [512, 35]
    """

    kinds = ("table",)
    title = "records of several attributes (Table)"
    takes_columns = True

    attributes: tuple[Attribute, ...]

    def __init__(
        self,
        attributes: Mapping[str, Any] | Iterable[tuple[str, Any]],
        *,
        missing: bool | Iterable[str] = True,
    ) -> None:
        pairs = _pairs(attributes)
        absent = _missing_names(missing, [name for name, _ in pairs])
        self._fill([Attribute.made(name, given, name in absent) for name, given in pairs])

    def _fill(self, attributes: list[Attribute]) -> None:
        whole_number("attributes: number of attributes", len(attributes), 2, MOST_ATTRIBUTES)
        names = [attribute.name for attribute in attributes]
        for name in names:
            if names.count(name) > 1:
                raise ParameterError(f"attributes: expected distinct names, got {shown(name)} more than once")
        if prod(attribute.size for attribute in attributes) >= 2**64:
            few = "attributes: expected fewer than 2^64 different records, got more"
            raise ParameterError(f"{few}; leave out attributes, or use fewer items or wider bins")
        object.__setattr__(self, "attributes", tuple(attributes))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes of the table, in their order."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of cells of the attributes of the table."""
        return tuple(attribute.size for attribute in self.attributes)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Factors of the attributes' codes in the code of a record; the last attribute has 1."""
        return tuple(prod(self.sizes[place + 1 :]) for place in range(len(self.sizes)))

    def place(self, name: object) -> int:
        """The position of an attribute of the table, by its name. Raises with the nearest name."""
        if name not in self.names:
            raise ParameterError(f"unknown attribute {shown(name)}; {nearest(name, self.names)}")
        return self.names.index(name)

    # --- codes ------------------------------------------------------------------------------------------------

    @cached_property
    def size(self) -> int | None:  # type: ignore[override]
        """Number of different records, or None if they are too many to list."""
        return self.code_count if self.code_count <= MAX_DOMAIN_SIZE else None

    @cached_property
    def code_count(self) -> int:
        """Number of different records of the table."""
        return prod(self.sizes)

    def encode(self, items: object) -> Encoded:
        columns = self._columns(items)
        codes = [attribute.encode(column) for attribute, column in zip(self.attributes, columns, strict=True)]
        if len({len(each) for each in codes}) > 1:
            raise DomainError("items: expected columns of one length, got others")
        found = np.zeros(len(codes[0]), dtype=np.uint64)
        for step, each in zip(self.steps, codes, strict=True):
            found += each * np.uint64(step)
        return found

    def encoded(self, values: object) -> Encoded:
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.ndim != 1:
            raise DomainError("values: expected an array of records that the domain has encoded, got something else")
        codes = np.require(values, np.uint64, ["C", "A"])
        if not unshared(codes):
            codes = codes.copy()
        if codes.size and int(codes.max()) >= self.code_count:
            raise DomainError("values: expected records that the domain has encoded, got other numbers")
        return codes

    def changes(self, codes: Encoded, item_at: Callable[[int], Any]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for place, (attribute, own) in enumerate(zip(self.attributes, self.digits(codes), strict=True)):
            changed = attribute.domain.changes(own, partial(_value_at, item_at, place))
            found |= {Words(f"of {shown(attribute.name)} ", words): count for words, count in changed.items()}
        return found

    def decode(self, codes: Encoded) -> Items:
        columns = [
            attribute.decode(each).tolist() for attribute, each in zip(self.attributes, self.digits(codes), strict=True)
        ]
        return object_array(zip(*columns, strict=True))

    def digits(self, codes: Encoded) -> list[Encoded]:
        """The codes of each attribute of the table in encoded records."""
        parts = zip(self.steps, self.sizes, strict=True)
        return [codes // np.uint64(step) % np.uint64(size) for step, size in parts]

    def examples(self, count: int) -> Items:
        return self.decode(self.spread(count))

    def _columns(self, items: object) -> Sequence[Any]:
        # The values of each attribute, from whatever holds the records.
        named = _columns_by_name(items)
        if named is not None:
            names, column_of = named
            self._expect_names(names, "items: ", left_out=_selection(items, self.names))
            return [column_of(name) for name in self.names]
        if isinstance(items, np.ndarray) and items.ndim == 2:
            if items.shape[1] != len(self.names):
                raise DomainError(f"items: expected {len(self.names)} columns, got {items.shape[1]}")
            return list(items.T)
        rows = [self._values(record, position) for position, record in enumerate(listed(items))]
        return list(map(list, zip(*rows, strict=True))) if rows else [[] for _ in self.names]

    def _values(self, record: object, position: int) -> Sequence[Any]:
        if isinstance(record, Mapping):
            if record.keys() != self._known:
                self._expect_names(list(record), f"item {position}: ", position)
            return [record[name] for name in self.names]
        if isinstance(record, np.void) and record.dtype.names:
            return self._values(dict(zip(record.dtype.names, record.tolist(), strict=True)), position)
        if not isinstance(record, tuple | list):
            expected = f"expected a dictionary, or a tuple of {len(self.names)} values"
            refuse(np.arange(position + 1) == position, expected, [record] * (position + 1))
        assert isinstance(record, tuple | list)
        if len(record) != len(self.names):
            expected = f"expected {len(self.names)} values, one for each attribute ({_PASS_NONE})"
            refuse(np.arange(position + 1) == position, expected, got=f"{len(record)}")
        return record

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def _expect_names(
        self, given: Sequence[object], where: str, position: int | None = None, left_out: str = ""
    ) -> None:
        if reason := self._fault_of(given, left_out):
            error = DomainError(Words(where, reason))
            error.position, error.reason = position, reason
            raise error

    def _fault_of(self, given: Sequence[object], left_out: str) -> str:
        # What is wrong with the names of a record or of the columns of a table, with how to leave out others.
        absent = [name for name in self.names if name not in given]
        for other in given:
            # The names of a record are those of the application, not a user's values.
            if other not in self.names and (close := similar(str(other), absent)):
                return f"unknown attribute {shown(other)}{close}"
        for name in absent:
            return f"expected a value for the attribute {shown(name)}, got a record without it; {_PASS_NONE}"
        for other in given:
            if other not in self.names:
                return Words(f"unknown attribute {shown(other)}; leave it out", left_out)
        for name in self.names:
            if (times := sum(each == name for each in given)) > 1:
                return f"expected one column named {shown(name)}, got {times}"
        return ""

    # --- files and command lines ------------------------------------------------------------------------------

    @property
    def takes_missing(self) -> bool:
        return False

    @property
    def item_type(self) -> type:
        return tuple

    def parse(self, texts: Sequence[str]) -> list[Any]:
        """The records written as these texts: values in the order of the attributes, separated as in a CSV file.

        An empty value is missing.
        """
        rows = list(map(_row, texts))
        width = len(self.names)
        refuse(np.array([len(row) != width for row in rows]), f"expected {width} values with commas between them", rows)
        return self.read([tuple(value or None for value in row) for row in rows])

    def read(self, records: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The records as the table's attributes have them, from texts and numbers of a file; None is missing."""
        if not records:
            return []
        columns = zip(self.attributes, zip(*records, strict=True), strict=True)
        return list(zip(*(attribute.read(column) for attribute, column in columns), strict=True))

    # --- words ------------------------------------------------------------------------------------------------

    def describe(self) -> str:
        return f"records of {plural(len(self.names), 'attribute')}: {self._listed}"

    @property
    def _listed(self) -> str:
        named = [f"{name} ({size:,})" for name, size in zip(self.names, self.sizes, strict=True)]
        return ", ".join([*named[:_SHOWN], *["…"] * (len(named) > _SHOWN)])

    def facts(self) -> Facts:
        return [
            ("values", f"records of {plural(len(self.names), 'attribute')}"),
            *((attribute.name, attribute.describe()) for attribute in self.attributes),
        ]

    @property
    def argument(self) -> str:
        return f"domain=Table({{{', '.join(f'{name!r}: ...' for name in self.names)}}})"

    def __repr__(self) -> str:
        return f"Table({self._listed})"

    @property
    def refusals(self) -> tuple[str, ...]:
        names: dict[str, list[str]] = {}
        for attribute in self.attributes:
            for reason in attribute.domain.refusals:
                names.setdefault(reason, []).append(shown(attribute.name))
        return tuple(_about(alike, reason) for reason, alike in names.items())

    # --- JSON -------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        return {"type": "table", "attributes": [attribute.to_dict() for attribute in self.attributes]}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Table:
        if fields.keys() != {"type", "attributes"} or not isinstance(fields["attributes"], list):
            raise ParameterError("domain: expected a list of attributes, got other fields")
        made = cls.__new__(cls)
        made._fill([Attribute.from_dict(written) for written in fields["attributes"]])
        return made

    def client_fields(self) -> dict[str, Any]:
        return {"type": "table", "attributes": [attribute.client_fields() for attribute in self.attributes]}


def _about(names: list[str], reason: str) -> Words:
    # A reason that domains give about themselves, said about the attributes with these names.
    first, *rest = reason.parts if isinstance(reason, Words) else (reason,)
    few = ", ".join([*names[:_SHOWN], *["…"] * (len(names) > _SHOWN)])
    if not isinstance(first, str) or not first.startswith(_HAS):
        return Words(f"{few}: ", reason)
    return Words(f"{few} {'has ' if len(names) == 1 else 'have '}{first.removeprefix(_HAS)}", *rest)


def _row(text: str) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error:  # a line break outside of quotation marks
        return []


def _value_at(item_at: Callable[[int], Any], place: int, position: int) -> Any:
    return item_at(position)[place]


def _pairs(given: object) -> list[tuple[Any, Any]]:
    if isinstance(given, Mapping):
        return list(given.items())
    pairs = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else None
    if pairs is None or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        expected = 'attributes: expected names and their values, such as {"theme": ["dark", "light"], "age": 100}, got '
        raise ParameterError(Words(expected, kind_of(given)))
    return pairs


def _missing_names(given: object, names: list[Any]) -> list[Any]:
    if isinstance(given, bool):
        return names if given else []
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        expected = ": expected true, false or names of attributes, got "
        raise ParameterError(Words(Setting("missing"), expected, kind_of(given)))
    chosen = list(given)
    for name in chosen:
        if name not in names:
            raise ParameterError(
                Words(Setting("missing"), f": unknown attribute {shown(name)}; {nearest(name, names)}")
            )
    return chosen


def _selection(items: object, names: Sequence[str]) -> str:
    # How to leave out all other columns of a table; a mapping has no short way.
    if isinstance(items, Mapping):
        return ""
    listed = json.dumps(list(names), ensure_ascii=False)
    typed = f"items.select({listed})" if _can(items, "select") else f"items[{listed}]"
    if _can(items, "project"):  # a relation of DuckDB
        typed = f"items.select({listed[1:-1]})"
    return Words(" with ", Setting("columns", ",".join(names), python=typed))


def _can(items: object, method: str) -> bool:
    # A frame of pandas has its columns as attributes, which may have any name.
    return callable(getattr(items, method, None))


def _columns_by_name(items: Any) -> tuple[list[Any], Any] | None:
    # The names of columns, and a function from one of them to its values; None if the items are records.
    if isinstance(items, Mapping):
        if items and all(isinstance(items[name], str) or not hasattr(items[name], "__iter__") for name in items):
            raise DomainError("items: expected a list of records, or columns by name, got one record; pass [record]")
        return list(items), items.__getitem__
    if isinstance(items, np.ndarray):
        return (list(items.dtype.names), items.__getitem__) if items.dtype.names else None
    for name in ("to_arrow_table", "fetch_arrow_table"):  # a relation of DuckDB; older ones have the second only
        if _can(items, name):
            items = getattr(items, name)()
    if _can(items, "collect"):  # a query of Polars or Spark
        raise DomainError(Words("items: expected a table in memory, got ", kind_of(items), "; collect it first"))
    names = getattr(items, "column_names", None) or getattr(items, "columns", None)
    return None if names is None else (list(names), items.__getitem__)
