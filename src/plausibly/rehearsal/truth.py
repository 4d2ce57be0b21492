"""Who holds what, as a scheme sees it: counts from a file or a made-up crowd, matched to the items of its domain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.domain import Integers, Keys, Labels, Strings
from ..core.errors import DomainError, ParameterError
from ..core.scheme import Scheme
from ..core.wording import nearest, shown
from ..experiments.crowds import CROWDS, STRINGS, Counts, crowd, resampled
from ..experiments.csv_files import Labelled
from ..experiments.datasets import MAX_LENGTH

_NAMED = 1024
"""Items of a made-up crowd that has no strings, for a scheme that takes any text."""
_MOST = 2**31 - 1
"""Users of a crowd."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The true count of each item: of the whole domain where that can be listed, else of those that are held."""

    name: str
    items: npt.NDArray[Any]
    counts: Counts
    complete: bool
    others: int = 0
    """Users whose value is not one that the scheme lists, and who are counted as others."""

    @property
    def n(self) -> int:
        """Users."""
        return int(self.counts.sum())

    @property
    def f2(self) -> float:
        """The sum of the squared counts."""
        return float((self.counts.astype(np.float64) ** 2).sum())

    def top(self, k: int) -> npt.NDArray[np.intp]:
        """The places of the k most common items, the most common first."""
        return np.argsort(-self.counts, kind="stable")[:k]

    def drawn(self, users: int, seed: int) -> Truth:
        """So many users, drawn from these as from an urn that never empties."""
        counts = resampled(self.counts, users, f"rehearsal {self.name} {users}", seed)
        return Truth(self.name, self.items, counts, self.complete, self.others)


def truth_of(scheme: Scheme, found: Labelled) -> Truth:
    """The counts of a file as the scheme sees them; refuses what no client could report, by line and not by name."""
    held = found.counts > 0
    if not 1 <= int(found.counts.sum()) <= _MOST:
        raise DomainError(f"{found.name}: expected 1 to {_MOST:,} users, got {int(found.counts.sum()):,}")
    items = [item for item, any_user in zip(found.items, held, strict=True) if any_user]
    lines = [line for line, any_user in zip(found.lines, held, strict=True) if any_user]
    counts, domain = found.counts[held], scheme.domain
    if isinstance(domain, Integers | Labels):
        codes = _codes(domain, items)
        _refuse([line for line, code in zip(lines, codes, strict=True) if code < 0], found.name, _expected(domain))
        whole = np.bincount(codes, counts, minlength=domain.size).astype(np.int64)
        names = domain.decode(np.arange(domain.size, dtype=np.uint64))
        listed = set(domain.labels) if isinstance(domain, Labels) else set()
        others = sum(int(c) for item, c in zip(items, counts, strict=True) if listed and item not in listed)
        return Truth(found.name, names, whole, complete=True, others=others)
    if isinstance(domain, Keys):
        return Truth(found.name, _names(items), counts, complete=False)
    assert isinstance(domain, Strings)
    return _texts(found.name, domain, items, counts, lines)


def made_up(scheme: Scheme, data: str, users: int, seed: int) -> Truth:
    """A made-up crowd as the scheme sees it: of its whole domain, or of strings where that cannot be listed."""
    domain = scheme.domain
    if domain.size is not None:
        return Truth(
            data,
            domain.decode(np.arange(domain.size, dtype=np.uint64)),
            crowd(data, users, domain.size, seed),
            complete=True,
        )
    length = domain.length if isinstance(domain, Strings) else MAX_LENGTH
    if data in STRINGS:
        found = STRINGS[data](users, min(length, MAX_LENGTH), seed)
        items, counts = [str(text) for text in found.strings.tolist()], found.counts
        if isinstance(domain, Strings):
            return _texts(data, domain, items, counts, None)
        return Truth(data, _names(items), counts, complete=False)
    if data in CROWDS and isinstance(domain, Keys):
        counts = crowd(data, users, _NAMED, seed)
        return Truth(data, _names([f"item {i + 1}" for i in range(_NAMED)]), counts, complete=False)
    raise ParameterError(f"unknown data {shown(data)}; {nearest(data, STRINGS)}")


def _codes(domain: Integers | Labels, items: list[str]) -> npt.NDArray[np.int64]:
    # −1 for what is not in the domain.
    if isinstance(domain, Labels):
        index = {label: i for i, label in enumerate(domain.labels)}
        missing = domain.size - 1 if domain.other else -1
        return np.array([index.get(item, missing) for item in items], dtype=np.int64)
    numbers = [int(item) if item.isascii() and item.isdigit() and len(item) <= 10 else -1 for item in items]
    return np.array([number if number < domain.size else -1 for number in numbers], dtype=np.int64)


def _expected(domain: Integers | Labels) -> str:
    if isinstance(domain, Integers):
        return f"an item that is a whole number below {domain.size:,}, as the scheme has no names"
    return f"one of the {domain.size:,} labels of the scheme (other=True would take any text)"


def _texts(name: str, domain: Strings, items: list[str], counts: Counts, lines: list[int] | None) -> Truth:
    # What is cut may become equal.
    texts: list[Any] = items if isinstance(domain.alphabet, str) else [item.encode() for item in items]
    try:
        seen = domain.decode(domain.encode(texts)).tolist()
    except DomainError:
        if lines is None:
            raise DomainError(
                f"{name}: these strings have characters, or a length, that the scheme does not take; other=True in its "
                "domain would take them"
            ) from None
        expected = "characters of the alphabet only, and no more of them than the scheme takes"
        _refuse([line for line, text in zip(lines, texts, strict=True) if not _fits(domain, text)], name, expected)
        raise
    merged: Counter[Any] = Counter()
    for text, count in zip(seen, counts.tolist(), strict=True):
        merged[text] += count
    return Truth(name, _names(list(merged)), np.array([*merged.values()], dtype=np.int64), complete=False)


def _fits(domain: Strings, text: Any) -> bool:
    try:
        domain.encode([text])
    except DomainError:
        return False
    return True


def _names(items: list[Any]) -> npt.NDArray[Any]:
    names = np.empty(len(items), dtype=object)
    names[:] = items
    return names


def _refuse(lines: list[int], name: str, expected: str) -> None:
    if lines:
        more = f" (and {len(lines) - 1:,} other items)" if len(lines) > 1 else ""
        raise DomainError(f"{name}, line {lines[0]}{more}: expected {expected}")
