"""A list of labels, with or without an item for all other texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from ..arguments import whole_number
from ..arrangement import Arrangement
from ..errors import ParameterError
from ..wording import label_of, plural, shown, similar
from ..words import Setting, Words, kind_of
from .base import MAX_DOMAIN_SIZE, OTHER, TAKE_OTHERS, Encoded, Facts, Items, Listable
from .items import listed, refuse, refuse_asked
from .normalizing import Normalizing
from .registry import register_domain

_SHOWN = 5
"""Number of labels that are shown in words."""


@register_domain
@dataclass(frozen=True, repr=False)
class Labels(Normalizing, Listable):
    """Distinct strings in a fixed order; with ``other`` one more, last item takes every other string.

    ``normalize="nfc,lower,strip"``, or some of these steps, applies to the labels and to the values, on devices too.
    A scheme for devices should have ``other``: refusing to report is itself an output that reveals something.
    """

    kinds = ("labels",)

    labels: tuple[str, ...]
    other: bool = False
    normalize: Sequence[str] = ()
    size: int = field(init=False, repr=False)
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._read_steps()
        given: object = self.labels
        # A set has no order that all processes agree on.
        if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
            got = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
            raise ParameterError(f"domain: expected labels in order or a Domain, got {got}")
        object.__setattr__(self, "labels", tuple(given))
        for label in self.labels:
            if not isinstance(label, str):
                hint = "; a domain of integers is given by its domain_size" * isinstance(label, int | np.integer)
                raise ParameterError(Words("domain: expected labels that are texts, got ", kind_of(label), hint))
        labels = self.normalized([str(label) for label in self.labels])
        index = {label: i for i, label in enumerate(labels)}
        if len(index) != len(labels) and len(set(self.labels)) == len(labels):
            raise ParameterError("domain: expected labels that differ when they are normalized, some become equal")
        if len(index) != len(labels):
            raise ParameterError("domain: expected distinct labels, some occur more than once")
        if not isinstance(self.other, bool):
            raise ParameterError(Words(Setting("other"), ": expected true or false, got ", kind_of(self.other)))
        if self.other and OTHER in index:
            fix = Setting("other", True)
            raise ParameterError(Words(f"domain: the label {shown(OTHER)} is the name of the item that ", fix, " adds"))
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
            refuse(wrong, "expected labels that are texts", given)
        missing = self.size - 1 if self.other else self.size
        index = self._index
        codes = np.fromiter(map(index.get, given, repeat(missing)), dtype=np.uint64, count=len(given))
        if self.normalize:
            # A label is its own normal form, so only the rest is normalized.
            rest = np.flatnonzero(codes >= len(index)).tolist()
            texts = self.normalized([given[place] for place in rest])
            codes[rest] = [index.get(text, missing) for text in texts]
        expected = Words(f"expected one of the {self.size} labels (with ", TAKE_OTHERS, " any text)")
        refuse(codes >= self.size, expected)
        return codes

    def ask(self, items: object) -> tuple[Encoded, Items]:
        given = self.normalized(listed(items))
        for position, item in enumerate(given):
            if isinstance(item, str) and item not in self._index and not (self.other and item == OTHER):
                refuse_asked(position, self._not_listed, self._not_listed + similar(item, self.labels))
        return super().ask(given)

    @property
    def _not_listed(self) -> str:
        if not self.other:
            return f"expected one of the {self.size} labels, got a text that is not on the list"
        return f"not on the list: counted under {OTHER!r} with all such texts; ask for {OTHER!r} or a listed item"

    def decode(self, codes: Encoded) -> Items:
        names = np.array([*self.labels, OTHER] if self.other else self.labels, dtype=object)
        return names[codes]

    def to_dict(self) -> dict[str, Any]:
        return {"type": "labels", "labels": list(self.labels), "other": self.other} | self._normalize_fields()

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Labels:
        given = cls.expect_fields(fields)
        if not isinstance(given["labels"], list):
            raise ParameterError(Words("domain: expected a list of labels, got ", kind_of(given["labels"])))
        made = cls(**given)
        if list(made.labels) != given["labels"]:
            raise ParameterError("domain: expected labels that are normalized already, got others")
        return made

    def describe(self) -> str:
        if self.other:
            return f"a list of {plural(self.size - 1, 'item')} and all others"
        return super().describe()

    def facts(self) -> Facts:
        more = ", …" if len(self.labels) > _SHOWN else ""
        named = ", ".join(label_of(label) for label in self.labels[:_SHOWN])
        others: str = Words("refused, and devices refuse the scheme (", TAKE_OTHERS, " takes them as one more item)")
        if self.other:
            others = f'every other text is reported as the item "{OTHER}"'
        values = ("values", f"{len(self.labels):,} labels: {named}{more}")
        return [values, *self._normalize_facts(), ("others", others)]

    @property
    def arrangement(self) -> Arrangement:
        return Arrangement(other=OTHER if self.other else None)

    @property
    def argument(self) -> str:
        normalize = f', normalize="{",".join(self.normalize)}"' if self.normalize else ""
        return f"domain=[...]{', other=True' * self.other}{normalize}"

    @property
    def refusals(self) -> tuple[str, ...]:
        if self.other:
            return ()
        return (Words("it has no item for other values. ", TAKE_OTHERS, " adds one."),)
