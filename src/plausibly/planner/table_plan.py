"""A plan for records of several attributes: schemes are compared by the cells of tables of two attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, sqrt
from typing import Any, cast

import numpy as np

from ..catalog import CATALOG
from ..core.bound import Workload
from ..core.domain import Table
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..core.tables_only import TablesOnly
from ..core.wording import percent, plural
from ..core.words import Setting, Words
from ..tables.attributed import expect_few_cells
from .candidates import Kinds, of_tables
from .devices import device_notes
from .needed import SolvedAim, settle
from .options import Option
from .prediction import Prediction
from .reasons import why_first, why_not
from .recommendation import Choice, Plan
from .skew import Skew
from .targets import Within, share_of, two_sided

_ALMOST_NOTHING = 0.25
"""Half-width of a cell's interval from which on a collection is hardly worth it."""
_APART = (
    "Splitting epsilon over the questions (SPL), or sampling one question (SMP), gives tables of single attributes "
    "only. If these are all you need, SMP has the lowest error."
)


@dataclass(frozen=True)
class TablePrediction(Prediction):
    """Predicted variances of the cells of tables of two attributes, if users are spread evenly over them."""

    @property
    def assumes(self) -> bool:
        return False

    @cached_property
    def cells(self) -> dict[int, float]:
        """Predicted mean variance of a cell per user, in tables of one and of two attributes."""
        decoder = cast(TablesOnly, self.scheme.estimator())
        laws = {count: [decoder.law_at(places) for places in decoder.known_tables(count)] for count in (1, 2)}
        return {count: float(np.mean([law.even_variance() for law in own])) for count, own in laws.items()}

    def variance(self, n: int, frequency: float = 0.0) -> float:
        """Predicted mean variance of a cell of a table of one attribute."""
        return n * self.cells[1]

    def mean_variance(self, n: int) -> float:
        """Predicted mean variance of a cell of a table of two attributes."""
        return n * self.cells[2]

    @property
    def times_bound(self) -> float:
        """The predicted variance of cells as a multiple of the least possible one; infinite without a bound."""
        sizes = cast(Table, self.scheme.domain).sizes
        bound = Workload.of_tables(sizes).bound(float(self.scheme.epsilon))
        return self.cells[2] / bound if bound else inf


@dataclass(frozen=True)
class TableAim(SolvedAim):
    """The aim of a plan for records: the mean over the cells of all tables of two attributes."""

    def measure(self, prediction: Prediction, n: int) -> float:
        return prediction.mean_variance(n)

    def reached(self, measure: float, n: int) -> float:
        target = self.target
        assert isinstance(target, Within)
        return two_sided(float(target.confidence), self.cells if target.every else 1) * sqrt(measure) / n

    @property
    def cells(self) -> int:
        """Number of the cells of all tables of two attributes that the plan is about."""
        sizes = cast(Table, self.domain).sizes
        return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2

    @property
    def asked(self) -> int:
        return self.cells

    def options(self, epsilon: Fraction, n: int, *, complete: bool = True) -> list[Option]:
        found = _compared(
            tuple(CATALOG.values()), cast(Table, self.domain), epsilon, self.limits.most_memory, self.skew
        )
        if not found:
            sizes = cast(Table, self.domain).sizes
            largest = sorted(sorted(range(len(sizes)), key=lambda place: sizes[place])[-2:])
            expect_few_cells(cast(Table, self.domain), tuple(largest))
            raise ParameterError(
                f"epsilon: {float(epsilon):.3g} is too small for 64-bit probabilities; use a larger epsilon, fewer "
                "items or wider bins"
            )
        return [self._option(prediction, n) for prediction in found]


@lru_cache(maxsize=64)
def _compared(kinds: Kinds, table: Table, epsilon: Fraction, memory: int, skew: Skew) -> tuple[TablePrediction, ...]:
    schemes = of_tables(kinds, table, epsilon, memory)
    return tuple(TablePrediction(scheme, skew) for scheme in schemes if _knows_pairs(scheme))


def _knows_pairs(scheme: Scheme) -> bool:
    decoder = scheme.estimator()
    pairs = len(cast(Table, scheme.domain).names)
    return isinstance(decoder, TablesOnly) and len(list(decoder.known_tables(2))) == pairs * (pairs - 1) // 2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TablePlan(Plan):
    """The plan of a collection of records; errors are for users who are spread evenly over the cells of each table.

    ``best.error`` is the root mean squared error over the cells of all tables of two attributes. ``times_bound``: its
    square as a multiple of the least possible one.
    """

    prediction: TablePrediction
    times_bound: float

    def cell_half_width(self, confidence: float | str = 0.95, *, attributes: int = 2) -> float:
        """Half-width of the recommended scheme's interval for a cell, on average, as a share of users."""
        z = two_sided(share_of("confidence", confidence))
        return z * sqrt(self.users * self.prediction.cells[attributes]) / self.users

    @property
    def _half_widths(self) -> dict[str, float]:
        return {"cell": self.cell_half_width(), "single attribute": self.cell_half_width(attributes=1)}

    def to_dict(self) -> dict[str, Any]:
        """The plan for records with the definition of its scheme, JSON-ready."""
        return super().to_dict() | {"times_bound": self.times_bound}

    @property
    def _target_text(self) -> str:
        assert isinstance(self.target, Within)
        together = ", all cells of all tables at once" if self.target.every else ""
        sure = f"with {percent(self.target.confidence)} confidence"
        return f"±{percent(self.target.share)} for a cell of a table of two attributes {sure}{together}"

    @property
    def verdict(self) -> str:
        """How well the recommended scheme knows the cells of tables, in one sentence."""
        half = self.cell_half_width(self.confidence)
        known = f"a cell of a table of two attributes is known to ±{percent(half)} of the users"
        if half >= _ALMOST_NOTHING:
            return f"This plan shows almost nothing: {known}."
        return f"{known[0].upper()}{known[1:]}, on average over all tables."

    def facts(self) -> list[tuple[str, str]]:
        """Expected errors of tables, and costs, as names and values."""
        best, sure = self.best, percent(self.confidence)
        pair, single = (self.cell_half_width(self.confidence, attributes=count) for count in (2, 1))
        bound = f"{self.times_bound:.2f} times the least possible variance of these cells"
        return [
            *self._targeted(),
            (
                "error",
                f"±{best.error:,.0f} users, {percent(best.error / self.users)} (RMSE over all cells of two attributes)",
            ),
            (
                f"{sure} interval",
                f"±{percent(pair)} for a cell of two attributes, ±{percent(single)} for a single attribute",
            ),
            ("best possible", bound if self.times_bound < inf else "unknown: the bound is 0 for this ε"),
            *self._paid("the count of a cell"),
            ("assumed", "users are spread evenly over the cells of every table"),
        ]


def planned_tables(aim: TableAim, n: int | None, epsilon: Fraction | None) -> TablePlan:
    """The plan for records; with a target, the number of users or the epsilon that it needs."""
    if aim.target is not None and not isinstance(aim.target, Within):
        within = Setting("within", "1 %", python='Within("1 %")')
        raise ParameterError(Words("target: expected ", within, " for records of several attributes, got another kind"))
    settled = settle(aim, n, epsilon)
    n, epsilon, first, options = settled.users, settled.epsilon, settled.first, settled.options
    prediction = first.prediction
    assert isinstance(prediction, TablePrediction)
    others = [option for option in options if option is not first]
    return TablePlan(
        users=n,
        epsilon=epsilon,
        solved=settled.solved,
        target=aim.target,
        limits=aim.limits,
        skew=aim.skew,
        best=_choice(first, n, why_first(first, settled.allowed)),
        runners_up=tuple(_choice(option, n, why_not(option, first, aim)) for option in others),
        finds=1.0,
        notes=(*_notes(first, aim), *device_notes(first.scheme)),
        prediction=prediction,
        times_bound=prediction.times_bound,
    )


def _choice(option: Option, n: int, reason: str) -> Choice:
    return TableChoice(option.scheme, sqrt(option.measure), option.costs, option.scheme.influence(), reason)


class TableChoice(Choice):
    """A scheme for records, with the number of attributes that users report together."""

    @property
    def name(self) -> str:
        decoder = cast(TablesOnly, self.scheme.estimator())
        most = max(count for count in (1, 2, 3, 4) if any(True for _ in decoder.known_tables(count)))
        return f"{self.scheme.name} of {most}"


def _notes(first: Option, aim: TableAim) -> Sequence[str]:
    table = cast(Table, aim.domain)
    return (
        f"Every user sends one report, about some of the {plural(len(table.names), 'attribute')}; which ones is drawn "
        "without looking at the record. All tables of one and two attributes are estimated from all reports together.",
        _APART,
        "ε is for the whole record of a user; several reports add up.",
    )
