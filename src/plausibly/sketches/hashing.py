"""The interface through which decoders use the hash functions of a sketch."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.laws import Codes


class Hashing(Protocol):
    """Public hash functions on the items of a domain."""

    @property
    def seeds(self) -> npt.NDArray[np.uint64]: ...
    @property
    def split(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def listed_size(self) -> int | None: ...


def hashes_of(sketch: Hashing, function: int, items: Codes, size: int) -> npt.NDArray[np.uint32]:
    """Hash of each item under one function of a sketch's hashing, an integer below ``size``."""
    return kernels.local_hash(np.full(len(items), sketch.seeds[function]), items, sketch.split, size)
