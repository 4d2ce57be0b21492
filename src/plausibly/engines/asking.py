"""Ask report files about given items, without a tally: for open domains, whose tallies would keep every report."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from ..core.candidates import Candidates, additive_estimator
from ..core.errors import StateError
from ..core.estimates import Estimates
from ..core.laws import Codes
from ..core.scheme import Scheme
from ..core.skipped import left_out
from ..files.authentication import Key
from ..files.openers import Source
from ..files.tallies import Collected
from .blocks import Block, States, blocks_of, merge_blocks
from .folding import Segment, fold_into, merge
from .running import Engine, Progress, Threads, expect_engine
from .sent import Sent
from .survey import Survey, survey

_THREADS = Threads()
_TASK_PAIRS = 1 << 35
"""Maximum number of pairs of a report and an item in a task: some twenty seconds on one core."""


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
    expect_engine(engine)
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
    largest = max((group for file in found.files.values() for group in file.groups), default=1)
    blocks = blocks_of(len(codes), max(1, _TASK_PAIRS // max(1, largest)))
    states = {(a, b): Collected(Candidates(found.scheme, codes[a:b]), skipped=found.skipped) for a, b in blocks}
    most = max(1, _TASK_PAIRS // max(1, blocks[0][1]))
    sent = {block: Sent(found, state, None, most) for block, state in states.items()}
    tasks = [(block, task) for task in sent[blocks[0]].tasks for block in blocks]
    advance, total = progress or (lambda done, total: None), sent[blocks[0]].total
    work = partial(_score, found.scheme, codes, skip_bad=skip_bad, key=key)
    for part in engine.reduce(work, merge_blocks, tasks):
        for block, state in part.items():
            states[block] = merge(states[block], sent[block].checked(state))
        advance(sum(each.done for each in sent.values()) // len(blocks), total)
    if any(each.done < total for each in sent.values()):  # the number of reports in an unreadable file is unknown
        advance(total, total)
    return _joined(found.scheme, codes, [sent[block].complete(states[block]) for block in blocks])


def _score(
    scheme: Scheme, codes: Codes, given: tuple[Block, Sequence[Segment]], *, skip_bad: bool, key: Key | None
) -> States:
    (first, last), segments = given
    return {(first, last): fold_into(Candidates(scheme, codes[first:last]), segments, skip_bad=skip_bad, key=key)}


def _joined(scheme: Scheme, codes: Codes, states: list[Collected]) -> Collected:
    if any((each.files, each.skipped) != (states[0].files, states[0].skipped) for each in states):
        raise StateError("some reports were damaged or repaired while they were read; repeat the call")
    return replace(states[0], tally=Candidates.joined(scheme, codes, (each.tally for each in states)))
