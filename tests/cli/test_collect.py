"""plausibly collect: what was added, what was left out, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from contract.entries import other_than, reports_of
from drawn import thinned
from files.hostile import resealed
from files.making import SMALL, damage_group, group_size, small_file
from plausibly import make
from plausibly.cli import app
from plausibly.cli import collect as command
from plausibly.files import read_tally, write_reports


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["collect", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files of 25 and 40 reports, in row groups of 10."""
    group_size(monkeypatch, 10)
    made = tmp_path / "reports"
    made.mkdir()
    for seed, count in enumerate([25, 40]):
        small_file(made / f"{seed}.parquet", count, seed=seed)
    return made


def test_calling_again_adds_what_is_new(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.tally"
    assert run(folder / "0.parquet", "-o", out)[0] == 0
    (folder / "copy.parquet").write_bytes((folder / "0.parquet").read_bytes())
    code, shown, _ = run(folder, "--out", out, "--json")
    assert code == 0
    said = json.loads(shown)
    assert (said["added"], said["reports"], said["files"], said["skipped"]) == (40, 65, 2, [])
    assert said["copies"] == [str(folder / "copy.parquet")]
    assert (said["scheme"], said["fingerprint"], said["simulated"]) == ("DE", SMALL.fingerprint(), False)
    code, shown, _ = run(folder, "--out", out)
    assert "added   0 reports; 65 were counted already" in shown
    assert "copies  1" in shown


def test_what_is_damaged_is_refused_by_name_or_left_out_and_told(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.tally"
    damage_group(folder / "1.parquet", 2)
    code, shown, told = run(folder, "--out", out)
    assert (code, shown) == (1, "")
    assert "1.parquet, row group 2: " in told
    assert not out.exists()
    code, shown, told = run(folder, "--out", out, "--skip-bad", "--json")
    assert code == 0
    said = json.loads(shown)
    assert said["reports"] == 55
    assert [(each["group"], each["reports"]) for each in said["skipped"]] == [(2, 10)]
    assert "Left out: 1 row group with 10 reports." in told
    assert "1.parquet, row group 2: " in told


def test_simulated_reports_are_refused_in_the_words_of_the_command_line(tmp_path: Path) -> None:
    write_reports(tmp_path / "s.parquet", SMALL, reports_of(SMALL, 5))
    code, _, told = run(tmp_path / "s.parquet", "--out", tmp_path / "x.tally")
    assert code == 1
    assert "s.parquet: simulated reports, which are not from real users; pass --simulated to accept them" in told
    assert "allow_simulated" not in told
    code, shown, _ = run(tmp_path / "s.parquet", "--out", tmp_path / "x.tally", "--simulated")
    assert code == 0
    assert "5 reports (simulated)" in shown
    code, _, told = run(tmp_path / "s.parquet", "--out", tmp_path / "x.tally")
    assert code == 1
    assert "x.tally: simulated reports" in told


def test_only_the_scheme_that_is_expected_is_taken(folder: Path, tmp_path: Path) -> None:
    code, _, told = run(folder, "--out", tmp_path / "x.tally", "--scheme", "DE:epsilon=1,domain_size=12")
    assert code == 1
    assert "0.parquet: expected the given scheme, got another: domain size is 11, not 12" in told
    (tmp_path / "scheme.json").write_text(SMALL.to_json(), encoding="utf-8")
    assert run(folder, "--out", tmp_path / "x.tally", "--scheme", tmp_path / "scheme.json")[0] == 0
    other = other_than(SMALL)
    write_reports(folder / "2.parquet", other, other.tag(reports_of(other, 5)))
    code, _, told = run(folder, "--out", tmp_path / "x.tally")
    assert code == 1
    assert "x.tally, got another: epsilon is" in told


def test_names_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    code, shown, told = run(tmp_path / "none", "--out", tmp_path / "x.tally")
    assert (code, shown) == (1, "")
    assert "none: no such file or folder" in told
    small_file(tmp_path / "reports.parquet")
    code, _, told = run(tmp_path / "reports.parquet", "--out", tmp_path / "no" / "x.tally")
    assert code == 2
    assert "there is no folder" in told
    assert run(tmp_path / "reports.parquet")[0] == 2


def test_an_interrupt_says_that_the_same_command_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "collected", interrupted)
    code, shown, told = run(tmp_path, "--out", tmp_path / "x.tally")
    assert (code, shown) == (130, "")
    assert "run the same command to continue" in told


def test_a_changed_byte_of_the_metadata_is_skipped_or_refused_and_never_ends_in_a_traceback(
    folder: Path, tmp_path: Path
) -> None:
    bad = folder / "1.parquet"
    content = bad.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    start = len(content) - 8 - length
    # One of them hides all texts from readers of Parquet, which was told with a traceback.
    hidden = content.index(b"\x19\x7c\x18\x11plausibly.version", start)
    for place in (hidden, *thinned(range(start, len(content) - 8, 61))):
        damaged = bytearray(content)
        damaged[place] ^= 0x20
        bad.write_bytes(resealed(bytes(damaged), bytes))
        out = tmp_path / f"{place}.tally"
        code, shown, told = run(folder, "--out", out, "--json")
        if code:  # else it was a number that nobody needs
            assert (code, shown) == (1, "")
            assert "1.parquet" in told
            code, shown, told = run(folder, "--out", out, "--skip-bad", "--json")
            assert code == 0 or "expected the scheme of" in told, "another scheme is no damage"
        else:
            assert place != hidden


@pytest.mark.full
@pytest.mark.xdist_group("processes")
def test_processes_collect_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert run(folder, "--out", tmp_path / "a.tally", "--engine", "processes")[::2] == (0, "")
    assert run(folder, "--out", tmp_path / "b.tally")[0] == 0
    assert (tmp_path / "a.tally").read_bytes() == (tmp_path / "b.tally").read_bytes()


@pytest.mark.full
@pytest.mark.xdist_group("processes")
def test_ctrl_c_ends_processes_with_one_message_and_the_next_call_goes_on(tmp_path: Path) -> None:
    scheme = make("OLH", epsilon=1, domain_size=5000)
    for number in range(6):
        write_reports(tmp_path / f"{number}.parquet", scheme, scheme.privatize([3] * 400_000))
    words = [sys.executable, "-m", "plausibly", "collect", str(tmp_path), "--out", str(tmp_path / "x.tally")]
    words += ["--engine", "processes"]
    environment = os.environ | {"PLAUSIBLY_THREADS": "2"}
    ended = subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True, text=True, env=environment)
    for _ in range(300):
        if len(children_of(ended.pid)) >= 3:  # two workers, and the process that tidies up after them
            break
        time.sleep(0.1)
    workers = children_of(ended.pid)  # they import now, or already count
    os.killpg(ended.pid, signal.SIGINT)
    told = ended.communicate(timeout=60)[1]
    assert len(workers) >= 2
    assert (ended.returncode, told) == (130, f"{command._KEPT}\n")
    assert children_of(ended.pid) == []
    assert run(tmp_path, "--out", tmp_path / "x.tally")[0] == 0
    assert len(read_tally(tmp_path / "x.tally")) == 2_400_000


def children_of(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]
