"""Report files: what was written comes back, and whatever was damaged on the way is refused by name."""

from __future__ import annotations

import json
import os
import pickle
import struct
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import plausibly
from cases import in_turn
from contract.entries import every_scheme_as_reports, other_than, reports_of, tally_of
from files.making import SMALL, damage_group, flip, group_size, pages, resealed, small_file, users_reports
from plausibly import ParameterError, ReportError, Scheme, SeededRandom, StateError
from plausibly.core.records import is_simulated
from plausibly.files import DamagedError, ReportFile, UnreachableError, report_writer, write_reports
from plausibly.files.reports import group_reports


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports.parquet"


# --- there and back --------------------------------------------------------------------------------------------------


@every_scheme_as_reports
@in_turn("count", [0, 1, 23])
def test_reports_come_back_as_they_went(
    scheme: Scheme, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_size(monkeypatch, 10)
    path = tmp_path / f"{os.urandom(8).hex()}.parquet"
    reports = users_reports(scheme, count)
    write_reports(path, scheme, reports)
    file = ReportFile(path)
    assert (file.scheme, len(file), file.simulated) == (scheme, count, False)
    assert file.groups == {0: (), 1: (1,), 23: (10, 10, 3)}[count]
    assert b"".join(group.tobytes() for group in file) == reports.tobytes()
    assert tally_of(scheme, *file).to_bytes() == tally_of(scheme, reports).to_bytes()


@in_turn("sizes", [[25], [1] * 25, [10, 10, 5], [9, 2, 0, 14], [24, 1], [0]])
def test_row_groups_do_not_depend_on_the_batches(
    sizes: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_size(monkeypatch, 10)
    path = tmp_path / f"{len(sizes)}-{sizes[0]}.parquet"
    reports = users_reports(SMALL, sum(sizes))
    with report_writer(path, SMALL) as writer:
        first = 0
        for size in sizes:
            writer.write(reports[first : first + size])
            first += size
    file = ReportFile(path)
    assert file.groups == ((10, 10, 5) if first else ())
    assert b"".join(group.tobytes() for group in file) == reports.tobytes()


def test_a_row_group_is_a_few_megabytes() -> None:
    for size in (2, 1024, 10**6, 10**8):
        scheme = plausibly.make("OUE", epsilon=1, domain_size=size)
        assert 1 <= group_reports(scheme) <= 2**20
        assert group_reports(scheme) * scheme.report_dtype.itemsize <= max(2**22, scheme.report_dtype.itemsize)


def test_other_tools_read_one_record_in_each_row(path: Path) -> None:
    reports = small_file(path)
    table = parquet.read_table(path)
    assert table.schema.names == ["report"]
    assert table.schema.field("report").type == pyarrow.binary(1)
    assert b"".join(table.column("report").to_pylist()) == reports.tobytes()
    said = parquet.read_metadata(path).metadata
    assert said[b"plausibly.scheme"].decode() == SMALL.to_json()
    assert said[b"plausibly.fingerprint"].decode() == SMALL.fingerprint()


@in_turn("compression", ["none", "zstd"])
def test_reports_are_read_where_arrow_has_them(compression: str, tmp_path: Path) -> None:
    path = tmp_path / compression
    with report_writer(path, SMALL, compression=compression) as writer:
        writer.write(users_reports(SMALL, 25))
    with ReportFile(path) as file:
        reports = file.read(0)
        assert not reports.flags.owndata
        assert not reports.flags.writeable
    assert reports.tobytes() == users_reports(SMALL, 25).tobytes(), "after the file was closed"


def test_an_unknown_compression_is_refused(path: Path) -> None:
    with pytest.raises(ParameterError, match="did you mean 'zstd'"), report_writer(path, SMALL, compression="zst"):
        pass


def test_copies_have_the_same_identity_and_equal_reports_in_another_file_have_not(tmp_path: Path) -> None:
    for name in "ab":
        small_file(tmp_path / name)
    (tmp_path / "c").write_bytes((tmp_path / "a").read_bytes())
    a, b, c = (ReportFile(tmp_path / name).identity for name in "abc")
    assert a == c != b


def test_a_file_of_the_first_version_is_read() -> None:
    # Written once and never again: reports that somebody has collected must stay readable.
    file = ReportFile(Path(__file__).parents[1] / "vectors" / "reports-1.parquet")
    assert (file.scheme, file.groups, file.simulated) == (SMALL, (7, 7, 3), False)
    assert file.identity == "920f9b7c9bbb3035f4d9fa1d5f2822030f7fa5ddbb9fe4a54493c1b8c85736e6"
    assert b"".join(group.tobytes() for group in file) == bytes([7, 5, 5, 3, 2, 9, 9, 0, 3, 8, 5, 0, 9, 9, 10, 10, 5])


# --- simulations -----------------------------------------------------------------------------------------------------


def test_reports_of_a_seeded_source_mark_their_file(tmp_path: Path) -> None:
    items = list(range(11))
    batches = {
        "seeded": [SMALL.privatize(items, rng=SeededRandom(1))],
        "sliced": [SMALL.privatize(items, rng=SeededRandom(1))[2:]],
        "encoded": [SMALL.privatize_encoded(np.arange(3, dtype=np.uint64), rng=SeededRandom(1))],
        "one of two": [SMALL.privatize(items), SMALL.privatize(items, rng=SeededRandom(1))],
        "one of two, first": [SMALL.privatize(items, rng=SeededRandom(1)), SMALL.privatize(items)],
        "secure": [SMALL.privatize(items)],
        "device": [np.frombuffer(bytes(5), dtype=SMALL.report_dtype)],
    }
    for name, parts in batches.items():
        with report_writer(tmp_path / name, SMALL) as writer:
            for part in parts:
                writer.write(part)
    marked = {name for name in batches if ReportFile(tmp_path / name).simulated}
    assert marked == {"seeded", "sliced", "encoded", "one of two", "one of two, first"}


def test_the_mark_stays_with_reports_that_are_read_and_written_again(tmp_path: Path) -> None:
    write_reports(tmp_path / "a", SMALL, users_reports(SMALL, 5), simulated=True)
    for reports in ReportFile(tmp_path / "a"):
        assert is_simulated(reports)
        write_reports(tmp_path / "b", SMALL, reports)
    assert ReportFile(tmp_path / "b").simulated
    assert "simulated" in repr(ReportFile(tmp_path / "b"))


# --- written whole or not at all -------------------------------------------------------------------------------------


def interrupted(path: Path) -> None:
    with report_writer(path, SMALL) as writer:
        writer.write(users_reports(SMALL, 25))
        raise KeyboardInterrupt


def test_a_block_that_fails_leaves_nothing(path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert list(path.parent.iterdir()) == []


def test_refused_reports_leave_the_others(path: Path) -> None:
    other = other_than(SMALL)
    with report_writer(path, SMALL) as writer:
        writer.write(users_reports(SMALL, 4))
        for wrong in (reports_of(other, 3), b"abc", np.full(3, 11, dtype=np.uint8).view(SMALL.report_dtype)):
            with pytest.raises(ReportError):
                writer.write(wrong)
        writer.write(users_reports(SMALL, 3))
    file = ReportFile(path)
    assert (len(file), file.simulated) == (7, False)


def test_a_file_whose_writing_failed_does_not_appear(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 10)

    def full(self: object, content: object) -> int:
        raise OSError(28, "No space left on device")

    def written() -> None:
        with report_writer(path, SMALL) as writer:
            with monkeypatch.context() as patch:
                patch.setattr("plausibly.files.reports.ReportWriter._flush", full)
                with pytest.raises(OSError, match="No space left"):
                    writer.write(users_reports(SMALL, 25))
            writer.write(users_reports(SMALL, 25))

    with pytest.raises(StateError, match="an earlier write failed"):
        written()
    assert list(path.parent.iterdir()) == []


def test_no_file_is_overwritten(path: Path) -> None:
    small_file(path)
    before = path.read_bytes()
    with pytest.raises(StateError, match="never overwritten"):
        small_file(path)
    fresh = path.with_name("fresh")
    with pytest.raises(StateError, match="never overwritten"), report_writer(fresh, SMALL):
        path.rename(fresh)
    assert fresh.read_bytes() == before
    assert os.listdir(path.parent) == ["fresh"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="there is no folder"):
        small_file(tmp_path / "none" / "a.parquet")
    with pytest.raises(StateError, match="exists already"):
        small_file(tmp_path)


def test_a_closed_writer_refuses_more(path: Path) -> None:
    with report_writer(path, SMALL) as writer:
        pass
    with pytest.raises(StateError, match="not open"):
        writer.write(users_reports(SMALL, 1))


def test_a_forked_copy_of_a_writer_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 10)
    with report_writer(path, SMALL) as writer:
        writer.write(users_reports(SMALL, 15))
        child = os.fork()
        if child == 0:
            try:
                with pytest.raises(StateError, match="not open for writing in this process"):
                    writer.write(users_reports(SMALL, 1))
                writer.finish()
                writer.abandon()
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        writer.write(users_reports(SMALL, 10, seed=2))
    whole = users_reports(SMALL, 15).tobytes() + users_reports(SMALL, 10, seed=2).tobytes()
    assert b"".join(group.tobytes() for group in ReportFile(path)) == whole


def test_a_fork_that_leaves_the_block_publishes_and_removes_nothing(path: Path) -> None:
    child = 0
    try:
        with report_writer(path, SMALL) as writer:
            writer.write(users_reports(SMALL, 15))
            child = os.fork()
            if child:
                assert os.waitpid(child, 0)[1] == 0
                assert not path.exists()
                assert len(os.listdir(path.parent)) == 1
    finally:
        if child == 0:
            os._exit(0)
    assert len(ReportFile(path)) == 15


# --- damage ----------------------------------------------------------------------------------------------------------


def read(path: Path) -> bytes:
    with ReportFile(path) as file:
        return file.scheme.to_json().encode() + b"".join(group.tobytes() for group in file)


def refused(path: Path, wanted: bytes) -> bool:
    """Whether a damaged file is refused by its name; if not, nothing of what is read may differ."""
    try:
        found = read(path)
    except DamagedError as error:
        return str(error).startswith(str(path))
    assert found == wanted
    return False


def flip_each(path: Path, *, page_bits: range, every: int) -> None:
    small_file(path)
    content, wanted = path.read_bytes(), read(path)
    within = {place for group in range(3) for place in range(*pages(path, group))}
    harmless = set()
    for place in range(0, len(content)):
        bits = page_bits if place in within else [place % 8] if place % every == 0 else []
        for bit in bits:
            flip(path, place, bit)
            if not refused(path, wanted):
                harmless.add(place)
            path.write_bytes(content)
    # What can be harmless is how a page is described: before the metadata, and less than half of that.
    (length,) = struct.unpack("<I", content[-8:-4])
    before = range(4, len(content) - 8 - length)
    assert all(place in before for place in harmless)
    assert len(harmless & within) < len(within) / 2


def test_a_flipped_bit_is_refused_or_changes_no_report(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 10)
    flip_each(path, page_bits=range(3, 4), every=61)


@pytest.mark.full
def test_every_flipped_bit_of_a_page_is_refused_or_changes_no_report(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_size(monkeypatch, 10)
    flip_each(path, page_bits=range(8), every=1)


def test_a_file_cut_at_any_length_is_refused(path: Path) -> None:
    small_file(path)
    content = path.read_bytes()
    for length in {*range(0, len(content), 9), *range(12), *range(len(content) - 80, len(content))}:
        path.write_bytes(content[:length])
        with pytest.raises(DamagedError, match=r"reports\.parquet: "):
            ReportFile(path)


def test_bytes_before_between_and_behind_are_refused(path: Path) -> None:
    small_file(path)
    content = path.read_bytes()
    middle = pages(path, 0)[1]
    for longer in (content + b"\0", b"\0" + content, content + content, content[:middle] + b"\0" + content[middle:]):
        path.write_bytes(longer)
        with pytest.raises(DamagedError):
            ReportFile(path)


@in_turn(
    ("place", "reason"),
    [
        (0, "it does not begin and end with PAR1"),
        (-1, "it does not begin and end with PAR1"),
        (-5, "the metadata are cut off"),
        (-40, "the checksum of the metadata does not match"),
        (4, "row group 0: "),
    ],
)
def test_the_message_says_where_the_damage_is(place: int, reason: str, tmp_path: Path) -> None:
    path = tmp_path / f"{place}.parquet"
    small_file(path)
    flip(path, place % path.stat().st_size, bit=6)
    with pytest.raises(DamagedError, match=reason):
        read(path)


def test_a_damaged_row_group_is_named_and_the_others_are_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group_size(monkeypatch, 10)
    reports = small_file(path)
    damage_group(path, 1)
    file = ReportFile(path)
    assert file.read(0).tobytes() + file.read(2).tobytes() == reports[:10].tobytes() + reports[20:].tobytes()
    with pytest.raises(DamagedError, match=r"reports\.parquet, row group 1: ") as caught:
        file.read(1)
    error = caught.value
    assert (error.path, error.group, error.reports) == (str(path), 1, 10)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@in_turn(
    ("old", "new", "reason"),
    [
        (b"plausibly.version\x18\x011", b"plausibly.version\x18\x012", "expected version 1 of the format, got '2'"),
        (b"plausibly.version", b"plausibly.vorsion", "expected version 1 of the format, got None"),
        (b'"scheme":"DE"', b'"scheme":"ED"', "a scheme known here"),
        (b"[[25,", b"[[24,", "the row groups are not those"),
        (b"[[25,", b"[25,[", "a scheme known here"),
        (b"[[25,", b"[[[[[", "a scheme known here"),
        (b"simulated\x18\x05false", b"simulated\x18\x05maybe", "a scheme known here"),
        (b'"size":11', b'"size":12', "a scheme known here|got another"),
    ],
)
def test_metadata_that_do_not_fit_are_refused_even_with_a_good_checksum(
    old: bytes, new: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{os.urandom(8).hex()}.parquet"
    small_file(path)
    path.write_bytes(resealed(path.read_bytes(), old, new))
    with pytest.raises(DamagedError, match=reason):
        ReportFile(path)


@in_turn("groups", ["[[1e400,0]]", "[" * 100_000])
def test_metadata_that_python_chokes_on_are_refused(groups: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink(missing_ok=True)
    with monkeypatch.context() as patched:
        dumps = json.dumps
        patched.setattr(json, "dumps", lambda made, **told: groups if isinstance(made, list) else dumps(made, **told))
        small_file(path)
    with pytest.raises(DamagedError, match="a scheme known here"):
        ReportFile(path)


@pytest.mark.full
def test_a_row_group_that_would_fill_the_memory_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        group_size(patched, 2**21)
        small_file(path, 2**20 + 1)
    with pytest.raises(DamagedError, match="expected row groups of at most 1048576 reports, got a larger one"):
        ReportFile(path)


def test_files_of_others_are_refused(path: Path) -> None:
    parquet.write_table(pyarrow.table({"report": [b"a", b"b"]}), path)
    with pytest.raises(DamagedError, match="a Parquet file, but not of reports"):
        ReportFile(path)
    for content in (b"", b"PAR1", b"PAR1PAR1PAR1", b"name,age\nx,3\n" * 9):
        path.write_bytes(content)
        with pytest.raises(DamagedError):
            ReportFile(path)
    with pytest.raises(UnreachableError, match="No such file"):
        ReportFile(path.with_name("none"))
    with pytest.raises(UnreachableError, match="directory"):
        ReportFile(path.parent)


def test_without_pyarrow_the_message_says_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install pyarrow"):
        small_file(path)
    with pytest.raises(ImportError, match=r"pip install pyarrow"):
        ReportFile(path)
