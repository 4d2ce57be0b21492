"""A Dask cluster of two worker processes: the bytes of threads, and exact counts whatever happens to its tasks."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import plausibly
from contract.entries import tally_of
from engines.making import ITEMS, KEYED, ON_ENGINES, large_files, names, one_task_each, same_answer, segment
from engines.misfortunes import (
    AlwaysKilled,
    FailsTwice,
    Killed,
    KilledGateway,
    Unlucky,
    listening,
    pa_table,
    process_is_gone,
)
from files.making import SMALL, group_size, small_file, users_reports
from plausibly import ParameterError, ReportError, Scheme, StateError
from plausibly.core.errors import PlausiblyError
from plausibly.engines import Executors, ask, collect, fold, masters, merge
from plausibly.engines import dask as engine
from plausibly.engines.dask import Dask, connecting
from plausibly.engines.dask import engine as running
from plausibly.engines.dask import tables as dask_tables
from plausibly.engines.gateway import Discreet
from plausibly.files import Collected, ReportFile, ValuesError, write_reports

pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


@pytest.mark.full
@pytest.mark.parametrize("scheme", [*ON_ENGINES.values(), KEYED], ids=[*ON_ENGINES, "keys"])
def test_dask_gives_the_bytes_of_threads(
    scheme: Scheme, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    for number in range(3):
        write_reports(tmp_path / f"{number}.parquet", scheme, users_reports(scheme, 65 + number))
    collect([tmp_path], tmp_path / "threads")
    done: list[tuple[int, int]] = []
    collect([tmp_path], tmp_path / "dask", engine=Dask(client), progress=lambda *each: done.append(each))
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "threads").read_bytes()
    assert len(done) > 1, "the first wave is small, so that there is something to save soon"
    assert done == sorted(done)
    assert done[-1] == (65 + 66 + 67, 65 + 66 + 67)


@pytest.mark.slow
def test_states_of_100_megabytes_have_the_bytes_of_threads(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large_files(tmp_path, monkeypatch)
    collect([tmp_path], tmp_path / "threads")
    collect([tmp_path], tmp_path / "dask", engine=Dask(client))
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "threads").read_bytes()


@pytest.mark.full
def test_dask_and_its_executor_answer_as_threads_do(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    for number in range(3):
        write_reports(tmp_path / f"{number}.parquet", KEYED, users_reports(KEYED, 65 + number))
    wanted = ask([tmp_path], ITEMS)
    for each in (Dask(client), Executors(client.get_executor(), 3)):
        assert same_answer(ask([tmp_path], ITEMS, engine=each), wanted)


@pytest.mark.full
def test_a_worker_that_is_killed_loses_nothing(client: Any, folder: Path, notes: Path, tmp_path: Path) -> None:
    collect([folder], tmp_path / "threads")
    collect([folder], tmp_path / "dask", engine=Unlucky(Dask(client), Killed, notes))
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "threads").read_bytes()
    assert process_is_gone(int((notes / "killed").read_text()))


@pytest.mark.full
def test_a_task_that_kills_every_worker_is_refused_and_the_next_call_goes_on(
    client: Any, folder: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    monkeypatch.setattr(running, "_AHEAD", 1)
    collect([folder], tmp_path / "threads")
    unlucky = Unlucky(Dask(client), AlwaysKilled, notes)
    with pytest.raises(StateError, match=r"Dask gave up: .* all those workers died"):
        collect([folder], tmp_path / "dask", engine=unlucky, save_every=0)
    killed = [int(note.read_text()) for note in notes.iterdir()]
    assert len(killed) >= 2
    assert all(map(process_is_gone, killed))
    (notes / "enough").touch()
    client.wait_for_workers(2, timeout=30)
    collect([folder], tmp_path / "dask", engine=unlucky)
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "threads").read_bytes()


@pytest.mark.full
def test_a_task_that_fails_twice_is_tried_again(client: Any, folder: Path, notes: Path, tmp_path: Path) -> None:
    collect([folder], tmp_path / "threads")
    collect([folder], tmp_path / "dask", engine=Unlucky(Dask(client), FailsTwice, notes))
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "threads").read_bytes()
    assert names(notes) == ["failed 1", "failed 2"]


@pytest.mark.full
def test_a_row_group_that_is_sent_twice_is_refused(client: Any, folder: Path) -> None:
    twice = [(segment(folder / "0.parquet", 0, 1),)] * 2
    with pytest.raises(StateError, match="row group 0 of a file would be counted twice"):
        list(Dask(client).reduce(partial(fold, SMALL), merge, twice))


@pytest.mark.full
def test_errors_of_plausibly_are_not_tried_again(client: Any, folder: Path, tmp_path: Path) -> None:
    found = segment(folder / "0.parquet", 0, 1)
    small_file(tmp_path / "other.parquet", 5, seed=9)
    os.replace(tmp_path / "other.parquet", folder / "0.parquet")
    with pytest.raises(plausibly.ReportError, match=r"0\.parquet: the file was replaced during the collection"):
        list(Dask(client).reduce(partial(fold, SMALL), merge, [(found,)]))


@pytest.mark.full
def test_an_empty_collection_needs_no_cluster() -> None:
    assert list(Dask(None).reduce(len, max, [])) == []


DRIVER = """
import sys
from pathlib import Path
from engines.misfortunes import Slow, Unlucky
from plausibly.engines import collect, dask, pacing, survey
survey._TASKS_EACH, survey._REPORTS_PER_CELL = 10**6, 0
pacing._SHORT = 0
address, folder, output, notes = sys.argv[1:]
collect([folder], output, engine=Unlucky(dask.Dask(dask.connect(address)), Slow, Path(notes)), save_every=0)
"""


@pytest.mark.full
def test_a_driver_that_is_killed_goes_on_where_it_was(
    client: Any, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, output = tmp_path / "reports", tmp_path / "dask"
    folder.mkdir()
    small_file(folder / "0.parquet", 400)
    collect([folder], tmp_path / "threads")
    command = [sys.executable, "-c", DRIVER, client.scheduler.address, str(folder), str(output), str(notes)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    unfinished = tmp_path / "dask.unfinished"
    process = subprocess.Popen(command, env=environment)
    try:
        for _ in range(600):
            if unfinished.exists() or process.poll() is not None:
                break
            time.sleep(0.05)
    finally:
        process.kill()
    assert process.wait() == -signal.SIGKILL
    saved = len(Collected.read(unfinished, complete=False))
    assert 0 < saved < 400
    result = collect([folder], output, engine=Dask(client))
    assert (result.resumed, result.added) == (saved, 400 - saved)
    assert output.read_bytes() == (tmp_path / "threads").read_bytes()


@pytest.mark.full
def test_everything_listens_on_the_loopback_interface_only(client: Any) -> None:
    assert client.run(os.getpid)
    # 127.0.0.1 in its two spellings, and ::1; other engines of this test run are among the children.
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert {"0100007F"} <= listening(os.getpid()) <= loopback


def tables(content: dict[str, Any]) -> list[Any]:
    """The content as every kind of table in three parts."""
    import dask
    import dask.dataframe as frames
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    made = pa.table(content)
    cuts = [made[:20], made[20:20], made[20:]]
    delayed = [
        [dask.delayed(convert)(cut) for cut in cuts] for convert in (pa.table, pl.from_arrow, pa.Table.to_pandas)
    ]
    # Dask would otherwise turn bytes into texts.
    with dask.config.set({"dataframe.convert-string": None if "pet" in content else False}):
        frame = frames.from_pandas(pd.DataFrame(content), npartitions=3)
    return [frame, *delayed]


@pytest.mark.full
def test_reports_in_a_table_are_counted_where_they_are(client: Any) -> None:
    for scheme in (SMALL, KEYED):
        reports = users_reports(scheme, 55)
        records = [report.tobytes() for report in reports]
        with client.as_current():
            for table in tables({"report": records, "day": [1] * 55}):
                assert engine.tally(table, scheme).to_bytes() == tally_of(scheme, reports).to_bytes()
    with client.as_current():
        assert len(engine.tally([], SMALL)) == 0
        for table in tables({"day": [b"x"] * 55}):
            with pytest.raises(ParameterError, match=r"column: unknown 'report'"):
                engine.tally(table, SMALL)
            with pytest.raises(ReportError, match="report 0: expected"):
                engine.tally(table, SMALL, column="day")


VALUES = plausibly.make("OLH", epsilon=1, domain=["cat", "dog", "fish"])


@pytest.mark.full
def test_values_of_a_table_become_report_files(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 1000)  # of workers, too
    values = ["cat", "dog", "fish", "cat", "cat"] * 11
    with client.as_current():
        for place, table in enumerate(tables({"pet": values, "age": [1] * 55})):
            out = tmp_path / f"{place}"
            done = engine.privatize(table, "pet", VALUES, out)
            assert (done.reports, done.skipped, done.simulated) == (55, 0, False)
            collected = collect([out], tmp_path / f"{place}.tally")
            assert len(collected.tally) == 55
            assert names(out) == [f"part-0000{part}.parquet" for part in (range(3) if place == 0 else (0, 2))]


@pytest.mark.full
def test_a_gateway_that_is_killed_publishes_one_report_for_each_value(
    client: Any, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    monkeypatch.setattr(dask_tables, "Discreet", partial(KilledGateway, folder=notes))
    parts = [dask.delayed(pa_table)(["cat"] * 10) for _ in range(64)]
    with client.as_current():
        done = engine.privatize(parts, "pet", VALUES, tmp_path / "out")
    assert process_is_gone(int((notes / "killed").read_text()))
    published = [ReportFile(path) for path in sorted((tmp_path / "out").iterdir())]
    reports = [report.tobytes() for file in published for group in file for report in group]
    assert (len(published), done.reports, len(reports)) == (64, 640, 640)
    # A record begins with a random seed of the report: no two tasks share their noise.
    assert len(set(reports)) == 640
    lost = [report.tobytes() for group in ReportFile(notes / "lost.parquet") for report in group]
    assert len(lost) == 10
    assert not set(lost) & set(reports)


@pytest.mark.full
def test_a_gateway_that_fails_publishes_nothing_and_shows_no_value(client: Any, tmp_path: Path) -> None:
    import dask

    def broken() -> Any:
        raise ValueError("hiv-clinic.org")

    good = dask.delayed(pa_table)(["cat", "dog"])
    cases: list[tuple[list[Any], type[Exception], str]] = [
        ([good, dask.delayed(pa_table)(["cat", None])], ValuesError, "partition 1, row 2: .*missing"),
        ([good, dask.delayed(pa_table)(["hiv-clinic.org"])], ValuesError, "partition 1, row 1: expected one of the 3"),
        ([good, dask.delayed(broken)()], StateError, "Dask gave up: ValueError while it computed the table; no report"),
        ([], ParameterError, "expected values, got none"),
    ]
    with client.as_current():
        for parts, kind, told in cases:
            with pytest.raises(kind, match=told) as refused:
                engine.privatize(parts, "pet", VALUES, tmp_path / "out")
            assert "hiv" not in str(refused.value)
            assert not (tmp_path / "out").exists()
        assert engine.privatize(cases[0][0], "pet", VALUES, tmp_path / "out", missing="skip").skipped == 1


def test_errors_of_a_gateway_show_no_value() -> None:
    def raising(error: Exception, given: object) -> Any:
        raise error

    for error, told in (
        (OSError(28, "No space left on device", "hiv-clinic.org"), "partition 3: No space left on device; no report"),
        (RuntimeError("hiv-clinic.org"), "partition 3: RuntimeError; no report was published"),
        (ParameterError("ours"), "ours"),
    ):
        work: Any = partial(raising, error)
        with pytest.raises(PlausiblyError, match=told) as refused:
            Discreet(work)((3, []))
        shown = "".join(traceback.format_exception(refused.value))
        assert "hiv" not in shown.replace('"hiv-clinic.org"', "")
        assert refused.value.__suppress_context__ or refused.value is error


def test_tables_and_schemes_of_other_kinds_are_refused(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("dask")
    with pytest.raises(ParameterError, match=r"table: expected a Dask DataFrame, such as .*, got DataFrame"):
        engine.tally(pandas.DataFrame({"report": [b""]}), SMALL)
    for wrong in (engine.tally, partial(engine.privatize, out=tmp_path / "out")):
        with pytest.raises(ParameterError, match="scheme: expected a Scheme, got None"):
            wrong([], column="report", scheme=None)  # type: ignore[operator]
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_addresses_of_clusters_are_shown_without_their_passwords() -> None:
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(StateError, match="expected Dask's settings for TLS"):
            engine.connect(f"tls://127.0.0.1:{port}")
        with pytest.raises(StateError, match=f"tls://127.0.0.1:{port}: expected a Dask scheduler there") as refused:
            engine.connect(f"tls://me:hunter2@127.0.0.1:{port}")
    assert "hunter2" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.full
def test_a_master_that_does_not_answer_is_refused_soon() -> None:
    pytest.importorskip("distributed")  # the oldest-dependencies test does without it
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(
            StateError, match=rf"{address}: .* does not answer \(Connection refused\); start the cluster"
        ):
            engine.connect(address)


@pytest.mark.full
def test_a_server_that_says_nothing_is_refused_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masters, "_ANSWERED", 1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        before = _clients()
        with pytest.raises(StateError, match=f"{address}: no answer within 1 seconds; check that a cluster"):
            engine.connect(address)
        # A half-made client would hang the next one, sooner or later, when it is collected.
        assert _clients() == before


def _clients() -> set[int]:
    from distributed import Client

    return {id(each) for each in gc.get_objects() if type(each) is Client}


@pytest.mark.full
def test_a_cluster_without_workers_is_refused_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(connecting, "_ANSWER", 1)
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(
            StateError, match=f"{address}: the cluster has no workers; start some: dask worker {address}"
        ):
            engine.connect(address)


def test_without_distributed_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"Dask needs distributed: pip install distributed"):
        engine.connect("tcp://127.0.0.1:8786")
