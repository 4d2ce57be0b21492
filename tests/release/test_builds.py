"""The files of a release: their content, the same bytes twice, and the tests run from the archive."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from release.wheels import EMULATED, NATIVE, PURE, TARGETS, build_source, compiler, unpack

from release import emulation, wheels
from tree import ROOT

LABORATORY = ("plausibly/experiments/", "plausibly/rehearsal/")
LARGEST = 700_000
"""Bytes of a wheel with kernels, without the laboratory; docs/adr/0029-releases.md says of what they consist."""


def wheel(source: Path, dist: Path, cc: str, umask: int = 0o022) -> Path:
    shutil.rmtree(source / "build", ignore_errors=True)
    command = [sys.executable, "setup.py", "-q", "bdist_wheel", "-d", str(dist)]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(command, cwd=source, check=True, capture_output=True, env={**environment, "CC": cc}, umask=umask)
    [made] = dist.iterdir()
    return made


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def tracked() -> set[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    return set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split("\0")) - {""}


@pytest.mark.full
def test_the_archive_has_all_files_and_two_pure_wheels_of_it_the_same_bytes(tmp_path: Path) -> None:
    source = unpack(build_source(tmp_path), tmp_path / "source")
    packed = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    if tracked():
        made = {"PKG-INFO", "setup.cfg"} | {name for name in packed if name.startswith("src/plausibly.egg-info/")}
        assert packed - made == {name for name in tracked() if (ROOT / name).exists()}
    first = wheel(source, tmp_path / "first", cc="false")
    for path in source.rglob("*.py"):
        os.utime(path)
    second = wheel(source, tmp_path / "second", cc="false", umask=0o077)
    assert first.name.endswith("-py3-none-any.whl")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as opened:
        names = opened.namelist()
    assert [name for name in names if name.endswith((".c", ".h", ".so"))] == []
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"plausibly"}


@pytest.mark.slow
def test_two_wheels_with_kernels_have_the_same_bytes_and_are_small(tmp_path: Path) -> None:
    source = unpack(build_source(tmp_path), tmp_path / "source")
    first, second = (wheel(source, tmp_path / name, cc="cc") for name in ("first", "second"))
    assert "-py3-none-linux_" in first.name
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as opened:
        laboratory = sum(f.compress_size for f in opened.infolist() if f.filename.startswith(LABORATORY))
    assert first.stat().st_size - laboratory < LARGEST


@pytest.mark.slow
def test_installing_the_core_takes_little_time_and_space(tmp_path: Path) -> None:
    built = wheel(unpack(build_source(tmp_path), tmp_path / "source"), tmp_path / "dist", cc="cc")
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    space = size_of(environment)
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(environment / "bin/python"), "-m", "pip", "install", "-q", "--no-cache-dir", str(built)]
    subprocess.run(command, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime < 30
    assert size_of(environment) - space < 120e6


@pytest.mark.slow
def test_the_quick_tests_pass_from_the_archive(tmp_path: Path) -> None:
    source = unpack(build_source(tmp_path), tmp_path / "source")
    done = subprocess.run(["make", "test-fast"], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_there_is_a_wheel_for_every_platform_that_is_promised() -> None:
    tags = [target.platform for target in TARGETS]
    assert {"manylinux_2_17_x86_64", "manylinux_2_17_aarch64", "any", "win_amd64"} <= set(tags)
    assert sum(tag.startswith("macosx") for tag in tags) == 2
    assert [target for target in TARGETS if not target.zig] == [PURE]


def test_a_platform_that_nobody_can_run_here_is_said_to_be_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(wheels, "audit", lambda *_: ran.append("audit"))
    monkeypatch.setattr(wheels, "test_installed", lambda *_: "tested here")
    monkeypatch.setattr(wheels.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(emulation.shutil, "which", lambda _: None)
    nowhere = Path("nowhere")
    told = {target: wheels.check(nowhere, target, nowhere, nowhere) for target in TARGETS}
    assert told[NATIVE] == told[PURE] == "tested here"
    assert "built, not run: the test needs qemu-aarch64" in told[EMULATED]
    assert {told[t] for t in TARGETS if t.platform.startswith(("macosx", "win"))} == {"built, not run"}
    assert ran == ["audit", "audit"]


def test_the_cross_compiler_is_told_the_platform_and_a_pure_wheel_has_no_compiler(tmp_path: Path) -> None:
    assert compiler(EMULATED, tmp_path).endswith("-m ziglang cc -target aarch64-linux-gnu.2.17 -s")
    assert compiler(PURE, tmp_path) == "false"
