"""The requirements on a plan: a target to reach, and limits to keep."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf
from numbers import Real
from statistics import NormalDist

from ..core.arguments import whole_number
from ..core.domain import MAX_DOMAIN_SIZE
from ..core.errors import ParameterError
from ..core.probability import EpsilonLike, exact_epsilon
from ..core.wording import percent, shown
from ..core.words import Setting, Words, kind_of

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits that a plan must not exceed.

    ``report_bytes``: size of one report; ``memory``: size of the server's state, in bytes or as text ("500 MB");
    ``candidates``: number of items that you will ask about if they cannot be listed; ``epsilon``: the largest that may
    be recommended.
    """

    report_bytes: int | None = None
    memory: int | str = 2**30
    candidates: int = 1000
    epsilon: EpsilonLike = 10

    def __post_init__(self) -> None:
        if self.report_bytes is not None:
            object.__setattr__(self, "report_bytes", whole_number("report_bytes", self.report_bytes, 1, 2**32))
        object.__setattr__(self, "memory", bytes_of(self.memory))
        object.__setattr__(self, "candidates", whole_number("candidates", self.candidates, 1, MAX_DOMAIN_SIZE))
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon, Setting("max_epsilon", python="epsilon")))

    @property
    def most_memory(self) -> int:
        """Memory within which a target must be reached, in bytes."""
        return bytes_of(self.memory)

    @property
    def most_epsilon(self) -> Fraction:
        """Largest epsilon with which a target must be reached, as a fraction."""
        return exact_epsilon(self.epsilon)

    def to_dict(self) -> dict[str, object]:
        """The limits within which a target must be reached, JSON-ready."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return named | {"epsilon": str(self.epsilon)}


@dataclass(frozen=True)
class Within:
    """Target: half the width of a confidence interval, as a share of the users (0.005 or "0.5 %").

    The interval is for an item held by the share ``frequency`` of the users. With ``every``, the intervals of all items
    hold at once (Bonferroni).
    """

    share: float | str
    confidence: float | str = 0.95
    frequency: float | str = 0.0
    every: bool = False

    def __post_init__(self) -> None:
        _settle(self, share=False, confidence=False, frequency=True)
        if not isinstance(self.every, bool):
            raise ParameterError(Words("every: expected true or false, got ", kind_of(self.every)))

    @property
    def text(self) -> str:
        """Target in words."""
        at = f" for an item held by {percent(self.frequency)}" if self.frequency else ""
        together = ", all items at once" if self.every else ""
        return f"±{percent(self.share)} with {percent(self.confidence)} confidence{at}{together}"


@dataclass(frozen=True)
class Above:
    """Target: find the items held by more than this share of the users (0.001 or "0.1 %").

    Each is found with probability ``confidence``; with the same probability, no item without holders is reported.
    """

    share: float | str
    confidence: float | str = 0.95

    def __post_init__(self) -> None:
        _settle(self, share=False, confidence=False)

    @property
    def text(self) -> str:
        """Target in words."""
        return f"find items held by {percent(self.share)} of the users, with {percent(self.confidence)} confidence"


@dataclass(frozen=True)
class QuantileWithin:
    """Target for values that have an order: half the width of a quantile's interval, in the units of the domain.

    ``QuantileWithin(0.5, 2)`` asks for the median within 2 years, days or milliseconds, if users are spread evenly over
    the items; where they are twice as dense, the interval is half as wide.
    """

    quantile: float | str
    within: float | str
    confidence: float | str = 0.95

    def __post_init__(self) -> None:
        _settle(self, quantile=False, confidence=False)
        object.__setattr__(self, "within", _distance(self.within))

    @property
    def text(self) -> str:
        """Target in words."""
        return self.told(f"{float(self.within):,g}")

    def told(self, distance: str) -> str:
        """Target in words, with the distance in the units of the domain."""
        return f"{quantile_name(self.quantile)} within {distance} with {percent(self.confidence)} confidence"


def quantile_name(quantile: float | str) -> str:
    """A quantile of a target in words.

    >>> quantile_name(0.5), quantile_name(0.95)
    ('the median', 'the 0.95 quantile')
    """
    return "the median" if float(quantile) == 0.5 else f"the {float(quantile):g} quantile"


Target = Within | Above | QuantileWithin


def _distance(given: object) -> float:
    name = Setting("quantile_within", python="within")
    number = given
    if isinstance(given, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:[eE]-?[0-9]{1,3})?)\s*", given)
        if match is None:
            raise ParameterError(
                Words(name, f": expected a number in the units of the values, such as 2, got {shown(given)}")
            )
        number = float(match[1])
    if isinstance(number, bool) or not isinstance(number, Real):
        raise ParameterError(Words(name, ": expected a number in the units of the values, got ", kind_of(given)))
    if not 0 < float(number) < inf:
        raise ParameterError(Words(name, f": expected a positive number, got {shown(given)}"))
    return float(number)


def _settle(target: object, **zero_is_fine: bool) -> None:
    for name, zero in zero_is_fine.items():
        object.__setattr__(target, name, share_of(name, getattr(target, name), zero=zero))


_SHARE = "expected a share such as 0.005 or 0.5%"


def share_of(name: str, given: object, *, zero: bool = False) -> float:
    """Share of the users in a target, from a number below 1 or a text such as "0.5 %"."""
    number = given
    if isinstance(given, str):
        match = re.fullmatch(r"\s*±?\s*([0-9]*\.?[0-9]+(?:[eE]-?[0-9]{1,3})?)\s*(%?)\s*", given)
        if match is None:
            raise ParameterError(Words(Setting(name), f": {_SHARE}, got {shown(given)}"))
        number = float(match[1]) / (100 if match[2] else 1)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise ParameterError(Words(Setting(name), f": {_SHARE}, got ", kind_of(given)))
    share = float(number)
    if not (0 < share < 1 or (zero and share == 0)):
        hint = (
            f'; {shown(given)} percent are "{given} %"' if isinstance(given, int | float) and 1 <= given < 100 else ""
        )
        raise ParameterError(Words(Setting(name), f": expected a share between 0 and 1, got {shown(given)}{hint}"))
    return share


def bytes_of(given: object) -> int:
    """Memory limit beside a target, in bytes, from a number or a text such as "500 MB"."""
    if not isinstance(given, str):
        return whole_number("memory", given, 1, 2**60)
    match = re.fullmatch(r"\s*([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([a-zA-Z]*)\s*", given)
    if match is None or match[2].lower() not in _UNITS:
        raise ParameterError(Words(Setting("memory"), f": expected bytes, or a size such as 500MB, got {shown(given)}"))
    return whole_number("memory", int(Fraction(match[1]) * _UNITS[match[2].lower()]), 1, 2**60)


def two_sided(confidence: float, intervals: int = 1) -> float:
    """Half the width of a target's interval in standard errors, if all ``intervals`` hold at once."""
    return -NormalDist().inv_cdf((1 - confidence) / (2 * intervals))


def one_sided(confidence: float, items: int = 1) -> float:
    """Standard errors of a one-sided target: the number that none of ``items`` items exceeds by chance."""
    return -NormalDist().inv_cdf((1 - confidence) / items)
