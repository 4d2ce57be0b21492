"""The integers below a size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import kernels
from ..arguments import whole_number
from .base import MAX_DOMAIN_SIZE, Domain, Encoded, Items, listed, one_dimensional, refuse


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
                refuse(
                    np.array([isinstance(x, bool) or not isinstance(x, int | np.integer) for x in given]),
                    expected,
                    given,
                )
            array = np.array([x if 0 <= x < self.size else self.size for x in given], dtype=np.uint64)
        one_dimensional(array)
        array = np.ascontiguousarray(array)
        # Eight bytes are read where they lie. A negative integer is a huge one without its sign, and refused.
        same_bytes = array.dtype.isnative and array.dtype.itemsize == 8
        codes: Encoded = array.view(np.uint64) if same_bytes else array.astype(np.uint64)
        if len(codes) and kernels.extremes(codes)[1] >= self.size:
            refuse(codes >= self.size, expected)
        return codes

    def decode(self, codes: Encoded) -> Items:
        return codes.astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "integers", "size": self.size}
