"""Variances of the counts of all items, and of all prefixes, without solving a system for each of them.

Up to a thousand items, every question is solved. Beyond, questions are solved at some places only, denser towards both
ends. In between, the coefficients of a question hardly change but for their place: seen from its own place, a question
is interpolated between its two neighbours. All places are then answered by Fourier transforms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..core.laws import Floats
from ..core.parallel import in_chunks
from .system import DENSE, FewQuestions, Questions, System

Kind = Literal["items", "prefixes"]
Places = npt.NDArray[np.int64]

_RATIOS: dict[Kind, float] = {"items": 1.5, "prefixes": 1.15}
"""Ratio of the distances from an end of two neighbouring places that are solved; items hardly depend on it."""
_NUMBERS = 1 << 18
"""Size of the arrays in which questions are solved together: larger ones do not fit the caches."""


@lru_cache(maxsize=8)
def family(system: System, kind: Kind) -> Family:
    """The questions about all items in order, or about all prefixes; kept, because the largest take seconds."""
    return Family(system, kind)


@dataclass(frozen=True, eq=False)
class Family:
    """One question for each place in the order: the item there, or all items up to there."""

    system: System
    kind: Kind

    @cached_property
    def places(self) -> Places:
        """Places whose questions are solved."""
        length = self.system.length
        if length <= DENSE:
            return np.arange(length)
        near = [0]
        while near[-1] < length // 2:
            near.append(max(near[-1] + 1, round((near[-1] + 1) * _RATIOS[self.kind]) - 1))
        return np.unique([*near, *(length - 1 - place for place in near)]).clip(0, length - 1)

    def weights(self, places: Places) -> Floats:
        """Weights of the questions at these places, one a row."""
        items = np.arange(self.system.size)
        holds = items <= places[:, None] if self.kind == "prefixes" else items == places[:, None]
        return holds.astype(np.float64)

    @cached_property
    def level(self) -> Floats:
        """Level of the question at each place."""
        levels = self.system.level[: self.system.length]
        return np.cumsum(levels) if self.kind == "prefixes" else levels

    @cached_property
    def _solved(self) -> tuple[Floats, Floats]:
        # What all users add, and what the users of each item add, for the questions that are solved.
        system = self.system
        if system.length > DENSE:
            system = FewQuestions(system.widths, system.length, system.other)  # six digits: the rest is interpolated

        def work(first: int, last: int) -> Questions:
            return system.ask(self.weights(self.places[first:last]))

        system.prepare()
        parts = list(in_chunks(len(self.places), self._at_once, work))
        return np.concatenate([part.fixed for part in parts]), np.concatenate([part.held for part in parts])

    @property
    def _at_once(self) -> int:
        return max(1, _NUMBERS // self.system.size)

    @property
    def fixed(self) -> Floats:
        """What every user adds to the variance at each place."""
        return self._between(self._solved[0])

    def own(self) -> Floats:
        """Variance at each place in a crowd of one user, who has the item there."""
        fixed, held = self._solved
        own = self._between(held[np.arange(len(fixed)), self.places])
        return self.fixed + own - (1 - self.level) ** 2

    def variance(self, counts: Floats, n: int) -> Floats:
        """Variance of the answer at each place, in a crowd with these counts."""
        variance = n * self.fixed + self._held(counts)
        # Less the square of the user's own weight, without the level: exact at every place.
        inside = counts[: self.system.length]
        inside = np.cumsum(inside) if self.kind == "prefixes" else inside
        level = self.level
        own = inside * (1 - level) ** 2 + (counts.sum() - inside) * level**2
        return np.asarray(np.maximum(variance - own, 0.0))

    def _held(self, counts: Floats) -> Floats:
        fixed, held = self._solved
        if len(fixed) == self.system.length:
            return np.asarray(held @ counts)
        length = self.system.length
        # Row i of the table, moved along by t - places[i], meets the counts: a correlation.
        spectrum = np.fft.rfft(counts[:length], 2 * length)
        answer = np.zeros(length)
        for i, (place, row) in enumerate(zip(self.places.tolist(), held, strict=True)):
            there = np.arange(self.places[max(i - 1, 0)], self.places[min(i + 1, len(self.places) - 1)] + 1)
            # What lies nearer to an end of the order than to the place stays where it is.
            near = row[:length] * self._nearness(place)
            still = float((row[:length] - near) @ counts[:length])
            moved = np.fft.irfft(spectrum * np.conj(np.fft.rfft(near, 2 * length)), 2 * length)
            answer[there] += self._share(i, there) * (still + moved[(there - place) % (2 * length)])
        if self.system.other:
            answer += counts[-1] * self._between(held[:, -1])
        return answer

    def _nearness(self, place: int) -> Floats:
        # 1 at the place, 0 at the ends of the order, and smooth in between, so that no item falls into a gap.
        last = self.system.length - 1
        relative = np.interp(np.arange(last + 1), [0, place, last], [0.0, 1.0, 0.0])
        along = np.clip((relative - 0.1) / 0.8, 0.0, 1.0)
        return along**2 * (3 - 2 * along)

    def _share(self, i: int, there: Places) -> Floats:
        # Weight of the i-th solved question at places between its neighbours.
        corner = np.zeros(len(self.places))
        corner[i] = 1.0
        return np.interp(self._stretched(there), self._stretched(self.places), corner)

    def _between(self, solved: Floats) -> Floats:
        length = self.system.length
        if len(solved) == length:
            return solved
        return np.interp(self._stretched(np.arange(length)), self._stretched(self.places), solved)

    def _stretched(self, places: Places) -> Floats:
        # The logarithm of the distance from the nearer end, in which variances are almost straight lines.
        from_end = self.system.length - 1 - places
        return np.log1p(places) - np.log1p(from_end)
