"""The walks and the map of docs/architecture.md are those of the code."""

from __future__ import annotations

import re
import runpy
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import plausibly
from plausibly import SeededRandom, Strings
from plausibly.engines import collect
from plausibly.files import Collected, write_reports
from plausibly.pages import Answer, write_estimates

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(plausibly.__file__).parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

MOST_FILES = {"to its record": 7, "to a tally": 9, "to a page": 8}


def entered(work: Callable[[], object]) -> list[tuple[str, str]]:
    """File and name of each function of the package that the work calls, in the order of the first calls."""
    calls: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            calls.setdefault((path.relative_to(PACKAGE).as_posix(), frame.f_code.co_name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(calls)


def tables(journey: str) -> dict[str, list[tuple[str, str]]]:
    """The walks of a journey: by heading, the files and functions in order."""
    chapter = re.search(rf"^## {journey}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert chapter is not None
    found = {}
    for heading, body in re.findall(r"^### (.*?)$(.*?)(?=^### |\Z)", chapter[1], re.MULTILINE | re.DOTALL):
        found[heading] = re.findall(r"^\| `([\w/.]+)` \| `(\w+)` \|", body, re.MULTILINE)
    return found


@pytest.mark.full
@pytest.mark.parametrize("journey", ["A value", "A string"])
def test_the_walks_are_those_that_the_code_takes(journey: str, tmp_path: Path) -> None:
    if journey == "A value":
        scheme = plausibly.make("OUE", epsilon=1, domain=["ant", "bee", "cat"])
        items = ["ant", "bee"] * 250
    else:
        scheme = plausibly.TRELLIS(3, domain=Strings("abcdef", 4), users=3000)
        items = ["abcd"] * 2000 + ["fed"] * 1000
    reports, tally, page = (tmp_path / name for name in ("reports.parquet", "crowd.tally", "page.html"))

    def collected() -> None:
        collect([reports], tally)

    def written() -> None:
        read = Collected.read(tally)
        found: Any = read.tally
        write_estimates(page, Answer(found.estimate() if journey == "A value" else found.search(k=3), read))

    steps = [entered(lambda: scheme.privatize(items, SeededRandom(1)))]
    write_reports(reports, scheme, scheme.privatize(items))
    steps += [entered(collected), entered(written)]
    for (heading, walk), calls, (leg, most) in zip(tables(journey).items(), steps, MOST_FILES.items(), strict=True):
        assert leg in heading
        assert 0 < len({file for file, _ in walk}) <= most, heading
        missing = [step for step in walk if step not in calls]
        assert missing == [], heading
        assert [calls.index(step) for step in walk] == sorted(calls.index(step) for step in walk), heading


def test_files_named_on_the_page_exist() -> None:
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", PAGE):
        assert (PACKAGE / name).exists(), name


def test_the_map_is_that_of_the_imports() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_architecture.py"))
    assert drawn["falls"]()
    assert drawn["drawing"]() == (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8"), (
        "run python docs/draw_architecture.py"
    )
