"""Protection of input files, reports and tallies against being overwritten by a result."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from ..core.errors import ParameterError, StateError
from ..core.words import Setting, Words

_TALLY, _PARQUET, _REPORTS = b"PLT", b"PAR1", (b"plausibly.checksum", b"plausibly.mac")
"""The first bytes of tallies and of Parquet files, and the metadata keys that only report files have."""
_FOOTER = 1 << 20


def refuse_inputs(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse to overwrite an input file. Inputs that do not exist are ignored: a scheme may be given in words."""
    if path.is_file() and any(os.path.exists(given) and given.samefile(path) for given in inputs):
        raise ParameterError(f"{path}: the result would overwrite an input file; choose another name")


def refuse_replacing(path: Path, inputs: Iterable[Path], *, schemes: bool = True) -> None:
    """Refuse to overwrite an input file, a scheme, a file of reports or a tally: those cannot be made again.

    ``schemes=False`` allows to replace a scheme.
    """
    refuse_inputs(path, inputs)
    if not path.is_file():
        return
    with path.open("rb") as file:
        first = file.read(len(_PARQUET))
        file.seek(max(0, path.stat().st_size - _FOOTER))
        last = file.read()
    reports = first == _PARQUET and any(mark in last for mark in _REPORTS)
    scheme = schemes and first.startswith(b"{") and _is_scheme(path.read_bytes())
    if first.startswith(_TALLY) or reports or scheme:
        kind = "reports" if reports else "a scheme" if scheme else "a tally"
        raise ParameterError(f"{path}: the file has {kind}, which cannot be made again; choose another name")


def refuse_changing(path: Path, text: str, *, overwrite: bool) -> None:
    """Refuse to overwrite a file with another text, unless told to. A file that has the text already is no loss."""
    if overwrite or not path.exists() or path.read_bytes() == text.encode():
        return
    fix = Setting("overwrite", True)
    raise StateError(Words(f"{path}: the file exists already; choose another name, or replace it with ", fix))


def _is_scheme(text: bytes) -> bool:
    # A result in JSON names its scheme, too, but is no scheme itself.
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"scheme", "version", "epsilon", "domain"} <= found.keys()
