"""Collections: immutable documents that say what is asked, with which scheme, when, and of how many."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from ..catalog import from_json
from ..client.rota import MOST_SLOTS
from ..core.arguments import expect_few_brackets, whole_number
from ..core.errors import ParameterError, PlausiblyError
from ..core.memoised import Memoised
from ..core.randomness import SecureRandom
from ..core.scheme import Scheme
from ..core.wording import nearest, shown
from ..core.words import Setting, Words, kind_of
from ..planner.devices import device_notes
from ..shuffling import crowd_of

VERSION = 1
MOST_REPORTS = 2**53
_LONGEST_NAME = 200
_MOST_BRACKETS = 1 << 16
_MOST_BATCH = 1 << 30
"""The most bytes of records in a smallest batch: a batch is shuffled in memory."""
_FIELDS = ("version", "name", "scheme", "window", "minimum", "cap", "series", "slot", "rota", "release")
_OPTIONAL = ("series", "slot", "rota", "release")
_WINDOW = ("opens", "closes")
_BATCH = "smallest_batch"


@dataclass(frozen=True, kw_only=True)
class Collection:
    """A question to a crowd. Equal documents are the same collection, and its ``id`` is the digest of the document.

    ``minimum`` is the number of reports below which no estimate is shown: honesty about noise, not privacy. ``cap`` is
    the largest number of reports that are accepted. A question that is repeated has one collection for each ``slot`` of
    a ``series``, all with the same scheme. With a ``rota`` of w slots, each device reports in one of any w consecutive
    slots; without one, once to the whole series.

    With a ``smallest_batch``, reports are released in shuffled batches of at least this number only, so that a batch
    has a central ε, too. Without one, answers have every report at once.
    """

    name: str
    scheme: Scheme
    opens: datetime | None = None
    closes: datetime | None = None
    minimum: int = 1
    cap: int | None = None
    series: str | None = None
    slot: int | None = None
    rota: int | None = None
    smallest_batch: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Scheme):
            raise ParameterError(Words("scheme: expected a scheme, got ", kind_of(self.scheme)))
        _expect_text("name", self.name)
        whole_number("minimum", self.minimum, 1, MOST_REPORTS)
        if self.cap is not None:
            whole_number("cap", self.cap, 1, MOST_REPORTS)
            if self.cap < self.minimum:
                least = f": expected at least the minimum of {self.minimum:,} reports, got {self.cap:,}"
                raise ParameterError(Words(Setting("cap"), least))
        if (self.series is None) != (self.slot is None):
            raise ParameterError(Words("expected ", Setting("series"), " and ", Setting("slot"), ", got one of them"))
        if self.series is not None:
            _expect_text("series", self.series)
            # Devices keep the slots in which they report more than once.
            once = self.rota is None and not isinstance(self.scheme, Memoised)
            whole_number("slot", self.slot, 0, MOST_REPORTS if once else MOST_SLOTS - 1)
        if self.rota is not None:
            if self.series is None:
                raise ParameterError(Words(Setting("rota"), ": expected with ", Setting("series"), ", got it alone"))
            whole_number("rota", self.rota, 2, MOST_SLOTS - 1)
            if isinstance(self.scheme, Memoised):
                reason = f": expected none with {self.scheme.name}, whose users report in every slot, from a memo"
                raise ParameterError(Words(Setting("rota"), reason))
        if self.smallest_batch is not None:
            self._expect_batches(self.smallest_batch)
        for name in _WINDOW:
            time = getattr(self, name)
            if time is not None and (time.tzinfo is not UTC or time.microsecond):
                expected = ": expected a time in UTC in whole seconds, such as 2026-01-31T08:00:00Z"
                raise ParameterError(Words(Setting(name), expected))
        if self.opens is not None and self.closes is not None and self.opens >= self.closes:
            raise ParameterError(Words(Setting("closes"), ": expected a time after the collection opens"))

    def _expect_batches(self, smallest: int) -> None:
        whole_number(_BATCH, smallest, 2, MOST_REPORTS)
        crowd_of(self.scheme, smallest)
        if self.cap is not None and self.cap < smallest:
            least = f": expected at least the smallest batch of {smallest:,} reports, got {self.cap:,}"
            raise ParameterError(Words(Setting("cap"), least))
        size = self.scheme.report_dtype.itemsize
        if smallest * size > _MOST_BATCH:
            most = f": expected at most {_MOST_BATCH // size:,} reports of {size:,} bytes each, got {smallest:,}"
            raise ParameterError(Words(Setting(_BATCH), most))

    @cached_property
    def document(self) -> str:
        """The canonical text of the collection: JSON with sorted keys and no spaces."""
        written: dict[str, Any] = {
            "version": VERSION,
            "name": self.name,
            "scheme": json.loads(self.scheme.to_json()),
            "window": {name: _written_time(getattr(self, name)) for name in _WINDOW},
            "minimum": self.minimum,
            "cap": self.cap,
        }
        if self.series is not None:
            written |= {"series": self.series, "slot": self.slot}
        if self.rota is not None:
            written["rota"] = self.rota
        if self.smallest_batch is not None:
            written["release"] = {_BATCH: self.smallest_batch}
        return json.dumps(written, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @cached_property
    def id(self) -> str:
        """Hex SHA-256 of the collection's canonical text."""
        return hashlib.sha256(self.document.encode()).hexdigest()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons why devices may refuse the scheme of the collection, or reveal something by refusing a value."""
        return device_notes(self.scheme)

    @classmethod
    def from_document(cls, text: str | bytes) -> Collection:
        """The collection of a JSON document. Raises for unknown, missing and wrong fields."""
        given = _object(text)
        for name in given:
            if name not in _FIELDS:
                raise ParameterError(f"unknown field {shown(name)} of a collection; {nearest(name, _FIELDS)}")
        for name in _FIELDS:
            if name not in given and name not in _OPTIONAL:
                raise ParameterError(f"{name}: expected for a collection, the field is missing")
        if given["version"] != VERSION or isinstance(given["version"], bool):
            raise ParameterError(f"version: expected {VERSION}, got {shown(given['version'])}")
        window = given["window"]
        if not isinstance(window, dict) or sorted(window) != sorted(_WINDOW):
            raise ParameterError("window: expected an object with opens and closes, each a time or null")
        try:
            scheme = from_json(json.dumps(given["scheme"]))
        except PlausiblyError as error:
            raise ParameterError(Words("scheme: ", error.words)) from None
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
            raise ParameterError("scheme: expected the scheme of a collection, got something else") from None
        return cls(
            name=given["name"],
            scheme=scheme,
            opens=parsed_time("opens", window["opens"]),
            closes=parsed_time("closes", window["closes"]),
            minimum=given["minimum"],
            cap=given["cap"],
            series=given.get("series"),
            slot=given.get("slot"),
            rota=given.get("rota"),
            smallest_batch=_released(given["release"]) if "release" in given else None,
        )


def with_fresh_hashes(scheme: Scheme) -> Scheme:
    """The scheme with fresh seeds of its public hash functions, so that no two collections share collisions."""
    fresh: dict[int, int] = {}
    return _reseeded(scheme, fresh)


def _reseeded(scheme: Scheme, fresh: dict[int, int]) -> Scheme:
    # Equal seeds stay equal: parts of a scheme may have to agree.
    changes: dict[str, Any] = {}
    for field in fields(scheme):
        value = getattr(scheme, field.name)
        if not field.init:
            continue
        if field.name == "hash_seed":
            changes[field.name] = fresh.setdefault(value, _fresh_seed())
        elif isinstance(value, Scheme):
            changes[field.name] = _reseeded(value, fresh)
        elif isinstance(value, tuple) and value and all(isinstance(each, Scheme) for each in value):
            changes[field.name] = tuple(_reseeded(each, fresh) for each in value)
    changes = {name: value for name, value in changes.items() if value != getattr(scheme, name)}
    return replace(scheme, **changes) if changes else scheme


def _fresh_seed() -> int:
    return int.from_bytes(SecureRandom().stream().head(0, 8).tobytes(), "little")


def parsed_time(name: str, text: object) -> datetime | None:
    """The time in a collection's document, such as 2026-01-31T08:00:00Z, or None for null."""
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        expected = f": expected a time in UTC such as 2026-01-31T08:00:00Z, got {shown(text)}"
        raise ParameterError(Words(Setting(name), expected)) from None


def _released(release: object) -> int:
    if not isinstance(release, dict) or list(release) != [_BATCH]:
        raise ParameterError(f"release: expected an object with {_BATCH}, a number of reports")
    return whole_number(_BATCH, release[_BATCH], 2, MOST_REPORTS)


def _written_time(time: datetime | None) -> str | None:
    return None if time is None else f"{time.replace(tzinfo=None).isoformat()}Z"


def _expect_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        raise ParameterError(Words(Setting(name), ": expected a text, got ", kind_of(text)))
    if not text.strip() or len(text) > _LONGEST_NAME or not text.isprintable():
        raise ParameterError(Words(Setting(name), f": expected 1 to {_LONGEST_NAME} printable characters"))


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        decoded = text if isinstance(text, str) else text.decode()
        expect_few_brackets(decoded, _MOST_BRACKETS)
        given = json.loads(decoded, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        raise ParameterError("expected the JSON document of a collection, got something that is not JSON") from None
    if not isinstance(given, dict):
        raise ParameterError("expected the JSON document of a collection, got JSON of another kind")
    return given


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    given = dict(pairs)
    if len(given) != len(pairs):
        raise ValueError("a field occurs twice")
    return given
