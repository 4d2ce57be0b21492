"""Spark on two cores, classic and over Spark Connect: the bytes of threads, whatever happens to its tasks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

import plausibly
from contract.entries import tally_of
from engines.making import KEYED, ON_ENGINES, large_files, names, one_task_each, same_answer, whole
from engines.misfortunes import (
    Absent,
    AlwaysFails,
    FailsTwice,
    Killed,
    KilledGateway,
    Misfortune,
    Unlucky,
    listening,
    process_is_gone,
)
from engines.spark_sessions import LOOPBACK, port_of
from files.making import SMALL, group_size, small_file, users_reports
from plausibly import Scheme
from plausibly.core.errors import ParameterError, ReportError, StateError
from plausibly.engines import ask, collect, pacing, workers
from plausibly.engines.spark import Spark, privatize, tables, tally
from plausibly.engines.spark.replies import _one_row
from plausibly.files import Collected, ReportFile, UnreachableError, ValuesError, write_reports

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("spark")]


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest) -> Any:
    """Spark, and the same Spark over Spark Connect."""
    return request.getfixturevalue({"classic": "spark", "connect": "connected"}[request.param])


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


def both(engine: Any, folder: Path) -> tuple[bytes, bytes]:
    """The bytes of a folder's tally, collected by threads and by an engine."""
    collect([folder], folder / "threads")
    collect([folder], folder / "spark", engine=engine)
    return (folder / "threads").read_bytes(), (folder / "spark").read_bytes()


@pytest.mark.parametrize("scheme", ON_ENGINES.values(), ids=ON_ENGINES)
def test_spark_gives_the_bytes_of_threads(
    session: Any, scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    monkeypatch.setattr(pacing, "_SHORT", 0)
    for number in range(2):
        write_reports(tmp_path / f"{number}.parquet", scheme, users_reports(scheme, 25 + number))
    threads, spark = both(Spark(session), tmp_path)
    assert spark == threads


def test_many_states_are_merged_on_the_cluster(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_task_each(monkeypatch)
    monkeypatch.setattr(pacing, "_EACH", 1)
    small_file(tmp_path / "a.parquet", 180)
    done: list[int] = []
    collect([tmp_path], tmp_path / "spark", engine=Spark(session, wave=17), progress=lambda now, _: done.append(now))
    assert len(done) < 7, "17 tasks come back as at most 4 states"
    assert Collected.read(tmp_path / "spark").tally.to_bytes() == whole(tmp_path)


@pytest.mark.slow
def test_states_of_100_megabytes_need_no_large_java_process(
    session: Any, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large_files(tmp_path, monkeypatch)
    threads, other = both(Spark(session, wave=4), tmp_path)
    assert other == threads
    status = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/status").read_text()
    [most] = re.findall(r"VmHWM:\s+(\d+) kB", status)
    assert int(most) < 2e6


def test_scores_of_candidates_are_those_of_threads(session: Any, tmp_path: Path) -> None:
    write_reports(tmp_path / "a.parquet", KEYED, users_reports(KEYED, 65))
    items = ["a", "b", "c"]
    assert same_answer(ask([tmp_path], items, engine=Spark(session)), ask([tmp_path], items))


@pytest.mark.parametrize("wave", [0, -1, 2.5])
def test_waves_have_tasks(wave: Any) -> None:
    with pytest.raises(ParameterError, match=r"wave: expected (1 to|an integer)"):
        Spark(None, wave)


def test_nothing_new_needs_no_spark(folder: Path, tmp_path: Path) -> None:
    collect([folder], tmp_path / "out")
    assert collect([folder], tmp_path / "out", engine=Spark(None)).added == 0


@pytest.mark.parametrize("kind", [Killed, FailsTwice])
def test_misfortunes_of_tasks_lose_nothing(
    kind: type[Misfortune], session: Any, folder: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    threads, spark = both(Unlucky(Spark(session), kind, notes), folder)
    assert spark == threads
    assert names(notes) == (["killed"] if kind is Killed else ["failed 1", "failed 2"])
    if kind is Killed:
        assert process_is_gone(int((notes / "killed").read_text()))


def in_workers(session: Any, work: Callable[[Iterable[Any]], Iterator[Any]]) -> set[int]:
    """The processes that run two tasks at the same time. Their results are what the work makes of some batches."""

    def processes(batches: Iterable[Any]) -> Iterator[Any]:
        time.sleep(0.3)  # so that neither process has time for both
        for _ in work(batches):
            pass
        yield pyarrow.record_batch({"pid": pyarrow.array([os.getpid()], "int64")})

    found = session.range(0, 1 << 16, 1, 2).mapInArrow(processes, "pid long").toArrow()
    return set(found["pid"].to_pylist())


def test_workers_are_kept_between_jobs(spark: Any, folder: Path, tmp_path: Path) -> None:
    before = in_workers(spark, _one_row)
    assert len(before) == 2
    collect([folder], tmp_path / "out", engine=Spark(spark))
    assert in_workers(spark, _one_row) == before, "each new one would import everything again"
    # A job that leaves batches is what costs the workers.
    in_workers(spark, lambda batches: iter([next(iter(batches))]))
    assert not in_workers(spark, _one_row) & before


class Twice:
    """An engine that sends the first task twice, as another one."""

    def __init__(self, engine: Spark) -> None:
        self._engine = engine

    def reduce(self, work: Any, merge: Any, tasks: Any) -> Any:
        return self._engine.reduce(work, merge, [*tasks, tasks[0]])


def test_a_row_group_that_is_sent_twice_is_refused(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    with pytest.raises(StateError, match=r"twice|overlap|already"):
        collect([folder], tmp_path / "out", engine=Twice(Spark(spark)))  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_workers_without_the_drivers_files_are_refused_even_if_damage_is_skipped(
    spark: Any, folder: Path, notes: Path, tmp_path: Path
) -> None:
    with pytest.raises(UnreachableError, match="No such file"):
        collect([folder], tmp_path / "out", engine=Unlucky(Spark(spark), Absent, notes), skip_bad=True)
    assert names(notes) == ["absent"]
    assert not (tmp_path / "out").exists()


def test_another_version_on_a_worker_is_refused(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This process pretends to be newer than its workers, which import the version themselves.
    usual = workers._Label.__init__.__defaults__
    newer = tuple("999.0" if each == plausibly.__version__ else each for each in usual or ())
    monkeypatch.setattr(workers._Label.__init__, "__defaults__", newer)
    monkeypatch.setattr(workers, "__version__", "999.0")
    with pytest.raises(StateError, match=r"runs plausibly \d.*, this process 999\.0; install the same version"):
        collect([folder], tmp_path / "out", engine=Spark(spark))


def test_an_error_that_is_not_ours_is_named_after_all_attempts(
    spark: Any, folder: Path, notes: Path, tmp_path: Path
) -> None:
    with pytest.raises(StateError, match="Spark gave up: RuntimeError: a disk that is broken"):
        collect([folder], tmp_path / "out", engine=Unlucky(Spark(spark), AlwaysFails, notes))
    assert len(names(notes)) >= 4, "spark.task.maxFailures"


def table(session: Any, column: list[Any], parts: int, kind: Any = None) -> Any:
    return session.createDataFrame(pyarrow.table({"value": pyarrow.array(column, kind)})).repartition(parts)


def test_reports_in_a_table_are_tallied(session: Any) -> None:
    scheme = ON_ENGINES["TLH"]
    reports = users_reports(scheme, 100)
    rows = table(session, [report.tobytes() for report in reports], 13, "binary")
    assert tally(rows, scheme, "value").to_bytes() == tally_of(scheme, reports).to_bytes()
    dotted = rows.withColumnRenamed("value", "a.b")
    assert tally(dotted, scheme, "a.b").to_bytes() == tally_of(scheme, reports).to_bytes()


def test_tables_of_something_else_are_refused(spark: Any) -> None:
    with pytest.raises(ParameterError, match="column: unknown 'report'; valid: value"):
        tally(table(spark, [1], 1), SMALL)
    with pytest.raises(ParameterError, match=r"table: expected a Spark DataFrame, such as .*, got dict"):
        tally({"value": [1]}, SMALL, "value")
    with pytest.raises(ParameterError, match="scheme: expected a Scheme, got None"):
        tally(table(spark, [1], 1), None, "value")  # type: ignore[arg-type]
    with pytest.raises(ReportError):
        tally(table(spark, [None, bytes(SMALL.report_dtype.itemsize)], 1), SMALL, "value")


def test_an_empty_table_has_an_empty_tally(spark: Any) -> None:
    assert len(tally(table(spark, [], 2, "binary"), SMALL, "value")) == 0


def test_values_in_a_table_are_privatized_once(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 1 << 20)  # as on the workers
    rows = table(session, [3, 4, None, 5] * 20, 3, "int64")
    with pytest.raises(ValuesError, match=r'partition \d, row \d+: no value.*missing="skip"'):
        privatize(rows, "value", SMALL, tmp_path / "out")
    assert names(tmp_path) == []
    done = privatize(rows, "value", SMALL, tmp_path / "out", missing="skip")
    assert (done.reports, done.skipped, done.simulated) == (60, 20, False)
    assert names(tmp_path / "out") == [f"part-{part:05}.parquet" for part in range(3)]
    assert len(collect([tmp_path / "out"], tmp_path / "tally").tally) == 60
    with pytest.raises(StateError, match="exists already, and reports are never overwritten"):
        privatize(rows, "value", SMALL, tmp_path / "out", missing="skip")


def test_texts_are_parsed_as_in_a_file(spark: Any, tmp_path: Path) -> None:
    assert privatize(table(spark, ["3", "4"], 1), "value", SMALL, tmp_path / "out").reports == 2
    with pytest.raises(ValuesError, match="partition 0, row 1: ") as raised:
        privatize(table(spark, ["hiv-clinic"], 1), "value", SMALL, tmp_path / "other")
    assert "hiv" not in str(raised.value)
    # Spark's own errors, of the computation of the table, quote the value.
    wrong = table(spark, ["hiv-clinic"], 1).selectExpr("cast(value as int) as value")
    with pytest.raises(StateError, match=r"Spark gave up: .* while it computed the table; no report was") as raised:
        privatize(wrong, "value", SMALL, tmp_path / "other")
    assert "hiv" not in "".join(traceback.format_exception(raised.value)).replace('"hiv-clinic"', "")


def test_only_one_of_several_attempts_is_published(
    spark: Any, tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tables.Gateway
    monkeypatch.setattr(tables, "Gateway", lambda *given: KilledGateway(made(*given), notes))
    done = privatize(table(spark, [1, 2, 3], 1), "value", SMALL, tmp_path / "out")
    assert done.reports == 3
    assert names(tmp_path / "out") == ["part-00000.parquet"]
    lost = ReportFile(notes / "lost.parquet")
    assert len(lost) == 3, "an attempt that was complete, and never reported"
    assert lost.identity != ReportFile(tmp_path / "out" / "part-00000.parquet").identity
    assert process_is_gone(int((notes / "killed").read_text()))


def test_tasks_of_one_job_share_no_noise(spark: Any, tmp_path: Path) -> None:
    # The hash of each report is drawn from 2^64 or more: two equal ones are a shared noise key. 64 tasks fork from one
    # process, and each privatizes the same value.
    scheme = plausibly.make("OLH", epsilon=1, domain_size=1000)
    privatize(table(spark, [7] * 640, 64), "value", scheme, tmp_path / "out")
    files = [ReportFile(path) for path in sorted((tmp_path / "out").iterdir())]
    assert len(files) == 64
    seeds = np.concatenate([reports[scheme.report_dtype.names[0]] for file in files for reports in file])
    assert len(np.unique(seeds)) == len(seeds) == 640


def test_the_java_process_listens_on_loopback_only(spark: Any, connected: Any) -> None:
    java = spark.sparkContext._gateway.proc.pid
    found = listening(java)
    assert found
    # 127.0.0.1, and the same in an IPv6 socket.
    assert found <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


DRIVER = """
import sys
from pathlib import Path
from engines.misfortunes import Slow, Unlucky
from plausibly.engines import collect, survey
from plausibly.engines.spark import Spark, connect
survey._TASKS_EACH, survey._REPORTS_PER_CELL = 10**6, 0
engine = Unlucky(Spark(connect(sys.argv[1]), wave=2), Slow, Path(sys.argv[4]))
collect([sys.argv[2]], sys.argv[3], engine=engine, save_every=0)
"""


def test_a_driver_that_is_killed_and_started_again_counts_every_report_once(
    spark: Any, folder: Path, notes: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    unfinished = tmp_path / "out.unfinished"
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, f"sc://{LOOPBACK}:{port_of(spark)}"]
    command += [str(folder), str(output), str(notes)]
    driver = subprocess.Popen(command, stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not unfinished.exists() and driver.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    driver.kill()
    _, errors = driver.communicate()
    assert driver.returncode == -9, errors
    saved = len(Collected.read(unfinished, complete=False))
    assert 0 < saved < 68
    again = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert again.returncode == 0, again.stderr
    collect([folder], tmp_path / "threads")
    assert output.read_bytes() == (tmp_path / "threads").read_bytes()
    assert not unfinished.exists()
