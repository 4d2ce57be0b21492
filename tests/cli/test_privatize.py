"""plausibly privatize: values in, reports out, in order; what is wrong is told by line, and nothing is left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from cases import case, in_turn
from files.malformed import MALFORMED, SECRET, shows_a_secret
from plausibly import TRELLIS, Keys, Ordered, SeededRandom, Strings, Table, make
from plausibly.cli import app
from plausibly.core.scheme import Scheme
from plausibly.files import ReportFile
from plausibly.files import text as text_module

PETS = make("TLH", epsilon=1.5, domain=["cat", "dog", "fish", "parrot"])
KEYS = make("CM", oracle=make("TLH", epsilon=1, domain_size=64), rows=4, domain=Keys())


def run(*arguments: object, given: str | bytes = b"") -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["privatize", *map(str, arguments)], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def saved(folder: Path, scheme: Scheme) -> Path:
    path = folder / "scheme.json"
    path.write_text(scheme.to_json(), encoding="utf-8")
    return path


def reports_in(path: Path) -> Any:
    file = ReportFile(path)
    return np.concatenate([file.read(group) for group in range(len(file.groups))])


def test_every_value_becomes_a_report_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pets = ["cat", "dog", "fish", "parrot"] * 300
    source = tmp_path / "pets.csv"
    source.write_text("user,pet\n" + "".join(f"{i},{pet}\n" for i, pet in enumerate(pets)))
    scheme, expected = saved(tmp_path, PETS), PETS.privatize(pets, SeededRandom(7))
    for block in (50, 1 << 20):  # the same reports, however the file is divided
        monkeypatch.setattr(text_module, "_BLOCK", block)
        out = tmp_path / f"reports{block}.parquet"
        code, shown, told = run(source, "--column", "pet", "--scheme", scheme, "--out", out, "--seed", 7)
        assert code == 0
        assert (reports_in(out) == expected).all()
        assert ReportFile(out).simulated
        assert "Simulated" in told
        assert "1,200 of" in shown
        assert "ε = 1.5" in shown
        assert f"plausibly collect {out} --out pets.tally --simulated" in shown


def test_without_a_seed_noise_is_secure_and_no_two_files_are_alike(tmp_path: Path) -> None:
    source = tmp_path / "numbers.txt"
    source.write_text("\n".join("5" * 1000))
    outs = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for out in outs:
        code, shown, told = run(source, "--scheme", "DE:epsilon=1,domain_size=9", "-o", out, "--json")
        assert (code, told) == (0, "")
        facts = json.loads(shown)
        assert (facts["reports"], facts["skipped"], facts["simulated"], facts["epsilon"]) == (1000, 0, False, 1.0)
        assert (facts["input"], facts["out"], facts["bytes"]) == (str(source), str(out), out.stat().st_size)
        assert not ReportFile(out).simulated
    first, second = map(reports_in, outs)
    # Equal with probability below (1/2)^1000.
    assert (first != second).any()


def test_standard_input_has_a_value_in_each_line(tmp_path: Path) -> None:
    scheme, out = saved(tmp_path, PETS), tmp_path / "r.parquet"
    code, shown, _ = run("-", "--scheme", scheme, "--out", out, "--missing", "skip", given="cat\n\ndog\n")
    assert (code, len(reports_in(out))) == (0, 2)
    assert "2 of standard input" in shown
    assert "skipped  1 without a value" in shown
    assert f"plausibly collect {out} --out r.tally" in shown
    table = b"a\tpet\n1\tcat\n"
    for number, options in enumerate((["--format", "tsv"], ["--format", "csv", "--delimiter", "tab"])):
        out = tmp_path / f"{number}.parquet"
        assert run("-", *options, "--column", "pet", "--scheme", scheme, "--out", out, given=table)[0] == 0
    out = tmp_path / "no.parquet"
    assert run("-", "--format", "csv", "--no-header", "--scheme", scheme, "--out", out, given=b"cat\ndog\n")[0] == 0
    assert len(reports_in(out)) == 2


@pytest.mark.full
def test_whatever_is_wrong_with_a_file_nothing_is_written_and_no_value_is_shown(tmp_path: Path) -> None:
    scheme = saved(tmp_path, KEYS)
    for number, one in enumerate(MALFORMED):
        with case(one):
            folder = tmp_path / str(number)
            folder.mkdir()
            (folder / one.name).write_bytes(one.content)
            options = {f"--{name}": value for name, value in one.options.items() if name != "header"}
            words = [word for pair in options.items() for word in pair]
            words += ["--no-header"] * ("header" in one.options)
            code, shown, told = run(folder / one.name, *words, "--scheme", scheme, "--out", folder / "out.parquet")
            assert (code, shown) == (1, "")
            assert told.startswith(str(folder / one.name))
            assert one.told in told
            assert not shows_a_secret(told)
            assert [each.name for each in folder.iterdir()] == [one.name]


@in_turn(
    ("scheme", "told"),
    [
        (PETS, "line 3: expected one of the 4 labels"),
        (make("TLH", epsilon=1, domain_size=9), "line 2: expected integers in [0, 9)"),
        (
            TRELLIS(1, domain=Strings("acdfghiost", 4)),
            "line 3: exp",
        ),
    ],
)
def test_a_value_that_the_scheme_does_not_take_is_named_by_its_line(scheme: Scheme, told: str, tmp_path: Path) -> None:
    source, out = tmp_path / "pets.csv", tmp_path / "out.parquet"
    source.write_text(f"pet\ncat\n{SECRET}\n{SECRET}\n")
    code, shown, message = run(source, "--scheme", saved(tmp_path, scheme), "--out", out)
    assert (code, shown) == (1, "")
    assert f"pets.csv, {told}" in message
    assert not shows_a_secret(message)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["pets.csv", "scheme.json"]


@pytest.mark.full
@in_turn(
    ("words", "code", "told"),
    [
        (["--scheme", "DE:epsilon=1,domain_size=9", "--out", "old.parquet"], 1, "exists already"),
        (["--scheme", "DE:epsilon=1,domain_size=9", "--out", "none/r.parquet"], 2, "there is no folder none"),
        (["--scheme", "DE:epsilon=1,domain_size=9", "--out", "."], 2, ".: expected the name of a file, got a folder"),
        (["--scheme", "DE:epsilon=1,domain_size=9", "--out", "r.csv"], 2, "ends in .parquet, got .csv"),
        (["--scheme", "none.json", "--out", "r.parquet"], 1, "none.json: No such file"),
        (["--scheme", "DE", "--out", "r.parquet"], 2, "expected a scheme: a file"),
        (["--scheme", "DE:epsilon=1,domain_size=9", "--out", "r.parquet", "--format", "xls"], 2, "format: unknown"),
        (["--scheme", "DE:epsilon=1,domain_size=9", "--out", "r.parquet", "--missing", "drop"], 2, "missing: expected"),
        (
            ["--scheme", "DE:epsilon=1,domain_size=9", "--out", "r.parquet", "--delimiter", ";;"],
            2,
            "delimiter: expected",
        ),
        (["--scheme", "DE:epsilon=1,domain_size=9", "--out", "r.parquet", "--seed", "x"], 2, "--seed"),
        (["--scheme", "DE:epsilon=1,domain_size=9"], 2, "--out"),
        (["--out", "r.parquet"], 2, "--scheme"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    words: list[str], code: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (("a.csv", f"n\n3\n{SECRET}\n"), ("old.parquet", "")):
        Path(name).write_text(content)
    came, shown, message = run("a.csv", *words)
    assert (came, shown) == (code, "")
    assert told in " ".join(message.split())
    assert not shows_a_secret(message)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "old.parquet"]


def test_missing_or_unreadable_inputs_are_told(tmp_path: Path) -> None:
    words = ("--scheme", "DE:epsilon=1,domain_size=9", "--out", tmp_path / "r.parquet")
    assert run(tmp_path / "none.csv", *words)[::2] == (1, f"{tmp_path / 'none.csv'}: No such file or directory\n")
    (tmp_path / "folder.csv").mkdir()
    assert run(tmp_path / "folder.csv", *words)[::2] == (1, f"{tmp_path / 'folder.csv'}: Is a directory\n")
    code, _, told = run("-", *words, "--format", "parquet")
    assert (code, "got a stream" in told) == (2, True)


@in_turn(
    ("name", "content", "hint"),
    [
        ("a.csv", "site,day\nx,1\n", "--column NAME"),
        ("a.csv", "site;day\nx;1\n", "--delimiter ';'"),
        ("a.csv", "site\tday\nx\t1\n", "--delimiter tab"),
        ("a.csv", "site\nx\n\ny\n", "--missing skip"),
        ("a.ndjson", '{"site": "x", "day": 1}\n', "--column NAME"),
        ("a.dat", "x\n", "--format NAME"),
    ],
)
def test_a_message_names_the_option_that_helps(name: str, content: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    code, _, told = run(tmp_path / name, "--scheme", "DE:epsilon=1,domain_size=9", "--out", tmp_path / "r.parquet")
    assert code
    assert hint in told


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a.txt").write_text("1\n2\n")
    monkeypatch.setattr(Scheme, "privatize_encoded", interrupted)
    code, _, told = run(tmp_path / "a.txt", "--scheme", "DE:epsilon=1,domain_size=9", "--out", tmp_path / "r.parquet")
    assert code == 130
    assert "nothing was written" in told
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_not_even_a_mistake_of_ours_shows_a_value() -> None:
    assert app.pretty_exceptions_show_locals is False


@pytest.mark.full
def test_it_works_from_the_shell_and_says_whom_it_is_for(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plausibly", "privatize"]
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    assert "gateway that users trust" in " ".join(shown.split())
    words = ["-", "--scheme", "DE:epsilon=1,domain_size=9", "--out", "r.parquet"]
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert (closed.returncode, closed.stderr) == (1, "standard input: cannot be read because it is closed\n")
    shown = subprocess.run(
        [*command, *words], cwd=tmp_path, input="1\n", capture_output=True, text=True, check=True
    ).stdout
    assert shown.splitlines()[-1] == "next     plausibly collect r.parquet --out r.tally"


MESSY = ["Cat", " dog", "FISH\u3000", "parrot"]


def test_a_scheme_that_normalizes_takes_every_spelling(tmp_path: Path) -> None:
    pets = make("TLH", epsilon=1.5, domain=["cat", "dog", "fish", "parrot"], normalize="lower,strip")
    source, out = tmp_path / "pets.csv", tmp_path / "reports.parquet"
    source.write_text("pet\n" + "\n".join(MESSY) + "\n", encoding="utf-8")
    code, shown, _ = run(source, "--scheme", saved(tmp_path, pets), "--out", out, "--seed", 7)
    assert code == 0
    assert (reports_in(out) == pets.privatize(["cat", "dog", "fish", "parrot"], SeededRandom(7))).all()
    assert "normalized  lower, strip, as on devices" in shown


def test_a_scheme_that_does_not_normalize_is_helped_and_stays_the_same(tmp_path: Path) -> None:
    source, out, plain = (
        tmp_path / "pets.csv",
        tmp_path / "reports.parquet",
        make("DE", epsilon=1, domain=["Cat", "dog"]),
    )
    source.write_text("pet\nCAT\n Dog\n", encoding="utf-8")
    scheme = saved(tmp_path, plain)
    code, _, _ = run(source, "--scheme", scheme, "--out", out)
    assert code == 1  # not among the labels
    assert not out.exists()
    code, shown, _ = run(source, "--scheme", scheme, "--out", out, "--seed", 7, "--normalize", "strip,lower")
    assert code == 0
    assert (reports_in(out) == plain.privatize(["Cat", "dog"], SeededRandom(7))).all()
    assert "normalized  lower, strip, by this command; the scheme does not, so devices do not" in shown
    assert ReportFile(out).scheme == plain


@pytest.mark.parametrize(
    ("steps", "scheme", "message"),
    [
        ("nfc", "normalizing", "--normalize: the scheme normalizes by lower,strip; leave the option out"),
        ("casefold", "plain", "--normalize: unknown step 'casefold'"),
        ("lower", "OLH:epsilon=1,domain_size=9", "normalize: expected a domain of texts"),
    ],
)
def test_steps_that_contradict_the_scheme_are_refused(tmp_path: Path, steps: str, scheme: str, message: str) -> None:
    kept = {"normalizing": "lower,strip", "plain": None}
    if scheme in kept:
        scheme = str(saved(tmp_path, make("DE", epsilon=1, domain=["cat", "dog"], normalize=kept[scheme])))
    (tmp_path / "pets.csv").write_text("pet\ncat\n", encoding="utf-8")
    out = tmp_path / "reports.parquet"
    code, shown, told = run(tmp_path / "pets.csv", "--scheme", scheme, "--out", out, "--normalize", steps)
    assert (code, shown, out.exists()) == (2, "", False)
    assert message in told


def test_several_files_and_patterns_are_one_collection_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scheme = saved(tmp_path, PETS)
    Path("monday.csv").write_text("pet\ncat\ndog\n")
    Path("visits-2.ndjson").write_text('{"pet": "fish"}\n')
    Path("visits-10.csv").write_text("pet\n\nparrot\n")
    words = ["--column", "pet", "--scheme", scheme, "--seed", 3, "--missing", "skip"]
    code, shown, _ = run("monday.csv", "visits-*", *words, "--out", "r.parquet")
    assert (code, "reports  4 of 3 files, simulated" in shown, "skipped  1 without" in shown) == (0, True, True)
    expected = PETS.privatize(["cat", "dog", "parrot", "fish"], SeededRandom(3))
    assert (reports_in(Path("r.parquet")) == expected).all()
    for inputs, told in (
        (["monday.csv", "mon*.csv"], "monday.csv: the file is given twice"),
        (["none-*.csv"], "none-*.csv: no file has such a name"),
        (["monday.csv", "-"], "-: expected standard input or files, got both"),
        (["monday.csv", "none.csv"], "none.csv: No such file"),
    ):
        code, shown, message = run(*inputs, *words, "--out", "no.parquet")
        assert (bool(code), shown, told in message) == (True, "", True), message
    assert not Path("no.parquet").exists()


def test_glued_columns_fit_a_domain_of_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = [f"{browser} {theme}" for browser in ("Firefox", "Chrome") for theme in ("dark", "light")]
    both = make("DE", epsilon=1, domain=pairs)
    scheme = saved(tmp_path, both)
    Path("a.csv").write_text("theme,user,browser\ndark,1,Firefox\nlight,2,Chrome\n")
    words = ["--scheme", scheme, "--seed", 3]
    assert run("a.csv", "--glue", "browser,theme", *words, "--out", "r.parquet")[0] == 0
    expected = both.privatize(["Firefox dark", "Chrome light"], SeededRandom(3))
    assert (reports_in(Path("r.parquet")) == expected).all()
    Path("b.csv").write_text(f"theme,browser\ndark,Firefox\n{SECRET} x,Chrome\n")
    for name, options, told in (
        ("b.csv", ["--glue", "browser,theme"], "b.csv, line 3: a value of a glued column contains the separator"),
        ("b.csv", ["--glue", "browser"], "--glue: expected different columns"),
        ("b.csv", ["--glue", "browser,theme", "--column", "theme"], "expected --column or --glue, got both"),
        ("b.csv", ["--glue", "browser,theme", "--separator", ""], "--separator: expected at least one character"),
        ("b.csv", ["--column", "theme", "--separator", "/"], "--separator needs --glue"),
        ("b.csv", ["--glue", "browser,Theme"], "expected one column named 'Theme'"),
    ):
        code, _, message = run(name, *options, *words, "--out", "no.parquet")
        assert (bool(code), told in message) == (True, True), message
        assert not shows_a_secret(message)
    assert not Path("no.parquet").exists()


@in_turn(
    ("header", "columns"),
    [
        ("theme,user,browser,age", "browser,theme,age"),  # as in the help and the guide
        ("Q2,user,browser,age", "browser,theme=Q2,age"),
        ("Q2,user,Q1,Q3", "age=Q3,browser=Q1,theme=Q2"),
        ("browser,user,age,theme", "browser=age,theme=browser,age=theme"),  # names that belong to other attributes
    ],
)
def test_columns_of_a_file_are_the_attributes_of_a_record(
    header: str, columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    domain = Table({"browser": ["Firefox", "Chrome"], "theme": ["dark", "light"], "age": Ordered(0, 120)})
    survey = make("CLIQUE", epsilon=1, domain=domain)
    people = [("Firefox", "dark", 35), ("Chrome", None, 24), ("Chrome", "light", None), (None, "light", 61)] * 50
    rows = [[theme or "", "u", browser or "", "" if age is None else str(age)] for browser, theme, age in people]
    text = "".join(f"{','.join(row)}\n" for row in rows)
    (tmp_path / "survey.csv").write_text(f"{header}\n{text}")
    words = ["--scheme", saved(tmp_path, survey), "--seed", 3]
    code, shown, _ = run("survey.csv", "--columns", columns, *words, "--out", tmp_path / f"{columns}.parquet")
    assert (code, "200 of survey.csv" in shown) == (0, True), shown
    # The same seed: every report is that of the record which the library makes from these values.
    reports = reports_in(tmp_path / f"{columns}.parquet")
    assert (reports == survey.privatize(people, SeededRandom(3))).all()
    swapped = [(browser, {"dark": "light", "light": "dark"}.get(theme or ""), age) for browser, theme, age in people]
    assert (reports != survey.privatize(swapped, SeededRandom(3))).any()


def test_a_dry_run_counts_all_bad_rows_by_reason_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scheme = saved(tmp_path, PETS)
    Path("a.csv").write_text(f"user,pet\n1,cat\n2,{SECRET}\n3,\n4\n5,dog\n6,{SECRET}x\n7,\n8,fish,{SECRET}\n")
    Path("b.ndjson").write_text(f'{{"pet": "cat"}}\n{{"pet": 1.5}}\n{SECRET}\n{{"Pet": "cat"}}\n{{"pet": "\\ud800"}}\n')
    before = sorted(path.name for path in tmp_path.iterdir())
    words = ["--column", "pet", "--scheme", scheme, "--dry-run"]
    code, shown, message = run("a.csv", "b.ndjson", *words)
    assert (code, message) == (1, "")
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[:2] == ["good 3 of 2 files", "bad 10"]
    assert any(line.startswith("2: expected one of the 4 labels") and "a.csv, line 3" in line for line in lines)
    assert "2: no value; remove the user, or skip all such users with --missing skip (first: a.csv, line 4)" in lines
    assert "1: expected 2 fields as in the first line, got 1 (first: a.csv, line 5)" in lines
    assert "1: expected 2 fields as in the first line, got 3 (first: a.csv, line 9)" in lines
    assert "1: expected a text or a whole number, got a fraction (first: b.ndjson, line 2)" in lines
    assert "1: not JSON; expected one complete object per line (first: b.ndjson, line 3)" in lines
    assert lines[-1] == "written nothing (--dry-run)"
    assert not shows_a_secret(shown)
    code, shown, _ = run("a.csv", "b.ndjson", *words, "--json", "--missing", "skip")
    facts = json.loads(shown)
    assert (code, facts["good"], facts["bad"], facts["skipped"], facts["stopped"]) == (1, 3, 8, 2, None)
    assert sum(each["rows"] for each in facts["reasons"]) == 8
    Path("c.csv").write_text("pet\ncat\ndog\n")
    assert run("c.csv", *words)[0] == 0
    Path("c.csv").write_text(f'pet\ncat\n{SECRET}\n"dog\n')
    code, shown, _ = run("c.csv", *words)
    assert (code, "stopped  c.csv, line 4: a quotation mark is never closed" in shown) == (1, True)
    (tmp_path / "c.csv").unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_values_that_change_on_their_way_are_counted_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = ["ab", "Ab", " ab", "\N{LATIN SMALL LETTER U WITH DIAERESIS}b", "abcdefgh", "abcd", "ab", "abcdeA"]
    Path("a.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    cut, strange = (
        "values cut after 4 characters",
        "values with characters outside the alphabet, each reported as the one",
    )
    for steps, counts, hint in ((), (2, 3), True), ("lower,strip", (2, 1), False):
        domain = Strings("abcdefgh", 4, other=True, normalize=steps)
        scheme = saved(tmp_path, TRELLIS(3, domain=domain, users=100))
        for words in (["--dry-run"], ["--out", f"{len(steps)}.parquet"]):
            with case((steps, words[0])):
                code, shown, message = run("a.txt", "--scheme", scheme, *words)
                assert (code, message) == (0, "")
                lines = [" ".join(line.split()) for line in shown.splitlines()]
                changed = lines.index(f"changed {counts[0]} {cut}")
                assert lines[changed + 1].startswith(f"{counts[1]} {strange}".replace("1 values", "1 value"))
                assert lines[changed + 1].endswith("use plausibly plan … --normalize lower,strip") is hint
                again = [word.replace(".parquet", "-again.parquet") for word in words]
                facts = json.loads(run("a.txt", "--scheme", scheme, *again, "--json")[1])
                assert [each["rows"] for each in facts["changed"]] == list(counts)
    Path("a.txt").write_text("ab\nabcd\n", encoding="utf-8")
    for words in (["--dry-run"], ["--out", "clean.parquet"]):
        assert "changed" not in run("a.txt", "--scheme", scheme, *words)[1]


def test_a_spreadsheet_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    code, _, told = run(tmp_path / "a.xlsx", "--scheme", "DE:epsilon=1,domain_size=9", "--out", tmp_path / "r.parquet")
    assert code == 2
    way_out = f"save the sheet as CSV, or run libreoffice --headless --convert-to csv {tmp_path / 'a.xlsx'}"
    assert told.endswith(f"expected a file of values, got a spreadsheet; {way_out}\n")


def test_a_column_of_numbers_is_clamped_and_said_so(tmp_path: Path) -> None:
    scheme = make("DE", epsilon=1, domain=Ordered(0, 120, other=True))
    ages = tmp_path / "ages.csv"
    ages.write_text("age\n35\n35.7\n1e3\n-4\n\nx\n", encoding="utf-8")
    words = (ages, "--column", "age", "--scheme", saved(tmp_path, scheme))
    for more in (["--dry-run"], ["--out", tmp_path / "ages.parquet"]):
        code, shown, said = run(*words, *more)
        assert code == 0, said
        told = " ".join((shown + said).split())
        assert "1 value below the range, each reported as 0" in told
        assert "1 value above the range, each reported as 120" in told
        assert '2 values missing, or not numbers, each reported as "other"' in told
        assert "1e3" not in told


def test_a_column_in_another_unit_is_noticed(tmp_path: Path) -> None:
    scheme = saved(tmp_path, make("DE", epsilon=1, domain=Ordered.durations(0, 5, unit="s")))
    times = tmp_path / "times.csv"
    for texts, noticed in (("1\n1200\n3400\n", True), ("1\n2\n3400\n", False)):
        times.write_text(f"ms\n{texts}", encoding="utf-8")
        for number, more in enumerate((["--dry-run"], ["--out", tmp_path / f"{noticed}.parquet"])):
            with case((texts, number)):
                _, shown, _ = run(times, "--column", "ms", "--scheme", scheme, *more)
                told = (
                    "More than half of the values: the scheme expects durations of 0 to 5 s. Check the column's unit."
                )
                assert (told in shown) == noticed
