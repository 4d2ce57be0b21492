"""Engines: wherever and in whatever order tasks run, the tally has the same bytes; an engine that errs is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import reduce
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from engines.making import names, one_task_each
from files.making import SMALL, damage_group, users_reports
from plausibly import StateError
from plausibly.engines import Engine, Threads, collect
from plausibly.files import Collected, Key, write_reports

Work = Callable[[Any], Any]
Merge = Callable[[Any, Any], Any]


class Backwards:
    """One task after the other, the last one first."""

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        return map(work, reversed(tasks))


class Whole:
    """Everything merged before anything is yielded, as a tree on a cluster does it."""

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        yield reduce(merge, [work(task) for task in reversed(tasks)])


class Elsewhere:
    """Work, tasks, states and the merging all pass through pickle, and states are merged in pairs."""

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        work, merge, tasks = sent((work, merge, list(tasks)))
        states = [sent(work(sent(task))) for task in tasks]
        for first in range(0, len(states), 2):
            yield reduce(merge, states[first : first + 2])


class Processes:
    """A pool of other processes."""

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            yield from pool.map(work, tasks)


@dataclass(frozen=True)
class Forgetful:
    """Loses a task."""

    lost: int

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        return (work(task) for place, task in enumerate(tasks) if place != self.lost)


class Stuttering:
    """Returns one state twice."""

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        yield from map(work, tasks)
        yield work(tasks[0])


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


ENGINES = [Threads(), Backwards(), Whole(), Elsewhere(), pytest.param(Processes(), marks=pytest.mark.full)]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: type(engine).__name__)
def test_every_engine_gives_the_same_bytes(
    engine: Engine, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    (folder / "text.parquet").write_text("no Parquet at all")
    for place, group in ((0, 1), (1, 0), (1, 3)):
        damage_group(folder / f"{place}.parquet", group)
    wanted = collect([folder], tmp_path / "wanted", skip_bad=True)
    seen: list[tuple[int, int]] = []
    found = collect([folder], tmp_path / "out", engine=engine, skip_bad=True, progress=lambda *step: seen.append(step))
    assert (tmp_path / "out").read_bytes() == (tmp_path / "wanted").read_bytes()
    assert (found.added, found.skipped) == (wanted.added, wanted.skipped)
    assert len(found.skipped) == 4
    assert seen[-1] == (68, 68)
    assert seen == sorted(seen)


def test_an_engine_reads_with_the_key(tmp_path: Path) -> None:
    key = Key(bytes(range(32)))
    write_reports(tmp_path / "a.parquet", SMALL, users_reports(SMALL, 25), key=key)
    assert collect([tmp_path / "a.parquet"], tmp_path / "out", engine=Elsewhere(), key=key).added == 25


def test_what_an_engine_loses_is_noticed_and_collected_by_the_next_call(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    with pytest.raises(StateError, match=r"0\.parquet, row group 2: the engine did not return its reports"):
        collect([folder], tmp_path / "out", engine=Forgetful(2))
    assert names(tmp_path) == ["out.unfinished", "reports"]
    assert len(Collected.read(tmp_path / "out.unfinished", complete=False)) == 68 - 5
    found = collect([folder], tmp_path / "out")
    assert (found.added, found.resumed) == (5, 68 - 5)


def test_a_state_that_an_engine_returns_twice_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    with pytest.raises(StateError, match="would be counted twice"):
        collect([folder], tmp_path / "out", engine=Stuttering())
    assert not (tmp_path / "out").exists()
