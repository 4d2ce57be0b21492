"""SLIDE: blocks of geometric widths at sliding offsets, for ranges, distribution functions, quantiles and means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..cells import Products, cell_oracle, contrast_noise
from ..core.arguments import whole_number
from ..core.domain import Domain, InOrder, Integers
from ..core.errors import ParameterError
from ..core.laws import Decoder, Floats
from ..core.levers import Reach
from ..core.randomness import Draws
from ..core.scheme import Encoded, Reports
from .blocks import Blocks
from .levels import Levels
from .sliding import Sliding
from .system import System, Width
from .windows import Windows, step_of

_MOST_WIDTHS = 64
_LARGE_EPSILON = Fraction(5, 2)
"""Epsilon from which on a plan tries widths of more blocks."""


@dataclass(frozen=True)
class BlockPart:
    """The users of one width: their oracle reports the block of the value, at an offset that it draws."""

    label: str
    scheme: Blocks
    role: str = "widths"

    def items(self, values: Encoded) -> Encoded:
        """The values themselves: their block depends on the offset."""
        return values


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SLIDE(Levels):
    """Sliding blocks: a user reports which block of a public width, cut at a public offset, holds the value.

    ``widths``: the widths of the blocks, by default about log4 d of them, from 1 item to a quarter of all, each a fixed
    multiple of the one before; ``weights``: relative numbers of the users of each width. A block is reported through
    subset selection if there are at most 64 of them, else through the Hadamard mechanism, with the whole epsilon.
    Derivation: docs/adr/0033-slide.md.
    Privacy: that of the oracles, because width and offset are drawn without looking at the value.
    Variance: exact for every sum of counts with given weights, such as ranges, the distribution function and the mean;
    averaged over all ranges at most 13 % above the least possible one (eps <= 2, 64 to 1,024 items).
    Cost: at most 8 bytes a report for 1,024 items and eps = 1; the state has about 2d cells for each width of up to
    256, fewer for the others; all counts are decoded by one linear system, 0.1 s for 65,536 items.

    >>> import plausibly
    >>> scheme = plausibly.make("SLIDE", epsilon=1, domain=plausibly.Ordered(0, 120))
    >>> scheme.widths, scheme.weights
    ((1, 3, 10, 30), (15, 11, 11, 11))
    """

    name = "SLIDE"

    widths: tuple[int, ...] | None = None

    def validate(self) -> None:
        self.check_order()
        widths = usual_widths(self.length) if self.widths is None else _checked(self.widths, self.length)
        object.__setattr__(self, "widths", widths)
        self.set_weights(usual_weights(len(widths)))
        super().validate()

    @cached_property
    def parts(self) -> tuple[BlockPart, ...]:
        return tuple(BlockPart(f"blocks of {width}", self._blocks(width)) for width in self.widths or ())

    def _blocks(self, width: int) -> Blocks:
        windows, others = Windows(self.length, width), self.size - self.length
        oracle = cell_oracle(self.epsilon, windows.blocks + others)
        return Blocks(oracle=oracle, windows=windows, domain=Integers(self.size))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"widths": list(self.widths or ()), "weights": list(self.group_weights)}

    @property
    def derived(self) -> dict[str, Any]:
        oracles = [part.scheme.oracle.to_dict() for part in self.parts]
        return {"length": self.length, "oracles": oracles}

    @cached_property
    def system(self) -> System:
        """The equations between the counts of items and the reports of all widths of SLIDE."""
        widths = [self._width(part.scheme, self.share(i)) for i, part in enumerate(self.parts)]
        return System(tuple(widths), self.length, self.size > self.length)

    def _width(self, blocks: Blocks, share: Fraction) -> Width:
        noise, own = contrast_noise(blocks.decoder)
        return Width(blocks.windows, float(share), float(noise), float(own))

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        """All widths at once, without sorting the users by width: five times as fast as the general way."""
        records = out.view(np.uint8).reshape(len(out), out.itemsize)
        return kernels.block_response(values, draws.words, self.length, self._table, records)

    @cached_property
    def _table(self) -> npt.NDArray[np.uint64]:
        # What the kernel needs to know of each width.
        rows = []
        for end, part in zip(accumulate(self.group_weights), self.parts, strict=True):
            windows, oracle = part.scheme.windows, part.scheme.oracle
            place = end, windows.offsets, windows.step, windows.width, windows.blocks, oracle.size, oracle.keep
            if isinstance(oracle, Products):
                rows.append((*place, 0, oracle.t, oracle.order_bits, oracle.report_dtype["rows"].base.itemsize))
            else:
                rows.append((*place, oracle.w, 0, 0, 0))
        return np.array(rows, dtype=np.uint64)

    def estimator(self) -> Decoder:
        return self._decoder

    @cached_property
    def _decoder(self) -> Sliding:
        return Sliding(tuple(part.scheme for part in self.parts), self.system)

    def leverage(self, weights: Floats) -> Reach:
        return self._decoder.leverage(self.system.ask(weights))

    def contribution(self) -> tuple[Fraction, Fraction] | None:
        low, high = self._decoder.contribution
        return Fraction(low), Fraction(high)

    @classmethod
    def variants_in_order(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        yield {}
        if epsilon < _LARGE_EPSILON:
            return
        # With little noise, the random choice of a width matters: fewer and narrower ones are better.
        for blocks in (8, 16):
            widths = usual_widths(cast(InOrder, domain).length, blocks)
            yield {"widths": widths}
            yield {"widths": widths, "weights": (1, *[2] * (len(widths) - 1))}

    def shrunk(self, size: int) -> SLIDE:
        # Widths and weights follow from the new domain; the smallest one shows two widths, too, if there are any.
        widths = (1, 2) if len(self.parts) > 1 and usual_widths(size) == (1,) and size >= 4 else None
        return SLIDE(epsilon=self.epsilon, domain=Integers(size), widths=widths)


def usual_widths(length: int, blocks: int = 4) -> tuple[int, ...]:
    """The usual widths of SLIDE for ``length`` items: about log4 of them in geometric steps, from 1 to a quarter.

    ``blocks``: the number of blocks of the largest width, if it is not four.

    >>> usual_widths(1024)
    (1, 4, 16, 64, 256)
    """
    count = 1
    while blocks * 4 ** (count - 1) < length:
        count += 1
    widths = {_multiple(_rounded_root(length, i, count - 1, blocks)) for i in range(count)}
    return tuple(sorted(widths))


def usual_weights(count: int) -> tuple[int, ...]:
    """The weights of SLIDE's widths: the first one has a quarter more users than the average."""
    return (5 * (count - 1), *[4 * count - 5] * (count - 1)) if count > 1 else (1,)


def _rounded_root(length: int, i: int, last: int, blocks: int) -> int:
    # (length/blocks)^(i/last), rounded, at least 1; in integers, so that all machines agree on it.
    width = 1
    while i and (2 * width + 1) ** last * blocks**i <= 2**last * length**i:
        width += max(1, width // 64)
    while width > 1 and (2 * width - 1) ** last * blocks**i > 2**last * length**i:
        width -= 1
    return width


def _multiple(width: int) -> int:
    # The nearest width that its offsets divide evenly.
    step = step_of(width)
    return max(1, (2 * width + step) // (2 * step)) * step


def _checked(given: object, length: int) -> tuple[int, ...]:
    expected = f"widths: expected ascending whole numbers from 1 to at most {length // 2}, the first one 1"
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not 1 <= len(given) <= _MOST_WIDTHS:
        raise ParameterError(expected)
    widths = tuple(whole_number("widths", width, 1, max(1, length // 2)) for width in given)
    if widths[0] != 1 or list(widths) != sorted(set(widths)):
        raise ParameterError(f"{expected}, got others")
    for width in widths:
        if width % step_of(width):
            raise ParameterError(f"widths: expected multiples of {step_of(width)} near {width}, got another number")
    return widths
