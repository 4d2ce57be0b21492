"""Tally files: accumulators with their scheme and origin, and every damaged byte refused."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import in_turn
from contract.entries import every_scheme_as_reports, flips, other_than, reports_of, tally_of
from drawn import drawn, thinned
from files.making import SMALL
from plausibly import Scheme, StateError
from plausibly.files import Collected, Skipped, read_tally, write_tally
from plausibly.files.tallies import joined_ranges, ranges_without


def collected(scheme: Scheme = SMALL, count: int = 25) -> Collected:
    files = {"ab" * 32: ((0, 3), (5, 6)), "cd" * 32: ((1, 2),)}
    skipped = (Skipped("a\udcff.parquet", 4, 10, "the checksum does not fit"), Skipped("ü", None, None, "cut off"))
    return Collected(tally_of(scheme, reports_of(scheme, count)), True, files, skipped)


@every_scheme_as_reports
@in_turn("count", [0, 1, 23])
def test_a_tally_comes_back_as_it_went(scheme: Scheme, count: int, tmp_path: Path) -> None:
    tally = tally_of(scheme, reports_of(scheme, count))
    write_tally(tmp_path / "a.tally", tally)
    again = read_tally(tmp_path / "a.tally")
    assert again.scheme == scheme
    assert again.to_bytes() == tally.to_bytes()


def test_where_the_reports_came_from_comes_back_too() -> None:
    before = collected()
    after = Collected.from_bytes(before.to_bytes())
    assert (after.simulated, dict(after.files), after.skipped) == (True, before.files, before.skipped)
    assert after.to_bytes() == before.to_bytes()


def test_the_bytes_are_those_of_the_page() -> None:
    content = collected().to_bytes()
    magic, version, head, blob = struct.unpack_from("<3sBIQ", content)
    assert (magic, version) == (b"PLT", 1)
    said = json.loads(content[16 : 16 + head].decode("utf-8", "surrogateescape"))
    assert list(said) == ["scheme", "fingerprint", "reports", "simulated", "complete", "files", "skipped"]
    assert struct.unpack_from("<I", content, 16 + head)[0] == zlib.crc32(content[: 16 + head])
    assert content[20 + head :] == collected().tally.to_bytes()
    assert len(content) == 20 + head + blob


def test_a_file_of_the_first_version_is_read() -> None:
    found = Collected.read(Path(__file__).parents[1] / "vectors" / "tally-1.tally")
    assert (found.scheme, len(found), found.simulated) == (SMALL, 10, False)
    assert found.files == {"920f9b7c9bbb3035f4d9fa1d5f2822030f7fa5ddbb9fe4a54493c1b8c85736e6": ((0, 1), (2, 3))}
    assert found.skipped == (Skipped("reports-1.parquet", 1, 7, "the checksum does not fit; the bytes are damaged"),)
    assert found.tally.scores().tolist() == [0, 0, 1, 1, 0, 3, 0, 1, 0, 2, 2]


def test_every_flipped_bit_is_refused() -> None:
    for damaged in thinned(flips(Collected(tally_of(SMALL, reports_of(SMALL, 5))).to_bytes())):
        with pytest.raises(StateError):
            Collected.from_bytes(damaged)


def test_every_other_length_is_refused() -> None:
    content = collected().to_bytes()
    for length in range(len(content)):
        with pytest.raises(StateError):
            Collected.from_bytes(content[:length])
    for extra in (b"\0", content):
        with pytest.raises(StateError, match="bytes, got"):
            Collected.from_bytes(content + extra)


def sealed(change: dict[str, Any]) -> bytes:
    """A tally file with another header whose checksum fits."""
    content = collected().to_bytes()
    _, _, length, blob = struct.unpack_from("<3sBIQ", content)
    said = json.loads(content[16 : 16 + length].decode("utf-8", "surrogateescape")) | change
    text = json.dumps({key: value for key, value in said.items() if value is not ...}).encode()
    head = struct.pack("<3sBIQ", b"PLT", 1, len(text), blob) + text
    return head + struct.pack("<I", zlib.crc32(head)) + content[20 + length :]


@in_turn(
    "change",
    [
        *({name: ...} for name in ("scheme", "fingerprint", "simulated", "complete", "files", "skipped")),
        {"scheme": {"scheme": "ED"}},
        {"scheme": json.loads(other_than(SMALL).to_json())},
        {"fingerprint": "00"},
        {"simulated": 1},
        {"complete": None},
        {"files": []},
        {"files": {"a": [[3, 1]]}},
        {"files": {"a": [[0, 2], [1, 3]]}},
        {"files": {"a": [[0, 2], [2, 3]]}},
        {"files": {"a": [[-1, 2]]}},
        {"files": {"a": [[0, 1.5]]}},
        {"files": {"a": 7}},
        {"skipped": [{"file": "a"}]},
    ],
)
def test_headers_that_make_no_sense_are_refused_even_with_a_good_checksum(change: dict[str, Any]) -> None:
    with pytest.raises(StateError):
        Collected.from_bytes(sealed(change))


def test_a_later_version_is_named() -> None:
    content = bytearray(collected().to_bytes())
    content[3] = 3
    with pytest.raises(StateError, match="expected version 1 or 2 of the format, got 3"):
        Collected.from_bytes(bytes(content))


def test_the_message_begins_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tally"
    path.write_bytes(b"")
    with pytest.raises(StateError, match=r"a\.tally: not a tally file"):
        read_tally(path)
    with pytest.raises(StateError, match=r"b\.tally: No such file"):
        read_tally(tmp_path / "b.tally")
    write_tally(path, SMALL.accumulator())
    with pytest.raises(StateError, match=r"a\.tally: expected the given scheme, got another: epsilon is"):
        read_tally(path, scheme=other_than(SMALL))
    assert len(read_tally(path, scheme=SMALL)) == 0


def test_simulations_are_refused_unless_allowed(tmp_path: Path) -> None:
    write_tally(tmp_path / "a", tally_of(SMALL, reports_of(SMALL, 5)), simulated=True)
    with pytest.raises(StateError, match="simulated"):
        read_tally(tmp_path / "a")
    assert len(read_tally(tmp_path / "a", allow_simulated=True)) == 5


def test_an_unfinished_state_is_refused_unless_asked_for(tmp_path: Path) -> None:
    collected().write(tmp_path / "a", complete=False)
    with pytest.raises(StateError, match="not complete: the collection was interrupted"):
        read_tally(tmp_path / "a", allow_simulated=True)
    assert len(Collected.read(tmp_path / "a", complete=False)) == 25


def test_a_tally_file_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write_tally(path, SMALL.accumulator())
    before = path.read_bytes()

    def cut(self: Path, content: bytes) -> None:
        with self.open("wb") as file:
            file.write(content[:40])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", cut)
    with pytest.raises(OSError, match="No space"):
        write_tally(path, tally_of(SMALL, reports_of(SMALL, 5)))
    assert (path.read_bytes(), [entry.name for entry in tmp_path.iterdir()]) == (before, ["a"])


# --- ranges of row groups --------------------------------------------------------------------------------------------

sets = st.sets(st.integers(0, 12))


def ranges(numbers: set[int]) -> Any:
    return joined_ranges((number, number + 1) for number in numbers)


def numbers(found: Any) -> set[int]:
    return {number for first, last in found for number in range(first, last)}


@pytest.mark.full
@drawn(100)
@given(one=sets, other=sets)
def test_ranges_are_sets_of_row_groups(one: set[int], other: set[int]) -> None:
    assert numbers(ranges(one)) == one
    assert ranges_without(ranges(one), ranges(other)) == ranges(one - other)
    if one & other:
        with pytest.raises(StateError, match=f"row group {min(one & other)} of a file would be counted twice"):
            joined_ranges([*ranges(one), *ranges(other)])
    else:
        assert joined_ranges([*ranges(one), *ranges(other)]) == ranges(one | other)


@in_turn(
    ("field", "value"),
    [
        ("reports", 2**60),
        ("reports", "25"),
        ("skipped", [{"file": "a", "group": "x", "reports": "y", "reason": "z"}]),
        ("skipped", [{"file": "a", "group": None, "reports": -1, "reason": "z"}]),
        ("skipped", [{"file": ["a"], "group": None, "reports": None, "reason": "z"}]),
        ("skipped", "nested"),
    ],
)
def test_a_header_that_says_something_else_than_the_rest_is_refused(field: str, value: Any) -> None:
    prefix = struct.Struct("<3sBIQ")
    content = collected().to_bytes()
    magic, version, length, blob = prefix.unpack_from(content)
    said = json.loads(content[prefix.size : prefix.size + length].decode("utf-8", "surrogateescape"))
    text = json.dumps(said | {field: value}).replace('"nested"', "[" * 100_000).encode()
    head = prefix.pack(magic, version, len(text), blob) + text
    with pytest.raises(StateError, match="the header"):
        Collected.from_bytes(head + struct.pack("<I", zlib.crc32(head)) + content[-blob:])


def test_a_header_of_more_lists_than_files_can_have_is_refused_before_it_takes_memory() -> None:
    with pytest.raises(StateError, match="the header does not describe a tally"):
        Collected.from_bytes(sealed({"skipped": [[]] * 2**21}))
