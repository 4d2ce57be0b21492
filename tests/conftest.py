"""Quick runs draw a fourth of the examples, and every run must leave the tree as it was."""

import pytest
from hypothesis import settings

from tree import ROOT, untracked

settings.register_profile("quick", max_examples=25)

_BEFORE = pytest.StashKey[set[str]]()
_LEFT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    if "not full" in config.getoption("markexpr"):
        settings.load_profile("quick")


def pytest_sessionstart(session: pytest.Session) -> None:
    # Once for all processes of a run: those that xdist starts have a number of their own.
    if not hasattr(session.config, "workerinput"):
        session.config.stash[_BEFORE] = untracked(ROOT)


def pytest_sessionfinish(session: pytest.Session) -> None:
    before = session.config.stash.get(_BEFORE, None)
    if before is not None and (left := sorted(untracked(ROOT) - before)):
        session.config.stash[_LEFT] = left
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left := config.stash.get(_LEFT, []):
        terminalreporter.section("the tests left files in the tree", red=True)
        terminalreporter.write_line("\n".join(left))
        terminalreporter.write_line("Write to tmp_path, or add what a command writes by design to .gitignore.")
