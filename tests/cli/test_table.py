"""plausibly table: from a file of answers to a table of two of them; all numbers are those of the library."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import browsing
from plausibly import Choices, Ordered, SeededRandom, Table, from_json, make
from plausibly.cli import app
from plausibly.demo.survey import QUESTIONS, questions_text, survey
from plausibly.files import Collected, read_tally, write_tally

RECORDS = Table({"theme": ["dark", "light"], "age": Ordered(0, 3, unit="years"), "p<b>an": ["=free", "p$id"]})
CROWD = {("dark", 1, "=free"): 4000, ("light", 3, "p$id"): 3000, (None, 2, "=free"): 1000}


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)], terminal_width=200)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.fixture
def tally(tmp_path: Path) -> Path:
    write_tally(
        tmp_path / "a.tally", make("CLIQUE", epsilon=3, domain=RECORDS).simulate(CROWD, SeededRandom(1)), simulated=True
    )
    return tmp_path / "a.tally"


def test_from_a_file_of_answers_to_a_table(tmp_path: Path) -> None:
    answers, questions, scheme = (tmp_path / name for name in ("s.csv", "q.txt", "s.json"))
    run("sample", answers, "--survey", "--questions", questions, "--users", 3000)
    run("plan", "--attributes", questions, "--users", 3000, "--epsilon", 4, "--save", scheme)
    run("privatize", answers, "--scheme", scheme, "--seed", 7, "--out", tmp_path / "r.parquet")
    run("collect", tmp_path / "r.parquet", "--out", tmp_path / "s.tally", "--simulated")
    shown = json.loads(run("table", tmp_path / "s.tally", "--rows", "age", "--columns", "plan", "--json"))
    held = Collected.read(tmp_path / "s.tally")
    library = held.scheme.accumulator()
    people = {name: [value or None for value in column] for name, column in survey(3000).items()}
    people["age"] = [None if age is None else int(age) for age in people["age"]]
    library.add(held.scheme.privatize(people, SeededRandom(7)))
    expected = library.table("age", "plan")
    assert [cell["estimate"] for cell in shown["cells"]] == expected.values.tolist()
    assert (shown["reports"], shown["simulated"]) == (3000, True)


@pytest.mark.full
def test_from_a_file_of_lists_to_counts_of_all_items(tmp_path: Path) -> None:
    reports = tmp_path / "r.parquet"
    (tmp_path / "items.txt").write_text("Maps\nMail\n")
    planned = ("plan", "--choices", tmp_path / "items.txt", "--other", "--users", 200, "--epsilon", 4)
    run(*planned, "--save", tmp_path / "s.json")
    scheme = from_json((tmp_path / "s.json").read_text())
    assert scheme == make("CLIQUE", epsilon=4, domain=Choices(["Maps", "Mail"], other=True))
    lists = [["Maps"], ["Maps", "Mail"], [], ["Chess"]] * 50
    (tmp_path / "a.csv").write_text("apps\n" + "".join(f"{';'.join(own)}\n" for own in lists))
    given = "--scheme", tmp_path / "s.json", "--separator", ";", "--seed", 7
    run("privatize", tmp_path / "a.csv", *given, "--out", reports)
    told = CliRunner().invoke(app, ["estimate", str(reports), "--simulated"])
    assert (told.exit_code, "plausibly table … --rows NAME" in told.stderr) == (1, True), told.stderr
    run("collect", reports, "--out", tmp_path / "a.tally", "--simulated")
    shown = json.loads(run("table", tmp_path / "a.tally", "--json"))
    library = scheme.accumulator()
    library.add(scheme.privatize(lists, SeededRandom(7)))
    assert [row["item"] for row in shown["estimates"]] == library.table().items.tolist()
    assert [row["estimate"] for row in shown["estimates"]] == library.table().values.tolist()
    assert "other" in run("table", tmp_path / "a.tally", "--out", tmp_path / "a.html")


def test_programs_get_the_numbers_of_the_library(tally: Path, tmp_path: Path) -> None:
    out = [tmp_path / f"t.{ending}" for ending in ("csv", "json", "parquet")]
    words = [word for path in out for word in ("--out", path)]
    run("table", tally, "--rows", "theme", "--columns", "age", "--level", 0.9, *words)
    library = read_tally(tally, allow_simulated=True).table("theme", "age")
    shares = library.shares_by("theme")
    low, high = library.interval(0.9)
    own_low, own_high = shares.interval(0.9)
    expected = {"estimate": library.values, "low": low, "high": high, "share": library.values / library.n}
    expected |= {"share_of_row": shares.values, "share_of_row_low": own_low, "share_of_row_high": own_high}
    with out[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    document = json.loads(out[1].read_text(encoding="utf-8"))
    table = parquet.read_table(out[2])
    for name, numbers in expected.items():
        known = np.isfinite(numbers)
        assert [bool(row[name]) for row in rows] == known.tolist()
        assert [float(row[name]) for row in rows if row[name]] == numbers[known].tolist()
        assert [cell[name] for cell in document["cells"] if cell[name] is not None] == numbers[known].tolist()
        assert [each for each in table[name].to_pylist() if each is not None] == numbers[known].tolist()
    assert [(row["theme"], row["age"]) for row in rows] == [(a, str(b)) for a, b in library.items.tolist()]
    assert table["age"].to_pylist() == [str(item[1]) for item in library.items.tolist()]
    assert {row["level"] for row in rows} == {"0.9"}
    test = library.independence()
    told = {"statistic": test.statistic, "degrees": test.degrees, "p_value": test.p_value, "text": test.text}
    told |= {"reports_needed": test.needed}
    assert document["independence"] == told
    assert json.loads(table.schema.metadata[b"plausibly.table"])["independence"] == told
    for sums, name in (("row_sums", "theme"), ("column_sums", "age")):
        margin = library.margin(name)
        assert [each["estimate"] for each in document[sums]] == margin.values.tolist()
        assert [each["low"] for each in document[sums]] == margin.interval(0.9)[0].tolist()
    assert run("table", tally, "--rows", "theme", "--columns", "age", "--level", 0.9, "--json") == (
        json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    )


def test_people_see_counts_sums_shares_and_the_test(tally: Path) -> None:
    shown = " ".join(run("table", tally, "--rows", "theme", "--columns", "age").split())
    library = read_tally(tally, allow_simulated=True).table("theme", "age")
    cell = library["dark", 1]
    half = (cell.interval()[1] - cell.interval()[0]) / 2
    assert f"{library.written(float(cell))} ±{library.written(half)}" in shown
    total = library.margin("theme")["dark"]
    half = (total.interval()[1] - total.interval()[0]) / 2
    assert f"{library.written(float(total))} ±{library.written(half)}" in shown
    share = library.shares_by("theme")["dark", 1]
    assert f"{100 * float(share):.1f} % ±" in shown
    assert "8,000 Shares by theme, approximate:" in shown
    assert f"{library.independence().text}." in shown
    assert "8,000 reports of CLIQUE, ε = 3." in shown
    assert "SIMULATED" in shown


def test_a_row_of_hardly_anybody_has_no_shares(tmp_path: Path) -> None:
    records = Table({"a": ["x", "y"], "b": ["u", "v"]}, missing=False)
    write_tally(
        tmp_path / "a.tally", make("CLIQUE", epsilon=1, domain=records).simulate({("x", "u"): 999}, SeededRandom(1))
    )
    shown = json.loads(run("table", tmp_path / "a.tally", "--rows", "a", "--columns", "b", "--json"))
    unknown = [cell["share_of_row"] is None for cell in shown["cells"]]
    assert unknown == [False, False, True, True]
    assert re.search(r"^y +\? +\?$", run("table", tmp_path / "a.tally", "--rows", "a", "--columns", "b"), re.MULTILINE)


@pytest.mark.full
def test_a_lost_group_of_reports_is_said_to_people_and_to_programs(tmp_path: Path) -> None:
    scheme = make("CLIQUE", epsilon=3, domain=RECORDS, cliques=2)
    reports, tally = scheme.privatize([("dark", 1, "=free")] * 6000, SeededRandom(1)), scheme.accumulator()
    tally.add(reports[reports["group"] != 1])
    write_tally(tmp_path / "a.tally", tally, simulated=True)
    told = "Reports were lost or added, and the estimates are biased"
    for asked in (["--rows", "theme", "--columns", "age"], ["--rows", "theme"]):
        assert told in " ".join(run("table", tmp_path / "a.tally", *asked, "--out", tmp_path / "t.html").split())
        assert told in (tmp_path / "t.html").read_text(encoding="utf-8")
        (tmp_path / "t.html").unlink()
        assert told in json.loads(run("table", tmp_path / "a.tally", *asked, "--json"))["cautions"][0]
    asked = ["--rows", "theme", "--columns", "age"]
    shown = " ".join(run("table", tmp_path / "a.tally", *asked).split())
    assert "Cannot tell whether theme and age are related: the reports do not fit the scheme" in shown
    test = json.loads(run("table", tmp_path / "a.tally", *asked, "--json"))["independence"]
    assert told in test["cautions"][0]
    assert test["text"].startswith("Cannot tell")


def test_one_attribute_is_an_ordinary_answer(tally: Path, tmp_path: Path) -> None:
    library = read_tally(tally, allow_simulated=True).table("age")
    shown = json.loads(run("table", tally, "--rows", "age", "--json", "--out", tmp_path / "age.html"))
    assert [each["estimate"] for each in shown["estimates"]] == library.values.tolist()
    assert "<h1>age</h1>" in (tmp_path / "age.html").read_text(encoding="utf-8")
    asked = json.loads(
        run("table", tally, "--rows", "age", "--ranges", "0..1", "--quantiles", ".5", "--mean", "--json")
    )
    assert asked["ranges"][0]["estimate"] == library.ranges([(0, 1)]).values[0]
    assert asked["quantiles"][0]["value"] == library.quantiles([0.5]).values[0]


@pytest.mark.full
def test_the_page_has_every_number_and_loads_nothing(tally: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.html"
    words = ("--title", "A & <b>", "--unit", "households")
    run("table", tally, "--rows", "p<b>an", "--columns", "theme", "--out", out, *words)
    page = out.read_text(encoding="utf-8")
    run("table", tally, "--rows", "p<b>an", "--columns", "theme", "--out", out, *words)
    assert out.read_text(encoding="utf-8") == page
    library = read_tally(tally, allow_simulated=True).table("p<b>an", "theme")
    for value in library.values.tolist():
        assert f">{library.written(value)}<small>± " in page
    assert "<h1>A &amp; &lt;b&gt;</h1>" in page
    assert "p<b>an" not in page
    assert "Simulated" in page
    assert "are approximate" in page
    assert "Estimated numbers of households" in page
    assert not re.search(r"(?:src|href)=\"(?!data:)", page)


@pytest.mark.full
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_page_is_read_with_any_width_and_by_anybody(width: int, dark: bool, tally: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.html"
    run("table", tally, "--rows", "theme", "--columns", "age", "--out", out)
    with (
        browsing.site({"/": out.read_text(encoding="utf-8")}) as url,
        browsing.page(width=width, dark=dark) as page,
    ):
        page.goto(f"{url}/")
        assert not page.overflows()
        assert page.violations() == []


@pytest.mark.full
@pytest.mark.parametrize("width", [1280, 360])
def test_long_names_do_not_widen_the_page_and_markup_in_names_is_text(width: int, tmp_path: Path) -> None:
    long, markup = "q" * 80, '<img src=x onerror="alert(1)">'
    records = Table({long: ["w" * 80, "</script><script>alert(2)</script>"], markup: [markup, "x"]})
    scheme = make("CLIQUE", epsilon=3, domain=records)
    write_tally(tmp_path / "a.tally", scheme.simulate({("w" * 80, markup): 900}, SeededRandom(1)), simulated=True)
    pages = {}
    for name, asked in (("two", ["--rows", long, "--columns", markup]), ("one", ["--rows", long])):
        run("table", tmp_path / "a.tally", *asked, "--out", tmp_path / f"{name}.html")
        pages[f"/{name}"] = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    with browsing.site(pages) as url, browsing.page(width=width) as page:
        for name in pages:
            page.goto(f"{url}{name}")
            assert not page.overflows()
            assert page.messages() == []
            assert page.evaluate("() => document.querySelectorAll('[onerror], main script').length") == 0


@pytest.mark.parametrize("ending", [pytest.param("png", marks=pytest.mark.full), "svg"])
def test_pictures_are_drawn(ending: str, tally: Path, tmp_path: Path) -> None:
    out = tmp_path / f"t.{ending}"
    run("table", tally, "--rows", "theme", "--columns", "age", "--out", out)
    assert out.read_bytes().startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    if ending == "svg":
        assert "SIMULATED" in out.read_text(encoding="utf-8")


def test_cells_of_spreadsheets_are_no_formulas(tally: Path, tmp_path: Path) -> None:
    run("table", tally, "--rows", "p<b>an", "--columns", "theme", "--out", tmp_path / "t.csv")
    assert '"\'=free"' in (tmp_path / "t.csv").read_text(encoding="utf-8")


def test_attributes_named_like_columns_of_numbers_are_told_apart(tmp_path: Path) -> None:
    records = Table({"low": ["a", "b"], "level": ["c", "d"]})
    write_tally(
        tmp_path / "a.tally", make("CLIQUE", epsilon=1, domain=records).simulate({("a", "c"): 9}, SeededRandom(1))
    )
    run("table", tmp_path / "a.tally", "--rows", "low", "--columns", "level", "--out", tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["low (attribute)"], row["level (attribute)"], row["level"]) == ("a", "c", "0.95")


@pytest.mark.full
def test_large_tables_are_cut_on_the_terminal_only(tmp_path: Path) -> None:
    records = Table({"a": 60, "b": 50}, missing=False)
    write_tally(
        tmp_path / "a.tally", make("CLIQUE", epsilon=1, domain=records).simulate({(1, 2): 999}, SeededRandom(1))
    )
    shown = run("table", tmp_path / "a.tally", "--rows", "a", "--columns", "b", "--out", tmp_path / "t.csv")
    assert "… 41 × 9 of 61 rows and 51 columns; --out FILE.html has all" in shown
    assert "too large for a test" in shown
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3001


@pytest.mark.full
def test_attributes_are_typed_or_listed_in_a_file(tmp_path: Path) -> None:
    lines = [
        "theme = dark, light",
        'size="1,000 or more",fewer',
        "age=bins:0,18,65,120 years",
        "born=range:1900..2026",
        "day=dates:2026-01-01..2026-01-31",
        "wait=durations:0..500ms",
        "odd=labels:bins:a,b",
    ]
    typed = [word for line in lines for word in ("--attribute", line)]
    (tmp_path / "q.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    found = []
    for given, name in ((typed, "a.json"), (["--attributes", tmp_path / "q.txt"], "b.json")):
        run("plan", *given, "--other", "--users", 10_000, "--epsilon", 1, "--save", tmp_path / name)
        found.append((tmp_path / name).read_text(encoding="utf-8"))
    assert found[0] == found[1]
    domain: Any = json.loads(found[0])["domain"]
    cells = {each["name"]: each["domain"] for each in domain["attributes"]}
    assert cells["theme"]["labels"] == ["dark", "light"]
    assert cells["size"]["labels"] == ["1,000 or more", "fewer"]
    assert cells["odd"]["labels"] == ["bins:a", "b"]
    expected = Table({"age": Ordered.bins([0, 18, 65, 120], unit="years"), "born": Ordered(1900, 2026)})
    assert [cells["age"], cells["born"]] == [each["domain"] for each in expected.to_dict()["attributes"]]
    run(
        "plan",
        "--attribute",
        "a=1,2",
        "--attribute",
        "b=1,2",
        "--no-missing",
        "--users",
        99,
        "--epsilon",
        1,
        "--save",
        tmp_path / "c.json",
    )
    assert [each["missing"] for each in json.loads((tmp_path / "c.json").read_text())["domain"]["attributes"]] == [
        False
    ] * 2


def test_the_made_up_survey_is_the_same_everywhere_and_fits_its_questions() -> None:
    columns = survey(20_000)
    assert len(columns) == QUESTIONS == len(questions_text().splitlines())
    listed = dict(line.split("=") for line in questions_text().splitlines())
    for name, answers in listed.items():
        if name != "age":
            assert set(columns[name]) == {*answers.split(","), ""}
    ages = [int(age) for age in columns["age"] if age]
    assert (min(ages), max(ages)) == (18, 99)
    # Somebody skips a question with a probability of 3 %; five standard errors.
    skipped = np.array([column.count("") for column in columns.values()])
    assert (abs(skipped - 600) < 5 * (600 * 0.97) ** 0.5).all()
    assert [columns[name][0] for name in ("age", "region", "recommends")] == ["18", "south", "no"]
