"""A Dask cluster of two worker processes: the bytes of threads, and exact counts whatever happens to its tasks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import plausibly
from engines.making import names, one_task_each, segment
from engines.misfortunes import AlwaysKilled, FailsTwice, Killed, Unlucky, listening, process_is_gone
from files.making import SMALL, small_file, users_reports
from plausibly import Keys, Scheme, StateError
from plausibly.engines import collect, fold, merge
from plausibly.engines import dask as engine
from plausibly.engines.dask import Dask
from plausibly.files import Collected, write_reports

pytestmark = pytest.mark.xdist_group("dask")

SCHEMES = {
    "TLH": plausibly.make("TLH", epsilon=1, domain_size=1000),
    "TRELLIS": plausibly.TRELLIS(2, domain=plausibly.Strings("ab", 6), users=1000),
    "OUE": plausibly.make("OUE", epsilon=1, domain_size=40),
    "CM": plausibly.make("CM", oracle=plausibly.make("OLH", epsilon=1, domain_size=16), rows=4, domain=Keys()),
    "keys": plausibly.make("TLH", epsilon=1, domain=Keys()),
}


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    # The tests of everything else run without Dask, too.
    import dask
    from distributed import Client, LocalCluster

    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.admin.log-format": "%(message)s"}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as made,
    ):
        yield made


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


@pytest.mark.full
@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
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
    monkeypatch.setattr(engine, "_AHEAD", 1)
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
from plausibly.engines import collect, dask, survey
survey._TASKS_EACH, survey._REPORTS_PER_CELL = 10**6, 0
dask._SHORT = 0
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
    assert listening(os.getpid()) == {"0100007F"}


@pytest.mark.full
def test_a_master_that_does_not_answer_is_refused_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_ANSWER", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StateError, match=f"{address}: no Dask scheduler answers there; start one"):
            engine.connect(address)


def test_without_distributed_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"Dask needs distributed: pip install 'plausibly\[dask\]'"):
        engine.connect("tcp://127.0.0.1:8786")
