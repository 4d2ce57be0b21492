"""Records and states as schemes check them: types of fields, and refusals of bytes that no client can have sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import device, kernels
from .arrow import arrow_chunks, buffer_of, only_column
from .errors import ReportError, StateError
from .laws import Cells

Reports = npt.NDArray[np.void]
"""An array of records, one for each report."""


def is_simulated(reports: Reports) -> bool:
    """Whether a scheme marked the reports as made with a seeded source; concatenating arrays loses the mark."""
    return "simulated" in (reports.dtype.metadata or ())


def unsigned(count: int) -> str:
    """The smallest little-endian unsigned dtype for a field of records that holds every number below ``count``."""
    return f"<u{device.field_bytes(count)}"


def records_in_column(reports: object, record: np.dtype[np.void]) -> object:
    """The records in a column of bytes, such as that of a report file; anything that is no column unchanged.

    It is a column of pyarrow, Polars or pandas, or a table with one column that speaks Arrow. Columns do not carry the
    mark of simulated reports.
    """
    given = only_column(reports)
    chunks = arrow_chunks(given, "reports", ReportError)
    if chunks is not None:
        parts = [_bytes_of(_decoded(chunk), record.itemsize) for chunk in chunks]
        return (parts[0] if len(parts) == 1 else np.concatenate(parts)).view(record)
    if not hasattr(given, "to_list"):
        return reports
    listed = given.to_list()  # of pandas, with Python objects, or of Polars without pyarrow
    if None in listed:
        raise _missing(record.itemsize)
    if any(type(each) is not bytes or len(each) != record.itemsize for each in listed):
        raise _other_values(record.itemsize)
    return np.frombuffer(b"".join(listed), dtype=record)


def _decoded(array: Any) -> Any:
    # Without a dictionary, and with the bytes in one buffer, which those of a "view" are not.
    kind = str(array.type)
    if kind.startswith("dictionary"):
        return _decoded(array.dictionary_decode())
    return array.cast("large_binary") if kind == "binary_view" else array


def _bytes_of(array: Any, size: int) -> npt.NDArray[np.uint8]:
    kind = str(array.type)
    if kind not in ("binary", "large_binary", f"fixed_size_binary[{size}]"):
        raise _other_values(size)
    if array.null_count:
        raise _missing(size)
    if not len(array):
        return np.zeros(0, dtype=np.uint8)
    if kind.startswith("fixed_size"):
        return np.frombuffer(array.buffers()[1], dtype=np.uint8)[size * array.offset :][: size * len(array)]
    ends = buffer_of(array, 1, np.int32 if kind == "binary" else np.int64, more=1)
    if (np.diff(ends) != size).any():
        raise _other_values(size)
    return np.frombuffer(array.buffers()[2], dtype=np.uint8)[int(ends[0]) : int(ends[-1])]


def _missing(size: int) -> ReportError:
    return ReportError(f"reports: expected a column of records of {size} bytes, got missing values; drop their rows")


def _other_values(size: int) -> ReportError:
    return ReportError(f"reports: expected a column of records of {size} bytes, got other values")


def fields_of(reports: Reports) -> tuple[npt.NDArray[Any], ...]:
    """The fields of the records in order, as writable views."""
    return tuple(reports[name] for name in reports.dtype.names or ())


def refuse_beyond(numbers: npt.NDArray[Any], count: int, expected: str, *, least: int = 0) -> None:
    """Raise if a number in a field of the records is not in [least, count)."""
    if not len(numbers):
        return
    smallest, largest = kernels.extremes(numbers)
    if smallest < least or largest >= count:
        # The positions are computed only if some are wrong.
        wrong: npt.NDArray[np.bool_] = (numbers < least) | (numbers > count - 1)
        refuse_reports(wrong.reshape(len(wrong), -1).max(axis=1), expected)


class RefusedReportsError(ReportError):
    """Some reports of a batch cannot come from the scheme; the message names the first by position."""

    def __init__(self, wrong: npt.NDArray[np.bool_], expected: str) -> None:
        self.wrong, self.expected = wrong, expected
        super().__init__(wrong, expected)

    def __str__(self) -> str:
        first, count = int(np.flatnonzero(self.wrong)[0]), int(self.wrong.sum())
        return f"report {first}: expected {self.expected}, got something else ({count} in all)"


def refuse_reports(wrong: npt.NDArray[np.bool_], expected: str) -> None:
    """Raise if any record of the reports is marked wrong, and name the first by position."""
    if wrong.any():
        raise RefusedReportsError(wrong, expected)


def refuse_cells(wrong: bool) -> None:
    """Refuse a state whose cells were found wrong: no valid records add up to them."""
    if wrong:
        raise StateError("accumulator: expected cells that its reports can make, got others")


def exact_sum(cells: Cells) -> int:
    """The sum of up to 2^32 cells that count records, in two halves, so that forged cells cannot wrap around."""
    return (int((cells >> 32).sum()) << 32) + int((cells & 0xFFFFFFFF).sum(dtype=np.uint64))


def refuse_unless_histogram(cells: Cells, n: int) -> None:
    """Refuse a state unless its cells count each of n records exactly once."""
    refuse_cells(int(cells.min()) < 0 or exact_sum(cells) != n)
