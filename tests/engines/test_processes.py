"""Worker processes: the same bytes for every kind of state, and exact counts after one of them is killed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import pytest

from engines.making import KEYED, ON_ENGINES, large_files, one_task_each
from files.making import SMALL, group_size, users_reports
from plausibly import Scheme, StateError
from plausibly.engines import Executors, Processes, collect
from plausibly.files import write_reports

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("processes")]


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as made:
        yield made


@pytest.mark.parametrize("scheme", [*ON_ENGINES.values(), KEYED], ids=[*ON_ENGINES, "keys"])
def test_processes_give_the_bytes_of_threads(
    scheme: Scheme, pool: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    group_size(monkeypatch, 10)
    for number in range(3):
        write_reports(tmp_path / f"{number}.parquet", scheme, users_reports(scheme, 25 + number))
    collect([tmp_path], tmp_path / "threads")
    collect([tmp_path], tmp_path / "processes", engine=Executors(pool, 4))
    assert (tmp_path / "processes").read_bytes() == (tmp_path / "threads").read_bytes()


@pytest.mark.slow
def test_states_of_100_megabytes_have_the_bytes_of_threads(
    pool: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large_files(tmp_path, monkeypatch)
    collect([tmp_path], tmp_path / "threads")
    collect([tmp_path], tmp_path / "processes", engine=Executors(pool, 4))
    assert (tmp_path / "processes").read_bytes() == (tmp_path / "threads").read_bytes()


@dataclass(frozen=True)
class Stalling:
    """A file whose second reader says who it is, and waits until it is killed, or for the rest of a minute."""

    name: str
    said: str

    def open(self) -> io.BufferedReader:
        if os.getpid() != int(Path(f"{self.said}.driver").read_text()) and not Path(f"{self.said}.done").exists():
            part = Path(f"{self.said}.{os.getpid()}")  # of two workers that read the file, either may be killed
            part.write_text(str(os.getpid()))
            os.replace(part, self.said)
            time.sleep(60)
        return open(self.name, "rb")


def awaited(path: Path) -> int:
    """The process id that somebody writes into this file within half a minute."""
    for _ in range(300):
        if path.exists():
            return int(path.read_text())
        time.sleep(0.1)
    raise AssertionError(f"{path.name} did not appear")


def gone(pid: int) -> bool:
    """Whether this process ends within ten seconds."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_a_worker_killed_while_folding_is_a_clear_error_and_the_repetition_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    group_size(monkeypatch, 10)
    monkeypatch.setenv("PLAUSIBLY_THREADS", "2")
    said = tmp_path / "pid"
    Path(f"{said}.driver").write_text(str(os.getpid()))
    sources: list[Path | Stalling] = []
    for number in range(4):
        write_reports(tmp_path / f"{number}.parquet", SMALL, users_reports(SMALL, 25 + number))
        sources.append(tmp_path / f"{number}.parquet")
    sources[2] = Stalling(str(sources[2]), str(said))
    killed: list[int] = []

    def kill() -> None:
        pid = awaited(said)
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    killer = Thread(target=kill)
    killer.start()
    with pytest.raises(StateError, match=r"a worker ended before its task was done: it was killed.* repeat the call"):
        collect(sources, tmp_path / "out", engine=Processes())
    killer.join()
    assert killed
    assert killed[0] != os.getpid()
    assert gone(killed[0])
    assert not (tmp_path / "out").exists()
    Path(f"{said}.done").touch()
    found = collect(sources, tmp_path / "out")
    assert found.added + found.resumed == 25 + 26 + 27 + 28
    collect(sorted(tmp_path.glob("*.parquet")), tmp_path / "wanted")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "wanted").read_bytes()


def test_if_the_driver_is_killed_its_workers_end_and_the_repetition_is_exact(tmp_path: Path) -> None:
    said, path = tmp_path / "pid", tmp_path / "0.parquet"
    write_reports(path, SMALL, users_reports(SMALL, 25))
    program = f"""
import os
from pathlib import Path
from engines.test_processes import Stalling
from plausibly.engines import Processes, collect
if __name__ == "__main__":
    Path({f"{said}.driver"!r}).write_text(str(os.getpid()))
    collect([Stalling({str(path)!r}, {str(said)!r})], {str(tmp_path / "out")!r}, engine=Processes())
"""
    (tmp_path / "driver.py").write_text(program)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    driver = subprocess.Popen([sys.executable, str(tmp_path / "driver.py")], env=environment)
    try:
        worker = awaited(said)
    finally:
        driver.kill()
        driver.wait()
    assert worker != driver.pid
    assert gone(worker), "it sleeps for a minute unless it notices"
    Path(f"{said}.driver").write_text(str(os.getpid()))
    assert len(collect([Stalling(str(path), str(said))], tmp_path / "out").tally) == 25
