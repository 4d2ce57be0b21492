"""plausibly series and plausibly ledger: trends in tables and files, what a device has sent, and refusals."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from time import process_time
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import browsing
from plausibly import ParameterError, SeededRandom, make, series
from plausibly.cli import app
from plausibly.client import Outcome
from plausibly.client.ledger import Entry, Ledger
from plausibly.files import read_tally, write_tally
from plausibly.files.slots import slots_of
from plausibly.pages.trends import Trend, write_trend

ITEMS = ["search", "share", "none"]
SCHEME = make("OUE", epsilon=2, domain=ITEMS)


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def day(folder: Path, slot: int, name: str = "day{}.tally", simulated: bool = False) -> Path:
    path = folder / name.format(slot)
    write_tally(path, SCHEME.simulate([300, 100 + slot, 600], SeededRandom(slot)), simulated=simulated)
    return path


@pytest.fixture
def days(tmp_path: Path) -> list[Path]:
    return [day(tmp_path, slot) for slot in (10, 8, 9, 11)]


def test_slots_are_ordered_by_number_and_their_numbers_are_those_of_the_library(days: list[Path]) -> None:
    code, told, _ = run("series", *days, "--rota", 3, "--mean", 2, "--json")
    assert code == 0
    found = json.loads(told)
    assert [row["slot"] for row in found["series"][::3]] == [8, 9, 10, 11]
    estimates = {slot: read_tally(days[0].with_name(f"day{slot}.tally")).estimate() for slot in range(8, 12)}
    shares = series(estimates, rota=3).shares()
    low, high = shares.interval()
    for name, numbers in (("share", shares.values), ("low", low), ("high", high)):
        assert [row[name] for row in found["series"]] == pytest.approx(numbers.ravel().tolist())
    means = [row["mean"] for row in found["series"]]
    assert means[:3] == [None] * 3
    assert means[3:] == pytest.approx(shares.mean(2).values.ravel().tolist())
    assert (found["rota"], found["over"], found["simulated"]) == (3, 2, False)
    assert found["users"] == sum(int(each) for each in shares.reports[-3:])


def test_people_read_the_promise_and_a_row_for_each_slot(days: list[Path]) -> None:
    code, shown, _ = run("series", *days, "--rota", 3, "--counts", "--items", "share")
    assert code == 0
    flat = " ".join(shown.split())
    assert "one of any 3 consecutive slots: everything that a user reveals in 3 slots is bounded by ε = 2" in flat
    rows = [line.split() for line in shown.splitlines() if line.startswith(("8 ", "9 ", "10", "11"))]
    assert [row[0] for row in rows] == ["8", "9", "10", "11"]
    assert all(row[3] == "±" for row in rows)
    assert "3,030 users" in flat
    assert "the ε of a user adds up" in run("series", *days, "--rota", 1)[1]


@pytest.mark.full
def test_files_of_a_trend(days: list[Path], tmp_path: Path) -> None:
    names = ["t.csv", "t.parquet", "t.json", "t.png", "t.svg", "t.html"]
    outputs = [word for name in names for word in ("--out", tmp_path / name)]
    code, shown, told = run("series", *days, "--rota", 3, "--mean", 2, "--title", "a <b> & $c$", *outputs)
    assert (code, told) == (0, "")
    assert all(f"{name}" in shown for name in names)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pyarrow = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.read_table(tmp_path / "t.parquet").to_pylist()
    assert len(rows) == len(table) == 12
    assert [float(row["share"]) for row in rows] == [row["share"] for row in table]
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["series"] == table
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "a &lt;b&gt; &amp; $c$" in page
    assert page.count("<picture") == 1
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.full
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (360, True)])
def test_the_page_is_read_with_any_width_and_by_anybody(
    width: int, dark: bool, days: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "t.html"
    run("series", *days, "--rota", 3, "--mean", 2, "--out", out)
    with (
        browsing.site({"/": out.read_text(encoding="utf-8")}) as url,
        browsing.page(width=width, dark=dark) as page,
    ):
        page.goto(f"{url}/")
        assert not page.overflows()
        assert page.violations() == []
        names = "() => getComputedStyle(document.querySelector('tbody td'), '::before').content"
        assert ("slot" in page.evaluate(names)) == (width == 360)


def test_simulated_reports_are_marked(tmp_path: Path) -> None:
    files = [day(tmp_path, slot, simulated=slot == 2) for slot in (1, 2)]
    assert "SIMULATED" in run("series", *files, "--rota", 2)[1]
    assert json.loads(run("series", *files, "--rota", 2, "--json")[1])["simulated"] is True


def test_a_series_of_a_memo_says_what_it_does_not_promise(tmp_path: Path) -> None:
    scheme = make("LOLOHA", epsilon=1, memo_epsilon=2, domain=ITEMS)
    files = [tmp_path / f"day{slot}.tally" for slot in range(3)]
    for slot, path in enumerate(files):
        write_tally(path, scheme.simulate([300, 100, 600], SeededRandom(slot)))
    code, shown, _ = run("series", *files, "--rota", 1, "--mean", 2)
    flat = " ".join(shown.split())
    assert code == 0
    assert "not whether and when a value changed" in flat
    assert "All slots share the errors of the users' memos, which means do not reduce." in flat
    assert (
        "slot 0: reports from a memo, with which all users report in every slot; expected --rota 1"
        in (run("series", *files, "--rota", 7)[2])
    )
    # The smaller variance of a difference, if most users keep their value.
    widths = []
    for stayed in ((), ("--stayed", "0.95")):
        words = ["changes", *files[:2], "--same-users", *stayed]
        found = json.loads(run(*words, "--json")[1])
        widths.append(found["changes"][0]["high"] - found["changes"][0]["low"])
        told = " ".join(run(*words)[1].split())
        assert ("at least 95 % of them have the same value both times" in told) == bool(stayed)
        assert found.get("stayed", 0.0) == (0.95 if stayed else 0.0)
    assert widths[1] < 0.95 * widths[0]
    for wrong in (("--stayed", "0.5"), ("--same-users", "--stayed", "2")):
        assert "--stayed: expected" in run("changes", *files[:2], *wrong)[2]


def test_refusals_name_the_file_and_the_fix(days: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "day12.tally"
    write_tally(other, make("OUE", epsilon=1, domain=ITEMS).simulate([1, 2, 3]))
    empty = tmp_path / "day13.tally"
    write_tally(empty, SCHEME.accumulator())
    named = day(tmp_path, 1, name="monday.tally")
    twin = day(tmp_path, 10, name="again-{}.tally")
    for files, words in (
        ([*days, other], "day12.tally: expected the scheme of"),
        ([*days, empty], "slot 13: no reports"),
        ([*days, named], "monday.tally: expected the number or the date"),
        ([*days, twin], "merge the tallies of one slot"),
    ):
        code, _, told = run("series", *files, "--rota", 3)
        assert code > 0
        assert words in told
    assert "--rota: expected 1 to" in run("series", *days, "--rota", 0)[2]
    assert "expected 9 consecutive slots" in run("series", *days, "--rota", 3, "--mean", 9)[2]
    assert "--mean: expected 1 to" in run("series", *days, "--rota", 3, "--mean", 0)[2]


def test_names_with_dates_are_days() -> None:
    found = slots_of(["pets-20260131.tally", "pets-2026-02-01.tally"])
    assert [label for _, label in found] == ["2026-01-31", "2026-02-01"]
    assert found[1][0] - found[0][0] == 1
    assert slots_of(["20261399-3.tally", "x-4.tally"]) == [(3, "3"), (4, "4")], "not a date"
    # By their last numbers, 28, 30 and 1, these days would be in another order.
    with pytest.raises(ParameterError, match=r"2026-02-30.tally: expected a date .* no calendar has"):
        slots_of(["2026-02-28.tally", "2026-02-30.tally", "2026-03-01.tally"])
    with pytest.raises(ParameterError, match=r"day7.tally: expected a date in the name, as in 2026-02-28.tally"):
        slots_of(["2026-02-28.tally", "day7.tally"])


def test_gaps_are_told_and_one_slot_is_a_series(days: list[Path], tmp_path: Path) -> None:
    shown = " ".join(run("series", *days, day(tmp_path, 14), "--rota", 3, "--mean", 2)[1].split())
    assert "Missing between the first and the last: 2 slots." in shown
    code, shown, _ = run("series", days[0], "--rota", 3, "--mean", 1)
    assert code == 0
    assert "1,010 reports in 1 slot." in shown
    assert "Missing" not in shown


@pytest.mark.full
def test_slots_with_the_same_reports_are_refused(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("item\nsearch\nnone\n")
    (tmp_path / "scheme.json").write_text(SCHEME.to_json())
    run("privatize", tmp_path / "values.csv", "--scheme", tmp_path / "scheme.json", "--out", tmp_path / "r.parquet")
    for slot in (1, 2):
        run("collect", tmp_path / "r.parquet", "--out", tmp_path / f"day{slot}.tally")
    told = run("series", tmp_path / "day1.tally", tmp_path / "day2.tally", "--rota", 2)[2]
    assert "day2.tally: expected reports that are in no other slot, got some of" in told


@pytest.mark.full
def test_years_of_slots_take_seconds_and_a_page_of_a_few_megabytes(tmp_path: Path) -> None:
    """A mean over a year adds 66,000 pairs of slots to its variance."""
    estimates = {slot: SCHEME.simulate([30, 10, 60], SeededRandom(1)).estimate() for slot in range(1500)}
    shares = series(estimates, rota=7).shares()
    started = process_time()
    means = shares.mean(365)
    assert process_time() - started < 5
    assert len(means) == 1136
    # Of the same estimates in every slot, the variance by its definition, pair by pair.
    run, rota = means.variance[0], 7
    lottery, further = shares.lottery[0], 7 * 100 - 1.0
    held = np.clip(shares.values[0], 0, 1)
    against = np.minimum(held**2, (1 - held) ** 2) / further
    twins = sum((i - j) % rota == 0 for i in range(365) for j in range(i))
    expected = 365 * shares.variance[0] + 2 * (twins * lottery + (365 * 364 / 2 - twins) * against)
    assert run == pytest.approx(expected / 365**2, rel=1e-9)
    source = SimpleNamespace(scheme=SCHEME, simulated=False, skipped=())
    trend = Trend(shares, [str(slot) for slot in range(1500)], source, means=means)
    write_trend(tmp_path / "trend.html", trend)
    assert (tmp_path / "trend.html").stat().st_size < 4e6


def test_the_ledger_of_a_device_is_shown_without_records(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "device.ledger")
    given = {"series": None, "fingerprint": "f" * 64, "record": b"secret", "key": b"k" * 16, "server": "s"}
    with ledger.changing("pets") as account:
        account.entries.append(Entry(collection="a" * 64, epsilon=Fraction(1, 3), outcome=Outcome.KEPT, **given))  # type: ignore[arg-type]
    with ledger.changing("daily") as account:
        while not account.due("daily", 4, 2):
            account.turns = None
        account.entries.append(
            Entry(
                collection="b" * 64,
                series="daily",
                slot=4,
                fingerprint="f",
                epsilon=Fraction(2),
                outcome=Outcome.COUNTED,
            )
        )
    code, shown, _ = run("ledger", ledger.path)
    assert code == 0
    assert "one of 2 slots of daily" in shown
    assert "bounded by ε = 7/3" in shown
    told = json.loads(run("ledger", ledger.path, "--json")[1])
    assert told["spent"] == "7/3"
    assert [each["spent"] for each in told["questions"]] == ["2", "1/3"]
    assert b"secret".hex() not in json.dumps(told)
    assert np.all([set(each) <= {"question", "spent", "reports", "rota"} for each in told["questions"]])
    assert "expected the ledger of a device, got no file" in run("ledger", tmp_path / "none")[2]
    ledger.path.write_bytes(b"x")
    assert "damaged file" in run("ledger", ledger.path)[2]


@pytest.mark.full
def test_commands_say_that_users_of_a_memo_who_report_again_are_no_new_users(tmp_path: Path) -> None:
    lasting = make("LOLOHA", epsilon=1, memo_epsilon=2, domain=ITEMS)
    (tmp_path / "values.csv").write_text("item\nsearch\nnone\n")
    for scheme, expected in ((lasting, True), (SCHEME, False)):
        (tmp_path / "scheme.json").write_text(scheme.to_json())
        words = ["privatize", tmp_path / "values.csv", "--scheme", tmp_path / "scheme.json"]
        shown = run(*words, "--out", tmp_path / f"{scheme.name}.parquet")[1]
        assert ("new for every report; the ε of users who report again adds up" in shown) == expected
        files = [tmp_path / f"{scheme.name}{slot}.tally" for slot in range(2)]
        for slot, path in enumerate(files):
            write_tally(path, scheme.simulate([3, 1, 6], SeededRandom(slot)))
        shown = run("merge", *files, "--out", tmp_path / f"{scheme.name}.tally")[1]
        assert ("the errors of their memos repeat" in " ".join(shown.split())) == expected
