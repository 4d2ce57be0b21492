"""Quick runs draw a fourth of the examples, and every run must leave the tree as it was.

Without Java, all tests but those of Spark run, and the last line says so; where ``CI`` is set, they fail.
"""

import atexit
import gc
import re
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from java import MISSING, java_is_here
from tree import ROOT, untracked

settings.register_profile("quick", max_examples=25)

_ALL_FULL = re.compile(r"^pytestmark = .*pytest\.mark\.full\b", flags=re.MULTILINE)
_BEFORE = pytest.StashKey[set[str]]()
_LEFT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    if "not full" in config.getoption("markexpr"):
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # A quick run does not even import the files that are full as a whole, and the web servers that they need.
    if "not full" in config.getoption("markexpr") and collection_path.match("test_*.py"):
        return bool(_ALL_FULL.search(collection_path.read_text(encoding="utf-8"))) or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # Modules and tests live as long as the process. Searching them for garbage, while they are made, ever after and at
    # the end, would take a sixth of the time of the quick tests.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 10, 50)
        gc.enable()
        atexit.register(_thaw)


def _thaw() -> None:
    # DuckDB complains of objects that are still there at the end.
    if "duckdb" in sys.modules:
        gc.unfreeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Tests that share an engine come first: xdist moves only tests at the end of the list to another process, which
    # would have to start the engine again.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    spark = [item for item in items if _group(item).startswith("spark")]
    if spark and not java_is_here():
        config.hook.pytest_deselected(items=spark)
        items[:] = [item for item in items if item not in spark]


def _group(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    return "" if marker is None else str(marker.args[0])


def pytest_unconfigure(config: pytest.Config) -> None:
    # After everything else, so that nobody misses it. The tests of Spark are in `make test`, not in `make test-fast`.
    if hasattr(config, "workerinput") or "not full" in config.getoption("markexpr") or java_is_here():
        return
    places = [Path(str(each).partition("::")[0]).resolve() for each in config.args]
    if any((ROOT / "tests/engines").is_relative_to(place) or "spark" in place.name for place in places):
        print(MISSING)


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
