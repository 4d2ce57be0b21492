"""Ask report files about given items, without a tally: for open domains, whose tallies would keep every report."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import partial

from ..core.candidates import Candidates, additive_estimator
from ..core.estimates import Estimates
from ..core.laws import Codes
from ..core.scheme import Scheme
from ..core.skipped import left_out
from ..files.authentication import Key
from ..files.openers import Source
from ..files.tallies import Collected
from .folding import Segment, fold_into, merge
from .running import Engine, Progress, Threads
from .sent import Sent
from .survey import Survey, survey

_THREADS = Threads()
_TASK_PAIRS = 1 << 35
"""Pairs of a report and an item in a task: some twenty seconds on one core, unless a row group has more."""


def ask(
    inputs: Iterable[Source],
    items: object,
    *,
    engine: Engine = _THREADS,
    scheme: Scheme | None = None,
    key: Key | None = None,
    allow_simulated: bool = False,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> Estimates:
    """Unbiased counts of the items, with variances, from report files of a scheme that counts only for given items.

    The tally of such a scheme, as over ``Keys()``, keeps every report. This reads the reports where they are, and needs
    8 bytes for each item; values and variances are those of ``tally.estimate(items)``. Reports of other schemes add up
    to small tallies: use ``collect``.

    ``inputs``, ``engine``, ``key`` and the other arguments are those of ``collect``: each row group counts once, and a
    file with the same content as another one is not counted again. With ``skip_bad``, damaged files and row groups are
    left out, and a warning tells how many. Nothing is written, so an interrupted call starts again.
    """
    found = survey(inputs, scheme, skip_bad=skip_bad, key=key)
    if not allow_simulated:
        found.refuse_simulated()
    state = scored(found, items, engine=engine, key=key, skip_bad=skip_bad, progress=progress)
    if state.skipped:
        warnings.warn(f"left out: {left_out(state.skipped)}", stacklevel=2)
    return state.tally.estimate(items)


def scored(
    found: Survey,
    items: object,
    *,
    engine: Engine = _THREADS,
    key: Key | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> Collected:
    """The scores of the items in all surveyed report files: a state whose ``tally`` can only estimate these items."""
    additive_estimator(found.scheme)  # refuses other schemes before their items
    codes, _ = found.scheme.answers.ask(items)
    state = Collected(Candidates(found.scheme, codes), skipped=found.skipped)
    sent = Sent(found, state, progress, most=max(1, _TASK_PAIRS // max(1, len(codes))))
    for part in sent.parts(engine, partial(_score, found.scheme, codes, skip_bad=skip_bad, key=key)):
        state = merge(state, part)
    return sent.complete(state)


def _score(scheme: Scheme, codes: Codes, segments: Sequence[Segment], *, skip_bad: bool, key: Key | None) -> Collected:
    return fold_into(Candidates(scheme, codes), segments, skip_bad=skip_bad, key=key)
