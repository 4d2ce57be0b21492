"""The work on workers that take and return Arrow batches, as Spark's do.

Replies travel in rows of a table, cut into pieces: a state may have hundreds of megabytes, and tables limit the size of
a row, of a batch and of a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .workers import combine, run, run_on

COLUMNS = "reply int, place int, pieces int, content binary"
"""The columns of a table of pieces."""
_TYPES = ("int32", "int32", "int32", "binary")
_MOST = 1 << 24
"""Maximum size of a piece in bytes."""
_TOGETHER = 8
"""Number of replies that are combined at once."""


class Piece(NamedTuple):
    """One of the ``pieces`` of a reply, with the number of the reply and the place of the piece in it."""

    reply: int
    place: int
    pieces: int
    content: bytes


def run_batches(job: bytes, tasks: list[bytes], parts: int, batches: Iterable[Any]) -> Iterator[Any]:
    """The replies to tasks, for batches with the numbers of parts: part i is every ``parts``-th task from the i-th."""
    for batch in batches:
        for part in batch.column(0).to_pylist():
            yield from _cut(part, run(job, tasks[part::parts]))


def run_on_batches(job: bytes, part: int, batches: Iterable[Any]) -> Iterator[Any]:
    """The reply to a task that consists of a part's number and its batches."""
    yield from _cut(part, run_on(job, part, (part, (batch.column(0) for batch in batches))))


def combine_batches(job: bytes, replies: int, batches: Iterable[Any]) -> Iterator[Any]:
    """One combined reply for the replies in batches, whose numbers are equal modulo ``replies``."""
    numbers: set[int] = set()
    found: list[bytes] = []
    for number, reply in _join(batches):
        numbers.add(number % replies)
        found.append(reply)
        if len(found) == _TOGETHER:  # bounds the memory
            found = [combine(job, found)]
    for number in numbers:
        yield from _cut(number, combine(job, found))


def replies_in(batches: Iterable[Any]) -> list[bytes]:
    """The replies in batches."""
    return [reply for _, reply in _join(batches)]


def _cut(reply: int, content: bytes) -> Iterator[Any]:
    import pyarrow

    pieces = -(-len(content) // _MOST)
    for place in range(pieces):
        piece = Piece(reply, place, pieces, content[place * _MOST : (place + 1) * _MOST])
        columns = [pyarrow.array([field], kind) for field, kind in zip(piece, _TYPES, strict=True)]
        yield pyarrow.record_batch(columns, names=Piece._fields)


def _join(batches: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    # Each reply with its number, as soon as all its pieces are here. They may come in any order.
    waiting: dict[int, dict[int, bytes]] = {}
    for batch in batches:
        for piece in map(Piece, *(column.to_pylist() for column in batch.columns)):
            found = waiting.setdefault(piece.reply, {})
            found[piece.place] = piece.content
            if len(found) == piece.pieces:
                del waiting[piece.reply]
                yield piece.reply, b"".join(found[place] for place in range(piece.pieces))
