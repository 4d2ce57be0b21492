"""Replies of workers in Arrow batches: cut into pieces, joined again, and combined."""

from __future__ import annotations

import operator
import random
from itertools import chain

import pyarrow
import pytest

from plausibly.engines import batches
from plausibly.engines.batches import Piece, combine_batches, replies_in, run_batches, run_on_batches
from plausibly.engines.workers import Wave, pack_job, pack_task

JOB = pack_job(sum, operator.add)


def ids(*numbers: int) -> list[pyarrow.RecordBatch]:
    return [pyarrow.record_batch({"id": pyarrow.array(numbers, "int64")})]


def test_each_part_runs_its_share_of_the_tasks() -> None:
    tasks = [pack_task(number, [number]) for number in range(5)]
    wave = Wave(range(5))
    replies = replies_in(run_batches(JOB, tasks, 2, ids(0, 1)))
    assert [wave.state(reply) for reply in replies] == [0 + 2 + 4, 1 + 3]
    wave.expect_all()


def test_large_replies_travel_in_pieces_that_come_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_MOST", 10)
    tasks = [pack_task(number, [number]) for number in range(3)]
    pieces = list(run_batches(JOB, tasks, 3, ids(0, 1, 2)))
    assert len(pieces) > 10
    assert max(len(piece["content"][0].as_py()) for piece in pieces) == 10
    random.Random(1).shuffle(pieces)
    wave = Wave(range(3))
    assert sorted(wave.state(reply) for reply in replies_in(pieces)) == [0, 1, 2]


def test_a_reply_with_a_missing_piece_is_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_MOST", 10)
    pieces = list(run_batches(JOB, [pack_task(0, [7])], 1, ids(0)))
    assert replies_in(pieces[1:]) == []


@pytest.mark.parametrize("count", [1, 2, 8, 9, 30])
def test_any_number_of_replies_becomes_one(count: int) -> None:
    tasks = [pack_task(number, [number]) for number in range(count)]
    table = list(run_batches(JOB, tasks, count, ids(*range(count))))
    combined = list(combine_batches(JOB, 1, table))
    assert [Piece(*(column[0].as_py() for column in batch.columns)).reply for batch in combined] == [0]
    wave = Wave(range(count))
    assert [wave.state(reply) for reply in replies_in(combined)] == [sum(range(count))]
    wave.expect_all()


def test_a_worker_without_replies_has_none_to_combine() -> None:
    assert list(combine_batches(JOB, 4, [])) == []


def test_rows_that_are_on_the_worker_are_a_task() -> None:
    job = pack_job(_numbered, operator.add)
    replies = chain.from_iterable(run_on_batches(job, part, ids(part, 10)) for part in (3, 5))
    wave = Wave()
    assert [wave.state(reply) for reply in replies_in(replies)] == [[(3, [3, 10])], [(5, [5, 10])]]


def _numbered(given: tuple[int, object]) -> list[tuple[int, list[int]]]:
    part, arrays = given
    return [(part, [number for array in arrays for number in array.to_pylist()])]  # type: ignore[attr-defined]
