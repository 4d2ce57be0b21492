"""What the linker has made of the library, and flags that a compiler does not know."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plausibly.kernels import native

ROOT = Path(__file__).parents[2]

needs_readelf = pytest.mark.skipif(
    shutil.which("readelf") is None or not native._LIBRARY.exists() or sys.platform != "linux",
    reason="there is no readelf, or no library in the format that it reads",
)


def asked(*options: str) -> str:
    command = ["readelf", *options, str(native._LIBRARY)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={"LC_ALL": "C"}).stdout


@needs_readelf
def test_the_library_has_no_executable_stack() -> None:
    [stack] = [line for line in asked("-lW").splitlines() if "GNU_STACK" in line]
    assert " RW " in stack


@needs_readelf
def test_the_library_is_bound_when_it_is_loaded_and_its_tables_are_read_only_then() -> None:
    assert "GNU_RELRO" in asked("-lW")
    assert "BIND_NOW" in asked("-dW")


@needs_readelf
def test_the_library_protects_its_stack() -> None:
    assert "__stack_chk_fail" in asked("--dyn-syms", "-W")


def build(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("setuptools.setup", lambda **given: None)
    return runpy.run_path(str(ROOT / "setup.py"))


@pytest.mark.full
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler")
def test_flags_that_the_compiler_does_not_know_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    understood = build(monkeypatch)["understood"]
    known = list(understood.__globals__["HARDENING"])
    monkeypatch.setitem(understood.__globals__, "HARDENING", [["-fno-such-flag"], *known, ["-Wl,--no-such-flag"]])
    assert understood(["cc"]) == [flag for group in known for flag in group]


def test_a_compiler_that_fails_understands_no_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    assert build(monkeypatch)["understood"](["false"]) == []
