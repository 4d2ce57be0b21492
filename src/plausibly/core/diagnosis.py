"""Do reports agree with each other as honest ones do? Tests that redundancy gives for free, with one false-alarm rate.

Fake reports that are consistent, and as many of them as look like honest holders, pass every test: nobody can tell them
from reports of people who have the item. Derivation and power: docs/adr/0044-fake-reports.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from .agreeing_rows import InRows, row_chances
from .bounds import TINY, bennett, coins_chance, either_side
from .errors import ParameterError
from .group_numbers import largest_excess
from .independence import chi_square_tail
from .laws import Codes, Estimator, Floats, law_of
from .wording import plural, shown

Reports = npt.NDArray[Any]

TOGETHER = (8, 16, 32, 64)
"""Numbers of the largest items that reports may support together too often."""
_CHUNK = 1 << 16
_EXPECTED = 10.0
"""Least expected number of reports in a bin of numbers of ones."""


@dataclass(frozen=True)
class Check:
    """One test of a diagnosis: what was compared, and the chance that honest reports look at least as odd."""

    name: str
    p_value: float


@dataclass(frozen=True)
class Diagnosis:
    """The results of all tests of a diagnosis, of which honest reports fail any with a probability of ``rate``."""

    checks: tuple[Check, ...]
    rate: float

    @property
    def alarms(self) -> tuple[Check, ...]:
        """The tests of the diagnosis that honest reports rarely fail."""
        return tuple(check for check in self.checks if check.p_value <= self.rate / len(self.checks))

    def __repr__(self) -> str:
        found = f"{len(self.alarms)} of {plural(len(self.checks), 'test')} raise an alarm"
        lines = [f"<diagnosis: {found}; honest reports raise any with a probability of at most {100 * self.rate:g} %>"]
        width = max((len(check.name) for check in self.checks), default=0)
        for check in self.checks:
            alarm = "  alarm" if check in self.alarms else ""
            lines.append(f"  {check.name:<{width}}  p ≤ {check.p_value:.2g}{alarm}")
        return "\n".join(lines)


@runtime_checkable
class Agreeing(Protocol):
    """A decoder that knows some answers twice, from the reports of different users."""

    def disagreements(self, evidence: Any, n: int, /) -> dict[str, Floats]:
        """Chances that answers of different users differ as they do, by what is compared; see ``core.bounds``."""
        ...


@runtime_checkable
class ShowsSupport(Protocol):
    """A scheme whose reports support items independently of each other."""

    def supports_each(self, reports: Reports, codes: Codes) -> npt.NDArray[np.bool_]:
        """[report, item]: whether each report supports each of the encoded items."""
        ...


@runtime_checkable
class ShowsBits(Protocol):
    """A scheme whose reports have a bit for each item, which are independent of each other."""

    def ones(self, reports: Reports) -> npt.NDArray[np.int64]:
        """Number of ones in each report."""
        ...

    def law_of_ones(self) -> Floats:
        """Probability of each number of ones in an honest report, which is the same for all items."""
        ...


@runtime_checkable
class ThroughRows(Protocol):
    """A sketch whose users report a cell of one row through an oracle."""

    def by_row(self, reports: Reports) -> tuple[Any, Sequence[Reports]]:
        """The oracle, and its reports from each row."""
        ...


def expect_rate(rate: object) -> float:
    """The false-alarm rate of a diagnosis. Raises unless it is between 0 and 1."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate < 1:
        raise ParameterError(f"rate: expected a probability between 0 and 1, such as 0.01, got {shown(rate)}")
    return float(rate)


def shares_check(name: str, numbers: Sequence[int], weights: Sequence[int]) -> list[Check]:
    """The test of a diagnosis whether the numbers of reports fit the shares of their senders' public choices."""
    if len(numbers) < 2 or not sum(numbers):
        return []
    return [Check(name, largest_excess(numbers, weights))]


def disagreement_checks(found: dict[str, Floats]) -> list[Check]:
    """The tests of a diagnosis for chances of differences; each allows for all differences of its kind.

    The variances of these are known but with a chance of ``TINY``.
    """
    return [Check(name, min(1.0, chances.size * float(chances.min()) + TINY)) for name, chances in found.items()]


def total_checks(oracle: Any, tables: Sequence[tuple[Any, int]]) -> list[Check]:
    """The test of a diagnosis whether the counts of all items add up to the number of reports, over all tables."""
    n = sum(users for _, users in tables)
    size, shows = oracle.domain.size, isinstance(oracle, ShowsSupport)
    if not n or size is None or not shows:
        return []
    decoder = oracle.estimator()
    assert isinstance(decoder, Estimator)
    name, q, gap = "the sum of all counts", float(decoder.offset), 1 / float(decoder.scale)
    supports = sum(int(decoder.scores(cells, users, None).sum()) for cells, users in tables)
    if isinstance(oracle, ShowsBits):
        return [Check(name, coins_chance(supports, [(n, q + gap), (n * (size - 1), q)]))]
    # A hash function is public, and its sender may know one that supports no item, or every one.
    mean, variance = gap + size * q, float(law_of(decoder).of_total(size).at(n, n)) * gap**2
    ends = np.array([-mean]), np.array([size - mean])
    chance = either_side(np.array([supports - n * mean]), np.array([variance]), *ends)
    return [Check(name, float(chance[0]))]


def row_checks(scheme: Any, cells: Any, numbers: npt.NDArray[np.int64]) -> list[Check]:
    """The test of a diagnosis whether the rows of a sketch, or public hash functions, agree about the items."""
    n = int(numbers.sum())
    if not n or not isinstance(scheme, InRows):
        return []
    counted = scheme.rows_counted(cells, numbers)
    if counted is None:
        return []
    return [Check("rows against each other", min(row_chances(scheme, counted, n), default=1.0))]


def diagnose_reports(scheme: Any, reports: Reports, rate: float = 0.01) -> Diagnosis:
    """Test whether reports agree with each other as honest ones do, beyond what ``tally.diagnose`` can see.

    Reports of unary encoding and local hashing, alone or through a sketch, show which items each of them supports.
    Fakes that raise several items at once support them together; honest reports support different items independently.
    ``rate`` is the probability that honest reports raise any alarm, at most.
    """
    level, records = expect_rate(rate), scheme.accept(reports)
    tally = scheme.accumulator()
    tally.add(records)
    checks = list(tally.checks())
    oracle, rows = scheme.by_row(records) if isinstance(scheme, ThroughRows) else (scheme, [records])
    if len(records) and oracle.domain.size is not None and isinstance(oracle, ShowsSupport):
        checks += _support_checks(oracle, rows)
    return Diagnosis(tuple(checks), level)


def _support_checks(oracle: Any, rows: Sequence[Reports]) -> list[Check]:
    # Those of each row of a sketch, or all together.
    rows = [reports for reports in rows if len(reports)]
    checks = [Check("items supported together", _any_of([_together(oracle, reports) for reports in rows]))]
    if isinstance(oracle, ShowsBits):
        numbers = np.concatenate([oracle.ones(reports) for reports in rows])
        checks.append(_numbers_of_ones(numbers, oracle.law_of_ones()))
    return checks


def _any_of(chances: Sequence[float]) -> float:
    # Independent tests of the same kind: the smallest chance tells fakes in one row, their product those in all rows
    # (Fisher). A chance that is a bound makes both larger.
    if len(chances) == 1:
        return chances[0]
    logs = np.log(np.maximum(chances, np.finfo(np.float64).tiny))
    together = chi_square_tail(-2 * float(logs.sum()), 2 * len(chances))
    return min(1.0, 2 * len(chances) * min(chances), 2 * together)


def _together(oracle: Any, reports: Reports) -> float:
    # Reports of honest users support two items together as often as the product of their shares says, or, if both have
    # holders, less often. The largest items come first; the number of targets is unknown, so several are tried.
    tally, n = oracle.accumulator(), len(reports)
    tally.add(reports)
    counts = tally.scores()
    order = np.argsort(-counts, kind="stable")[: TOGETHER[-1]].astype(np.uint64)
    shares = counts[order] / n
    sizes = [size for size in TOGETHER if size <= len(order)] or [len(order)]
    totals, squares = np.zeros(len(sizes)), np.zeros(len(sizes))
    for first in range(0, n, _CHUNK):
        seen = oracle.supports_each(reports[first : first + _CHUNK], order)
        for place, size in enumerate(sizes):
            own, some = seen[:, :size], shares[:size]
            # Over all pairs of different items, the products of what each is beyond its share.
            pairs = (own.sum(axis=1) - some.sum()) ** 2 - (np.where(own, 1 - 2 * some, 0.0).sum(axis=1) + some @ some)
            totals[place] += pairs.sum()
            squares[place] += pairs @ pairs
    sums = zip(totals.tolist(), squares.tolist(), sizes, strict=True)
    chances = [_chance_of_pairs(total, square, shares[:size], n) for total, square, size in sums]
    return min(1.0, len(sizes) * min(chances))


def _chance_of_pairs(total: float, squares: float, shares: Floats, n: int) -> float:
    # Given the counts, a column of bits is a sample of the reports, and its sum of products with the columns before it
    # has no larger moments than with replacement (Hoeffding 1963). All columns together are a martingale, whose
    # quadratic variation is known as long as its sum is below the total (Freedman 1975). docs/adr/0044-fake-reports.md
    if total <= 0:
        return 1.0
    noise, coins = n * shares * (1 - shares), np.minimum(shares, 1 - shares)
    before = np.cumsum(noise) - noise
    variance = 4 * float(coins @ (before + total))
    most = 2 * float(np.maximum(shares, 1 - shares).sum())
    # Items of one hash function are independent three at a time only; the reports show what four do.
    return float(bennett(total, max(variance, squares), most))


def _numbers_of_ones(numbers: npt.NDArray[np.int64], law: Floats) -> Check:
    # Each bin, and all numbers up to each, by Chernoff's bound. Neighbouring numbers are joined until some reports are
    # expected in each bin: fewer bins make a sharper test.
    n = len(numbers)
    seen, expected = np.bincount(numbers, minlength=len(law)).astype(np.float64), n * law
    bins, joined = np.zeros(len(law), dtype=np.int64), 0.0
    for place, own in enumerate(expected.tolist()):
        bins[place] = bins[place - 1] + (joined >= _EXPECTED) if place else 0
        joined = own + (joined if joined < _EXPECTED else 0.0)
    if joined < _EXPECTED and bins[-1]:
        bins[bins == bins[-1]] -= 1
    observed, wanted = np.bincount(bins, seen), np.bincount(bins, law)
    if len(wanted) == 1:
        return Check("ones in each report", 1.0)
    events = [
        *zip(observed.tolist(), wanted.tolist(), strict=True),
        *zip(np.cumsum(observed).tolist()[:-1], np.cumsum(wanted).tolist()[:-1], strict=True),
    ]
    chances = [coins_chance(round(ones), [(n, min(1.0, chance))]) for ones, chance in events]
    return Check("ones in each report", min(1.0, len(events) * min(chances)))
