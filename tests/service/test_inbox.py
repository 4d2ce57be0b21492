"""The inbox: each key counts once, and no damage on the disk goes unnoticed."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from drawn import thinned
from plausibly import PlausiblyError
from plausibly.core.errors import StateError
from plausibly.service import sqlite_inbox
from plausibly.service.collections import Collection
from plausibly.service.inbox import COLUMNS, Batch, DamagedInboxError, FullError, Inbox, Outcome, View
from plausibly.service.sqlite_inbox import SqliteInbox
from plausibly.service.write_ahead_log import log_of
from serving import question, records
from stores import Database, File, Store

NEW, REPEATED, CAPPED, CLOSED = Outcome.NEW, Outcome.REPEATED, Outcome.CAPPED, Outcome.CLOSED


def batch(collection: Collection, key: int, values: range) -> Batch:
    return Batch(key.to_bytes(16, "big"), records(collection, values), len(values))


def stored(inbox: Inbox, collection: Collection) -> bytes:
    with inbox.view() as view:
        account = view.account(collection.id)
        assert account is not None
        return b"".join(view.pending(account))


def test_a_key_counts_once_in_a_commit_and_afterwards_and_after_a_restart(store: Store, inbox: Inbox) -> None:
    asked = question()
    assert inbox.create(asked)
    assert not inbox.create(asked)
    one, two = batch(asked, 1, range(3)), batch(asked, 2, range(3, 5))
    assert inbox.commit({asked.id: [two, one, one]}) == {asked.id: [NEW, NEW, REPEATED]}
    assert inbox.commit({asked.id: [two]}) == {asked.id: [REPEATED]}
    inbox.close()
    again = store.open()
    assert again.commit({asked.id: [one]}) == {asked.id: [REPEATED]}
    assert stored(again, asked) == records(asked, range(5)), "in the order of the keys, not of their arrival"


def test_new_keys_count_beside_known_ones_and_a_commit_of_nothing_leaves_nothing(store: Store, inbox: Inbox) -> None:
    asked = question()
    inbox.create(asked)
    known, *others = (batch(asked, key, range(key, key + 1)) for key in range(1, 4))
    assert inbox.commit({asked.id: [known]}) == {asked.id: [NEW]}
    assert inbox.commit({asked.id: [others[0], known, others[1]]}) == {asked.id: [NEW, REPEATED, NEW]}
    assert inbox.commit({asked.id: []}) == {asked.id: []}
    assert stored(inbox, asked) == records(asked, range(1, 4))
    assert store.execute("SELECT (SELECT count(*) FROM keys), (SELECT count(*) FROM pending)") == [(3, 2)]


def test_no_key_is_beside_its_reports_and_no_column_holds_a_time(store: Store, inbox: Inbox) -> None:
    asked = question()
    inbox.create(asked)
    inbox.commit({asked.id: [batch(asked, key, range(key, key + 1)) for key in range(100)]})
    assert store.execute("SELECT count(*), sum(records) FROM pending") == [(1, 100)]
    if isinstance(store, File):
        kinds = "SELECT t.name, c.name, lower(c.type) FROM sqlite_master t JOIN pragma_table_info(t.name) c "
        found = store.execute(f"{kinds} WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'")
    else:
        kinds = "SELECT table_name, column_name, data_type FROM information_schema.columns"
        found = store.execute(f"{kinds} WHERE table_schema = 'plausibly'")
    assert {(table, column) for table, column, _ in found} == {
        *(("collections", name) for name in ("number", "id", "document", "rolled", "filed", "received")),
        *(("collections", name) for name in ("keys", "closed", "crc")),
        *(("keys", name) for name in ("collection", "key")),
        *(("pending", name) for name in ("number", "collection", "reports", "crc", "records")),
    }
    assert {kind for _, _, kind in found} in ({"integer", "text", "blob"}, {"bigint", "text", "bytea"})


class Asking(SqliteInbox):
    """An inbox that asks which keys are known, and then adds the others statement by statement."""

    def _insert_new(self, connection: object, account: object, entry: object) -> bool:
        return False


def test_commits_in_one_statement_leave_the_same_as_questions_and_answers(tmp_path: Path) -> None:
    for seed in range(12):
        chance = random.Random(seed)
        quick, slow = SqliteInbox(tmp_path / f"{seed}-quick.db"), Asking(tmp_path / f"{seed}-slow.db")
        asked = [question(), question("other", cap=chance.randrange(40, 80))]
        for _ in range(60):
            changed = random_change(chance, asked)
            assert outcome_of(changed, quick) == outcome_of(changed, slow), seed
        contents = [{table: list(view.rows(table)) for table in COLUMNS} for view in views(quick, slow)]
        assert contents[0] == contents[1]
        quick.close()
        slow.close()


def random_change(chance: random.Random, asked: list[Collection]) -> Callable[[Inbox], object]:
    """Something that a collector does with its inbox: mostly a commit, at times with a key that is known."""
    each = chance.choices(asked, weights=(3, 1))[0]
    some = {
        each.id: [batch(each, chance.randrange(400), range(chance.randrange(1, 4))) for _ in range(chance.randrange(4))]
        for each in chance.sample(asked, chance.choice((1, 1, 1, 2)))
    }

    def roll(inbox: Inbox) -> None:
        with inbox.view() as view:
            account = view.account(each.id)
            if account is not None and account.waiting:
                inbox.roll(account, view.last(account), account.waiting)

    others = [
        lambda inbox: inbox.create(each),
        roll,
        lambda inbox: inbox.remove_rolled(each.id, 2),
        lambda inbox: inbox.close_collection(each.id),
        lambda inbox: inbox.delete(each.id, number_of(inbox, each)),
    ]
    done: Callable[[Inbox], object] = chance.choices(
        [lambda inbox: inbox.commit(some), *others], weights=(30, 5, 3, 2, 1, 1)
    )[0]
    return done


def number_of(inbox: Inbox, collection: Collection) -> int:
    with inbox.view() as view:
        account = view.account(collection.id)
        return 0 if account is None else account.number


def outcome_of(change: Callable[[Inbox], object], inbox: Inbox) -> object:
    try:
        return change(inbox)
    except StateError as error:
        return str(error)


def views(*inboxes: Inbox) -> Iterator[View]:
    for inbox in inboxes:
        with inbox.view() as view:
            yield view


def test_new_batches_are_one_statement_until_the_account_changes(tmp_path: Path) -> None:
    inbox, asked = SqliteInbox(tmp_path / "inbox.db"), question()
    inbox.create(asked)
    statements: list[str] = []
    inbox._connection.set_trace_callback(lambda said: statements.append(said.split()[0]))
    begun = []
    for key in range(1, 6):
        if key == 4:
            roll_everything(inbox, asked)
        statements.clear()
        assert inbox.commit({asked.id: [batch(asked, key, range(key))]}) == {asked.id: [NEW]}
        begun.append("BEGIN" in statements)
    assert begun == [True, False, False, True, False]
    inbox.close()


def test_the_log_stays_short_while_reports_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_inbox, "_LONG_LOG", 64)
    inbox, asked = SqliteInbox(tmp_path / "inbox.db"), question()
    inbox.create(asked)
    log = log_of(inbox.path)
    longest = written = 0
    for key in range(400):
        arrived = batch(asked, key, range(10_000))
        inbox.commit({asked.id: [arrived]})
        written += len(arrived.records)
        longest = max(longest, log.stat().st_size)
        if inbox._shortening is not None:
            inbox._shortening.result()
    assert written > 8 * longest
    inbox.close()
    assert number_of_keys(inbox.path) == 400


def test_a_log_that_cannot_be_shortened_fails_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_inbox, "_LONG_LOG", 8)
    inbox, asked = SqliteInbox(tmp_path / "inbox.db"), question()
    inbox.create(asked)
    tried = []

    def full() -> None:
        tried.append(1)
        raise FullError("the disk is full")

    monkeypatch.setattr(inbox, "shorten_log", full)
    for key in range(40):
        assert inbox.commit({asked.id: [batch(asked, key, range(1000))]}) == {asked.id: [NEW]}
        if inbox._shortening is not None:
            assert isinstance(inbox._shortening.exception(), FullError)
    assert len(tried) > 1
    inbox.close()
    assert number_of_keys(inbox.path) == 40


def number_of_keys(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM keys").fetchone()[0])


def test_a_row_with_a_number_that_was_rolled_already_is_never_written(tmp_path: Path) -> None:
    inbox, asked = SqliteInbox(tmp_path / "inbox.db"), question()
    inbox.create(asked)
    for key in range(1, 6):
        inbox.commit({asked.id: [batch(asked, key, range(key))]})
    roll_everything(inbox, asked)
    inbox.commit({asked.id: [batch(asked, 6, range(6))]})
    with sqlite3.connect(inbox.path) as connection:
        connection.execute("DELETE FROM pending")
        connection.execute("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'pending'")
    assert inbox._last is not None, "the statement would be tried"
    with pytest.raises(DamagedInboxError, match="the numbers of its rows were changed"):
        inbox.commit({asked.id: [batch(asked, 7, range(7))]})
    with closing(sqlite3.connect(inbox.path)) as connection:
        assert connection.execute("SELECT count(*) FROM pending").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM keys").fetchone() == (6,)
    inbox.close()


def roll_everything(inbox: Inbox, collection: Collection) -> None:
    with inbox.view() as view:
        account = view.account(collection.id)
        assert account is not None
        inbox.roll(account, view.last(account), account.waiting)


def test_the_cap_refuses_whole_batches_and_still_knows_the_old_ones(inbox: Inbox) -> None:
    asked = question(cap=10)
    inbox.create(asked)
    first = batch(asked, 1, range(8))
    assert inbox.commit({asked.id: [first, batch(asked, 2, range(3)), batch(asked, 3, range(2))]}) == {
        asked.id: [NEW, CAPPED, NEW]
    }
    assert inbox.commit({asked.id: [first, batch(asked, 4, range(1))]}) == {asked.id: [REPEATED, CAPPED]}


def test_a_closed_collection_has_no_keys_and_accepts_nothing(store: Store, inbox: Inbox) -> None:
    asked = question()
    inbox.create(asked)
    one = batch(asked, 1, range(3))
    inbox.commit({asked.id: [one]})
    inbox.close_collection(asked.id)
    assert inbox.commit({asked.id: [one]}) == {asked.id: [CLOSED]}
    inbox.close()
    assert store.execute("SELECT count(*) FROM keys") == [(0,)]
    assert stored(store.open(), asked) == records(asked, range(3))


def test_deleting_leaves_nothing_of_the_collection_on_the_disk(tmp_path: Path) -> None:
    inbox = SqliteInbox(tmp_path / "inbox.db")
    asked, other = question("unmistakable name"), question("other")
    for each in (asked, other):
        inbox.create(each)
        inbox.commit({each.id: [batch(each, 0xFEEDC0DE << 64, range(1000))]})
    assert b"unmistakable" in content_of(inbox.path)
    inbox.delete(asked.id, 1)
    inbox.truncate_log()
    assert b"unmistakable" not in content_of(inbox.path)
    assert asked.id.encode() not in content_of(inbox.path)
    assert stored(inbox, other) == records(other, range(1000))
    inbox.close()


def test_a_collection_that_was_made_again_is_not_the_one_to_delete(inbox: Inbox) -> None:
    asked, other = question(), question("other")
    for each in (asked, other):
        inbox.create(each)
    with inbox.view() as view:
        first, _ = view.accounts()
    inbox.delete(asked.id, first.number)
    inbox.create(asked)
    inbox.commit({asked.id: [batch(asked, 1, range(3))]})
    inbox.delete(asked.id, first.number)
    assert stored(inbox, asked) == records(asked, range(3))


def test_rows_are_removed_once_however_often_they_were_written_to_files(inbox: Inbox) -> None:
    asked = question()
    inbox.create(asked)
    inbox.commit({asked.id: [batch(asked, 1, range(3))]})
    with inbox.view() as view:
        (account,) = view.accounts()
        last = view.last(account)
    inbox.roll(account, last, 3)
    inbox.commit({asked.id: [batch(asked, 2, range(5))]})
    with pytest.raises(StateError, match="another collector has moved these reports"):
        inbox.roll(account, last + 1, 8)
    assert stored(inbox, asked) == records(asked, range(5))


def content_of(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


OTHER_VERSION = "the version is another"
VERSIONS: dict[type[Store], str] = {
    File: "PRAGMA user_version = 2",
    Database: "COMMENT ON SCHEMA plausibly IS 'plausibly inbox 2 other'",
}


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
        "DELETE FROM keys WHERE key = (SELECT key FROM keys ORDER BY key LIMIT 1)",
        "UPDATE keys SET key = zeroblob(16) WHERE key = (SELECT key FROM keys ORDER BY key LIMIT 1)",
        "DELETE FROM collections",
        "DROP TABLE keys",
        "CREATE TABLE more(x INTEGER)",
        OTHER_VERSION,
    ],
)
def test_every_change_to_a_row_is_noticed(store: Store, inbox: Inbox, statement: str) -> None:
    asked = question()
    inbox.create(asked)
    for key in (1, 2, 3):
        inbox.commit({asked.id: [batch(asked, key, range(key))]})
    inbox.close()
    store.execute(VERSIONS[type(store)] if statement is OTHER_VERSION else statement)
    with pytest.raises(DamagedInboxError, match=re.escape(f"{inbox.name}: ")):
        stored(store.open(), asked)


def test_an_inbox_without_content_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    inbox = SqliteInbox(tmp_path / "inbox.db")
    inbox.create(question())
    inbox.close()
    inbox.path.write_bytes(b"")
    with pytest.raises(DamagedInboxError, match="expected an inbox of version 1, got another file"):
        SqliteInbox(inbox.path)
    inbox.path.unlink()
    (tmp_path / question().id).mkdir()
    with pytest.raises(DamagedInboxError, match="missing, although the folder has collections; restore a backup"):
        SqliteInbox(inbox.path)
    assert not inbox.path.exists()


def test_an_inbox_that_was_not_finished_is_made_again(tmp_path: Path) -> None:
    (tmp_path / ".inbox.db.tmp").write_bytes(b"half of it")
    (tmp_path / ".inbox.db.tmp-journal").write_bytes(b"and how to undo it")
    made = SqliteInbox(tmp_path / "inbox.db")
    assert made.create(question())
    made.close()
    assert [path.name for path in tmp_path.iterdir()] == ["inbox.db"]


@pytest.mark.full
@pytest.mark.parametrize(("flips", "cuts"), [(300, 100), pytest.param(8000, 2000, marks=pytest.mark.slow)])
def test_flipped_bits_and_cuts_never_change_a_count(tmp_path: Path, flips: int, cuts: int) -> None:
    inbox = SqliteInbox(tmp_path / "inbox.db")
    asked, other = question(), question("other")
    expected = {}
    for each in (asked, other):
        inbox.create(each)
        batches = [batch(each, key * 7919 << 90 | key, range(5 * key, 5 * key + 5)) for key in range(1, 60)]
        for one in batches:
            inbox.commit({each.id: [one]})
        expected[each.id] = stored(inbox, each), batches
    with inbox.view() as view:
        inbox.roll(view.accounts()[1], 80, 21 * 5)
    expected[other.id] = stored(inbox, other), expected[other.id][1]
    inbox.close()
    whole, source = inbox.path.read_bytes(), random.Random(21)

    def flip(content: bytearray) -> None:
        at = source.randrange(len(content))
        content[at] ^= 1 << source.randrange(8)

    def cut(content: bytearray) -> None:
        del content[source.randrange(len(content)) :]

    spoils = thinned([flip] * flips + [cut] * cuts)
    noticed = dict.fromkeys((flip, cut), 0)
    for number, spoil in enumerate(spoils):
        noticed[spoil] += told_or_exact(tmp_path / f"{number}", whole, spoil, expected, [asked, other])
    # A bit of unused space changes nothing; a cut always does.
    assert noticed[cut] == spoils.count(cut)
    assert noticed[flip] > spoils.count(flip) // 4


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
        spoilt = SqliteInbox(folder / "inbox.db")
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
