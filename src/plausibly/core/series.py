"""A repeated question: the counts of items in every slot of a series, and their means over several slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .arguments import whole_number
from .basis import Basis
from .derived import Derived, aligned_with
from .errors import ParameterError, StateError
from .estimates import Estimates
from .laws import Floats, of_sum
from .measured import expect_level, normal_interval
from .wording import plural
from .words import Setting, Words

if TYPE_CHECKING:
    from pandas import DataFrame


MOST_SLOTS = 2**53


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """Numbers of users who have each item, slot by slot, each with its variance; or the shares of the users.

    Each user reports in one of ``rota`` consecutive slots, from an offset drawn once (docs/series.md). ``values`` and
    ``variance`` have a row for each of the ``slots`` and a column for each of the ``items``; ``reports`` are those of
    each slot. ``over`` is the number of slots in each mean; a mean is that of its slot and of the slots before it.
    """

    slots: npt.NDArray[np.int64]
    items: npt.NDArray[Any]
    values: Floats
    variance: Floats
    reports: npt.NDArray[np.int64]
    rota: int
    percent: bool = False
    """Whether the values are shares of the users, not counts."""
    over: int = 1
    lottery: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """The part of the variance that comes from the draw of the users who report in a slot."""
    shared: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """The part of the variance that all slots may share: from public hash functions, or from the memos of users."""
    memo: bool = False
    """Whether the reports of a user come from a memo."""

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def users(self) -> int | None:
        """Number of users: the reports of the last ``rota`` slots, which hold one of each; None if slots are missing.

        This counts the users whose devices were able to report in their slots.
        """
        last = self.reports[-self.rota :]
        whole = len(self) >= self.rota and self.slots[-1] - self.slots[-self.rota] == self.rota - 1
        return int(last.sum()) if whole and self.over == 1 else None

    @property
    def standard_error(self) -> Floats:
        """Standard error of every number in the series."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of the confidence interval of every number in the series, not clipped."""
        return normal_interval(self.values, self.variance, 1 - expect_level(level))

    def shares(self) -> Series:
        """The series as shares of the users, from those who reported in each slot.

        Given the number of reports, their senders are a random sample of all users without repeats. The share in the
        sample has no error from the number of users who happened to draw the slot, and is closer than count / users.
        """
        if self.percent or self.over > 1:
            raise StateError("expected the counts of single slots, got shares or means; take the shares first")
        n = self.reports[:, np.newaxis].astype(np.float64)
        scale = n * self.rota
        values, coins = self.values / scale, self.variance - self.lottery
        held = np.clip(values, 0.0, 1.0)
        lottery = held * (1 - held) / n * (scale - n) / np.maximum(scale - 1, 1)
        return replace(
            self,
            values=values,
            variance=coins / scale**2 + lottery,
            lottery=lottery,
            shared=self.shared / scale**2,
            percent=True,
        )

    def mean(self, slots: int) -> Series:
        """Moving means: the mean of every ``slots`` consecutive slots, at the last of them.

        The coins of different slots are independent. A user who has the item in two slots reports in at most one of
        them, so that the draw makes their counts vary against each other. How many users there are of this kind is
        unknown; the variance is an upper bound, reached if nobody has the item in two slots of a mean
        (docs/adr/0043-rota.md).
        """
        whole_number("slots", slots, 1, MOST_SLOTS)
        if self.over > 1:
            raise StateError("expected a series of single slots, got means")
        ends = [end for end in range(slots - 1, len(self)) if self.slots[end] - self.slots[end - slots + 1] < slots]
        if not ends:
            raise StateError(f"expected {plural(slots, 'consecutive slot')} for a mean, got no run as long as that")
        starts = np.array(ends) - slots + 1
        return replace(
            self,
            slots=self.slots[ends],
            values=_sums(self.values, starts, slots) / slots,
            variance=self._of_sums(starts, slots) / slots**2,
            reports=np.array([self.reports[start : start + slots].sum() for start in starts.tolist()]),
            over=slots,
        )

    def change(self, first: int, last: int) -> Derived:
        """Differences from one slot to another, with their variances.

        A user who has the item in both slots is counted in one of them at most, which makes the difference vary
        more than two independent samples would. The variance is an upper bound, reached if as many users as
        possible have the item in both slots. Errors of memos cancel, for users who keep their item: for a smaller
        variance, use ``changes`` with ``stayed``.
        """
        one, other = (self._row(slot) for slot in (first, last))
        if one == other or self.over > 1:
            raise ParameterError("expected two different slots of a series, not of its means")
        both = np.zeros(len(self.items))
        if (last - first) % self.rota:
            # Two slots of one window: the samples have no user in common.
            low, high = (side(self._held(one), self._held(other)) for side in (np.minimum, np.maximum))
            both = low * (1 - high) / self._further_users(one, other) if self.percent else low
        shared = np.zeros_like(self.shared) if self.memo else self.shared
        apart = of_sum(*([part[one], part[other]] for part in (self.variance, shared)))
        of = "shares" if self.percent else "counts"
        values = self.values[other] - self.values[one]
        return Derived(self.items, values, apart + 2 * both, f"differences of {of}", "difference", percent=self.percent)

    def of(self, item: Any) -> Series:
        """The series of one item."""
        places = [place for place, each in enumerate(self.items.tolist()) if each == item]
        if not places:
            raise ParameterError(f"expected one of the {len(self.items):,} items of the series, got another")
        return self.taken(np.array(places[:1]))

    def taken(self, places: npt.NDArray[np.intp]) -> Series:
        """The series of some items, by their places."""
        columns = {name: getattr(self, name)[:, places] for name in ("values", "variance")}
        if self.over == 1:
            columns |= {name: getattr(self, name)[:, places] for name in ("lottery", "shared")}
        return replace(self, items=self.items[places], **columns)

    def columns(self, level: float = 0.95) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table of the series, by name: a row for each slot and item."""
        low, high = self.interval(level)
        width, length = len(self.items), len(self)
        numbers = {"estimate": self.values, "standard_error": self.standard_error, "low": low, "high": high}
        return {
            "slot": np.repeat(self.slots, width),
            "item": np.tile(self.items, length),
            **{
                ("share" if name == "estimate" and self.percent else name): each.ravel()
                for name, each in numbers.items()
            },
            "reports": np.repeat(self.reports, width),
        }

    def to_frame(self, level: float = 0.95) -> DataFrame:
        """The series as a pandas DataFrame: a row for each slot and item."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install pandas") from error
        return DataFrame(self.columns(level))

    def __repr__(self) -> str:
        of = "shares" if self.percent else "counts"
        means = f", means over {self.over:,} slots" * (self.over > 1)
        size = f"{plural(len(self), 'slot')}, {plural(int(self.reports.sum()), 'report')}" if self.over == 1 else ""
        size = size or plural(len(self), "mean")
        return f"<series of {of} of {plural(len(self.items), 'item')}: {size}, a rota of {self.rota:,}{means}>"

    def _of_sums(self, starts: npt.NDArray[np.intp], slots: int) -> Floats:
        total = _sums(self.variance - self.shared, starts, slots) + _sums(np.sqrt(self.shared), starts, slots) ** 2
        for apart in range(1, slots):
            # Slots at this distance. Each pair counts twice in the square of a sum.
            if apart % self.rota == 0:
                # The same users report in both.
                pairs = np.sqrt(self.lottery[:-apart] * self.lottery[apart:])
            elif self.percent:
                pairs = self._against(apart)
            else:
                continue
            total = total + 2 * _sums(pairs, starts, slots - apart)
        return np.asarray(total)

    def _against(self, apart: int) -> Floats:
        # The largest covariance of the shares in two samples without a common user: if few users have the item twice.
        held = self._held(slice(None))
        first, second = held[:-apart], held[apart:]
        further = np.maximum(self.rota * (self.reports[:-apart] + self.reports[apart:]) / 2 - 1, 1.0)
        return np.asarray(np.minimum(first * second, (1 - first) * (1 - second)) / further[:, np.newaxis])

    def _further_users(self, one: int, other: int) -> float:
        return max(float(self.rota * (self.reports[one] + self.reports[other]) / 2 - 1), 1.0)

    def _held(self, place: int | slice) -> Floats:
        return np.asarray(np.clip(self.values[place], 0.0, 1.0 if self.percent else None))

    def _row(self, slot: int) -> int:
        found = np.flatnonzero(self.slots == slot)
        if not len(found):
            raise ParameterError("expected a slot of the series, got another")
        return int(found[0])


def _sums(rows: Floats, starts: npt.NDArray[np.intp], number: int) -> Floats:
    """The sums of this number of consecutive rows, from each of the starts."""
    before = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    return np.asarray(before[starts + number] - before[starts])


def series(estimates: Mapping[int, Estimates], *, rota: int) -> Series:
    """The numbers of users who have each item, by slot, from the estimates of each slot's reports.

    ``rota``: each user reports in one of this number of consecutive slots, so that a slot's estimates count times
    ``rota``; 1 if everyone reports in every slot, as from a memo.
    """
    whole_number("rota", rota, 1, MOST_SLOTS)
    if not isinstance(estimates, Mapping) or not estimates:
        raise ParameterError("series: expected the Estimates of at least one slot, by slot")
    slots = sorted(whole_number("slot", slot, 0, MOST_SLOTS) for slot in estimates)
    first = estimates[slots[0]]
    rows: list[Estimates] = []
    seen = Basis()
    for slot in slots:
        each = estimates[slot]
        if not isinstance(each, Estimates):
            raise ParameterError("series: expected the Estimates of each slot, got something else")
        if each.basis.memos and rota > 1:
            raise StateError(
                Words(f"slot {slot}: reports from a memo, with which all users report in every slot; expected ")
                + Words(Setting("rota", 1))
            )
        if not each.n:
            raise StateError(f"slot {slot}: no reports; leave it out")
        seen.expect_apart(each.basis)
        seen |= each.basis
        rows.append(each if each is first else aligned_with(first, each))
    values = rota * np.stack([row.values for row in rows])
    lottery = (rota - 1) * np.clip(values, 0.0, None)
    coins = float(rota) ** 2 * np.stack([row.known_variance() for row in rows])
    return Series(
        np.array(slots, dtype=np.int64),
        first.items,
        values,
        coins + lottery,
        np.array([row.n for row in rows], dtype=np.int64),
        rota,
        lottery=lottery,
        shared=float(rota) ** 2 * np.stack([row.shared_with(row.basis, adds=True) for row in rows]),
        memo=any(row.basis.memos for row in rows),
    )
