"""A plan for values that have an order: schemes are compared by ranges, or by a quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from ..catalog import CATALOG
from ..core.domain import InOrder
from ..core.errors import ParameterError
from ..core.words import Setting, Words
from ..ordered.levels import MOST_ITEMS
from .candidates import Kinds, in_order
from .devices import device_notes
from .needed import SolvedAim, settle
from .options import Option
from .ordered_prediction import OrderedPrediction, half_item, half_range, linear_law
from .ordered_recommendation import OrderedPlan
from .prediction import Prediction, smallest_found
from .reasons import why_first, why_not
from .recommendation import Choice
from .skew import Skew
from .targets import QuantileWithin, Within, two_sided

_PUBLISHED = "Cormode, Kulkarni and Srivastava (VLDB 2019)"
_TREES = ("HH", "HAAR")


@dataclass(frozen=True)
class OrderedAim(SolvedAim):
    """The aim of a plan for ordered values: the mean over all ranges, or one quantile."""

    order: InOrder

    def measure(self, prediction: Prediction, n: int) -> float:
        assert isinstance(prediction, OrderedPrediction)
        if isinstance(self.target, QuantileWithin):
            return prediction.quantile_variance(n, float(self.target.quantile))
        return prediction.mean_variance(n)

    def reached(self, measure: float, n: int) -> float:
        target = self.target
        if isinstance(target, QuantileWithin):
            room = two_sided(float(target.confidence)) * sqrt(measure) / n
            return half_range(self.order, float(target.quantile), room)
        assert isinstance(target, Within)
        ranges = self.order.length * (self.order.length + 1) // 2
        return two_sided(float(target.confidence), ranges if target.every else 1) * sqrt(measure) / n

    @property
    def goal(self) -> float:
        return float(self.target.within) if isinstance(self.target, QuantileWithin) else super().goal

    def options(self, epsilon: Fraction, n: int, *, complete: bool = True) -> list[Option]:
        found = self.compared(epsilon).predictions
        if not found:
            raise ParameterError(
                f"epsilon: {float(epsilon):.3g} is too small: 64-bit probabilities cannot represent it"
            )
        return [self._option(prediction, n) for prediction in found]

    def compared(self, epsilon: Fraction) -> _Compared:
        """The schemes of the catalogue for ordered values, with and without a law of ranges."""
        return _compared(tuple(CATALOG.values()), self.order, epsilon, self.limits.most_memory, self.skew)

    def in_words(self, reached: float) -> str:
        """What an option for ordered values reaches, in the units of the target."""
        if isinstance(self.target, QuantileWithin):
            return f"±{self.order.scale.length_text(float(f'{reached:.2g}'))}"
        return super().in_words(reached)


@dataclass(frozen=True)
class _Compared:
    predictions: tuple[OrderedPrediction, ...]
    without: tuple[str, ...]
    """Names of the schemes that have no law of ranges."""


@lru_cache(maxsize=64)
def _compared(kinds: Kinds, order: InOrder, epsilon: Fraction, memory: int, skew: Skew) -> _Compared:
    schemes = in_order(kinds, order, epsilon, memory)
    found = tuple(OrderedPrediction(scheme, skew) for scheme in schemes if linear_law(scheme) is not None)
    without = {scheme.name for scheme in schemes} - {prediction.scheme.name for prediction in found}
    return _Compared(found, tuple(sorted(without)))


def planned_order(aim: OrderedAim, n: int | None, epsilon: Fraction | None) -> OrderedPlan:
    """The plan for ordered values; with a target, the number of users or the epsilon that it needs."""
    _expect_sense(aim)
    settled = settle(aim, n, epsilon)
    n, epsilon, first, options = settled.users, settled.epsilon, settled.first, settled.options
    prediction = first.prediction
    assert isinstance(prediction, OrderedPrediction)
    confidence = 0.95 if aim.target is None else float(aim.target.confidence)
    return OrderedPlan(
        users=n,
        epsilon=epsilon,
        solved=settled.solved,
        target=aim.target,
        limits=aim.limits,
        skew=aim.skew,
        best=_choice(first, n, why_first(first, settled.allowed)),
        runners_up=tuple(_choice(option, n, why_not(option, first, aim)) for option in aim.others(options, first)),
        finds=smallest_found(prediction, n, aim.order.length, confidence),
        notes=(*_notes(first, options, aim, aim.compared(epsilon).without), *device_notes(first.scheme)),
        prediction=prediction,
        times_bound=prediction.times_bound,
    )


def _expect_sense(aim: OrderedAim) -> None:
    target = aim.target
    if isinstance(target, Within) and target.frequency:
        lists = Setting("items", aim.order.size, python=f"plan({aim.order.size}, ...)")
        raise ParameterError(
            Words(
                Setting("frequency"),
                ": expected none for ordered values, whose target is about ranges; for single values use ",
                lists,
            )
        )
    if isinstance(target, QuantileWithin):
        least, text = half_item(aim.order, float(target.quantile)), aim.order.scale.length_text
        if float(target.within) < least:
            half = f": expected at least {text(least)}, half the width of an item, got {float(target.within):g}"
            raise ParameterError(Words(Setting("quantile_within", python="within"), f"{half}; use narrower bins"))


def _choice(option: Option, n: int, reason: str) -> Choice:
    error = sqrt(option.prediction.mean_variance(n))
    return Choice(option.scheme, error, option.costs, option.scheme.influence(), reason)


def _notes(first: Option, options: Sequence[Option], aim: OrderedAim, without: Sequence[str]) -> tuple[str, ...]:
    asked = "the share of users below the quantile" if isinstance(aim.target, QuantileWithin) else "all ranges"
    single = Setting("items", aim.order.size, python=f"plan({aim.order.size}, ...)")
    quantiles = "where users are twice as dense, the interval of a quantile is half as wide."
    found: list[str] = [
        f"Schemes are compared by the squared error of {asked}, for users who are spread evenly over the items. "
        f"The errors of ranges hardly depend on that; {quantiles}",
        f"{_PUBLISHED} publish hierarchical histograms (HH) and a Haar transform (HAAR) for ranges. "
        f"{_published(first, options)}",
        Words("Schemes for the counts of single values only are compared by ", single, "."),
    ]
    if aim.order.length > MOST_ITEMS:
        fewer = Setting("bins", "0..1000/1024", python="Ordered.equal(low, high, 1024)")
        most = f"SLIDE, which is made for ranges, works on at most {MOST_ITEMS:,} items. Use fewer, wider bins: "
        found.insert(0, Words(most, fewer, "."))
    if without:
        have, are = ("has", "is") if len(without) == 1 else ("have", "are")
        found.append(f"{_listed(without)} {have} no exact variance of ranges and {are} not compared.")
    return (*found, "ε is for one report of a user; several reports add up.")


def _published(first: Option, options: Sequence[Option]) -> str:
    found = [option for option in options if option.scheme.name in _TREES]
    if not found:
        return "They are not possible here."
    best = min(found, key=lambda option: option.measure)
    if first.scheme.name in _TREES:
        return f"{first.scheme.name} is the best here, too."
    ratio = f"{best.measure / first.measure:.2f} times the squared error"
    return f"Here {best.scheme.name}, with equal numbers of users for all levels, has {ratio}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
