"""Columns of lists: any number of listed items in each row, from every format, and what is empty, missing or wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from cases import in_turn
from plausibly import Choices, Labels, ParameterError, make
from plausibly.files import Faults, ValuesError, check_values, privatize_values, values
from plausibly.files.values import values_of_arrays

APPS = Choices(["Maps", "Mail", "Chess"], other=True)
LISTS: list[list[str] | None] = [["Maps", "Mail"], [], ["Chess", "Sudoku"], ["Mail"], ["Mail", "Maps", "Mail"]]
CODES = APPS.encode(LISTS).tolist()


def in_json(path: Path, lists: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps({'id': i, 'apps': own})}\n" for i, own in enumerate(lists)))
    return path


def in_parquet(path: Path, lists: Sequence[Any], kind: Any = None, **options: Any) -> Path:
    kind = kind or pyarrow.list_(pyarrow.string())
    columns = {"apps": pyarrow.array(lists, kind), "apps.x": pyarrow.array(range(len(lists)))}
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def codes(path: Path, domain: Choices = APPS, **options: Any) -> list[int]:
    return [
        int(c) for part in values(path, domain=domain, column="apps", **options) for c in domain.encode(part.values)
    ]


@in_turn(
    ("kind", "options"),
    [
        (pyarrow.list_(pyarrow.string()), {}),
        (pyarrow.list_(pyarrow.string()), {"row_group_size": 2, "use_dictionary": False}),
        (pyarrow.large_list(pyarrow.large_string()), {"data_page_version": "2.0", "use_compliant_nested_type": False}),
        (pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())), {"row_group_size": 3}),
    ],
)
def test_lists_in_parquet_are_taken_as_they_are(tmp_path: Path, kind: Any, options: dict[str, Any]) -> None:
    path = in_parquet(tmp_path / "a.parquet", LISTS, kind, **options)
    assert codes(path) == CODES
    array = pyarrow.array(LISTS, kind).slice(1)
    parts = values_of_arrays([array[:2], array[2:]], "part", domain=APPS, missing="refuse")
    assert [int(code) for part in parts for code in APPS.encode(part.values)] == CODES[1:]


def test_lists_in_json_are_taken_as_they_are(tmp_path: Path) -> None:
    assert codes(in_json(tmp_path / "a.ndjson", LISTS)) == CODES
    alone = tmp_path / "b.ndjson"
    alone.write_text("".join(f"{json.dumps(own)}\n" for own in LISTS))
    assert [int(code) for part in values(alone, domain=APPS) for code in APPS.encode(part.values)] == CODES


@in_turn("separator", [",", ";", " | ", "\t"])
def test_texts_have_a_separator_between_items_and_an_empty_one_is_an_empty_list(tmp_path: Path, separator: str) -> None:
    texts = [separator.join(own or ()) for own in LISTS]
    given: dict[str, Any] = {} if separator == "," else {"separator": separator}
    table, lines = tmp_path / "a.csv", tmp_path / "a.txt"
    table.write_text("id,apps\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(texts)))
    lines.write_text("".join(f"{text}\n" for text in texts))
    assert codes(table, **given) == CODES
    assert [int(c) for part in values(lines, domain=APPS, **given) for c in APPS.encode(part.values)] == CODES
    assert codes(in_json(tmp_path / "a.ndjson", texts), **given) == CODES
    assert codes(in_parquet(tmp_path / "a.parquet", texts, pyarrow.string()), **given) == CODES
    # Whoever skips missing values says that an empty field is one.
    assert codes(table, missing="skip", **given) == [code for code in CODES if code]


def test_spaces_around_items_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('apps\n"Maps, Mail"\n" Chess ,"\n')
    assert codes(path) == APPS.encode([["Maps", "Mail"], ["Chess"]]).tolist()


def test_null_is_missing_and_an_empty_list_is_not(tmp_path: Path) -> None:
    lists = [["Maps"], None, []]
    for path, place in (
        (in_json(tmp_path / "a.ndjson", lists), "line 2"),
        (in_parquet(tmp_path / "a.parquet", lists), "row 2"),
    ):
        with pytest.raises(ValuesError, match=f"{place}: no value; remove the user, or skip"):
            codes(path)
        assert codes(path, missing="skip") == APPS.encode([["Maps"], []]).tolist()


@in_turn(
    ("own", "expected"),
    [
        ([1], "line 2: expected a list of texts, got a list of other things"),
        ([None], "line 2: expected a list of texts, got a list of other things"),
        ([["Maps"]], "line 2: expected a list of texts, got a list of other things"),
        ({"Maps": 1}, "line 2: expected a list of texts, got an object"),
        (3, "line 2: expected a list of texts, got a number"),
        (True, "line 2: expected a list of texts, got true or false"),
        ("Maps", "line 2: expected a list as in the rows before, got a text"),
        (["Secret-\ud800"], "line 2: expected text in UTF-8, got half of a surrogate pair"),
    ],
)
def test_wrong_lists_in_json_are_refused_by_line_and_never_by_value(tmp_path: Path, own: Any, expected: str) -> None:
    path = in_json(tmp_path / "a.ndjson", [["Maps"], own])
    with pytest.raises(ValuesError, match=expected) as refused:
        codes(path)
    assert "Secret" not in str(refused.value)
    checked = check_values(values(path, domain=APPS, column="apps", faults=Faults()), APPS)
    assert (checked.good, checked.bad_rows) == (1, 1)


@in_turn(
    ("kind", "lists", "expected"),
    [
        (pyarrow.list_(pyarrow.int64()), [[1]], "expected a column of lists of texts, got int64"),
        (pyarrow.list_(pyarrow.list_(pyarrow.string())), [[["a"]]], "lists of texts, got a nested type"),
        (pyarrow.struct([("secret", pyarrow.string())]), [{"secret": "a"}], "lists of texts, got a nested type"),
        (pyarrow.int64(), [1], "expected a column of lists of texts, got int64"),
        (pyarrow.list_(pyarrow.string()), [["Maps"], ["Mail", None]], "row 2: expected items that are texts"),
    ],
)
def test_wrong_lists_in_parquet_are_refused(tmp_path: Path, kind: Any, lists: Any, expected: str) -> None:
    path, out = in_parquet(tmp_path / "a.parquet", lists, kind), tmp_path / "reports.parquet"
    with pytest.raises(ValuesError, match=expected) as refused:
        privatize_values(values(path, domain=APPS, column="apps"), make("CLIQUE", epsilon=1, domain=APPS), out)
    assert "secret" not in str(refused.value)


def test_texts_of_lists_that_are_not_text_are_refused_by_row(tmp_path: Path) -> None:
    binary = pyarrow.array([[b"Maps"], [], [b"Mail", b"\xff\xfe"]], pyarrow.list_(pyarrow.binary()))
    bad = binary.cast(pyarrow.list_(pyarrow.binary())).view(pyarrow.list_(pyarrow.string()))
    parquet.write_table(pyarrow.table({"apps": bad}), tmp_path / "a.parquet")
    with pytest.raises(ValuesError, match="row 3: expected text in UTF-8"):
        codes(tmp_path / "a.parquet")


def test_lists_of_long_texts_in_encodings_that_repeat_them_are_refused(tmp_path: Path) -> None:
    # A few bytes of such a page can stand for many long texts.
    long = [["x" * 1000 + str(i)] for i in range(50)]
    encoding = {"apps.list.element": "DELTA_BYTE_ARRAY"}
    path = in_parquet(tmp_path / "a.parquet", long, use_dictionary=False, column_encoding=encoding)
    with pytest.raises(ValuesError, match="too large pages"):
        codes(path)


def test_row_groups_with_too_many_items_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = in_parquet(tmp_path / "a.parquet", [["Maps"] * 600, ["Mail"] * 600])
    monkeypatch.setattr("plausibly.files.parquet_column._MOST_ITEMS", 1000)
    with pytest.raises(ValuesError, match=r"at most 1,000 items .* in a row group, got more; write smaller row groups"):
        codes(path)
    assert len(codes(in_parquet(tmp_path / "b.parquet", [["Maps"] * 600, ["Mail"] * 600], row_group_size=1))) == 2


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    path = in_json(tmp_path / "a.ndjson", LISTS)
    with pytest.raises(ParameterError, match=r"columns: expected a scheme for records .* got one for any of 3 items"):
        values(path, domain=APPS, columns={"Maps": "apps"})
    with pytest.raises(ParameterError, match="separator: expected at least one character"):
        codes(path, separator="")
    with pytest.raises(ParameterError, match="separator needs glue, or a scheme for lists of items"):
        values(path, domain=Labels(["a", "b"]), column="apps", separator=";")
    with pytest.raises(ValuesError, match="line 1: expected one field, got 2"):
        list(values(path, domain=APPS))
