"""Reports of schemes that keep them, counted for given candidates: one score each, instead of every report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from .accumulator import Accumulator, LogAccumulator
from .errors import StateError
from .laws import Cells, Codes, Decoder, Estimator, Scores, no_context
from .scheme import Reports, Scheme
from .tables_only import TablesOnly, collect_first

_PAIRS = 1 << 30
"""Pairs of a report and a candidate that are tested at a time, so that an interrupt waits for less than a second."""


class Candidates(Accumulator):
    """One score for each candidate, from any number of reports. Estimates are those of a tally that keeps the reports.

    Made for schemes whose tallies keep their reports because the items cannot be listed. A score takes 8 bytes, however
    many reports it sums up, and scores add up. To other processes the scores travel without the candidates: there they
    can be merged, but take no more reports.
    """

    def __init__(self, scheme: Scheme, codes: Codes) -> None:
        super().__init__(scheme)
        self._codes: Codes | None = codes
        self._scores: Scores = np.zeros(len(codes), dtype=np.int64)
        self._count = 0

    @classmethod
    def joined(cls, scheme: Scheme, codes: Codes, parts: Iterable[Accumulator]) -> Candidates:
        """The scores of all candidates, from those of their parts in order. Each part has the same reports."""
        whole, given = cls(scheme, codes), list(parts)
        whole._scores, whole._count = np.concatenate([each.evidence for each in given]), len(given[0])
        return whole

    def __len__(self) -> int:
        return self._count

    def absorb(self, reports: Reports) -> None:
        apart = self.__copy__()
        apart.absorb_single_threaded(reports)
        self._scores, self._count = apart._scores, apart._count

    def absorb_single_threaded(self, reports: Reports) -> None:
        codes, supporting = self._known(), self._additive.scores
        step = max(1, _PAIRS // max(1, len(codes)))
        for first in range(0, len(reports), step):
            part = reports[first : first + step]
            self._scores += supporting(part, len(part), codes)
        self._count += len(reports)

    def unite(self, other: Candidates) -> None:
        if len(other._scores) != len(self._scores):
            raise StateError(f"merge: expected scores of {len(self._scores):,} items, got {len(other._scores):,}")
        self._scores += other._scores
        self._count += other._count

    @cached_property
    def _additive(self) -> Estimator:
        return additive_estimator(self.scheme)

    @property
    def evidence(self) -> Scores:
        """The score of each candidate."""
        return self._scores

    def _estimator(self, options: Mapping[str, Any]) -> Decoder:
        super()._estimator(options)  # refuses unknown options
        return replace(self._additive, scores=self._scores_of)

    def _scores_of(self, scores: Cells, n: int, codes: Codes | None) -> Scores:
        if codes is None or not np.array_equal(codes, self._known()):
            raise StateError("items: expected the items that the reports were counted for, got others")
        return scores

    def _known(self) -> Codes:
        if self._codes is None:
            raise StateError("scores from another process have no candidates; merge them into those of this process")
        return self._codes

    def __copy__(self) -> Candidates:
        copied = Candidates.__new__(Candidates)
        copied.__dict__ |= {**self.__getstate__(), "_codes": self._codes, "_scores": self._scores.copy()}
        return copied

    def __getstate__(self) -> dict[str, Any]:
        return {"scheme": self.scheme, "_codes": None, "_scores": self._scores, "_count": self._count}

    def to_payload(self) -> bytes:
        raise _no_tally()

    def restore(self, count: int, payload: memoryview) -> None:
        raise _no_tally()

    @classmethod
    def payload_bytes(cls, scheme: Scheme, count: int) -> int:
        raise _no_tally()


def additive_estimator(scheme: Scheme) -> Estimator:
    """The estimator of a scheme that keeps its reports, by a law that depends on nothing but scores that add up.

    Refuse other schemes.
    """
    found = scheme.estimator() if scheme.accumulator_type is LogAccumulator else None
    if isinstance(found, Estimator) and found.context is no_context:
        return found
    if isinstance(scheme.estimator(), TablesOnly):
        raise collect_first(scheme.name)
    raise StateError(
        f"{scheme.name} counts its reports without knowing the items; add them up with collect, and estimate from the "
        "tally"
    )


def _no_tally() -> StateError:
    return StateError("scores of candidates are not a tally, and cannot be saved as one; save the estimates")
