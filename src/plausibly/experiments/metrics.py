"""Scores of the strings that a search found, against the crowd it searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.arguments import whole_number
from .datasets import Crowd


@dataclass(frozen=True)
class Score:
    """How much of the answer is right, how much of the truth was found, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def score(found: Sequence[str], truth: Crowd, k: int) -> Score:
    """Precision, recall and F1 of an answer to "which are the k most frequent strings".

    Right is every string at least as frequent as the k-th: with a tie at the k-th place there are more than k of them,
    any k are a full answer, and recall stops at 1. In a crowd of fewer than k strings, all of them are asked for. A
    string given twice is right once; an answer without any string scores 0.

    >>> from plausibly.experiments.datasets import DATASETS
    >>> crowd = DATASETS["url-clicks"](100_000, 64, 0)
    >>> score(["google.com", "yahoo.com", "example.com", "ebay.com"], crowd, 4)
    Score(precision=0.75, recall=0.75, f1=0.75)
    """
    least = _least(truth, k)
    counts = _counts(truth, set(found))
    right = sum(count >= least for count in counts.values())
    if right == 0:
        return Score(0.0, 0.0, 0.0)
    precision = right / len(found)
    recall = min(1.0, right / min(k, len(truth.strings)))
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def false_items(found: Sequence[str], truth: Crowd, k: int) -> list[str]:
    """The found strings that have fewer users than a quarter of those of the k-th most frequent string.

    Near misses are not false; strings without users, such as wrong endings, are.
    """
    least = _least(truth, k)
    counts = _counts(truth, set(found))
    return [string for string in found if 4 * counts[string] < least]


def _least(truth: Crowd, k: int) -> int:
    # The k-th largest count.
    place = min(whole_number("k", k, 1, 2**31 - 1), len(truth.counts))
    return int(truth.counts[place - 1])


def _counts(truth: Crowd, strings: set[str]) -> dict[str, int]:
    held = dict.fromkeys(strings, 0)
    return held | {
        string: count
        for string, count in zip(truth.strings.tolist(), truth.counts.tolist(), strict=True)
        if string in held
    }
