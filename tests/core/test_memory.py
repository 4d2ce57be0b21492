"""Reports that change after they were checked: what was checked is what is used, and nothing outside is touched."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import plausibly
from plausibly import ReportError, Scheme, SeededRandom
from plausibly.core.memory import copied, unshared

RECORDS = np.arange(12, dtype=np.uint8).view([("a", "u1"), ("b", "<u2")])


def mapped(path: Path, records: npt.NDArray[Any]) -> npt.NDArray[Any]:
    records.tofile(path)
    return np.memmap(path, dtype=records.dtype, mode="r+")


def anonymous(records: npt.NDArray[Any]) -> npt.NDArray[Any]:
    shared = mmap.mmap(-1, records.nbytes)
    shared.write(records.tobytes())
    return np.frombuffer(shared, dtype=records.dtype)


def test_memory_of_this_process_is_unshared() -> None:
    content = RECORDS.tobytes()
    for own in (
        RECORDS,
        RECORDS[1:],
        RECORDS["b"],
        np.frombuffer(content, dtype=RECORDS.dtype),
        np.frombuffer(bytearray(content), dtype=RECORDS.dtype),
        np.frombuffer(memoryview(content)[3:], dtype=RECORDS.dtype),
        np.frombuffer(memoryview(RECORDS).cast("B"), dtype=RECORDS.dtype),
    ):
        assert unshared(own)


def test_memory_of_others_is_shared(tmp_path: Path) -> None:
    file = mapped(tmp_path / "reports", RECORDS)
    for foreign in (
        file,
        file[1:],
        np.asarray(file)["b"],
        anonymous(RECORDS),
        np.frombuffer(memoryview(file), dtype=np.uint8),
    ):
        assert not unshared(foreign)


def test_a_copy_is_unshared_and_equal(tmp_path: Path) -> None:
    copy = copied(np.ascontiguousarray(mapped(tmp_path / "reports", RECORDS)))
    assert unshared(copy)
    assert copy.dtype == RECORDS.dtype
    assert copy.tobytes() == RECORDS.tobytes()


SCHEMES = {
    "DE": plausibly.make("DE", epsilon=1, domain_size=300),
    "SS": plausibly.make("SS", epsilon=1, domain_size=21),
    "FLH": plausibly.make("FLH", epsilon=1, domain_size=300, hashes=5),
    "HR": plausibly.make("HR", epsilon=1, domain_size=300),
    "HM": plausibly.make("HM", epsilon=1, domain_size=300),
    "AGR": plausibly.make("AGR", epsilon=1, domain_size=300),
    "AGR with a window": plausibly.make("AGR", epsilon=1, domain_size=300, hash_bits=5, dimension=2, window=3),
    "TLH": plausibly.make("TLH", epsilon=1, domain_size=300),
    "OLH of keys": plausibly.make("OLH", epsilon=1, domain=plausibly.Keys()),
    "CMS": plausibly.CMS(epsilon=1, rows=4, width=16, domain_size=300),
}
each_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
# OLH reports have no number that is an index, and every bitmap and row of SS and HM can be added.
INDEXED = ["DE", "FLH", "HR", "AGR", "AGR with a window", "CMS"]


def reports_of(scheme: Scheme) -> npt.NDArray[np.void]:
    items = [f"{i}" for i in range(60)] if scheme.domain.size is None else np.arange(60) % scheme.size
    return scheme.privatize(items, SeededRandom(5)).view(scheme.report_dtype)


def changing(monkeypatch: pytest.MonkeyPatch, scheme: Scheme, change: Callable[[], None]) -> None:
    """After each check of reports, something changes."""
    kind = type(scheme)
    check = kind.check

    def checked_then_changed(self: Scheme, reports: Any) -> None:
        check(self, reports)
        change()

    monkeypatch.setattr(kind, "check", checked_then_changed)


@each_scheme
def test_a_mapped_file_that_changes_after_the_check_is_counted_as_checked(
    scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = reports_of(scheme)
    expected = scheme.accumulator()
    expected.add(reports)
    file = mapped(tmp_path / "reports", reports)
    changing(monkeypatch, scheme, lambda: file.view(np.uint8).fill(255))
    tally = scheme.accumulator()
    tally.add(file)
    assert tally.to_bytes() == expected.to_bytes()


@each_scheme
def test_a_mapped_file_in_several_parts_is_counted_like_an_array(
    scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = reports_of(scheme)
    monkeypatch.setattr("plausibly.core.scheme._COPIED_BYTES", 7 * scheme.report_dtype.itemsize)
    expected, tally = scheme.accumulator(), scheme.accumulator()
    expected.add(reports)
    tally.add(mapped(tmp_path / "reports", reports))
    assert tally.to_bytes() == expected.to_bytes()


def test_a_wrong_report_in_a_later_part_is_named_by_its_position_and_nothing_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = SCHEMES["DE"]
    reports = reports_of(scheme)
    reports["item"][17] = 300
    monkeypatch.setattr("plausibly.core.scheme._COPIED_BYTES", 7 * scheme.report_dtype.itemsize)
    tally = scheme.accumulator()
    with pytest.raises(ReportError, match="report 17: expected an item below 300"):
        tally.add(mapped(tmp_path / "reports", reports))
    assert len(tally) == 0
    assert not tally.state.any()


@pytest.mark.parametrize("name", INDEXED)
def test_an_array_that_a_thread_changes_after_the_check_is_refused_and_nothing_is_added(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = SCHEMES[name]
    reports = reports_of(scheme)
    empty = scheme.accumulator().to_bytes()
    changing(monkeypatch, scheme, lambda: reports.view(np.uint8).fill(255))
    tally = scheme.accumulator()
    with pytest.raises(ReportError, match="got one that changed; add a copy"):
        tally.add(reports)
    assert tally.to_bytes() == empty


@each_scheme
def test_the_bytes_of_a_batch_are_those_that_were_checked(
    scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = reports_of(scheme)
    expected = plausibly.encode_reports(scheme, reports)
    file = mapped(tmp_path / "reports", reports)
    changing(monkeypatch, scheme, lambda: file.view(np.uint8).fill(255))
    assert plausibly.encode_reports(scheme, file) == expected


def test_what_a_log_keeps_was_checked_after_it_was_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = SCHEMES["OLH of keys"]
    reports = reports_of(scheme)
    expected, tally = scheme.accumulator(), scheme.accumulator()
    expected.add(reports)
    changing(monkeypatch, scheme, lambda: reports.view(np.uint8).fill(255))
    tally.add(reports)
    assert tally.to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("name", ["OUE", "SS", "DE"])
def test_encoded_values_may_lie_at_any_address_and_in_any_memory(name: str, tmp_path: Path) -> None:
    scheme = plausibly.make(name, epsilon=1, domain_size=21)
    values = np.arange(21, dtype=np.uint64)
    expected = scheme.privatize_encoded(values, SeededRandom(3))
    odd = np.frombuffer(b"?" + values.tobytes(), dtype=np.uint64, offset=1)
    for given in (odd, mapped(tmp_path / "values", values), values.astype(np.int64)):
        assert scheme.privatize_encoded(given, SeededRandom(3)).tobytes() == expected.tobytes()
    encoded = scheme.domain.encoded(odd)
    assert encoded.flags.aligned
