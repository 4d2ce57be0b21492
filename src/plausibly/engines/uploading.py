"""Uploading report files to a collector: in batches, some at a time, each counted once however often it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..catalog import from_json
from ..client.documents import Place, fetch
from ..client.errors import ClientError
from ..client.sending import Delivery, Outcome, deliver
from ..core.codec import encode_reports
from ..core.errors import ParameterError, StateError
from ..core.parallel import in_order
from ..core.scheme import Scheme
from ..core.wording import plural
from ..core.words import Setting, Words
from ..files.authentication import Key
from ..files.openers import LocalFile, Source, opener_of
from ..files.reports import DamagedError, ReportFile
from .survey import Found, Survey, survey
from .upload_keys import SUFFIX, UploadKeys

CONNECTIONS = 4
"""Number of batches that are sent at a time."""
WAIT = 60.0
"""Seconds for which a batch is sent again if the collector is busy or does not answer."""


@dataclass(frozen=True)
class Upload:
    """The result of an upload: every report in the files is counted by the collection."""

    collection: str
    scheme: Scheme
    new: int
    """Number of reports that were counted now."""
    repeated: int
    """Number of reports that were counted before, by an earlier upload of the same files."""
    batches: int
    files: int
    copies: tuple[str, ...]


@dataclass(frozen=True)
class _Sent:
    reports: int
    delivery: Delivery


def upload(
    inputs: Iterable[Source],
    to: str,
    *,
    state: Path | None = None,
    allow_simulated: bool = False,
    key: Key | None = None,
    wait: float = WAIT,
    progress: Callable[[int, int | None], None] | None = None,
) -> Upload:
    """Send the reports in files, and in folders of them, to the collection with an address.

    Batches have the same keys in every run, so that a run which was interrupted is repeated without counting a report
    twice. The secret behind the keys is kept beside each file, in ``NAME.upload``, or in the file ``state``. A batch is
    sent again for ``wait`` seconds if the collector is busy or does not answer.
    """
    place = _place(to)
    if not wait >= 0:
        raise ParameterError(Words(Setting("wait"), ": expected a number of seconds that is not negative"))
    document = fetch(place)
    found = survey(inputs, from_json(document.scheme), skip_bad=False, key=key, whose="the scheme of the collection")
    if not allow_simulated:
        found.refuse_simulated()
    total = sum(sum(each.groups) for each in found.files.values())
    new = repeated = batches = 0
    for sent in in_order(_tasks(found, place, state, key, wait), threads=CONNECTIONS):
        if sent.delivery.outcome is not Outcome.COUNTED:
            raise StateError(_refusal(sent.delivery, new + repeated, total))
        new, repeated = new + sent.reports * sent.delivery.new, repeated + sent.reports * (not sent.delivery.new)
        batches += 1
        if progress is not None:
            progress(new + repeated, total)
    return Upload(place.id, found.scheme, new, repeated, batches, len(found.files), found.copies)


def _place(to: str) -> Place:
    try:
        return Place.of(to)
    except ClientError as error:
        raise ParameterError(Words(Setting("to"), f": {error}")) from None


def _tasks(
    found: Survey, place: Place, state: Path | None, key: Key | None, wait: float
) -> Iterator[Callable[[], _Sent]]:
    # Made on one thread, a batch ahead of those that are being sent: memory does not grow with the files.
    for identity, each in found.files.items():
        keys = UploadKeys.kept(_state_of(each) if state is None else state)
        file = ReportFile(each.source, key=key)
        if file.identity != identity:
            raise DamagedError(file.name, None, "the file was replaced during the upload")
        size = keys.size(found.scheme)
        for group, reports in enumerate(file):
            for first in range(0, len(reports), size):
                body = encode_reports(found.scheme, reports[first : first + size])
                address = place.reports(keys.key(place.id, identity, group, first))
                yield partial(_send, address, body, len(reports[first : first + size]), wait)


def _send(address: str, body: bytes, reports: int, wait: float) -> _Sent:
    return _Sent(reports, deliver(address, body, wait))


def _state_of(found: Found) -> Path:
    opener = opener_of(found.source)
    if not isinstance(opener, LocalFile):
        raise ParameterError(Words(f"{found.name}: name a file on this machine with ", Setting("state", "FILE")))
    return Path(f"{opener.path or opener.name}{SUFFIX}")


def _refusal(delivery: Delivery, counted: int, total: int) -> str:
    so_far = f"{counted:,} of {plural(total, 'report')} are known to be counted"
    again = "run the same command again to continue, and no report counts twice"
    return {
        Outcome.CLOSED: f"the collection is closed and accepts no more reports; {so_far}",
        Outcome.FULL: f"the collection has all reports that it accepts; {so_far}",
        Outcome.EARLY: "the collection has not opened yet; run the same command again when it has",
        Outcome.REFUSED: f"the collector refused a batch: {delivery.reason}; {so_far}",
    }.get(delivery.outcome, f"{delivery.reason.partition('; try')[0]}; {so_far}; {again}")
