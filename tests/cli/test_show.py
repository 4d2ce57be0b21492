"""plausibly show: schemes by file, in words, and from files of reports and tallies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cases import in_turn
from plausibly import SeededRandom, make
from plausibly.cli import app
from plausibly.files import write_reports, write_tally
from plausibly.files.authentication import Key

WORDS = "OLH:epsilon=1,domain_size=1000"


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["show", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_a_scheme_in_words_is_told_in_words() -> None:
    code, shown, said = run(WORDS, "--users", 100_000)
    assert (code, said) == (0, "")
    for words in ("the whole numbers 0 to 999", "at most 73.2 %", "9 bytes", "±1,191 users", "3.4 users at most"):
        assert words in shown
    assert "1,000,000 users" not in shown


def test_a_file_of_a_scheme_gives_a_table_over_several_crowds(tmp_path: Path) -> None:
    (tmp_path / "scheme.json").write_text(make("SS", epsilon=2, domain=["[b]x", "y", "z"]).to_json(), encoding="utf-8")
    code, shown, _ = run(tmp_path / "scheme.json")
    assert code == 0
    assert "10,000,000 users" in shown
    assert "[b]x, y, z" in shown


def test_json_is_all_there_is_on_stdout() -> None:
    code, shown, said = run(WORDS, "--json")
    found = json.loads(shown)
    assert (code, said, found["scheme"], found["epsilon_asked"]) == (0, "", "OLH", "1")
    assert [error["users"] for error in found["errors"]] == [10**4, 10**5, 10**6, 10**7]
    assert "file" not in found
    assert found["fakes"]["raises"] == found["fakes"]["every"] == pytest.approx(found["influence"])
    assert (found["fakes"]["every_exact"], found["forgeries"]) == (False, [])


@pytest.mark.full
def test_files_of_reports_and_tallies_say_what_they_hold(tmp_path: Path) -> None:
    scheme = make("DE", epsilon=1, domain_size=5)
    reports = scheme.privatize([1, 2, 3] * 100, SeededRandom(1))
    write_reports(tmp_path / "reports.parquet", scheme, reports)
    tally = scheme.accumulator()
    tally.add(reports)
    write_tally(tmp_path / "visits.tally", tally)
    for name, simulated in (("reports.parquet", True), ("visits.tally", False)):
        code, shown, _ = run(tmp_path / name)
        assert code == 0
        assert ["reports", "300"] in [line.split() for line in shown.splitlines()]
        assert "300 users" in shown
        assert ("not from real users" in shown) == simulated
        found = json.loads(run(tmp_path / name, "--json")[1])
        assert (found["file"]["reports"], found["file"]["simulated"]) == (300, simulated)
        assert found["file"]["bytes"] == (tmp_path / name).stat().st_size
        assert found["errors"][0]["users"] == 300


@in_turn(
    ("arguments", "code", "told"),
    [
        (["OLH"], 2, "expected a scheme: a file"),
        (["OLH:epsilon=0,domain_size=9"], 2, "positive"),
        ([WORDS, "--users", "0"], 2, ""),
        (["none.json"], 1, "No such file"),
        (["none.parquet"], 1, "No such file"),
        (["none.tally"], 1, "No such file"),
    ],
)
def test_what_cannot_be_shown_is_told(arguments: list[str], code: int, told: str) -> None:
    found, shown, said = run(*arguments)
    assert (found, shown) == (code, "")
    assert told in said


def test_a_damaged_tally_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "visits.tally").write_bytes(b"not a tally at all")
    code, shown, said = run(tmp_path / "visits.tally")
    assert (code, shown) == (1, "")
    assert "visits.tally: not a tally file" in said.replace("\n", "")


def test_a_file_with_a_key_is_shown_with_that_key(tmp_path: Path) -> None:
    scheme = make("DE", epsilon=1, domain_size=5)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "key").chmod(0o600)
    write_tally(tmp_path / "visits.tally", scheme.accumulator(), key=Key.read(tmp_path / "key"))
    code, _, said = run(tmp_path / "visits.tally")
    assert (code, "--key-file FILE" in said) == (1, True)
    code, shown, _ = run(tmp_path / "visits.tally", "--key-file", tmp_path / "key")
    assert (code, "tally" in shown) == (0, True)
    assert ["authenticated", "with", "the", "key", "given"] in [line.split() for line in shown.splitlines()]


def test_a_file_without_a_key_is_said_to_be_as_trustworthy_as_the_way_it_came(tmp_path: Path) -> None:
    write_tally(tmp_path / "visits.tally", make("DE", epsilon=1, domain_size=5).accumulator())
    code, shown, _ = run(tmp_path / "visits.tally")
    assert (code, "no: as trustworthy as its source" in shown) == (0, True)
    assert json.loads(run(tmp_path / "visits.tally", "--json")[1])["file"]["keyed"] is False


@pytest.mark.full
@in_turn("command", ["show", "audit", "simulate"])
def test_a_key_for_a_scheme_is_said_to_authenticate_nothing(command: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "scheme.json").write_text(make("DE", epsilon=1, domain_size=5).to_json(), encoding="utf-8")
    few = ["--users", "100", "--repeats", "1"] if command == "simulate" else []
    for named in (str(tmp_path / "scheme.json"), "DE:epsilon=1,domain_size=5"):
        told = f"{named} is a scheme, and a key does not authenticate schemes; compare its fingerprint"
        keyed = CliRunner().invoke(app, [command, named, *few, "--key-file", str(tmp_path / "key"), "--json"])
        assert (keyed.exit_code, keyed.stderr.strip()) == (0, told)
        json.loads(keyed.stdout)
        assert told not in CliRunner().invoke(app, [command, named, *few, "--json"]).stderr


def test_normalizing_is_told_in_words(tmp_path: Path) -> None:
    scheme = make("DE", epsilon=2, domain=["Dog", "cat"], other=True, normalize="nfc,lower,strip")
    (tmp_path / "scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    code, shown, _ = run(tmp_path / "scheme.json")
    assert code == 0
    assert "2 labels: dog, cat" in shown
    assert "accents and letters put together (Unicode NFC), lower case, no spaces at the ends" in " ".join(
        shown.split()
    )


@pytest.mark.full
def test_a_shuffler_adds_a_section_with_its_terms() -> None:
    code, shown, _ = run("HM:epsilon=3,domain_size=1000", "--shuffled", 10_000)
    words = " ".join(shown.split())
    assert code == 0
    assert "central ε = 0.166 at δ = 1e-6, in batches of at least 10,000 reports from a trusted shuffler" in words
    found = json.loads(run("HM:epsilon=3,domain_size=1000", "--shuffled", 10_000, "--rounds", 7, "--json")[1])
    assert round(found["shuffled"]["epsilon"], 2) == 0.47
    assert "shuffled" not in json.loads(run(WORDS, "--json")[1])


def test_options_of_a_shuffler_need_one() -> None:
    code, _, said = run(WORDS, "--delta", "1e-9")
    assert (code, said.strip()) == (2, "--delta and --rounds need --shuffled")
