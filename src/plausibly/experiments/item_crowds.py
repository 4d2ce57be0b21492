"""Crowds by name and seed: how many of n users have each of d items, or each string.

To define your own crowd, enter a function of n, d and a seed in ``CROWDS``. For strings, enter a function of n, their
length and a seed in ``STRINGS``, and refer to it by name and length: ``url-clicks/6``. For items
that have an order, enter an ``OrderedCrowd``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.domain import Strings
from ..core.errors import ParameterError
from ..core.wording import nearest, shown
from . import aol
from .ordered_crowds import SHAPES_IN_ORDER, OrderedCrowd
from .string_crowds import DATASETS, MAX_LENGTH, Crowd, url_clicks

Counts = npt.NDArray[np.int64]
Recipe = Callable[[int, int, int], Counts]
StringRecipe = Callable[[int, int, int], Crowd]

LETTERS = "abcdefghijklmnopqrstuvwxyz."
"""Characters in the alphabet of a search, as in the paper's program; all others share one extra symbol."""

_ZIPF_DRAWS = 5_000_000
"""Number of draws, for every n and d, from which the most common values are kept; as in the paper's program."""


def crowd(data: str, n: int, d: int, seed: int) -> Counts:
    """The crowd of this name: the true count of each of the d items; the counts sum to n."""
    if data not in CROWDS:
        raise ParameterError(f"unknown data {shown(data)}; {nearest(data, CROWDS)}")
    counts = CROWDS[data](n, d, seed)
    assert counts.shape == (d,)
    assert int(counts.sum()) == n
    return counts


def strings(data: str, n: int, seed: int) -> Crowd:
    """The crowd of strings by this name and seed, as ``crowd`` for items: true counts that sum to n."""
    name, domain = data.rpartition("/")[0], domain_of(data)
    if name not in STRINGS:
        raise ParameterError(f"unknown data {shown(data)}; {nearest(name, STRINGS)}, each with a length: url-clicks/6")
    drawn = STRINGS[name](n, domain.length, seed)
    assert drawn.n == n
    seen = np.array(domain.decode(domain.encode(drawn.strings)).tolist())
    return Crowd(data, seen, drawn.counts).truncated(domain.length)


def is_ordered(data: str) -> bool:
    """Whether the items of the crowd of this name have an order."""
    return isinstance(CROWDS.get(data), OrderedCrowd)


def domain_of(data: str) -> Strings:
    """Domain of the strings of a crowd: at most as many characters as the number after the slash."""
    length = data.rpartition("/")[2]
    if not length.isdecimal():
        raise ParameterError(f"data: expected a name and a length, such as url-clicks/6, got {shown(data)}")
    return Strings(LETTERS, whole_number("length", int(length), 1, MAX_LENGTH), other=True)


def zipf(exponent: float, n: int, d: int, seed: int) -> Counts:
    """The paper's crowd: n users drawn from the d most common values of many Zipf draws, relabelled by rank.

    The head therefore follows the law; the tail, where each value was drawn only a few times, is flatter.
    """
    return resampled(_enough(_zipf_values(exponent, seed), d), n, f"zipf-{exponent} {n} {d}", seed)


def uniform(n: int, d: int, seed: int) -> Counts:
    """A crowd of n users, each with one of the d items, all equally probable."""
    return _generator(f"uniform {n} {d}", seed).multinomial(n, np.full(d, 1 / d)).astype(np.int64)


def clicks(n: int, d: int, seed: int) -> Counts:
    """The crowd of items from ``url_clicks``: counts of the clicked addresses, most common first.

    If there are fewer than d addresses, the last items have count 0; if more, n users are drawn from the d most common.
    """
    counts = url_clicks(n, MAX_LENGTH, seed).counts
    if len(counts) <= d:
        return _padded(counts, d)
    return resampled(counts[:d], n, f"url-clicks {n} {d}", seed)


def resampled(counts: Counts, n: int, name: str, seed: int) -> Counts:
    """The crowd of n users drawn from item counts; ``name`` and ``seed`` select the generator."""
    return _generator(name, seed).multinomial(n, counts / counts.sum()).astype(np.int64)


def logged(n: int, d: int, seed: int) -> Counts:
    """The crowd of items from the user's own log (``aol.use``): counts of clicked addresses, most common first.

    If n is not the number of its clicks, or there are more than d addresses, n users are drawn from the d most common.
    """
    counts = aol.log().counts
    if n == int(counts.sum()) and len(counts) <= d:
        return _padded(counts, d)
    return _padded(resampled(counts[:d], n, f"aol {n} {d}", seed), d)


def logged_strings(n: int, length: int, seed: int) -> Crowd:
    """The crowd of strings by the name ``aol``: addresses from the user's own log, cut to ``length`` characters."""
    log = aol.log()
    counts = log.counts if n == log.n else resampled(log.counts, n, f"aol/ {n}", seed)
    held = np.flatnonzero(counts)
    cut = np.array([log.addresses[place][:length] for place in held.tolist()])
    return Crowd("aol", cut, counts[held]).truncated(length)


CROWDS: dict[str, Recipe] = {
    "zipf-1.1": partial(zipf, 1.1),
    "uniform": uniform,
    "url-clicks": clicks,
    "aol": logged,
    **SHAPES_IN_ORDER,
}
"""Every crowd by its name."""

STRINGS: dict[str, StringRecipe] = {**DATASETS, "aol": logged_strings}
"""Every crowd of strings by its name."""


@lru_cache(maxsize=2)
def _zipf_values(exponent: float, seed: int) -> Counts:
    # Number of draws of each value, most common first.
    draws = _generator(f"zipf-{exponent}", seed).zipf(exponent, _ZIPF_DRAWS)
    return np.sort(np.unique(draws, return_counts=True)[1])[::-1].astype(np.int64)


def _padded(counts: Counts, d: int) -> Counts:
    # The last items have count 0.
    return np.concatenate([counts, np.zeros(d - len(counts), dtype=np.int64)])


def _enough(counts: Counts, d: int) -> Counts:
    if len(counts) < d:
        raise ParameterError(f"d: expected at most the {len(counts)} items of this crowd, got {d}")
    return counts[:d]


def _generator(name: str, seed: int) -> np.random.RandomState:
    # The legacy generator: NumPy guarantees that its stream never changes.
    return np.random.RandomState([seed, *name.encode()])
