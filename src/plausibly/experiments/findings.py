"""Findings: a claim, a predicate over measured curves that checks it, and the verdict with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import hypot, inf, log, sqrt
from typing import Any

import numpy as np

from .evidence import Contrast, Evidence, average, number
from .figure import Row


class Outcome(StrEnum):
    """The outcome of checking a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    REVERSED = "reversed: holds only in the program"
    """The published program shows it; the text's own definitions refute it."""
    DECODER = "holds for the paper's decoder"
    """Text and program show it; a decoder that uses everything in the same reports refutes it."""
    UNCLEAR = "cannot be told"
    """The differences are within their errors."""
    OTHER_DATA = "cannot be told: other data"
    """Printed numbers that ours do not equal; but theirs are of data that we do not have."""
    TOO_FEW = "too few users to tell"
    """Even the best method would hardly find anything in these data."""
    NUMPY = "holds with NumPy kernels"
    """A claim about time that holds with NumPy kernels, which are interpreted, and not with compiled ones."""
    COMPILED = "holds with compiled kernels"
    """A claim about time that holds with compiled kernels, and not with NumPy kernels."""
    OPEN = "not measured"
    FAILED = "not judged: its check failed"
    """The predicate itself raised an error: a mistake in the experiment, not a verdict on the claim."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim: the outcome, the numbers behind it, an explanation, and the rule that decided."""

    outcome: Outcome
    numbers: str
    why: str = ""
    rule: str = ""


@dataclass(frozen=True)
class Mean:
    """A mean over the repeats with its standard error."""

    value: float
    error: float = 0.0
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict, compare=False, repr=False)
    """The values in the repeats, by setting; compared in ``over`` and ``minus``."""

    def below(self, other: Mean) -> bool:
        """Whether this mean is lower by more than three standard errors of the difference.

        With five repeats each, chance alone produces this once in 120 times. For a verdict, use ``over`` and
        ``decided``, which also consider the number of comparisons.
        """
        return self.value + 3 * hypot(self.error, other.error) < other.value

    def over(self, other: Mean) -> Contrast:
        """The ratio of this mean to the other, with its error; infinitely uncertain for values that are not positive.

        Means are geometric here. Lines that read the same reports are compared repeat by repeat.
        """
        return self.contrast(is_ratio=True) - other.contrast(is_ratio=True)

    def minus(self, other: Mean) -> Contrast:
        """The difference from the other mean, with its error."""
        return self.contrast(is_ratio=False) - other.contrast(is_ratio=False)

    def contrast(self, *, is_ratio: bool) -> Contrast:
        """The mean by itself as a contrast: with ``is_ratio`` the geometric mean over the repeats."""
        if not self.samples or (is_ratio and any(value <= 0 for own in self.samples.values() for value in own)):
            start = log(self.value) if is_ratio and self.value > 0 else -inf if is_ratio else self.value
            return Contrast({f"{id(self)}": (start,)}, is_ratio)
        apart = [
            Contrast({setting: tuple(map(log, own)) if is_ratio else own}, is_ratio)
            for setting, own in self.samples.items()
        ]
        return average(apart)

    def __add__(self, other: Mean) -> Mean:
        """The mean of the sum, repeat by repeat; both means must be of the same settings."""
        return _mean(
            {
                setting: tuple(a + b for a, b in zip(own, other.samples[setting], strict=True))
                for setting, own in self.samples.items()
            }
        )

    def __truediv__(self, other: Mean) -> float:
        return self.value / other.value

    def __format__(self, spec: str) -> str:
        return f"{self.value:{spec}}" if spec else number(self.value)


Curve = Mapping[Any, Mean]
"""Means by their x value, in increasing order; a place that was not measured is a ``MissingError``."""

_PLACES = {"epsilon": "epsilon", "domain": "d", "alpha": "alpha", "penalty": "alpha"}


class MissingError(LookupError):
    """A finding needs rows that have not been measured."""


class _Measured(dict[Any, Mean]):
    # A quick run has fewer places than the figure, and a finding may read any of them.
    def __missing__(self, place: Any) -> Mean:
        raise MissingError(f"no measurement at {place}")


class Curves:
    """The rows of some figures, grouped into curves."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, str], list[Row]] = {}
        for row in rows:
            self._rows.setdefault((row["figure"], row["sweep"], row["metric"]), []).append(row)

    def curve(self, figure: str, sweep: str, label: str, metric: str = "mse", **fixed: Any) -> Curve:
        """The curve for a finding: the line with this label over the sweep's setting; ``fixed`` selects rows.

        The name of the sweep up to a comma is the name of the setting.
        """
        kind = sweep.partition(",")[0]  # "width, program" varies the width
        x = _PLACES.get(kind, kind)
        groups: dict[Any, dict[str, list[float]]] = {}
        for row in self._rows.get((figure, sweep, metric), ()):
            if row["label"] == label and all(row.get(name) == value for name, value in fixed.items()):
                place = row.get(x)
                setting = row.get("setting", f"{figure} {sweep} {label} {place}")
                groups.setdefault(place, {}).setdefault(setting, []).append(row["value"])
        if not groups:
            raise MissingError(f"{figure}, {sweep}, {label}, {metric}")
        places = sorted(groups, key=lambda key: (key is None, key))
        return _Measured((place, _mean(groups[place])) for place in places)

    def level(self, figure: str, sweep: str, label: str, metric: str = "mse", **fixed: Any) -> Mean:
        """The mean that a finding reads from a line with a single point, or from the point selected by ``fixed``."""
        (mean,) = self.curve(figure, sweep, label, metric, **fixed).values()
        return mean

    def labels(self, figure: str, sweep: str) -> list[str]:
        """Labels of all lines that a finding can read."""
        found = [
            row["label"] for (one, two, _), rows in self._rows.items() if (one, two) == (figure, sweep) for row in rows
        ]
        return list(dict.fromkeys(found))

    def settings(self, figure: str, sweep: str, name: str) -> set[Any]:
        """All values of a setting that a finding can read."""
        return {
            row.get(name) for (one, two, _), rows in self._rows.items() if (one, two) == (figure, sweep) for row in rows
        }

    def data(self) -> set[str]:
        """Names of all crowds that a finding reads, without their lengths: ``url-clicks`` for ``url-clicks/6``."""
        return {row.get("data", "").partition("/")[0] for rows in self._rows.values() for row in rows}


Check = Callable[[Curves], Verdict]


@dataclass(frozen=True)
class Finding:
    """A claim in our words, its section in the paper, the figures it is checked on, and the predicate."""

    name: str
    section: str
    claim: str
    figures: tuple[str, ...]
    check: Check
    needs: Callable[[Curves], str] | None = None
    """Function that returns why the data are too few to tell, or an empty text."""
    is_timing: bool = False
    """Whether the claim is about time, which says as much about a program as about a protocol."""
    ours: bool = False
    """Whether the claim is ours and not the paper's; it has no section, and is counted separately."""
    source: str = ""
    """Authors and year of another publication that makes the claim: "Ada and Bob (2021)". Counted separately, too."""

    @property
    def of_paper(self) -> bool:
        """Whether the paper that the experiment is about makes the claim of this finding."""
        return not (self.ours or self.source)


class Findings(list[Finding]):
    """A list of findings, filled by the decorator ``about``."""

    def about(
        self,
        section: str,
        claim: str,
        *figures: str,
        needs: Callable[[Curves], str] | None = None,
        is_timing: bool = False,
        ours: bool = False,
        source: str = "",
    ) -> Callable[[Check], Check]:
        """Add the decorated predicate as a finding named after it; it reads the rows of the given figures."""

        def enter(check: Check) -> Check:
            name = check.__name__.replace("_", "-")
            self.append(Finding(name, section, claim, figures, check, needs, is_timing, ours, source))
            return check

        return enter


def verdict(holds: bool, numbers: str, why: str = "", rule: str = "") -> Verdict:
    """The verdict on a finding about exact numbers, such as sizes; measured ones have errors and need ``decided``."""
    return Verdict(Outcome.REPRODUCED if holds else Outcome.NOT_REPRODUCED, numbers, why, rule)


def decided(evidence: Evidence, numbers: str, why: str = "", *, rule: str) -> Verdict:
    """The verdict on a finding by its evidence; ``rule`` says in words what was compared with which bound."""
    if evidence.confirmed:
        outcome = Outcome.REPRODUCED
    else:
        outcome = Outcome.NOT_REPRODUCED if evidence.refuted else Outcome.UNCLEAR
    return Verdict(outcome, numbers, why, f"{rule} ({evidence})")


def judged(findings: Iterable[Finding], rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[Finding, Verdict]]:
    """Each finding with its verdict on the rows of its figures, or "not measured" if rows are missing.

    A check that raises an error is a verdict of its own, so that no mistake in one check loses all other verdicts.
    """
    for finding in findings:
        own = [rows.get(name, ()) for name in finding.figures]
        try:
            if not all(own):
                raise MissingError(finding.name)
            curves = Curves(row for part in own for row in part)
            too_few = finding.needs(curves) if finding.needs is not None else ""
            yield finding, Verdict(Outcome.TOO_FEW, too_few) if too_few else finding.check(curves)
        except MissingError:
            yield finding, Verdict(Outcome.OPEN, "")
        except Exception as error:  # an experiment may be anyone's, and its measurements took hours
            yield finding, Verdict(Outcome.FAILED, f"{type(error).__name__}: {error}")


def _mean(samples: Mapping[str, Sequence[float]]) -> Mean:
    values = [value for own in samples.values() for value in own]
    error = float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return Mean(float(np.mean(values)), error, {setting: tuple(own) for setting, own in samples.items()})
