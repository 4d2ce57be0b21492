"""Scores of candidates from report files: the values and variances of a tally that keeps the reports."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import reduce
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plausibly
from contract.entries import SCHEMES, tally_of
from engines.making import one_task_each, same_answer
from files.making import damage_group, users_reports
from plausibly import Keys, ParameterError, Scheme, SeededRandom, StateError
from plausibly.core import candidates
from plausibly.core.accumulator import LogAccumulator
from plausibly.core.candidates import Candidates
from plausibly.engines import Executors, Threads, ask, asking, collect, survey
from plausibly.files import Key, SimulatedError, write_reports

LOGS = {name: scheme for name, scheme in SCHEMES.items() if scheme.accumulator_type is LogAccumulator}
ITEMS = [f"item {number}" for number in range(40)]


def report_files(folder: Path, scheme: Scheme, key: Key | None = None) -> Path:
    """A folder with three files of 25, 26 and 27 reports."""
    folder.mkdir()
    for number in range(3):
        write_reports(folder / f"{number}.parquet", scheme, users_reports(scheme, 25 + number), key=key)
    return folder


@pytest.fixture
def keys() -> Scheme:
    return plausibly.make("OLH", epsilon=1, domain=Keys())


class Whole:
    """Merges everything before it yields."""

    def reduce(self, work: Callable[[Any], Any], merge: Any, tasks: Sequence[Any]) -> Iterator[Any]:
        yield reduce(merge, [pickle.loads(pickle.dumps(work(task))) for task in reversed(tasks)])


def test_some_schemes_keep_their_reports() -> None:
    assert {scheme.name for scheme in LOGS.values()} >= {"OLH", "TLH", "BLH"}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("engine", [Threads(), Whole()], ids=lambda engine: type(engine).__name__)
def test_the_answer_is_that_of_a_tally_with_all_reports(
    engine: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = report_files(tmp_path / "reports", LOGS[name])
    wanted = collect([folder], tmp_path / "out").tally.estimate(ITEMS)
    assert same_answer(ask([folder], ITEMS, engine=engine), wanted)
    one_task_each(monkeypatch)
    monkeypatch.setattr(candidates, "_PAIRS", 120)
    found = ask([folder], ITEMS, engine=engine)
    assert same_answer(found, wanted)
    assert (found.history, found.interval(0.9)[0].tolist()) == (wanted.history, wanted.interval(0.9)[0].tolist())


@pytest.mark.full
@pytest.mark.xdist_group("processes")
def test_processes_give_the_same_answer(keys: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_task_each(monkeypatch)
    folder = report_files(tmp_path / "reports", keys)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = ask([folder], ITEMS, engine=Executors(pool, 3))
    assert same_answer(found, collect([folder], tmp_path / "out").tally.estimate(ITEMS))


def test_candidates_are_merged_as_reports_are(keys: Scheme) -> None:
    reports, codes = users_reports(keys, 60), keys.answers.ask(ITEMS)[0]
    log, one, other = tally_of(keys, reports), Candidates(keys, codes), Candidates(keys, codes)
    one.add(reports[:20])
    other.add_single_threaded(reports[20:])
    before = copy(one)
    one.merge(pickle.loads(pickle.dumps(other)))
    assert same_answer(one.estimate(ITEMS), log.estimate(ITEMS))
    assert (len(before), one.scores(ITEMS).tolist()) == (20, log.scores(ITEMS).tolist())
    assert same_answer(
        before.estimate(ITEMS), (lambda log: (log.add(reports[:20]), log)[1])(keys.accumulator()).estimate(ITEMS)
    )


def test_candidates_refuse_what_they_cannot_answer(keys: Scheme) -> None:
    made = Candidates(keys, keys.answers.ask(ITEMS)[0])
    with pytest.raises(StateError, match="items: expected the items that the reports were counted for, got others"):
        made.estimate(ITEMS[1:])
    with pytest.raises(StateError, match="merge: expected scores of 40 items, got 39"):
        made.merge(Candidates(keys, keys.answers.ask(ITEMS[1:])[0]))
    with pytest.raises(StateError, match="scores of candidates are not a tally"):
        made.to_bytes()
    with pytest.raises(StateError, match="scores from another process have no candidates"):
        pickle.loads(pickle.dumps(made)).add(users_reports(keys, 1))
    with pytest.raises(ParameterError, match="unknown option 'combine'"):
        made.estimate(ITEMS, combine="mean")


def test_scores_travel_without_their_candidates(keys: Scheme) -> None:
    made = Candidates(keys, np.arange(10_000, dtype=np.uint64))
    assert len(pickle.dumps(made)) < 85_000


def test_a_row_group_counts_once(keys: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = report_files(tmp_path / "reports", keys)
    wanted = ask([folder], ITEMS)
    (folder / "copy.parquet").write_bytes((folder / "0.parquet").read_bytes())
    assert same_answer(ask([folder, folder / "1.parquet"], ITEMS), wanted)

    class Stuttering:
        def reduce(self, work: Any, merge: Any, tasks: Sequence[Any]) -> Iterator[Any]:
            yield from map(work, tasks)
            yield work(tasks[0])

    with pytest.raises(StateError, match="row group 0 of a file would be counted twice"):
        ask([folder], ITEMS, engine=Stuttering())

    class Forgetful:
        def reduce(self, work: Any, merge: Any, tasks: Sequence[Any]) -> Iterator[Any]:
            return map(work, tasks[1:])

    one_task_each(monkeypatch)
    with pytest.raises(StateError, match=r"0\.parquet, row group 0: the engine did not return its reports"):
        ask([folder], ITEMS, engine=Forgetful())


def test_other_schemes_are_sent_to_collect(tmp_path: Path) -> None:
    for scheme in (
        plausibly.make("OUE", epsilon=1, domain_size=5),
        plausibly.make("FLH", epsilon=1, domain=Keys()),
        plausibly.TRELLIS(1, domain=plausibly.Strings("ab", 4), users=1000),
    ):
        write_reports(tmp_path / f"{scheme.name}.parquet", scheme, users_reports(scheme, 3))
        with pytest.raises(StateError, match=f"{scheme.name} counts its reports without .*; add them up with collect"):
            ask([tmp_path / f"{scheme.name}.parquet"], ["a"])


def test_damage_is_refused_or_left_out_with_a_warning(keys: Scheme, tmp_path: Path) -> None:
    folder = report_files(tmp_path / "reports", keys)
    damage_group(folder / "1.parquet", 2)
    with pytest.raises(plausibly.ReportError, match=r"1\.parquet, row group 2: "):
        ask([folder], ITEMS)
    with pytest.warns(UserWarning, match="left out: 1 row group with 6 reports"):
        found = ask([folder], ITEMS, skip_bad=True)
    assert same_answer(found, collect([folder], tmp_path / "out", skip_bad=True).tally.estimate(ITEMS))


def test_simulations_keys_and_other_schemes_are_treated_as_collect_does(keys: Scheme, tmp_path: Path) -> None:
    key = Key(bytes(range(32)))
    folder = report_files(tmp_path / "reports", keys, key)
    assert ask([folder], ITEMS, key=key).n == 78
    with pytest.raises(plausibly.StateError, match="expected the given scheme, got another"):
        ask([folder], ITEMS, key=key, scheme=plausibly.make("OLH", epsilon=2, domain=Keys()))
    write_reports(tmp_path / "made-up.parquet", keys, keys.privatize(["a"] * 9, rng=SeededRandom(1)))
    with pytest.raises(SimulatedError):
        ask([tmp_path / "made-up.parquet"], ITEMS)
    assert ask([tmp_path / "made-up.parquet"], ITEMS, allow_simulated=True).n == 9


def test_progress_counts_reports_and_tasks_are_short(
    keys: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = report_files(tmp_path / "reports", keys)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(survey, "_TASKS_EACH", 1)
    monkeypatch.setattr(asking, "_TASK_PAIRS", 40 * 15)
    monkeypatch.setenv("PLAUSIBLY_THREADS", "1")
    ask([folder], ITEMS, progress=lambda *step: seen.append(step))
    assert seen == [(20, 78), (35, 78), (51, 78), (71, 78), (78, 78)]


@pytest.mark.parametrize("engine", [Threads(), Whole()], ids=lambda engine: type(engine).__name__)
def test_many_candidates_are_compared_in_blocks(
    engine: Any, keys: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = report_files(tmp_path / "reports", keys)
    damage_group(folder / "1.parquet", 2)
    wanted = collect([folder], tmp_path / "out", skip_bad=True).tally.estimate(ITEMS)
    monkeypatch.setattr(asking, "_TASK_PAIRS", 13 * 10)  # blocks of 13 items for row groups of 10 reports
    seen: list[tuple[int, int]] = []
    sent: list[Any] = []

    class Noting:
        def reduce(self, work: Any, merge: Any, tasks: Sequence[Any]) -> Iterator[Any]:
            sent.extend(tasks)
            return engine.reduce(work, merge, tasks)

    with pytest.warns(UserWarning, match="left out: 1 row group with 6 reports"):
        found = ask([folder], ITEMS, engine=Noting(), skip_bad=True, progress=lambda *step: seen.append(step))
    assert same_answer(found, wanted)
    assert {block for block, _ in sent} == {(0, 13), (13, 26), (26, 39), (39, 40)}
    assert all(len(segments) <= 2 for _, segments in sent)
    assert (seen[-1], seen == sorted(seen)) == ((78, 78), True)


def test_a_block_that_comes_twice_or_never_is_refused(
    keys: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = report_files(tmp_path / "reports", keys)
    monkeypatch.setattr(asking, "_TASK_PAIRS", 13 * 10)

    @dataclass(frozen=True)
    class Erring:
        change: Callable[[Sequence[Any]], Sequence[Any]]

        def reduce(self, work: Any, merge: Any, tasks: Sequence[Any]) -> Iterator[Any]:
            yield reduce(merge, map(work, self.change(tasks)))

    with pytest.raises(StateError, match="would be counted twice"):
        ask([folder], ITEMS, engine=Erring(lambda tasks: [*tasks, tasks[-1]]))
    with pytest.raises(StateError, match=r"2\.parquet, row group \d: the engine did not return its reports"):
        ask([folder], ITEMS, engine=Erring(lambda tasks: tasks[:-1]))


def test_a_file_that_is_damaged_between_two_blocks_is_noticed(
    keys: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = report_files(tmp_path / "reports", keys)
    monkeypatch.setattr(asking, "_TASK_PAIRS", 13 * 10)

    class Damaging:
        def reduce(self, work: Any, merge: Any, tasks: Sequence[Any]) -> Iterator[Any]:
            yield work(tasks[0])
            damage_group(folder / "0.parquet", 0)
            yield from map(work, tasks[1:])

    with pytest.raises(StateError, match="damaged or repaired while they were read; repeat the call"):
        ask([folder], ITEMS, engine=Damaging(), skip_bad=True)
