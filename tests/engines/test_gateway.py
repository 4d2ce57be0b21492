"""Attempts to privatize a part of a table: one of them is published, and nothing is left of the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest

from engines.making import names
from files.making import SMALL
from plausibly.core.errors import ParameterError, StateError
from plausibly.engines.gateway import Attempt, Gateway, attempts_in, publish
from plausibly.files import ReportFile, ValuesError


def attempted(folder: Path, part: int, *values: int | None, missing: str = "refuse") -> Attempt:
    gateway = Gateway(str(folder), SMALL, missing)  # type: ignore[arg-type]
    [attempt] = gateway((part, [pyarrow.array(values[:1], "int64"), pyarrow.array(values[1:], "int64")]))
    return attempt


def test_only_the_winner_of_several_attempts_is_published(tmp_path: Path) -> None:
    with attempts_in(tmp_path / "out") as folder:
        tries = [attempted(folder, 0, 1, 2, 3) for _ in range(3)]
        other = attempted(folder, 1, 4, 5)
        assert len({each.file for each in tries}) == 3
        winner = (folder / tries[1].file).read_bytes()
        done = publish(folder, [other, tries[1]])
    assert (done.reports, done.skipped, done.simulated) == (5, 0, False)
    assert names(tmp_path / "out") == ["part-00000.parquet", "part-00001.parquet"]
    assert (tmp_path / "out" / "part-00000.parquet").read_bytes() == winner
    assert done.bytes == sum(path.stat().st_size for path in (tmp_path / "out").iterdir())


def test_two_winners_of_one_part_are_refused_before_any_is_published(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="two attempts for one part"), attempts_in(tmp_path / "out") as folder:
        publish(folder, [attempted(folder, 1, 4), attempted(folder, 0, 1), attempted(folder, 0, 1)])
    assert not (tmp_path / "out").exists()


def test_a_winner_that_the_driver_cannot_see_is_refused_before_any_is_published(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="all machines share"), attempts_in(tmp_path / "out") as folder:
        publish(folder, [attempted(folder, 0, 1), Attempt(1, "1-elsewhere.parquet", 5, 0)])
    assert not (tmp_path / "out").exists()


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="all machines share"):
        attempted(tmp_path / "nowhere", 0, 1)


def test_missing_values_are_refused_or_skipped_by_position(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(ValuesError, match=r'partition 3, row 2: no value.*missing="skip"'), attempts_in(out) as folder:
        attempted(folder, 3, 1, None)
    assert names(tmp_path) == []
    with attempts_in(out) as folder:
        winners = [
            attempted(folder, 3, 1, None, missing="skip"),
            attempted(folder, 4, None, missing="skip"),
            attempted(folder, 5),
        ]
        done = publish(folder, winners)
    assert (done.reports, done.skipped) == (1, 2)
    assert names(out) == ["part-00003.parquet"]
    assert len(ReportFile(out / "part-00003.parquet")) == 1


def test_a_table_without_values_is_refused(tmp_path: Path) -> None:
    expected = pytest.raises(ParameterError, match=r"expected values, got none; every value is missing \(1\)")
    with expected, attempts_in(tmp_path / "out") as folder:
        publish(folder, [attempted(folder, 0), attempted(folder, 1, None, missing="skip")])
    expected = pytest.raises(ParameterError, match="expected values, got none; the table is empty")
    with expected, attempts_in(tmp_path / "out") as folder:
        publish(folder, [attempted(folder, 0)])
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (pyarrow.array([99]), "partition 0, row 1: expected integers in"),
        (pyarrow.array([1.5]), "expected a column of texts or whole numbers, got double"),
        (pyarrow.array([[1]]), "got a nested type"),
        (pyarrow.array(["hiv-clinic"]), "partition 0, row 1: "),
    ],
)
def test_values_outside_the_domain_are_refused_without_being_shown(
    array: pyarrow.Array, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValuesError, match=message) as raised, attempts_in(tmp_path / "out") as folder:
        Gateway(str(folder), SMALL, "refuse")((0, [array]))
    assert "hiv" not in str(raised.value)
    assert names(tmp_path) == []


def test_text_that_is_not_text_is_refused_without_being_shown(tmp_path: Path) -> None:
    broken = pyarrow.array([b"1", b"\xff\xfe"], "binary").view("string")
    with pytest.raises(ValuesError, match="row 2: expected text in UTF-8"), attempts_in(tmp_path / "out") as folder:
        Gateway(str(folder), SMALL, "refuse")((0, [broken]))


def test_reports_are_never_added_to_those_of_another_call(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with attempts_in(out) as folder:
        publish(folder, [attempted(folder, 0, 1)])
    expected = pytest.raises(StateError, match=r"part-00000\.parquet: exists already.*choose another folder")
    with expected, attempts_in(out):
        raise AssertionError
    assert names(out) == ["part-00000.parquet"]


@pytest.mark.full
def test_attempts_of_a_killed_call_are_swept_and_a_half_published_one_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    killed = """
import os, sys
from pathlib import Path
from plausibly.engines.gateway import attempts_in
with attempts_in(Path(sys.argv[1])) as folder:
    (folder / "0-unpublished.parquet").touch()
    os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", killed, str(out)]).returncode == -9
    assert len(list(out.glob(".attempts/*/0-unpublished.parquet"))) == 1
    with attempts_in(out) as folder:
        assert len(list(out.glob(".attempts/*"))) == 1
        attempted(folder, 0, 1)
    assert names(out) == []
    (out / "part-00007.parquet").touch()
    (out / ".attempts").mkdir()
    with pytest.raises(StateError, match="a call that was interrupted; remove this folder"), attempts_in(out):
        raise AssertionError


def test_two_calls_cannot_write_to_one_folder_at_a_time(tmp_path: Path) -> None:
    with (
        attempts_in(tmp_path / "out"),
        pytest.raises(StateError, match="another process"),
        attempts_in(tmp_path / "out"),
    ):
        raise AssertionError


@pytest.mark.parametrize("out", ["s3://bucket/reports", Path("s3://bucket/reports"), "s3://key:hush@bucket/reports"])
def test_an_object_store_is_refused_as_a_folder(
    out: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="expected a folder that all machines share") as raised, attempts_in(out):
        raise AssertionError
    assert "hush" not in str(raised.value)
    assert names(tmp_path) == []


def test_a_folder_on_this_machine_may_have_an_address(tmp_path: Path) -> None:
    with attempts_in(f"file://{tmp_path}/a%20b") as folder:
        publish(folder, [attempted(folder, 0, 1)])
    assert names(tmp_path / "a b") == ["part-00000.parquet"]


def test_a_failed_call_leaves_none_of_the_folders_that_it_made(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with pytest.raises(ZeroDivisionError), attempts_in(tmp_path / "kept" / "one" / "two"):
        raise ZeroDivisionError
    assert names(tmp_path / "kept") == []


def test_a_file_is_refused_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with pytest.raises(ParameterError, match="plain: expected a folder, got a file"), attempts_in(tmp_path / "plain"):
        raise AssertionError
