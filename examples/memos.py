"""Two attacks on users who report every day: the tables of docs/longitudinal.md.

python examples/memos.py
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import plausibly
from plausibly import SeededRandom
from plausibly.core.memoised import Crowd

ITEMS, USERS = 16, 4000
SCHEME = plausibly.make("LOLOHA", epsilon=1, memo_epsilon=2, domain_size=ITEMS, hash_bits=2)
P1, P2 = SCHEME.memo_keep / 2**64, SCHEME.keep / 2**64
OTHERS = SCHEME.g - 1
ENTRIES = np.where(np.eye(SCHEME.g), P1, (1 - P1) / OTHERS)
"""Probability of each entry of the memo (columns) for each cell (rows)."""
Numbers = npt.NDArray[np.float64]
Items = npt.NDArray[np.int64]


def cells(rows: npt.NDArray[np.integer]) -> Items:
    """The cell of every item, for every user; the rows are public."""
    bits = np.bitwise_count(rows[:, None, :] & np.arange(ITEMS)[None, :, None]) & 1
    return bits.astype(np.int64) @ (1 << np.arange(rows.shape[1]))


def likelihoods(answers: Items) -> Numbers:
    """How likely the answers of each user are under each entry, up to a factor, from the number of each answer."""
    odds = answers * np.log(P2 * OTHERS / (1 - P2))
    return np.asarray(np.exp(odds - odds.max(axis=1, keepdims=True)))


def averaging(days: tuple[int, ...] = (1, 7, 30, 365), seed: int = 1) -> dict[str, list[float]]:
    """Share of users whose value the best guess finds, among 16 equally likely ones that never change."""
    values, users = np.arange(USERS) % ITEMS, np.arange(USERS)
    ties = np.arange(USERS * ITEMS).reshape(USERS, ITEMS) * 7919 % 10007 * 1e-12
    fresh_scheme = plausibly.make("DE", epsilon=1, domain_size=ITEMS)
    crowd, rng = SCHEME.crowd(USERS, SeededRandom(seed)), SeededRandom(seed + 1)
    answers = np.zeros((USERS, SCHEME.g), dtype=np.int64)
    heard = np.zeros((USERS, ITEMS), dtype=np.int64)
    found: dict[str, list[float]] = {"a fresh report every day": [], "with a memo": []}
    for day in range(1, max(days) + 1):
        reports = crowd.privatize(values, rng)
        answers[users, reports["hash"]] += 1
        heard[users, fresh_scheme.privatize(values, rng)["item"]] += 1
        if day in days:
            of_cells = likelihoods(answers) @ ENTRIES.T
            scores = np.take_along_axis(of_cells, cells(reports["rows"]), axis=1)
            for name, score in zip(found, (heard, scores), strict=True):
                found[name].append(float(((score + ties).argmax(axis=1) == values).mean()))
    return found


def changing(days: tuple[int, ...] = (30, 100, 365), alarms: float = 0.05, seed: int = 1) -> list[float]:
    """Share of users whose one change, at half time, is detected, if one in 20 others raises a false alarm."""
    found = []
    for number in days:
        scores = []
        for change in (0, 1):
            crowd, rng = SCHEME.crowd(USERS, SeededRandom(seed + change)), SeededRandom(seed + 2 + change)
            before = np.arange(USERS) % ITEMS
            after = (before + change * (1 + np.arange(USERS) // ITEMS % (ITEMS - 1))) % ITEMS
            halves = [_answers(crowd, items, number // 2, rng) for items in (before, after)]
            scores.append(_evidence(*map(likelihoods, halves)))
        threshold = np.sort(scores[0])[-int(alarms * USERS) - 1]
        found.append(float((scores[1] > threshold).mean()))
    return found


def _answers(crowd: Crowd, items: Items, days: int, rng: SeededRandom) -> Items:
    answers, users = np.zeros((USERS, SCHEME.g), dtype=np.int64), np.arange(USERS)
    for _ in range(days):
        answers[users, crowd.privatize(items, rng)["hash"]] += 1
    return answers


def _evidence(first: Numbers, second: Numbers) -> Numbers:
    # For two different entries, and against one for all days.
    same = (first * second).sum(axis=1)
    different = (first * (second @ (1 - np.eye(SCHEME.g)))).sum(axis=1)
    return np.asarray(np.log(different) - np.log(same))


def main() -> None:
    print("The value of a user is guessed correctly, among 16:")
    for name, shares in averaging().items():
        print(f"  {name:25}", *(f"{share:.2f}" for share in shares), "after 1, 7, 30, 365 days")
    print("A change at half time is detected, with 5 % false alarms:")
    print(f"  {'with a memo':25}", *(f"{share:.2f}" for share in changing()), "in 30, 100, 365 days")


if __name__ == "__main__":
    main()
