"""Values from files: they come back as written, in constant memory; what is wrong is named by line and not shown."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import case, in_turn
from files.malformed import MALFORMED, SECRET, shows_a_secret
from plausibly import Integers, Keys, Labels, Strings
from plausibly.core.domain import Domain
from plausibly.core.errors import DomainError, ParameterError, PlausiblyError
from plausibly.files import csv_rows
from plausibly.files import text as text_module
from plausibly.files.sources import ValuesError
from plausibly.files.values import values


def read(path: Any, **options: Any) -> list[Any]:
    return [value for chunk in values(path, **options) for value in chunk.values]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.full
def test_what_is_wrong_is_named_by_file_and_line_and_never_shown(tmp_path: Path) -> None:
    for one in MALFORMED:
        with case(one):
            path = written(tmp_path, one.name, one.content)
            with pytest.raises(ValuesError) as refused:
                read(path, **one.options)
            told = str(refused.value)
            assert told.startswith(str(path))
            assert one.told in told
            assert not shows_a_secret(told.removeprefix(str(path)))
            assert refused.value.__cause__ is None


@in_turn(
    ("name", "content", "options", "expected"),
    [
        ("a.csv", '\ufeffuser,site\r\n1,b\r\n2,a\r\n\r\n3,"b"\r\n4,"c, ""d""\n"\r\n5, e ', {"column": "site"},
         ["b", "a", "b", 'c, "d"\n', " e "]),
        ("a.csv", "site\nä\n\u2028\n", {}, ["ä", "\u2028"]),
        ("A.CSV", "site\na\n\n\n", {}, ["a"]),
        ("a.csv", "site\na\n\n\nb\n", {"missing": "skip"}, ["a", "b"]),
        ("a.csv", "site;n\na,b;1\n", {"delimiter": ";", "column": "site"}, ["a,b"]),
        ("a.csv", "si;te\na;b\n", {"delimiter": ","}, ["a;b"]),
        ("a.tsv", "site\tn\na,b\t1\n", {"column": "site"}, ["a,b"]),
        ("a.csv", "a,1\nb,2\n", {"header": False, "column": "2"}, ["1", "2"]),
        ("a.csv", "a;x\nb\n", {"header": False}, ["a;x", "b"]),
        ("a.txt", "\ufeffa\r\nb, c\r\n\r\n", {}, ["a", "b, c"]),
        ("a.txt", 'a\n\n\n"b"', {"missing": "skip"}, ["a", '"b"']),
        ("a.dat", "BZhang\nPAR1\n", {"format": "lines"}, ["BZhang", "PAR1"]),
        ("a.ndjson", '{"site": "a", "n": 1}\n\n{"n": 2, "site": ""}\r\n', {"column": "site"}, ["a", ""]),
        ("a.jsonl", '{"x": "a"}\n {"x": null} \n{}\n{"x": "\\ud83d\\ude00"}', {"missing": "skip"}, ["a", "😀"]),
        ("a.jsonl", '"a"\n"b"\n', {}, ["a", "b"]),
        ("a.jsonl", "7\n-8\n", {}, ["7", "-8"]),
        ("a.jsonl", '{"site": "site", "a": {"site": 1}}\n', {"column": "site"}, ["site"]),
    ],
)  # fmt: skip
def test_each_format_gives_its_values(
    name: str, content: str, options: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    assert read(written(tmp_path, name, content), **options) == expected
    packed = written(tmp_path, f"{name}.gz", gzip.compress(content.encode()))
    assert read(packed, **options) == expected
    kind = {"csv": "csv", "tsv": "tsv", "txt": "lines"}.get(name[2:].lower(), "ndjson")
    assert read(io.BytesIO(content.encode()), **{"format": kind} | options) == expected


@in_turn(
    ("column", "expected"),
    [
        (pa.array(["a", "ä", ""]), ["a", "ä", ""]),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array([7, 8], pa.uint8()), ["7", "8"]),
        (pa.array([7, 8]).dictionary_encode(), ["7", "8"]),
    ],
)
def test_parquet_columns_of_texts_and_whole_numbers_are_read(
    column: pa.Array, expected: list[str], tmp_path: Path
) -> None:
    table = pa.table({"a.b": column, "a": pa.array([{"b": 1}] * len(column))})
    pq.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet", column="a.b") == expected


@in_turn(
    ("domain", "expected"),
    [
        (None, ["007", "12"]),
        (Integers(20), [7, 12]),
        (Keys(), ["007", "12"]),
        (Labels(("007", "12")), ["007", "12"]),
        (Strings("0127", 3), ["007", "12"]),
        (Strings(b"0127", 3), [b"007", b"12"]),
    ],
)
def test_values_are_of_the_type_that_the_domain_takes(domain: Domain, expected: list[Any], tmp_path: Path) -> None:
    found = read(written(tmp_path, "a.txt", "007\n12\n"), domain=domain)
    assert found == expected
    if domain is not None:
        domain.encode(found)
    path = written(tmp_path, "a.ndjson", "7\n12\n")
    assert read(path, domain=domain)[1] == expected[1]


@in_turn("wrong", ["1.0", "٣", " 7", "7 ", "+7", "1_0", "x" + SECRET, "0x7", "7" * 21, "-"])
def test_what_is_no_whole_number_is_refused_by_line(wrong: str, tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", f"3\n4\n{wrong}\n5\n")
    with pytest.raises(ValuesError, match=r"a\.txt, line 3: expected integers in \[0, 10\)") as refused:
        read(path, domain=Integers(10))
    assert not shows_a_secret(str(refused.value))


@in_turn(
    ("domain", "content", "line"),
    [
        (Integers(10), "3\n\n10\n", "line 3: expected integers in [0, 10)"),
        (Integers(10), "3\n\n-1\n", "line 3: expected integers in [0, 10)"),
        (Labels(("a", "b")), f"a\n\nb\n{SECRET}\n{SECRET}\n", "line 4: expected one of the 2 labels"),
        (Strings("ab", 3, long="refuse"), "a\n\nabab\n", "line 3: expected at most 3 characters"),
        (Strings("ab", 3), f"a\n\n{SECRET}\n", "line 3: expected characters of the alphabet"),
    ],
)
def test_what_the_domain_refuses_is_named_by_its_line(domain: Domain, content: str, line: str, tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", content)
    with pytest.raises(ValuesError) as refused:  # noqa: PT012
        for chunk in values(path, domain=domain, missing="skip"):
            with chunk.located():
                domain.encode(chunk.values)
    assert f"a.txt, {line}" in str(refused.value)
    assert not shows_a_secret(str(refused.value))


@in_turn(
    ("name", "options", "told"),
    [
        ("a.dat", {}, "the name does not show the format"),
        ("a", {}, "the name does not show the format"),
        ("a.gz", {}, "the name does not show the format"),
        ("a.xlsx", {}, "got a spreadsheet; save the sheet as CSV, or run libreoffice --headless --convert-to csv"),
        ("a.csv", {"format": "cvs"}, "did you mean 'csv'?"),
        ("a.csv", {"missing": "drop"}, "missing: expected"),
        ("a.csv", {"delimiter": ""}, "delimiter: expected one character"),
        ("a.csv", {"delimiter": ";;"}, "delimiter: expected one character"),
        ("a.csv", {"delimiter": '"'}, "delimiter: expected one character"),
        ("a.ndjson", {"delimiter": ";"}, "expected the format csv or tsv"),
        ("a.parquet", {"header": False}, "expected the format csv or tsv"),
        ("a.txt", {"column": "site"}, "a file with one value per line has no columns"),
    ],
)
def test_what_cannot_be_meant_is_a_wrong_parameter(
    name: str, options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError) as refused:
        read(written(tmp_path, name, SECRET), **options)
    assert told in str(refused.value)
    assert not shows_a_secret(str(refused.value))


def test_files_that_cannot_be_opened_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.csv", "a.txt", "a.ndjson", "a.parquet"):
        with pytest.raises(ValuesError, match=f"{name}: No such file"):
            read(tmp_path / name)
        (tmp_path / name).mkdir()
        with pytest.raises(ValuesError, match=f"{name}: Is a directory"):
            read(tmp_path / name)

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(ValuesError, match=r"a\.csv: Permission denied"):
        read(tmp_path / "a.csv")


def test_a_stream_that_is_closed_or_breaks_is_told() -> None:
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(ValuesError, match="standard input: cannot be read because it is closed"):
        read(closed)

    class Broken(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(ValuesError, match="standard input, line 1: Input/output error"):
        read(Broken())

    class Hasty(io.BytesIO):
        def read(self, *_: object) -> Any:
            return None

    with pytest.raises(ValuesError, match="a blocking stream"):
        read(Hasty())
    with pytest.raises(ParameterError, match="stream of bytes"):
        read(io.StringIO("a"))
    with pytest.raises(ParameterError, match="got a stream"):
        read(io.BytesIO(), format="parquet")


def test_a_file_of_reports_is_not_taken_for_values(tmp_path: Path) -> None:
    from files.making import small_file

    small_file(tmp_path / "reports.parquet")
    with pytest.raises(ValuesError, match="got reports"):
        read(tmp_path / "reports.parquet")


@pytest.mark.full
def test_lines_are_right_across_blocks_and_skips_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"v{i}" if i % 7 else "" for i in range(1, 401)]
    quoted = [f'"{value}\n"' if i % 5 == 0 else value for i, value in enumerate(rows)]
    expected = [value for value in rows if value]
    for block in (1, 2, 3, 7, 64, 1000):
        monkeypatch.setattr(text_module, "_BLOCK", block)
        found = values(written(tmp_path, "a.txt", "\n".join(rows)), missing="skip")
        assert [value for chunk in found for value in chunk.values] == expected
        assert (found.taken, found.skipped, found.expected) == (len(expected), 57, len(expected))
        table = "site,x\n" + "".join(f"{value},1\n" for value in quoted)
        found = values(written(tmp_path, "b.csv", table), column="site", missing="skip")
        kept = [value.removesuffix("\n") for chunk in found for value in chunk.values]
        assert kept == [value.strip('"\n') for value in quoted if value]
        broken = table + f"{SECRET}\n" * 100
        with pytest.raises(ValuesError, match=f"line {table.count(chr(10)) + 1}: expected 2 fields"):
            read(written(tmp_path, "b.csv", broken), column="site", missing="skip")


def test_a_row_without_an_end_is_not_read_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_BLOCK", 100)
    monkeypatch.setattr(csv_rows, "LONGEST_LINE", 1000)
    source = io.BytesIO(f"a,b\n{SECRET},\n1,2\n".encode() + b'"\n",' * 5000)
    with pytest.raises(ValuesError, match="standard input, line 4: the row does not end"):
        read(source, format="csv", column="a")
    assert source.tell() < 2000


def test_a_refusal_without_a_position_is_told_by_the_lines_of_the_chunk(tmp_path: Path) -> None:
    (chunk,) = values(written(tmp_path, "a.txt", "x\n\ny\n"), missing="skip")
    with pytest.raises(ValuesError, match="lines 1 to 3: items: some"), chunk.located():
        raise DomainError("items: some are wrong")
    assert "'x'" not in repr(chunk)


texts = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=12)


@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=20),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_a_csv_writer_wrote_comes_back(rows: list[tuple[str, str]], delimiter: str, end: str) -> None:
    sink = io.StringIO(newline="")
    out = csv.writer(sink, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    out.writerows([("other", "site"), *rows])
    stream = io.BytesIO(sink.getvalue().encode())
    assert read(stream, format="csv", column="site", delimiter=delimiter) == [site for _, site in rows]


anything = st.text(st.characters(blacklist_categories=("Cs",)), max_size=9)


@given(st.lists(st.tuples(texts, anything), min_size=1, max_size=20), st.booleans())
def test_what_json_dumps_wrote_comes_back(rows: list[tuple[str, str]], ascii_only: bool) -> None:
    lines = [json.dumps({"other": other, "site": site}, ensure_ascii=ascii_only) for other, site in rows]
    stream = io.BytesIO("\n".join(lines).encode())
    assert read(stream, format="ndjson", column="site") == [site for _, site in rows]


@given(st.binary(max_size=60), st.sampled_from(["csv", "tsv", "ndjson", "lines"]))
def test_any_bytes_are_read_or_refused(content: bytes, kind: str) -> None:
    told = "standard input, line"
    try:
        read(io.BytesIO(content), format=kind)
    except PlausiblyError as error:
        told = str(error)
    assert told.startswith("standard input, line")


@pytest.mark.full
def test_memory_does_not_grow_with_the_file_nor_with_a_line(tmp_path: Path) -> None:
    code = """
import resource, sys
from plausibly.files.values import values, ValuesError
try:
    print(sum(len(chunk) for chunk in values(sys.stdin.buffer, format=sys.argv[1])))
except ValuesError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

    def peak(kind: str, piece: bytes, times: int) -> tuple[str, int]:
        process = subprocess.Popen([sys.executable, "-c", code, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None

        def feed() -> None:
            # It need not read on after what it refuses.
            with suppress(BrokenPipeError), process.stdin as stdin:  # type: ignore[union-attr]
                for _ in range(times):
                    stdin.write(piece)

        feeder = threading.Thread(target=feed)
        feeder.start()
        told, kilobytes = process.stdout.read().decode().splitlines()
        feeder.join()
        process.stdout.close()
        process.wait()
        return told, int(kilobytes)

    _, small = peak("lines", b"value\n" * 100_000, 1)
    count, large = peak("lines", b"value\n" * 1_000_000, 4)
    assert count == "4000000"
    assert large < small + 60_000
    for kind in ("lines", "csv", "ndjson"):
        told, large = peak(kind, b"x" * 1_000_000, 400)
        assert "line 1: the line has more than" in told
        assert large < small + 100_000


def test_a_line_of_more_lists_than_any_table_has_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    # Empty lists take fifty times the memory of their text.
    (tmp_path / "a.ndjson").write_text('{"a":"x","b":[' + "[]," * 2**20 + "[]]}\n", encoding="utf-8")
    with pytest.raises(ValuesError, match="not JSON; expected one complete object per line"):
        read(tmp_path / "a.ndjson", column="a")
