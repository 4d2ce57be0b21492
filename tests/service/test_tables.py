"""Tables of records over HTTP: the library's numbers, refusals that say what to ask for, and records from devices."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import browsing
import plausibly
from plausibly import Choices, Labels, Ordered, SeededRandom, Table, encode_reports, make
from plausibly.cli import app
from plausibly.client import Collector, Outcome
from plausibly.core.accumulator import Accumulator
from plausibly.core.scheme import Scheme
from plausibly.device import DeviceError
from plausibly.files import ReportFile
from plausibly.service.collections import Collection
from serving import HOST, Serving, new_key, place, serving

pytestmark = pytest.mark.full

SURVEY = Table(
    {
        "browser": Labels(["Firefox", "Chrome"], other=True),
        "theme": Labels(["dark", "light"], other=True),
        "age": Ordered(18, 80),
        "low": 3,
    }
)
"""One attribute is named like a column of numbers."""
APPS = Choices(["Maps", "Mail", "Chess"], other=True)
OWNED: list[list[str]] = [["Maps", "Mail"], ["Maps"], [], ["Chess", "Sudoku"], ["Mail", "Maps"]]
PEOPLE = [
    {"browser": ("Firefox", "Chrome")[i % 2], "theme": (None, "dark", "light")[i % 3], "age": 18 + i % 60, "low": i % 3}
    for i in range(6000)
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("tables") / "collector") as running:
        yield running
        assert running.terminate() == 0
        assert "error" not in running.logged()


def filled(server: Serving, name: str, scheme: Scheme, people: list[Any], **options: Any) -> tuple[str, Accumulator]:
    """The path of a new collection with the reports of these people, and the library's tally of the same reports."""
    asked = Collection(name=name, scheme=scheme, **options)
    assert server.request("POST", "/v1/collections", asked.document, "admin").status == 201
    reports = scheme.privatize(people, SeededRandom(len(people)))
    tally = scheme.accumulator()
    tally.add(reports)
    body = encode_reports(scheme, reports)
    assert server.request("POST", f"{place(asked)}/reports/{new_key()}", body).status == 201
    return place(asked), tally


@pytest.fixture(scope="module")
def crossed(server: Serving) -> tuple[str, Accumulator]:
    return filled(server, "crossed", make("CLIQUE", epsilon=2, domain=SURVEY), PEOPLE)


def test_a_table_has_the_numbers_of_the_library(server: Serving, crossed: tuple[str, Accumulator]) -> None:
    where, tally = crossed
    for rows, columns in (("browser", "theme"), ("theme", "browser"), ("low", "age")):
        found = server.request("GET", f"{where}/table?rows={rows}&columns={columns}&level=0.9", role="read").json
        table = tally.table(rows, columns)
        assert [(cell["row"], cell["column"]) for cell in found["cells"]] == table.items.tolist()
        shares = table.shares_by(rows)
        for name, numbers in (
            *table.columns(0.9).items(),
            *zip(("share_of_row_low", "share_of_row_high"), shares.interval(0.9), strict=True),
            ("share_of_row", shares.values),
        ):
            told = [np.nan if cell[name] is None else cell[name] for cell in found["cells"]]
            assert np.array_equal(told, np.where(np.isfinite(numbers), numbers, np.nan), equal_nan=True), name
        assert found["independence"]["p_value"] == table.independence().p_value
        assert found["independence"]["text"] == table.independence().text
        assert (found["reports"], found["level"], found["epsilon_per_report"]) == (6000, 0.9, "2")
        assert found["influence_of_one_percent_fakes"] == {
            "fakes": 60,
            "count_moves_at_most": tally.scheme.influence() * 60,
        }
        assert (found["rows"], found["columns"], found["kind"]) == (rows, columns, "table")


def test_a_table_of_one_attribute_is_ordinary_estimates(server: Serving, crossed: tuple[str, Accumulator]) -> None:
    where, tally = crossed
    found = server.request("GET", f"{where}/table?rows=age&quantiles=.5&ranges=18..40&mean=1", role="read").json
    made = tally.table("age")
    assert [row["estimate"] for row in found["estimates"]] == made.values.tolist()
    assert found["ranges"][0]["estimate"] == made.ranges([(18, 40)]).values[0]  # type: ignore[attr-defined]
    assert {"quantiles", "mean", "epsilon_per_report"} <= set(found)
    both = f"{where}/table?rows=age&columns=theme&mean=1"
    assert "expected one attribute" in server.request("GET", both, role="read").json["detail"]
    unordered = server.request("GET", f"{where}/table?rows=theme&mean=1", role="read")
    assert (unordered.status, "has an order" in unordered.json["detail"]) == (400, True)


def test_files_of_a_table_have_a_row_for_each_cell(server: Serving, crossed: tuple[str, Accumulator]) -> None:
    where, tally = crossed
    table = tally.table("theme", "low")
    text = server.request("GET", f"{where}/table.csv?rows=theme&columns=low", role="read").body.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["theme"], row["low (attribute)"]) for row in rows] == [(a, str(b)) for a, b in table.items]
    assert [float(row["estimate"]) for row in rows] == table.values.tolist()
    assert {row["reports"] for row in rows} == {"6000"}
    content = server.request("GET", f"{where}/table.parquet?rows=theme&columns=low", role="read").body
    read = pyarrow.parquet.read_table(io.BytesIO(content))
    assert read.column("low").to_pylist() == table.interval()[0].tolist()
    assert read.column("low (attribute)").to_pylist() == [str(item) for _, item in table.items]
    assert json.loads(read.schema.metadata[b"plausibly.table"])["columns"] == "low"
    one = server.request("GET", f"{where}/table.csv?rows=theme", role="read").body.decode()
    assert one.count("\n") == tally.table("theme").values.size + 1


def test_a_table_is_304_until_a_report_comes_and_needs_enough_of_them(server: Serving) -> None:
    scheme = make("CLIQUE", epsilon=1, domain=SURVEY)
    where, _ = filled(server, "few", scheme, PEOPLE[:99], minimum=100)
    asked = f"{where}/table?rows=age&columns=theme"
    assert server.request("GET", asked).status == 401
    few = server.request("GET", asked, role="read")
    assert (few.status, "at least 100 reports" in few.json["detail"]) == (409, True)
    more = encode_reports(scheme, scheme.privatize(PEOPLE[:1]))
    assert server.request("POST", f"{where}/reports/{new_key()}", more).status == 201
    tag = server.request("GET", asked, role="read").headers["etag"]
    same = server.request("GET", asked, role="read", headers={"If-None-Match": tag})
    assert (same.status, same.body) == (304, b"")
    assert server.request("POST", f"{where}/reports/{new_key()}", more).status == 201
    assert server.request("GET", asked, role="read", headers={"If-None-Match": tag}).status == 200


REFUSED = {
    "rows=age&columns=them": "unknown attribute 'them'; did you mean 'theme'? valid: age, browser, low, theme",
    "rows=nothing": "unknown attribute 'nothing'; valid: age, browser, low, theme",
    "": "rows: expected the name of an attribute; valid: age, browser, low, theme",
    "columns=age": "rows: expected the name of an attribute",
    "rows=age&columns=age": "expected different attributes",
    "rows=age&rows=theme": "rows: expected one attribute, got 2",
    "rows=age&columns=theme&level=2": "level",
    "rows=age&colums=theme": "unknown parameter 'colums'; did you mean 'columns'?",
}


@pytest.mark.parametrize("query", REFUSED)
def test_a_question_that_makes_no_sense_is_refused_with_what_would(
    server: Serving, crossed: tuple[str, Accumulator], query: str
) -> None:
    for ending in ("", ".csv", ".parquet"):
        found = server.request("GET", f"{crossed[0]}/table{ending}?{query}", role="read")
        assert found.status == 400
        assert REFUSED[query] in found.json["detail"]


def test_routes_for_other_schemes_name_the_right_one(server: Serving, crossed: tuple[str, Accumulator]) -> None:
    for query in ("", "?item=Firefox,dark,33,1", "?top=3"):
        found = server.request("GET", f"{crossed[0]}/estimates{query}", role="read")
        assert found.status == 400
        assert "…/table?rows=NAME&columns=NAME" in found.json["detail"]
        assert "browser, theme, age, low" in found.json["detail"]
    assert "ask for …/table" in server.request("GET", f"{crossed[0]}/search", role="read").json["detail"]
    where, _ = filled(server, "plain", make("OUE", epsilon=1, domain=["a", "b"]), ["a"] * 20)
    found = server.request("GET", f"{where}/table?rows=age", role="read")
    assert (found.status, found.json["detail"]) == (
        400,
        "expected a scheme for records of several attributes, got OUE; ask for …/estimates",
    )
    where, _ = filled(server, "one at a time", make("SMP", epsilon=1, domain=SURVEY), PEOPLE[:50])
    assert server.request("GET", f"{where}/table?rows=age", role="read").status == 200
    found = server.request("GET", f"{where}/table?rows=age&columns=low", role="read")
    assert (found.status, "Collect with CLIQUE" in found.json["detail"]) == (400, True)


def test_a_large_table_is_answered_without_what_would_take_long(server: Serving) -> None:
    domain = Table({"a": 255, "b": 255, "c": 2}, missing=False)
    where, tally = filled(server, "large", make("CLIQUE", epsilon=2, domain=domain), [(1, 2, 0)] * 500)
    found = server.request("GET", f"{where}/table?rows=a&columns=b", role="read").json
    assert [cell["estimate"] for cell in found["cells"]] == tally.table("a", "b").values.tolist()
    assert found["independence"] is None
    own = tally.table("a", "b").shares_by("a").values.tolist()
    assert [cell["share_of_row"] for cell in found["cells"]] == [None if isnan(share) else share for share in own]


def test_a_table_of_choices_without_rows_counts_all_items(server: Serving) -> None:
    where, tally = filled(server, "apps", make("CLIQUE", epsilon=2, domain=APPS), OWNED * 300)
    made = tally.table()
    found = server.request("GET", f"{where}/table?level=0.9", role="read").json
    assert [(row["item"], row["estimate"]) for row in found["estimates"]] == [
        *zip(made.items.tolist(), made.values.tolist(), strict=True)
    ]
    assert [row["low"] for row in found["estimates"]] == made.interval(0.9)[0].tolist()
    assert [row["significant"] for row in found["estimates"]] == made.stands_out.tolist()
    assert (found["kind"], found["complete"], found["reports"]) == ("estimates", False, 1500)
    text = server.request("GET", f"{where}/table.csv", role="read").body.decode()
    assert [float(row["estimate"]) for row in csv.DictReader(io.StringIO(text))] == made.values.tolist()
    read = pyarrow.parquet.read_table(io.BytesIO(server.request("GET", f"{where}/table.parquet", role="read").body))
    assert read.column("estimate").to_pylist() == made.values.tolist()
    one = server.request("GET", f"{where}/table?rows=Maps", role="read").json["estimates"]
    assert [row["estimate"] for row in one] == tally.table("Maps").values.tolist()
    both = server.request("GET", f"{where}/table?rows=Maps&columns=Mail", role="read").json["cells"]
    assert [cell["estimate"] for cell in both] == tally.table("Maps", "Mail").values.tolist()
    for query, told in (
        ("columns=Maps", "rows: expected the name of an attribute"),
        ("mean=1", "expected all items of a domain that has an order"),
        ("rows=Map", "did you mean 'Maps'?"),
    ):
        refused = server.request("GET", f"{where}/table?{query}", role="read")
        assert (refused.status, told in refused.json["detail"]) == (400, True), refused.json
    refused = server.request("GET", f"{where}/estimates", role="read")
    assert (refused.status, "ask for …/table for the counts of all items" in refused.json["detail"]) == (400, True)
    paths = server.request("GET", "/openapi.json").json["paths"]
    for ending in ("", ".csv", ".parquet"):
        described = paths[f"/v1/collections/{{id}}/table{ending}"]["get"]["description"]
        assert "the count of every item" in described


# --- from end to end -------------------------------------------------------------------------------------------------

HOSTILE_LISTS: list[Any] = ["secret-value", {"secret-value": 1}, 7, None, ["Maps", 7]]
"""Values that are no lists of texts."""
HOSTILE: list[Any] = [
    {"browser": "Chrome", "age": 33, "low": 1},
    {**PEOPLE[0], "secret-value": 1},
    {**PEOPLE[0], "low": 99},
    ["Chrome", "light", 44],
    "secret-value,light,44,2",
    {"browser": {"browser": "secret-value"}, "theme": ["secret-value"], "age": "secret-value", "low": None},
]
"""Records that do not fit: an attribute is missing or added, a value is outside, or everything is something else."""
PAGE = """<!doctype html><html lang=en><title>survey</title><script type=module>
  import { join } from "/client/dist/plausibly-client.min.js";
  window.report = async (url, record) => (await join(url, { maxEpsilon: 2 })).report(record);
</script>"""
REPORT = """([url, record]) =>
  window.report(url, record).catch((error) => `${error.name}: ${error.message}`)"""


def sent_by_browsers(url: str, records: list[Any]) -> list[str]:
    """What the client in a browser says of each record; every record has a browser profile of its own."""
    told = []
    with browsing.site({"/": PAGE}) as site:
        for record in records:
            with browsing.page() as page:
                page.goto(site)
                told.append(page.evaluate(REPORT, [url, record]))
    return told


def test_records_of_devices_make_the_table_of_the_library(tmp_path: Path) -> None:
    folder, saved = tmp_path / "collector", tmp_path / "scheme.json"
    scheme = make("CLIQUE", epsilon=2, domain=SURVEY)
    saved.write_text(scheme.to_json(), encoding="utf-8")
    made = CliRunner().invoke(
        app, ["collections", "create", str(folder), "--name", "survey", "--scheme", str(saved), "--json"]
    )
    identity = json.loads(made.stdout)[0]["id"]
    with serving(folder) as server:
        collector = Collector(
            f"http://{HOST}:{server.port}/v1/collections/{identity}",
            max_epsilon=2,
            fingerprint=scheme.fingerprint(),
            ledger=tmp_path / "own",
        )
        people: list[Any] = [*PEOPLE[:20], ("Chrome", "light", 44, 2), {**PEOPLE[0], "theme": "sepia", "age": None}]
        for number, person in enumerate(people):
            assert collector.with_ledger(tmp_path / f"{number}.ledger").report(person) is Outcome.COUNTED
        for number, hostile in enumerate(HOSTILE):
            own = tmp_path / f"hostile-{number}.ledger"
            with pytest.raises(DeviceError) as refused:
                collector.with_ledger(own).report(hostile)
            assert "secret-value" not in str(refused.value)
            assert not own.exists(), "nothing is spent"
        people += [PEOPLE[7], ["Firefox", None, 80, 0], {**PEOPLE[8], "theme": "sepia", "age": None}]
        told = sent_by_browsers(f"http://{HOST}:{server.port}/v1/collections/{identity}", [*people[-3:], *HOSTILE])
        assert told[:3] == ["counted"] * 3
        assert told[3:] == ["DeviceError: expected a value of the domain"] * len(HOSTILE)
        where = f"/v1/collections/{identity}"
        for body in (bytes(scheme.report_dtype.itemsize + 1), b"\xff" * scheme.report_dtype.itemsize):
            assert server.request("POST", f"{where}/reports/{new_key()}", body).status == 400
        found = server.request("GET", f"{where}/table?rows=browser&columns=theme", role="read").json
        assert found["reports"] == len(people)
        assert server.request("POST", f"{where}/close", role="admin").status == 200
        assert server.terminate() == 0
    tally = scheme.accumulator()
    for path in (folder / identity / "reports").glob("*.parquet"):
        for group in ReportFile(path):
            tally.add(group)
    table = tally.table("browser", "theme")
    assert [cell["estimate"] for cell in found["cells"]] == table.values.tolist()
    again = plausibly.files.Collected.read(folder / identity / "collected.tally")
    assert again.tally.table("browser", "theme").values.tolist() == table.values.tolist()


def test_lists_of_devices_make_the_counts_of_all_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, scheme = tmp_path / "collector", make("CLIQUE", epsilon=2, domain=APPS)
    asked = Collection(name="apps", scheme=scheme)
    with serving(folder) as server:
        assert server.request("POST", "/v1/collections", asked.document, "admin").status == 201
        address = f"http://{HOST}:{server.port}{place(asked)}"
        collector = Collector(address, max_epsilon=2, fingerprint=scheme.fingerprint(), ledger=tmp_path / "own")
        for number, own in enumerate(OWNED * 4):
            assert collector.with_ledger(tmp_path / f"{number}.ledger").report(own) is Outcome.COUNTED
        for number, hostile in enumerate(HOSTILE_LISTS):
            with pytest.raises(DeviceError) as refused:
                collector.with_ledger(tmp_path / f"hostile-{number}.ledger").report(hostile)
            assert "secret-value" not in str(refused.value)
        assert sent_by_browsers(address, [["Maps", "Sudoku"], []]) == ["counted"] * 2
        found = server.request("GET", f"{place(asked)}/table", role="read").json
        assert found["reports"] == len(OWNED) * 4 + 2
        monkeypatch.setenv("PLAUSIBLY_TOKEN", server.tokens["read"])
        words = ["collections", "read", "--to", f"http://{HOST}:{server.port}", "--id", asked.id, "--json"]
        assert json.loads(CliRunner().invoke(app, words).stdout)["estimates"] == found["estimates"]
        assert json.loads(CliRunner().invoke(app, [*words, "--rows", "Maps", "--columns", "Mail"]).stdout)["cells"]
        assert server.request("POST", f"{place(asked)}/close", role="admin").status == 200
        assert server.terminate() == 0
    tally = scheme.accumulator()
    for path in (folder / asked.id / "reports").glob("*.parquet"):
        for group in ReportFile(path):
            tally.add(group)
    assert [row["estimate"] for row in found["estimates"]] == tally.table().values.tolist()
