"""BLOOM: Bloom filters of the items, perturbed as a whole (RAPPOR), or one bit of them reported through an oracle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import device, kernels
from ..core.arguments import json_integer, whole_number
from ..core.bitmaps import bitmap_dtype, bitmap_seconds, fold_bitmaps, refuse_spare_bits
from ..core.blanket import Blanket, support_blanket, together
from ..core.domain import Domain, Integers, Keys, Listable
from ..core.errors import ParameterError
from ..core.hashing import MAX_HASH_RANGE, public_seeds, split_for
from ..core.laws import Cells, Decoder, Estimator, pure
from ..core.probability import WORD, EpsilonLike, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import refuse_beyond, unsigned
from ..core.scheme import EXAMPLE_SEED, Component, Encoded, OracleMaker, Reports, Scheme
from ..core.wording import shown
from .regression import Regression
from .rows import expect_oracle

_MOST_FUNCTIONS = 2**16


class _OracleEpsilon(Fraction):
    """An epsilon taken from the oracle, not given: a copy of the scheme over another oracle takes that oracle's."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BLOOM(Scheme):
    """Bloom filters of m = ``bits`` bits, k = ``hashes`` functions in each public cohort (paper, section 4).

    A user draws a cohort. Without an oracle the user sends the item's whole filter, each bit flipped with the same
    probability (RAPPOR without its permanent memory). With ``oracle`` the user also draws one of the cohort's functions
    and reports the position of that one bit through the oracle, whose domain is the m bits.
    Privacy: two filters differ in at most 2k bits, so each bit is kept with probability floor(2^64 * L/(L+1))/2^64,
    L = e^(eps/(2k)); with an oracle, the oracle's privacy, for every function.
    Variance: none. Items are found by a non-negative regression on given candidates (``alpha``: see Regression), which
    needs scikit-learn: pip install scikit-learn.
    Cost: ceil(m/8) bytes and a cohort, O(m) client; with an oracle, its report and a row.

    >>> import plausibly
    >>> scheme = plausibly.make("BLOOM", epsilon=3, bits=128, hashes=2, cohorts=64, domain=plausibly.Keys())
    >>> scheme.report_dtype.itemsize, scheme.channels
    (17, 64)
    >>> oracle = plausibly.make("OLH", epsilon=3, domain_size=128)
    >>> plausibly.make("BLOOM", oracle=oracle, hashes=2, cohorts=64, domain=plausibly.Keys()).channels
    128
    """

    name = "BLOOM"
    extra = "rappor"
    accepts = (Listable, Keys)
    max_increment = 2**12  # the largest of any oracle
    unbiased_given = "for the bits; the regression on them is biased"

    epsilon: Fraction = None  # type: ignore[assignment]  # the oracle's, if there is one
    oracle: Scheme | None = None
    bits: int | None = None
    hashes: int = 2
    cohorts: int = 64
    hash_seed: int = 0

    def validate(self) -> None:
        if self.oracle is None:
            if self.epsilon is None:
                raise ParameterError("epsilon: expected for BLOOM without an oracle, got nothing")
            super().validate()
            object.__setattr__(
                self, "bits", whole_number("bits", 128 if self.bits is None else self.bits, 2, MAX_HASH_RANGE)
            )
        else:
            expect_oracle(self.oracle)
            if self.epsilon is not None and not isinstance(self.epsilon, _OracleEpsilon):
                raise ParameterError(f"epsilon: expected none beside the oracle's, got {shown(self.epsilon)}")
            if self.bits is not None:
                raise ParameterError(f"bits: expected none beside the oracle's domain, got {shown(self.bits)}")
            object.__setattr__(self, "epsilon", self.oracle.epsilon)
            super().validate()
            object.__setattr__(self, "epsilon", _OracleEpsilon(self.epsilon))
            whole_number("oracle: domain_size", self.oracle.size, 2, MAX_HASH_RANGE)
        object.__setattr__(self, "hashes", whole_number("hashes", self.hashes, 1, 2**8))
        object.__setattr__(self, "cohorts", whole_number("cohorts", self.cohorts, 1, _MOST_FUNCTIONS // self.hashes))
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))

    @property
    def width(self) -> int:
        """Number of bits in a Bloom filter."""
        width = self.bits if self.oracle is None else self.oracle.size
        assert width is not None
        return width

    @property
    def listed_size(self) -> int | None:
        """Number of items that a Bloom filter may hold; None if they cannot be listed."""
        return self.domain.size

    @cached_property
    def keep(self) -> int:
        """Probability that a bit of a whole Bloom filter is sent unchanged, times 2^64."""
        return keep_threshold(self.epsilon / (2 * self.hashes), 1, 1)

    @property
    def split(self) -> int:
        """Divisor that the hash of a Bloom filter uses to split an item in two: quotient and remainder."""
        return split_for(self.domain)

    @property
    def parameters(self) -> dict[str, Any]:
        own = {"bits": self.bits} if self.oracle is None else {"oracle": self.oracle.to_dict()}
        return {**own, "hashes": self.hashes, "cohorts": self.cohorts, "hash_seed": json_integer(self.hash_seed)}

    @property
    def derived(self) -> dict[str, Any]:
        return {"split": self.split} | ({"keep": str(self.keep)} if self.oracle is None else {})

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        if self.oracle is None:
            return np.dtype([("cohort", unsigned(self.cohorts)), *bitmap_dtype(self.width).descr])
        return np.dtype([("row", unsigned(self.channels)), ("report", self.oracle.report_dtype)])

    @property
    def report_bits(self) -> int:
        return (self.channels - 1).bit_length() + (self.width if self.oracle is None else self.oracle.report_bits)

    @property
    def layout(self) -> Layout:
        part = Layout(dense=0, split=self.width) if self.oracle is None else self.oracle.layout
        return Layout(dense=1 + part.dense, split=part.split)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        shape = (self.width,) if self.oracle is None else self.oracle.cell_shape
        assert shape is not None  # an oracle over integers has cells
        return shape

    @property
    def channels(self) -> int:
        """Number of Bloom filter cohorts; with an oracle, of hash functions: function j of cohort c is row c*k + j."""
        return self.cohorts if self.oracle is None else self.cohorts * self.hashes

    def channel_of(self, reports: Reports) -> npt.NDArray[np.integer[Any]]:
        channels: npt.NDArray[np.integer[Any]] = reports["cohort" if self.oracle is None else "row"]
        return channels

    @cached_property
    def seeds(self) -> npt.NDArray[np.uint64]:
        """Seeds of the Bloom filters' hash functions, cohort by cohort."""
        return public_seeds(self.hash_seed, self.cohorts * self.hashes, b"bloom")

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        chosen, refused, rest = draws.choose(self.channels)
        self.channel_of(out)[:] = chosen
        if self.oracle is None:
            self._perturb(values, chosen, rest, out["bits"])
            return refused
        bits = kernels.local_hash(self.seeds[chosen], values, self.split, self.width)
        return np.union1d(refused, self.oracle.respond(bits.astype(np.uint64), rest, out["report"]))

    def _perturb(
        self, values: Encoded, cohorts: npt.NDArray[np.uint64], draws: Draws, out: npt.NDArray[np.uint8]
    ) -> None:
        keep, flip, reports = self.keep, WORD - self.keep, np.arange(len(values))
        own, *others = (
            kernels.local_hash(
                self.seeds[cohorts * np.uint64(self.hashes) + np.uint64(j)], values, self.split, self.width
            )
            for j in range(self.hashes)
        )
        one = own.astype(np.uint64)
        tied, ties = kernels.unary_response(one, draws.heads, keep, flip, out)
        kernels.settle_ties(out, one, tied, ties, draws.tails(tied, ties), keep, flip)
        # So far the filter has one bit set; the other bits are decided again, from the same random words.
        for other in others:
            bit = other.astype(np.int64)
            head = draws.heads[reports, bit]
            kept = head < keep >> 56
            tied = np.flatnonzero(head == keep >> 56)
            kept[tied] = draws.tails(tied, bit[tied]) >> np.uint64(8) < np.uint64(keep % 2**56)
            byte, place = bit >> 3, (bit & 7).astype(np.uint8)
            out[reports, byte] = out[reports, byte] & ~(np.uint8(1) << place) | kept.view(np.uint8) << place

    def check(self, reports: Reports) -> None:
        what = "cohort" if self.oracle is None else "row"
        refuse_beyond(self.channel_of(reports), self.channels, f"a {what} below {self.channels}")
        if self.oracle is None:
            refuse_spare_bits(reports, self.width)
        else:
            self.oracle.check(reports["report"])

    def fold(self, cells: Cells, reports: Reports) -> None:
        if self.oracle is None:
            fold_bitmaps(cells, reports)
        else:
            self.oracle.fold(cells, reports["report"])

    def check_cells(self, cells: Cells, n: int) -> None:
        if self.oracle is None:
            super().check_cells(cells, n)
        else:
            self.oracle.check_cells(cells, n)

    def estimator(self, alpha: float = 0.005) -> Decoder:
        if self.oracle is None:
            bit = pure(Fraction(self.keep, WORD), 1 - Fraction(self.keep, WORD), lambda cells, n, codes: cells)
        else:
            oracle = self.oracle.estimator()
            assert isinstance(oracle, Estimator)  # expect_oracle refuses others
            bit = oracle
        return Regression(self, bit, alpha)

    @property
    def components(self) -> tuple[Component, ...]:
        return () if self.oracle is None else (Component(self.oracle, Fraction(1)),)

    @classmethod
    def example(cls, epsilon: EpsilonLike, domain: Domain, through: OracleMaker | None = None) -> Scheme:
        own: dict[str, Any] = {"epsilon": epsilon, "bits": 5}
        if through is not None:
            own = {"oracle": through(epsilon, Integers(6))}
        return cls(**own, hashes=2, cohorts=5, hash_seed=EXAMPLE_SEED, domain=domain)

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        yield from ()  # a regression has no variance law

    def blanket(self) -> Blanket:
        if self.oracle is not None:
            return replace(self.oracle.blanket(), third=())
        # The worst of all pairs of items has no bit in common, in no cohort: k bits of each item, all independent.
        p = Fraction(self.keep, WORD)
        return together([support_blanket(p, 1 - p, (1 - p) ** 2)] * self.hashes)

    def seconds(self, n: int, asked: int) -> float:
        if self.oracle is None:
            return bitmap_seconds(n, self.report_dtype.itemsize)
        return self.oracle.seconds(n, 0) + self.oracle.seconds(0, 0) * self.channels

    def shrunk(self, size: int) -> Scheme:
        domain = Integers(min(size, self.domain.size or size))
        if self.oracle is None:
            return replace(self, domain=domain, bits=min(size, self.width))
        return replace(self, domain=domain, oracle=self.oracle.shrunk(min(size, self.width)))

    def likelihood(self, report: np.void, item: int) -> Fraction:
        if self.oracle is not None:
            seed = int(self.seeds[report["row"]])
            return self.oracle.likelihood(report["report"], device.local_hash(seed, item, self.split, self.width))
        first = int(report["cohort"]) * self.hashes
        seeds = self.seeds[first : first + self.hashes].tolist()
        true_bits = np.zeros(self.width, dtype=np.uint8)
        true_bits[[device.local_hash(seed, item, self.split, self.width) for seed in seeds]] = 1
        sent = np.unpackbits(report["bits"], count=self.width, bitorder="little")
        kept = int((sent == true_bits).sum())
        p = Fraction(self.keep, WORD)
        return p**kept * (1 - p) ** (self.width - kept)
