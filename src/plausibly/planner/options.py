"""Comparison of schemes: their costs and errors, which of them are within the limits, and which is best."""

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
from ..core.words import Setting, Words
from .candidates import Kinds, hashed, oracles
from .prediction import Prediction
from .skew import Skew
from .targets import Above, Limits, Target, Within, one_sided, two_sided

ALIKE = 1.05
"""Squared errors within this factor count as equal: then costs decide."""


@dataclass(frozen=True)
class Option:
    """A scheme for n users: its costs, and the variance that matters for the target."""

    scheme: Scheme
    prediction: Prediction
    costs: Cost
    measure: float

    @property
    def price(self) -> tuple[bool, bool, int, int, int, float]:
        """Price of an option, for sorting: fixed state, no assumption, coarse time, bytes, state, exact time."""
        costs = self.costs
        rest = costs.time_class, costs.report_bytes, costs.state_bytes, costs.seconds
        return costs.keeps_reports, self.prediction.assumes, *rest


@dataclass(frozen=True)
class Aim:
    """The aim by which options are compared: the items to estimate, the target, and the limits on costs."""

    domain: Domain
    target: Target | None
    limits: Limits
    skew: Skew

    @property
    def asked(self) -> int:
        """Number of items that each of the compared options must estimate."""
        return self.domain.size or self.limits.candidates

    def measure(self, prediction: Prediction, n: int) -> float:
        """Measure for the comparison of options: the predicted variance that matters for the target."""
        if isinstance(self.target, Within):
            return prediction.variance(n, float(self.target.frequency))
        if isinstance(self.target, Above):
            return max(prediction.variance(n), prediction.variance(n, float(self.target.share)))
        return prediction.mean_variance(n)

    def reached(self, measure: float, n: int) -> float:
        """Target that an option of this variance reaches: an interval's half-width or the smallest detectable share."""
        target = self.target
        assert isinstance(target, Within | Above)
        confidence = float(target.confidence)
        if isinstance(target, Within):
            z = two_sided(confidence, self.asked if target.every else 1)
        else:
            z = one_sided(confidence, self.asked) + one_sided(confidence)
        return z * sqrt(measure) / n

    @property
    def goal(self) -> float:
        """What an option has to reach: the share of users in the target."""
        assert isinstance(self.target, Within | Above)
        return float(self.target.share)

    def allows(self, costs: Cost) -> bool:
        """Whether an option's costs are within the limits."""
        most = self.limits.report_bytes
        return (most is None or costs.report_bytes <= most) and costs.state_bytes <= self.limits.most_memory

    def options(self, epsilon: Fraction, n: int, *, complete: bool = True) -> list[Option]:
        """Options to choose among; unless ``complete``, shared hash functions are left out if they cannot be best."""
        memory, kinds = self.limits.most_memory, tuple(CATALOG.values())
        found = [self._option(prediction, n) for prediction in _oracles(kinds, self.domain, epsilon, memory, self.skew)]
        if not found:
            raise ParameterError(
                f"epsilon: {float(epsilon):.3g} is too small: 64-bit probabilities cannot represent it"
            )
        allowed = [option.measure for option in found if self.allows(option.costs)]
        best = min(option.measure for option in found)
        # Hashing once more never beats the best scheme without it, and needs an assumption about the data.
        if complete or self.domain.size is None or not allowed or min(allowed) > best:
            found += [
                self._option(prediction, n) for prediction in _hashed(kinds, self.domain, epsilon, memory, self.skew)
            ]
        return found

    def _option(self, prediction: Prediction, n: int) -> Option:
        costs = prediction.scheme.cost(n, self.asked)
        return Option(prediction.scheme, prediction, costs, self.measure(prediction, n))

    def allowed(self, options: Sequence[Option]) -> list[Option]:
        """The options within the limits; raise an error that names the limit if there are none."""
        found = [option for option in options if self.allows(option.costs)]
        if not found:
            raise ParameterError(self._which_limit(options))
        return found

    def first(self, epsilon: Fraction, n: int) -> Option | None:
        """The recommended option; None if no option is within the limits."""
        options = self.options(epsilon, n, complete=False)
        found = [option for option in options if self.allows(option.costs)]
        return cheapest(found) if found else None

    def others(self, options: Sequence[Option], first: Option) -> list[Option]:
        """The best option of every scheme but the first one, among the allowed ones if there are any."""
        found = []
        for name in dict.fromkeys(option.scheme.name for option in options):
            own = [option for option in options if option.scheme.name == name]
            if name != first.scheme.name:
                found.append(cheapest([option for option in own if self.allows(option.costs)] or own))
        return sorted(found, key=lambda option: (not self.allows(option.costs), option.measure))

    def _which_limit(self, options: Sequence[Option]) -> str:
        most, memory = self.limits.report_bytes, self.limits.most_memory
        small = [option for option in options if most is None or option.costs.report_bytes <= most]
        lean = [option for option in options if option.costs.state_bytes <= memory]
        if small and not lean:
            need = min(option.costs.state_bytes for option in small)
            too_little = f": no scheme fits in {memory:,} bytes of state; "
            return Words(Setting("memory"), too_little, Setting("memory", need), " is enough")
        if lean:
            # Some schemes fit the memory, so the reports are too long.
            option = min(lean, key=lambda o: (o.costs.report_bytes, o.measure))
            need = option.costs.report_bytes
            also = min((o.costs.state_bytes for o in small), default=None)
            fixes = Words(Setting("report_bytes", need), f" is enough ({option.scheme.name})")
            if also is not None:
                fixes += Words(", or ", Setting("memory", also), " with ", Setting("report_bytes", most))
            short = f": no scheme with {most}-byte reports fits in {memory:,} bytes of state; "
            return Words(Setting("report_bytes"), short, fixes)
        bytes_, state = (min(getattr(o.costs, name) for o in options) for name in ("report_bytes", "state_bytes"))
        return f"limits: no scheme fits; the smallest report has {bytes_} bytes, the smallest state {state:,}"


def cheapest(options: Sequence[Option]) -> Option:
    """The option with the lowest price among those with about the lowest error."""
    best = min(option.measure for option in options)
    return min((option for option in options if option.measure <= ALIKE * best), key=lambda option: option.price)


@lru_cache(maxsize=64)
def _oracles(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int, skew: Skew) -> tuple[Prediction, ...]:
    return tuple(Prediction(scheme, skew) for scheme in oracles(kinds, domain, epsilon, memory))


@lru_cache(maxsize=64)
def _hashed(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int, skew: Skew) -> tuple[Prediction, ...]:
    return tuple(Prediction(scheme, skew) for scheme in hashed(kinds, domain, epsilon, memory))
