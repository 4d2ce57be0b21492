"""The README tells the truth: its code runs, its output is what comes out, its links and targets exist."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

import plausibly
from cases import in_turn
from consoles import agrees, commands, run
from plausibly import device
from plausibly.postprocess import STEPS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("docs/**/*.md")])


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def examples(page: Path) -> int:
    return len(re.findall(r"^>>> ", page.read_text(encoding="utf-8"), flags=re.MULTILINE))


SLOW = {"searches.md", "collecting.md", "extending.md", "layers.md"}
EXECUTED = [
    pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=[pytest.mark.full] * (page.name in SLOW))
    for page in PAGES
    if examples(page)
]


@pytest.mark.parametrize("page", EXECUTED)
def test_python_blocks_print_what_they_show(page: Path) -> None:
    # What a page adds to the library is nobody else's business.
    with patch.dict(device.RANDOMIZERS), patch.dict(STEPS):
        failed, attempted = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert attempted == examples(page)
    assert failed == 0


CONSOLES = [
    pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=pytest.mark.full)
    for page in PAGES
    if commands(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", CONSOLES)
def test_console_blocks_print_what_they_show(page: Path, tmp_path: Path) -> None:
    for command in commands(page.read_text(encoding="utf-8")):
        printed = run(command.text, tmp_path)
        assert agrees(command.output, printed), f"{page.name}, line {command.line}: {command.text}\n{printed}"


@pytest.mark.full
def test_demo_prints_the_shown_table_and_draws_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "demo.png"
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--seed", "7", "--output", str(picture)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    printed = [line.rstrip() for line in run.stdout.splitlines()]
    shown = [line.rstrip() for block in blocks("text") for line in block.splitlines()]
    assert shown
    assert [line for line in shown if line not in printed] == []
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.full
def test_demo_refuses_a_crowd_too_small_with_a_helpful_message(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--users", "5"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, encoding="utf-8")
    assert run.returncode == 2
    assert "at least 1000 users" in run.stderr


def test_shown_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = re.findall(r"make ([a-z-]+)", "".join(blocks("sh")))
    assert shown
    for target in shown:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("pages", [["README.md"], ["docs/oracles.md", "docs/sketches.md", "docs/searches.md"]], ids=str)
def test_every_scheme_has_its_row(pages: list[str]) -> None:
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in pages)
    rows = re.findall(r"^\| `([A-Z]+)`[\w -]* \|", text, flags=re.MULTILINE)
    assert sorted(set(rows)) == sorted(plausibly.CATALOG)


@in_turn("page", PAGES)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
