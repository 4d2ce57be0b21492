"""Do reports agree with each other as honest ones do? Tests that redundancy gives for free, with one false-alarm rate.

Fake reports that are consistent, and as many of them as look like honest holders, pass every test: nobody can tell them
from reports of people who have the item. Derivation and power: docs/adr/0044-fake-reports.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

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
"""Least expected number of reports in a bin of the chi-square test."""


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
            lines.append(f"  {check.name:<{width}}  p = {check.p_value:.2g}{alarm}")
        return "\n".join(lines)


@runtime_checkable
class Agreeing(Protocol):
    """A decoder that knows some answers twice, from the reports of different users."""

    def disagreements(self, evidence: Any, n: int, /) -> dict[str, Floats]:
        """Differences of answers from different users, in standard errors, by what is compared."""
        ...


@runtime_checkable
class ShowsSupport(Protocol):
    """A scheme whose reports support items independently of each other."""

    def supports_each(self, reports: Reports, codes: Codes) -> npt.NDArray[np.bool_]:
        """[report, item]: whether each report supports each of the encoded items."""
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
    """The tests of a diagnosis for differences in standard errors; each allows for all differences of its kind."""
    return [Check(name, min(1.0, z.size * _two_sided(float(np.abs(z).max())))) for name, z in found.items() if z.size]


def total_checks(oracle: Any, tables: Sequence[tuple[Any, int]]) -> list[Check]:
    """The test of a diagnosis whether the counts of all items add up to the number of reports, over all tables."""
    n = sum(users for _, users in tables)
    size, shows = oracle.domain.size, isinstance(oracle, ShowsSupport)
    if not n or size is None or not shows:
        return []
    decoder = oracle.estimator()
    assert isinstance(decoder, Estimator)
    law = law_of(decoder)
    beyond = sum(float(decoder.values(cells, users, None).sum()) - users for cells, users in tables)
    error = sqrt(law.of_total(size).at(n, n))
    return [Check("the sum of all counts", _two_sided(beyond / error))]


def diagnose_reports(scheme: Any, reports: Reports, rate: float = 0.01) -> Diagnosis:
    """Test whether reports agree with each other as honest ones do, beyond what ``tally.diagnose`` can see.

    Reports of unary encoding and local hashing show which items each of them supports. Fakes that raise several items
    at once support them together; honest reports support different items independently. ``rate`` is the probability
    that honest reports raise any alarm.
    """
    level, records = expect_rate(rate), scheme.accept(reports)
    tally = scheme.accumulator()
    tally.add(records)
    checks = list(tally.checks())
    if len(records) and scheme.domain.size is not None and isinstance(scheme, ShowsSupport):
        checks += _support_checks(scheme, records, tally)
    return Diagnosis(tuple(checks), level)


def _support_checks(scheme: Any, reports: Reports, tally: Any) -> list[Check]:
    counts = tally.scores()
    order = np.argsort(-counts, kind="stable")[: TOGETHER[-1]].astype(np.uint64)
    pairs = np.zeros((len(order), len(order)))
    for first in range(0, len(reports), _CHUNK):
        pairs += _supported_together(scheme.supports_each(reports[first : first + _CHUNK], order))
    checks = [_together(pairs, len(reports))]
    law = getattr(scheme, "law_of_ones", None)
    if law is not None:
        checks.append(_numbers_of_ones(scheme.ones(reports), law(), len(reports)))
    return checks


def _supported_together(seen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    # Number of reports that support both items of each pair. A product of matrices would take the threads of a library
    # for linear algebra, which slow each other down on a busy machine.
    columns = np.packbits(np.ascontiguousarray(seen.T), axis=1)
    words = np.pad(columns, ((0, 0), (0, -columns.shape[1] % 8))).view(np.uint64)
    pairs = np.zeros((len(words), len(words)), dtype=np.int64)
    for place, own in enumerate(words):
        pairs[place, place:] = np.bitwise_count(own & words[place:]).sum(axis=1, dtype=np.int64)
    return pairs + np.triu(pairs, 1).T


def _together(pairs: Floats, n: int) -> Check:
    # Reports of honest users support two items together as often as the product of their shares says, or, if both have
    # holders, less often. The largest items come first; the number of targets is unknown, so several are tried.
    counts = np.diag(pairs)
    shares = counts / n
    beyond, noise = pairs - np.outer(counts, counts) / n, shares * (1 - shares)
    sizes = [size for size in TOGETHER if size <= len(counts)] or [len(counts)]
    chances = []
    for size in sizes:
        total = float(beyond[:size, :size].sum() - np.diag(beyond)[:size].sum())
        variance = 2 * n * (float(noise[:size].sum()) ** 2 - float((noise[:size] ** 2).sum()))
        chances.append(erfc(total / sqrt(2 * variance)) / 2 if variance > 0 else 1.0)
    return Check("items supported together", min(1.0, len(sizes) * min(chances)))


def _numbers_of_ones(numbers: npt.NDArray[np.int64], law: Floats, n: int) -> Check:
    # Chi-square, with neighbouring numbers joined until enough reports are expected in each bin.
    seen, expected = np.bincount(numbers, minlength=len(law)).astype(np.float64), n * law
    bins, joined = np.zeros(len(law), dtype=np.int64), 0.0
    for place, own in enumerate(expected.tolist()):
        bins[place] = bins[place - 1] + (joined >= _EXPECTED) if place else 0
        joined = own + (joined if joined < _EXPECTED else 0.0)
    if joined < _EXPECTED and bins[-1]:
        bins[bins == bins[-1]] -= 1
    observed, wanted = np.bincount(bins, seen), np.bincount(bins, expected)
    degrees = len(wanted) - 1
    statistic = float(((observed - wanted) ** 2 / wanted).sum())
    return Check("ones in each report", chi_square_tail(statistic, degrees) if degrees else 1.0)


def _two_sided(z: float) -> float:
    return erfc(abs(z) / sqrt(2))
