"""Files of values with something wrong in them: a few bytes each, with a secret in every cell that may have one."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SECRET = "qzxwvkj7"
S = SECRET.encode()
OTHER = b"ytrplmgb"


@dataclass(frozen=True)
class Malformed:
    """The name and content of a file, how it is asked for, and what the message must say."""

    name: str
    content: bytes
    told: str
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self.name} {self.content[:60]!r} {self.options}"


def shows_a_secret(text: str) -> bool:
    """Whether four characters in a row of a secret are in a text."""
    secrets = [SECRET, OTHER.decode()]
    return any(secret[i : i + 4] in text for secret in secrets for i in range(len(secret) - 3))


def parquet(**columns: Any) -> bytes:
    """The content of a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _twice() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array([SECRET]), pa.array([SECRET])], names=["site", "site"]), sink)
    return sink.getvalue()


def _not_utf8() -> bytes:
    column = pa.array([S, b"\xff" + S]).view(pa.string())
    return parquet(site=column)


SITE = {"column": "site"}
LINE = b'{"site": "%s"}\n' % S
PACKED = gzip.compress(b"site\n" + S + b"\n" + b"".join(b"%d%s\n" % (i * i, S) for i in range(999)), mtime=0)
DAMAGED = bytearray(parquet(site=[f"{SECRET}{i * i}" for i in range(999)]))
DAMAGED[20:60] = bytes(40)

MALFORMED = [
    # Columns.
    Malformed("a.csv", b"page,day\n%s,1\n" % S, "line 1: expected one column named 'site', got 0 among 2", SITE),
    Malformed("a.csv", b"%s\n%s\n" % (S, OTHER), "line 1: expected one column named 'site', got 0 among 1", SITE),
    Malformed(
        "a.csv",
        b"Site ,day\n%s,1\n" % S,
        "line 1: expected one column named 'site', got 0 among 2; did you mean",
        SITE,
    ),
    Malformed("a.csv", b"%s,%s\n%s,%s\n" % (S, S, S, S), "line 1: expected one column, got 2; choose"),
    Malformed("a.csv", b"site,site\n%s,%s\n" % (S, S), "line 1: expected one column named 'site', got 2", SITE),
    Malformed("a.csv", b"site;day\n%s;1\n" % S, "line 1: one column, but the first line contains ';'"),
    Malformed(
        "a.csv", b"site;day\n%s;1\n" % S, "line 1: expected one column named 'site', got 0 among 1, but the", SITE
    ),
    Malformed("a.csv", b"site\tday\n%s\t1\n" % S, "contains '‹tab›'"),
    Malformed("a.tsv", b"site,day\n%s,1\n" % S, "line 1: one column, but the first line contains ','"),
    Malformed(
        "a.csv", b"%s,%s\n" % (S, S), "line 1: expected one column, got 2; choose one by number", {"header": False}
    ),
    Malformed("a.csv", b"%s,1\n" % S, "line 1: without a header", {"header": False, "column": "3"}),
    Malformed("a.csv", b"%s,1\n" % S, "line 1: without a header", {"header": False, "column": "site"}),
    # Rows.
    Malformed("a.csv", b"site,day\n%s,1\n%s\n" % (S, S), "line 3: expected 2 fields as in", SITE),
    Malformed("a.csv", b'site,day\n"%s\n",1\n%s,1,2\n' % (S, S), "line 4: expected 2 fields as in", SITE),
    Malformed("a.csv", b"site\n%s,%s\n" % (S, S), "line 2: expected 1 field as in the first line, got 2"),
    Malformed("a.csv", b'site\n%s\n"%s\n%s\n' % (S, S, S), "line 3: a quotation mark is never closed"),
    Malformed("a.csv", b'site\n%s\n"%s"%s\n' % (S, S, S), "line 3: not CSV: a misplaced quotation mark"),
    Malformed("a.csv", b'site\n%s\n"%s\n%s\n"%s\n' % (S, S, S, S), "line 3: not CSV: a misplaced quotation mark"),
    Malformed("a.csv", b"site\r%s\r%s\r" % (S, S), "line 1: not CSV: the line contains a carriage return"),
    Malformed("a.csv", b"site\n%s\n%s\r%s\n" % (S, S, S), "line 3: not CSV: the line contains a carriage return"),
    Malformed("a.txt", b"%s\r%s\r" % (S, S), "line 1: the line contains a carriage return"),
    # Bytes.
    Malformed("a.csv", b"", "line 1: expected values, got an empty file"),
    Malformed("a.txt", b"", "line 1: expected values, got an empty file"),
    Malformed("a.ndjson", b"", "line 1: expected values, got an empty file"),
    Malformed("a.csv", b"\n%s\n" % S, "line 1: expected the names of the columns"),
    Malformed("a.csv", b"\xef\xbb\xbf", "line 1: expected the names of the columns"),
    Malformed("a.csv", b"site\n", "line 2: expected values, got the end"),
    Malformed("a.csv", b"site", "line 2: expected values, got the end"),
    Malformed("a.csv", b"site,day\n\n\n", "line 2: expected values, got the end", SITE),
    Malformed("a.txt", b"\n\n", "expected values, got the end"),
    Malformed("a.csv", b"site\n%s\n\xff%s\n" % (S, S), "line 3: expected text in UTF-8"),
    Malformed("a.csv", "site\nMünchen-".encode("latin-1") + S + b"\n", "line 2: expected text in UTF-8"),
    Malformed("a.csv", b"site\n%s\n%s\0\n" % (S, S), "line 3: expected text, got a NUL byte"),
    Malformed("a.csv", f"site\n{SECRET}\n".encode("utf-16"), "line 1: text in UTF-16"),
    Malformed("a.csv", f"site\n{SECRET}\n".encode("utf-16-le"), "line 1: text in UTF-16"),
    Malformed("a.txt", f"{SECRET}\n".encode("utf-16-be"), "line 1: text in UTF-16"),
    Malformed("a.csv", parquet(site=[SECRET]), "line 1: a Parquet file; pass"),
    Malformed("a.csv", b"PK\x03\x04" + S, "line 1: a ZIP archive or a spreadsheet"),
    Malformed("a.csv", b"\x28\xb5\x2f\xfd" + S, "line 1: compressed with zstd"),
    Malformed("a.csv", gzip.compress(PACKED), "line 1: compressed twice"),
    Malformed("a.csv.gz", PACKED[:-40], "the gzip data are cut off or damaged"),
    Malformed("a.csv.gz", PACKED[:-8] + bytes(8), "the gzip data are cut off or damaged"),
    Malformed("a.csv.gz", PACKED + S, "the gzip data are cut off or damaged"),
    Malformed("a.csv", PACKED[:9], "line 1: the gzip data are cut off or damaged"),
    # Values.
    Malformed("a.csv", b"site,day\n%s,1\n,2\n" % S, "line 3: no value", SITE),
    Malformed("a.csv", b'site\n%s\n""\n%s\n' % (S, S), "line 3: no value"),
    Malformed("a.csv", b"site\n%s\n\n\n%s\n" % (S, S), "line 3: no value"),
    Malformed("a.txt", b"%s\n\r\n\n%s\n" % (S, S), "line 2: no value"),
    Malformed(
        "a.csv",
        b"site,day\n,1\n,2\n",
        "line 3: expected values, got the end of the file; all 2 values",
        {"missing": "skip", **SITE},
    ),
    Malformed("a.csv", b"site\n%s\n%s\n" % (S, S * (2**17 + 1)), "line 3: a field has more than 1,048,576"),
    Malformed("a.txt", b"%s\n%s\n" % (S, S * (2**17 + 1)), "line 2: expected a value of at most 1,048,576"),
    Malformed("a.txt", b"%s\n%s" % (S, S * (2**21 + 2**18)), "line 2: the line has more than 16,777,216 bytes"),
    Malformed("a.csv", b"site\r%s" % (S * (2**21 + 2**18)), "line 1: the line contains a carriage return"),
    Malformed("a.csv", b'site\n%s\n"%s' % (S, (S + b"\n") * 2**18), "line 3: a field has more than"),
    # NDJSON.
    Malformed("a.ndjson", LINE + b'{"page": "%s"}\n' % S, "line 2: no value", SITE),
    Malformed("a.ndjson", LINE + b'{"Site": "%s"}\n' % S, "line 2: no field 'site'; did you mean", SITE),
    Malformed("a.ndjson", LINE + b'{"site": null, "x": "%s"}\n' % S, "line 2: no value", SITE),
    Malformed("a.ndjson", LINE + b'{"site": NaN, "x": "%s"}\n' % S, "line 2: no value", SITE),
    Malformed(
        "a.ndjson", LINE + b'{"site": 777777}\n', "line 2: expected a text as in the rows before, got a number", SITE
    ),
    Malformed("a.ndjson", b"777777\n" + b'"%s"\n' % S, "line 2: expected a number as in the rows before, got a text"),
    Malformed(
        "a.ndjson", LINE + b'{"site": ["%s"]}\n' % S, "line 2: expected a text or a whole number, got a list", SITE
    ),
    Malformed("a.ndjson", LINE + b'{"site": {"%s": 1}}\n' % S, "got an object", SITE),
    Malformed("a.ndjson", LINE + b'{"site": 1.5, "x": "%s"}\n' % S, "line 2: expected a text or a whole number", SITE),
    Malformed("a.ndjson", LINE + b'{"site": true}\n', "got true or false", SITE),
    Malformed("a.ndjson", LINE + b'{"site": "%s", "site": "x"}\n' % S, "line 2: a field occurs twice", SITE),
    Malformed("a.ndjson", LINE + b'{"site": "%s", "\\u0073ite": "x"}\n' % S, "line 2: a field occurs twice", SITE),
    Malformed("a.ndjson", LINE + b'{"site": "\\ud800%s"}\n' % S, "line 2: expected text in UTF-8, got half", SITE),
    Malformed("a.ndjson", LINE + b'{"site": "%s"\n' % S, "line 2: not JSON", SITE),
    Malformed("a.ndjson", LINE + b"%s\n" % S, "line 2: not JSON", SITE),
    Malformed("a.ndjson", LINE + LINE.strip() + LINE, "line 2: not JSON", SITE),
    Malformed("a.ndjson", b"[" * 100_000 + S + b"\n", "line 1: not JSON", SITE),
    Malformed("a.ndjson", b'{"site": %s}\n' % (b"7" * 5000), "line 1: not JSON", SITE),
    Malformed("a.ndjson", b'[{"site": "%s"}]\n' % S, "line 1: expected a JSON object", SITE),
    Malformed("a.ndjson", b'{\n"site": "%s"\n}\n' % S, "line 1: not JSON", SITE),
    Malformed("a.ndjson", b'{"a": "%s", "%s": 1}\n' % (S, S), "line 1: expected one field, got 2; choose"),
    Malformed("a.jsonl", LINE + b'"%s"\n' % S, "line 2: expected a JSON object"),
    # Parquet.
    Malformed("a.parquet", parquet(site=[SECRET, None]), "row 2: no value"),
    Malformed("a.parquet", parquet(a=[SECRET], b=[SECRET]), "expected one column, got 2; choose"),
    Malformed("a.parquet", parquet(**{SECRET: [SECRET]}), "expected one column named 'site', got 0 among 1", SITE),
    Malformed("a.parquet", _twice(), "got 2 among 2", SITE),
    Malformed("a.parquet", parquet(site=[1.5, 777777.0]), "got double; in pandas, use Int64"),
    Malformed("a.parquet", parquet(site=[S]), "got binary"),
    Malformed("a.parquet", parquet(site=[{SECRET: 1}]), "got a nested type"),
    Malformed("a.parquet", parquet(site=[True]), "got bool"),
    Malformed("a.parquet", parquet(site=pa.array([], pa.string())), "row 1: expected values, got the end"),
    Malformed("a.parquet", parquet(site=pa.array([None, None])), "row 1: no value"),
    Malformed(
        "a.parquet", parquet(site=[SECRET, SECRET * (2**17 + 1)]), "row 2: expected a value of at most 1,048,576"
    ),
    Malformed("a.parquet", _not_utf8(), "row 2: expected text in UTF-8"),
    Malformed("a.parquet", parquet(site=[SECRET])[:-9], "the metadata of the Parquet file are cut off"),
    Malformed("a.parquet", bytes(DAMAGED), "after row 0: cut off or damaged"),
    Malformed("a.parquet", b"site\n%s\n" % S, "not a Parquet file"),
    Malformed("a.parquet", b"", "not a Parquet file"),
]
