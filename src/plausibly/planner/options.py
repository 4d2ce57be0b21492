"""Schemes side by side: what each would cost and how exact it would be, which of them are allowed, which is first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from ..catalog import CATALOG
from ..core.costs import Cost
from ..core.domain import Domain
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from .candidates import Kinds, hashed, oracles
from .crowd import Skew
from .prediction import Prediction
from .targets import Above, Limits, Target, Within, one_sided, two_sided

ALIKE = 1.05
"""Squared errors within this factor are taken for equal: then costs decide."""


@dataclass(frozen=True)
class Option:
    """A scheme for n users: its costs, and the variance that counts for the target."""

    scheme: Scheme
    prediction: Prediction
    costs: Cost
    measure: float

    @property
    def price(self) -> tuple[bool, bool, int, int, int, float]:
        """What decides among equals: a state of fixed size, no assumption about the data, time, bytes, state, time."""
        costs = self.costs
        rest = costs.time_class, costs.report_bytes, costs.state_bytes, costs.seconds
        return costs.keeps_reports, self.prediction.assumes, *rest


@dataclass(frozen=True)
class Aim:
    """What is to be known of which items, and at which cost."""

    domain: Domain
    target: Target | None
    limits: Limits
    skew: Skew

    @property
    def asked(self) -> int:
        """Items whose counts are asked for."""
        return self.domain.size or self.limits.candidates

    def measure(self, prediction: Prediction, n: int) -> float:
        """The variance that is to be small."""
        if isinstance(self.target, Within):
            return prediction.variance(n, float(self.target.frequency))
        if isinstance(self.target, Above):
            return max(prediction.variance(n), prediction.variance(n, float(self.target.share)))
        return prediction.mean_variance(n)

    def reached(self, measure: float, n: int) -> float:
        """The target that a variance allows: half the width of the interval, or the share that is found."""
        target = self.target
        assert target is not None
        confidence = float(target.confidence)
        if isinstance(target, Within):
            z = two_sided(confidence, self.asked if target.every else 1)
        else:
            z = one_sided(confidence, self.asked) + one_sided(confidence)
        return z * sqrt(measure) / n

    def allows(self, costs: Cost) -> bool:
        """Whether the costs are within the limits."""
        most = self.limits.report_bytes
        return (most is None or costs.report_bytes <= most) and costs.state_bytes <= self.limits.most_memory

    def options(self, epsilon: Fraction, n: int, *, complete: bool = True) -> list[Option]:
        """All schemes; if that need not be complete, without those that share hash functions where these cannot win."""
        memory, kinds = self.limits.most_memory, tuple(CATALOG.values())
        found = [self._option(prediction, n) for prediction in _oracles(kinds, self.domain, epsilon, memory, self.skew)]
        if not found:
            raise ParameterError(
                f"epsilon: {float(epsilon):.3g} is too small: 64-bit probabilities cannot represent it"
            )
        allowed = [option.measure for option in found if self.allows(option.costs)]
        best = min(option.measure for option in found)
        # What is hashed once more is never better than the best of what is not, and assumes more.
        if complete or self.domain.size is None or not allowed or min(allowed) > best:
            found += [
                self._option(prediction, n) for prediction in _hashed(kinds, self.domain, epsilon, memory, self.skew)
            ]
        return found

    def _option(self, prediction: Prediction, n: int) -> Option:
        costs = prediction.scheme.cost(n, self.asked)
        return Option(prediction.scheme, prediction, costs, self.measure(prediction, n))

    def allowed(self, options: Sequence[Option]) -> list[Option]:
        """Those that are within the limits; raises, naming the limit, if none is."""
        found = [option for option in options if self.allows(option.costs)]
        if not found:
            raise ParameterError(self._which_limit(options))
        return found

    def first(self, epsilon: Fraction, n: int) -> Option | None:
        """What would be recommended; None if nothing is within the limits."""
        options = self.options(epsilon, n, complete=False)
        found = [option for option in options if self.allows(option.costs)]
        return cheapest(found) if found else None

    def _which_limit(self, options: Sequence[Option]) -> str:
        most, memory = self.limits.report_bytes, self.limits.most_memory
        small = [option for option in options if most is None or option.costs.report_bytes <= most]
        lean = [option for option in options if option.costs.state_bytes <= memory]
        if small and not lean:
            need = min(option.costs.state_bytes for option in small)
            return f"limits: memory: nothing fits {memory:,} bytes of state; {need:,} would do"
        if lean:
            # What memory alone allows is there: the report is too long.
            option = min(lean, key=lambda o: (o.costs.report_bytes, o.measure))
            need = option.costs.report_bytes
            also = min((o.costs.state_bytes for o in small), default=None)
            instead = f", or memory={also:,} with {most}" if also is not None else ""
            return (
                f"limits: report_bytes: nothing fits {most} within {memory:,} bytes of state; "
                f"report_bytes={need} would do ({option.scheme.name}){instead}"
            )
        bytes_, state = (min(getattr(o.costs, name) for o in options) for name in ("report_bytes", "state_bytes"))
        return f"limits: nothing fits; the smallest report has {bytes_} bytes, the smallest state {state:,}"


def cheapest(options: Sequence[Option]) -> Option:
    """Of those with about the least error the one with the lowest price."""
    best = min(option.measure for option in options)
    return min((option for option in options if option.measure <= ALIKE * best), key=lambda option: option.price)


@lru_cache(maxsize=64)
def _oracles(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int, skew: Skew) -> tuple[Prediction, ...]:
    return tuple(Prediction(scheme, skew) for scheme in oracles(kinds, domain, epsilon, memory))


@lru_cache(maxsize=64)
def _hashed(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int, skew: Skew) -> tuple[Prediction, ...]:
    return tuple(Prediction(scheme, skew) for scheme in hashed(kinds, domain, epsilon, memory))
