"""Do the p-values of a search hold? Searches in crowds that tempt it to err: `python -m bench.false_alarms`.

In the crowd ``nothing`` all users have random strings, and every string called significant is a false alarm. In the
crowd ``near-heavy`` six strings are almost as common as a string must be to be found. They share beginnings in pairs,
and another fifth of the users share beginnings alone, so that wrong endings look good. A false alarm is a significant
string that nobody has. Runs take turns in ``SETTINGS``; each has its own crowd, hash functions and noise.

Each run is one line of the file given by ``--rows``, as in ``bench.coverage``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

import plausibly
from plausibly import SeededRandom, Strings
from plausibly.experiments import MEASURES, PLAIN, Cell, Measured, Metrics, Results, Sheet, View, held, run
from plausibly.planner.search_power import nats_per_character, smallest_share
from plausibly.search.base import Search, SearchTally

from .coverage_tables import Share

NAME = "false alarms of a search"
CROWDS = ("nothing", "near-heavy")
RUNS = 1000
USERS = 20_000
LEVELS = (0.05, 0.01)
SETTINGS = tuple((length, epsilon) for length in (6, 10) for epsilon in (1.0, 2.0, 3.0))
"""Length of the strings and epsilon, in turns."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
K = 10
_TEMPTING = (0.65, 0.6, 0.55, 0.5, 0.45, 0.4)
"""Counts of the near-heavy strings, as shares of the count that is significant in 95 % of searches.

Strings with .7 of that count are significant in two of three searches, those with .4 in one of seventy.
"""
_SHARED, _OPENING = 4, 4
"""Number of beginnings that a fifth of the users share, and their length."""


def cells_of(crowd: str, runs: int) -> list[Cell]:
    """All runs of a crowd."""

    def cell(number: int) -> Cell:
        length, epsilon = SETTINGS[number % len(SETTINGS)]
        return Cell(NAME, data=f"{crowd}/{length}", n=USERS, d=0, epsilon=epsilon, data_seed=number, repeat=number)

    return [cell(number) for number in range(runs)]


def searched(cell: Cell) -> Metrics:
    """The least p-values of returned strings: of those that somebody has, and of those that nobody has; at most 1."""
    crowd, _, length = cell.data.partition("/")
    strings = Strings(LETTERS, int(length))
    scheme = plausibly.TRELLIS(cell.epsilon, domain=strings, users=cell.n, hash_seed=cell.seed("hashes"))
    assert isinstance(scheme, Search)
    people = nothing(cell) if crowd == "nothing" else near_heavy(cell, scheme)
    tally = scheme.simulate(people, SeededRandom(cell.seed("noise")))
    assert isinstance(tally, SearchTally)
    found = tally.search(k=K)
    assert found.p_values is not None
    least = {True: 1.0, False: 1.0}
    for item, p_value in zip(found.items.tolist(), found.p_values.tolist(), strict=True):
        least[item in people] = min(least[item in people], p_value)
    return {"least_held": least[True], "least_false": least[False]}


def nothing(cell: Cell) -> Counter[str]:
    """A crowd of random strings: hardly any two users have the same one."""
    length = int(cell.data.partition("/")[2])
    letters = SeededRandom(cell.seed("crowd")).stream().head(0, cell.n * length).reshape(cell.n, length) % len(LETTERS)
    return Counter("".join(LETTERS[each] for each in row) for row in letters.tolist())


def near_heavy(cell: Cell, scheme: Search) -> Counter[str]:
    """A crowd with strings just too rare to be found, and with common beginnings."""
    users = list(nothing(cell).elements())
    length = scheme.strings.length
    enough = smallest_share(scheme, cell.n, 0.95, nats_per_character(scheme.strings)[1], length) * cell.n
    people: Counter[str] = Counter()
    for place, part in enumerate(_TEMPTING):
        # Two in turn begin alike.
        people[users[place // 2][:_OPENING] + users[place][_OPENING:]] += round(part * enough)
    users = users[: cell.n - people.total()]
    openings = [user[:_OPENING] for user in users[:_SHARED]]
    alike = len(users) // 5
    people.update(openings[i % _SHARED] + user[_OPENING:] for i, user in enumerate(users[:alike]))
    people.update(users[alike:])
    return people


def alarms(crowd: str, results: Results, runs: int, level: float) -> Share:
    """The share of a crowd's runs with a false alarm at this level."""
    measured = [results.metrics(cell, PLAIN) for cell in cells_of(crowd, runs)]
    names = ("least_held", "least_false") if crowd == "nothing" else ("least_false",)
    return Share(sum(any(row[name] <= level for name in names) for row in measured), runs)


def detections(results: Results, runs: int, level: float) -> Share:
    """The share of the near-heavy runs in which a string that somebody has is significant."""
    measured = [results.metrics(cell, PLAIN) for cell in cells_of("near-heavy", runs)]
    return Share(sum(row["least_held"] <= level for row in measured), runs)


def measure_alarms(crowds: Sequence[str], results: Results, *, runs: int = RUNS, jobs: int = 2) -> None:
    """Measure the missing runs."""
    asked = {cell: [PLAIN] for crowd in crowds for cell in cells_of(crowd, runs)}
    run(asked, results, jobs=jobs, console=Console(stderr=True), setup=register)


def _measure(cell: Cell, views: Sequence[View], number: int) -> Measured:
    return {}, {view.key: searched(cell) for view in views}


def register() -> None:
    """Enter the measure by name, as every worker process does first."""
    MEASURES[NAME] = _measure


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the missing runs and print the shares of false alarms."""
    parser = argparse.ArgumentParser(prog="python -m bench.false_alarms", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--runs", type=int, default=RUNS, help="runs per crowd")
    parser.add_argument("--rows", type=Path, help="results file: runs are read from it and appended to it")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args(arguments)
    with nullcontext(Results()) if given.rows is None else held(given.rows) as results:
        measure_alarms(CROWDS, results, runs=given.runs, jobs=given.jobs)
        lines = [
            (crowd, f"{given.runs:,}", f"{100 * level:g} %", f"{found.hits:,}", str(found))
            for crowd in CROWDS
            for level in LEVELS
            for found in [alarms(crowd, results, given.runs, level)]
        ]
        seen = detections(results, given.runs, LEVELS[0])
    header = ("crowd", "runs", "level", "runs with a false alarm", "%")
    caption = f"A near-heavy string is significant at 5 % in {seen} % of the runs."
    Console().print(Sheet("False alarms of searches", header, tuple(lines), caption).table())


if __name__ == "__main__":
    main()
