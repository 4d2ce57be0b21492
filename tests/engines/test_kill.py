"""Collecting that is killed at any moment and called again: exact counts every time."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from contract.entries import tally_of
from files.making import SMALL, group_size, small_file
from plausibly import Accumulator
from plausibly.engines import Segment, fold
from plausibly.files import Collected, ReportFile

# One task for each row group, and a state saved after each: as many moments as there can be.
COLLECT = """
import sys
from plausibly.engines import collect, survey
survey._TASKS_EACH, survey._REPORTS_PER_CELL = 10**6, 0
print("begun", flush=True)
collect([sys.argv[1]], sys.argv[2], save_every=0)
"""


def started(folder: Path, output: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COLLECT, str(folder), str(output)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def finished(process: subprocess.Popen[str]) -> bool:
    process.communicate()
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode == 0


def consistent(state: Collected, paths: dict[str, str]) -> bool:
    """Whether a state is exactly what the row groups that it lists add up to."""
    segments = [Segment(paths[key], key, *each) for key, ranges in state.files.items() for each in ranges]
    return fold(SMALL, segments).tally.to_bytes() == state.tally.to_bytes()


def kill_often(folder: Path, output: Path, wanted: Accumulator, moments: int) -> None:
    paths = {ReportFile(path).identity: str(path) for path in folder.glob("*.parquet")}
    start = time.monotonic()
    assert finished(started(folder, output))
    longest = time.monotonic() - start
    output.unlink()
    unfinished = output.with_name(f"{output.name}.unfinished")
    generator = np.random.default_rng(20_261)
    killed = resumed = 0
    # A fourth of the moments are in the middle of the work, unless the machine is busy with other things.
    while killed < moments or resumed < moments // 4:
        assert killed < 5 * moments, "hardly a moment is in the middle"
        process = started(folder, output)
        time.sleep(generator.uniform(0, longest / 2))
        process.kill()
        if finished(process):
            # Done before it could be killed: once more from the beginning.
            assert Collected.read(output).tally.to_bytes() == wanted.to_bytes()
            output.unlink()
            continue
        killed += 1
        if unfinished.exists():
            state = Collected.read(unfinished, complete=False)
            assert consistent(state, paths)
            resumed += 0 < len(state) < len(wanted)
        if output.exists():
            assert Collected.read(output).tally.to_bytes() == wanted.to_bytes()
        elif killed % 2:
            # Every other time it may come to its end.
            assert finished(started(folder, output))
            assert Collected.read(output).tally.to_bytes() == wanted.to_bytes()
            assert sorted(entry.name for entry in output.parent.iterdir()) == sorted([output.name, folder.name])
            output.unlink()


@pytest.mark.parametrize("moments", [pytest.param(4, marks=pytest.mark.full), pytest.param(50, marks=pytest.mark.slow)])
def test_killed_at_random_moments_every_report_counts_once(
    moments: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_size(monkeypatch, 40)
    folder = tmp_path / "reports"
    folder.mkdir()
    wanted = tally_of(SMALL, *(small_file(folder / f"{seed}.parquet", 4000, seed=seed) for seed in range(3)))
    kill_often(folder, tmp_path / "zzz.tally", wanted, moments)
