"""What a shuffler is worth: the central epsilon of a scheme in a crowd, and the local epsilon that a crowd allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..core.arguments import whole_number
from ..core.blanket import Blanket, support_blanket
from ..core.errors import ParameterError
from ..core.probability import WORD, EpsilonLike, exact_epsilon, exact_fraction, keep_threshold
from ..core.scheme import Scheme, expect_scheme
from ..core.wording import decimal, plural, shown
from ..core.words import Setting, Words
from . import clones
from .crowd import Crowd
from .rounds import Rounds

SchemeMaker = Callable[[Fraction], Scheme]
"""Function from an epsilon to a scheme."""

MOST_USERS = 10**12
_MOST_ROUNDS = 10_000
_LEAST_DELTA = Fraction(1, 10**12)
_STEPS = 100
"""Local epsilons are rounded down to hundredths."""
_MOST_LOCAL = 30
_SLOPE = 0.1
"""How much the logarithm of delta changes with a hundredth of local epsilon, roughly."""


@dataclass(frozen=True, eq=False, repr=False)
class Shuffled:
    """The privacy of reports of a scheme that a trusted shuffler releases in batches of at least ``users``.

    ``epsilon`` is central: it bounds what a batch without order, senders and times reveals about one of its users, to
    somebody who sees the batch alone, up to ``delta``. It never replaces the epsilon of the scheme, which holds
    against everybody, the shuffler included. With several ``rounds``, the same users send a fresh report to each.
    """

    scheme: Scheme
    users: int
    delta: float
    rounds: int
    epsilon: float
    """Upper bound of the central epsilon: a proof, with all errors of its computation on the safe side."""
    given: str = ""
    """Condition for the bound, if any."""

    @property
    def local_epsilon(self) -> float:
        """Epsilon of one report by itself, against everybody, the shuffler included."""
        return float(self.scheme.privacy_loss())

    @cached_property
    def lower(self) -> float | None:
        """Lower bound of the central epsilon in one round: an attack on a crowd whose others all have one value.

        None if it is not known for the shuffled scheme, or if there are several rounds.
        """
        if self.rounds > 1:
            return None
        return crowd_of(self.scheme, self.users).lower(self.delta)

    @property
    def clones(self) -> float | None:
        """Central epsilon of one shuffled round by the closed form of FOCS 2021; None where it does not apply."""
        return None if self.rounds > 1 else clones.clones(self.local_epsilon, self.users, self.delta)

    @property
    def stronger_clones(self) -> float | None:
        """Central epsilon of one shuffled round by the closed form of SODA 2023; None where it does not apply."""
        return None if self.rounds > 1 else clones.stronger_clones(self.local_epsilon, self.users, self.delta)

    @property
    def verdict(self) -> str:
        """What the shuffled batch promises, in one sentence."""
        fresh = f", for {self.rounds:,} rounds of fresh reports together" if self.rounds > 1 else ""
        sure = f"central ε = {rounded_up(self.epsilon)} at δ = {power_of_ten(self.delta)}"
        return f"{sure}, in batches of at least {plural(self.users, 'report')} from a trusted shuffler{fresh}"

    def facts(self) -> list[tuple[str, str]]:
        """The central epsilon of the shuffled scheme and its conditions, as names and values."""
        found = [("central privacy", self.verdict)]
        if self.given:
            found.append(("if the hashes are", self.given))
        if self.lower is not None:
            found.append(("no less than", f"ε = {self.lower:.3g}: an attack on others who all have one value"))
        if self.stronger_clones is not None:
            found.append(("any scheme", f"ε = {rounded_up(self.stronger_clones)} by the closed form of SODA 2023"))
        return [*found, *_CONDITIONS]

    def to_dict(self) -> dict[str, Any]:
        """The privacy of the shuffled scheme, JSON-ready."""
        names = ("users", "delta", "rounds", "epsilon", "local_epsilon", "lower", "clones", "stronger_clones", "given")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"<{self.scheme.name}, local ε = {decimal(self.scheme.epsilon)}: {self.verdict}>"


_CONDITIONS = [
    ("the shuffler", "knows senders, order and times, and releases none of them; it must be trusted for that"),
    ("the users", "send one report each; count only honest ones, because fake reports hide nobody"),
    ("the device", "still promises no more than the ε of the scheme, which holds without a shuffler"),
]


def shuffled(scheme: Scheme, users: int, delta: EpsilonLike = "1e-6", *, rounds: int = 1) -> Shuffled:
    """The central epsilon of a scheme whose reports are shuffled in batches of at least ``users``.

    ``users``: the smallest number of honest users' reports that is ever released together. ``delta``: the chance with
    which the promise may fail, from 1e-12. ``rounds``: number of batches to which the same users send a fresh report.
    The bound uses the scheme's own law of reports: its exact thresholds, all groups of users as one crowd, and the two
    values that differ most. ``scheme.epsilon`` does not change: it is what holds without a shuffler.

    >>> import plausibly
    >>> scheme = plausibly.make("DE", epsilon=3, domain_size=64)
    >>> round(plausibly.shuffled(scheme, 10_000).epsilon, 4)
    0.1079
    """
    expect_scheme(scheme)
    users, chance, rounds = _checked(users, delta, rounds)
    crowd = crowd_of(scheme, users)
    found = crowd.epsilon(chance) if rounds == 1 else Rounds(crowd, rounds, chance).epsilon()
    return Shuffled(scheme, users, chance, rounds, found, crowd.blanket.given)


def local_epsilon(
    epsilon: EpsilonLike,
    users: int,
    delta: EpsilonLike = "1e-6",
    *,
    rounds: int = 1,
    through: SchemeMaker | None = None,
) -> Fraction:
    """The largest local epsilon, in hundredths, whose shuffled reports keep a central epsilon.

    ``through``: the function that makes a scheme for a local epsilon, such as ``lambda e: make("HM", epsilon=e,
    domain_size=1000)``; None for a scheme whose reports support each item with the best probability, 1/(e^ε + 1), which
    HM, TLH and OUE come close to.

    >>> import plausibly
    >>> float(plausibly.local_epsilon(1, 100_000))
    8.67
    """
    central = float(exact_epsilon(epsilon))
    users, chance, rounds = _checked(users, delta, rounds)

    def crowd(steps: int) -> Crowd:
        local = Fraction(steps, _STEPS)
        return Crowd(_best(local), users, float(local)) if through is None else crowd_of(through(local), users)

    def once(steps: int, most: float = central) -> bool:
        return steps <= most * _STEPS or crowd(steps).delta(most) <= chance

    def excess(steps: int) -> float:
        kept = steps <= central * _STEPS / rounds
        return -math.inf if kept else math.log(Rounds(crowd(steps), rounds, chance).delta_at(central) / chance)

    found = _largest(once, 0, _MOST_LOCAL * _STEPS + 1)
    if rounds > 1:
        # Several rounds reveal no less than one, and roughly as much as one with this root, which are less work.
        guess = _largest(lambda steps: once(steps, central / math.sqrt(rounds)), 0, found + 1)
        found = _near(excess, guess, found + 1)
    if found == 0:
        raise ParameterError(Words(Setting("epsilon"), f": expected at least 0.01, got {shown(epsilon)}"))
    return Fraction(found, _STEPS)


def _largest(kept: Callable[[int], bool], low: int, high: int) -> int:
    # The largest number that is kept, as low is and high is not.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


def _near(excess: Callable[[int], float], guess: int, most: int) -> int:
    # The largest number below most whose excess is at most 0, as that of 0 is: secants from a guess, then halving.
    low, high, slope, last = 0, most, _SLOPE, (guess, math.nan)
    for _ in range(6):
        if high - low <= 1:
            break
        place = min(max(guess, low + 1), high - 1)
        found = excess(place)
        low, high = (place, high) if found <= 0 else (low, place)
        if math.isinf(found):
            break
        moved = place - last[0]
        if moved and (found - last[1]) / moved > 0:
            slope = (found - last[1]) / moved
        last = place, found
        guess = place - math.ceil(found / slope) if found > 0 else place + math.ceil(-found / slope)
    return _largest(lambda steps: excess(steps) <= 0, low, high)


def _best(local: Fraction) -> Blanket:
    share = 1 - Fraction(keep_threshold(local, 1, 1), WORD)
    return support_blanket(Fraction(1, 2), share, share**2)


def crowd_of(scheme: Scheme, users: int) -> Crowd:
    """The crowd of ``users`` whose reports of a scheme are shuffled together.

    Raises if the scheme's reports can be linked, or if their law is not known.
    """
    linked = _linkable(scheme)
    if linked:
        raise ParameterError(f"scheme: expected one whose reports cannot be linked, got {scheme.name}: {linked}")
    return Crowd(scheme.blanket(), users, float(scheme.privacy_loss()))


def _linkable(scheme: Scheme) -> str:
    return scheme.linkable or next(filter(None, (_linkable(part.scheme) for part in scheme.components)), "")


def _checked(users: object, delta: EpsilonLike, rounds: object) -> tuple[int, float, int]:
    chance = exact_fraction("delta", delta)
    if not _LEAST_DELTA <= chance < 1:
        raise ParameterError(Words(Setting("delta"), f": expected 1e-12 to less than 1, got {shown(delta)}"))
    n = whole_number("users", users, 1, MOST_USERS)
    return n, float(chance), whole_number("rounds", rounds, 1, _MOST_ROUNDS)


def rounded_up(epsilon: float) -> str:
    """The wording of an upper bound of a shuffled crowd's epsilon: three digits, rounded up so that it remains true.

    >>> rounded_up(0.10781), rounded_up(2.0)
    ('0.108', '2')
    """
    if epsilon <= 0:
        return "0"
    digits = 2 - math.floor(math.log10(epsilon))
    scaled = math.ceil(epsilon * 10.0**digits - 1e-6)
    return f"{scaled / 10.0**digits:.{max(0, digits)}f}".rstrip("0").rstrip(".") if digits > 0 else f"{scaled:g}"


def power_of_ten(delta: float) -> str:
    """The wording of the delta of a shuffled crowd.

    >>> power_of_ten(1e-6), power_of_ten(2.5e-12), power_of_ten(0.1)
    ('1e-6', '2.5e-12', '0.1')
    """
    return f"{delta:g}".replace("e-0", "e-")
