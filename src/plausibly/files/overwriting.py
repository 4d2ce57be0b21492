"""Protection of input files, reports and tallies against being overwritten by a result."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core.errors import ParameterError

_TALLY, _PARQUET, _REPORTS = b"PLT", b"PAR1", (b"plausibly.checksum", b"plausibly.mac")
"""The first bytes of tallies and of Parquet files, and the metadata keys that only report files have."""
_FOOTER = 1 << 20


def refuse_replacing(path: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse to overwrite an input file, a file of reports or a tally: those cannot be made again."""
    if not path.is_file():
        return
    if any(given is not None and given.exists() and given.samefile(path) for given in inputs):
        raise ParameterError(f"{path}: the result would overwrite an input file; choose another name")
    with path.open("rb") as file:
        first = file.read(len(_PARQUET))
        file.seek(max(0, path.stat().st_size - _FOOTER))
        last = file.read()
    reports = first == _PARQUET and any(mark in last for mark in _REPORTS)
    if first.startswith(_TALLY) or reports:
        kind = "reports" if reports else "a tally"
        raise ParameterError(f"{path}: the file has {kind}, which cannot be made again; choose another name")
