"""What a target needs: the smallest epsilon or the fewest users, where a prediction takes long."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import NamedTuple

from ..core.errors import ParameterError
from ..core.wording import decimal, percent
from .options import Aim, Option, cheapest
from .solving import MOST_USERS, fewest_users, least_epsilon_near


@dataclass(frozen=True)
class SolvedAim(Aim):
    """The aim of a plan whose schemes are compared by their own predictions."""

    def error(self, epsilon: Fraction, n: int) -> float:
        """What the recommended option reaches, which needs to be the target; infinite if none is within the limits."""
        first = self.first(epsilon, n)
        return inf if first is None else self.reached(first.measure, n)

    def in_words(self, reached: float) -> str:
        """What an option reaches, in the units of what is needed."""
        return percent(reached)


def needed_epsilon(aim: SolvedAim, n: int) -> Fraction:
    """The smallest epsilon with which the recommended scheme reaches the target. Raises if none is enough."""
    most = aim.limits.most_epsilon
    found = least_epsilon_near(lambda epsilon: aim.error(epsilon, n), aim.goal, most)
    if found is None:
        best = aim.reached(cheapest(aim.allowed(aim.options(most, n))).measure, n)
        users = fewest_users(lambda count: aim.error(most, count) <= aim.goal)
        more = f"{users:,} users are enough" if users else f"even {MOST_USERS:,} users are not enough"
        raise ParameterError(
            f"target: out of reach with {n:,} users and ε up to {decimal(most)}, which allow "
            f"{aim.in_words(best)} at best; {more}"
        )
    return found


def needed_users(aim: SolvedAim, epsilon: Fraction) -> int:
    """The fewest users with whom the recommended scheme reaches the target. Raises if none are enough."""
    aim.allowed(aim.options(epsilon, 1))
    found = fewest_users(lambda count: aim.error(epsilon, count) <= aim.goal)
    if found is None:
        never = f"even {MOST_USERS:,} users are not enough"
        raise ParameterError(f"target: out of reach at ε = {decimal(epsilon)} within the limits: {never}")
    return found


class Settled(NamedTuple):
    """What a plan needs to be complete: users, epsilon, which of them was solved for, and the options with these."""

    users: int
    epsilon: Fraction
    solved: str | None
    options: list[Option]
    allowed: list[Option]
    first: Option


def settle(aim: SolvedAim, n: int | None, epsilon: Fraction | None) -> Settled:
    """Solve for what is needed, the users or epsilon, and compare the options with them."""
    solved = None if aim.target is None else "users" if n is None else "epsilon"
    if epsilon is None:
        assert n is not None
        epsilon = needed_epsilon(aim, n)
    if n is None:
        n = needed_users(aim, epsilon)
    options = aim.options(epsilon, n)
    allowed = aim.allowed(options)
    return Settled(n, epsilon, solved, options, allowed, cheapest(allowed))
