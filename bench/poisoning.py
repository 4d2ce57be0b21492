"""The number of crafted reports that put a string without users into a search: `python -m bench.poisoning`, 10 minutes.

The attacker knows the scheme, chooses the group of every fake report, and sends records that support the target. Fakes
are distributed over all groups in proportion to their users.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

import plausibly
from plausibly import SeededRandom, Strings
from plausibly.core.scheme import Encoded, Reports
from plausibly.demo import counts, sites
from plausibly.planner.fakes import fakes_for_share, raise_of_part
from plausibly.planner.search_power import nats_per_character, smallest_share
from plausibly.search.base import Search, SearchTally
from plausibly.search.string_parts import Part
from plausibly.search.trellis import TRELLIS

ALPHABET = "abcdefghijklmnopqrstuvwxyz-"
LENGTH = 12
TARGETS = ("forged-name", "fake")
"""Strings without users: every group reports the shorter one completely, so that it takes fewer fakes."""
EPSILONS = (1, 3)
USERS = (20_000, 200_000)
FRACTIONS = (0.005, 0.01, 0.03, 0.1)
RUNS = 10
_POOL = 64
"""Number of distinct records per part, used repeatedly."""


def crafted(scheme: Search, target: str, number: int, seed: int) -> Reports:
    """``number`` fake reports that support one string in every part of the search."""
    pools = {i: _supporting(part, scheme.domain.encode([target]), seed) for i, part in enumerate(scheme.parts)}
    return _shared_out(scheme, pools, number)


def _shared_out(scheme: Search, pools: dict[int, Reports], number: int) -> Reports:
    weights = np.array([_weight(scheme, group) for group in range(len(scheme.groups))])
    # Largest remainders, so that the counts add up to ``number``.
    ideal = number * weights / weights.sum()
    counts = np.floor(ideal).astype(np.int64)
    counts[np.argsort(counts - ideal, kind="stable")[: number - int(counts.sum())]] += 1
    made = [_of_group(scheme, group, pools, int(count)) for group, count in enumerate(counts)]
    return np.concatenate(made)


def _weight(scheme: Search, group: int) -> float:
    parts = [scheme.parts[i] for i in scheme.groups[group]]
    return scheme.group_weights[group] / min(raise_of_part(part) or 1.0 for part in parts)


def _of_group(scheme: Search, group: int, pools: dict[int, Reports], count: int) -> Reports:
    fakes = np.zeros(count, dtype=scheme.report_dtype)
    fakes["group"] = group
    for place in scheme.places[group]:
        pool = pools[place.part]
        fakes["body"][:, place.record] = pool.view(np.uint8).reshape(len(pool), -1)[np.arange(count) % len(pool)]
    return fakes


def _supporting(part: Part, rows: Encoded, seed: int) -> Reports:
    # The records that an honest client is most likely to send for the target: those that support it.
    item = part.items(rows)
    drawn = part.scheme.privatize_encoded(np.repeat(item, 8 * _POOL), SeededRandom(seed))
    code = part.scheme.domain.number(item[0])
    likely = [part.scheme.likelihood(record, code) for record in drawn]
    best = max(likely)
    return drawn[[i for i, each in enumerate(likely) if each == best][:_POOL]]


@dataclass
class Outcome:
    """The results for one target over several runs."""

    enough: int | None
    """Number of fakes that are enough for a string of this length, by the law that `plausibly show` uses."""
    listed: int = 0
    """Number of runs in which the target is in the top 10."""
    significant: int = 0
    """Number of those runs in which it is significant at level 0.05."""
    estimates: list[float] = field(default_factory=list)
    """Its estimates in those runs, as shares of the users."""


def crowd(users: int) -> dict[str, int]:
    """Synthetic site names, cut at their dot, with the number of users of each."""
    found: dict[str, int] = {}
    for site, count in zip(sites(), counts(users).tolist(), strict=True):
        name = site.partition(".")[0][:LENGTH]
        found[name] = found.get(name, 0) + count
    assert found.keys().isdisjoint(TARGETS)
    return found


def attacks(epsilon: int, users: int, runs: int) -> dict[tuple[str, float], Outcome]:
    """Results for each target and each number of fakes, as a fraction of the users; every run has new coins."""
    domain, found = Strings(ALPHABET, LENGTH), {}
    for run in range(runs):
        scheme = plausibly.TRELLIS(epsilon, domain=domain, users=users, hash_seed=run)
        assert isinstance(scheme, TRELLIS)
        honest = scheme.simulate(crowd(users), SeededRandom(run))
        for target in TARGETS:
            share = smallest_share(scheme, users, 0.95, nats_per_character(domain)[0], len(target))
            enough = fakes_for_share(scheme, users, share) if share < 1 else None
            most = crafted(scheme, target, round(max(FRACTIONS) * users), run)
            for fraction in FRACTIONS:
                outcome = found.setdefault((target, fraction), Outcome(enough))
                tally = scheme.accumulator()
                tally.merge(honest)
                tally.add(_thinned(most, fraction / max(FRACTIONS)))
                assert isinstance(tally, SearchTally)
                _look(tally, target, users, outcome)
    return found


def _thinned(reports: Reports, part: float) -> Reports:
    # Evenly spaced, so that every group keeps its share.
    kept = np.unique(np.floor(np.arange(round(part * len(reports))) / part).astype(np.int64))
    return reports[kept]


def _look(tally: SearchTally, target: str, users: int, outcome: Outcome) -> None:
    answer = tally.search(k=10)
    place = np.flatnonzero(answer.items == target)
    if len(place):
        assert answer.p_values is not None
        outcome.listed += 1
        outcome.significant += bool(answer.p_values[place[0]] <= 0.05)
        outcome.estimates.append(float(answer.values[place[0]]) / users)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of docs/fakes.md, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args(arguments).runs
    print("| ε | users | target | enough, predicted | fakes | in the top ten | at level 0.05 | looks like |")
    print("|---|---|---|---|---|---|---|---|")
    for epsilon, users in product(EPSILONS, USERS):
        for (target, fraction), found in attacks(epsilon, users, runs).items():
            enough = "—" if found.enough is None else f"{100 * found.enough / users:.2g} %"
            looks = f"{100 * float(np.median(found.estimates)):.2g} %" if found.estimates else "—"
            rates = f"{found.listed} of {runs} | {found.significant} of {runs} | {looks}"
            print(f"| {epsilon} | {users:,} | `{target}` | {enough} | {100 * fraction:g} % | {rates} |", flush=True)


if __name__ == "__main__":
    main()
