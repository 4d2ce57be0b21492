"""Releases in batches: the central epsilon of a collection, with its conditions, and what became of its reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..core.wording import plural
from ..shuffling import Crowd, Shuffled, crowd_of
from .collections import Collection
from .inbox import Account

DELTA = 1e-6
"""The chance with which the promise may fail; ``plausibly show SCHEME --shuffled N --delta`` has others."""
CONDITIONS = (
    "The collector is the shuffler: people who operate it, or read its inbox or memory, must be trusted.",
    "Only honest reports count: fake ones hide nobody.",
    "Each user sends one report.",
)
_OTHERWISE = "If one of these conditions fails, the ε of the scheme is what holds."
_FRESH = "Fresh reports of the same user to other slots of the series add up."
_KEPT = 256


def central(collection: Collection) -> Shuffled | None:
    """The central epsilon of a collection's batches; None if it releases its reports one by one."""
    if collection.smallest_batch is None:
        return None
    crowd = crowd_of(collection.scheme, collection.smallest_batch)
    return Shuffled(collection.scheme, crowd.users, DELTA, 1, _epsilon(crowd), crowd.blanket.given)


@lru_cache(_KEPT)
def _epsilon(crowd: Crowd) -> float:
    # It takes up to two seconds, and all slots of a series have the same crowd.
    return crowd.epsilon(DELTA)


def conditions(collection: Collection) -> tuple[str, ...]:
    """The conditions for the central epsilon of a collection, as sentences."""
    found = central(collection)
    given = [f"The hash functions act as {found.given}."] if found is not None and found.given else []
    return (*CONDITIONS, *given, *[_FRESH] * (collection.rota is not None), _OTHERWISE)


def release_of(account: Account) -> dict[str, Any] | None:
    """What an answer says of releases in batches, JSON-ready; None if the collection has none.

    It changes with the releases alone: reports that wait are not in it.
    """
    found = central(account.collection)
    if found is None:
        return None
    told: dict[str, Any] = {"smallest_batch": found.users, "dropped": account.dropped}
    if account.dropped:
        told["note"] = note_on_dropped(account)
    promise = {"epsilon": found.epsilon, "delta": found.delta, "verdict": found.verdict}
    return told | {"central": promise | {"conditions": list(conditions(account.collection))}}


def note_on_dropped(account: Account) -> str:
    """The sentence on reports that were dropped at the close; empty if there are none."""
    if not account.dropped:
        return ""
    were = "was" if account.dropped == 1 else "were"
    least = plural(account.collection.smallest_batch or 1, "report")
    return f"{plural(account.dropped, 'report')} {were} dropped at the close, because a batch has at least {least}."


def sentences(account: Account) -> Iterator[str]:
    """The batches of a collection in words: the promise, and what was dropped."""
    found = central(account.collection)
    if found is not None:
        yield f"{found.verdict[0].upper()}{found.verdict[1:]}, which is the collector."
        yield from filter(None, [note_on_dropped(account)])
