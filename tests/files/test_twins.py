"""Arrow and Python read the same values from the same lines, and refuse the same files with the same words."""

from __future__ import annotations

import gzip
import io
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import case
from drawn import drawn
from files.malformed import MALFORMED
from plausibly import Labels, make
from plausibly.files import Glue, csv_column, json_lines, values
from plausibly.files import text as text_module
from plausibly.files.batches import SeparatorError
from plausibly.files.sources import ValuesError

Told = tuple[list[tuple[int, Any]], int, str]


def told(source: Any, **options: Any) -> Told:
    """The lines and values of a file, the number of missing values, and the error that ended the reading."""
    found: list[tuple[int, Any]] = []
    try:
        given = values(source() if callable(source) else source, **options)
    except ValuesError as error:
        return found, 0, str(error)
    try:
        for chunk in given:
            found += zip(map(int, chunk.places), chunk.values, strict=True)
    except ValuesError as error:
        return [], 0, str(error)
    return found, given.skipped, ""


def both(monkeypatch: pytest.MonkeyPatch, source: Any, **options: Any) -> tuple[Told, Told]:
    by_arrow = told(source, **options)
    with monkeypatch.context() as patch:
        for module in (csv_column, json_lines):
            patch.setattr(module, "arrow_is_installed", lambda: False)
        return by_arrow, told(source, **options)


def expect_equal(monkeypatch: pytest.MonkeyPatch, source: Any, **options: Any) -> Told:
    by_arrow, by_python = both(monkeypatch, source, **options)
    assert by_arrow == by_python
    return by_arrow


@pytest.mark.full
def test_malformed_files_are_refused_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for one in MALFORMED:
        with case(one):
            (tmp_path / one.name).write_bytes(one.content)
            assert expect_equal(monkeypatch, tmp_path / one.name, **one.options)[2]


LONG = b"x" * (1 << 20)
CSV = [
    b'user,site\n1,a\n2,"b"\n3,"c, ""d"""\n4," e "\n5,""\n6,f\n',
    b'user,site\r\n1,a\r\n2,"b\r\nb"\r\n\r\n3,c\r\n',
    b'user,site\n1,"a\nb\n\nc"\n2,d\n3,"e\n"\n4,f\n',
    b"\xef\xbb\xbfuser,site\n1,a\n\xef\xbb\xbf2,b\n",
    b"user,site\n\xef\xbb\xbf1,\xef\xbb\xbfa\n2,b\n",
    b"user,site\n1,a\n\n\n2,b\n\n",
    b"user,site\n1,a\n2\n3,c\n",
    b"user,site\n1,a\n2,b,c\n",
    b"user,site\n1,a\n2,\n3,c\n",
    b'user,site\n1,5" pipe\n2,b\n3,"c"\n',
    b'user,site\n1,5" pipe\n2,"open\n',
    b'user,site\n1,"a"b\n',
    b'user,site\n1,"a\n2,b\n',
    b"user,site\n1,a\r2,b\n",
    b"user,site\n1,a\r\r\n2,b\n",
    b'user,site\n1,"a\rb"\n2,c\n',
    b"user,site\n1,a\0\n",
    b"user,site\n1,a\n2,\xff\n",
    b"user,site\n\xff,a\n",
    b"user,site\n1,a\n2, \n \n",
    b"user,site\n1,NULL\n2,NaN\n3,null\n4,#N/A\n5,0x1\n6,1e5\n7,2020-01-01\n8,true\n",
    "user,site\n1,ä\n2,\u2028\n3,\x85\n4,\x0b\x1c\n5,😀\n".encode(),
    b"user,site,site\n1,a,b\n",
    b"user,page\n1,a\n",
    b"user,site\n1," + LONG + b"\n2,b\n",
    b"user,site\n" + LONG + b"x,a\n2,b\n",
    b'user,site\n1,"' + LONG.replace(b"xx", b"x\n") + b'"\n2,b\n',
    b'user,site\n1,"' + LONG.replace(b"xx", b"x\n") + b'x"\n2,b\n',
    b"user,site\n1,a",
    b"user,site\n",
    b"user,site",
    b"",
    b'"user","site"\n"1","a"\n"2",""\n"","b"\n',
    b'user,"si\nte"\n1,a\n',
]
ONE = [
    b"site\na\nb\n\n\nc\n\n\n",
    b'site\na\n""\n\n',
    b'site\n\n\n""\n',
    b"site\n\n\n\n",
    b"site\r\na\r\n\r\nb\r\n\r\n",
    b'site\n"a\n"\n\nb\n',
    b"site\na,b\n",
    b"site\n \n\ta\n",
]
JSON = [
    b'{"site":"a"}\n{"site":"b","x":1}\n{"x":[1,{"site":2}],"site":"c"}\n',
    b'{"site":"a"}\r\n{"site":"b"}\r\n',
    b'{"site":"a"} {"site":"b"}\n\n',
    b'{"site":"a"}\n\n {"site":"b"} \n',
    b'{"site":"a"}\n{"site":\n"b"}\n{"site":"c"}{"site":"d"}\n',
    b'{"site":"a"},\n{"site":"b"}\n',
    b'{"site":"a","site":"b"}\n',
    b'{"site":"a","s\\u0069te":"b"}\n',
    b'{"site":"a","x":1,"x":2}\n{"site":"a","y":{"site":1,"site":2}}\n',
    b'{"site":"\\u00e4\\ud83d\\ude00\\n\\/"}\n{"site":"\\u0000"}\n',
    b'{"site":"\\ud800"}\n',
    b'{"site":"a","x":"\\ud800"}\n',
    b'{"site":"a"}\n{"Site":"b"}\n',
    b'{"site":"a"}\n{"x":"b"}\n{"site":null}\n{"site":NaN}\n{}\n',
    b'{"site":""}\n{"site":"a"}\n',
    b'{"site":1}\n{"site":-2}\n{"site":-0}\n{"site":1234567890123456789012}\n',
    b'{"site":1}\n{"site":1.0}\n',
    b'{"site":1}\n{"site":"1"}\n',
    b'{"site":"1"}\n{"site":1}\n',
    b'{"site":true}\n',
    b'{"site":["a"]}\n',
    b'{"site":"a","x":01}\n',
    b'{"site":"a","x":1e999}\n{"site":"b","x":-Infinity}\n',
    b'{"site":"a","x":' + b"7" * 5000 + b"}\n",
    b'{"site":"a","x":' + b"[" * 20000 + b"]" * 20000 + b"}\n",
    b'{"site":"a","x":' + b"[" * 400 + b"]" * 400 + b"}\n" + b'{"site":"b","x":[[]]}\n' * 99,
    b'\xef\xbb\xbf{"site":"a"}\n\xef\xbb\xbf{"site":"b"}\n',
    b'{"site":"a"}\n[{"site":"b"}]\n',
    b'{"site":"a"}\n7\n',
    b'{"site":"a\x01"}\n',
    b'{"site":"a\tb"}\n',
    b'{"site":"a\x7f\xc2\x85"}\n',
    b'{"site":"\xff"}\n',
    b'{"site":"a"}\n{"site":"b"',
    b'{"site":"a","b":"' + LONG + b'"}\n{"site":"b"}\n',
    b'{"site":"' + LONG + b'x"}\n{"site":"b"}\n',
]


@pytest.mark.full
def test_hostile_csv_is_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in CSV:
        for missing in ("refuse", "skip"):
            with case((content[:60], missing)):
                options = {"format": "csv", "column": "site", "missing": missing}
                expect_equal(monkeypatch, lambda: io.BytesIO(content), **options)  # noqa: B023
    for content in ONE:
        for missing in ("refuse", "skip"):
            with case((content, missing)):
                expect_equal(monkeypatch, lambda: io.BytesIO(content), format="csv", missing=missing)  # noqa: B023


@pytest.mark.full
def test_hostile_json_is_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in JSON:
        for options in ({"column": "site"}, {"column": "site", "missing": "skip"}, {}):
            with case((content[:60], options)):
                expect_equal(monkeypatch, lambda: io.BytesIO(content), format="ndjson", **options)  # noqa: B023


def test_ordinary_files_do_not_go_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(csv_column.CsvColumn, "_by_rows", slow)
    monkeypatch.setattr(json_lines.JsonColumn, "_by_lines", slow)
    for content in (*CSV[:3][::2], *ONE[:1], b"a,site\r\n1,x\r\n2,\r\n3,z\r\n"):
        with case(content):
            found, _, error = told(io.BytesIO(content), format="csv", column="site", missing="skip")
            assert (len(found) > 1, error) == (True, "")
    for content in (JSON[0], JSON[1], JSON[9], b'{"site":7}\n{"site":8}\n{"site":null}\n'):
        with case(content):
            assert told(io.BytesIO(content), format="ndjson", column="site", missing="skip")[2] == ""


PIECES = [
    b"a",
    b"bb",
    b",",
    b",",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b'"',
    b'""',
    b" ",
    b"\xc3\xa4",
    b"\xff",
    b'","',
    b'"\n"',
]


@drawn(200)
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.sampled_from([1, 7, 64]), st.booleans())
def test_any_csv_is_read_alike_however_it_is_divided(pieces: list[bytes], block: int, two: bool) -> None:
    content = (b"u,site\n" if two else b"site\n") + b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "_BLOCK", block)
        expect_equal(patch, lambda: io.BytesIO(content), format="csv", column="site", missing="skip")


TOKENS = [
    b'{"site":"a"}',
    b'{"site":"b"}',
    b"\n",
    b"\n",
    b"\n",
    b"\r\n",
    b" ",
    b'{"x":"site"}',
    b'{"site":null}',
    b"{",
    b"}",
]
TOKENS += [b'{"site":"\\u00e4"}', b'{"site":1}', b'{"site":"a","site":"b"}', b"[]", b",", b'"site"', b'{"Site":"a"}']


@drawn(200)
@given(st.lists(st.sampled_from(TOKENS), max_size=16), st.sampled_from([1, 7, 64]), st.sampled_from(["site", None]))
def test_any_json_lines_are_read_alike(tokens: list[bytes], block: int, column: str | None) -> None:
    content = b"".join(tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "_BLOCK", block)
        expect_equal(patch, lambda: io.BytesIO(content), format="ndjson", column=column, missing="skip")


def test_lines_are_right_in_large_files_and_in_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_BLOCK", 1 << 12)
    rows = [(f'{i},"s{i % 7}\n"' if i % 50 == 0 else f"{i},s{i % 7}") for i in range(3000)]
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("\n".join(["user,site", *rows]).encode()))
    found, _, error = expect_equal(monkeypatch, tmp_path / "a.csv.gz", column="site")
    assert (len(found), error) == (3000, "")
    assert found[51] == (55, "s2")
    labels = Labels(tuple(str(i) for i in range(60)))
    for chunk in values(tmp_path / "a.csv.gz", column="user", domain=labels):
        with pytest.raises(ValuesError, match="line 64: expected one of the 60 labels"), chunk.located():
            make("DE", epsilon=1, domain=labels).privatize(chunk.column)
        break


def test_an_error_further_on_does_not_hide_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Blocks are read ahead: the damage at the end is met before the ragged row is.
    monkeypatch.setattr(text_module, "_BLOCK", 64)
    content = b"user,site\n" + b"1,a\n" * 20 + b"1\n" + b"1,a\n" * 20 + b"\xff,a\n"
    told_of = expect_equal(monkeypatch, lambda: io.BytesIO(content), format="csv", column="site")[2]
    assert "line 22: expected 2 fields" in told_of


def test_glued_values_differ_if_their_parts_do() -> None:
    parts = ["a", "-", "a-", "-a", "--", "a-a", "-a-", "--a", "a--"]
    for separator in ("-", "--", "-a-"):
        glue, seen = Glue(("x", "y", "z"), separator), {}
        for row in product(parts, repeat=3):
            with suppress(SeparatorError):
                assert seen.setdefault(glue.value(row), row) == row
        assert seen
    assert Glue(("x", "y"), "--").value(["a-a", "b-"]) == "a-a--b-"
    with pytest.raises(SeparatorError):
        Glue(("x", "y"), "--").value(["a-", "b"])


def test_glued_columns_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    glue = Glue(("b", "t"))
    table = pa.table({"t": ["dark", "light", None, "dark"], "b": ["x", "y", "x", "x"], "n": [1, 2, 3, 4]})
    from pyarrow import csv, parquet

    csv.write_csv(table, tmp_path / "a.csv")
    parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.ndjson").write_bytes(
        b'{"b":"x","t":"dark"}\n{"t":"light","b":"y"}\n{"b":"x","t":null}\n{"b":"x","t":"dark"}\n'
    )
    for name in ("a.csv", "a.ndjson", "a.parquet"):
        found, skipped, error = expect_equal(monkeypatch, tmp_path / name, glue=glue, missing="skip")
        assert ([value for _, value in found], skipped, error) == (["x dark", "y light", "x dark"], 1, "")
        told_of = expect_equal(monkeypatch, tmp_path / name, glue=Glue(("b", "t"), "ig"), missing="skip")[2]
        why = "a value of a glued column contains the separator or overlaps with it"
        assert told_of.endswith(f'{why}; pass another separator="TEXT"')
        assert ("line 3" if name == "a.csv" else "row 2" if name == "a.parquet" else "line 2") in told_of
