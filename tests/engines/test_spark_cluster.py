"""Spark with two executors in processes of their own, one of which is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.making import names
from engines.misfortunes import process_is_gone
from plausibly.engines import collect

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("spark")]

# A Java process has one Spark at most, so this one is in a Python of its own.
CLUSTER = """
import os, sys
from pathlib import Path
from engines.misfortunes import ExecutorKilled, Unlucky, descendants, listening
from engines.spark_sessions import classic
from plausibly.engines import collect, survey
from plausibly.engines.spark import Spark
survey._TASKS_EACH, survey._REPORTS_PER_CELL = 10**6, 0
folder = Path(sys.argv[1])
session = classic("local-cluster[2,1,1024]", folder / "spark")
collect([folder / "reports"], folder / "cluster", engine=Spark(session))
collect([folder / "reports"], folder / "killed", engine=Unlucky(Spark(session), ExecutorKilled, folder / "notes"))
java = [process for process in descendants(os.getpid()) if "java" in Path(f"/proc/{process}/comm").read_text()]
print(len(java), *sorted({address for process in java for address in listening(process)}))
session.stop()
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_a_cluster_gives_the_bytes_of_threads_even_if_an_executor_is_killed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    command = [sys.executable, "-W", "ignore", "-c", CLUSTER, str(tmp_path)]
    place = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=place)
    assert done.returncode == 0, done.stderr
    collect([folder], tmp_path / "threads")
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "threads").read_bytes()
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "threads").read_bytes()
    assert names(tmp_path / "notes") == ["executor", "killed"]
    assert process_is_gone(int((tmp_path / "notes" / "executor").read_text()))
    java, *addresses = done.stdout.split()
    assert int(java) >= 3, "the driver and two executors"
    assert set(addresses) <= LOOPBACK
