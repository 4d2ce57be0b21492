"""What decoders ask of a sketch: how its functions hash."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.laws import Codes


class Hashing(Protocol):
    """Public hash functions of the items of a domain."""

    @property
    def seeds(self) -> npt.NDArray[np.uint64]: ...
    @property
    def split(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def listed_size(self) -> int | None: ...


def hashes_of(sketch: Hashing, function: int, items: Codes, size: int) -> npt.NDArray[np.uint32]:
    """The hash of each item under one function, below ``size``."""
    return kernels.local_hash(np.full(len(items), sketch.seeds[function]), items, sketch.split, size)
