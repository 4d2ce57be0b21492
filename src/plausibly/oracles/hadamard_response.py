"""HR: Hadamard response, which reports a random position where the item's Hadamard code is +1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.blanket import Blanket, support_blanket
from ..core.costs import REPORT, transform_seconds
from ..core.domain import Domain, Integers
from ..core.errors import ParameterError
from ..core.laws import Cells, Codes, Estimator, Floats, Scores, VarianceLaw
from ..core.levers import Reach
from ..core.probability import WORD, floor_exp, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import fields_of, refuse_beyond, refuse_unless_histogram, unsigned
from ..core.scheme import Encoded, Reports, Scheme
from ..core.support import Blocks, Support
from ..core.walsh import walsh
from ..core.wording import nearest, shown

_VARIANTS = ("auto", "block", "pure")


@dataclass(frozen=True)
class BlockLaw(VarianceLaw):
    """The variance law of items in blocks, item x in block x mod B: it adds F_blk*per_mate.

    F_blk (``mates``) is the number of users whose item is in x's block, holders of x included. If it is unknown, the
    holders of x and the fraction ``mate_share`` of all other users take its place.
    """

    per_mate: Fraction = Fraction(0)
    mate_share: Fraction = Fraction(0)
    blocks: int = 1

    def exact(self, n: int, f: int, *, f2: int | None = None, mates: int | None = None) -> Fraction:
        block = f + (n - f) * self.mate_share if mates is None else Fraction(mates)
        return super().exact(n, f, f2=f2) + block * self.per_mate

    def at(self, n: Any, f: Any, *, f2: float | None = None, mates: Any = None) -> Any:
        f = np.asarray(f, dtype=np.float64)
        block = f + (n - f) * float(self.mate_share) if mates is None else mates
        variance = super().at(n, f, f2=f2) + block * float(self.per_mate)
        return float(variance) if np.ndim(variance) == 0 else variance

    @property
    def averaged(self) -> VarianceLaw:
        shared = self.mate_share * self.per_mate
        return VarianceLaw(self.per_report + shared, self.per_holder + self.per_mate - shared)

    def beyond_average(self, x: int, y: int) -> Fraction:
        return (int(x % self.blocks == y % self.blocks) - self.mate_share) * self.per_mate

    def context_of(self, counts: npt.NDArray[Any]) -> dict[str, Any]:
        block = np.arange(len(counts)) % self.blocks
        return {"mates": np.bincount(block, counts)[block]}

    @property
    def caveat(self) -> str:
        if self.blocks == 1:
            return ""
        return "HR in blocks: the error of an item that shares a block with a very common one is larger than stated."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HR(Scheme):
    """Hadamard response in B blocks, pure if B = 1 (paper, section 3.5; Acharya, Sun and Zhang 2019).

    Item x is in block x mod B, and its code is row 1 + x div B of a Hadamard matrix of order b. With probability kappa
    a report is a position of that block where the code is +1, otherwise any other position of any block.
    Privacy: kappa(2B-1)/(1-kappa) <= e^eps with kappa = floor(2^64 * e^eps/(e^eps + 2B - 1))/2^64.
    Variance: 2nc/(e^eps - 1) + F_blk*c - f, where c = (e^eps - 1 + 2B)/(e^eps - 1) and F_blk is the number of users
    whose item is in x's block; for B = 1 it is n*((e^eps + 1)/(e^eps - 1))^2 - f.
    ``variant``: "pure" (B = 1), "block" (B about e^eps/2), or "auto", the one with the lower mean variance over items.
    Cost: 1 to 4 bytes a report, O(1) client, O(n + d log d) decode.

    >>> import plausibly
    >>> scheme = plausibly.make("HR", epsilon=3, domain_size=1000)
    >>> scheme.blocks, scheme.order, round(scheme.variance(n=1), 2)
    (16, 64, 0.45)
    """

    name = "HR"

    variant: str = "auto"

    def validate(self) -> None:
        super().validate()
        if self.variant not in _VARIANTS:
            raise ParameterError(f"variant: unknown {shown(self.variant)}; {nearest(self.variant, _VARIANTS)}")
        if self.blocks * self.order > 2**32:
            raise ParameterError(f"domain: expected items whose HR positions fit in 4 bytes, got {self.size} items")

    @cached_property
    def blocks(self) -> int:
        """Number of blocks B in Hadamard response, a power of two."""
        if self.variant == "pure":
            return 1
        # The smallest power of two >= min(e^eps, 2d), halved; e^eps is never an integer.
        most = min(1 << floor_exp(self.epsilon).bit_length(), 1 << (2 * self.size - 1).bit_length()) // 2
        if self.variant == "block":
            return most
        return min((1, most), key=lambda blocks: _mean_noise(self.epsilon, self.size, blocks))

    @cached_property
    def order(self) -> int:
        """Order b of the Hadamard matrix: the smallest power of two with a code for each item, B(b - 1) >= d."""
        return 1 << (-(-self.size // self.blocks)).bit_length()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"variant": "pure" if self.blocks == 1 else "block"}

    @cached_property
    def keep(self) -> int:
        """Keep probability kappa of Hadamard response, times 2^64."""
        return keep_threshold(self.epsilon, 1, 2 * self.blocks - 1)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep), "blocks": self.blocks, "order": self.order}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("position", unsigned(self.blocks * self.order))])

    @property
    def report_bits(self) -> int:
        return (self.blocks * self.order - 1).bit_length()

    @property
    def layout(self) -> Layout:
        return Layout(dense=3)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (self.blocks, self.order)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return kernels.hadamard_response(values, draws.words, self.keep, self.blocks, self.order, out["position"])

    def check(self, reports: Reports) -> None:
        positions = self.blocks * self.order
        refuse_beyond(reports["position"], positions, f"a position below {positions}")

    def fold(self, cells: Cells, reports: Reports) -> None:
        kernels.histogram(fields_of(reports), cells)

    def check_cells(self, cells: Cells, n: int) -> None:
        refuse_unless_histogram(cells, n)

    def estimator(self) -> Estimator:
        law = _law(self.epsilon, self.size, self.blocks)
        # A holder of x adds +1 with probability kappa and -1 with (1-kappa)/(2B-1); all other users cancel out.
        kappa = Fraction(self.keep, WORD)
        scale = 1 / (kappa - (1 - kappa) / (2 * self.blocks - 1))
        return Estimator(scale, Fraction(0), law, self._scores, self._context)

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        transformed = cells.copy()
        kernels.walsh_hadamard(transformed)
        items = np.arange(self.size, dtype=np.uint64) if codes is None else codes
        scores: Scores = transformed[self._block_of(items), self._code_of(items)]
        return scores

    def _context(self, cells: Cells, n: int, codes: Codes | None) -> dict[str, Any]:
        near, far = _in_block(self.keep, self.blocks)
        items = np.arange(self.size, dtype=np.uint64) if codes is None else codes
        mates: Floats = np.full(self.blocks, float(n))
        if self.blocks > 1:
            mates = np.clip((cells.sum(axis=1) - n * float(far)) / float(near - far), 0, n)
        return {"mates": mates[self._block_of(items)]}

    def _block_of(self, items: Codes) -> npt.NDArray[np.int64]:
        return (items % np.uint64(self.blocks)).astype(np.int64)

    def _code_of(self, items: Codes) -> npt.NDArray[np.int64]:
        return (items // np.uint64(self.blocks)).astype(np.int64) + 1

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        yield from ({"variant": variant} for variant in ("pure", "block"))

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        # Row 0 of a Hadamard matrix is not a code: with one item less in each block, the code is half as long.
        blocks = cls(epsilon=epsilon, domain=Integers(cells), variant="block").blocks
        yield {"domain": Integers(cells - 1), "variant": "pure"}
        yield {"domain": Integers(max(2, cells - blocks)), "variant": "block"}

    def seconds(self, n: int, asked: int) -> float:
        return n * REPORT + transform_seconds(self.cell_shape)

    def blanket(self) -> Blanket:
        # Two codes of a block agree in half of the rows that support one of them; different blocks share no rows.
        share = Fraction(1, 2 * self.blocks)
        both = share / 2 if self.blocks == 1 else Fraction(0)
        return support_blanket(Fraction(self.keep, WORD), share, both)

    def support(self) -> Support:
        return Blocks(self.blocks, self.size)  # at the first position of a block all codes are +1

    def leverage(self, weights: Floats) -> Reach:
        # A record adds the signs of one row to the items of one block; code 0 belongs to no item.
        codes = np.zeros((len(weights), self.order * self.blocks))
        codes[:, self.blocks : self.blocks + self.size] = weights
        blocks = codes.reshape(len(weights), self.order, self.blocks).swapaxes(1, 2)
        sums = walsh(blocks, self.order.bit_length() - 1).reshape(len(weights), -1) * float(self.estimator().scale)
        return Reach(sums.min(axis=1), sums.max(axis=1))

    def likelihood(self, report: np.void, item: int) -> Fraction:
        block, row = divmod(int(report["position"]), self.order)
        code, own = divmod(item, self.blocks)
        kappa, half = Fraction(self.keep, WORD), self.order // 2
        inside = block == own and (row & code + 1).bit_count() % 2 == 0
        return kappa / half if inside else (1 - kappa) / ((2 * self.blocks - 1) * half)


def _in_block(keep: int, blocks: int) -> tuple[Fraction, Fraction]:
    # The probability that a report falls into a block, for users whose item is in that block and for all others.
    kappa = Fraction(keep, WORD)
    part = (1 - kappa) / (2 * blocks - 1)
    return kappa + part, 2 * part


def _mean_noise(epsilon: Fraction, size: int, blocks: int) -> Fraction:
    # The blocks partition the users, so F_blk is n/B on average over the blocks.
    law = _law(epsilon, size, blocks)
    return law.per_report + law.per_mate / blocks


def _law(epsilon: Fraction, size: int, blocks: int) -> BlockLaw:
    keep = keep_threshold(epsilon, 1, 2 * blocks - 1)
    near, far = _in_block(keep, blocks)
    kappa = Fraction(keep, WORD)
    scale = 1 / (kappa - (1 - kappa) / (2 * blocks - 1))
    # The probability that two different items share a block: d mod B blocks have one item more than the others.
    least, larger = divmod(size, blocks)
    pairs = larger * (least + 1) * least + (blocks - larger) * least * (least - 1)
    mate_share = Fraction(pairs, size * (size - 1))
    return BlockLaw(
        scale**2 * far, Fraction(-1), per_mate=scale**2 * (near - far), mate_share=mate_share, blocks=blocks
    )
