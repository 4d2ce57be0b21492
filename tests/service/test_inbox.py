"""The inbox: each key counts once, and no damage on the disk goes unnoticed."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from plausibly import PlausiblyError
from plausibly.service.collections import Collection
from plausibly.service.inbox import Batch, DamagedInboxError, Inbox, Outcome
from serving import question, records

NEW, REPEATED, CAPPED, CLOSED = Outcome.NEW, Outcome.REPEATED, Outcome.CAPPED, Outcome.CLOSED


def batch(collection: Collection, key: int, values: range) -> Batch:
    return Batch(key.to_bytes(16, "big"), records(collection, values), len(values))


def stored(inbox: Inbox, collection: Collection) -> bytes:
    with inbox.view() as view:
        account = view.account(collection.id)
        assert account is not None
        return b"".join(view.pending(account))


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path / "inbox.db")


def test_a_key_counts_once_in_a_commit_and_afterwards_and_after_a_restart(inbox: Inbox) -> None:
    asked = question()
    assert inbox.create(asked)
    assert not inbox.create(asked)
    one, two = batch(asked, 1, range(3)), batch(asked, 2, range(3, 5))
    assert inbox.commit({asked.id: [two, one, one]}) == {asked.id: [NEW, NEW, REPEATED]}
    assert inbox.commit({asked.id: [two]}) == {asked.id: [REPEATED]}
    inbox.close()
    again = Inbox(inbox.path)
    assert again.commit({asked.id: [one]}) == {asked.id: [REPEATED]}
    assert stored(again, asked) == records(asked, range(5)), "in the order of the keys, not of their arrival"


def test_new_keys_count_beside_known_ones_and_a_commit_of_nothing_leaves_nothing(inbox: Inbox) -> None:
    asked = question()
    inbox.create(asked)
    known, *others = (batch(asked, key, range(key, key + 1)) for key in range(1, 4))
    assert inbox.commit({asked.id: [known]}) == {asked.id: [NEW]}
    assert inbox.commit({asked.id: [others[0], known, others[1]]}) == {asked.id: [NEW, REPEATED, NEW]}
    assert inbox.commit({asked.id: []}) == {asked.id: []}
    assert stored(inbox, asked) == records(asked, range(1, 4))
    with sqlite3.connect(inbox.path) as connection:
        assert connection.execute("SELECT count(*) FROM keys").fetchone() == (3,)
        assert connection.execute("SELECT count(*) FROM pending").fetchone() == (2,)
    connection.close()


def test_no_key_is_beside_its_reports_and_no_column_holds_a_time(inbox: Inbox) -> None:
    asked = question()
    inbox.create(asked)
    inbox.commit({asked.id: [batch(asked, key, range(key, key + 1)) for key in range(100)]})
    with sqlite3.connect(inbox.path) as connection:
        assert connection.execute("SELECT count(*), sum(records) FROM pending").fetchone() == (1, 100)
        columns = {
            name for table in ("collections", "keys", "pending") for _, name, *_ in columns_of(connection, table)
        }
    connection.close()
    assert columns == {
        *("number", "id", "document", "rolled", "filed", "received", "keys", "closed", "crc"),
        *("collection", "key", "reports", "records"),
    }


def columns_of(connection: sqlite3.Connection, table: str) -> list[tuple[int, str]]:
    return connection.execute(f"PRAGMA table_info({table})").fetchall()


def test_the_cap_refuses_whole_batches_and_still_knows_the_old_ones(inbox: Inbox) -> None:
    asked = question(cap=10)
    inbox.create(asked)
    first = batch(asked, 1, range(8))
    assert inbox.commit({asked.id: [first, batch(asked, 2, range(3)), batch(asked, 3, range(2))]}) == {
        asked.id: [NEW, CAPPED, NEW]
    }
    assert inbox.commit({asked.id: [first, batch(asked, 4, range(1))]}) == {asked.id: [REPEATED, CAPPED]}


def test_a_closed_collection_has_no_keys_and_accepts_nothing(inbox: Inbox) -> None:
    asked = question()
    inbox.create(asked)
    one = batch(asked, 1, range(3))
    inbox.commit({asked.id: [one]})
    inbox.close_collection(asked.id)
    assert inbox.commit({asked.id: [one]}) == {asked.id: [CLOSED]}
    inbox.close()
    with sqlite3.connect(inbox.path) as connection:
        assert connection.execute("SELECT count(*) FROM keys").fetchone() == (0,)
    connection.close()
    assert stored(Inbox(inbox.path), asked) == records(asked, range(3))


def test_deleting_leaves_nothing_of_the_collection_on_the_disk(inbox: Inbox) -> None:
    asked, other = question("unmistakable name"), question("other")
    for each in (asked, other):
        inbox.create(each)
        inbox.commit({each.id: [batch(each, 0xFEEDC0DE << 64, range(1000))]})
    assert b"unmistakable" in content_of(inbox.path)
    inbox.delete(asked.id)
    inbox.truncate_log()
    assert b"unmistakable" not in content_of(inbox.path)
    assert asked.id.encode() not in content_of(inbox.path)
    assert stored(inbox, other) == records(other, range(1000))


def content_of(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE pending SET reports = zeroblob(length(reports))",
        "UPDATE pending SET records = records + 1",
        "UPDATE pending SET collection = 9",
        "DELETE FROM pending WHERE number = 2",
        "UPDATE collections SET received = received + 1",
        "UPDATE collections SET rolled = 1",
        "UPDATE collections SET closed = 1",
        "UPDATE collections SET document = replace(document, 'question', 'Question')",
        "UPDATE collections SET id = upper(id)",
        "DELETE FROM keys WHERE key = (SELECT min(key) FROM keys)",
        "UPDATE keys SET key = zeroblob(16) WHERE key = (SELECT min(key) FROM keys)",
        "DELETE FROM collections",
        "DROP TABLE keys",
        "CREATE TABLE more(x)",
        "PRAGMA user_version = 2",
    ],
)
def test_every_change_to_a_row_is_noticed(inbox: Inbox, statement: str) -> None:
    asked = question()
    inbox.create(asked)
    for key in (1, 2, 3):
        inbox.commit({asked.id: [batch(asked, key, range(key))]})
    inbox.close()
    with sqlite3.connect(inbox.path) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(DamagedInboxError, match=r"inbox\.db: "):
        stored(Inbox(inbox.path), asked)


def test_an_inbox_without_content_is_not_taken_for_a_new_one(inbox: Inbox) -> None:
    inbox.create(question())
    inbox.close()
    inbox.path.write_bytes(b"")
    with pytest.raises(DamagedInboxError, match="expected an inbox of version 1, got another file"):
        Inbox(inbox.path)
    inbox.path.unlink()
    (inbox.path.parent / question().id).mkdir()
    with pytest.raises(DamagedInboxError, match="missing, although the folder has collections; restore a backup"):
        Inbox(inbox.path)
    assert not inbox.path.exists()


def test_an_inbox_that_was_not_finished_is_made_again(tmp_path: Path) -> None:
    (tmp_path / ".inbox.db.tmp").write_bytes(b"half of it")
    (tmp_path / ".inbox.db.tmp-journal").write_bytes(b"and how to undo it")
    made = Inbox(tmp_path / "inbox.db")
    assert made.create(question())
    made.close()
    assert [path.name for path in tmp_path.iterdir()] == ["inbox.db"]


@pytest.mark.parametrize(("flips", "cuts"), [(300, 100), pytest.param(8000, 2000, marks=pytest.mark.slow)])
def test_flipped_bits_and_cuts_never_change_a_count(inbox: Inbox, tmp_path: Path, flips: int, cuts: int) -> None:
    asked, other = question(), question("other")
    expected = {}
    for each in (asked, other):
        inbox.create(each)
        batches = [batch(each, key * 7919 << 90 | key, range(5 * key, 5 * key + 5)) for key in range(1, 60)]
        for one in batches:
            inbox.commit({each.id: [one]})
        expected[each.id] = stored(inbox, each), batches
    inbox.roll(other.id, 80, 21 * 5)
    expected[other.id] = stored(inbox, other), expected[other.id][1]
    inbox.close()
    whole, source = inbox.path.read_bytes(), random.Random(21)

    def flip(content: bytearray) -> None:
        at = source.randrange(len(content))
        content[at] ^= 1 << source.randrange(8)

    def cut(content: bytearray) -> None:
        del content[source.randrange(len(content)) :]

    noticed = dict.fromkeys((flip, cut), 0)
    for number, spoil in enumerate([flip] * flips + [cut] * cuts):
        noticed[spoil] += told_or_exact(tmp_path / f"{number}", whole, spoil, expected, [asked, other])
    # A bit of unused space changes nothing; a cut always does.
    assert noticed[cut] == cuts
    assert noticed[flip] > flips // 4


def told_or_exact(
    folder: Path,
    whole: bytes,
    spoil: Callable[[bytearray], None],
    expected: dict[str, tuple[bytes, list[Batch]]],
    collections: list[Collection],
) -> bool:
    """Whether damage was noticed; if it was not, everything is as it was."""
    content = bytearray(whole)
    spoil(content)
    assert content != whole
    folder.mkdir()
    (folder / "inbox.db").write_bytes(content)
    try:
        spoilt = Inbox(folder / "inbox.db")
        for each in collections:
            rows, batches = expected[each.id]
            assert stored(spoilt, each) == rows
            assert set(spoilt.commit({each.id: batches})[each.id]) == {REPEATED}
        spoilt.close()
    except PlausiblyError:
        return True
    finally:
        shutil.rmtree(folder)
    return False
