"""plausibly estimate: tables for people and machines, items by name, files by their endings."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

import plausibly
from cases import in_turn
from files.making import damage_group, group_size
from plausibly import SeededRandom, make
from plausibly.cli import app
from plausibly.engines import collect
from plausibly.files import read_tally, write_reports, write_tally

PETS = ["cat", "dog", "a,b", "fish"]
CROWD = [4000, 3000, 2000, 1000]


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["estimate", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def said(*arguments: object) -> dict[str, Any]:
    code, shown, told = run(*arguments, "--json")
    assert (code, told) == (0, "")
    return json.loads(shown)  # type: ignore[no-any-return]


def tally_file(path: Path, counts: Any = CROWD, simulated: bool = False, name: str = "DE", **given: Any) -> Path:
    scheme = make(name, **{"epsilon": 2, "domain": PETS} | given)
    write_tally(path, scheme.simulate(counts, SeededRandom(1)), simulated=simulated)
    return path


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    return tally_file(tmp_path / "pets.tally")


def test_a_table_with_shares_and_intervals(pets: Path) -> None:
    code, shown, told = run(pets)
    assert (code, told) == (0, "")
    lines = shown.splitlines()
    assert lines[0].split() == ["item", "estimate", "share", "95", "%", "interval"]
    assert [line.split()[0] for line in lines[1:5]] == ["cat", "dog", "a,b", "fish"]
    assert "10,000 reports of DE, ε = 2." in shown
    assert "picked" not in shown
    assert "SIMULATED" not in shown


def test_json_has_what_python_has(pets: Path) -> None:
    expected = read_tally(pets).estimate()
    found = said(pets, "--level", "0.5")
    low, _ = expected.interval(0.5)
    assert [each["estimate"] for each in found["estimates"]] == expected.values.tolist()
    assert [each["low"] for each in found["estimates"]] == low.tolist()
    assert (found["reports"], found["complete"], found["level"], found["history"]) == (10_000, True, 0.5, [])


def test_items_by_name_with_commas_and_from_a_file(pets: Path, tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("fish\ncat\n", encoding="utf-8")
    found = said(pets, "--items", "cat,dog", "--item", "a,b", "--items-file", tmp_path / "items.txt")
    assert [each["item"] for each in found["estimates"]] == ["cat", "dog", "a,b", "fish"]
    assert found["complete"] is False
    whole = tally_file(tmp_path / "n.tally", {3: 500}, domain=None, domain_size=10)
    assert [each["item"] for each in said(whole, "--items", "3,7")["estimates"]] == [3, 7]


def test_the_largest_are_said_to_be_picked(tmp_path: Path) -> None:
    path = tally_file(tmp_path / "x.tally", {3: 5000}, name="OUE", domain=None, domain_size=50)
    code, shown, _ = run(path)
    assert code == 0
    assert len(shown.split("\n\n")[0].splitlines()) == 21
    assert "The 20 largest of 50 items." in shown
    assert "chosen for their large estimates" in shown
    assert "at most" in shown
    assert len(run(path, "--all")[1].split("\n\n")[0].splitlines()) == 51
    code, shown, _ = run(path, "--top", 2)
    assert len(shown.split("\n\n")[0].splitlines()) == 3
    assert "chosen for their large estimates" in shown
    assert "at most" in shown
    assert len(said(path)["estimates"]) == 50
    assert [each["item"] for each in said(path, "--top", 1)["estimates"]] == [3]


def test_steps_are_applied_in_their_order_and_drop_the_interval(pets: Path) -> None:
    found = said(pets, "--postprocess", "significance-cut:alpha=0.01", "--postprocess", "norm-sub")
    expected = read_tally(pets).estimate().postprocess("significance-cut", alpha=0.01).postprocess("norm-sub")
    assert found["history"] == [str(step) for step in expected.history] == ["significance-cut alpha=0.01", "norm-sub"]
    assert [each["estimate"] for each in found["estimates"]] == expected.values.tolist()
    assert found["estimates"][0]["low"] is None
    code, shown, _ = run(pets, "--postprocess", "norm-sub", "--top", 2)
    assert code == 0
    assert "After norm-sub, there is no variance and no interval." in shown
    assert "interval" not in shown.splitlines()[0]


def test_rows_of_a_sketch_are_combined_as_told(tmp_path: Path) -> None:
    oracle = make("TLH", epsilon=2, domain_size=64)
    scheme = make("CM", oracle=oracle, rows=4, domain=plausibly.Keys())
    path = tmp_path / "x.tally"
    write_tally(path, scheme.simulate({"a": 500}, SeededRandom(1)))
    expected = read_tally(path).estimate(["a"], combine="median")
    assert said(path, "--items", "a", "--combine", "median")["estimates"][0]["estimate"] == expected.values[0]


@pytest.mark.full
def test_files_of_every_ending(pets: Path, tmp_path: Path) -> None:
    names = [tmp_path / f"x.{ending}" for ending in ("csv", "parquet", "json", "png", "svg", "html")]
    code, shown, told = run(pets, *(word for name in names for word in ("-o", name)))
    assert (code, told) == (0, "")
    assert shown.splitlines()[-6:] == [f"Written: {name}" for name in names]
    with names[0].open(encoding="utf-8") as file:
        assert [row["item"] for row in csv.DictReader(file)] == PETS
    assert json.loads(names[2].read_text(encoding="utf-8")) == said(pets)


def test_simulations_are_labelled(tmp_path: Path) -> None:
    path = tally_file(tmp_path / "x.tally", simulated=True)
    code, shown, _ = run(path)
    assert code == 0
    assert shown.startswith("SIMULATED")
    assert said(path)["simulated"] is True


def test_items_cannot_bend_the_table(tmp_path: Path) -> None:
    labels = ["[red]x[/]", "a\x1b[2Jb", "c\u202ed"]
    path = tally_file(tmp_path / "x.tally", [50, 40, 30], domain=labels)
    _, shown, _ = run(path)
    assert "[red]x[/]" in shown
    assert "a‹escape›[2Jb" in shown
    assert "c‹right-to-left override›d" in shown
    assert not set("\x1b\u202e") & set(shown)


@pytest.mark.full
@in_turn(
    ("arguments", "code", "message"),
    [
        (["--out", "x.xlsx"], 2, "unknown suffix '.xlsx'"),
        (["--top", "2", "--all"], 2, "expected --top or --all, got both"),
        (["--top", "0"], 2, "--top"),
        (["--level", "2"], 2, "level: expected a number strictly between 0 and 1"),
        (["--items", "cat,,dog"], 2, "expected items separated by single commas, got an empty one"),
        (["--items", "cat,Dog"], 1, "--items Dog: expected one of the 4 labels, got a text that is not on the list"),
        (["--items", "cat,Dog"], 1, "did you mean 'dog'?"),
        (["--items", "cat", "--items-file", "SECRETS"], 1, "secrets.txt, item 2: expected one of the 4 labels"),
        (["--postprocess", "norm"], 2, "did you mean 'norm-sub'?"),
        (["--postprocess", "norm-sub:x=1"], 2, "unknown option 'x'"),
        (["--postprocess", "significance-cut:alpha=much"], 2, "expected name:option=number"),
        (["--postprocess", "norm-sub", "--items", "cat"], 1, "norm-sub needs every item of the domain"),
        (["--combine", "median"], 2, "--combine is for sketches"),
        (["--items-file", "none.txt"], 1, "none.txt: No such file"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: list[str], code: int, message: str, tmp_path: Path) -> None:
    (tmp_path / "secrets.txt").write_text("dog\nhiv-clinic\n", encoding="utf-8")
    arguments = [str(tmp_path / "secrets.txt") if word == "SECRETS" else word for word in arguments]
    came, shown, told = run(tally_file(tmp_path / "pets.tally"), *arguments)
    assert (came, shown) == (code, "")
    assert message in " ".join(told.replace("│", " ").split())
    assert "hiv-clinic" not in told


@pytest.mark.parametrize("way", [[], ["--json"]])
def test_an_item_outside_the_list_is_not_answered_with_the_others(way: list[str], tmp_path: Path) -> None:
    path = tally_file(tmp_path / "x.tally", {"the": 30, "teh": 70}, domain=["the", "a"], other=True)
    code, shown, told = run(path, "--items", "the,teh", *way)
    assert (code, shown) == (1, "")
    assert told.startswith("--items teh: not on the list: counted under 'other' with all such texts; ask for 'other'")
    assert "did you mean 'the'?" in told
    assert [each["item"] for each in said(path, "--items", "the,other")["estimates"]] == ["the", "other"]


def test_a_string_of_other_characters_is_not_answered_under_its_name(tmp_path: Path) -> None:
    scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("abcdehs", 3, other=True), users=100)
    write_tally(tmp_path / "s.tally", scheme.simulate({"she": 500, "HIM": 500}, SeededRandom(1)))
    code, shown, told = run(tmp_path / "s.tally", "--items", "SHE")
    assert (code, shown) == (1, "")
    assert " ".join(told.split()) == (
        "--items SHE: 'S' is not in the alphabet; it is counted like every other such character; did you mean 'she'?"
    )
    found = said(tmp_path / "s.tally", "--items", "she,\N{REPLACEMENT CHARACTER}bc")["estimates"]
    assert [each["item"] for each in found] == ["she", "\N{REPLACEMENT CHARACTER}bc"]


def test_a_string_that_users_cut_is_listed_as_they_report_it_and_once(tmp_path: Path) -> None:
    scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("abcdehs", 3), users=100)
    write_tally(tmp_path / "s.tally", scheme.simulate({"shed": 500}, SeededRandom(1)))
    code, shown, told = run(tmp_path / "s.tally", "--items", "shed,she,sheba", "--json")
    assert code == 0
    assert [each["item"] for each in json.loads(shown)["estimates"]] == ["she"]
    assert told == "shed is listed as users report it: she, and 1 more likewise.\n"


def test_items_of_a_file_are_counted_and_not_shown(tmp_path: Path) -> None:
    scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("abcdehs", 3), users=100)
    write_tally(tmp_path / "s.tally", scheme.simulate({"shed": 500}, SeededRandom(1)))
    items = tmp_path / "items.txt"
    items.write_text("she\nshed\nsheba\n")
    code, _, told = run(tmp_path / "s.tally", "--items-file", items, "--json")
    assert (code, told) == (0, f"2 items of {items}: listed in the spelling that users report.\n")
    told = run(tmp_path / "s.tally", "--items-file", items, "--item", "sheba", "--json")[2]
    assert told == "sheba is listed as users report it: she, and 1 more likewise.\n"


def test_items_that_nobody_can_list_have_to_be_named(tmp_path: Path) -> None:
    path = tally_file(tmp_path / "k.tally", {"a": 5}, name="TLH", domain=plausibly.Keys())
    code, _, told = run(path)
    assert code == 2
    assert "name some with --items or --items-file" in told
    assert "search" not in told
    scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("ab", 3), users=100)
    write_tally(tmp_path / "s.tally", scheme.accumulator())
    code, _, told = run(tmp_path / "s.tally")
    assert code == 2
    assert f"or find the common ones with plausibly search {tmp_path / 's.tally'}" in told


def test_tallies_that_are_none_or_empty_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.tally").write_bytes(b"no tally at all")
    code, _, told = run(tmp_path / "x.tally")
    assert code == 1
    assert "x.tally: not a tally file" in told
    code, _, told = run(tmp_path / "none.tally")
    assert code == 1
    code, _, told = run(tally_file(tmp_path / "e.tally", [0, 0, 0, 0]))
    assert code == 1
    assert "e.tally: the tally has no reports" in told


# --- from reports, where a tally would keep them ------------------------------------------------------------------


@pytest.fixture
def keyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two report files with texts that cannot be listed."""
    group_size(monkeypatch, 10)
    scheme = make("OLH", epsilon=2, domain=plausibly.Keys())
    (tmp_path / "day").mkdir()
    for number in range(2):
        write_reports(tmp_path / "day" / f"{number}.parquet", scheme, scheme.privatize(["cat", "dog"] * 20))
    return tmp_path / "day"


def test_reports_are_asked_as_their_tally_is(keyed: Path, tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("dog\ncat\nfish\n", encoding="utf-8")
    collect([keyed], tmp_path / "day.tally")
    options = "--items-file", tmp_path / "items.txt"
    assert said(keyed, *options) == said(tmp_path / "day.tally", *options)
    (tmp_path / "day.tally").rename(tmp_path / "named otherwise")
    (keyed / "0.parquet").rename(keyed / "0.tally")
    one = said(keyed / "0.tally", keyed / "1.parquet", *options)
    assert one == said(tmp_path / "named otherwise", *options), "known by content"
    code, shown, told = run(keyed / "0.tally", *options)
    assert (code, told) == (0, "")
    assert "40 reports of OLH, ε = 2." in shown


def test_damaged_reports_are_left_out_and_listed(keyed: Path) -> None:
    damage_group(keyed / "1.parquet", 2)
    assert run(keyed, "--items", "cat")[0] == 1
    code, shown, told = run(keyed, "--items", "cat", "--skip-bad")
    assert code == 0
    assert "Left out: 1 row group with 10 reports." in told
    assert "70 reports of OLH" in shown


def test_files_without_reports_and_folders_without_files_are_told(tmp_path: Path) -> None:
    scheme = make("OLH", epsilon=2, domain=plausibly.Keys())
    write_reports(tmp_path / "empty.parquet", scheme, scheme.privatize([]))
    code, _, told = run(tmp_path / "empty.parquet", "--items", "cat")
    assert (code, told) == (1, f"{tmp_path / 'empty.parquet'}: there are no reports to estimate from\n")
    (tmp_path / "none").mkdir()
    code, _, told = run(tmp_path / "none", "--items", "cat")
    assert (code, "got none" in told) == (1, True)


@pytest.mark.full
@pytest.mark.xdist_group("processes")
def test_processes_ask_too(keyed: Path) -> None:
    assert said(keyed, "--items", "cat,dog", "--engine", "processes") == said(keyed, "--items", "cat,dog")


def test_a_tally_in_a_pipe_is_not_tasted(pets: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_bytes(pets.read_bytes()))
    writer.start()
    assert said(pipe) == said(pets)
    writer.join()
