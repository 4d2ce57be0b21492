"""Tests leave the tree as it was: the check itself, with and without git, in one process and in several."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tree import ROOT, not_ignored, untracked

DIRTY = "from pathlib import Path\ndef test_writes():\n    Path(__file__).with_name('left.txt').touch()\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository that has nothing but our check."""
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "java.py", "tree.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\npythonpath = tests\naddopts = -p no:cacheprovider --disable-plugin-autoload -p xdist\n"
    )
    (tmp_path / ".gitignore").write_text("__pycache__/\n.hypothesis/\n/*.tally\n")
    return tmp_path


def run(clone: Path, test: str, *options: str) -> tuple[int, str]:
    (clone / "tests" / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", *options, "tests"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.full
def test_a_file_that_a_test_leaves_fails_the_run_and_is_named(clone: Path) -> None:
    assert run(clone, DIRTY)[0] == 0, "without a repository nothing can be said"
    subprocess.run(["git", "init", "-q"], cwd=clone, check=True)
    assert run(clone, DIRTY)[0] == 0, "what was there before is not the run's fault"
    for options in ([], ["-n", "1"]):
        (clone / "tests" / "left.txt").unlink()
        code, said = run(clone, DIRTY, *options)
        assert code == 1, said
        assert "1 passed" in said
        assert "tests/left.txt" in said


def test_untracked_files_are_those_that_git_neither_tracks_nor_ignores(clone: Path) -> None:
    assert untracked(clone) == set()
    subprocess.run(["git", "init", "-q"], cwd=clone, check=True)
    subprocess.run(["git", "add", "tests", "pytest.ini"], cwd=clone, check=True)
    (clone / "a.tally").touch()
    (clone / "ä b.txt").touch()
    assert untracked(clone) == {".gitignore", "ä b.txt"}


def test_what_the_commands_write_by_design_is_ignored_at_the_root_alone(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        return
    for name in ("visits.csv", "plausibly-demo/page.html", "odd.xyz", "docs/visits.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert not_ignored(tmp_path) == ["docs/visits.csv", "odd.xyz"]
