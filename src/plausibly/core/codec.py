"""Wire batches: magic and version, 16 bytes of fingerprint, count, records, CRC-32. One header per batch."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from .arguments import as_bytes
from .errors import ReportError
from .scheme import Reports, Scheme, expect_scheme

_MAGIC = b"PLB\x01"
_HEADER = struct.Struct("<4s16sQ")


def encode_reports(scheme: Scheme, reports: object) -> bytes:
    """Encode a batch of this scheme's reports as wire bytes."""
    expect_scheme(scheme)
    accepted = scheme.accept(reports)
    fingerprint = bytes.fromhex(scheme.fingerprint())[:16]
    body = _HEADER.pack(_MAGIC, fingerprint, len(accepted)) + accepted.tobytes()
    return body + struct.pack("<I", zlib.crc32(body))


def decode_reports(scheme: Scheme, blob: bytes) -> Reports:
    """Decode a wire batch to reports. Raises for another scheme, and for truncated, damaged or left-over bytes."""
    return scheme.accept(scheme.tag(np.frombuffer(batch_records(scheme, blob), dtype=scheme.report_dtype).copy()))


def is_batch(blob: bytes) -> bool:
    """Whether the bytes begin as a wire batch does."""
    return blob[: len(_MAGIC)] == _MAGIC


def batch_records(scheme: Scheme, blob: bytes) -> memoryview:
    """The bytes of the records in a wire batch, whose header and checksum fit; the records are not checked."""
    view = as_bytes(blob, ReportError)
    overhead = _HEADER.size + 4
    if len(view) < overhead:
        raise ReportError(f"batch: expected at least {overhead} bytes, got {len(view)}")
    magic, fingerprint, count = _HEADER.unpack_from(view)
    if magic != _MAGIC:
        raise ReportError("batch: these bytes are not a batch of a version known here")
    if fingerprint != bytes.fromhex(scheme.fingerprint())[:16]:
        raise ReportError(f"batch: expected the same scheme, got another: {scheme.misfit(fingerprint.hex())}")
    expected = overhead + count * scheme.report_dtype.itemsize
    if len(view) != expected:
        raise ReportError(f"batch: expected {expected} bytes for {count} reports, got {len(view)}")
    if zlib.crc32(view[:-4]) != struct.unpack("<I", view[-4:])[0]:
        raise ReportError("batch: the checksum does not fit; the bytes are damaged")
    return view[_HEADER.size : -4]
