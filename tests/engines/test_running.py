"""Engines: wherever and in whatever order tasks run, the tally has the same bytes; an engine that errs is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from engines.making import names, one_task_each
from files.making import SMALL, damage_group, users_reports
from plausibly import ParameterError, StateError
from plausibly.engines import Engine, Executors, Processes, Threads, collect
from plausibly.files import Collected, DamagedError, Key, LocalFile, write_reports

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


class InOrder:
    """An executor that runs each task when it is submitted, and counts the tasks whose results nobody has taken."""

    def __init__(self) -> None:
        self.open = self.most = 0

    def submit(self, function: Any, *arguments: Any) -> Any:
        self.open += 1
        self.most = max(self.most, self.open)
        return Taken(self, function, *arguments)


class Taken(Future[Any]):
    """A future that says when its result is taken."""

    def __init__(self, executor: InOrder, function: Any, *arguments: Any) -> None:
        super().__init__()
        self.executor = executor
        try:
            self.set_result(function(*arguments))
        except Exception as error:
            self.set_exception(error)

    def result(self, timeout: float | None = None) -> Any:
        self.executor.open -= 1
        return super().result(timeout)


@dataclass(frozen=True)
class Forgetful:
    """Loses a task."""

    lost: int

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        return (work(task) for place, task in enumerate(tasks) if place != self.lost)


class Tearing:
    """Returns the row groups of every task in two states, as if it had run the halves of a task on two machines."""

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        for task in tasks:
            yield work(task[:1])
            yield work(task[1:])


class Stuttering:
    """Returns one state twice."""

    def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
        yield from map(work, tasks)
        yield work(tasks[0])


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


ENGINES = [
    Threads(),
    Backwards(),
    Whole(),
    Elsewhere(),
    Executors(InOrder(), 3),  # type: ignore[arg-type]
    pytest.param(Processes(), marks=pytest.mark.full),
]


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


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_task_that_comes_back_in_pieces_is_refused(skip_bad: bool, folder: Path, tmp_path: Path) -> None:
    if skip_bad:
        damage_group(folder / "0.parquet", 1)
    with pytest.raises(StateError, match=r"1\.parquet, row group 0: the engine returned only a part of its task"):
        collect([folder], tmp_path / "out", engine=Tearing(), skip_bad=skip_bad)


def test_a_task_of_which_only_the_skipped_row_groups_come_back_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage_group(folder / "0.parquet", 1)

    class Careless:
        def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
            for task in tasks:
                yield replace(work(task), tally=SMALL.accumulator(), files={})

    with pytest.raises(StateError, match=r"0\.parquet, row group 0: the engine returned only a part of its task"):
        collect([folder], tmp_path / "out", engine=Careless(), skip_bad=True)


def test_tasks_name_their_files_from_anywhere_and_messages_as_typed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away:
        """Works in another folder, as a worker on another machine does."""

        def reduce(self, work: Work, merge: Merge, tasks: Sequence[Any]) -> Iterator[Any]:
            with chdir("/"):
                states = [work(task) for task in tasks]
            return iter(states)

    monkeypatch.chdir(tmp_path)
    damage_group(folder / "0.parquet", 1)
    found = collect(["reports"], "out", engine=Away(), skip_bad=True)
    assert (found.added, [each.file for each in found.skipped]) == (58, [str(Path("reports/0.parquet"))])
    with pytest.raises(DamagedError, match=r"^reports/0\.parquet, row group 1: "):
        collect(["reports/0.parquet", LocalFile("reports/1.parquet")], "other", engine=Away())


# --- executors --------------------------------------------------------------------------------------------------------


def test_an_executor_has_only_as_many_tasks_as_slots(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    executor = InOrder()
    collect([folder], tmp_path / "out", engine=Executors(executor, 2))  # type: ignore[arg-type]
    assert (executor.most, executor.open) == (2, 0)
    with pytest.raises(ParameterError, match="slots: expected 1 to 1000000, got 0"):
        Executors(executor, 0)  # type: ignore[arg-type]


def test_after_an_error_what_was_done_is_kept_and_the_executor_works_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    damage_group(folder / "1.parquet", 3)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(DamagedError, match=r"1\.parquet, row group 3: the checksum does not match"):
            collect([folder], tmp_path / "out", engine=Executors(executor, 2))
        assert executor.submit(int).result(60) == 0, "the executor is the caller's"
    found = collect([folder], tmp_path / "out", skip_bad=True)
    assert found.resumed > 0
    assert found.added + found.resumed == 58


RELEASED = Event()


def fails_or_waits(task: int) -> int:
    if task == 0:
        raise StateError("this one fails")
    RELEASED.wait(60)
    return task


def test_after_an_error_no_further_task_begins() -> None:
    sent: list[Future[Any]] = []

    class Recording(ThreadPoolExecutor):
        def submit(self, function: Any, /, *arguments: Any) -> Any:  # type: ignore[override]
            sent.append(super().submit(function, *arguments))
            return sent[-1]

    with Recording(1) as executor:
        try:
            with pytest.raises(StateError, match="this one fails"):
                list(Executors(executor, 4).reduce(fails_or_waits, max, range(6)))
            assert [future.cancelled() for future in sent[1:]].count(True) >= 2, "one may have begun"
        finally:
            RELEASED.set()


def test_tasks_that_somebody_cancels_are_a_clear_error(folder: Path, tmp_path: Path) -> None:
    class Cancelling(InOrder):
        def submit(self, function: Any, *arguments: Any) -> Any:
            future: Future[Any] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(StateError, match=r"a worker ended before its task was done: .*; repeat the call to go on"):
        collect([folder], tmp_path / "out", engine=Executors(Cancelling(), 2))  # type: ignore[arg-type]
