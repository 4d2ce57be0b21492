"""The progress of a collection in words: reports against the minimum and the cap, and the time of its window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..core.wording import percent, plural
from .inbox import Account

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Progress:
    """An account at a moment."""

    account: Account
    now: datetime

    @classmethod
    def of(cls, account: Account) -> Progress:
        """The account at this moment."""
        return cls(account, datetime.now(UTC))

    @property
    def status(self) -> str:
        """The state of the collection in one word or two."""
        collection = self.account.collection
        if self.account.closed or (collection.closes is not None and collection.closes <= self.now):
            return "closed"
        if collection.opens is not None and collection.opens > self.now:
            return "not open yet"
        return "full" if self.full else "open"

    @property
    def full(self) -> bool:
        """Whether the collection has all reports that it accepts."""
        cap = self.account.collection.cap
        return cap is not None and self.account.received >= cap

    @property
    def enough(self) -> bool:
        """Whether estimates are shown."""
        return self.account.released >= self.account.collection.minimum and self.account.released > 0

    @property
    def missing(self) -> int:
        """Number of reports that are missing before estimates are shown, or before a batch that is needed for them."""
        account, smallest = self.account, self.account.collection.smallest_batch
        needed = account.collection.minimum - account.released
        if smallest is not None and not self.enough:
            needed = max(needed, smallest) - account.waiting - account.dropped
        return max(0, needed)

    @property
    def goal(self) -> int | None:
        """Number of reports that the collection is on its way to: the minimum, and then the cap, if there is one."""
        return self.account.received + self.missing if self.missing else self.account.collection.cap

    def reports(self) -> str:
        """The number of reports against the minimum and the cap."""
        received, collection = self.account.received, self.account.collection
        if not received:
            return "No reports yet"
        if self.missing:
            return f"{received:,} of the {self.goal:,} reports that an answer needs"
        if collection.smallest_batch is not None:
            return self._batches()
        if collection.cap is None:
            return plural(received, "report")
        return f"{received:,} of at most {collection.cap:,} reports ({percent(received / collection.cap)})"

    def _batches(self) -> str:
        account = self.account
        waiting = f"{account.waiting:,} waiting for the next batch"
        if not account.released:
            return f"{plural(account.waiting, 'report')} waiting for the first batch"
        told = f"{plural(account.released, 'report')} in batches of at least {account.collection.smallest_batch:,}"
        return f"{told}, {waiting}" if account.waiting else told

    def window(self) -> str:
        """The time in which the collection takes reports."""
        collection, closed = self.account.collection, self.status == "closed"
        opens, closes = (None if time is None else _written(time) for time in (collection.opens, collection.closes))
        if self.account.closed:
            return f"Accepts no more reports{f'; opened on {opens}' if opens else ''}."
        if collection.opens is not None and self.status == "not open yet":
            return f"Opens on {opens}, {_distance(collection.opens - self.now)} from now."
        if closed:
            return f"Closed since {closes}."
        if self.full:
            return "Has all the reports that it accepts."
        since = f"Since {opens}, " if opens else ""
        if collection.closes is None:
            told = f"{since}without a fixed end."
        else:
            told = f"{since}until {closes}: {_distance(collection.closes - self.now)} left."
        return f"{told[0].upper()}{told[1:]}"


def _written(time: datetime) -> str:
    return f"{time.day} {time:%B %Y}, {time:%H:%M} UTC"


def _distance(span: timedelta) -> str:
    if span >= 2 * _DAY:
        return plural(span // _DAY, "day")
    hours = max(1, span // timedelta(hours=1))
    return plural(hours, "hour") if span >= timedelta(hours=1) else "less than an hour"
