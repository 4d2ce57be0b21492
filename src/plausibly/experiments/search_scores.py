"""Scores of a search's answer, given the crowd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.arguments import whole_number
from .string_crowds import Crowd


@dataclass(frozen=True)
class Score:
    """Precision (share of the answer that is right), recall (share of the truth that was found), and their F1."""

    precision: float
    recall: float
    f1: float


def score(found: Sequence[str], truth: Crowd, k: int) -> Score:
    """Score a search: precision, recall and F1 of its answer to "which are the k most frequent strings?".

    Every string at least as frequent as the k-th is right. With a tie at the k-th place, more than k strings are right;
    any k of them are a full answer, and recall is capped at 1. In a crowd of fewer than k strings, all of them are
    wanted. A string given twice counts once; an empty answer scores 0.

    >>> from plausibly.experiments.string_crowds import DATASETS
    >>> crowd = DATASETS["url-clicks"](100_000, 64, 0)
    >>> score(["google.com", "yahoo.com", "example.com", "ebay.com"], crowd, 4)
    Score(precision=0.75, recall=0.75, f1=0.75)
    """
    least = _least(truth, k)
    counts = _counts(truth, set(found))
    right = sum(count >= least for count in counts.values())
    return _score(right, len(found), truth, k)


def lenient_score(found: Sequence[str], truth: Crowd, k: int) -> Score:
    """Score a search as the paper's program does: only strings that no user has count against precision.

    A string that some users have but that is not among the k most frequent is ignored: it is neither right nor wrong.
    A search may therefore return more than k strings and gain recall at little cost, which ``score`` does not allow.

    >>> from plausibly.experiments.string_crowds import DATASETS
    >>> crowd = DATASETS["url-clicks"](100_000, 64, 0)
    >>> lenient_score(["google.com", "yahoo.com", "ebay.com", "invented.example"], crowd, 2)
    Score(precision=0.6666666666666666, recall=1.0, f1=0.8)
    """
    least = _least(truth, k)
    counts = _counts(truth, set(found))
    right = sum(count >= least for count in counts.values())
    return _score(right, right + sum(count == 0 for count in counts.values()), truth, k)


def _score(right: int, counted: int, truth: Crowd, k: int) -> Score:
    # ``counted``: the strings of the answer that count, right or wrong.
    if right == 0:
        return Score(0.0, 0.0, 0.0)
    precision, recall = right / counted, min(1.0, right / min(k, len(truth.strings)))
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def false_items(found: Sequence[str], truth: Crowd, k: int) -> list[str]:
    """The wrong answers of a search: strings with less than a quarter of the k-th most frequent string's users.

    Near misses are not false; invented strings and wrong endings, which no user has, are.
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
