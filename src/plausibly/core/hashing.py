"""Base of the local-hashing schemes: the hash family, and direct encoding of an item's hash under a public seed."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import device, kernels
from .arguments import whole_number
from .domain import Domain, Keys, Listable
from .probability import WORD, floor_exp, keep_threshold
from .randomness import Draws, Layout
from .records import fields_of, refuse_beyond, unsigned
from .scheme import Encoded, Reports, Scheme

MAX_HASH_RANGE = 2**16
"""Maximum number of hash values: two bytes on the wire, from 24 bits of hash."""
MAX_CELLS = 2**24
"""Maximum number of cells in a row of a sketch: the values of a 24-bit hash."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HashedScheme(Scheme):
    """A public hash function and the item's hash below g, direct-encoded. The first word chooses the function."""

    accepts = (Listable, Keys)

    @property
    @abstractmethod
    def g(self) -> int:
        """Number of hash values of the hashing scheme."""

    @abstractmethod
    def seed_of(self, report: np.void) -> int:
        """The seed of the hash function of a report, for hashing schemes."""

    @property
    def split(self) -> int:
        """Where hashing splits an item x into its two characters, x mod split and x div split."""
        return split_for(self.domain)

    @cached_property
    def keep(self) -> int:
        """p * 2^64: threshold of a hashing scheme for the true hash of an item."""
        return keep_threshold(self.epsilon, 1, self.g - 1)

    @property
    def p(self) -> Fraction:
        """Probability that a hashed report supports its user's item.

        For any other item it is 1/g over the hash functions.
        """
        return Fraction(self.keep, WORD)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep), "split": self.split}

    @property
    def layout(self) -> Layout:
        return Layout(dense=3)

    def answer(
        self, values: Encoded, draws: Draws, seeds: npt.NDArray[np.uint64], out: Reports
    ) -> npt.NDArray[np.int64]:
        """Write the reports of a hashing scheme, and return the positions to redo.

        Without ``seeds``, the first word is the seed.
        """
        fields = fields_of(out)
        return kernels.local_hash_response(values, draws.words, seeds, self.keep, self.split, self.g, fields)

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["hash"], self.g, f"a hash below {self.g}")

    def likelihood(self, report: np.void, item: int) -> Fraction:
        hashed = device.local_hash(self.seed_of(report), item, self.split, self.g)
        return self.p if int(report["hash"]) == hashed else (1 - self.p) / (self.g - 1)


def public_seeds(hash_seed: int, count: int, tag: bytes) -> npt.NDArray[np.uint64]:
    """Seeds of public hash functions for oracles and sketches alike, equal to device.py's with the same tag."""
    contents = np.arange(count, dtype="<u8").view(np.uint8)
    return kernels.keyed_hash(contents, np.arange(8, 8 * count + 8, 8, dtype=np.int64), hash_seed, tag)


def split_for(domain: Domain) -> int:
    """Where hashing splits the items of a domain: near the square root of its size, so that tables are small."""
    return 2**32 if domain.size is None else max(64, 1 << ((domain.size - 1).bit_length() + 1) // 2)


def hash_field(g: int) -> tuple[str, str]:
    """The record field of a hashing scheme for a hash below g."""
    return ("hash", unsigned(g))


def given_hash_range(number: int | None) -> int | None:
    """The given number of hash values of a hashing scheme, checked; None selects the best number."""
    return None if number is None else whole_number("hash_range", number, 2, MAX_HASH_RANGE)


def best_hash_range(epsilon: Fraction) -> int:
    """round(e^eps) + 1, the integer nearest to the best number of values for hashing, capped at two bytes."""
    return min((floor_exp(epsilon, 2) + 1) // 2 + 1, MAX_HASH_RANGE)
