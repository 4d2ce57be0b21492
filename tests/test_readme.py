"""The README tells the truth: its code runs, its output is what comes out, its links and targets exist."""

from __future__ import annotations

import doctest
import json
import re
from math import ceil, exp
from pathlib import Path
from unittest.mock import patch

import pytest

import plausibly
from cases import in_turn
from consoles import agrees, commands, run
from plausibly import catalog, device
from plausibly.core.wording import percent
from plausibly.demo import counts, sites
from plausibly.postprocess import STEPS
from tree import not_ignored

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("docs/**/*.md")])


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def examples(page: Path) -> int:
    return len(re.findall(r"^>>> ", page.read_text(encoding="utf-8"), flags=re.MULTILINE))


SLOW = {
    "README.md",
    "fakes.md",
    "ordered.md",
    "tables.md",
    "sketches.md",
    "planning.md",
    "student.md",
    "researcher.md",
    "response_times.md",
    "searches.md",
    "collecting.md",
    "extending.md",
    "layers.md",
    "statistician.md",
    "shuffling.md",
}
EXECUTED = [
    pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=[pytest.mark.full] * (page.name in SLOW))
    for page in PAGES
    if examples(page)
]


@pytest.mark.parametrize("page", EXECUTED)
def test_python_blocks_print_what_they_show(page: Path) -> None:
    # What a page adds to the library is nobody else's business.
    with patch.dict(device.RANDOMIZERS), patch.dict(STEPS), patch.dict(catalog._CATALOG._kinds):
        failed, attempted = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert attempted == examples(page)
    assert failed == 0


# The researcher measures for a while: `make docs` and `make test-slow` run that page.
LONG = {"researcher.md"}
CONSOLES = [
    pytest.param(
        page,
        id=page.relative_to(ROOT).as_posix(),
        marks=pytest.mark.slow if page.name in LONG else pytest.mark.full,
    )
    for page in PAGES
    if commands(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", CONSOLES)
def test_console_blocks_print_what_they_show(page: Path, tmp_path: Path) -> None:
    for command in commands(page.read_text(encoding="utf-8")):
        printed = run(command.text, tmp_path)
        assert agrees(command.output, printed), f"{page.name}, line {command.line}: {command.text}\n{printed}"


@pytest.mark.full
def test_the_demo_prints_the_shown_table(tmp_path: Path) -> None:
    printed = [line.rstrip() for line in run("plausibly demo --seed 7", tmp_path).splitlines()]
    shown = [line.rstrip() for line in blocks("text")[0].splitlines()]
    assert len(shown) == 4
    assert [line for line in shown if line not in printed] == []
    # The sentence below the table.
    told = re.search(r"counts them: in this run (\d+) of 1,000 with\s+the list, (\d+) of\s+10 without", README)
    assert told is not None
    said = " ".join(printed)
    assert f"{told[1]} of the 1,000 intervals contain the truth" in said
    assert f"{told[2]} of its 10 intervals contain the truth" in said
    for line in shown[1:]:
        true, *ends = (int(number.replace(",", "")) for number in re.findall(r"(?<=[ [])[\d,]*\d", line))
        assert ends[1] <= true <= ends[2], line
        assert ends[4] <= true <= ends[5], line
    assert not_ignored(tmp_path) == []


@pytest.mark.full
def test_a_newcomer_gets_from_a_file_of_strings_to_an_answer_in_six_commands(tmp_path: Path) -> None:
    section = README.partition("\n## From a file to an answer\n")[2].partition("\n## ")[0]
    typed = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)[0].splitlines()
    names = [line.split()[1] for line in typed]
    assert names == ["sample", "plan", "privatize", "collect", "search", "estimate"]
    printed = {name: run(line, tmp_path) for name, line in zip(names, typed, strict=True)}
    assert not any("[exit code" in text for text in printed.values()), printed
    header, *rows = re.findall(r"```text\n(.*?)```", section, flags=re.DOTALL)[0].splitlines()
    lines = printed["search"].splitlines()
    assert lines[0].split() == header.split()
    # The noise is fresh. The third place is some 4.5 standard errors ahead of the fourth: not so once in 300,000 runs.
    assert [line.split()[0] for line in lines[1:4]] == [row.split()[0] for row in rows]
    # Six standard errors, for a dozen items at most: exceeded by chance once in 40 million runs.
    truth = dict(zip(sites(), counts(200_000).tolist(), strict=True))
    asked = json.loads(run(f"{typed[5]} --json", tmp_path))["estimates"]
    found = json.loads(run("plausibly search visits.tally --json", tmp_path))["estimates"]
    assert [line["item"] for line in asked] == ["amber-atlas.example", "iris-jobs.example"]
    for line in asked + [line for line in found if line["item"] in truth]:
        assert abs(line["estimate"] - truth[line["item"]]) <= 6 * line["standard_error"], line
    for line in asked:
        assert line["high"] - line["low"] == pytest.approx(2 * 1.959964 * line["standard_error"], rel=1e-6)
    # Found or named, a string has the same count and standard error; the interval of a found string is wider. Strings
    # that share cells are solved for together, so that all found strings have to be named.
    items = ",".join(line["item"] for line in found)
    every = json.loads(run(f"plausibly estimate visits.tally --items {items} --json", tmp_path))["estimates"]
    (named,), (same,) = ([line for line in lines if line["item"] == "amber-atlas.example"] for lines in (every, found))
    assert same["estimate"] == pytest.approx(named["estimate"], rel=1e-3)
    assert same["standard_error"] == pytest.approx(named["standard_error"], rel=1e-2)
    assert 1 < (same["high"] - same["low"]) / (named["high"] - named["low"]) < 1.1
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert "amber-atlas.example" in (tmp_path / "found.html").read_text(encoding="utf-8")
    assert not_ignored(tmp_path) == []


def test_the_first_screen_answers_whether_it_is_for_the_reader() -> None:
    first = README.partition("\n## Try it\n")[0]
    assert len(first.splitlines()) < 75
    assert README.count("![") == first.count("![") == 2, "the try page, and a histogram that emerges"
    (block,) = re.findall(r"```console\n(.*?)```", first, flags=re.DOTALL)
    typed = re.findall(r"^\$ plausibly plan --(\w+)", block, flags=re.MULTILINE)
    assert typed == ["items", "keys", "alphabet", "range"], "a list, candidates later, nothing known; and an order"
    assert "local model" in first


@pytest.mark.full
def test_the_price_of_privacy_is_what_plans_predict() -> None:
    table = README.partition("| | ε = 1 | ε = 3 |\n|---|---|---|\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert [re.findall(r"with ([\d,]+) users", name)[-1] for name, *_ in rows[1:]] == ["10,000", "1,000,000"] * 2
    letters = plausibly.Strings("abcdefghijklmnopqrstuvwxyz", 16, other=True)
    for column, epsilon in enumerate((1, 3), 1):
        odds = exp(epsilon) / 9
        assert rows[0][column] == f"{ceil(1000 * odds / (1 + odds)) / 10} %", "rounded up, so that it remains true"
        plans = [plausibly.plan(what, n, epsilon=epsilon) for what in (1000, letters) for n in (10_000, 1_000_000)]
        assert [row[column] for row in rows[1:]] == [percent(plan.finds) for plan in plans]


def test_shown_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = re.findall(r"make ([a-z-]+)", "".join(blocks("sh")))
    assert shown
    for target in shown:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("pages", ["catalogue", "oracles sketches searches ordered tables longitudinal"])
def test_every_scheme_has_its_row(pages: str) -> None:
    text = "\n".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in pages.split())
    rows = re.findall(r"^\| `([A-Z]+)`[\w -]* \|", text, flags=re.MULTILINE)
    assert sorted(set(rows)) == sorted(plausibly.CATALOG)


@in_turn("page", PAGES)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
