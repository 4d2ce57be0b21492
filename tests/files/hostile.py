"""Files that are small and ask for gigabytes, and a child process that reads them with little memory.

``python hostile.py`` reads lines of JSON, [reader, file, megabytes], and answers each with how it ended.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import struct
import sys
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

import plausibly
from plausibly import PlausiblyError
from plausibly.engines import collect
from plausibly.files import Collected, Key, ReportFile, reports, values, write_reports

SMALL = plausibly.make("DE", epsilon=1, domain_size=11)
HUGE = 1_900_000_000
_BLOCK = 1 << 17


# --- bytes -----------------------------------------------------------------------------------------------------------


def varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def zigzag(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def zeros(size: int) -> bytes:
    """A Zstandard frame of ``size`` zeros: blocks of one repeated byte, 4 bytes for 128 KiB."""
    blocks, left = [], size
    while left:
        length = min(left, _BLOCK)
        left -= length
        blocks.append(struct.pack("<I", (not left) | 1 << 1 | length << 3)[:3] + b"\0")
    return b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", size) + b"".join(blocks)


def page(body: bytes, size: int, count: int, *, kind: int = 0, encoding: int = 0) -> bytes:
    """A page of values, or a dictionary (kind 2), whatever the body holds."""
    own = b"\x15" + zigzag(count) + b"\x15" + zigzag(encoding)
    own = b"\x2c" + own + b"\x15\x06\x15\x06\x00" if kind == 0 else b"\x4c" + own + b"\x00"
    return b"\x15" + zigzag(kind) + b"\x15" + zigzag(size) + b"\x15" + zigzag(len(body)) + own + b"\x00" + body


def resealed(content: bytes, change: Callable[[bytes], bytes], *, pages: bytes | None = None) -> bytes:
    """A report file with changed metadata, and with other pages, and with a checksum that fits: nobody needs a key."""
    (length,) = struct.unpack("<I", content[-8:-4])
    start = len(content) - 8 - length
    before = content[:start] if pages is None else b"PAR1" + pages
    footer = change(content[start:-8])
    place, _ = reports._seal_of(footer)
    if place is not None:
        seal = reports._checksum(footer, place, len(before), None).encode()
        footer = footer[:place] + seal + footer[place + 64 :]
    return before + footer + struct.pack("<I4s", len(footer), b"PAR1")


def replaced(footer: bytes, old: bytes, new: bytes) -> bytes:
    assert footer.count(old) == 1, (old, footer)
    return footer.replace(old, new)


# --- files of reports ------------------------------------------------------------------------------------------------


def of_pages(folder: Path, pages: bytes, *, count: int = 25, codec: int = 6) -> bytes:
    """A file of ``count`` reports in one row group that has these pages."""
    path = folder / "pattern"
    path.unlink(missing_ok=True)
    write_reports(path, SMALL, SMALL.tag(SMALL.privatize([1] * count)))
    column = parquet.read_metadata(path).row_group(0).column(0)
    old = b"\x15\x0c\x16" + zigzag(count) + b"\x16" + zigzag(column.total_uncompressed_size)
    old += b"\x16" + zigzag(column.total_compressed_size)
    new = b"\x15" + zigzag(codec) + b"\x16" + zigzag(count) + b"\x16" + zigzag(len(pages)) + b"\x16"
    content = path.read_bytes()
    path.unlink()
    return resealed(content, lambda footer: replaced(footer, old, new + zigzag(len(pages))), pages=pages)


def many_columns(footer: bytes) -> bytes:
    """Metadata whose row group claims a million columns."""
    return replaced(footer, b"\x19\x1c&\x00\x1c\x15\x0e", b"\x19\xfc" + varint(10**6) + b"&\x00\x1c\x15\x0e")


def report_bombs(folder: Path) -> dict[str, bytes]:
    plain = of_pages(folder, page(bytes(25), 25, 25), codec=0)
    large = zeros(HUGE)
    return {
        "page.parquet": of_pages(folder, page(large, HUGE, 25)),
        "frame.parquet": of_pages(folder, page(large, 25, 25)),
        "pages.parquet": of_pages(folder, page(zeros(10**8), 10**8, 1) * 25),
        "columns.parquet": resealed(plain, many_columns),
    }


# --- files of values -------------------------------------------------------------------------------------------------


def table(column: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table({"site": column}), sink, **options)
    return sink.getvalue()


MEGABYTE = b"x" * (1 << 20)


def value_bombs() -> dict[str, bytes]:
    large = page(zeros(HUGE), HUGE, 1)
    entry = struct.pack("<I", len(MEGABYTE)) + MEGABYTE
    packed = pyarrow.Codec("zstd").compress(entry, asbytes=True)
    # Prefixes of 0 and 1 MiB as deltas of no bits, then an empty suffix for all but the first value.
    count = 2000
    deltas = _constant(0, len(MEGABYTE), count) + _constant(len(MEGABYTE), 0, count) + MEGABYTE
    grown = pyarrow.Codec("zstd").compress(deltas, asbytes=True)
    return {
        "page.parquet": of_column(large, 1),
        "columns.parquet": of_column(page(packed, len(entry), 1), 1, columns=10**6),
        "repeated.parquet": table(
            pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 4000, pyarrow.int32()), [MEGABYTE.decode()])
        ),
        "long.parquet": of_column(page(packed, len(entry), 1) * count, count),
        "deltas.parquet": of_column(page(grown, len(deltas), count, encoding=7), count),
    }


def _constant(first: int, rest: int, count: int) -> bytes:
    """Integers in DELTA_BINARY_PACKED: one, and then always the same other one."""
    block = 128
    made = varint(block) + varint(4) + varint(count) + zigzag(first)
    deltas = [rest - first] + [0] * (count - 2)
    for place in range(0, len(deltas), block):
        part = deltas[place : place + block]
        least = min(part)
        quarters = [[each - least for each in part[first : first + 32]] for first in range(0, block, 32)]
        widths = [max(quarter, default=0).bit_length() for quarter in quarters]
        made += zigzag(least) + bytes(widths)
        for width, quarter in zip(widths, quarters, strict=True):
            bits = sum(each << (width * number) for number, each in enumerate(quarter))
            made += bits.to_bytes(4 * width, "little")
    return made


def of_column(pages: bytes, count: int, *, columns: int | None = None) -> bytes:
    """A file of ``count`` texts in one row group that has these pages, or claims ``columns`` columns."""
    schema = pyarrow.schema([pyarrow.field("site", pyarrow.string(), nullable=False)])
    sink = io.BytesIO()
    given = pyarrow.table({"site": ["x"] * count}, schema=schema)
    options: dict[str, Any] = {"use_dictionary": False, "compression": "zstd", "write_statistics": False}
    parquet.write_table(given, sink, store_schema=False, **options)
    plain = sink.getvalue()
    column = parquet.read_metadata(sink).row_group(0).column(0)
    (length,) = struct.unpack("<I", plain[-8:-4])
    footer = plain[-8 - length : -8]
    sizes = b"\x16" + zigzag(column.total_uncompressed_size) + b"\x16" + zigzag(column.total_compressed_size)
    footer = replaced(footer, sizes, 2 * (b"\x16" + zigzag(len(pages))))
    if columns is not None:
        footer = replaced(footer, b"\x19\x1c\x19\x1c", b"\x19\x1c\x19\xfc" + varint(columns))
    return b"PAR1" + pages + footer + struct.pack("<I4s", len(footer), b"PAR1")


def text_bombs() -> dict[str, bytes]:
    lines = b"\n" * (1 << 20)
    many = gzip.compress(lines, 1) * 8
    line = b"x" * (1 << 20)
    return {
        "lines.txt.gz": gzip.compress(b"x\n") + many + gzip.compress(b"x\n"),
        "rows.csv.gz": gzip.compress(b"site\nx\n") + many + gzip.compress(b"x\n"),
        "line.txt.gz": gzip.compress(line, 1) * 200,
        "quote.csv.gz": gzip.compress(b'site\n"') + gzip.compress(line[:-1] + b"\n", 1) * 200,
        "fields.csv.gz": gzip.compress(b"xy," * ((1 << 24) // 3) + b"\n"),
        "lists.ndjson.gz": gzip.compress(b"[" + b"[]," * ((1 << 24) // 3 - 1) + b"[]]\n"),
    }


# --- tallies ---------------------------------------------------------------------------------------------------------


def tally(head: bytes, blob: bytes, *, said: tuple[int, int] | None = None) -> bytes:
    lengths = (len(head), len(blob)) if said is None else said
    start = struct.pack("<3sBIQ", b"PLT", 1, *lengths) + head
    return start + struct.pack("<I", zlib.crc32(start)) + blob


def tally_bombs() -> dict[str, bytes]:
    return {
        "header.tally": tally(b"", b"", said=(2**32 - 1, 2**40)),
        "blob.tally": tally(b"{}", b"", said=(2, 2**62)),
        "lists.tally": tally(b"[" + b"[]," * (1 << 21) + b"[]]", b""),
    }


# --- reading with little memory --------------------------------------------------------------------------------------


def _reports(path: Path) -> int:
    return sum(len(group) for group in ReportFile(path))


def _keyed(path: Path) -> int:
    return sum(len(group) for group in ReportFile(path, key=Key(bytes(16))))


def _arrow(path: Path) -> int:
    return int(parquet.ParquetFile(path, pre_buffer=False).read_row_group(0, use_threads=False).num_rows)


def _values(path: Path) -> int:
    return sum(len(chunk) for chunk in values(path, missing="skip"))


def _arrow_values(path: Path) -> int:
    return sum(len(batch.column(0).to_pylist()) for batch in parquet.ParquetFile(path).iter_batches(1 << 15))


def _tally(path: Path) -> int:
    return len(Collected.read(path))


def _collect(path: Path) -> int:
    return len(collect([path.parent], path.parent / "all.tally", skip_bad=True).tally)


READERS = {
    "reports": _reports,
    "keyed": _keyed,
    "arrow": _arrow,
    "values": _values,
    "arrow values": _arrow_values,
    "tally": _tally,
    "collect": _collect,
}


def _limited(reader: str, path: Path, megabytes: int) -> str:
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + (megabytes << 20),) * 2)
    try:
        return f"read {READERS[reader](path)}"
    except PlausiblyError as error:
        return f"refused {str(error).removeprefix(str(path))}"
    except (MemoryError, OSError, pyarrow.ArrowException) as error:
        return f"failed {type(error).__name__} {error}"
    except BaseException:
        return f"crashed {traceback.format_exc()}"


def _high_water() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def _main() -> None:
    for line in sys.stdin:
        reader, path, megabytes = json.loads(line)
        receive, send = os.pipe()
        child = os.fork()
        if child == 0:
            Path("/proc/self/clear_refs").write_text("5")
            before = _high_water()
            ended = _limited(reader, Path(path), megabytes)
            peak = (_high_water() - before) >> 10
            os.write(send, json.dumps([ended[:500], peak]).encode())
            os._exit(0)
        os.close(send)
        with os.fdopen(receive) as answer:
            told = answer.read()
        os.waitpid(child, 0)
        print(told or '["killed", 0]', flush=True)


if __name__ == "__main__":
    _main()
