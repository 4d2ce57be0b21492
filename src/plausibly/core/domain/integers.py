"""The integers below a size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from ... import kernels
from ..arguments import whole_number
from ..arrangement import Arrangement
from ..words import Words, kind_of
from .base import MAX_DOMAIN_SIZE, Encoded, Facts, Items
from .in_order import InOrder
from .items import is_missing, listed, one_dimensional, refuse
from .registry import register_domain
from .scales import WholeNumbers

_DIGITS = 20
_GAPS = "; in pandas, use Int64 for whole numbers with gaps"
_WRITTEN = re.compile(rf"[0-9]{{1,{_DIGITS}}}")


@register_domain
@dataclass(frozen=True)
class Integers(InOrder):
    """The integers 0 .. size-1."""

    kinds = ("integers",)
    item_type = int
    meant = False

    size: int
    scale: WholeNumbers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", whole_number("domain_size", self.size, 2, MAX_DOMAIN_SIZE))
        object.__setattr__(self, "scale", WholeNumbers(0, self.size - 1))

    @property
    def cells(self) -> int:
        return self.size

    def encode(self, items: object) -> Encoded:
        expected = f"expected integers in [0, {self.size})"
        array = items if type(items) is np.ndarray and items.dtype.kind in "iu" else None
        if array is None:
            # Element by element: an array made of a mixed list would say "float" of its integers, too.
            given = listed(items)
            if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in set(map(type, given))):
                wrong = np.array([isinstance(x, bool) or not isinstance(x, int | np.integer) for x in given])
                first = given[int(wrong.argmax())]
                if isinstance(first, Real) and not isinstance(first, bool) and not is_missing(first):
                    refuse(wrong, expected, got=Words(kind_of(first), _GAPS))
                refuse(wrong, expected, given)
            array = np.array([x if 0 <= x < self.size else self.size for x in given], dtype=np.uint64)
        one_dimensional(array)
        array = np.ascontiguousarray(array)
        # Eight bytes are read where they lie. A negative integer is a huge one without its sign, and refused.
        same_bytes = array.dtype.isnative and array.dtype.itemsize == 8
        codes = array.view(np.uint64) if same_bytes else array.astype(np.uint64)
        if len(codes) and kernels.extremes(codes)[1] >= self.size:
            refuse(codes >= self.size, expected)
        return codes

    def decode(self, codes: Encoded) -> Items:
        return codes.astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "integers", "size": self.size}

    def parse(self, texts: Sequence[str]) -> list[int]:
        together = "".join(texts)
        plain = together.isascii() and together.isdigit() and "" not in texts
        if not plain or max(map(len, texts)) > _DIGITS:
            expected = f"expected integers in [0, {self.size}), each written in at most {_DIGITS} digits"
            refuse(np.array([not _WRITTEN.fullmatch(text) for text in texts]), expected, got="another text")
        return list(map(int, texts))

    def facts(self) -> Facts:
        return [
            ("values", f"the whole numbers 0 to {self.size - 1:,}"),
            ("others", "refused: a client has to say which number stands for a value that is none of these"),
        ]

    @property
    def arrangement(self) -> Arrangement:
        return Arrangement(ordered=True)

    @property
    def argument(self) -> str:
        return f"domain_size={self.size}"
