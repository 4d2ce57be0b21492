"""Candidates of a search: prefixes as rows of symbols, and their extensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.domain import Strings
from ..core.domain.symbols import Rows, symbol_rows
from ..core.errors import ParameterError
from ..core.history import History, search_by
from ..core.laws import Floats, choose_estimator
from ..core.selection import of_largest
from ..core.tails import Noise, Unheld
from ..core.wording import shown
from ..core.words import Words, kind_of
from .base import SearchTally
from .heavy_hitters import HeavyHitters
from .string_parts import Part
from .trace import Step

MOST_CANDIDATES = 1 << 24


def prefix_lengths(strings: Strings, start: object, step: object) -> tuple[int, ...]:
    """Prefix lengths from ``start`` in steps of ``step`` up to the whole string."""
    first = whole_number("start", start, 1, strings.length)
    return (*range(first, strings.length, whole_number("step", step, 1, strings.length)), strings.length)


def extensions(strings: Strings, prefixes: Rows, length: int) -> Rows:
    """All extensions of the given prefixes to ``length`` symbols; only pads follow a pad."""
    more = length - prefixes.shape[1]
    count = strings.symbols**more
    if count * len(prefixes) > MOST_CANDIDATES:
        raise ParameterError(
            f"{len(prefixes)} prefixes have {count * len(prefixes):,} extensions by {more} characters; "
            "take a smaller keep, or a scheme with a smaller step"
        )
    endings = symbol_rows(np.arange(count), strings.symbols, more, strings.symbol_dtype)
    endings = endings[~inner_pads(endings)]
    ended = prefixes[:, -1] == 0 if prefixes.shape[1] else np.zeros(len(prefixes), dtype=np.bool_)
    open_ones = prefixes[~ended]
    longer = np.hstack([np.repeat(open_ones, len(endings), axis=0), np.tile(endings, (len(open_ones), 1))])
    pads = np.zeros((int(ended.sum()), more), dtype=strings.symbol_dtype)
    return np.vstack([longer, np.hstack([prefixes[ended], pads])])


def inner_pads(rows: Rows) -> npt.NDArray[np.bool_]:
    """Mask of the prefixes with a symbol after a pad, which begin no string."""
    found: npt.NDArray[np.bool_] = ((rows[:, :-1] == 0) & (rows[:, 1:] != 0)).any(axis=1)
    return found


@dataclass(frozen=True)
class Choices:
    """Options of a search, checked."""

    k: int | None
    threshold: float | None
    keep: int
    oracle: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", whole_number("k", self.k, 1, MOST_CANDIDATES))
        if self.k is None and self.threshold is None:
            raise ParameterError("expected k or threshold (an estimated count), got neither")
        numbers = isinstance(self.threshold, int | float | np.number) and not isinstance(self.threshold, bool)
        if self.threshold is not None and not (numbers and np.isfinite(self.threshold)):
            raise ParameterError(f"threshold: expected a count of users, got {shown(self.threshold)}")
        object.__setattr__(self, "keep", whole_number("keep", self.keep, 1, MOST_CANDIDATES))
        if not isinstance(self.oracle, Mapping):
            raise ParameterError(
                Words("oracle: expected a mapping of the oracle's options, got ", kind_of(self.oracle))
            )

    @property
    def least(self) -> float:
        """Smallest estimate that a search may return: above zero, and at least the threshold."""
        return max(0.0, -np.inf if self.threshold is None else self.threshold)

    def best(self, values: Floats, most: int | None) -> Any:
        """Positions of up to ``most`` of the best prefixes, the largest value first, none below the threshold."""
        order = np.argsort(-values, kind="stable")[:most]
        return order if self.threshold is None else order[values[order] >= self.threshold]


def kept_prefixes(tally: SearchTally, number: int, candidates: Rows, choices: Choices) -> tuple[Rows, Step]:
    """The candidate prefixes that a part's estimates keep, best first, and the step of the trace."""
    part, strings = tally.scheme.parts[number], tally.scheme.strings
    values, _ = tally.estimate_part(number, part.items_of(candidates), choices.oracle)
    best = choices.best(values, choices.keep)
    kept = candidates[best]
    users = len(tally.parts[number])
    return kept, Step(part.label, part.last, users, len(candidates), strings.decode(kept), values[best])


def grow_prefixes(tally: SearchTally, levels: Sequence[int], choices: Choices) -> HeavyHitters:
    """Search through candidate prefixes: keep the best of each length, extend them to the next, end with whole strings.

    Part i reports prefixes of length ``levels[i]``; the part after them reports whole strings.
    """
    strings = tally.scheme.strings
    kept, trace = np.zeros((1, 0), dtype=strings.symbol_dtype), []
    for number, length in enumerate(levels):
        kept, step = kept_prefixes(tally, number, extensions(strings, kept, length), choices)
        trace.append(step)
    return conclude(tally, len(levels), extensions(strings, kept, strings.length), choices, tuple(trace))


def conclude(
    tally: SearchTally, number: int, candidates: Rows, choices: Choices, trace: tuple[Step, ...]
) -> HeavyHitters:
    """Answer of a search: the best candidates, now whole strings, by the part that reports these; only if positive."""
    part = tally.scheme.parts[number]
    counts = tally.estimate_part_and_unheld(number, part.items_of(candidates), choices.oracle)
    history = choose_estimator(part.scheme.estimator, choices.oracle).history
    last = partial(Step, part.label, part.last, len(tally.parts[number]))
    return best_strings(tally, candidates, counts, choices, history=history, trace=trace, last=last)


def best_strings(
    tally: SearchTally,
    candidates: Rows,
    counts: tuple[Floats, Floats | None, Unheld | None],
    choices: Choices,
    *,
    history: History,
    trace: tuple[Step, ...],
    last: Callable[..., Step],
) -> HeavyHitters:
    """Answer of a search: the best candidates with a positive count, and ``last`` as the last step of the trace.

    ``counts``: estimates, variances, and the law of strings without holders if hash functions are public.
    """
    values, variance, unheld = counts
    best = choices.best(values, choices.k)
    best = best[values[best] > 0]
    selected = None
    if variance is not None:
        selected = of_largest(values, unheld or Noise.normal(np.sqrt(variance)), best).above(choices.least)
    items = tally.scheme.strings.decode(candidates[best])
    return HeavyHitters(
        items=items,
        values=values[best],
        variance=None if variance is None else variance[best],
        n=len(tally),
        complete=False,
        history=(*history, search_by(tally.scheme.name)),
        selection=selected,
        trace=(*trace, last(len(candidates), items, values[best])),
    )


def prefix_part(scheme: Any, strings: Strings, length: int, *, role: str = "oracle") -> Part:
    """The part that reports a candidate prefix of a search: the first ``length`` symbols of the user's string."""
    label = "whole strings" if length == strings.length else f"first {length} character{'s' * (length > 1)}"
    return Part(label, scheme, strings, 0, length, role=role)
