"""The writer: one commit for all that waits, a bad body hurts nobody else, and too many wait elsewhere."""

from __future__ import annotations

import threading

import pytest

from plausibly import encode_reports, make
from plausibly.service.collections import Collection
from plausibly.service.inbox import Inbox, Outcome
from plausibly.service.writer import BUSY, MOST_COMMITTED, Arrival, Replies, Writer
from serving import question, records


def arrival(key: int, body: bytes) -> Arrival:
    return Arrival(question(), key.to_bytes(16, "big"), body)


def written(inbox: Inbox, arrivals: list[Arrival]) -> tuple[Writer, list[Replies]]:
    inbox.create(question())
    commits: list[Replies] = []
    writer = Writer(inbox, commits.append)
    assert all(map(writer.submit, arrivals))
    writer.start()
    writer.stop()
    return writer, commits


def test_everything_that_waits_is_one_commit_and_each_gets_its_own_answer(inbox: Inbox) -> None:
    scheme = question().scheme
    reports = scheme.privatize(range(10))
    other = make("DE", epsilon=2, domain_size=scheme.size)
    whole = encode_reports(scheme, reports)
    bodies = {
        records(question(), range(4)): "",
        whole: "",
        whole[:-1] + bytes([whole[-1] ^ 1]): "the checksum does not fit",
        whole[:-2]: "expected 52 bytes for 10 reports",
        whole + b"ab": "expected 52 bytes for 10 reports",
        encode_reports(other, other.privatize(range(10))): "expected the same scheme",
        b"": "at least one report",
        encode_reports(scheme, reports[:0]): "at least one report",
        b"abc": "records of 2 bytes each, got 3 bytes",
    }
    writer, (replies,) = written(inbox, [arrival(key, body) for key, body in enumerate(bodies)])
    for (_, reply), message in zip(replies, bodies.values(), strict=True):
        assert reply.outcome is (Outcome.REFUSED if message else Outcome.NEW)
        assert message in reply.reason
    assert (writer.counts.commits, writer.counts.reports) == (1, 14)


def test_a_record_out_of_range_is_refused_alone(inbox: Inbox) -> None:
    small = make("DE", epsilon=1, domain_size=10)
    asked = Collection(name="small", scheme=small)
    inbox.create(asked)
    commits: list[Replies] = []
    writer = Writer(inbox, commits.append)
    for key, body in enumerate([b"\x01\x02", b"\x0a", b"\x03"]):
        writer.submit(Arrival(asked, key.to_bytes(16, "big"), body))
    writer.start()
    writer.stop()
    outcomes = [reply.outcome for _, reply in commits[0]]
    assert outcomes == [Outcome.NEW, Outcome.REFUSED, Outcome.NEW]


def test_a_collection_that_is_not_there_is_answered(inbox: Inbox) -> None:
    commits: list[Replies] = []
    writer = Writer(inbox, commits.append)
    writer.submit(arrival(1, records(question(), range(1))))
    writer.start()
    writer.stop()
    assert commits[0][0][1].outcome is Outcome.UNKNOWN


def test_too_many_or_too_large_batches_are_sent_away(inbox: Inbox) -> None:
    body = records(question(), range(10))
    few = Writer(inbox, lambda replies: None, most_waiting=2)
    assert [few.submit(arrival(key, body)) for key in range(3)] == [True, True, False]
    small = Writer(inbox, lambda replies: None, most_bytes=50)
    assert [small.submit(arrival(key, body)) for key in range(3)] == [True, True, False]
    small.stop()
    assert not small.submit(arrival(9, b""))
    assert [each.counts.batches[BUSY] for each in (few, small)] == [1, 2]


def test_a_commit_ends_before_it_has_too_many_reports(inbox: Inbox) -> None:
    inbox.create(question())
    commits: list[Replies] = []
    writer = Writer(inbox, commits.append, most_committed=100)
    sizes = [60, 40, 1, 250, 30, 80, 10, 10]
    for key, size in enumerate(sizes):
        assert writer.submit(arrival(key, records(question(), range(size))))
    writer.start()
    writer.stop()
    found = [[len(arrival.body) // 2 for arrival, _ in replies] for replies in commits]
    assert found == [[60, 40], [1], [250], [30], [80, 10, 10]]
    assert {reply.outcome for replies in commits for _, reply in replies} == {Outcome.NEW}
    assert writer.counts.reports == sum(sizes)


def test_reports_of_one_byte_do_not_make_a_row_that_no_roll_has_memory_for(inbox: Inbox) -> None:
    small = Collection(name="small", scheme=make("DE", epsilon=1, domain_size=10))
    inbox.create(small)
    commits: list[Replies] = []
    writer = Writer(inbox, commits.append)
    for key in range(9):
        assert writer.submit(Arrival(small, key.to_bytes(16, "big"), bytes(MOST_COMMITTED // 4)))
    writer.start()
    writer.stop()
    assert [len(replies) for replies in commits] == [4, 4, 1]
    with inbox.view() as view:
        assert [row[-1] for row in view.rows("pending")] == [MOST_COMMITTED, MOST_COMMITTED, MOST_COMMITTED // 4]
    assert not writer.waiting


def test_jobs_run_on_the_writers_thread_and_their_errors_come_back(inbox: Inbox) -> None:
    writer = Writer(inbox, lambda replies: None)
    writer.start()
    assert writer.run(lambda: threading.current_thread().name).result() == "writer"
    with pytest.raises(ZeroDivisionError):
        writer.run(lambda: 1 // 0).result()
    writer.stop()
    assert writer.run(lambda: 1).cancelled()
