"""One attribute of a table: its name, its domain, and a cell for missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DomainError, ParameterError
from ..wording import shown
from ..words import Setting, Words, kind_of
from .base import Domain, Encoded, Items, Listable
from .columns import encode_column, encode_with_missing
from .in_order import InOrder
from .items import object_array
from .labels import Labels
from .making import as_domain
from .registry import domain_from_dict

MISSING = "missing"
"""Name of the cell for missing values in answers."""
_LONGEST = 80


@dataclass(frozen=True)
class Attribute:
    """A question of a survey, or a column of a table: codes 0 to ``size`` - 1, the last for missing values if any."""

    name: str
    domain: Listable
    missing: bool
    """Whether there is one more cell for missing values, besides those of the domain."""

    @classmethod
    def made(cls, name: object, given: object, missing: bool) -> Attribute:
        """The checked attribute of a table; ``missing`` adds a cell unless the domain has an item for missing values.

        Values in order keep their order: their own item for other values takes the missing ones.
        """
        if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST or not name.isprintable():
            expected = f"attributes: expected names of 1 to {_LONGEST} printable characters, got "
            raise ParameterError(Words(expected, "another text" if isinstance(name, str) else kind_of(name)))
        domain = _domain(name, given)
        if not isinstance(domain, Listable):
            listed = f"attributes: expected items that can be listed for {shown(name)}, such as labels, got "
            instead = Words("; ", domain.in_tables) if domain.in_tables else ""
            raise ParameterError(Words(listed, kind_of(domain), instead))
        if missing and isinstance(domain, InOrder):
            domain = domain.taking_missing()
        return cls(name, domain, missing and not domain.takes_missing)

    def __post_init__(self) -> None:
        if self.missing and isinstance(self.domain, Labels) and MISSING in self.domain.labels:
            label = (
                f"attributes: {shown(self.name)}: the label {shown(MISSING)} is the name of the cell for missing values"
            )
            raise ParameterError(
                Words(f"{label}; choose another label, or leave out this cell with ", Setting("missing", False))
            )

    @property
    def size(self) -> int:
        """Number of cells of the attribute, that for missing values included."""
        return self.domain.size + self.missing

    def encode(self, column: object) -> Encoded:
        """The code of each value in a column of the table. Invalid ones are reported by position and attribute."""
        try:
            if self.missing:
                return encode_with_missing(self.domain, column, self.domain.size)
            return encode_column(self.domain, column)
        except DomainError as error:
            refused = self._refused(error)
        # Outside the handler: the first error would travel along.
        raise refused

    def _refused(self, error: DomainError, places: Sequence[int] | None = None) -> DomainError:
        # The error of the domain, with the name of the attribute, about the value at one of these places.
        if error.position is None:
            return DomainError(Words(f"{shown(self.name)}: ", error.words))
        position = error.position if places is None else places[error.position]
        more = f" and {error.more} more" if error.more else ""
        reason = Words(f"{shown(self.name)}: ", error.reason)
        named = DomainError(Words(f"item {position}{more}: ", reason))
        named.position, named.more, named.reason = position, error.more, reason
        return named

    def read(self, values: Sequence[Any]) -> list[Any]:
        """The values of the attribute in a column of a file: texts are parsed, and numbers are texts to labels."""
        if self.domain.item_type is str and not self.domain.takes_arrays:
            values = [str(value) if type(value) is int else value for value in values]
        places = [place for place, value in enumerate(values) if isinstance(value, str)]
        found = list(values)
        try:
            parsed = self.domain.parse([values[place] for place in places])
        except DomainError as error:
            refused = self._refused(error, places)
        else:
            for place, value in zip(places, parsed, strict=True):
                found[place] = value
            return found
        raise refused

    def decode(self, codes: Encoded) -> Items:
        """The values of these codes in the table; None stands for a missing one."""
        return self._named(codes, None)

    @property
    def cells(self) -> Items:
        """Names of all cells of the attribute, in the order of their codes."""
        return self._named(np.arange(self.size, dtype=np.uint64), MISSING)

    def _named(self, codes: Encoded, absent: Any) -> Items:
        if not self.missing:
            return self.domain.decode(codes)
        missing = codes >= self.domain.size
        names = object_array(self.domain.decode(np.where(missing, np.uint64(0), codes)).tolist())
        names[missing] = absent
        return names

    def to_dict(self) -> dict[str, Any]:
        """The attribute as JSON-ready fields."""
        return {"name": self.name, "domain": self.domain.to_dict(), "missing": self.missing}

    @classmethod
    def from_dict(cls, fields: object) -> Attribute:
        """The attribute of the fields that ``to_dict`` wrote."""
        if not isinstance(fields, dict) or fields.keys() != {"name", "domain", "missing"}:
            raise ParameterError("attributes: expected objects with a name, a domain and missing, got others")
        if not isinstance(fields["missing"], bool):
            raise ParameterError(Words("missing: expected true or false, got ", kind_of(fields["missing"])))
        made = cls.made(fields["name"], domain_from_dict(fields["domain"]), False)
        if fields["missing"] and made.domain.takes_missing:
            raise ParameterError("missing: expected false for a domain that has an item for missing values")
        return cls(made.name, made.domain, fields["missing"])

    def client_fields(self) -> dict[str, Any]:
        """The attribute as fields that a device knows, with the same codes."""
        return self.to_dict() | {"domain": self.domain.client_fields()}

    def describe(self) -> str:
        """The values of the attribute in a few words."""
        return self.domain.describe() + f", or {MISSING}" * self.missing


def _domain(name: str, given: object) -> Domain:
    try:
        return as_domain(given)
    except ParameterError as error:
        refused = ParameterError(Words(f"attributes: {shown(name)}: ", error.words))
    # Outside the handler: the first error would travel along.
    raise refused
