"""Any number of listed items: the answer to “which of these apps do you use?”, as a table of yes/no attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from ..arguments import whole_number
from ..errors import ParameterError
from ..wording import label_of, plural
from ..words import Setting, Words, kind_of
from .attributes import Attribute
from .base import OTHER, TAKE_OTHERS, Encoded, Facts, Items
from .items import listed, object_array, refuse
from .labels import Labels
from .registry import register_domain
from .table import Table

CHOSEN = 1
"""Code of a chosen item in its attribute."""
_ANSWERS = Labels(("no", "yes"))
MOST_CHOICES = 63
"""Largest number of attributes: a set of items is a number of 64 bits."""
_SHOWN = 5
"""Number of items that are shown in words."""
_EXPECTED = "expected a list or set of items (an empty one if none applies)"


@register_domain
@dataclass(frozen=True, init=False, repr=False)
class Choices(Table):
    """Any number of the listed ``items``, as a table with a yes/no attribute for each of them.

    A value is a list, tuple, set or array of items; the order and repetitions do not matter, and an empty one says no
    to all of them. ``other``: one more attribute, for people who have chosen anything that is not on the list; without
    it such a value is refused, and devices refuse the scheme.

    >>> apps = Choices(["Maps", "Mail", "Chess"], other=True)
    >>> apps.encode([["Mail", "Maps"], set(), {"Chess", "Sudoku"}]).tolist()
    [12, 0, 3]
    >>> apps.decode(apps.encode([["Mail", "Maps"]])).tolist()
    [('Maps', 'Mail')]
    """

    kinds = ("choices",)
    title = "any number of listed items (Choices)"
    takes_columns = False
    in_tables = Words(
        "add each item as a yes/no attribute: ",
        Setting("attribute", "ITEM=no,yes", of="plan", python='"ITEM": ["no", "yes"]'),
    )

    other: bool

    def __init__(self, items: Iterable[str], *, other: bool = False) -> None:
        names = [*Labels(items, other).labels, *[OTHER] * other]  # type: ignore[arg-type]
        whole_number("items: number of items", len(names), 2, MOST_CHOICES)
        self._fill([Attribute.made(name, _ANSWERS, False) for name in names])
        object.__setattr__(self, "other", other)

    @property
    def items(self) -> tuple[str, ...]:
        """The listed items of the choices."""
        return self.names[: len(self.names) - self.other]

    # --- codes ------------------------------------------------------------------------------------------------

    @cached_property
    def _bits(self) -> dict[str, int]:
        return dict(zip(self.items, self.steps, strict=False))

    def encode(self, items: object) -> Encoded:
        given = listed(items)
        refuse(np.array([not _is_list(chosen) for chosen in given]), _EXPECTED, given)
        odd = np.array([not all(isinstance(item, str) for item in chosen) for chosen in given])
        refuse(odd, "expected items that are texts", got="other things")
        bits = self._bits
        if not self.other:
            expected = Words(f"expected some of the {len(bits)} items (with ", TAKE_OTHERS, " any)")
            refuse(np.array([not bits.keys() >= set(chosen) for chosen in given]), expected)
        # The last attribute, that for all other items, has the lowest bit.
        codes = (sum({bits.get(item, 1) for item in chosen}) for chosen in given)
        return np.fromiter(codes, dtype=np.uint64, count=len(given))

    def decode(self, codes: Encoded) -> Items:
        digits = np.array(self.digits(codes), dtype=np.bool_).reshape(len(self.names), -1).T
        return object_array(tuple(compress(self.names, row)) for row in digits)

    # --- files and command lines ------------------------------------------------------------------------------

    def parse(self, texts: Sequence[str], separator: str = ",") -> list[Any]:
        """The sets of items written as these texts, with a separator between items; spaces around them do not count.

        >>> Choices(["Maps", "Mail"]).parse(["Mail, Maps", ""])
        [('Mail', 'Maps'), ()]
        """
        return [tuple(filter(None, map(str.strip, text.split(separator)))) for text in texts]

    # --- words ------------------------------------------------------------------------------------------------

    def describe(self) -> str:
        return f"any of {plural(len(self.items), 'item')}" + " and all others" * self.other

    def facts(self) -> Facts:
        others: str = Words("refused, and devices refuse the scheme (", TAKE_OTHERS, " counts who has any of them)")
        if self.other:
            others = f'everything else is reported as the item "{OTHER}"'
        return [("values", f"any number of {plural(len(self.items), 'item')}: {self._few}"), ("others", others)]

    @property
    def _few(self) -> str:
        return ", ".join([*map(label_of, self.items[:_SHOWN]), *["…"] * (len(self.items) > _SHOWN)])

    @property
    def argument(self) -> str:
        return f"domain=Choices([...]{', other=True' * self.other})"

    def __repr__(self) -> str:
        return f"Choices({self._few}{', or others' * self.other})"

    @property
    def refusals(self) -> tuple[str, ...]:
        return () if self.other else (Words("it has no item for other values. ", TAKE_OTHERS, " adds one."),)

    # --- JSON -------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        return {"type": "choices", "items": list(self.items), "other": self.other}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Choices:
        given = cls.expect_fields(fields)
        if not isinstance(given["items"], list):
            raise ParameterError(Words("domain: expected a list of items, got ", kind_of(given["items"])))
        return cls(given["items"], other=given["other"])

    def client_fields(self) -> dict[str, Any]:
        return self.to_dict()


def _is_list(chosen: object) -> bool:
    return isinstance(chosen, list | tuple | Set) or (isinstance(chosen, np.ndarray) and chosen.ndim == 1)
