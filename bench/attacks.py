"""Published attacks with fake reports, and how often a diagnosis sees them: `python -m bench.attacks`, 2 minutes.

Random item, random report and maximal gain are those of Cao, Jia and Gong (USENIX Security 2021). "Padded" is their
maximal gain as published: as many further ones at random as an honest report has on average. "Spread" draws the number
of ones from the law of honest reports, so that the numbers of ones fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import plausibly
from plausibly import SeededRandom, kernels, make
from plausibly.core.scheme import Reports

USERS, ITEMS, TARGETS, RUNS = 100_000, 128, 10, 20
SHARES = (0.001, 0.003, 0.01, 0.05)
_SEEDS = 1000
"""Number of hash functions that an attacker on local hashing tries."""


def crowd(users: int, items: int) -> list[int]:
    """Users of each item by Zipf's law; the last items, the targets, are the rarest."""
    shares = 1 / np.arange(1, items + 1)
    counts = np.floor(users * shares / shares.sum()).astype(np.int64)
    counts[0] += users - counts.sum()
    return [int(count) for count in counts]


def random_item(scheme: Any, targets: Sequence[int], fakes: int, seed: int) -> Reports:
    """Fakes that report a random target as honest users would."""
    items = np.random.default_rng(seed).choice(targets, fakes)
    reports: Reports = scheme.privatize(items.tolist(), rng=SeededRandom(seed))
    return reports


def random_report(scheme: Any, targets: Sequence[int], fakes: int, seed: int) -> Reports:
    """Fakes that are any records, all equally likely."""
    rng = np.random.default_rng(seed)
    if scheme.name == "OLH":
        made = np.zeros(fakes, dtype=scheme.report_dtype)
        made["seed"], made["hash"] = rng.integers(0, 2**64, fakes, dtype=np.uint64), rng.integers(0, scheme.g, fakes)
        return made
    return _bitmaps(scheme, rng.integers(0, 2, (fakes, scheme.size)))


def maximal_gain(scheme: Any, targets: Sequence[int], fakes: int, seed: int) -> Reports:
    """Fakes that support all targets and nothing else, or with hashing as many targets as the best tried seed does."""
    rng = np.random.default_rng(seed)
    if scheme.name == "OLH":
        return _best_seeds(scheme, targets, fakes, rng)
    return _bitmaps(scheme, _ones(scheme, targets, np.zeros(fakes, dtype=np.int64), rng))


def padded(scheme: Any, targets: Sequence[int], fakes: int, seed: int) -> Reports:
    """Maximal gain on unary encoding, with the expected number of ones in every fake."""
    usual = int(scheme.keep / 2**64 + (scheme.size - 1) * scheme.flip / 2**64)
    more = np.full(fakes, max(0, usual - len(targets)))
    return _bitmaps(scheme, _ones(scheme, targets, more, np.random.default_rng(seed)))


def spread(scheme: Any, targets: Sequence[int], fakes: int, seed: int) -> Reports:
    """Maximal gain on unary encoding, with numbers of ones by the law of honest reports."""
    rng = np.random.default_rng(seed)
    law = scheme.law_of_ones()
    more = np.maximum(0, rng.choice(len(law), fakes, p=law / law.sum()) - len(targets))
    return _bitmaps(scheme, _ones(scheme, targets, more, rng))


def _ones(scheme: Any, targets: Sequence[int], more: Any, rng: np.random.Generator) -> Any:
    bits = np.zeros((len(more), scheme.size), dtype=np.uint8)
    bits[:, list(targets)] = 1
    order = rng.random(bits.shape)
    order[:, list(targets)] = 2.0
    return bits | (np.argsort(np.argsort(order, axis=1), axis=1) < more[:, None])


def _bitmaps(scheme: Any, bits: Any) -> Reports:
    packed = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")
    return np.frombuffer(packed.tobytes(), dtype=scheme.report_dtype)


def _best_seeds(scheme: Any, targets: Sequence[int], fakes: int, rng: np.random.Generator) -> Reports:
    made = np.zeros(fakes, dtype=scheme.report_dtype)
    wanted = np.array(targets, dtype=np.uint64)
    for place in range(fakes):
        seeds = rng.integers(0, 2**64, _SEEDS, dtype=np.uint64)
        hashes = kernels.local_hash(np.repeat(seeds, len(wanted)), np.tile(wanted, _SEEDS), scheme.split, scheme.g)
        met = hashes.reshape(_SEEDS, -1)[:, :, None] == np.arange(scheme.g)
        best, value = divmod(int(np.argmax(met.sum(axis=1))), scheme.g)
        made["seed"][place], made["hash"][place] = seeds[best], value
    return made


ATTACKS: dict[str, dict[str, Callable[[Any, Sequence[int], int, int], Reports]]] = {
    "OUE": {
        "random item": random_item,
        "random report": random_report,
        "maximal gain": maximal_gain,
        "padded": padded,
        "spread": spread,
    },
    "OLH": {"random item": random_item, "random report": random_report, "maximal gain": maximal_gain},
}


def alarms(name: str, attack: str, share: float, runs: int, *, users: int = USERS, targets: int = TARGETS) -> Any:
    """Shares of the runs in which the tally, and the reports, raise an alarm; and the gain of a target per fake."""
    scheme: Any = make(name, epsilon=1, domain_size=ITEMS)
    honest, chosen = crowd(users, ITEMS), list(range(ITEMS - targets, ITEMS))
    values, fakes = np.repeat(np.arange(ITEMS), honest).tolist(), round(share * users)
    made = ATTACKS[name][attack](scheme, chosen, fakes, 1)
    seen, gain = np.zeros((runs, 2)), 0.0
    for run in range(runs):
        reports = np.concatenate([scheme.privatize(values, rng=SeededRandom(run)), made])
        tally = scheme.accumulator()
        tally.add(reports)
        seen[run] = bool(tally.diagnose().alarms), bool(plausibly.diagnose_reports(scheme, reports).alarms)
        gain += float((tally.estimate().values - honest)[chosen].mean()) / fakes / runs
    return *seen.mean(axis=0), gain


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of docs/fakes.md, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args(arguments).runs
    print("| scheme | attack | fakes | gain of a target, in users for each fake | the tally sees it | reports see it |")
    print("|---|---|---|---|---|---|")
    for name, attacks in ATTACKS.items():
        for attack in attacks:
            for share in SHARES:
                tally, reports, gain = alarms(name, attack, share, runs)
                rates = f"{100 * tally:.0f} % | {100 * reports:.0f} %"
                print(f"| `{name}` | {attack} | {100 * share:g} % | {gain:.1f} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
