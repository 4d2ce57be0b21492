"""A made-up survey of eight questions: data for trying out tables, the same on every machine."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.atomic import replacing
from ..core.randomness import SeededRandom
from .data import MOST_USERS

Answers = npt.NDArray[np.int64]

_EDGES = (18, 30, 45, 60, 100)
_SKIPPED = 3
"""Percentage of people who skip a question."""
_SEED = 23


class _Question(NamedTuple):
    name: str
    answers: Sequence[str]
    after: str
    """The question whose answer decides the percentages; empty if there is only one row of them."""
    percentages: Sequence[Sequence[int]]


_AGES = _Question("age", [f"{low} to {high}" for low, high in pairwise(_EDGES)], "", [[28, 30, 24, 18]])
_OTHERS = (
    _Question("region", ["north", "south", "east", "west"], "", [[30, 25, 25, 20]]),
    _Question("plan", ["free", "basic", "premium"], "age", [[70, 25, 5], [45, 35, 20], [35, 35, 30], [60, 30, 10]]),
    _Question(
        "device", ["phone", "tablet", "computer"], "age", [[75, 10, 15], [60, 15, 25], [45, 20, 35], [30, 35, 35]]
    ),
    _Question("theme", ["dark", "light"], "age", [[70, 30], [55, 45], [40, 60], [25, 75]]),
    _Question("visits", ["daily", "weekly", "rarely"], "plan", [[20, 40, 40], [40, 40, 20], [65, 30, 5]]),
    _Question("satisfied", ["yes", "partly", "no"], "plan", [[45, 35, 20], [55, 30, 15], [70, 20, 10]]),
    _Question("recommends", ["yes", "no"], "satisfied", [[85, 15], [50, 50], [10, 90]]),
)
QUESTIONS = len((_AGES, *_OTHERS))


def questions_text() -> str:
    """The questions of the made-up survey and their possible answers, as ``plausibly plan --attributes`` takes them."""
    ages = f"{_AGES.name}=bins:{','.join(map(str, _EDGES))} years"
    return "".join(f"{line}\n" for line in [ages, *(f"{each.name}={','.join(each.answers)}" for each in _OTHERS)])


def survey(users: int) -> dict[str, list[str]]:
    """The made-up survey: the column of each question, with a text for each person, empty if the person skipped it."""
    whole_number("users", users, 1000, MOST_USERS)
    numbers: dict[str, Answers] = {}
    columns: dict[str, list[str]] = {}
    for place, each in enumerate((_AGES, *_OTHERS)):
        before = numbers[each.after] if each.after else np.zeros(users, dtype=np.int64)
        ends = np.cumsum(each.percentages, axis=1)
        numbers[each.name] = (_percent(3 * place, users)[:, None] >= ends[before]).sum(axis=1)
        texts = np.array(each.answers)[numbers[each.name]]
        if each is _AGES:
            low, high = (np.array(edges)[numbers[each.name]] for edges in (_EDGES[:-1], _EDGES[1:]))
            texts = (low + (high - low) * _percent(3 * place + 1, users) // 100).astype(str)
        columns[each.name] = np.where(_percent(3 * place + 2, users) < _SKIPPED, "", texts).tolist()
    return columns


def write_survey(path: str | Path, users: int) -> None:
    """Write the made-up survey as a CSV file with a column for each question, one line for each person."""
    columns = survey(users)
    with replacing(Path(path)) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["user", *columns])
        writer.writerows(zip(range(1, users + 1), *columns.values(), strict=True))


def write_questions(path: str | Path) -> None:
    """Write the questions of the made-up survey and their possible answers, one in each line."""
    with replacing(Path(path)) as unfinished:
        unfinished.write_text(questions_text(), encoding="utf-8")


def _percent(call: int, users: int) -> Answers:
    # A number from 0 to 99 for each person; 100 divides the number of words well enough for made-up answers.
    words = SeededRandom(_SEED).replay(call).head(0, 4 * users).view("<u4")
    return (words % 100).astype(np.int64)
