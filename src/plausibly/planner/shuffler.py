"""Plans with a shuffler: the central epsilon of a plan, or the largest local one that keeps a central promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from ..core.arguments import whole_number
from ..core.errors import ParameterError
from ..core.probability import EpsilonLike, exact_epsilon
from ..core.wording import decimal, plural
from ..core.words import Setting, Words
from ..shuffling import local_epsilon, shuffled
from .recommendation import Plan
from .solving import MOST_USERS

_STEPS = 20
"""Local epsilons of plans are multiples of a twentieth."""


@dataclass(frozen=True, kw_only=True)
class Shuffler:
    """A trusted shuffler for a plan: the central ``epsilon`` to keep, up to ``delta``, in every batch it releases.

    ``smallest_batch``: the smallest number of honest users' reports that it ever releases together. Without
    ``epsilon``, the plan is the same as without a shuffler and states the central epsilon of its scheme.
    """

    smallest_batch: int
    epsilon: EpsilonLike | None = None
    delta: EpsilonLike = "1e-6"

    def __post_init__(self) -> None:
        whole_number("smallest_batch", self.smallest_batch, 1, MOST_USERS)
        if self.epsilon is None:
            return
        central = exact_epsilon(self.epsilon, Setting("central_epsilon", python="epsilon"))
        if central < Fraction(1, _STEPS):
            raise ParameterError(Words(Setting("central_epsilon", python="epsilon"), ": expected at least 0.05"))
        object.__setattr__(self, "epsilon", central)

    @property
    def central(self) -> Fraction | None:
        """The central epsilon that the plan has to keep, as a fraction; None if it has none to keep."""
        return None if self.epsilon is None else exact_epsilon(self.epsilon)

    def stated(self, found: Plan) -> Plan:
        """The same plan with the central epsilon that the shuffler gives to its scheme."""
        return self._expect_batches(replace(found, central=shuffled(found.scheme, self.smallest_batch, self.delta)))

    def plan(self, at: Callable[[Fraction], Plan], central: Fraction, most: Fraction) -> Plan:
        """The plan with the largest local epsilon up to ``most`` that keeps the ``central`` one.

        ``at``: the function from a local epsilon to a plan. Schemes differ in what a crowd hides, so each plan is
        judged by the scheme that it recommends.
        """
        if central >= most:
            raise ParameterError(
                Words(Setting("central_epsilon", python="epsilon"), f": expected less than the limit {decimal(most)}")
            )
        plans: dict[int, Plan | None] = {}

        def kept(steps: int) -> bool:
            if steps not in plans:
                found = at(Fraction(steps, _STEPS))
                promise = shuffled(found.scheme, self.smallest_batch, self.delta)
                plans[steps] = replace(found, central=promise) if promise.epsilon <= central else None
            return plans[steps] is not None

        least, last = int(central * _STEPS), int(most * _STEPS)
        # Most schemes need almost the same local epsilon: search from there in growing steps, then by halving.
        guess = min(last, max(least, int(local_epsilon(central, self.smallest_batch, self.delta) * _STEPS)))
        low, high, step = least, last + 1, 1
        if kept(guess):
            low = guess
            while low + step < high and kept(low + step):
                low, step = low + step, 2 * step
            high = min(high, low + step)
        else:
            high = guess
            while high - step > low and not kept(high - step):
                high, step = high - step, 2 * step
            low = max(low, high - step)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if kept(middle) else (low, middle)
        if not kept(low):
            raise ParameterError(
                Words(Setting("smallest_batch"), ": expected larger batches for this central epsilon, got smaller ones")
            )
        found = plans[low]
        assert found is not None
        return self._expect_batches(found)

    def _expect_batches(self, found: Plan) -> Plan:
        if found.users < self.smallest_batch:
            few = f": expected at most the {plural(found.users, 'user')} of the plan, got {self.smallest_batch:,}"
            raise ParameterError(Words(Setting("smallest_batch"), few))
        trusted = (
            "The central ε is about people who see the shuffled batches alone. The shuffler, and anybody who reads "
            f"reports on their way, learn what ε = {decimal(found.epsilon)} allows."
        )
        return replace(found, notes=(*found.notes, trusted))
