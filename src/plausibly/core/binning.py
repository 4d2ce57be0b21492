"""How many bins of ordered items the noise allows, and which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from .arguments import whole_number
from .domain import InOrder
from .errors import ParameterError
from .laws import Floats
from .wording import plural, shown
from .words import Setting, Words, kind_of

Codes = npt.NDArray[np.int64]
"""The first and the last item of each bin, one bin a row."""

MOST_BINS = 100
"""Largest number of bins that the noise may choose."""
_FOR_EYES = 50
"""Largest number of bins where the noise is unknown."""
_TRIED = 3
_FACTOR = 1.959963984540054


def bins_by_noise(order: InOrder, users: float, errors: Callable[[Codes], Floats]) -> tuple[Codes, str]:
    """As many bins of equal width as the noise allows, and the reason in words.

    ``errors`` are the standard errors of the counts of bins. There are enough reports for a width if the 95 % interval
    of a bin with an average count does not contain 0. The widths are numbers that people like, such as 10 years.
    """
    tried = [codes for width in _widths(order) if len(codes := bins_of_width(order.length, width)) <= MOST_BINS]
    for codes in tried:
        some = codes[np.unique(np.linspace(0, len(codes) - 1, _TRIED).round().astype(np.intp))]
        if _FACTOR * float(np.sqrt(np.mean(errors(some) ** 2))) < users / len(codes):
            return codes, _reason(order, codes, finest=codes is tried[0])
    fewest = tried[-1] if tried else bins_of_width(order.length, 1)
    return fewest, f"{plural(len(fewest), 'bin')}: even these are more than the noise allows; collect more reports."


def _widths(order: InOrder) -> list[int]:
    # Widths that leave two bins or more; there are always two items.
    return list(takewhile(lambda width: 2 * width <= order.length, order.scale.widths()))


def bins_for_eyes(order: InOrder) -> tuple[Codes, str]:
    """Bins of equal width where the noise is unknown: the most that are at most 50, and the reason in words."""
    tried = [bins_of_width(order.length, width) for width in _widths(order)]
    codes = next((codes for codes in tried if len(codes) <= _FOR_EYES), tried[-1])
    return codes, f"{plural(len(codes), 'bin')}, as a chart shows them well: the noise is unknown."


def _reason(order: InOrder, codes: Codes, *, finest: bool) -> str:
    edges, count = order.edges(), int(codes[0, 1] - codes[0, 0] + 1)
    if finest and count == 1:
        return f"{plural(len(codes), 'bin')}, one for each item: the noise allows it."
    lengths = (edges[codes[:, 1] + 1] - edges[codes[:, 0]])[:-1]
    even = bool(np.allclose(lengths, lengths[0]))
    each = f"{plural(len(codes), 'bin')} of {order.scale.length_text(lengths[0]) if even else plural(count, 'item')}"
    if finest:
        return f"{each}: the most that a chart shows; the noise allows them."
    return f"{each}, as many as the noise allows: the 95 % interval of a bin with an average count does not contain 0."


def bins_of_width(length: int, width: int) -> Codes:
    """Bins of ``width`` items each; a rest of less than half of that joins the last one."""
    starts = np.arange(0, length, width)
    if len(starts) > 1 and 2 * (length - starts[-1]) < width:
        starts = starts[:-1]
    return np.column_stack([starts, np.append(starts[1:], length) - 1]).astype(np.int64)


def bins_of_number(order: InOrder, count: object) -> Codes:
    """A given number of bins whose numbers of items differ by at most one."""
    number = whole_number("bins", count, 1, order.length)
    starts = np.arange(number + 1, dtype=np.int64) * order.length // number
    return np.column_stack([starts[:-1], starts[1:] - 1])


def bins_between(order: InOrder, edges: Iterable[Any]) -> Codes:
    """Bins between given edges in the domain's units. An edge belongs to the bin above it, the last to the last bin."""
    given = list(edges)
    if len(given) < 2:
        raise ParameterError(Words(Setting("bins"), f": expected at least 2 edges, got {len(given)}"))
    if not all(lower < upper for lower, upper in pairwise(map(order.scale.end_of, given))):
        raise ParameterError(Words(Setting("bins"), f": expected edges in rising order, got {shown(given)}"))
    ends = [order.places(edge, given[-1]) for edge in given[:-1]]
    starts = [first for first, _ in ends]
    stops = [*(start - 1 for start in starts[1:]), ends[0][1]]
    return np.array(list(zip(starts, stops, strict=True)), dtype=np.int64)


def expect_bins(order: InOrder, bins: object) -> Codes | None:
    """The bins asked for, by their number or edges; None if the noise is to choose them."""
    if isinstance(bins, str) and bins == "auto":
        return None
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        return bins_of_number(order, bins)
    if isinstance(bins, Sequence | np.ndarray) and not isinstance(bins, str | bytes):
        return bins_between(order, bins)
    expected = ': expected "auto", a number of bins, or their edges, got '
    raise ParameterError(Words(Setting("bins"), expected, shown(bins) if isinstance(bins, str) else kind_of(bins)))
