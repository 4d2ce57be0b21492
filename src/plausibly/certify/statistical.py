"""The statistical audit: a lower bound on what wire records reveal, whatever code made them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.codec import decode_reports, encode_reports
from ..core.errors import ParameterError
from ..core.randomness import RandomLike
from ..core.scheme import Reports, Scheme, expect_scheme
from .certificate import scheme_line

Bits = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class StatisticalAudit:
    """A lower confidence bound on the epsilon of wire records; a bound above the scheme's epsilon is a violation."""

    scheme: Scheme
    lower_bound: float
    confidence: float
    reports: int

    @property
    def consistent(self) -> bool:
        """Whether the statistical audit finds the reports compatible with the scheme's epsilon."""
        return self.lower_bound <= float(self.scheme.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """The result of the statistical audit as JSON values."""
        found = {"lower_bound": self.lower_bound, "confidence": self.confidence, "reports": self.reports}
        return {"consistent": self.consistent, **found, "fingerprint": self.scheme.fingerprint()}

    def __str__(self) -> str:
        verdict = "is consistent with" if self.consistent else "VIOLATES"
        shown = f"{self.reports:,} reports show epsilon >= {self.lower_bound:.4g}"
        return f"{scheme_line(self.scheme)} {verdict} its epsilon: {shown} with confidence {self.confidence:g}"


def audit_statistically(
    scheme: Scheme, *, reports: int = 20_000, confidence: float = 0.999, rng: RandomLike | None = None
) -> StatisticalAudit:
    """Attack the bulk path on wire bytes: bound from below how well some event distinguishes two items.

    Of the ``reports`` of each of three items, one half chooses the event (one or two bits of the record, or which
    item the stated likelihood favours) and the other half bounds its probabilities (Clopper and Pearson 1934). If
    reports are independent, the bound exceeds the true epsilon with probability at most 1 - confidence.
    """
    expect_scheme(scheme)
    numbers = isinstance(reports, Integral) and isinstance(confidence, Real)
    if not numbers or not 0 < confidence < 1 or reports < 8:
        raise ParameterError("expected 0 < confidence < 1 and at least 8 reports")
    codes = scheme.domain.spread(3)
    items = [scheme.domain.number(code) for code in codes]
    seen = {item: _wire_records(scheme, code, reports, rng) for item, code in zip(items, codes, strict=True)}
    pairs = list(combinations(items, 2))
    # Either of two bounds, for both orders of each pair, may be wrong.
    alpha = (1 - confidence) / (4 * len(pairs))
    bound = max(_pair_bound(scheme, pair, seen[pair[0]], seen[pair[1]], alpha) for pair in pairs)
    return StatisticalAudit(scheme, max(0.0, bound), confidence, reports * len(items))


def _wire_records(scheme: Scheme, code: Any, count: int, rng: RandomLike | None) -> Reports:
    reports = scheme.privatize_encoded(np.repeat(np.asarray(code)[None], count, axis=0), rng)
    return decode_reports(scheme, encode_reports(scheme, reports))


def _pair_bound(scheme: Scheme, pair: tuple[int, int], a: Reports, b: Reports, alpha: float) -> float:
    half = len(a) // 2
    events = _events(scheme, pair, a[:half], b[:half])
    trained = [events(reports[:half]).sum(axis=0) for reports in (a, b)]
    tested = [events(reports[half:]).sum(axis=0) for reports in (a, b)]
    bounds = [0.0]
    for likely, unlikely in ((0, 1), (1, 0)):
        event = int(np.argmax(_evidence(trained[likely], trained[unlikely])))
        low = clopper_pearson(int(tested[likely][event]), len(a) - half, alpha)[0]
        high = clopper_pearson(int(tested[unlikely][event]), len(a) - half, alpha)[1]
        bounds += [math.log(low / high)] if low > 0 else []
    return max(bounds)


def _events(scheme: Scheme, pair: tuple[int, int], a: Reports, b: Reports) -> Callable[[Reports], Bits]:
    # The bits, set or not, that best distinguish the reports; any two of them; the item that the likelihood favours.
    count = 8 * scheme.report_dtype.itemsize
    ones = [kernels.column_sums(_bytes(reports), count) for reports in (a, b)]
    zeros = [len(a) - counts for counts in ones]
    evidence = [_evidence(*counts) for counts in (ones, ones[::-1], zeros, zeros[::-1])]
    literals = [divmod(int(i), count) for i in np.argsort(-np.concatenate(evidence), kind="stable")[:12]]

    def columns(reports: Reports) -> Bits:
        raw = _bytes(reports)
        single = [(raw[:, bit >> 3] >> (bit & 7) & 1 == 1) == (kind < 2) for kind, bit in literals]
        double = [x & y for x, y in combinations(single, 2)]
        # The bits of a bitmap can be read directly; those of another record depend on its public part.
        favoured = [] if scheme.layout.split else _favoured(scheme, pair, reports)
        return np.column_stack([*single, *double, *favoured])

    return columns


def _favoured(scheme: Scheme, pair: tuple[int, int], reports: Reports) -> list[Bits]:
    distinct, where = np.unique(_bytes(reports), axis=0, return_inverse=True)
    records = distinct.reshape(-1).view(scheme.report_dtype)
    first, second = (np.array([float(scheme.likelihood(record, item)) for record in records]) for item in pair)
    return [(first > second)[where], (second > first)[where]]


def _evidence(likely: Counts, unlikely: Counts) -> npt.NDArray[np.float64]:
    # Log ratios minus three standard errors: the ratios of rare events are unreliable.
    more, less = likely + 0.5, unlikely + 0.5
    evidence: npt.NDArray[np.float64] = np.log(more / less) - 3 * np.sqrt(1 / more + 1 / less)
    return evidence


def _bytes(reports: Reports) -> npt.NDArray[np.uint8]:
    return np.frombuffer(reports.tobytes(), dtype=np.uint8).reshape(len(reports), -1)


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Statistical lower and upper bounds of a probability, each wrong with probability at most alpha."""
    k = np.arange(trials + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(k[1:]))])
    choose = factorials[-1] - factorials - factorials[::-1]

    def chance(p: float, part: slice) -> float:
        terms = choose[part] + k[part] * math.log(p) + (trials - k[part]) * math.log1p(-p)
        return float(np.exp(terms).sum())

    low = _bisect(lambda p: chance(p, slice(successes, None)) < alpha)[0] if successes else 0.0
    high = _bisect(lambda p: chance(p, slice(successes + 1)) >= alpha)[1] if successes < trials else 1.0
    return low, high


def _bisect(below: Callable[[float], bool]) -> tuple[float, float]:
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high
