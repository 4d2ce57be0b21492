"""plausibly changes: which items changed between two tallies, in tables, files and refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

import plausibly
from plausibly import SeededRandom, make
from plausibly.cli import app
from plausibly.core.changes import Changes
from plausibly.files import read_tally, write_tally
from plausibly.files.tallies import Collected
from plausibly.pages.changes import ChangeReport

PETS = ["cat", "dog", "fish"]


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["changes", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def tally(path: Path, counts: Any, seed: int, **given: Any) -> Path:
    scheme = make("OUE", **{"epsilon": 1, "domain": PETS, "other": True} | given)
    write_tally(path, scheme.simulate(counts, SeededRandom(seed)), simulated=given.pop("simulated", False))
    return path


@pytest.fixture
def days(tmp_path: Path) -> tuple[Path, Path]:
    monday = tally(tmp_path / "monday.tally", [30_000, 60_000, 9_000, 1_000], 1)
    return monday, tally(tmp_path / "tuesday.tally", [36_000, 50_000, 9_000, 1_000], 2, epsilon=2)


def test_changed_items_come_first_with_their_shares_and_the_level(days: tuple[Path, Path]) -> None:
    code, shown, told = run(*days)
    assert (code, told) == (0, "")
    lines = shown.splitlines()
    first = " ".join(shown.partition("\n\n")[0].split())
    assert first == (
        "2 of 4 items changed; for the other 2 the data cannot tell. "
        "The probability of any false alarm among all items is at most 5 %."
    )
    lines = lines[lines.index("") - 1 :]
    assert lines[2].split()[:4] == ["item", "before", "after", "change,"]
    assert {(line.split()[0], line.rstrip().endswith("yes")) for line in lines[3:5]} == {("dog", True), ("cat", True)}
    assert all(line.rstrip().endswith("cannot tell") for line in lines[5:7])
    assert "--same-users" in shown
    assert "100,000 reports before, 96,000 after." in shown


def test_json_has_what_python_has(days: tuple[Path, Path], tmp_path: Path) -> None:
    # The same users: as many on both days.
    days = days[0], tally(tmp_path / "again.tally", [36_000, 54_000, 9_000, 1_000], 2, epsilon=2)
    code, shown, _ = run(*days, "--json", "--level", "0.9", "--same-users")
    assert code == 0
    found = json.loads(shown)
    expected = plausibly.changes(*(read_tally(day).estimate() for day in days), level=0.9, same_users=True)
    assert [each["changed"] for each in found["changes"]] == expected.changed.tolist()
    assert [each["low"] for each in found["changes"]] == expected.interval[0].tolist()
    assert (found["level"], found["same_users"], found["changed"]) == (0.9, True, 2)
    assert (found["before"]["reports"], found["after"]["epsilon"]) == (100_000, "2")


@pytest.mark.full
def test_files_of_every_ending(days: tuple[Path, Path], tmp_path: Path) -> None:
    names = [tmp_path / f"x.{ending}" for ending in ("csv", "json", "png", "svg", "html")]
    code, shown, told = run(*days, *(word for name in names for word in ("-o", name)), "--title", "Pets <b>")
    assert (code, told) == (0, "")
    assert shown.splitlines()[-5:] == [f"Written: {name}" for name in names]
    with names[0].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item"], row["changed"]) for row in rows][:2] == [("cat", "true"), ("dog", "true")]
    assert json.loads(names[1].read_text(encoding="utf-8"))["changed"] == 2
    assert names[2].read_bytes().startswith(b"\x89PNG")
    assert "Pets &lt;b&gt;" in names[3].read_text(encoding="utf-8")
    ElementTree.parse(names[3])
    page = names[4].read_text(encoding="utf-8")
    assert "<h1>Pets &lt;b&gt;</h1>" in page
    assert "2 of 4 items changed; for the other 2 the data cannot tell." in page
    assert page.count(">cannot tell</td>") == 2
    assert "--same-users" not in page, "a reader of the page cannot type it"
    assert "hollow: the data cannot tell" in unquote(page)
    facts = page.partition("Data and scheme")[2]
    assert ["ε = 1" in facts, "ε = 2" in facts] == [True, True]
    code, _, _ = run(*days, "-o", tmp_path / "y.html")
    heading = "Changes from monday.tally (before) to tuesday.tally (after)"
    assert heading in (tmp_path / "y.html").read_text(encoding="utf-8")
    assert "http:" not in page.replace("http://www.w3.org", "")


def test_items_may_be_named_and_strings_must_be(days: tuple[Path, Path], tmp_path: Path) -> None:
    code, shown, _ = run(*days, "--items", "dog", "--json")
    assert (code, [each["item"] for each in json.loads(shown)["changes"]]) == (0, ["dog"])
    scheme = make("OLH", epsilon=1, domain=plausibly.Keys())
    for seed in (1, 2):
        write_tally(tmp_path / f"{seed}.tally", scheme.simulate({"a": 500 * seed, "b": 500}, SeededRandom(seed)))
    code, _, told = run(tmp_path / "1.tally", tmp_path / "2.tally")
    assert code == 2
    assert "name some with --items" in told
    assert run(tmp_path / "1.tally", tmp_path / "2.tally", "--items", "a,b")[0] == 0


def test_other_lists_are_compared_only_by_name(days: tuple[Path, Path], tmp_path: Path) -> None:
    longer = tally(tmp_path / "longer.tally", [100, 100, 100, 100, 100], 3, domain=[*PETS, "newt"])
    code, _, told = run(days[0], longer)
    assert code == 2
    assert "expected the same items as in" in told
    assert "with --items" in told
    assert run(days[0], longer, "--items", "cat,dog")[0] == 0
    code, _, told = run(days[0], longer, "--items", "cat,other")
    assert code == 2
    assert "the lists differ, and so do the other items" in told


def test_the_same_reports_are_refused(days: tuple[Path, Path], tmp_path: Path) -> None:
    code, _, told = run(days[0], days[0])
    assert code == 1
    assert "expected reports that are not in" in told
    (tmp_path / "values.csv").write_text("pet\n" + "cat\ndog\n" * 50, encoding="utf-8")
    scheme = tmp_path / "scheme.json"
    scheme.write_text(make("OUE", epsilon=1, domain=PETS, other=True).to_json(), encoding="utf-8")
    reports, one, other = tmp_path / "r.parquet", tmp_path / "one.tally", tmp_path / "other.tally"
    for words in (
        ["privatize", tmp_path / "values.csv", "--column", "pet", "--scheme", scheme, "--out", reports],
        ["collect", reports, "--out", one],
        ["collect", reports, "--out", other],
    ):
        assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    code, _, told = run(one, other)
    assert code == 1
    assert "other.tally: expected reports that are not in" in told


def test_what_cannot_be_compared_is_told(days: tuple[Path, Path], tmp_path: Path) -> None:
    empty = tally(tmp_path / "empty.tally", [0, 0, 0, 0], 1)
    for arguments, code, message in (
        ([days[0], empty], 1, "empty.tally: the tally has no reports"),
        ([*days, "--out", "x.parquet"], 2, "unknown suffix '.parquet'"),
        ([*days, "--level", "1"], 2, "level: expected a number strictly between 0 and 1"),
        ([*days, "--items", "newt"], 1, "--items newt: not on the list"),
        ([*days, "--out", days[0].with_suffix(".csv").parent / "none" / "x.csv"], 2, "there is no folder"),
    ):
        came, shown, told = run(*arguments)
        assert (came, shown) == (code, "")
        assert message in " ".join(told.split())


def test_simulations_are_labelled(days: tuple[Path, Path], tmp_path: Path) -> None:
    scheme = make("OUE", epsilon=1, domain=PETS, other=True)
    write_tally(tmp_path / "s.tally", scheme.simulate([9, 9, 9, 9], SeededRandom(5)), simulated=True)
    code, shown, _ = run(days[0], tmp_path / "s.tally")
    assert (code, shown.splitlines()[0]) == (0, "SIMULATED reports: not from real users.")


def test_compare_points_to_changes() -> None:
    shown = " ".join(CliRunner().invoke(app, ["compare", "--help"]).stdout.replace("│", " ").split())
    assert "To see what changed between two collections, use plausibly changes." in shown


def test_the_table_counts_the_other_item_and_is_complete_with_it(tmp_path: Path) -> None:
    domain = [f"item {number}" for number in range(20)]
    days = [tally(tmp_path / f"{seed}.tally", [500] * 20 + [900], seed, domain=domain) for seed in (1, 2)]
    assert "The table has" not in run(*days)[1]
    domain.append("item 20")
    days = [tally(tmp_path / f"{seed}.tally", [500] * 21 + [900], seed, domain=domain) for seed in (1, 2)]
    assert "The table has 21 of 22 items." in run(*days)[1]


def test_the_items_are_listed_a_few_times_and_not_for_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (make("OUE", epsilon=1, domain_size=300).simulate([30] * 300, SeededRandom(seed)) for seed in (1, 2))
    found = plausibly.changes(one.estimate(), two.estimate())
    listed = []

    class Items(np.ndarray[Any, Any]):
        def tolist(self) -> Any:
            listed.append(1)
            return super().tolist()

    items = found.items.view(Items)
    monkeypatch.setattr(Changes, "items", property(lambda self: items))
    source = Collected(one, simulated=True)
    assert len(list(ChangeReport(found, source, source, largest=300).lines())) == 300
    assert 1 <= len(listed) <= 5
