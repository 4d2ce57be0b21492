"""Damage of the write-ahead log is refused with a message, and no state that a crash leaves is taken for damage."""

from __future__ import annotations

import hashlib
import os
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import plausibly.service.write_ahead_log as checked
from drawn import thinned
from plausibly.core.errors import StateError
from plausibly.service.backup import backup
from plausibly.service.inbox import Batch, DamagedInboxError
from plausibly.service.sqlite_inbox import SqliteInbox
from plausibly.service.write_ahead_log import expect_undamaged, log_of
from serving import question, records

ASKED = question()
HEADER, PAGE = 32, 4096
FRAME = 24 + PAGE
MESSAGE = re.compile(
    r"(?P<log>\S+-wal): damaged, (its header|a frame) at byte \d+ does not match its checksum, which no crash causes; "
    r"restore a backup\. To give up the reports after the undamaged part instead, keep a copy of the folder, and cut "
    r"the log: (?P<cut>truncate -s \d+ (?P=log))"
)


def sums_word_by_word(content: bytes, order: str, sums: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """The checksum of https://www.sqlite.org/fileformat2.html, section 4.2."""
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    s0, s1 = sums
    for x, y in zip(words[::2], words[1::2], strict=True):
        s0 = (s0 + x + s1) % (1 << 32)
        s1 = (s1 + y + s0) % (1 << 32)
    return s0, s1


def ends_of_commits(log: bytes) -> list[int]:
    """The numbers of frames up to the end of each transaction that SQLite reads, word by word."""
    sums, salts = sums_word_by_word(log[:24], "<"), log[16:24]
    assert struct.unpack(">2I", log[24:HEADER]) == sums
    ends = []
    for number in range((len(log) - HEADER) // FRAME):
        frame = log[HEADER + number * FRAME :][:FRAME]
        sums = sums_word_by_word(frame[:8] + frame[24:], "<", sums)
        if frame[8:16] != salts or struct.unpack(">2I", frame[16:24]) != sums:
            break
        if any(frame[4:8]):
            ends.append(number + 1)
    return ends


# --- an inbox that commits -----------------------------------------------------------------------------------------


def numbered(number: int) -> Batch:
    size = 4000 if number % 17 == 16 else 1 + number * 7 % 40
    values = range(number % 1000, number % 1000 + size)
    return Batch(hashlib.sha256(b"%d" % number).digest()[:16], records(ASKED, values), size)


def rows_of(inbox: SqliteInbox) -> list[bytes]:
    with inbox.view() as view:
        account = view.account(ASKED.id)
        return [] if account is None else list(view.pending(account))


def commits_in(inbox: SqliteInbox) -> int:
    """How many commits the inbox has; fail unless they are the first ones, and whole."""
    rows = rows_of(inbox)
    assert rows == [numbered(number).records for number in range(len(rows))]
    return len(rows)


def commits_shown(path: Path) -> int:
    inbox = SqliteInbox(path)
    try:
        return commits_in(inbox)
    finally:
        inbox.close()


def commit(inbox: SqliteInbox, number: int) -> None:
    inbox.commit({ASKED.id: [numbered(number)]})


def undone(inbox: SqliteInbox, pages: int) -> None:
    """A transaction that is larger than SQLite's memory, so that frames of it are in the log, and that is undone."""
    inbox._connection.execute("PRAGMA cache_size = 5")
    with suppress(KeyError), inbox._transaction() as connection:
        connection.execute(f"INSERT INTO pending VALUES(NULL, 1, randomblob({PAGE * pages}), 0, 0)")
        raise KeyError
    inbox._connection.execute("PRAGMA cache_size = -2000")


@contextmanager
def killed_after(work: Callable[[], None]) -> Iterator[int]:
    """A forked process that works until it is killed, at the end of its work or of the block."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    yield child
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


@dataclass(frozen=True)
class Left:
    """The files that a killed process has left: how many commits the database has without its log, and with it."""

    database: bytes
    log: bytes
    filed: int
    commits: int

    @cached_property
    def ends(self) -> list[int]:
        return ends_of_commits(self.log)


def left_by(folder: Path, before: int, *, restarts: bool, after: int) -> Left:
    """The files of an inbox after commits, the start of a new log in the same file if wanted, more commits, a kill."""
    path, filed = folder / "inbox.db", before if restarts else 0

    def work() -> None:
        inbox = SqliteInbox(path)
        inbox.create(ASKED)
        inbox.shorten_log()
        for number in range(before):
            commit(inbox, number)
        if restarts:
            inbox.shorten_log()
        for number in range(before, before + after):
            commit(inbox, number)

    with killed_after(work):
        pass
    left = Left(path.read_bytes(), log_of(path).read_bytes(), filed, before + after)
    assert len(left.ends) == before + after - filed
    assert restarts == (len(left.log) >= HEADER + FRAME * (left.ends[-1] + 10)), "frames of the log before"
    return left


def found_in(folder: Path, left: Left, log: bytes) -> tuple[int | None, str]:
    """The commits that an inbox with another log shows, or None and the message of the refusal."""
    folder.mkdir()
    path = folder / "inbox.db"
    path.write_bytes(left.database)
    log_of(path).write_bytes(log)
    try:
        return commits_shown(path), ""
    except DamagedInboxError as error:
        return None, str(error)


# --- checksums -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("words", [2, 6, 130, 2 + PAGE // 4])
def test_checksums_are_those_of_the_format_word_by_word(order: str, words: int) -> None:
    source = random.Random(words)
    for _ in range(5):
        content, before = source.randbytes(4 * words), (source.getrandbits(32), source.getrandbits(32))
        carried = np.array(before, dtype=np.uint32) @ checked._carried(words)
        continued = carried + checked._checksum(content, f"{order}u4")
        assert tuple(map(int, continued)) == sums_word_by_word(content, order, before)


# --- damage --------------------------------------------------------------------------------------------------------

PLACES = {"header": (0, HEADER), "page number": (0, 4), "size": (4, 8), "salts": (8, 16), "sums": (16, 24)}
PARTS = [*PLACES, "page"]


def undecided(left: Left, frame: int, part: str) -> bool:
    """Whether damage in the last frame before the last transaction looks like a torn one: a sector ends in a header, or
    the size of the database has become 0."""
    if frame != left.ends[-2] - 1:
        return False
    (size,) = struct.unpack(">I", left.log[HEADER + frame * FRAME + 4 :][:4])
    starts = [HEADER + each * FRAME + 4 for each in (frame, frame + 1)]
    return any(start // 512 != (start + 19) // 512 for start in starts) or (part == "size" and size.bit_count() == 1)


@pytest.mark.full
@pytest.mark.parametrize("flips", [400, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_flipped_bit_is_refused_unless_it_is_in_the_last_transaction(
    tmp_path: Path, *, restarts: bool, flips: int
) -> None:
    left = left_by(tmp_path, 40, restarts=restarts, after=20)
    source, refused, shorter = random.Random(f"{restarts}{flips}"), Counter[str](), 0
    ends = left.ends
    for number in thinned(range(flips)):
        part = PARTS[number // 4 % len(PARTS)]
        first, last = PLACES.get(part, (24, FRAME))
        # The last two transactions are where the rule is difficult.
        lowest = source.choice([0, 0, ends[-3]])
        frame = 0 if part == "header" else source.randrange(lowest, (len(left.log) - HEADER) // FRAME)
        place = source.randrange(first, last) + (0 if part == "header" else HEADER + frame * FRAME)
        log = bytearray(left.log)
        log[place] ^= 1 << source.randrange(8)
        commits, message = found_in(tmp_path / "found", left, bytes(log))
        shutil.rmtree(tmp_path / "found")
        where = f"{part} of frame {frame} at byte {place}, of {ends[-3:]} frames"
        if part != "header" and frame >= ends[-1]:
            assert commits == left.commits, f"nothing of the log was changed: {where}"
        elif part != "header" and frame >= ends[-2]:
            assert commits in (None, left.commits - 1), where
            shorter += commits is not None
        elif commits is None:
            assert MESSAGE.fullmatch(message), where
            refused[part] += 1
        else:
            assert undecided(left, frame, part), where
            assert commits == left.commits - 2, where
    assert shorter > 0
    assert all(refused[part] > 0 for part in PARTS), refused


@pytest.mark.full
@pytest.mark.parametrize("restarts", [False, True])
def test_a_log_that_was_cut_has_the_commits_before_the_cut(tmp_path: Path, *, restarts: bool) -> None:
    left, source = left_by(tmp_path, 40, restarts=restarts, after=20), random.Random(22)
    for length in thinned([0, 1, HEADER, *(source.randrange(len(left.log)) for _ in range(100))]):
        whole = sum(HEADER + end * FRAME <= length for end in left.ends)
        assert found_in(tmp_path / "found", left, left.log[:length]) == (left.filed + whole, "")
        shutil.rmtree(tmp_path / "found")


@pytest.mark.full
def test_a_log_that_is_already_in_the_database_never_leads_to_another_count(tmp_path: Path) -> None:
    path = tmp_path / "inbox.db"

    def work() -> None:
        inbox = SqliteInbox(path)
        inbox.create(ASKED)
        for number in range(30):
            commit(inbox, number)
        inbox.shorten_log()

    with killed_after(work):
        pass
    left, source = Left(path.read_bytes(), log_of(path).read_bytes(), 30, 30), random.Random(23)
    refused = Counter[bool]()
    for cuts in thinned([True, False, True] * 70):
        log, place = bytearray(left.log), source.randrange(HEADER, len(left.log))
        log[place] ^= 1 << source.randrange(8)
        commits, _ = found_in(tmp_path / "found", left, left.log[:place] if cuts else bytes(log))
        shutil.rmtree(tmp_path / "found")
        whole = sum(HEADER + end * FRAME <= place for end in left.ends[1:])  # the first one made the collection
        assert commits in ((None, whole, 30) if cuts else (None, 29))
        refused[cuts] += commits is None
    assert refused[False] > 0


@pytest.mark.full
def test_the_advice_of_the_message_gives_up_what_is_behind_the_damage(tmp_path: Path) -> None:
    left = left_by(tmp_path, 30, restarts=True, after=15)
    path = tmp_path / "inbox.db"
    for place, kept in ((5, 30), (HEADER + FRAME + 100, 30), (HEADER + FRAME * left.ends[6] + 20, 37)):
        path.write_bytes(left.database)
        log = bytearray(left.log)
        log[place] ^= 1
        log_of(path).write_bytes(log)
        with pytest.raises(DamagedInboxError) as refused:
            SqliteInbox(path)
        assert log_of(path).read_bytes() == log, "the evidence stays"
        told = MESSAGE.fullmatch(str(refused.value))
        assert told is not None
        subprocess.run(told["cut"].split(), check=True)
        assert commits_shown(path) == kept


def test_a_backup_refuses_a_damaged_log_and_reads_a_whole_one(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    folder.mkdir()
    left = left_by(folder, 10, restarts=False, after=0)
    log = bytearray(left.log)
    log[HEADER + FRAME] ^= 1
    log_of(folder / "inbox.db").write_bytes(log)
    with pytest.raises(DamagedInboxError, match=MESSAGE):
        backup(folder, tmp_path / "copy")
    assert log_of(folder / "inbox.db").read_bytes() == log, "the evidence stays"
    log_of(folder / "inbox.db").write_bytes(left.log)
    backup(folder, tmp_path / "copy")
    assert commits_shown(tmp_path / "copy" / "inbox.db") == 10


def test_a_log_without_its_database_is_not_given_to_a_new_one(tmp_path: Path) -> None:
    left_by(tmp_path, 3, restarts=False, after=0)
    (tmp_path / "inbox.db").unlink()
    with pytest.raises(DamagedInboxError, match=re.escape("missing, although inbox.db-wal exists; restore a backup")):
        SqliteInbox(tmp_path / "inbox.db")
    assert not (tmp_path / "inbox.db").exists()


def test_headers_that_are_none_or_of_other_versions_are_left_to_sqlite(tmp_path: Path) -> None:
    log = tmp_path / "inbox.db-wal"
    expect_undamaged(log)

    def sealed(*words: int) -> bytes:
        content = struct.pack(">6I", *words)
        return content + struct.pack(">2I", *sums_word_by_word(content, "<"))

    frames = bytes(100) + b"more" * FRAME
    for header in (b"", b"some", bytes(HEADER), sealed(1, 2, 3, 4, 5, 6), sealed(0x377F0682, 3007001, PAGE, 0, 1, 2)):
        log.write_bytes(header if header == b"some" else header + frames if header else b"")
        expect_undamaged(log)
    log.write_bytes(sealed(0x377F0682, 3007000, PAGE, 0, 1, 2) + frames)
    expect_undamaged(log)
    log.write_bytes(b"some" + sealed(1, 2, 3, 4, 5, 6)[4:] + frames)
    with pytest.raises(DamagedInboxError, match="its header at byte 0"):
        expect_undamaged(log)
    log.unlink()
    log.mkdir()
    with pytest.raises(StateError, match=re.escape(f"{log}: ")):
        expect_undamaged(log)


# --- crashes -------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("kills", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_kill_is_taken_for_damage_and_none_loses_an_acknowledged_commit(tmp_path: Path, kills: int) -> None:
    path, source = tmp_path / "inbox.db", random.Random(24)
    acknowledged = 0
    for number in thinned(range(kills)):
        reading, writing = os.pipe()

        def work(writing: int = writing, number: int = number) -> None:
            actions, inbox = random.Random(number), SqliteInbox(path)
            inbox.create(ASKED)
            done = commits_in(inbox)
            os.write(writing, struct.pack("<q", done))
            while True:
                commit(inbox, done)
                done += 1
                os.write(writing, struct.pack("<q", done))
                chance = actions.random()
                if chance < 0.03:
                    inbox.shorten_log()
                elif chance < 0.04:
                    inbox.truncate_log()
                elif chance < 0.06:
                    undone(inbox, actions.choice([20, 200]))

        with killed_after(work) as child:
            os.close(writing)
            select.select([reading], [], [])
            time.sleep(source.random() * 0.05)
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reading, "rb") as told:
            counts = [count for (count,) in struct.iter_unpack("<q", told.read())]
        assert counts, "the inbox was refused"
        assert acknowledged <= counts[0] <= acknowledged + 1, "a commit whose acknowledgement was not written may count"
        acknowledged = counts[-1]
        if source.random() < 0.1:
            assert commits_shown(path) >= acknowledged
    assert acknowledged > kills


def torn(source: random.Random, before: bytes, after: bytes) -> bytes:
    """A log after power was lost during a commit: any of its blocks, and any length, but what was synced is there."""
    if before[:HEADER] != after[:HEADER]:
        header_only = after[:HEADER] + before[HEADER:]  # SQLite syncs a new header before it writes frames
        if source.random() < 0.1:
            return source.choice([before, before[:HEADER] and header_only, bytes(HEADER)[: len(after) - len(before)]])
        before = header_only
    length = source.randint(len(before), len(after))
    block, share = source.choice([512, 4096]), source.choice([0.1, 0.5, 0.9, 0.98])
    old = before.ljust(length, b"\0")  # blocks that are new are empty until they are written
    written = np.random.default_rng(source.getrandbits(32)).random(length // block + 1) < share
    contents = [np.frombuffer(each, dtype=np.uint8, count=length) for each in (after, old)]
    return np.where(np.repeat(written, block)[:length], *contents).tobytes()


@pytest.mark.full
@pytest.mark.parametrize("crashes", [80, pytest.param(600, marks=pytest.mark.slow)])
def test_no_loss_of_power_is_taken_for_damage_and_none_loses_an_acknowledged_commit(
    tmp_path: Path, crashes: int
) -> None:
    source, left, seen = random.Random(25), None, Counter[int]()
    for number in thinned(range(crashes)):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        path = folder / "inbox.db"
        if left is not None:
            path.write_bytes(left.database)
            log_of(path).write_bytes(left.log)
        inbox = SqliteInbox(path)  # with everything that earlier crashes have left in the log
        inbox.create(ASKED)
        done = commits_in(inbox)
        assert left is None or left.filed <= done <= left.commits
        seen[done - (left.filed if left else done)] += 1
        for _ in range(source.randrange(1, 6)):
            commit(inbox, done)
            done += 1
            if source.random() < 0.1:
                undone(inbox, source.choice([20, 60]))
        if source.random() < 0.15:
            inbox.shorten_log()
        elif source.random() < 0.05:
            inbox.truncate_log()
        database, before = path.read_bytes(), log_of(path).read_bytes()
        commit(inbox, done)
        after = log_of(path).read_bytes()
        inbox.close()
        for _ in range(25):
            log_of(path).write_bytes(torn(source, before, after))
            expect_undamaged(log_of(path))
        log_of(path).unlink()
        # Some crashes come after the commit.
        log = after if source.random() < 0.2 else torn(source, before, after)
        left = Left(database, log, done, done + 1)
        shutil.rmtree(folder)
    assert seen[0] > crashes // 50
    assert seen[1] > crashes // 50
