"""Merge tally files into a new one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ..core.atomic import locked, sweep_unfinished
from ..core.errors import ParameterError, StateError
from ..core.words import Setting, Words
from ..files.authentication import Key
from ..files.places import exists, same_place, working_path
from ..files.tallies import Collected, SimulatedError
from .folding import merge
from .running import Progress
from .survey import expect_list


def merge_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    allow_simulated: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    key: Key | None = None,
) -> Collected:
    """Merge tally files into a new one, ``output``; the inputs are not changed.

    Refuse different schemes, reports that are in two of the files, simulated reports unless ``allow_simulated``, and
    an existing output unless ``overwrite``. The output must not be one of the inputs: if the call were repeated, their
    reports would be counted twice. With a ``key``, all inputs must have been written with it, and so is the output.
    ``progress`` is called with the number of files merged so far, and their total number.
    """
    expect_list(inputs)
    if not inputs:
        raise ParameterError("expected tally files to merge, got none")
    for place, path in enumerate(inputs):
        if same_place(path, output):
            raise ParameterError(f"{path}: the result would overwrite an input file; choose another name")
        if any(same_place(path, earlier) for earlier in inputs[:place]):
            raise ParameterError(f"{path}: named twice, so its reports would be counted twice; name it once")
    working = working_path(output)
    with locked(working, name=output):
        sweep_unfinished(working)
        if not overwrite and exists(output):
            fix = Setting("overwrite", True)
            raise StateError(Words(f"{output}: the file exists already; choose another name, or replace it with ", fix))
        whole: Collected | None = None
        seen: dict[str, str | Path] = {}
        for done, path in enumerate(inputs, 1):
            part = Collected.read(path, key=key)
            if part.simulated and not allow_simulated:
                raise SimulatedError(path)
            whole = part if whole is None else _merged(whole, part, path, inputs[0])
            _refuse_copy(part, path, seen)
            if progress is not None:
                progress(done, len(inputs))
        assert whole is not None
        whole.write(output, key=key)
        return whole


def _merged(whole: Collected, part: Collected, path: str | Path, first: str | Path) -> Collected:
    if part.scheme != whole.scheme:
        differs = whole.scheme.difference(part.scheme)
        raise StateError(f"{path}: expected the scheme of {first}, got another: {differs}")
    try:
        return merge(whole, part)
    except StateError as error:
        raise StateError(f"{path}: {str(error).removeprefix('merge: ')}") from None


def _refuse_copy(part: Collected, path: str | Path, seen: dict[str, str | Path]) -> None:
    # A tally that was not collected from files lists no row groups, but an exact copy can still be recognised.
    if len(part) and not part.files:
        digest = hashlib.sha256(part.tally.to_bytes()).hexdigest()
        if digest in seen:
            raise StateError(f"{path}: has the same reports as {seen[digest]}; they would be counted twice")
        seen[digest] = path
