"""Wire batches and records: exact round trips, and everything else refused."""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trusting
from cases import in_turn
from contract.entries import (
    crowd,
    deterministic,
    every_scheme,
    flips,
    items_of,
    other_than,
    reports_of,
    tally_of,
)
from plausibly import ReportError, Scheme, SeededRandom, decode_reports, encode_reports


@every_scheme
@in_turn("count", [0, 1, 2, 100])
def test_a_batch_comes_back_as_it_went(scheme: Scheme, count: int) -> None:
    reports = reports_of(scheme, count)
    again = decode_reports(scheme, encode_reports(scheme, reports))
    assert again.dtype == scheme.report_dtype
    assert again.tobytes() == reports.tobytes()
    assert tally_of(scheme, again).to_bytes() == tally_of(scheme, reports).to_bytes()


@every_scheme
def test_a_batch_is_a_header_the_records_and_a_checksum(scheme: Scheme) -> None:
    reports = reports_of(scheme, 3)
    blob = encode_reports(scheme, reports)
    magic, fingerprint, count = struct.unpack_from("<4s16sQ", blob)
    assert magic == b"PLB\x01"
    assert scheme.fingerprint().startswith(fingerprint.hex())
    assert count == 3
    assert blob[28:-4] == reports.tobytes()
    assert struct.unpack("<I", blob[-4:])[0] == zlib.crc32(blob[:-4])


@every_scheme
def test_a_batch_cut_at_any_length_is_refused(scheme: Scheme) -> None:
    blob = encode_reports(scheme, reports_of(scheme, 3))
    for length in range(len(blob)):
        with pytest.raises(ReportError):
            decode_reports(scheme, blob[:length])


@every_scheme
def test_every_single_flipped_bit_is_refused(scheme: Scheme) -> None:
    for damaged in flips(encode_reports(scheme, reports_of(scheme, 3))):
        with pytest.raises(ReportError):
            decode_reports(scheme, damaged)


@every_scheme
def test_left_over_bytes_are_refused(scheme: Scheme) -> None:
    blob = encode_reports(scheme, reports_of(scheme, 3))
    for extra in (b"\0", b"\0" * scheme.report_dtype.itemsize, blob):
        with pytest.raises(ReportError):
            decode_reports(scheme, blob + extra)
        # Also where whoever added them mended the checksum.
        body = blob[:-4] + extra
        with pytest.raises(ReportError, match=r"expected .* bytes for 3 reports"):
            decode_reports(scheme, body + struct.pack("<I", zlib.crc32(body)))


@every_scheme
def test_a_batch_of_another_scheme_is_refused(scheme: Scheme) -> None:
    other = other_than(scheme)
    assert other.report_dtype == scheme.report_dtype
    with pytest.raises(ReportError, match=r"expected the same scheme, got another: epsilon is .*, not"):
        decode_reports(scheme, encode_reports(other, reports_of(other, 3)))


@every_scheme
def test_records_out_of_range_are_refused_in_a_batch_with_a_good_checksum(scheme: Scheme) -> None:
    size = scheme.report_dtype.itemsize
    worst = np.frombuffer(b"\xff" * size, dtype=scheme.report_dtype)
    blob = encode_reports(scheme, reports_of(scheme, 1))
    body = blob[:28] + worst.tobytes()
    with pytest.raises(ReportError, match="report 0: expected"):
        decode_reports(scheme, body + struct.pack("<I", zlib.crc32(body)))
    with pytest.raises(ReportError, match="report 0: expected"):
        encode_reports(scheme, worst)


@every_scheme
def test_any_buffer_of_bytes_is_read(scheme: Scheme) -> None:
    blob = encode_reports(scheme, reports_of(scheme, 3))
    for same in (bytearray(blob), memoryview(blob), np.frombuffer(blob, dtype=np.uint8)):
        assert decode_reports(scheme, same).tobytes() == blob[28:-4]  # type: ignore[arg-type]


@every_scheme
@deterministic
@given(noise=st.binary(max_size=80))
def test_arbitrary_bytes_are_refused_with_a_typed_error(scheme: Scheme, noise: bytes) -> None:
    good = encode_reports(scheme, reports_of(scheme, 1))
    for blob in (noise, good[:4] + noise, good[:20] + noise, good[:28] + noise):
        if blob != good:
            with pytest.raises(ReportError):
                decode_reports(scheme, blob)


@every_scheme
def test_every_record_has_one_size_whatever_the_item_and_the_coin(scheme: Scheme) -> None:
    sizes = set()
    for item in items_of(scheme):
        for seed in range(3):
            (report,) = scheme.privatize([item], rng=SeededRandom(seed))
            sizes.add(len(report.tobytes()))
    assert sizes == {scheme.report_dtype.itemsize}
    client = trusting.load(scheme.to_json())
    assert {len(client.privatize(item)) for item in items_of(scheme) for _ in range(3)} == sizes


@every_scheme
def test_a_record_is_packed_and_little_endian(scheme: Scheme) -> None:
    def plain(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
        """The fields that are numbers, those of a record within the record included."""
        for name in dtype.names or ():
            field = dtype[name]
            yield from plain(field) if field.names else [field]

    kinds = list(plain(scheme.report_dtype))
    assert all(kind.base.str[0] in "<|" and kind.base.kind == "u" for kind in kinds)
    assert scheme.report_dtype.itemsize == sum(kind.itemsize for kind in kinds), "no padding"
    assert 0 < scheme.report_bits <= 8 * scheme.report_dtype.itemsize


@every_scheme
def test_reports_survive_slicing_copying_joining_and_pickling(scheme: Scheme) -> None:
    reports = reports_of(scheme, 10)
    wanted = tally_of(scheme, reports).to_bytes()
    assert tally_of(scheme, reports[:4], reports[4:]).to_bytes() == wanted
    assert tally_of(scheme, reports[::2], reports[1::2]).to_bytes() == wanted
    assert tally_of(scheme, np.concatenate([reports[5:], reports[:5]])).to_bytes() == wanted
    assert tally_of(scheme, pickle.loads(pickle.dumps(reports))).to_bytes() == wanted


@every_scheme
def test_reports_of_another_scheme_with_equal_records_are_refused(scheme: Scheme) -> None:
    other = other_than(scheme)
    foreign = reports_of(other, 5)
    tally = tally_of(scheme, reports_of(scheme, 4))
    before = tally.to_bytes()
    for refused in (foreign, foreign[2:], foreign.copy()):
        with pytest.raises(ReportError, match=r"expected those of this scheme, got those of another: epsilon is"):
            tally.add(refused)
        with pytest.raises(ReportError):
            encode_reports(scheme, refused)
    assert tally.to_bytes() == before


@every_scheme
def test_privatizing_nobody_gives_no_reports(scheme: Scheme) -> None:
    reports = scheme.privatize([])
    assert (len(reports), reports.dtype) == (0, scheme.report_dtype)
    assert len(crowd(scheme, 0)) == 0
