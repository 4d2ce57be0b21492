"""Collections with fake reports, and how often a diagnosis notices them."""

from __future__ import annotations

from typing import Any

import numpy as np

import plausibly
from plausibly import SeededRandom, make
from reproduction.attacks import PROTOCOLS, fake_reports

ITEMS, TARGETS, USERS = 128, 10, 100_000


def zipf(users: int, items: int) -> list[int]:
    """Users of each item by Zipf's law; the last items, the targets, are the rarest."""
    shares = 1 / np.arange(1, items + 1)
    counts = np.floor(users * shares / shares.sum()).astype(np.int64)
    counts[0] += users - counts.sum()
    return [int(count) for count in counts]


def alarms(name: str, attack: str, share: float, runs: int) -> tuple[float, float]:
    """Shares of the runs in which the tally, and the reports, raise an alarm; ``share`` fakes for each honest user."""
    scheme: Any = make(name, epsilon=1, domain_size=ITEMS)
    values = np.repeat(np.arange(ITEMS), zipf(USERS, ITEMS))
    protocol, targets = PROTOCOLS[name](scheme), np.arange(ITEMS)[-TARGETS:]
    seen = np.zeros((runs, 2))
    for run in range(runs):
        fakes = fake_reports(protocol, attack, targets, round(share * USERS), seed=run)
        reports = np.concatenate([scheme.privatize(values, rng=SeededRandom(run)), fakes])
        tally = scheme.accumulator()
        tally.add(reports)
        seen[run] = bool(tally.diagnose().alarms), bool(plausibly.diagnose_reports(scheme, reports).alarms)
    by_tally, by_reports = seen.mean(axis=0)
    return float(by_tally), float(by_reports)
