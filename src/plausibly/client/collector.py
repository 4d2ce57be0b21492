"""A collection as a device sees it: what is asked, what may be spent on it, and sending the report."""

from __future__ import annotations

import copy
import secrets
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..device import Client, Memoised, load
from .documents import Document, Place, fetch
from .errors import ClientError, LedgerError, SpentError, UnreachableError, UntrustedError
from .ledger import Account, Entry, Ledger, default_path
from .sending import Outcome, batch_of_one, deliver

_KEY_BYTES = 16
_LONGEST_NAME = 200


class Collector:
    """A sender of reports to one collection, within a lifetime total of epsilon.

    ``url`` is the address of the collection, ``https://host/v1/collections/ID``. ``max_epsilon`` is the total epsilon
    that this device spends on a ``question`` in its lifetime (a number, or text such as "1/3"), over all collections.
    The application names the question, because a server could name the same one differently every day; by default, all
    collections of a host are one question. ``fingerprint`` is that of the only scheme to accept; without it, the first
    scheme of the question is pinned. ``ledger`` is the file that remembers all of this, one for each person; by
    default, one for each user of the machine. After a failure, a report is sent again within ``patience`` seconds, and
    then by the next call. ``total=False`` accepts a scheme that refuses some values (see ``device.load``).
    ``memo=True`` accepts a scheme with a memo, whose epsilon bounds what is learned about values, not whether and when
    a value changed. The ledger keeps the key of the memo, and the first report pays for all of its entries.
    """

    def __init__(
        self,
        url: str,
        *,
        max_epsilon: object,
        fingerprint: str | None = None,
        question: str | None = None,
        ledger: str | Path | None = None,
        patience: float = 30.0,
        total: bool = True,
        memo: bool = False,
    ) -> None:
        self._place = Place.of(url)
        self._limit = _positive(max_epsilon)
        if not isinstance(patience, int | float) or not patience >= 0:
            raise ClientError("patience: expected a number of seconds that is not negative, got something else")
        if not isinstance(memo, bool):
            raise ClientError("memo: expected True or False, got something else; the ledger keeps the key")
        self._fingerprint, self._total, self._patience, self._memo = fingerprint, total, patience, memo
        # No address in the ledger, not even by default.
        digest = sha256(self._place.host.encode()).hexdigest()[:32]
        self._question = f"host {digest}" if question is None else _name(question)
        self._ledger = Ledger(default_path() if ledger is None else Path(ledger))
        self._asked: dict[str, tuple[Document, Client]] = {}
        self._not_before = 0.0

    def with_ledger(self, ledger: str | Path) -> Collector:
        """The same collector for another person: a gateway keeps one ledger for each."""
        other = copy.copy(self)
        other._ledger = Ledger(Path(ledger))
        return other

    def report(self, value: object, *, again: bool = False) -> Outcome:
        """Randomize a value and send its report, once for each collection, and once for all collections of a series.

        In a series with a rota, a device is due in one of any ``rota`` consecutive slots, and sends nothing in others.
        From a memo, it reports once in each slot of a series, and pays once for the whole memo.
        A device that has reported before sends nothing, or the same record as before if that was not acknowledged; the
        value is then ignored. ``again=True`` sends one more report, which costs epsilon once more. Raises if that
        would exceed the total, if the scheme is not the pinned one, and if the ledger is damaged.
        """
        known = None if again else self._ledger.account(self._question).report_to(self._place.id)
        if known is not None:
            return self._sent(known)
        try:
            document, client = self._fetched()
        except UnreachableError:
            return Outcome.UNREACHABLE
        entered = self._entered(document, client, value, again)
        return entered if isinstance(entered, Outcome) else self._sent(entered)

    def resend(self) -> dict[str, Outcome]:
        """Send the records again that this collector has not acknowledged; the outcome of each, by collection."""
        return {
            entry.collection: self._sent(entry)
            for entry in self._ledger.account(self._question).entries
            if entry.waits and entry.server == self._place.server
        }

    def sent(self) -> dict[str, Any]:
        """What this device has sent to the question, and what it may still spend, as plain data for JSON."""
        account = self._ledger.account(self._question)
        return {"question": self._question, "max_epsilon": str(self._limit), **account.facts()}

    def _fetched(self) -> tuple[Document, Client]:
        if self._place.id not in self._asked:
            document = fetch(self._place)
            if self._fingerprint not in (None, document.fingerprint):
                raise UntrustedError(
                    "expected the scheme that the application knows by its fingerprint, got another one; nothing was "
                    "sent"
                )
            given: dict[str, Any] = {"max_epsilon": self._limit, "fingerprint": document.fingerprint}
            client = load(document.scheme, **given, total=self._total, memo="once")
            if client.memo_epsilon is not None and not self._memo:
                raise UntrustedError(
                    "expected a scheme without a memo, got one, whose epsilon bounds what is learned about values, not "
                    "whether and when a value changed; nothing was sent. Pass memo=True to accept that"
                )
            self._asked[self._place.id] = document, client
        return self._asked[self._place.id]

    def _entered(self, document: Document, client: Client, value: object, again: bool) -> Entry | Outcome:
        """The entry of a report in the ledger, which is on the disk; or the reason why nothing has to be spent."""
        made, lasting = client.randomizer, client.memo_epsilon
        if again and (document.rota is not None or lasting is not None):
            turn = "slot of a series with a memo" if document.rota is None else "turn of a series with a rota"
            raise ClientError(f"again: expected one report in each {turn}, not one more")
        slot = None if document.rota is None and lasting is None else document.slot
        place = document.id, document.series, slot
        known = None if again else self._ledger.account(self._question).report_to(*place)
        if known is not None:
            return known
        now = datetime.now(UTC)
        if document.opens is not None and now < document.opens:
            return Outcome.EARLY
        if document.closes is not None and now >= document.closes:
            return Outcome.CLOSED
        encoded, record = (0, client.privatize(value)) if lasting is None else (client.encode(value), b"")
        entry = Entry(
            collection=document.id,
            series=document.series,
            slot=slot,
            fingerprint=document.fingerprint,
            epsilon=client.epsilon,
            server=self._place.server,
            record=record,
            key=secrets.token_bytes(_KEY_BYTES),
        )
        with self._ledger.changing(self._question) as account:
            # Another process may have been faster. Its record counts, and this one is never seen.
            known = None if again else account.report_to(*place)
            if known is not None:
                return known
            if document.rota is not None and not account.due(*place[1:], document.rota):
                return Outcome.NOT_DUE
            if isinstance(made, Memoised) and lasting is not None:
                remembered, epsilon = account.remembered(self._question, made, made.memo_entries * lasting)
                entry = replace(entry, memo=made.subject, epsilon=epsilon, record=remembered.record(encoded, None))
            self._allow(account, entry, document)
            account.fingerprint = entry.fingerprint
            account.entries.append(entry)
        return entry

    def _allow(self, account: Account, entry: Entry, document: Document) -> None:
        if account.turns is not None and document.rota is None:
            raise UntrustedError(
                "expected a slot of the series that this question repeats, got another collection; nothing was sent. "
                "Pass question=… if it is another question"
            )
        if self._fingerprint is None and account.fingerprint not in ("", entry.fingerprint):
            raise UntrustedError(
                "expected the scheme that this device has seen first for this question, got another one; nothing was "
                "sent. Pass fingerprint=… to accept the new one, or question=… if it is another question"
            )
        if account.spent + entry.epsilon > self._limit:
            what = "all entries of its memo" if entry.memo else "one more report"
            raise SpentError(
                f"expected at most {self._limit} for the total epsilon of this question, got {account.spent} already "
                f"spent and {entry.epsilon} for {what}; nothing was sent"
            )

    def _sent(self, entry: Entry) -> Outcome:
        if not entry.waits:
            return entry.outcome
        if entry.server != self._place.server or time.monotonic() < self._not_before:
            return Outcome.KEPT
        body = batch_of_one(entry.fingerprint, entry.record)
        found = deliver(self._place.reports(entry.key, entry.collection), body, self._patience)
        self._not_before = time.monotonic() + found.wait
        if found.outcome.final:
            # An outcome that cannot be noted is still true: the next call sends the same bytes, and learns it again.
            with suppress(LedgerError), self._ledger.changing(self._question) as account:
                account.settle(entry.key, found.outcome)
        return found.outcome


def _positive(number: object) -> Fraction:
    try:
        found = Fraction(str(number))
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if found <= 0:
        raise ClientError('max_epsilon: expected a number above 0, or text such as "1/3", got something else')
    return found


def _name(question: object) -> str:
    if not isinstance(question, str) or not 0 < len(question) <= _LONGEST_NAME or not question.isprintable():
        raise ClientError(f"question: expected a name of 1 to {_LONGEST_NAME} printable characters, got something else")
    return question
