"""All commands in rough hands: outputs that would destroy something, streams that fail, narrow terminals, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cases import in_turn
from files.making import SMALL, small_file
from plausibly.cli import app
from plausibly.device import DeviceError
from plausibly.engines import collect

PLAN = ["plan", "--items", "10", "--users", "100", "--epsilon", "1"]


def run(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def process(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "plausibly", *map(str, words)]
    return subprocess.run(call, stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with reports, their tally and the scheme."""
    small_file(tmp_path / "reports.parquet")
    collect([tmp_path / "reports.parquet"], tmp_path / "all.tally")
    (tmp_path / "scheme.json").write_text(SMALL.to_json(), encoding="utf-8")
    (tmp_path / "counts.csv").write_text("item,count\n1,20\n2,30\n", encoding="utf-8")
    return tmp_path


@pytest.mark.full
@in_turn(
    "words",
    [
        "estimate all.tally --out reports.parquet",
        "estimate all.tally --items-file counts.csv --out counts.csv",
        "plan --items 10 --users 100 --epsilon 1 --save reports.parquet",
        "plan --items 10 --users 100 --epsilon 1 --save all.tally",
        "plan --labels counts.csv --users 100 --epsilon 1 --save counts.csv",
        "simulate scheme.json --counts counts.csv --out counts.csv",
        "simulate scheme.json --counts counts.csv --out scheme.json",
    ],
)
def test_what_cannot_be_made_again_is_not_replaced(words: str, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    code, _, stderr = run(*words.split())
    assert code == 2
    assert "name another" in stderr or "another name" in stderr
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


@in_turn(
    "words", [[*PLAN, "--save"], ["merge", "all.tally", "--force", "--out"], ["collect", "reports.parquet", "--out"]]
)
def test_a_pipe_or_device_is_not_replaced(words: list[str], made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)
    (made / "pipe").unlink(missing_ok=True)
    os.mkfifo(made / "pipe")
    code, _, stderr = run(*words, "pipe")
    assert (code, "pipe: expected the name of a file, got a device or a pipe" in stderr) == (2, True)
    assert (made / "pipe").is_fifo()


@in_turn(
    ("words", "told"),
    [
        ("privatize counts.csv --scheme scheme.json --out a.csv", "a.csv: expected a name that ends in .parquet, got"),
        ("privatize counts.csv --scheme scheme.json --out a", "ends in .parquet, got no suffix"),
        ("collect reports.parquet --out a.parquet", "ends in .tally, got .parquet"),
        ("merge all.tally --out a.parquet", "ends in .tally, got .parquet"),
        ("plan --items 9 --users 100 --epsilon 1 --save a.yaml", "ends in .json, got .yaml"),
        ("sample a.parquet", "ends in .csv, got .parquet"),
        ("sample a.csv --sites b.json", "ends in .txt, got .json"),
        ("simulate scheme.json --counts counts.csv --out a.xlsx", "ends in .png, .svg, .csv or .json, got .xlsx"),
        ("estimate all.tally --out a.xlsx", "unknown suffix '.xlsx'"),
        ("compare OUE --out a.png", "a.png: expected the name of a folder, got a name that ends in .png"),
        ("demo --out a.html", "expected the name of a folder"),
        ("reproduce fig1 --out a.html", "expected the name of a folder"),
    ],
)  # fmt: skip
def test_a_suffix_that_cannot_be_honoured_is_refused_with_those_that_can(
    words: str, told: str, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    before = sorted(path.name for path in made.iterdir())
    code, shown, stderr = run(*words.split())
    assert (code, shown) == (2, "")
    assert told in " ".join(stderr.split())
    assert sorted(path.name for path in made.iterdir()) == before


@in_turn("name", ["", ".", "folder", "none/scheme.json"])
def test_a_plan_is_saved_to_files_only_and_leaves_nothing_else(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir(exist_ok=True)
    code, shown, stderr = run(*PLAN, "--save", name)
    assert (code, shown) == (2, "")
    assert "folder" in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_labels_are_read_as_everywhere_else(tmp_path: Path) -> None:
    (tmp_path / "pets.txt").write_bytes(b"\xef\xbb\xbfcat\r\ndog\x0b2\r\n\r\nfi\xe2\x80\xa8sh\r\n")
    code, shown, _ = run("plan", "--labels", tmp_path / "pets.txt", "--users", 1000, "--epsilon", 1, "--json")
    assert code == 0
    assert json.loads(shown)["scheme"]["domain"]["labels"] == ["cat", "dog\x0b2", "fi\u2028sh"]


def test_a_confidence_without_a_target_is_refused() -> None:
    code, _, stderr = run(*PLAN, "--confidence", "99%")
    assert (code, "--confidence needs --within, --find or --quantile-within" in stderr) == (2, True)


def test_small_errors_of_runners_up_have_the_digits_of_the_best() -> None:
    _, shown, _ = run("plan", "--items", 2, "--users", 2, "--epsilon", 1)
    assert "error          ±1.4 users" in shown
    assert "SS   ±1.4" in shown


def test_combining_is_for_sketches(made: Path) -> None:
    code, _, stderr = run("estimate", made / "all.tally", "--combine", "mean")
    assert (code, "--combine is for sketches, and DE is not a sketch" in stderr) == (2, True)


def test_a_seed_that_no_generator_takes_is_refused() -> None:
    assert run("simulate", "OLH:epsilon=1,domain_size=10", "--seed", 10**30)[0] == 2


def test_names_of_files_do_not_reach_the_terminal_as_commands(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m.parquet").write_bytes(b"x")
    small_file(tmp_path / "b.parquet")
    for more in ([], ["--skip-bad"]):
        _, _, stderr = run("collect", tmp_path, "--out", tmp_path / "all.tally", *more)
        assert "a‹escape›[31m.parquet" in stderr
        assert "\x1b" not in stderr


@pytest.mark.full
@in_turn("words", [["simulate", "DE:epsilon=1,domain_size=11", "--users", "1000"], ["estimate", "all.tally"]])
def test_no_figure_and_no_item_is_cut_on_a_narrow_terminal(
    words: list[str], made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    plain = run(*words)[1]
    for module in ("simulate", "estimate"):  # each has the name of its own: commands are imported when they are called
        monkeypatch.setattr(f"plausibly.cli.{module}.results", lambda: Console(width=20))
    narrow = run(*words)[1]
    table = [line.rstrip() for line in plain.partition("\n\n")[0].splitlines()]
    assert [line.rstrip() for line in narrow.splitlines()][: len(table)] == table


def test_a_fingerprint_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plausibly.cli.show.results", lambda: Console(width=60))
    shown = run("show", "DE:epsilon=1,domain_size=11")[1]
    assert "…" not in shown.partition("Identity")[2]
    assert SMALL.fingerprint() in "".join(shown.split())


@pytest.mark.full
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
@in_turn("words", [["show", "DE:epsilon=1,domain_size=11"], [*PLAN, "--json"], ["plan", "--help"]])
def test_a_full_disk_behind_standard_output_is_told(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        found = process(*words, stdout=full)
    assert (found.returncode, found.stderr) == (1, f"standard output: {os.strerror(28)}\n")


@pytest.mark.full
def test_letters_that_a_stream_does_not_have_are_escaped() -> None:
    poor = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert "\\u03b5 = 1" in process(*PLAN, stdout=subprocess.PIPE, env=poor).stdout
    found = process("plan", "--label", "a", "--label", "b", *PLAN[3:], "--json", stdout=subprocess.PIPE, env=poor)
    rich = process("plan", "--label", "a", "--label", "b", *PLAN[3:], "--json", stdout=subprocess.PIPE)
    assert json.loads(found.stdout) == json.loads(rich.stdout)


@pytest.mark.full
def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000));"
        "from plausibly.cli import app; app(sys.argv[1:])"
    )
    call = [sys.executable, "-c", script, "sample", str(tmp_path / "visits.csv"), "--users", "10000"]
    found = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
    assert (found.returncode, found.stderr) == (1, f"{tmp_path / 'visits.csv'}: {os.strerror(27)}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_termination_cleans_up_like_an_interrupt(tmp_path: Path) -> None:
    pipe = tmp_path / "values.csv"
    os.mkfifo(pipe)
    words = ["privatize", pipe, "--scheme", "DE:epsilon=1,domain_size=11", "--out", tmp_path / "reports.parquet"]
    running = subprocess.Popen([sys.executable, "-m", "plausibly", *map(str, words)])
    with pipe.open("w") as file:  # opens when the command does
        file.write("item\n" + "1\n" * 2**21)  # more than is read at once
        file.flush()
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".*.tmp")) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(tmp_path.glob(".*.tmp"))
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.iterdir()] == ["values.csv"]


def test_what_a_device_refuses_ends_a_command_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: object, **options: object) -> None:
        raise DeviceError("the value is outside the domain of 11 items")

    monkeypatch.setattr("plausibly.cli.privatize.privatize_values", refused)
    (tmp_path / "values.txt").write_text("1\n")
    words = ["privatize", tmp_path / "values.txt", "--scheme", "DE:epsilon=1,domain_size=11"]
    words += ["--out", tmp_path / "r.parquet"]
    code, printed, told = run(*words)
    assert (code, printed, told) == (1, "", "the value is outside the domain of 11 items\n")
