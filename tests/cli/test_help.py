"""Every command's --help ends with an example, and the examples run, one after the other, as they stand."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from consoles import run
from plausibly.cli import app
from plausibly.cli.deferred import Deferred

LONG = {"demo", "reproduce", "compare"}
"""Whose examples take longer than a test may; their own tests run smaller ones."""
ENDLESS = {"serve"}
"""Whose example runs until it is stopped; tests/service runs it."""
ONLINE = {"upload"}
"""Whose example needs a collector that runs; tests/cli/test_upload.py runs one."""
ELSEWHERE = {"series", "ledger"}
"""Whose examples need files of many days or of a device; docs/walkthroughs/daily.md and docs/sending.md run them."""
ORDER = (
    *("doctor", "sample", "plan", "show", "audit", "simulate", "privatize", "collect", "merge", "estimate", "search"),
    "changes",
    "table",
    *("tokens", "collections", "backup"),
    *sorted(LONG | ENDLESS | ONLINE | ELSEWHERE),
)
MORE = {
    "merge": """plausibly privatize visits.csv --column site --scheme scheme.json --out more.parquet
plausibly collect more.parquet --out more.tally""",
    "table": """plausibly sample survey.csv --survey --questions questions.txt
plausibly plan --attributes questions.txt --users 200000 --epsilon 2 --save survey.json
plausibly privatize survey.csv --scheme survey.json --out survey.parquet
plausibly collect survey.parquet --out survey.tally""",
}
"""What examples add to the files of the others."""


def listed() -> dict[str, Deferred]:
    return typer.main.get_command(app).commands  # type: ignore[attr-defined, no-any-return]


def example(command: str) -> str:
    help_lines = str(listed()[command].load().help).splitlines()
    found = [line.partition("Example: ")[2] for line in help_lines if "Example: " in line]
    assert len(found) == 1, command
    return found[0]


def test_every_command_has_an_example_and_a_place_in_the_order() -> None:
    assert sorted(listed()) == sorted(ORDER)
    for command in listed():
        assert shlex.split(example(command))[:2] == ["plausibly", command]


def test_every_command_speaks_json() -> None:
    for name, command in listed().items():
        assert any("--json" in parameter.opts for parameter in command.load().params), name


def test_the_list_of_commands_has_the_first_paragraph_of_each_help() -> None:
    for name, command in listed().items():
        first, _, _ = str(command.load().help).partition("\n\n")
        assert command.help == " ".join(first.split()), f"cli/summaries.py says something else about {name}"


@pytest.mark.full
def test_help_is_there_for_all() -> None:
    for command in listed():
        shown = CliRunner().invoke(app, [command, "--help"])
        assert shown.exit_code == 0
        assert "Example:" in shown.stdout


def test_paragraphs_fill_the_lines_and_flags_have_no_type() -> None:
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["privatize", "--help"]).stdout
    assert "This command is for tests, and for a gateway that users trust with their" in shown
    assert "bool" not in shown.lower()
    assert "bool" not in CliRunner().invoke(app, ["--help"]).stdout.lower()


@pytest.mark.slow
def test_examples_run_as_they_stand(tmp_path: Path) -> None:
    for command in ORDER:
        if command in LONG | ENDLESS | ONLINE | ELSEWHERE:
            continue
        lines = [*MORE.get(command, "").splitlines(), example(command)]
        for line in lines:
            printed = run(line, tmp_path)
            assert "[exit code" not in printed, printed
    made = {path.name for path in tmp_path.iterdir()}
    assert {"scheme.json", "visits.csv", "reports.parquet", "visits.tally", "all.tally"} <= made
    assert {"chart.png", "found.html", "changes.html", "table.html"} <= made


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(LONG))
def test_long_examples_run_as_they_stand(command: str, tmp_path: Path) -> None:
    assert "[exit code" not in run(example(command), tmp_path)


@pytest.mark.full
def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    asked = 'COMP_WORDS="plausibly pl" COMP_CWORD=1 _PLAUSIBLY_COMPLETE=complete_bash plausibly'
    assert run(asked, tmp_path).split() == ["plan"]
    asked = 'COMP_WORDS="plausibly collect --sk" COMP_CWORD=2 _PLAUSIBLY_COMPLETE=complete_bash plausibly'
    assert run(asked, tmp_path).split() == ["--skip-bad"]
