"""The runner and its file: nothing is measured twice, nothing is lost, and no interrupt changes a row."""

from __future__ import annotations

import json
import os
import resource
import signal
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from plausibly import kernels
from plausibly.core.errors import StateError
from plausibly.experiments import runner
from plausibly.experiments.cells import PLAIN, Cell, view
from plausibly.experiments.results import Origin, Results, held
from plausibly.experiments.runner import run

CELLS = {Cell("DE", data="uniform", n=200, d=4, repeat=repeat): [PLAIN] for repeat in range(3)}
FIRST = next(iter(CELLS))
QUIET = Console(quiet=True)


def timeless(results: Results, cells: Any) -> Any:
    found = [results.metrics(cell, each) for cell, views in cells.items() for each in views]
    return [{name: metrics[name] for name in metrics if "seconds" not in name} for metrics in found]


@pytest.mark.full
def test_what_is_missing_is_measured_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    run(CELLS, Results(path), jobs=1, console=QUIET)
    machine, *lines = map(json.loads, path.read_text().splitlines())
    assert machine["facts"]["cores"] == os.cpu_count()
    assert {line["machine"] for line in lines} == {machine["machine"]}
    assert {line["key"] for line in lines} == {cell.key for cell in CELLS}
    assert all(Cell(**line["cell"]).key == line["key"] and line["kernels"] for line in lines)
    again = Results(path)
    assert again.missing(CELLS) == {}
    run(CELLS, again, jobs=1, console=QUIET)
    assert len(path.read_text().splitlines()) == 4


def test_measuring_processes_begin_with_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with runner._one_thread_each():
        assert {os.environ[name] for name in runner._THREADS} == {"1"}
    assert dict(os.environ) == before


@pytest.mark.full
def test_progress_is_drawn_on_terminals_only(tmp_path: Path) -> None:
    for terminal in (False, True):
        told = StringIO()
        console = Console(file=told, force_terminal=terminal)
        run({FIRST: [PLAIN]}, Results(tmp_path / f"{terminal}.jsonl"), jobs=1, console=console)
        assert ("measuring" in told.getvalue()) is terminal


def test_a_file_that_is_not_ours_is_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    for text in ('{"key":"my only copy","a":1}', "notes", '{"machine":"', f'{{"key":"{"a" * 32}","cell":{{'):
        path.write_text(text)
        if text.startswith(('{"machine', '{"key":"aa')):  # what an interrupt may leave of a line
            assert Results(path).missing(CELLS) == CELLS
        else:
            with pytest.raises(StateError, match="expected a results file"):
                Results(path)
        assert path.read_text() == text


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    results = Results(path)
    results.add(FIRST, {}, {"plain": {"mse": 1.0}})
    before, limit = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 40, limit[1]))
    try:
        with pytest.raises(StateError, match="the disk is full"):
            results.add(list(CELLS)[1], {}, {"plain": {"mse": 1.0}})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before


def test_a_torn_line_is_cut_away_before_others_follow(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    results = Results(path)
    for cell in CELLS:
        results.add(cell, {"report_bytes": 1}, {"plain": {"mse": float(cell.repeat)}})
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    torn = Results(path)
    assert path.read_bytes() == whole[:-9]  # reading changes nothing: another process may be writing
    (last,) = torn.missing(CELLS)
    assert last.repeat == 2
    torn.add(last, {"report_bytes": 1}, {"plain": {"mse": 2.0}})
    assert path.read_bytes() == whole


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for text in ("my notes", "my notes\n", '{"a": 1}\n', "[]\n", '{"a": 1}'):
        path.write_text(text)
        with pytest.raises(StateError, match=r"notes\.txt"):
            Results(path)
        assert path.read_text() == text


def test_two_runs_cannot_add_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    with held(path) as results:
        results.add(FIRST, {"report_bytes": 1}, {"plain": {"mse": 5.0}})
        with pytest.raises(StateError, match="another run is writing to this file"), held(path):
            pass
    with held(path) as again:
        assert again.missing({FIRST: [PLAIN]}) == {}


def test_what_made_a_measurement_is_known(tmp_path: Path) -> None:
    results = Results(tmp_path / "rows.jsonl")
    results.add(FIRST, {"report_bytes": 1}, {"plain": {"mse": 5.0}})
    for each in (results, Results(results.path)):
        (machine,) = each.machines
        assert each.origins == {FIRST.key: Origin(version("plausibly"), kernels.active, machine)}


def test_views_asked_for_later_are_added_to_the_cell(tmp_path: Path) -> None:
    path, later = tmp_path / "rows.jsonl", view("base-pos")
    results = Results(path)
    results.add(FIRST, {"report_bytes": 1}, {"plain": {"mse": 5.0}})
    assert results.missing({FIRST: [PLAIN, later]}) == {FIRST: [later]}
    results.add(FIRST, {"report_bytes": 1}, {"base-pos": {"mse": 4.0}})
    again = Results(path)
    assert again.metrics(FIRST, PLAIN) == {"report_bytes": 1, "mse": 5.0}
    assert again.metrics(FIRST, later) == {"report_bytes": 1, "mse": 4.0}


def test_repeats_come_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[Cell] = []

    class Pool:
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def submit(self, _: Any, cell: Cell, views: Any) -> None:
            order.append(cell)

        def shutdown(self, **_: Any) -> None: ...

    monkeypatch.setattr(runner, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(runner, "as_completed", lambda futures: [])
    cells = {Cell("DE", n=10, d=d, repeat=repeat): [PLAIN] for d in (8, 4) for repeat in range(2)}
    run(cells, Results(), jobs=1, console=QUIET)
    assert [(cell.repeat, cell.d) for cell in order] == [(0, 4), (0, 8), (1, 4), (1, 8)]


@pytest.mark.full
def test_a_cell_that_fails_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    results = Results(tmp_path / "rows.jsonl")
    with pytest.raises(ValueError, match="unknown scheme"):
        run({**CELLS, Cell("NO", n=10, d=4, repeat=9): [PLAIN]}, results, jobs=1, console=QUIET)
    assert Results(results.path).missing(CELLS) == {}
