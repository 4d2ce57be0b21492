"""The measure ``POISONED``: collections with fake reports, and what defences make of them.

A cell is a crowd of honest users; its parameter ``of`` names their scheme. A view has an ``attack`` with a ``share`` of
fakes among all reports and a number of ``targets``, the rarest items, and perhaps a ``defence``: all views of a repeat
have the same honest reports. Gains are in users for each fake: the authors' overall gain divided by the share of fakes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plausibly import Accumulator, SeededRandom, diagnose_reports, make
from plausibly.experiments import Cell, Measured, Metrics, View, crowd

from .attacks import FUNCTIONS, PROTOCOLS, Bits, Protocol, Reports, fake_reports
from .countermeasures import Honest, abnormal_sets, normalized, probably_fake, supporting

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Crowd:
    """The honest users of a cell: their true shares, reports and tally."""

    protocol: Protocol
    shares: Floats
    reports: Reports
    tally: Accumulator

    @cached_property
    def supports(self) -> Bits:
        """[report, item]: whether each honest report supports each item."""
        return self.protocol.supports(self.reports)

    @cached_property
    def frequencies(self) -> Floats:
        """Estimated frequencies without fakes."""
        return _frequencies(self.tally)


@dataclass(frozen=True, eq=False)
class Poisoned:
    """A collection with fake reports."""

    crowd: Crowd
    attack: str
    share: float
    targets: npt.NDArray[np.int64]
    fakes: Reports

    @property
    def protocol(self) -> Protocol:
        """The attacked protocol of the poisoned collection."""
        return self.crowd.protocol

    @cached_property
    def tally(self) -> Accumulator:
        """The tally of all reports, fakes included."""
        tally = self.protocol.scheme.accumulator()
        tally.merge(self.crowd.tally)
        tally.add(self.fakes)
        return tally

    @cached_property
    def reports(self) -> Reports:
        """All reports, the poisoned ones last."""
        return np.concatenate([self.crowd.reports, self.fakes])

    @cached_property
    def supports(self) -> Bits:
        """[report, item]: whether each report, poisoned or not, supports each item."""
        return np.concatenate([self.crowd.supports, self.protocol.supports(self.fakes)])

    @cached_property
    def in_abnormal_sets(self) -> Bits:
        """Which reports support the largest abnormal set of items in the poisoned collection."""
        honest = Honest(self.protocol.p, self.protocol.q, _frequencies(self.tally))
        return supporting(self.supports, abnormal_sets(self.supports, honest))

    @cached_property
    def probably_fake(self) -> Bits:
        """Which reports of the poisoned collection are more probably fake than honest, given all about the attack."""
        numbers, users = self.supports[:, self.targets].sum(axis=1), len(self.crowd.reports)
        honest = Honest(self.protocol.p, self.protocol.q, self.crowd.shares)
        law = honest.of_targets(len(self.targets), self.held)
        if self.protocol.most(len(self.targets)) == 1 < len(self.targets):  # a report supports a single item
            one = float(law @ np.arange(len(law)))
            law = np.array([1 - one, one])
        seen = np.bincount(numbers[users:], minlength=len(law)) / max(1, len(self.fakes))
        return probably_fake(law, seen, self.share)[numbers]

    @property
    def held(self) -> float:
        """Share of honest users who have a target."""
        return float(self.crowd.shares[self.targets].sum())

    def gain(self, frequencies: Floats, before: Floats) -> float:
        """Increase of the sum of the targets' frequencies by the poisoned collection, in users for each fake."""
        return self._for_each_fake(float((frequencies - before)[self.targets].sum()))

    @property
    def law(self) -> Metrics:
        """The gain by law of the attack on the poisoned collection, and the standard deviation of the noise."""
        targets, users = len(self.targets), len(self.crowd.reports)
        if not len(self.fakes):
            return {}
        gain = self.protocol.gain(self.attack, targets, self.share, self.held)
        deviation = self.protocol.deviation(targets, users)
        return {"formula": self._for_each_fake(gain), "deviation": self._for_each_fake(deviation)}

    def _for_each_fake(self, frequency: float) -> float:
        return frequency / self.share if len(self.fakes) else 0.0

    def kept(self, dropped: Bits) -> Accumulator:
        """The tally of the poisoned collection without some reports."""
        tally = self.protocol.scheme.accumulator()
        tally.add(self.reports[~dropped])
        return tally

    def covered(self, tally: Accumulator) -> float:
        """Share of the targets whose true frequency is in the 95 % interval."""
        low, high = tally.estimate().interval()
        return self._contained(low / len(tally), high / len(tally), self.crowd.shares)

    def covered_despite_fakes(self) -> float:
        """Share of the targets whose true count is in the 95 % interval that allows for the poisoned share."""
        low, high = self.tally.estimate().despite_fakes(len(self.fakes) / len(self.tally))
        return self._contained(low, high, self.crowd.shares * len(self.crowd.reports))

    def _contained(self, low: Floats, high: Floats, truth: Floats) -> float:
        return float(((low <= truth) & (truth <= high))[self.targets].mean())


def _frequencies(tally: Accumulator) -> Floats:
    return np.asarray(tally.estimate().values / len(tally))


# --- defences ---------------------------------------------------------------------------------------------------


def _none(made: Poisoned) -> Metrics:
    gain = made.gain(_frequencies(made.tally), made.crowd.frequencies)
    return {"gain": gain, "covered": made.covered(made.tally), **made.law}


def _normalization(made: Poisoned) -> Metrics:
    return {"gain": made.gain(normalized(_frequencies(made.tally)), normalized(made.crowd.frequencies))}


def _itemsets(made: Poisoned) -> Metrics:
    alarm = float(made.in_abnormal_sets.any())
    return _without(made, made.in_abnormal_sets) | {"alarm": alarm, "alarm by itemsets": alarm}


def _itemsets_then_normalization(made: Poisoned) -> Metrics:
    after = normalized(_frequencies(made.kept(made.in_abnormal_sets)))
    return {"gain": made.gain(after, normalized(made.crowd.frequencies))}


def _conditional_probabilities(made: Poisoned) -> Metrics:
    return _without(made, made.probably_fake)


def _without(made: Poisoned, dropped: Bits) -> Metrics:
    users, tally = len(made.crowd.reports), made.kept(dropped)
    return {
        "gain": made.gain(_frequencies(tally), made.crowd.frequencies),
        "covered": made.covered(tally),
        "honest dropped": float(dropped[:users].mean()),
        "fakes dropped": float(dropped[users:].sum() / max(1, len(made.fakes))),
    }


def _tally(made: Poisoned) -> Metrics:
    alarm = float(bool(made.tally.diagnose().alarms))
    return {"alarm": alarm, "alarm by tally": alarm}


def _reports(made: Poisoned) -> Metrics:
    alarm = float(bool(diagnose_reports(made.protocol.scheme, made.reports).alarms))
    return {"alarm": alarm, "alarm by reports": alarm}


def _despite_fakes(made: Poisoned) -> Metrics:
    return {"covered": made.covered_despite_fakes()}


DEFENCES: Mapping[str, Callable[[Poisoned], Metrics]] = {
    "none": _none,
    "normalization": _normalization,
    "itemsets": _itemsets,
    "itemsets, then normalization": _itemsets_then_normalization,
    "conditional probabilities": _conditional_probabilities,
    "tally": _tally,
    "reports": _reports,
    "despite fakes": _despite_fakes,
}
"""The first five are published; ``tally.diagnose``, ``diagnose_reports`` and ``despite_fakes`` are ours."""


# --- as a measure -----------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """An attack that views ask for."""

    attack: str
    targets: int
    share: float = 0.0
    functions: int = FUNCTIONS


def poisoned(cell: Cell, views: Sequence[View], number: int) -> Measured:
    """Measure a cell whose views are attacks, each with a defence."""
    honest, metrics = _honest(cell, number), dict[str, Metrics]()
    for asked, own in _by_attack(views).items():
        made = _attacked(honest, cell.seed(f"fakes {asked}", number), asked)
        metrics |= {view.key: DEFENCES[view.keywords.get("defence", "none")](made) for view in own}
    return {}, {view.key: metrics[view.key] for view in views}


def _by_attack(views: Sequence[View]) -> dict[Asked, list[View]]:
    # One attack at a time: all reports of one are in memory.
    asked: dict[Asked, list[View]] = {}
    for view in views:
        given = {name: value for name, value in view.keywords.items() if name != "defence"}
        asked.setdefault(Asked(**given), []).append(view)
    return asked


def _honest(cell: Cell, number: int) -> Crowd:
    scheme = make(cell.parameters["of"], epsilon=cell.epsilon, domain_size=cell.d)
    counts = crowd(cell.data, cell.n, cell.d, cell.data_seed)
    reports = scheme.privatize(np.repeat(np.arange(cell.d), counts), rng=SeededRandom(cell.seed("noise", number)))
    tally = scheme.accumulator()
    tally.add(reports)
    return Crowd(PROTOCOLS[scheme.name](scheme), counts / cell.n, reports, tally)


def _attacked(honest: Crowd, seed: int, asked: Asked) -> Poisoned:
    fakes = round(asked.share * len(honest.reports) / (1 - asked.share))
    rarest = np.arange(len(honest.shares))[-asked.targets :]
    made = fake_reports(honest.protocol, asked.attack, rarest, fakes, seed, asked.functions)
    return Poisoned(honest, asked.attack, asked.share, rarest, made)


MEASURED: Mapping[str, Callable[[Cell, Sequence[View], int], Measured]] = {"POISONED": poisoned}
"""The measure by its name."""
