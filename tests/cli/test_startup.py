"""What starting the program loads: nobody waits for NumPy to read the version, the commands or their options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plausibly import make
from plausibly.certify import DRAWS
from plausibly.cli.options import audit, estimate, privatize
from plausibly.cli.summaries import SUMMARIES
from plausibly.files import write_tally
from plausibly.files.values import FORMATS
from plausibly.postprocess import POSTPROCESS

HEAVY = ("numpy", "cryptography", "pydantic", "plausibly.core", "plausibly.cli.common")
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


@pytest.mark.parametrize(
    "words",
    [pytest.param(["--version"], marks=pytest.mark.full), pytest.param(["--help"], marks=pytest.mark.full), []],
    ids=["version", "help", "no command"],
)
def test_neither_the_version_nor_the_list_of_commands_loads_numpy(words: list[str]) -> None:
    assert loaded(*words) == "[]"


@pytest.mark.full
def test_a_misspelt_command_is_refused_without_loading_any() -> None:
    assert loaded("colect") == "[]"


@pytest.mark.full
def test_no_help_page_of_a_command_loads_numpy() -> None:
    # One process for all: a module that any of them loads stays loaded.
    commands = [name for panel in SUMMARIES.values() for name in panel]
    all_pages = STARTED.replace(
        "app(sys.argv[1:])", "for each in sys.argv[1:]: app([each, '--help'], standalone_mode=False)"
    )
    ended = subprocess.run([sys.executable, "-c", all_pages, *commands], capture_output=True, text=True, check=True)
    assert ended.stdout.count("Usage:") == ended.stdout.count("Example:") == len(commands)
    assert ended.stderr.splitlines()[-1] == "[]"


@pytest.mark.full
def test_a_command_that_runs_loads_numpy_and_would_be_noticed() -> None:
    assert "numpy" in loaded("show", "OLH:epsilon=1,domain_size=10")


def test_the_options_list_what_the_code_behind_them_has() -> None:
    assert tuple(POSTPROCESS) == estimate.STEPS
    assert privatize.FORMATS == FORMATS
    assert audit.AuditOptions.draws == DRAWS


@pytest.mark.full
def test_an_estimate_loads_only_what_it_needs(tmp_path: Path) -> None:
    scheme = make("DE", epsilon=1, domain_size=4)
    tally = scheme.accumulator()
    tally.add(scheme.privatize([0, 1, 2]))
    write_tally(tmp_path / "a.tally", tally)
    unneeded = ("matplotlib", "pandas", "pyarrow", "sklearn", "plausibly.planner", "plausibly.experiments")
    program = STARTED.replace(str(HEAVY), str(unneeded))
    command = [sys.executable, "-c", program, "estimate", str(tmp_path / "a.tally")]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "3 reports of DE, ε = 1." in ended.stdout
    assert ended.stderr.splitlines()[-1] == "[]"
