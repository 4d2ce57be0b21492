"""Attacks with fake reports by Cao, Jia and Gong, and what they gain by law.

Xiaoyu Cao, Jinyuan Jia and Neil Zhenqiang Gong, *Data Poisoning Attacks to Local Differential Privacy Protocols*
(USENIX Security 2021). Fakes raise the frequencies of some targets; the gain is the increase of their sum. A protocol
is reduced to p, the probability that a report supports its user's item, and q, that it supports another one.

If fakes are a share β of all reports, and a fake supports S of r targets on average, the gain is

    G = β·(S − r·q)/(p − q) − β·f_T,

where f_T is the share of honest users who have a target: a frequency is (support − q)/(p − q), and the honest reports
weigh 1 − β. All rows of the published table follow from S.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, floor
from typing import Any

import numpy as np
import numpy.typing as npt

from plausibly import SeededRandom

Bits = npt.NDArray[np.bool_]
Targets = npt.NDArray[np.int64]
Reports = npt.NDArray[Any]

FUNCTIONS = 1000
"""Number of hash functions of which each fake of a maximal gain on OLH takes the best."""
_HASHED = 1 << 16
"""Number of hashes that are computed at a time."""


@dataclass(frozen=True)
class Protocol(ABC):
    """A protocol as an attacker sees it: which records there are, and which items each supports."""

    scheme: Any

    @property
    @abstractmethod
    def p(self) -> float:
        """Probability that an honest report supports its user's item."""

    @property
    @abstractmethod
    def q(self) -> float:
        """Probability that an honest report supports any other item."""

    @property
    @abstractmethod
    def random_support(self) -> float:
        """Probability that a record drawn evenly supports an item."""

    @abstractmethod
    def most(self, targets: int) -> float:
        """Largest number of targets that a record supports, as the published formulas have it."""

    @abstractmethod
    def supports(self, reports: Reports) -> Bits:
        """[report, item]: whether each report supports each item."""

    @abstractmethod
    def random_reports(self, fakes: int, rng: np.random.Generator) -> Reports:
        """Records drawn evenly from all there are."""

    @abstractmethod
    def maximal_gain(self, targets: Targets, fakes: int, rng: np.random.Generator, functions: int) -> Reports:
        """Records that support as many targets as an attacker can find."""

    def random_items(self, targets: Targets, fakes: int, rng: np.random.Generator) -> Reports:
        """Reports about targets drawn evenly, made as honest users make them."""
        items = rng.choice(targets, fakes)
        reports: Reports = self.scheme.privatize(items, rng=SeededRandom(int(rng.integers(2**63))))
        return reports

    def gain(self, attack: str, targets: int, share: float, held: float) -> float:
        """Expected gain of an attack, if this share of all reports is fake and ``held`` of the users have a target."""
        supported = {
            "random items": self.p + (targets - 1) * self.q,
            "random reports": targets * self.random_support,
        }.get(attack, self.most(targets))
        return share * (supported - targets * self.q) / (self.p - self.q) - share * held

    def deviation(self, targets: int, users: int) -> float:
        """Standard deviation of the estimated frequency of an item that nobody has, times the number of targets."""
        return float(targets * (self.q * (1 - self.q) / users) ** 0.5 / (self.p - self.q))

    def _e(self) -> float:
        return exp(self.scheme.epsilon)


class Direct(Protocol):
    """DE, which the authors call kRR."""

    @property
    def p(self) -> float:
        return self._e() * self.q

    @property
    def q(self) -> float:
        return 1 / (self._e() + self.scheme.size - 1)

    @property
    def random_support(self) -> float:
        return 1 / float(self.scheme.size)

    def most(self, targets: int) -> float:
        return 1.0

    def supports(self, reports: Reports) -> Bits:
        return np.asarray(reports["item"][:, None] == np.arange(self.scheme.size))

    def random_reports(self, fakes: int, rng: np.random.Generator) -> Reports:
        return self._saying(rng.integers(self.scheme.size, size=fakes))

    def maximal_gain(self, targets: Targets, fakes: int, rng: np.random.Generator, functions: int) -> Reports:
        return self._saying(rng.choice(targets, fakes))

    def _saying(self, items: Targets) -> Reports:
        made = np.zeros(len(items), dtype=self.scheme.report_dtype)
        made["item"] = items
        return made


class Unary(Protocol):
    """OUE. Fakes of a maximal gain have as many ones as honest reports have on average."""

    @property
    def p(self) -> float:
        return 0.5

    @property
    def q(self) -> float:
        return 1 / (self._e() + 1)

    @property
    def random_support(self) -> float:
        return 0.5

    def most(self, targets: int) -> float:
        return float(targets)

    def supports(self, reports: Reports) -> Bits:
        return np.unpackbits(reports["bits"], axis=1, count=self.scheme.size, bitorder="little").astype(np.bool_)

    def random_reports(self, fakes: int, rng: np.random.Generator) -> Reports:
        return self._with(rng.integers(0, 2, (fakes, self.scheme.size)).astype(np.bool_))

    def maximal_gain(self, targets: Targets, fakes: int, rng: np.random.Generator, functions: int) -> Reports:
        usual = floor(self.p + (self.scheme.size - 1) * self.q)
        return self.padded(targets, np.full(fakes, usual), rng)

    def padded(self, targets: Targets, ones: Targets, rng: np.random.Generator) -> Reports:
        """Records with all targets and, at random, further ones up to these numbers."""
        order = rng.random((len(ones), self.scheme.size))
        order[:, targets] = -1.0
        places = np.argsort(np.argsort(order, axis=1), axis=1)
        return self._with(places < np.maximum(ones, len(targets))[:, None])

    def _with(self, bits: Bits) -> Reports:
        packed = np.packbits(bits, axis=1, bitorder="little")
        return np.frombuffer(packed.tobytes(), dtype=self.scheme.report_dtype)


class Hashed(Protocol):
    """OLH. An attacker looks for a hash function that sends many targets to one value; the formulas assume all of them.

    p and q are those of a whole number of hash values; the published table has e^ε + 1 of them, whole or not.
    """

    @property
    def p(self) -> float:
        return self._e() / (self._e() + self.scheme.g - 1)

    @property
    def q(self) -> float:
        return 1 / float(self.scheme.g)

    @property
    def random_support(self) -> float:
        return self.q

    def most(self, targets: int) -> float:
        return float(targets)

    def supports(self, reports: Reports) -> Bits:
        return self._of_items(reports, np.arange(self.scheme.size))

    def random_reports(self, fakes: int, rng: np.random.Generator) -> Reports:
        return self._saying(rng.integers(2**64, size=fakes, dtype=np.uint64), rng.integers(self.scheme.g, size=fakes))

    def maximal_gain(self, targets: Targets, fakes: int, rng: np.random.Generator, functions: int) -> Reports:
        at_once = max(1, _HASHED // functions)
        parts = [self._best(targets, min(at_once, fakes - first), rng, functions) for first in range(0, fakes, at_once)]
        return np.concatenate([self._saying(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)), *parts])

    def _best(self, targets: Targets, fakes: int, rng: np.random.Generator, functions: int) -> Reports:
        # The value that each function sends the most targets to, and the best of each fake's functions.
        seeds = rng.integers(2**64, size=fakes * functions, dtype=np.uint64)
        best, value = np.zeros((2, len(seeds)), dtype=np.int8)
        for place in range(self.scheme.g):
            made, met = self._saying(seeds, place), np.zeros(len(seeds), dtype=np.int8)
            for target in targets:
                met += self._of_items(made, target[None])[:, 0]
            value[met > best] = place
            np.maximum(best, met, out=best)
        chosen = np.argmax(best.reshape(fakes, functions), axis=1) + functions * np.arange(fakes)
        return self._saying(seeds[chosen], value[chosen])

    def _of_items(self, reports: Reports, items: Targets) -> Bits:
        codes, length = items.astype(np.uint64), max(1, _HASHED // len(items))
        parts = [
            self.scheme.supports_each(reports[first : first + length], codes)
            for first in range(0, len(reports), length)
        ]
        return np.concatenate([np.zeros((0, len(items)), dtype=np.bool_), *parts])

    def _saying(self, seeds: npt.NDArray[np.uint64], values: Targets | int) -> Reports:
        made = np.zeros(len(seeds), dtype=self.scheme.report_dtype)
        made["seed"], made["hash"] = seeds, values
        return made


PROTOCOLS: Mapping[str, type[Protocol]] = {"DE": Direct, "OUE": Unary, "OLH": Hashed}
"""The attacked protocols by the names of their schemes."""


def fake_reports(
    protocol: Protocol, attack: str, targets: Targets, fakes: int, seed: int, functions: int = FUNCTIONS
) -> Reports:
    """Fake reports of an attack by its name; "none" has none.

    Two attacks on OUE are variants of the maximal gain: "bare" has no ones but the targets, and "spread" draws the
    numbers of ones from their law in honest reports.
    """
    rng = np.random.default_rng(seed)
    match attack:
        case "none":
            return protocol.random_reports(0, rng)
        case "random items":
            return protocol.random_items(targets, fakes, rng)
        case "random reports":
            return protocol.random_reports(fakes, rng)
        case "maximal gain":
            return protocol.maximal_gain(targets, fakes, rng, functions)
        case "bare" if isinstance(protocol, Unary):
            return protocol.padded(targets, np.zeros(fakes, dtype=np.int64), rng)
        case "spread" if isinstance(protocol, Unary):
            law = protocol.scheme.law_of_ones()
            return protocol.padded(targets, rng.choice(len(law), fakes, p=law / law.sum()), rng)
    raise ValueError(f"attack: expected one that {protocol.scheme.name} has, got {attack!r}")
