"""Tables of replies, which Spark computes when they are collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ...core.errors import StateError
from ..batches import COLUMNS, combine_batches, replies_in
from ..masters import gave_up
from ..pacing import FAN

Refusal = Callable[[str, Exception], StateError]


def merged_replies(rows: Any, job: bytes, replies: int) -> list[bytes]:
    """A few replies: a tree of merges on the cluster of up to this many replies in a table."""
    while replies > FAN:
        replies = -(-replies // FAN)
        rows = rows.repartitionById(replies, rows["reply"] % replies)
        rows = rows.mapInArrow(partial(combine_batches, job, replies), COLUMNS)
    return replies_of(rows)


def replies_of(rows: Any, refusal: Refusal = gave_up) -> list[bytes]:
    """All replies in a table. If Spark cannot compute it, raise the refusal."""
    return replies_in(_collected(rows, refusal).to_batches())


def cores_of(session: Any) -> int:
    """Number of cores of the cluster."""
    # Spark Connect does not say, but a table has as many partitions unless we choose another number.
    return len(_collected(session.range(1 << 16).mapInArrow(_one_row, "id long"), gave_up))


def _one_row(batches: Iterable[Any]) -> Iterator[Any]:
    # All of them are read: Spark ends a worker that leaves some, and the next one imports everything again.
    first, *_ = batches
    yield first[:1]


def _collected(rows: Any, refusal: Refusal) -> Any:
    try:
        return rows.toArrow()
    except Exception as error:  # of Spark, Py4J or gRPC
        raise refusal("Spark", error) from (error if refusal is gave_up else None)
