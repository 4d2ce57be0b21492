"""The ledger of a device: how much epsilon each question has cost, and records that wait for an acknowledgement.

A text file of two lines: the SHA-256 of the second line, and JSON. It is replaced whole, under a lock, and is on the
disk before anything is sent. It also has the turns of the device in a series with a rota, and the keys of its memos. A
damaged ledger is refused: starting afresh would spend everything again. It has no value, address or time; a record that
waits is randomized already, and is removed once it is acknowledged.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..device import Memo, Memoised, Remembered
from . import locking
from .errors import LedgerError, UntrustedError
from .rota import MOST_SLOTS, Rota
from .sending import Outcome

VERSION, _WITH_TURNS, _WITH_MEMOS = 1, 2, 3
"""The version of a ledger, of one with turns, and of one with memos, which a client that knows none would lose."""
_KEY_BYTES = 32
CAUTION = "This bounds what the reports reveal about values, not whether and when a value changed."
"""What the epsilon of a question with a memo does not promise (docs/longitudinal.md)."""
_MOST_BYTES = 1 << 28
_EPSILON = re.compile(r"[0-9]+(/[0-9]+)?", re.ASCII)
_LONGEST_EPSILON = 4000
"""Of digits alone: a power of ten could keep a device busy for ever."""
_STATES = {outcome.value for outcome in Outcome if outcome.final} - {Outcome.NOT_DUE.value} | {Outcome.KEPT.value}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A report in the ledger. Its epsilon is spent, whatever became of it: the server may have seen the record."""

    collection: str
    series: str | None
    slot: int | None = None
    """The place in a series in which a device reports more than once; None elsewhere."""
    memo: str = ""
    """Everything that the memo of the report depends on; empty without a memo."""
    fingerprint: str
    epsilon: Fraction
    outcome: Outcome = Outcome.KEPT
    server: str = ""
    record: bytes = b""
    key: bytes = b""

    @property
    def waits(self) -> bool:
        """Whether the record still has to be acknowledged."""
        return self.outcome is Outcome.KEPT

    def settled(self, outcome: Outcome) -> Entry:
        """The entry with a final outcome, without record and key."""
        return replace(self, outcome=outcome, server="", record=b"", key=b"")

    def facts(self) -> dict[str, Any]:
        """The entry in plain data, without record and key."""
        placed = {"series": self.series, "slot": self.slot, "memo": self.memo or None}
        return {
            "collection": self.collection,
            **{name: value for name, value in placed.items() if value is not None},
            "fingerprint": self.fingerprint,
            "epsilon": str(self.epsilon),
            "outcome": self.outcome.value,
        }


@dataclass(frozen=True)
class Turns:
    """The series that a question repeats, and the turns of this device in it."""

    series: str
    rota: Rota

    def facts(self) -> dict[str, Any]:
        """The turns in plain data."""
        return {"series": self.series, "slots": self.rota.slots, "offset": self.rota.offset}


@dataclass
class Account:
    """A question in the ledger: the scheme and the turns that are pinned for it, its reports, its memo's key."""

    fingerprint: str = ""
    entries: list[Entry] = field(default_factory=list)
    turns: Turns | None = None
    key: bytes = field(default=b"", repr=False)

    def report_to(self, collection: str, series: str | None = None, slot: int | None = None) -> Entry | None:
        """The latest report to a collection, or to its series: to the same slot if that has a rota."""
        return next(
            (
                entry
                for entry in reversed(self.entries)
                if entry.collection == collection
                or (series is not None and entry.series == series and slot in (None, entry.slot))
            ),
            None,
        )

    def due(self, series: str | None, slot: int | None, slots: int) -> bool:
        """Whether this device reports in a slot of a series with a rota. The first call draws its turns.

        A slot before the last report is over, whatever the clock says now. A question has one series and one rota: a
        server that could name another would get a second report within the slots of the first.
        """
        assert series is not None
        assert slot is not None  # a document with a rota has both
        if self.turns is None and not self.entries:
            self.turns = Turns(series, Rota.drawn(slots))
        if self.turns is None or (self.turns.series, self.turns.rota.slots) != (series, slots):
            raise UntrustedError(
                "expected the series and the rota that this device has seen first for this question, got others; "
                "nothing was sent. Name another question if it is one"
            )
        latest = max((entry.slot for entry in self.entries if entry.slot is not None), default=-1)
        return slot > latest and self.turns.rota.due(slot)

    def remembered(self, question: str, made: Memoised, cost: Fraction) -> tuple[Remembered, Fraction]:
        """The memo of this question, whose key the first call draws, and the epsilon of one more report from it.

        The first report pays for the whole memo, whatever the value: if each entry were paid when a value opens it, the
        ledger would tell how often the value changed, and so would a device that falls silent at its limit.
        """
        self.key = self.key or secrets.token_bytes(_KEY_BYTES)
        paid = any(entry.memo == made.subject for entry in self.entries)
        return Remembered(made, Memo(self.key, question)), Fraction(0) if paid else cost

    def facts(self) -> dict[str, Any]:
        """The account in plain data, without records and keys."""
        told: dict[str, Any] = {"spent": str(self.spent), "reports": [entry.facts() for entry in self.entries]}
        if self.turns is not None:
            told["rota"] = self.turns.facts()
        if any(entry.memo for entry in self.entries):
            told["caution"] = CAUTION
        return told

    @property
    def spent(self) -> Fraction:
        """The total epsilon of all reports to this question."""
        return sum((entry.epsilon for entry in self.entries), Fraction(0))

    def settle(self, key: bytes, outcome: Outcome) -> None:
        """Note the outcome of the record under a key, unless another process has noted one."""
        self.entries = [entry.settled(outcome) if entry.waits and entry.key == key else entry for entry in self.entries]


class Ledger:
    """The ledger in a file, shared between processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # One file has one lock, by whatever links it is named, and a link is not replaced by a file.
        self._file = Path(os.path.realpath(path))

    def account(self, question: str) -> Account:
        """The account of a question as the ledger has it now."""
        with self._locked() as accounts:
            return accounts.get(question, Account())

    def accounts(self) -> dict[str, Account]:
        """The accounts of all questions as the ledger has them now; also where no lock can be made."""
        with self._locked(make=os.access(self._file.parent, os.W_OK)) as accounts:
            return accounts

    @contextmanager
    def changing(self, question: str) -> Iterator[Account]:
        """The account of a question, to be changed. The ledger is on the disk when the block ends without an error."""
        with self._locked() as accounts:
            account = accounts.setdefault(question, Account())
            before = _written(accounts)
            yield account
            after = _written(accounts)
            if after != before:
                locking.replace(self._file, after)

    @contextmanager
    def _locked(self, *, make: bool = True) -> Iterator[dict[str, Account]]:
        try:
            # Without a lock, too, a reader finds a whole file.
            with locking.locked(self._file) if make else nullcontext():
                yield self._read()
        except TimeoutError:
            raise LedgerError(f"{self.path}: another process has locked the ledger; end that process") from None
        except OSError as error:
            raise LedgerError(f"{self.path}: the ledger cannot be used, so nothing is sent: {error.strerror}") from None

    def _content(self) -> bytes:
        # Reading a pipe or a device would never end.
        told = self._file.stat()
        if not stat.S_ISREG(told.st_mode) or told.st_size > _MOST_BYTES:
            raise LedgerError(f"{self.path}: expected the ledger of a device, got something else; name another file")
        return self._file.read_bytes()

    def _read(self) -> dict[str, Account]:
        try:
            content = self._content()
        except FileNotFoundError:
            return {}
        try:
            digest, text, nothing = content.split(b"\n")
            if digest != sha256(text).hexdigest().encode() or nothing:
                raise ValueError("the digest does not fit")
            given = json.loads(text)
            if type(given["version"]) is not int or not VERSION <= given["version"] <= _WITH_MEMOS:
                raise LedgerError(
                    f"{self.path}: expected version {VERSION} to {_WITH_MEMOS} of a ledger, got another; update this "
                    "client"
                )
            return {question: _account(each) for question, each in given["questions"].items()}
        except LedgerError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, ZeroDivisionError, RecursionError):
            raise LedgerError(
                f"{self.path}: expected the ledger of a device, got a damaged file; nothing is sent, because the "
                "epsilon that was spent is unknown. Restore the newest copy; remove the file only if this device "
                "may spend everything again"
            ) from None


def default_path() -> Path:
    """The ledger of this user: in ``XDG_STATE_HOME``, on Windows in ``LOCALAPPDATA``."""
    given = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    folder = (Path(given) if given else Path.home() / ".local" / "state") / "plausibly"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"{folder}: {error.strerror}; name a ledger elsewhere") from None
    return folder / "ledger"


def _written(accounts: dict[str, Account]) -> bytes:
    questions = {
        question: {"fingerprint": account.fingerprint, "reports": [_row(entry) for entry in account.entries]}
        | ({} if account.turns is None else {"rota": account.turns.facts()})
        | ({"key": account.key.hex()} if account.key else {})
        for question, account in accounts.items()
        if account.entries or account.turns is not None
    }
    known = accounts.values()
    turns = VERSION if all(account.turns is None for account in known) else _WITH_TURNS
    version = _WITH_MEMOS if any(account.key for account in known) else turns
    text = json.dumps({"version": version, "questions": questions}, sort_keys=True).encode()
    return sha256(text).hexdigest().encode() + b"\n" + text + b"\n"


def _row(entry: Entry) -> dict[str, Any]:
    waiting = {"server": entry.server, "record": entry.record.hex(), "key": entry.key.hex()} if entry.waits else {}
    return entry.facts() | waiting


def _account(given: dict[str, Any]) -> Account:
    key = bytes.fromhex(given.get("key", ""))
    if len(key) not in (0, _KEY_BYTES) or not isinstance(given["reports"], list):
        raise ValueError("not an account")
    entries = [_entry(row) for row in given["reports"]]
    if any(entry.memo for entry in entries) and not key:
        raise ValueError("no key of the memo")
    return Account(_text(given["fingerprint"]), entries, _turns(given.get("rota")), key)


def _turns(given: dict[str, Any] | None) -> Turns | None:
    return None if given is None else Turns(_text(given["series"]), Rota(given["slots"], given["offset"]))


def _entry(row: dict[str, Any]) -> Entry:
    written, memo = _text(row["epsilon"]), _text(row.get("memo", ""))
    if not _EPSILON.fullmatch(written) or len(written) > _LONGEST_EPSILON or row["outcome"] not in _STATES:
        raise ValueError("not an entry")
    epsilon = Fraction(written)
    if (epsilon <= 0 and not memo) or ("slot" in row and not _is_slot(row["slot"])):
        raise ValueError("not an entry")
    entry = Entry(
        collection=_text(row["collection"]),
        series=None if "series" not in row else _text(row["series"]),
        slot=row.get("slot"),
        fingerprint=_text(row["fingerprint"]),
        epsilon=epsilon,
        outcome=Outcome(row["outcome"]),
        memo=memo,
    )
    if not entry.waits:
        return entry
    record, key = bytes.fromhex(row["record"]), bytes.fromhex(row["key"])
    return replace(entry, server=_text(row["server"]), record=record, key=key)


def _is_slot(given: Any) -> bool:
    return type(given) is int and 0 <= given < MOST_SLOTS


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError("not a text")
    given.encode()  # raises for a lone surrogate, which nobody could be shown
    return given
