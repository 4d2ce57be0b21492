"""What starting the program loads: nobody waits for NumPy to read the version or the list of commands."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "cryptography", "plausibly.core", "plausibly.cli.common")
STARTED = f"""
import sys
from plausibly.cli import app
try:
    app(sys.argv[1:])
finally:
    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""


def loaded(*words: str) -> str:
    """The modules of `HEAVY` that a command has loaded."""
    ended = subprocess.run([sys.executable, "-c", STARTED, *words], capture_output=True, text=True, check=False)
    return ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("words", [["--version"], ["--help"], []], ids=["version", "help", "no command"])
def test_neither_the_version_nor_the_list_of_commands_loads_numpy(words: list[str]) -> None:
    assert loaded(*words) == "[]"


def test_a_misspelt_command_is_refused_without_loading_any() -> None:
    assert loaded("colect") == "[]"


def test_a_command_loads_numpy_and_would_be_noticed() -> None:
    assert "numpy" in loaded("show", "--help")
