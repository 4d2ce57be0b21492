"""The interface of domains, so that no caller has to ask for the kind of a domain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ... import device, kernels
from ..arrangement import Arrangement
from ..errors import DomainError, ParameterError
from ..memory import unshared
from ..wording import shown
from ..words import Setting
from .items import refuse_halves

MAX_DOMAIN_SIZE = 2**32
OTHER = "other"

TAKE_OTHERS = Setting("other", True, of="plan")
"""The setting that gives all other values an item of their own."""

Encoded = npt.NDArray[np.unsignedinteger[Any]]
"""Codes of items: a 64-bit integer each, or, of strings, a row of 8-bit or 16-bit symbols each."""
Items = npt.NDArray[Any]
Facts = list[tuple[str, str]]
"""Names and texts, to be shown as lines."""


class Domain(ABC):
    """A set of possible values, each known to schemes by its code.

    A kind of domain is a frozen dataclass in a file of its own, registered with ``register_domain``. It defines the
    abstract members and overrides those whose default does not fit. Most kinds derive from ``Listable``, which leaves
    ``encode``, ``decode`` and ``to_dict`` to define; every oracle then works on them.
    """

    kinds: ClassVar[tuple[str, ...]]
    """The names of the kind in JSON, the possible values of ``"type"``."""
    title: ClassVar[str]
    """Name of the kind in messages about the domains that a scheme accepts."""
    in_tables: ClassVar[str] = ""
    """The fix for a table that has the kind as an attribute, if it cannot be one but others can say the same."""

    # --- codes ------------------------------------------------------------------------------------------------

    size: int | None
    """Number of items, or None where they cannot be listed."""
    other: bool = False
    """Whether the last item, or the last character of strings, takes all values that are not listed."""
    hash_seed: int | None = None
    """Seed of the keyed hash that makes the codes; None where codes are no hashes."""
    normalize: Sequence[str] = ()
    """Steps that texts go through before they get a code, in their fixed order; empty if texts stay as they are."""

    @property
    def cells(self) -> int | None:
        """Number of cells of a domain of plain numbers, through which another scheme may report; else None."""
        return None

    @property
    @abstractmethod
    def code_count(self) -> int:
        """Number of different codes in the domain that a client tells apart."""

    @abstractmethod
    def encode(self, items: object) -> Encoded:
        """The domain's code of each item. Invalid items are reported by position, never by value."""

    @abstractmethod
    def decode(self, codes: Encoded) -> Items:
        """The items of these codes, for a domain whose codes are no hashes."""

    def encoded(self, values: object) -> Encoded:
        """The values unchanged, if they look like codes of this domain. Raises otherwise."""
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.ndim != 1:
            raise DomainError("values: expected an array of items that the domain has encoded, got something else")
        # Kernels read whole words, and another process must not change what has been checked.
        codes = np.require(values, np.uint64, ["C", "A"])
        if not unshared(codes):
            codes = codes.copy()
        if self.size is not None and codes.size and kernels.extremes(codes)[1] >= self.size:
            raise DomainError("values: expected items that the domain has encoded, got other numbers")
        return codes

    def number(self, code: Any) -> int:
        """One code of the domain as the integer that a client on a device makes of the item."""
        return int(code)

    def of_number(self, number: int) -> Encoded:
        """The one encoded item of the domain that ``number`` turns into this integer, as an array."""
        return np.array([number], dtype=np.uint64)

    def spread(self, count: int) -> Encoded:
        """Up to ``count`` evenly spaced codes of the domain, the first and the last among them."""
        return np.array(self.ranks(count), dtype=np.uint64)

    def ranks(self, count: int) -> Sequence[int]:
        """Up to ``count`` evenly spaced ranks in the domain, below ``code_count``, the first and last among them."""
        last = self.code_count - 1
        if count > last:
            return range(last + 1)
        return sorted({i * last // max(1, count - 1) for i in range(count)})

    def named(self, items: object) -> Items:
        """The items as the domain names them in estimates: cut if it cuts them, "other" if it does not list them."""
        return self.decode(self.encode(items))

    def normalizing(self, steps: object) -> Self:
        """The same domain with the same codes, for texts that go through these steps first: "nfc,lower,strip"."""
        raise ParameterError(f"normalize: expected a domain of texts, got {self.describe()}")

    def changes(self, codes: Encoded, item_at: Callable[[int], Any]) -> Mapping[str, int]:
        """Number of items that are changed on their way to these codes, by what happens to them; no item is shown.

        ``item_at`` gives the item of a code by its position. It takes time, and is for the few that codes do not tell.
        """
        return {}

    def normalized(self, items: list[Any]) -> list[Any]:
        """The items after the steps of ``normalize``; whatever is no text is left as it is."""
        return items

    def ask(self, items: object) -> tuple[Encoded, Items]:
        """Codes of the items that an analyst asks about, and the names that the domain gives them in the answer.

        An item that shares its code with all others outside the domain is refused: an answer would count other
        users, too. Devices encode such a value all the same.
        """
        codes = self.encoded(self.encode(items))
        return codes, self.decode(codes)

    @abstractmethod
    def examples(self, count: int) -> Items:
        """Up to ``count`` different items of the domain, to try a scheme with."""

    # --- files and command lines ------------------------------------------------------------------------------

    takes_arrays: ClassVar[bool] = False
    """Whether ``encode`` takes NumPy's arrays of numbers, dates and durations, with masks for missing ones."""

    takes_columns: ClassVar[bool] = False
    """Whether ``encode`` takes tables of several columns, whatever library holds them."""

    @property
    def takes_missing(self) -> bool:
        """Whether missing values have an item of their own; else they are refused, or skipped."""
        return False

    @property
    def item_type(self) -> type:
        """The type of the domain's items.

        Whole numbers and bytes of this type are taken from a file as they are; everything else is parsed from its text.
        """
        return str

    def parse(self, texts: Sequence[str]) -> list[Any]:
        """The items of the domain written as these texts. Invalid texts are reported by position, never by value."""
        refuse_halves(texts)
        return list(texts)

    def codes_of(self, texts: Sequence[str]) -> Encoded:
        """The domain's codes of items that are written as these texts."""
        return self.encode(self.parse(texts))

    # --- words ------------------------------------------------------------------------------------------------

    searchable: ClassVar[bool] = False
    """Whether the items are found by a search, rather than estimated by name."""

    @abstractmethod
    def describe(self) -> str:
        """The domain in a few words."""

    def facts(self) -> Facts:
        """The possible values of the domain, and its treatment of all other values, line by line."""
        return [("values", self.describe()), ("others", "refused")]

    @property
    def arrangement(self) -> Arrangement:
        """How tables and charts arrange the items of the domain."""
        return Arrangement()

    @property
    def argument(self) -> str:
        """The domain as an argument of ``make``; a long list of labels is left out."""
        return f"domain={self!r}"

    @property
    def refusals(self) -> tuple[str, ...]:
        """Reasons for devices to refuse a scheme over this domain, each with its remedy; empty if they accept it.

        A device accepts a domain that has a code for every text, because refusing a value reveals it.
        """
        return ()

    # --- JSON -------------------------------------------------------------------------------------------------

    optional: ClassVar[frozenset[str]] = frozenset()
    """Names of fields that JSON has only where they differ from their default."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The domain as JSON-ready fields, the kind as ``"type"``."""

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """The domain of the fields that ``to_dict`` wrote: here, one field for each parameter of the class."""
        return cls(**cls.expect_fields(fields))

    @classmethod
    def expect_fields(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a domain without ``"type"``. Raises unless they are the parameters of the class."""
        names = signature(cls).parameters
        needed = {"type", *names} - cls.optional
        if not needed <= fields.keys() <= needed | cls.optional:
            raise ParameterError(f"domain: expected the fields {sorted(needed)}, got {shown(sorted(fields))}")
        return {name: fields[name] for name in names if name in fields}

    def client_fields(self) -> dict[str, Any]:
        """JSON-ready fields of a domain that ``device.py`` knows and that has the same codes."""
        return self.to_dict()


class Listable(Domain):
    """A domain whose items can be listed: their codes are the numbers 0 to ``size`` - 1."""

    title = "items that can be listed (a domain_size, or a list of labels)"

    size: int

    @property
    def code_count(self) -> int:
        """Number of items of the listable domain."""
        return self.size

    def examples(self, count: int) -> Items:
        return self.decode(self.spread(count))

    def describe(self) -> str:
        return f"a list of {self.size:,} items"

    def client_fields(self) -> dict[str, Any]:
        # To a randomizer an item is its number. Which value has which number matters to the client of a device only.
        own = self.to_dict()
        return own if own["type"] in device.DOMAINS else {"type": "integers", "size": self.size}
