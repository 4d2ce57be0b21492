"""plausibly search: what is common, how sure it is, and why something was not found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import plausibly
from cases import case, in_turn
from plausibly import SeededRandom, Strings, make
from plausibly.cli import app
from plausibly.files import read_tally, write_tally

CROWD = {"hello": 6000, "help": 4000, "yes": 2000}


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["search", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def tally(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tally of TRELLIS."""
    scheme = plausibly.TRELLIS(4, domain=Strings("ehlopsy", 5), users=12_000)
    path = tmp_path_factory.mktemp("search") / "visits.tally"
    write_tally(path, scheme.simulate(CROWD, SeededRandom(1)))
    return path


@pytest.mark.full
def test_json_has_what_python_has(tally: Path, tmp_path: Path) -> None:
    code, shown, told = run(tally, "--json", "--top", 5, "--explain", "yes", "--tree", tmp_path / "tree.svg")
    assert (code, told) == (0, "")
    said = json.loads(shown)
    found = read_tally(tally).search(k=5, level=0.05)  # type: ignore[attr-defined]
    assert [each["item"] for each in said["estimates"]] == found.items.tolist() == list(CROWD)
    assert [each["p_value"] for each in said["estimates"]] == found.p_values.tolist()
    assert (said["kind"], said["significance"], said["level"]) == ("search", 0.05, 0.95)
    assert said["explained"] == {"yes": found.explain("yes")}
    assert (tmp_path / "tree.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.full
def test_without_a_level_luck_is_listed_and_named(tally: Path) -> None:
    _, shown, _ = run(tally, "--no-level", "--explain", "hope")
    assert "may be due to chance" in " ".join(shown.split())
    assert "hope: " in shown
    strict = run(tally, "--level", "0.01")[1]
    assert "even one string that nobody has is at most 1 %" in " ".join(strict.split())
    assert len(shown.splitlines()) > len(strict.splitlines())


@pytest.mark.full
def test_a_dictionary_is_read_from_a_file(tally: Path, tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text("hope\nyes\n", encoding="utf-8")
    code, shown, _ = run(tally, "--dictionary", tmp_path / "known.txt", "--explain", "hope")
    assert code == 0
    assert "in the dictionary" in shown


def other(path: Path, name: str) -> Path:
    strings = Strings("abcd", 4)
    if name == "ROUND":
        oracle = make("TLH", epsilon=3, domain_size=2 * 5**2 + 1)
        scheme = make("ROUND", oracle=oracle, prefixes=["ab", "cd"], stem=2, reach=4, domain=strings)
    elif name == "PEM":
        scheme = make("PEM", oracle=make("FLH", epsilon=3, domain=plausibly.Keys()), domain=strings)
    else:
        scheme = make("DE", epsilon=3, domain_size=4)
        write_tally(path, scheme.simulate([5, 5, 5, 5], SeededRandom(1)))
        return path
    write_tally(path, scheme.simulate({"abba": 3000, "cdab": 1000}, SeededRandom(1)), simulated=True)
    return path


def test_a_round_says_what_it_is(tmp_path: Path) -> None:
    code, shown, _ = run(other(tmp_path / "x.tally", "ROUND"))
    assert code == 0
    assert shown.startswith("SIMULATED")
    assert "abba" in shown
    assert "one round of an interactive search" in " ".join(shown.split())


def test_searches_without_a_level_do_without_but_not_when_one_is_asked_for(tmp_path: Path) -> None:
    path = other(tmp_path / "x.tally", "PEM")
    code, shown, _ = run(path, "--top", 2)
    assert code == 0
    assert "may be due to chance" in " ".join(shown.split())
    code, _, told = run(path, "--level", "0.1")
    assert code == 2
    assert "--level: searches by PEM do not use it" in told


def test_a_tally_that_is_not_of_a_search_is_sent_to_estimate(tmp_path: Path) -> None:
    path = other(tmp_path / "x.tally", "DE")
    code, shown, told = run(path)
    assert (code, shown) == (2, "")
    assert f"got DE, which counts items by name; use plausibly estimate {path}" in told


@pytest.mark.full
@in_turn(
    ("arguments", "code", "message"),
    [
        (["--level", "0.1", "--no-level"], 2, "expected --level or --no-level, got both"),
        (["--level", "3"], 2, "level"),
        (["--dictionary", "none.txt"], 2, "--dictionary: searches by ROUND do not use it"),
        (["--out", "x.txt"], 2, "unknown suffix '.txt'"),
        (["--tree", "x.csv"], 2, "unknown suffix '.csv'"),
        (["--top", "0"], 2, "--top"),
    ],
)
def test_what_cannot_be_meant_is_told(arguments: list[str], code: int, message: str, tmp_path: Path) -> None:
    came, shown, told = run(other(tmp_path / "x.tally", "ROUND"), *arguments)
    assert (came, shown) == (code, "")
    assert message in " ".join(told.replace("│", " ").split())


def test_a_tally_without_reports_is_named(tmp_path: Path) -> None:
    write_tally(tmp_path / "x.tally", plausibly.TRELLIS(3, domain=Strings("ab", 3), users=100).accumulator())
    code, _, told = run(tmp_path / "x.tally")
    assert code == 1
    assert "x.tally: the tally has no reports" in told


def test_a_search_that_finds_nothing_says_what_it_could_have_found(tmp_path: Path) -> None:
    scheme = plausibly.TRELLIS(3, domain=Strings("ab", 6, other=True), users=100)
    for users, told in (
        (2, "2 reports are too few: not even a string that all users have"),
        (60, "With 60 reports, the"),
    ):
        spread = {f"{number:06b}".replace("0", "a").replace("1", "b"): 1 for number in range(users)}
        write_tally(tmp_path / f"{users}.tally", scheme.simulate(spread, SeededRandom(1)))
        code, shown, _ = run(tmp_path / f"{users}.tally")
        words = " ".join(shown.split())
        with case(users):
            assert (code, words[:14]) == (0, "Nothing found.")
            assert told in words
            assert "More reports or a larger ε reveal rarer strings." in words
            assert "even one string" not in words


def test_a_string_that_no_answer_is_about_is_not_explained(tmp_path: Path) -> None:
    scheme = plausibly.TRELLIS(3, domain=Strings("ab", 3, other=True), users=100)
    write_tally(tmp_path / "s.tally", scheme.simulate({"ab": 900}, SeededRandom(1)))
    result = CliRunner().invoke(app, ["search", str(tmp_path / "s.tally"), "--explain", "AB"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--explain AB: 'A' is not in the alphabet; it is counted like every other such character" in result.stderr
    assert "; did you mean 'ab'?" in result.stderr
