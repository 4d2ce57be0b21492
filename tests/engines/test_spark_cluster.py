"""Spark with two executors in processes of their own: tasks done twice, and an executor that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.making import KEYED, ON_ENGINES, large_files, names
from engines.misfortunes import process_is_gone
from files.making import users_reports
from plausibly.engines import collect
from plausibly.files import ReportFile, write_reports

pytestmark = pytest.mark.xdist_group("spark cluster")

# 127.0.0.1 and 127.0.0.2, each also in an IPv6 socket, and ::1.
_PREFIX = "0000000000000000FFFF0000"
LOOPBACK = {"0100007F", "0200007F", f"{_PREFIX}0100007F", f"{_PREFIX}0200007F", "00000000000000000000000001000000"}


def on_the_cluster(*words: object) -> str:
    """The output of the cluster's program."""
    command = [sys.executable, "-W", "ignore", "-m", "engines.local_cluster", *map(str, words)]
    root = Path(__file__).parents[1]
    place = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root.parent)])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=place)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.full
def test_a_cluster_gives_the_bytes_of_threads_whatever_happens_to_its_tasks(tmp_path: Path) -> None:
    for name, scheme in {**ON_ENGINES, "keys": KEYED}.items():
        (tmp_path / name).mkdir()
        write_reports(tmp_path / name / "0.parquet", scheme, users_reports(scheme, 65))
    notes = {each: tmp_path / f"notes of {each}" for each in ("tasks", "gateways", "executors")}
    for each in notes.values():
        each.mkdir()
    java, *addresses = on_the_cluster(tmp_path).split()
    assert int(java) >= 3, "the driver and two executors"
    assert set(addresses) <= LOOPBACK
    for name in ON_ENGINES:
        collect([tmp_path / name], tmp_path / f"{name} of threads.tally")
        assert (tmp_path / f"{name}.tally").read_bytes() == (tmp_path / f"{name} of threads.tally").read_bytes()
    wanted = (tmp_path / "TLH.tally").read_bytes()

    assert len(names(notes["tasks"])) == 2, "two processes have done the same task"
    assert (tmp_path / "twice.tally").read_bytes() == wanted

    attempts = [ReportFile(path) for path in notes["gateways"].glob("*.parquet")]
    published = [ReportFile(path) for path in sorted((tmp_path / "private").iterdir())]
    assert len({each.identity for each in attempts}) == 2, "two processes have privatized the same values"
    assert sum(map(len, published)) == 24
    assert len({each.identity for each in attempts} & {each.identity for each in published}) == 1

    assert (tmp_path / "killed.tally").read_bytes() == wanted
    assert names(notes["executors"]) == ["executor", "killed"]
    assert process_is_gone(int((notes["executors"] / "executor").read_text()))


@pytest.mark.slow
def test_states_of_100_megabytes_have_the_bytes_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large").mkdir()
    large_files(tmp_path / "large", monkeypatch)
    on_the_cluster(tmp_path, "large")
    collect([tmp_path / "large"], tmp_path / "threads")
    assert (tmp_path / "large.tally").read_bytes() == (tmp_path / "threads").read_bytes()
