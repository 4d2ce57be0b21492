"""What changed from one crowd to another: shares of items, with a level for all items together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .derived import Derived, Shares, Whose
from .errors import ParameterError
from .estimates import Estimates, Floats
from .measured import SHOWN, expect_level
from .notebook import Bar, html_table
from .wording import plural, shown, visible
from .words import Setting, Words

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class Changes:
    """Shares of items before and after, their differences, and which of them changed.

    The intervals of all differences contain the truth at once with probability ``level``. An item is ``changed`` if its
    interval does not contain 0: the chance that any item without a change is called changed is at most 1 - level.
    """

    before: Shares
    after: Shares
    difference: Derived
    level: float

    def __len__(self) -> int:
        return len(self.difference)

    @property
    def items(self) -> npt.NDArray[Any]:
        """The items whose shares are compared for changes."""
        return self.difference.items

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of the intervals of the changes, which hold for all items together."""
        return self.difference.interval(self.level, together=True)

    @cached_property
    def changed(self) -> npt.NDArray[np.bool_]:
        """Mask of the items with changes that noise does not explain."""
        low, high = self.interval
        return np.asarray((low > 0) | (high < 0))

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """Places of the items: those with changes first, then by the size of the difference in standard errors."""
        errors = np.sqrt(self.difference.known_variance())
        sizes = np.abs(self.difference.values) / np.where(errors > 0, errors, 1.0)
        return np.lexsort((-sizes, ~self.changed))

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of numbers of the changes, by name; shares are fractions."""
        low, high = self.interval
        return {
            "before": self.before.values,
            "after": self.after.values,
            "difference": self.difference.values,
            "standard_error": np.sqrt(self.difference.known_variance()),
            "low": low,
            "high": high,
            "changed": self.changed,
        }

    def to_frame(self) -> DataFrame:
        """The changes as a pandas DataFrame, in the order of the items."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas") from error
        return DataFrame({"item": self.items, **self.columns()})

    def _repr_html_(self) -> str:
        # For notebooks: changed items first.
        low, high = self.interval
        bars = []
        for place in self.order[:SHOWN].tolist():
            ends = float(low[place]), float(high[place])
            numbers = self.before.values[place], self.after.values[place], self.difference.values[place]
            texts = [*map(self.difference.written, numbers), "[{}, {}]".format(*map(self.difference.written, ends))]
            bars.append(Bar(visible(self.items[place]), texts, float(numbers[2]), ends, not self.changed[place]))
        header = ["item", "before", "after", "difference", f"{100 * self.level:g} % interval, all items together"]
        empty = ["Hollow bars: the interval contains 0, and the data cannot tell whether the item changed."]
        empty *= not self.changed[self.order[:SHOWN]].all()
        more = [f"… and {len(self) - SHOWN:,} more"] * (len(self) > SHOWN)
        return html_table(repr(self).strip("<>"), header, bars, [*more, *empty])

    def __repr__(self) -> str:
        number = int(self.changed.sum())
        return (
            f"<changes of {plural(len(self), 'item')}: {number:,} changed, at a joint level of {100 * self.level:g} %>"
        )


def changes(
    before: Estimates, after: Estimates, *, level: float = 0.95, same_users: bool = False, stayed: float = 0.0
) -> Changes:
    """What changed between two collections: differences of shares, with intervals that hold for all items together.

    Each crowd is taken for a random sample of its population, so that a difference that two samples of one population
    show by chance is no change. ``same_users``: the same users reported both times, and only the noise is random.
    Raises if their numbers differ. ``stayed``: with a memo, the share of these users who have the same item both times,
    at least. Their memos add the same error on both days, so the intervals are narrower.
    """
    if not (isinstance(before, Estimates) and isinstance(after, Estimates)):
        raise ParameterError("changes: expected two Estimates, got something else")
    if same_users and before.n != after.n:
        expected = f": expected as many reports after as before, got {after.n:,} and {before.n:,}; leave it out"
        raise ParameterError(Words(Setting("same_users"), f"{expected} if some users reported only once"))
    whose: Whose = "crowd" if same_users else "population"
    one, other = before.shares(whose), after.shares(whose)
    difference = other.aligned(one.items) - one
    if stayed:
        covariance = _of_memos(before, after.aligned(before.items), stayed, same_users)
        difference = replace(difference, variance=difference.known_variance() - 2 * covariance / before.n**2)
    return Changes(one, other.aligned(one.items), difference, expect_level(level))


def _of_memos(before: Estimates, after: Estimates, stayed: float, same_users: bool) -> Floats:
    # The least covariance of both days: users who changed add nothing, and as many holders stayed as make it least.
    memo, n = before.basis.memo, before.n
    if not isinstance(stayed, int | float) or not 0 <= stayed <= 1:
        raise ParameterError(Words(Setting("stayed"), f": expected a share between 0 and 1, got {shown(stayed)}"))
    if not same_users or memo is None or memo != after.basis.memo:
        raise ParameterError(
            Words(Setting("stayed"), ": expected the same users in two collections of one scheme with a memo, and ")
            + Words(Setting("same_users", True), ", got something else; leave it out")
        )
    days = np.clip([before.values, after.values], 0, n)
    fewest = np.maximum(days.min(axis=0) - (1 - stayed) * n, 0)
    return np.asarray(memo.at(stayed * n, days.max(axis=0) if memo.per_holder < 0 else fewest))
