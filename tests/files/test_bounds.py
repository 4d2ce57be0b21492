"""Readers take as much memory as docs/files.md says, whatever a file claims; plain Arrow takes gigabytes."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pyarrow import parquet

from cases import in_turn
from files import hostile
from files.hostile import SMALL, of_pages, page, replaced, resealed, varint, zeros, zigzag
from plausibly import PlausiblyError
from plausibly.core.domain import Column
from plausibly.engines import collect
from plausibly.files import DamagedError, Glue, ReportFile, ValuesError, parquet_column, reports, values, write_reports
from plausibly.files.batches import Batch
from plausibly.files.parquet_footer import FooterError, check_footer
from plausibly.files.parquet_pages import read_page, usual_page
from plausibly.files.sources import Source
from plausibly.files.thrift import BINARY, I32, I64, MOST_SKIPPED, CutOffError, Listed, ThriftError, read_struct

pytestmark = pytest.mark.full

if sys.platform != "linux":
    pytest.skip("memory is limited as Linux does it", allow_module_level=True)

REPORTS, PARQUET, BLOCKS, LINES, TALLY = 64, 512, 128, 640, 256
"""Megabytes, as on the page: of a tally for the header that is tried here, of texts for usual and for longest lines."""
ENOUGH = 512
"""Megabytes that Arrow gets, and that are not enough for it."""


def ended(cases: list[tuple[str, Path, int]]) -> list[str]:
    """How each reader ended with a file and a limit of megabytes."""
    # Arrow's and glibc's own reserves would count as used.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    asked = "\n".join(json.dumps([reader, str(path), most]) for reader, path, most in cases)
    command = [sys.executable, hostile.__file__]
    found = subprocess.run(command, input=asked, env=environment, capture_output=True, text=True, timeout=300)
    told = [json.loads(line)[0] for line in found.stdout.splitlines()]
    assert len(told) == len(cases), found.stderr
    return told


def put(folder: Path, files: dict[str, bytes]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


# --- under a limit ---------------------------------------------------------------------------------------------------


def test_hostile_report_files_are_refused_in_little_memory_and_arrow_needs_much(tmp_path: Path) -> None:
    paths = put(tmp_path / "reports", hostile.report_bombs(tmp_path))
    assert all(path.stat().st_size < 80_000 for path in paths)
    told = ended([("reports", path, REPORTS) for path in paths])
    assert all(each.startswith("refused") for each in told), told
    # The fault is there: the same files end plain Arrow, which has ten times as much.
    by_arrow = ended([("arrow", tmp_path / "reports" / name, ENOUGH) for name in ("page.parquet", "columns.parquet")])
    assert by_arrow[0].startswith("failed ArrowMemoryError")
    assert by_arrow[1].startswith("failed MemoryError") or "memory" in by_arrow[1] or "bad_alloc" in by_arrow[1]


def test_collecting_goes_on_past_hostile_files_in_little_memory(tmp_path: Path) -> None:
    put(tmp_path, hostile.report_bombs(tmp_path))
    write_reports(tmp_path / "good.parquet", SMALL, SMALL.tag(SMALL.privatize([1] * 40)))
    assert ended([("collect", tmp_path / "good.parquet", 256)]) == ["read 40"]


@pytest.mark.full
def test_hostile_values_in_parquet_are_read_or_refused_in_bounded_memory(tmp_path: Path) -> None:
    paths = put(tmp_path, hostile.value_bombs())
    told = ended([("values", path, PARQUET) for path in paths])
    assert [each.split()[0] for each in told] == ["refused", "refused", "read", "read", "read"], told
    assert told[2:] == ["read 4000", "read 2000", "read 2000"]
    by_arrow = ended([("arrow values", path, ENOUGH) for path in paths])
    assert not any(each.startswith(("read", "crashed", "killed")) for each in by_arrow), by_arrow


@pytest.mark.full
def test_hostile_texts_are_read_or_refused_in_bounded_memory(tmp_path: Path) -> None:
    paths = put(tmp_path, hostile.text_bombs())
    assert all(path.stat().st_size < 10**6 for path in paths)
    told = ended(
        [("values", path, LINES if path.name in ("fields.csv.gz", "lists.ndjson.gz") else BLOCKS) for path in paths]
    )
    assert [each.split()[0] for each in told] == ["read", "read", "refused", "refused", "refused", "refused"], told


def test_hostile_tallies_are_refused_in_little_memory(tmp_path: Path) -> None:
    paths = put(tmp_path, hostile.tally_bombs())
    with (tmp_path / "sparse.tally").open("wb") as file:
        file.write(hostile.tally(b"{}", b"", said=(2, 1 << 40)))
        file.truncate(1 << 41)
    paths += [tmp_path / "sparse.tally", Path("/dev/zero")]
    told = ended([("tally", path, TALLY) for path in paths])
    assert all(each.startswith("refused") for each in told), told


# --- what is refused -------------------------------------------------------------------------------------------------

PLAIN = bytes(range(11)) * 2 + bytes(3)


def packed(content: bytes) -> bytes:
    return bytes(hostile.pyarrow.Codec("zstd").compress(content, asbytes=True))


@in_turn(
    ("pages", "codec", "reason"),
    [
        (page(PLAIN, 25, 24), 0, "a page of another size"),
        (page(PLAIN + b"\0", 26, 26), 0, "a page of another size"),
        (page(PLAIN[:24], 24, 24), 0, "expected pages of 25 records, got 24"),
        (page(PLAIN[:24], 24, 24) + page(b"", 0, 0), 0, "a page of another size"),
        (page(PLAIN, 25, 25) + page(PLAIN, 25, 25), 0, "a page of another size"),
        (page(PLAIN, 25, 25) + b"\x15", 0, "expected the header of a page, got other bytes"),
        (page(PLAIN, 25, 25)[:-1], 0, "expected pages that end within their row group"),
        (page(PLAIN, -1, 25), 0, "negative"),
        (page(PLAIN, 25, 25, kind=2), 0, "expected pages of plain values"),
        (page(PLAIN, 25, 25, kind=1), 0, "expected pages of values"),
        (page(PLAIN, 25, 25, encoding=8), 0, "expected pages of plain values"),
        (page(packed(PLAIN), 25, 25), 1, "expected row groups compressed with Zstandard or not at all"),
        (page(packed(PLAIN), 25, 25), 5, "expected row groups compressed with Zstandard or not at all"),
        (page(packed(PLAIN), 25, 25), 99, "expected row groups compressed with Zstandard or not at all"),
        (page(packed(PLAIN + PLAIN), 25, 25), 6, "the pages cannot be read"),
        (page(packed(PLAIN[:20]), 25, 25), 6, "the pages cannot be read"),
        (page(packed(PLAIN) * 2, 25, 25), 6, "the pages cannot be read"),
        (page(zeros(10**6), 25, 25), 6, "the pages cannot be read"),
        (page(PLAIN, 25, 25), 6, "the pages cannot be read"),
        (page(bytes(10**6), 10**6, 25), 0, "expected at most 65,561 bytes of pages for 25 reports, got"),
    ],
)
def test_pages_that_no_writer_of_reports_makes_are_refused(
    pages: bytes, codec: int, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(of_pages(tmp_path, pages, codec=codec))
    with pytest.raises(DamagedError, match=reason):
        ReportFile(path).read(0)


def test_the_usual_header_is_read_as_any_other() -> None:
    numbers = (0, 1, 63, 64, 8191, 8192, 10**6, 2**27 - 1)
    for size in (*numbers, -1, 2**27, 2**31 - 1):
        for packed_size in numbers:
            body = page(bytes(packed_size if packed_size < 9000 else 3), size, packed_size)
            for header in (body, body.replace(b"\x15\x06\x15\x06", b"\x15\x06\x15\x06\x1c\x00", 1)):
                if size < 0:
                    assert usual_page(header, 0) is None
                    continue
                quick = usual_page(header, 0)
                assert quick == read_page(header, 0) or (quick is None and size >= 2**27)
    for other in (page(b"x", 1, 1, kind=2), page(b"x", 1, 1, encoding=3), page(b"x", 1, 1)[:8]):
        assert usual_page(other, 0) is None


def test_pages_of_any_number_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for codec, made in ((0, bytes), (6, packed)):
        content = of_pages(tmp_path, page(made(PLAIN[:9]), 9, 9) + page(made(PLAIN[9:]), 16, 16), codec=codec)
        path.write_bytes(content)
        with pytest.raises(DamagedError, match="the checksum does not match"):  # of other reports
            ReportFile(path).read(0)
        (length,) = struct.unpack("<I", content[-8:-4])
        crc = hostile.zlib.crc32(PLAIN)
        text = content[-8 - length : -8].partition(b"[[25,")[2].partition(b"]]")[0]
        if len(str(crc)) == len(text):
            path.write_bytes(
                resealed(content, lambda footer, text=text, crc=crc: replaced(footer, text, str(crc).encode()))  # type: ignore[misc]
            )
            assert ReportFile(path).read(0).tobytes() == PLAIN


@in_turn(
    ("old", "new"),
    [
        (b"&\x08", b"&\x06"),  # a page before the first
        (b"&\x08", b"&\x7e"),  # and one behind the last
        (b"\x15\x0e\x15\x02\x15\x00", b"\x15\x0e\x15\x04\x15\x00"),  # two bytes a record
        (b"\x15\x0e\x15\x02\x15\x00", b"\x15\x0e\x15\x02\x15\x02"),  # that may be missing
        (b"\x15\x0e\x15\x02\x15\x00", b"\x15\x0c\x15\x02\x15\x00"),  # of any length
        (b"\x19\x18\x06report", b"\x19\x18\x06rebort"),
        (b"\x1c\x15\x0e\x19", b"\x1c\x15\x0c\x19"),
        (b"&\x00\x1c\x15\x0e", b"\x18\x00\x2c\x15\x0e"),  # in another file
    ],
)
def test_metadata_that_no_writer_of_reports_makes_are_refused(old: bytes, new: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    content = of_pages(tmp_path, page(PLAIN, 25, 25), codec=0)
    replaced_once = lambda footer: footer.replace(old, new, 1)  # noqa: E731
    assert resealed(content, replaced_once) != content
    path.write_bytes(resealed(content, replaced_once))
    with pytest.raises(DamagedError):
        ReportFile(path)


def test_bytes_behind_the_metadata_are_refused(tmp_path: Path) -> None:
    content = of_pages(tmp_path, page(PLAIN, 25, 25), codec=0)
    for footer in (lambda footer: footer + b"\0", lambda footer: footer[:-1]):
        (tmp_path / "a.parquet").write_bytes(resealed(content, footer))
        with pytest.raises(DamagedError, match="the metadata cannot be read"):
            ReportFile(tmp_path / "a.parquet")


def test_more_row_groups_or_metadata_than_a_file_may_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    with monkeypatch.context() as patched:
        patched.setattr(reports, "MOST_GROUPS", 2)
        patched.setattr(reports, "_GROUP_REPORTS", 10)
        with pytest.raises(PlausiblyError, match="at most 2 row groups; start another file"):
            write_reports(path, SMALL, SMALL.privatize([1] * 25))
    write_reports(path, SMALL, SMALL.privatize([1] * 25))
    monkeypatch.setattr(reports, "_MOST_FOOTER", 100)
    with pytest.raises(DamagedError, match="expected metadata of at most 100 bytes, got"):
        ReportFile(path)
    path.unlink()
    with pytest.raises(PlausiblyError, match="list fewer labels"):
        write_reports(path, SMALL, SMALL.privatize([1] * 25))


@in_turn(
    "unwanted",
    [
        b"\x11" * 40,  # fields
        b"\x19\xf5" + varint(40) + b"\x02" * 40,  # a list of numbers
        b"\x19\xfc" + varint(10) + b"\x11\x11\x11\x00" * 10,  # structs of fields
        b"\x19\xf9" + varint(10) + b"\x35\x02\x02\x02" * 10,  # lists of lists
    ],
)
def test_what_is_passed_over_in_a_struct_is_counted(unwanted: bytes) -> None:
    struct_of = b"\x15\x0e" + unwanted + b"\x00"
    needed = 40 + (unwanted[0] == 0x19)
    assert read_struct(struct_of, 0, {1: I32}, most_skipped=needed) == ({1: 7}, len(struct_of))
    with pytest.raises(ThriftError, match="too many fields and elements"):
        read_struct(struct_of, 0, {1: I32}, most_skipped=needed - 1)


def test_metadata_that_would_take_long_to_pass_over_are_damaged(tmp_path: Path) -> None:
    content = of_pages(tmp_path, page(PLAIN, 25, 25), codec=0)
    for count, damaged in ((MOST_SKIPPED - 100, False), (MOST_SKIPPED, True)):
        more = b"\x09" + zigzag(1000) + b"\xf3" + varint(count) + bytes(count) + b"\x00"  # field 1000, a list of bytes
        path = tmp_path / f"{count}.parquet"
        path.write_bytes(resealed(content, lambda footer, more=more: footer[:-1] + more))  # type: ignore[misc]
        if damaged:
            with pytest.raises(DamagedError, match="the metadata cannot be read"):
                ReportFile(path)
        else:
            assert len(ReportFile(path)) == 25


# --- every byte of the metadata --------------------------------------------------------------------------------------


def test_whatever_byte_of_the_metadata_is_changed_the_file_is_read_or_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    monkeypatch.setattr(reports, "_GROUP_REPORTS", 10)
    write_reports(path, SMALL, SMALL.tag(SMALL.privatize([1] * 25)))
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    start = len(content) - 8 - length
    for place in range(length):
        flip = (0x01, 0x10, 0x80, 0xFF)[place % 4]
        footer = bytearray(content[start:-8])
        footer[place] ^= flip
        damaged = content[:start] + footer + content[-8:]
        path.write_bytes(damaged)
        with pytest.raises(DamagedError):
            ReportFile(path)
        # With a checksum that fits, numbers that nobody needs may be others; all else is damage.
        path.write_bytes(resealed(damaged, bytes))
        with suppress(DamagedError), ReportFile(path) as file:
            list(file)


def test_metadata_without_texts_are_damaged_and_skipped(tmp_path: Path) -> None:
    # One byte that hides the list of texts ended the command with a traceback.
    content = of_pages(tmp_path, page(PLAIN, 25, 25), codec=0)
    path = tmp_path / "a.parquet"
    path.write_bytes(resealed(content, lambda footer: replaced(footer, b"\x19\x7c\x18\x11", b"\x39\x7c\x18\x11")))
    write_reports(tmp_path / "b.parquet", SMALL, SMALL.tag(SMALL.privatize([1] * 5)))
    found = collect([tmp_path], tmp_path / "x.tally", skip_bad=True)
    assert (found.added, [Path(each.file).name for each in found.skipped]) == (5, ["a.parquet"])


# --- Thrift ----------------------------------------------------------------------------------------------------------


@in_turn(
    ("content", "found"),
    [
        (b"\0", {}),
        (b"\x15\x07\0", {1: -4}),
        (b"\x15\xfe\xff\xff\xff\x0f\0", {1: 2**31 - 1}),
        (b"\x26\x07\0", {2: -4}),
        (b"\x05\x02\x07\0", {1: -4}),
        (b"\x38\x02ab\0", {3: b"ab"}),
        (b"\x49\x25\x02\x04\0", {4: [1, 2]}),
        (b"\x5c\x15\x02\0\0", {5: {1: 1}}),
        (b"\x61\x12\x13\x05\x17" + bytes(8) + b"\x19\x21\x01\x02\x1c\0\0", {}),  # what nobody wants is passed over
    ],
)
def test_structs_are_read(content: bytes, found: dict[int, object]) -> None:
    shape = {1: I32, 2: I64, 3: BINARY, 4: Listed(I32, 3), 5: {1: I32}}
    assert read_struct(b"\xff" + content, 1, shape) == (found, 1 + len(content))


@in_turn(
    ("content", "error"),
    [
        (b"", CutOffError),
        (b"\x15", CutOffError),
        (b"\x15\x80", CutOffError),
        (b"\x15\x02", CutOffError),
        (b"\x67" + bytes(7), CutOffError),
        (b"\x38\x7fab\0", CutOffError),
        (b"\x49\xf5\xff\xff\xff\x0f\0", CutOffError),
        (b"\x15\x80\x80\x80\x80\x80\x01\0", ThriftError),
        (b"\x15\xff\xff\xff\xff\x7f\0", ThriftError),
        (b"\x16\x02\0", ThriftError),
        (b"\x35\x02\0", ThriftError),
        (b"\x49\x45\x02\x02\x02\x02\0", ThriftError),
        (b"\x49\x26\x02\x02\0", ThriftError),
        (b"\x15\x02\x05\x02\x02\0", ThriftError),
        (b"\x15\x02\x05\x01\x02\0", ThriftError),
        (b"\x6b\0\0", ThriftError),
        (b"\x1c" * 40 + bytes(41), ThriftError),
        (b"\x69" + b"\x19" * 40 + b"\x15\0\0", ThriftError),
    ],
)
def test_bytes_that_are_no_struct_are_refused(content: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_struct(content, 0, {1: I32, 3: BINARY, 4: Listed(I32, 3)})


def test_lists_whose_elements_lack_what_they_must_have_are_refused() -> None:
    check_footer(b"\x15\x02\0")
    with pytest.raises(FooterError):
        check_footer(b"\x29\x5c" + bytes(5) + b"\0")
    with pytest.raises(FooterError):
        check_footer(b"\x15\x02\0\0")


# --- users' values ---------------------------------------------------------------------------------------------------


def test_empty_lines_are_counted_in_batches(tmp_path: Path) -> None:
    lines = 70_000
    for name, head in (("a.txt", ""), ("a.csv", "site\n")):
        (tmp_path / name).write_text(f"{head}x\n{chr(10) * lines}x\n")
        found = values(tmp_path / name, missing="skip")
        assert [chunk.places[-1] for chunk in found][-1] == lines + 2 + bool(head)
        assert (found.taken, found.skipped) == (2, lines)
        with pytest.raises(ValuesError, match=f"line {2 + bool(head)}: no value"):
            list(values(tmp_path / name))


@in_turn("options", [{}, {"use_dictionary": False}, {"column_encoding": "DELTA_BYTE_ARRAY", "use_dictionary": False}])
def test_values_of_any_encoding_come_as_they_are(options: dict[str, object], tmp_path: Path) -> None:
    given = [None if number % 7 == 3 else f"site {number % 50}" for number in range(500)]
    for kept in (given, [None] * 5 + ["x"], ["", "é", "日本"]):
        (tmp_path / "a.parquet").write_bytes(hostile.table(kept, row_group_size=110, data_page_size=64, **options))
        found = [value for chunk in values(tmp_path / "a.parquet", missing="skip") for value in chunk.values]
        assert found == [value for value in kept if value is not None]


def test_long_values_that_are_repeated_come_in_small_chunks(tmp_path: Path) -> None:
    word = "x" * (1 << 20)
    column = hostile.pyarrow.DictionaryArray.from_arrays(hostile.pyarrow.array([0] * 40, "int32"), [word])
    (tmp_path / "a.parquet").write_bytes(hostile.table(column))
    sizes = [len(chunk) for chunk in values(tmp_path / "a.parquet")]
    assert (sum(sizes), max(sizes)) == (40, 17)


@in_turn("others", [["y"] * 4000, [f"y{number}" for number in range(4000)]])
def test_long_values_that_are_glued_stay_small(others: list[str], tmp_path: Path) -> None:
    # A few bytes for 80 million characters, which are never in memory at once.
    path, word = tmp_path / "a.parquet", "x" * 20_000
    table = hostile.pyarrow.table({"a": hostile.pyarrow.array([word] * 4000).dictionary_encode(), "b": others})
    parquet.write_table(table, path)
    tracemalloc.start()
    found = list(zip(others, _glued_sizes(path, word), strict=True))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert all(size == len(other) for other, size in found)
    # The glued values of a batch, and the copies of them that a domain makes to read them.
    assert peak < 6 * parquet_column._MOST_TEXT


def _glued_sizes(path: Path, word: str) -> Iterator[int]:
    for chunk in values(path, glue=Glue(("a", "b"))):
        assert sum(map(len, chunk.column.distinct)) < 2 * parquet_column._MOST_TEXT
        for value in chunk.values:
            assert value.startswith(f"{word} y")
            yield len(value) - len(word) - 1


def test_the_rows_of_glued_columns_stay_together_across_pages_and_groups(tmp_path: Path) -> None:
    names, path = [f"name {number % 9}" for number in range(3000)], tmp_path / "a.parquet"
    whole = hostile.pyarrow.table({"a": names, "b": list(range(3000))})
    for options in ({}, {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}):
        parquet.write_table(whole, path, row_group_size=700, data_page_size=64, **options)
        found = [value for chunk in values(path, glue=Glue(("a", "b"), "/")) for value in chunk.values]
        assert found == [f"{name}/{number}" for number, name in enumerate(names)]


def test_glued_columns_of_different_lengths_are_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(hostile.pyarrow.table({"a": ["x", "y"], "b": ["1", "2"]}), path)
    given = parquet_column.parquet_values(Source(path), ["a", "b"], Glue(("a", "b")), binary=False)
    given._columns[0] = list(given._columns[0])  # type: ignore[union-attr, call-overload]
    given._columns[1] = [Batch(range(1, 2), Column(["1"]))]  # type: ignore[union-attr, call-overload]
    with pytest.raises(ValuesError, match="cut off or damaged"):
        list(given)


def test_the_zeros_of_a_frame_are_those_that_zstandard_unpacks() -> None:
    unpack = hostile.pyarrow.Codec("zstd").decompress
    for size in (1, 131_072, 300_000):
        assert unpack(zeros(size), decompressed_size=size, asbytes=True) == bytes(size)
    assert zigzag(-3) == b"\x05"
