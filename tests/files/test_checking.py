"""Dry runs: all bad rows of files are counted by reason, and a file without values is told."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest

from plausibly import Keys
from plausibly.files import Faults, check_values, values
from plausibly.files import text as text_module
from plausibly.files.checking import Checked


def checked(source: Any, **options: Any) -> Checked:
    return check_values(values(source, domain=Keys(), faults=Faults(), **options), Keys())


def test_a_block_without_any_value_of_the_right_type_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_module, "_BLOCK", 64)
    path = tmp_path / "a.ndjson"
    path.write_text('{"a":"x"}\n' * 10 + '{"a":12345}\n' * 30)
    found = checked(path, column="a")
    assert (found.good, found.bad_rows, found.stopped) == (10, 30, "")
    assert [fault.reason for fault in found.bad] == ["expected a text as in the rows before, got a number"]


def test_a_file_without_values_is_told_after_a_bad_row_of_another(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("x,y\na,1\nb\n")
    second.write_text("x,y\n")
    found = checked([first, second], column="x")
    assert (found.good, found.bad_rows) == (1, 1)
    assert found.stopped == f"{second}, line 2: expected values, got the end of the file"


def test_a_file_of_bad_rows_only_is_not_called_empty(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\nb\n")
    assert checked(tmp_path / "a.csv", column="x").stopped == ""


@pytest.mark.full
def test_lines_with_a_carriage_return_are_counted_once_and_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\rb\n" * 100_000)
    begun = process_time()
    assert checked(path).bad_rows == 100_000
    assert process_time() - begun < 15  # more than a minute if each line were looked up among all bad ones
    monkeypatch.setattr(text_module, "_BLOCK", 8)
    path.write_bytes(b"xx\n\na\rb\nyyy\nzzzzzz\n")
    found = checked(path, missing="skip")
    assert (found.good, found.bad_rows, found.skipped) == (3, 1, 1)
