"""Counts of given strings, from the users who report whole ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.history import History
from ..core.laws import Codes, Decoder, Floats, Scores, VarianceLaw, choose_estimator
from .parts import Part


@dataclass(frozen=True)
class WholeString:
    """The estimates of the part that sees whole strings, scaled up from the share of users who report through it."""

    part: Part
    number: int
    share: Fraction

    @cached_property
    def _decoder(self) -> Decoder:
        return self.part.scheme.estimator()

    @property
    def history(self) -> History:
        return self._decoder.history

    @property
    def law(self) -> VarianceLaw:
        return thinned(self._decoder.law, self.share)

    def scores(self, evidence: Any, n: Any, codes: Codes | None) -> Scores:
        tally = evidence[self.number]
        assert codes is not None  # strings cannot be listed
        return self._decoder.scores(tally._evidence(), tally._numbers(), self.part.items(codes))

    def estimate(self, evidence: Any, n: Any, codes: Codes | None) -> tuple[Floats, Floats | None]:
        assert codes is not None
        return scaled_up(self.part, evidence[self.number], self.part.items(codes), float(self.share))


def scaled_up(
    part: Part, tally: Any, items: Codes, share: float, options: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Floats, Floats | None]:
    """Counts among all users of what the users of one part report, each of whom stands for 1/share users.

    Who reports is chance as well: it adds f(1-share)/share to the variance.
    """
    decoder = choose_estimator(part.scheme.estimator, options)
    values, variance = decoder.estimate(tally._evidence(), tally._numbers(), items)
    values = values / share
    if variance is not None:
        variance = variance / share**2 + np.maximum(values, 0.0) * (1 - share) / share
    return values, variance


def thinned(law: VarianceLaw, share: Fraction) -> VarianceLaw:
    """The law of counts scaled up from a random share of the users; what pairs of users add is the same."""
    covariance = law.covariance[0] / share, law.covariance[1] / share
    return replace(
        law,
        per_report=law.per_report / share,
        per_holder=(law.per_holder + 1 - share) / share,
        per_mate=law.per_mate / share,
        covariance=covariance,
    )
