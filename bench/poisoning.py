"""How many crafted reports put a string that nobody holds into a search: `python -m bench.poisoning`, ten minutes.

The attacker knows the scheme, chooses the group of every fake report and sends records that support the target. Fakes
are shared out over the groups that report prefixes, as many to each as its own users take.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import plausibly
from plausibly import SeededRandom, Strings
from plausibly.core.scheme import Encoded, Reports
from plausibly.experiments import visits
from plausibly.planner.fakes import fakes_for_share, raise_of_part
from plausibly.planner.searching import nats_per_character, smallest_share
from plausibly.search.grouped import Search
from plausibly.search.parts import Part
from plausibly.search.tally import SearchTally
from plausibly.search.trellis import TRELLIS

ALPHABET = "abcdefghijklmnopqrstuvwxyz-"
LENGTH = 12
TARGETS = ("forged-name", "fake")
"""Strings that nobody holds: the shorter one is shown whole by every group, so it takes fewer fakes."""
EPSILONS = (1, 3)
USERS = (20_000, 200_000)
FRACTIONS = (0.005, 0.01, 0.03, 0.1)
RUNS = 10
_POOL = 64
"""Different records with which one part is fed, over and over."""


def crafted(scheme: Search, target: str, number: int, seed: int) -> Reports:
    """So many fake reports that support one string at every step; none for the parts that teach letters and pairs."""
    needed = [i for i, part in enumerate(scheme.parts) if part.role not in ("letters", "pairs")]
    groups = [g for g, group in enumerate(scheme.groups) if any(i in needed for i in group)]
    weights = np.array([_weight(scheme, group) for group in groups])
    # Largest remainders, so that their sum is the number.
    ideal = number * weights / weights.sum()
    counts = np.floor(ideal).astype(np.int64)
    counts[np.argsort(counts - ideal, kind="stable")[: number - int(counts.sum())]] += 1
    made = [_of_group(scheme, group, target, int(count), seed) for group, count in zip(groups, counts, strict=True)]
    return np.concatenate(made)


def _weight(scheme: Search, group: int) -> float:
    parts = [scheme.parts[i] for i in scheme.groups[group]]
    return scheme.group_weights[group] / min(raise_of_part(part) or 1.0 for part in parts)


def _of_group(scheme: Search, group: int, target: str, count: int, seed: int) -> Reports:
    fakes = np.zeros(count, dtype=scheme.report_dtype)
    fakes["group"] = group
    rows = scheme.domain.encode([target])
    for place in scheme.places[group]:
        pool = _supporting(scheme.parts[place.part], rows, seed)
        chosen = np.resize(pool, count).view(np.uint8).reshape(count, -1)
        fakes["body"][:, place.record] = chosen
    return fakes


def _supporting(part: Part, rows: Encoded, seed: int) -> Reports:
    # Records that an honest client would send most readily for the target: those that support it.
    item = part.items(rows)
    drawn = part.scheme.privatize_encoded(np.repeat(item, 8 * _POOL), SeededRandom(seed))
    code = part.scheme.domain.number(item[0])
    likely = [part.scheme.likelihood(record, code) for record in drawn]
    best = max(likely)
    return drawn[[i for i, each in enumerate(likely) if each == best][:_POOL]]


@dataclass(frozen=True)
class Outcome:
    """What became of the target, over some runs."""

    fakes: int
    enough: int | None
    """How many the law of `plausibly show` says are enough, for a string of this length."""
    listed: float
    """The share of runs in which it is among the ten strings that come back."""
    significant: float
    """The share of runs in which it comes back at level 0.05."""
    estimate: float
    """Its median estimate, as a share of the users, in the runs that list it."""


def crowd(users: int) -> dict[str, int]:
    """Names of made-up sites, cut at their dot, and how many users visit each."""
    found: dict[str, int] = {}
    for site, count in zip(visits.sites(), visits.counts(users).tolist(), strict=True):
        name = site.partition(".")[0][:LENGTH]
        found[name] = found.get(name, 0) + count
    assert found.keys().isdisjoint(TARGETS)
    return found


def attack(epsilon: int, users: int, fraction: float, target: str, runs: int = RUNS) -> Outcome:
    """Fakes beside so many users, again and again with other coins."""
    domain = Strings(ALPHABET, LENGTH)
    fakes = round(fraction * users)
    listed = significant = 0
    estimates = []
    for run in range(runs):
        scheme = plausibly.trellis(epsilon, domain=domain, users=users, hash_seed=run)
        assert isinstance(scheme, TRELLIS)
        tally = scheme.simulate(crowd(users), SeededRandom(run))
        tally.add(crafted(scheme, target, fakes, run))
        assert isinstance(tally, SearchTally)
        found = tally.search(k=10)
        place = np.flatnonzero(found.items == target)
        if len(place):
            assert found.p_values is not None
            listed += 1
            significant += bool(found.p_values[place[0]] <= 0.05)
            estimates.append(float(found.values[place[0]]) / users)
    share = smallest_share(scheme, users, 0.95, nats_per_character(domain)[0], len(target))
    enough = fakes_for_share(scheme, users, share) if share < 1 else None
    median = float(np.median(estimates)) if estimates else 0.0
    return Outcome(fakes, enough, listed / runs, significant / runs, median)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table of docs/fakes.md, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args(arguments).runs
    print("| ε | users | target | enough by the law | fakes | in the top ten | at level 0.05 | looks like |")
    print("|---|---|---|---|---|---|---|---|")
    for epsilon in EPSILONS:
        for users in USERS:
            for target in TARGETS:
                for fraction in FRACTIONS:
                    found = attack(epsilon, users, fraction, target, runs)
                    enough = "—" if found.enough is None else f"{100 * found.enough / users:.2g} %"
                    looks = f"{100 * found.estimate:.2g} %" if found.listed else "—"
                    rates = f"{100 * found.listed:.0f} % | {100 * found.significant:.0f} % | {looks}"
                    print(
                        f"| {epsilon} | {users:,} | `{target}` | {enough} | {100 * fraction:g} % | {rates} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
