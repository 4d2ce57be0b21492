"""Which kernels a fresh interpreter chooses, and what it says about it.

Each test imports a copy of the package's folder in a process of its own: a library can be loaded once only.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from plausibly import kernels

FOLDER = Path(kernels.__file__).parent

PROBE = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import kernels
    import kernels as again
import numpy as np
ones = np.ones(3, dtype=np.uint64)
print(json.dumps({
    "active": kernels.active,
    "reason": kernels.reason,
    "modules": sorted({getattr(kernels, name).__module__ for name in kernels.NAMES}),
    "warnings": [[warning.category.__name__, str(warning.message)] for warning in caught],
    "hashed": kernels.local_hash(ones, ones, 64, 4).tolist(),
}))
"""


@dataclass(frozen=True)
class Loaded:
    active: str
    reason: str
    modules: list[str]
    warnings: list[list[str]]
    hashed: list[int]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the kernels, library included."""
    copy = tmp_path / "kernels"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def remove_source(folder: Path) -> None:
    """Make the folder that of a wheel."""
    (folder / "native.c").unlink()
    shutil.rmtree(folder / "c")


def run(folder: Path, wish: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PLAUSIBLY_KERNELS"}
    environment["PYTHONPATH"] = str(folder.parent)
    if wish is not None:
        environment["PLAUSIBLY_KERNELS"] = wish
    command = [sys.executable, "-c", PROBE]
    return subprocess.run(command, env=environment, cwd=folder.parent, capture_output=True, text=True, check=False)


def load(folder: Path, wish: str | None = None) -> Loaded:
    finished = run(folder, wish)
    assert finished.returncode == 0, finished.stderr
    return Loaded(**json.loads(finished.stdout))


def assert_fell_back_with_one_warning(loaded: Loaded, because: str, fix: str = "rebuild: pip install -e .") -> None:
    assert loaded.active == "numpy"
    assert loaded.modules == ["kernels.reference"]
    assert because in loaded.reason
    [[category, message]] = loaded.warnings
    assert category == "RuntimeWarning"
    assert loaded.reason in message
    assert fix in message
    # The second vector of test_local_hash.py: the twins really work in that process.
    assert loaded.hashed == [3, 3, 3]


def test_a_fresh_library_is_used_without_a_word(folder: Path) -> None:
    loaded = load(folder)
    assert (loaded.active, loaded.modules, loaded.warnings) == ("c", ["kernels.native"], [])
    assert loaded.hashed == [3, 3, 3]


@pytest.mark.full
def test_a_library_of_another_source_falls_back_with_a_message(folder: Path) -> None:
    with (folder / "c" / "search.h").open("a") as source:
        source.write("\n")
    assert_fell_back_with_one_warning(load(folder), because="another version of its source")


@pytest.mark.full
def test_a_missing_library_falls_back_with_a_message(folder: Path) -> None:
    (folder / "libplausibly.so").unlink()
    assert_fell_back_with_one_warning(load(folder), because="was not built")


@pytest.mark.full
def test_a_wheel_has_no_source_and_its_library_is_used(folder: Path) -> None:
    remove_source(folder)
    loaded = load(folder)
    assert (loaded.active, loaded.modules, loaded.warnings) == ("c", ["kernels.native"], [])
    assert loaded.reason == "the library that came with the package"


@pytest.mark.full
def test_users_of_a_wheel_without_a_library_are_not_told_to_rebuild_what_they_do_not_have(folder: Path) -> None:
    remove_source(folder)
    (folder / "libplausibly.so").unlink()
    loaded = load(folder)
    assert_fell_back_with_one_warning(loaded, because="built without a compiler", fix="from its source: a clone")
    assert "rebuild" not in loaded.warnings[0][1]


@pytest.mark.full
def test_processes_started_by_multiprocessing_do_not_repeat_the_warning(folder: Path) -> None:
    (folder / "libplausibly.so").unlink()
    script = folder.parent / "script.py"
    script.write_text(
        "import multiprocessing\n\ndef active():\n    import kernels\n    return kernels.active\n\n"
        "if __name__ == '__main__':\n    import kernels\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        print(pool.apply(active))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "numpy\n"
    assert done.stderr.count("RuntimeWarning") == 1


@pytest.mark.full
def test_a_library_that_does_not_load_falls_back_with_a_message(folder: Path) -> None:
    (folder / "libplausibly.so").write_bytes(b"not a library")
    assert_fell_back_with_one_warning(load(folder), because="does not load")


@pytest.mark.full
def test_the_environment_variable_forces_the_twins_without_a_word(folder: Path) -> None:
    loaded = load(folder, wish="numpy")
    assert (loaded.active, loaded.reason) == ("numpy", "PLAUSIBLY_KERNELS=numpy")
    assert (loaded.modules, loaded.warnings) == (["kernels.reference"], [])
    assert loaded.hashed == [3, 3, 3]


@pytest.mark.full
def test_an_empty_environment_variable_is_no_wish(folder: Path) -> None:
    assert load(folder, wish="").active == "c"


@pytest.mark.full
def test_an_unknown_wish_is_refused_by_name(folder: Path) -> None:
    finished = run(folder, "nunpy")
    assert finished.returncode != 0
    assert "PLAUSIBLY_KERNELS: expected 'numpy' or no value, got 'nunpy'" in finished.stderr
