"""Plans for a question that is repeated: ways to spend a lifetime epsilon over many slots, and what each promises."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

from ..catalog import CATALOG
from ..core.arguments import whole_number
from ..core.domain import Domain, Table
from ..core.errors import ParameterError
from ..core.probability import EpsilonLike, exact_epsilon
from ..core.scheme import Scheme
from ..core.wording import decimal, nearest, percent, plural, shown
from ..core.words import Setting, Words
from .planning import plan
from .prediction import Prediction
from .skew import Skew
from .targets import Limits, two_sided

_MOST_SLOTS = 100_000
_WEEK = 7


@dataclass(frozen=True, eq=False)
class Way:
    """One way to repeat a question: its scheme, the users who report in each slot, and its promise."""

    name: str
    scheme: Scheme
    slots_per_report: int
    """Number of slots in which each user reports once."""
    promise: str
    memo: bool = False
    """Whether the reports of a user share a memo, so that means over several slots gain little."""

    def variance(self, users: int, skew: Skew = 1.1, frequency: float = 0.0) -> float:
        """Variance of the share of an item in one slot, by a repeated question to this number of users."""
        n = max(users // self.slots_per_report, 1)
        drawn = frequency * (1 - frequency) / n * (1 - 1 / self.slots_per_report)
        return Prediction(self.scheme, skew).variance(n, frequency) / n**2 + drawn


@dataclass(frozen=True, eq=False)
class RepeatedPlan:
    """The ways to repeat a question over ``slots`` slots within a lifetime epsilon, the recommended one first."""

    users: int
    slots: int
    epsilon: Fraction
    skew: Skew
    ways: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """The recommended way to repeat the question: the most accurate of those whose promise is epsilon."""
        return self.ways[0]

    @property
    def scheme(self) -> Scheme:
        """Scheme of the recommended way to repeat the question."""
        return self.best.scheme

    def way(self, name: str) -> Way:
        """One of the ways to repeat the question, by its name."""
        named = {each.name: each for each in self.ways}
        if name not in named:
            raise ParameterError(Words(Setting("way"), f": unknown {shown(name)}; {nearest(name, named)}"))
        return named[name]

    def half_width(self, way: Way, over: int = 1) -> float | None:
        """Half-width of the 95 % interval of an item that nobody has, as a share of users, in a repeated question.

        ``over``: of a mean over this number of slots; None for a way whose slots share a memo.
        """
        if way.memo and over > 1:
            return None
        return two_sided(0.95, 1) * sqrt(way.variance(self.users, self.skew) / over)

    @property
    def verdict(self) -> str:
        """The recommendation for the repeated question in one sentence."""
        every = self.best.slots_per_report
        half = self.half_width(self.best)
        assert half is not None
        return (
            f"Let each user report once in {every:,} slots (a rota of {every:,}), with {self.scheme.name} at "
            f"ε = {decimal(self.epsilon)}: ±{percent(half)} in each slot."
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know before a question is repeated: how long the promises last, and what a memo would change."""
        best, window = self.best, plural(self.slots, "slot")
        told = [
            f"A rota and a split spend ε = {decimal(self.epsilon)} again in the next {window}, unless devices stop at "
            "their lifetime total." + " Only a memo has a bound for a question without an end." * self.ways[-1].memo
        ]
        for way in self.ways:
            mine, its = self.half_width(best), self.half_width(way)
            if way.memo and mine is not None and its is not None:
                told += [
                    f"In a single slot, the memo would be more accurate: ±{percent(its)} instead of ±{percent(mine)}. "
                    "It is for values that rarely change, where a bound for values is enough."
                ] * (its < mine)
                told.append(f"{way.scheme.name}: {way.scheme.caution}")
        return tuple(told)

    def rows(self) -> list[tuple[str, ...]]:
        """The ways to repeat the question as a table: name, reports, scheme and ε, variance and intervals."""
        found: list[tuple[str, ...]] = []
        for way in self.ways:
            week = self.half_width(way, min(_WEEK, self.slots))
            found.append(
                (
                    way.name,
                    f"{self.users // way.slots_per_report:,}",
                    f"{way.scheme.name}, ε = {decimal(way.scheme.epsilon)}",
                    f"{self.users * way.variance(self.users, self.skew):,.3g}",
                    f"±{percent(self.half_width(way) or 0.0)}",
                    "no gain" if week is None else f"±{percent(week)}",
                )
            )
        return found

    @property
    def header(self) -> tuple[str, ...]:
        """Column names of the table of a repeated question."""
        over = min(_WEEK, self.slots)
        return "", "reports a slot", "a report", "variance", "interval of a slot", f"of a mean over {over}"

    def to_dict(self) -> dict[str, Any]:
        """The plan for the repeated question, JSON-ready."""
        return {
            "users": self.users,
            "slots": self.slots,
            "lifetime_epsilon": str(self.epsilon),
            "rota": self.best.slots_per_report,
            "verdict": self.verdict,
            "ways": [
                {
                    "name": way.name,
                    "scheme": way.scheme.name,
                    "epsilon": str(way.scheme.epsilon),
                    "slots_per_report": way.slots_per_report,
                    "variance": self.users * way.variance(self.users, self.skew),
                    "half_width": self.half_width(way),
                    "promise": way.promise,
                    **({"caution": way.scheme.caution} if way.memo else {}),
                }
                for way in self.ways
            ],
            "remarks": list(self.remarks),
            "scheme": self.scheme.to_dict(),
        }


def repeated(
    domain: Domain | int,
    users: int,
    *,
    slots: int,
    lifetime_epsilon: EpsilonLike,
    limits: Limits | None = None,
    skew: Skew = 1.1,
    hash_seed: int | None = None,
) -> RepeatedPlan:
    """Plan a question that is asked in ``slots`` slots, where a user may spend ``lifetime_epsilon`` in all of them.

    >>> found = repeated(1000, 1_000_000, slots=30, lifetime_epsilon=4)
    >>> [(way.name, round(1_000_000 * way.variance(1_000_000), 1)) for way in found.ways[:2]]
    [('rota', 2.3), ('split', 225.7)]
    """
    whole_number("slots", slots, 2, _MOST_SLOTS)
    named = Setting("lifetime_epsilon")
    epsilon, most = exact_epsilon(lifetime_epsilon, named), (limits or Limits()).most_epsilon
    if epsilon > most:
        raise ParameterError(
            Words(named, f": expected at most {decimal(most)}, got {decimal(epsilon)}; to allow it, raise ")
            + Words(Setting("max_epsilon", python="limits.epsilon"))
        )
    if whole_number("users", users, 1, 2**53) < slots:
        raise ParameterError(f"users: expected at least one user for each of the {slots:,} slots, got {users:,}")
    if isinstance(domain, Table):
        raise ParameterError(
            Words("expected one question, got records of several attributes; plan one slot of a rota instead, ")
            + Words("with ", Setting("users", users // slots), " and ", Setting("epsilon", decimal(epsilon)))
        )
    given: dict[str, Any] = {"limits": limits, "skew": skew, "hash_seed": hash_seed}
    whole = plan(domain, users // slots, epsilon=epsilon, **given).scheme
    share = epsilon / slots
    ways = [
        Way(
            "rota",
            whole,
            slots,
            f"Everything that a user reveals in any {slots:,} consecutive slots is bounded by ε = {decimal(epsilon)}, "
            "whether or not the value changes.",
        ),
        Way(
            "split",
            plan(domain, users, epsilon=share, **given).scheme,
            1,
            f"Everything that a user reveals in {plural(slots, 'slot')} is bounded by ε = {decimal(epsilon)}, at "
            f"{decimal(share)} a slot.",
        ),
        *_memoised(whole.domain, epsilon),
    ]
    return RepeatedPlan(users, slots, epsilon, skew, tuple(ways))


def _memoised(domain: Domain, epsilon: Fraction) -> list[Way]:
    # The memo of each of two cells has half of the epsilon, and a single report half of that.
    kind = CATALOG.get("LOLOHA")
    if kind is None or not isinstance(domain, kind.accepts):
        return []
    given: dict[str, Any] = {"epsilon": epsilon / 4, "memo_epsilon": epsilon / 2, "hash_bits": 1}
    promise = (
        f"Everything that a user's reports reveal about values is bounded by ε = {decimal(epsilon)}, for ever; whether "
        "and when a value changed is not protected."
    )
    return [Way("memo", kind(domain=domain, **given), 1, promise, memo=True)]
