"""True counts as a scheme sees them: from a file or a made-up crowd, matched to the items of its domain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.domain import TAKE_OTHERS, Domain, Strings, object_array
from ..core.errors import DomainError, ParameterError
from ..core.scheme import Scheme
from ..core.wording import nearest, shown
from ..core.words import Words
from ..experiments.csv_files import Labelled
from ..experiments.item_crowds import CROWDS, STRINGS, Counts, crowd, resampled
from ..experiments.string_crowds import MAX_LENGTH

_NAMED = 1024
"""Number of items of a made-up crowd without strings, for a scheme that takes any text."""
_MOST = 2**31 - 1
"""Maximum number of users of a crowd."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The true count of each item: of the whole domain if it can be listed, else of the items that occur."""

    name: str
    items: npt.NDArray[Any]
    counts: Counts
    complete: bool
    others: int = 0
    """Number of users whose value the scheme does not list; they are counted as others."""

    @property
    def n(self) -> int:
        """Number of users in the true counts."""
        return int(self.counts.sum())

    @property
    def f2(self) -> float:
        """The sum of the squared true counts."""
        return float((self.counts.astype(np.float64) ** 2).sum())

    def top(self, k: int) -> npt.NDArray[np.intp]:
        """Positions of the k largest true counts, largest first."""
        return np.argsort(-self.counts, kind="stable")[:k]

    def drawn(self, users: int, seed: int) -> Truth:
        """True counts of a crowd of ``users``, drawn from these with replacement."""
        counts = resampled(self.counts, users, f"rehearsal {self.name} {users}", seed)
        return Truth(self.name, self.items, counts, self.complete, self.others)


def truth_of(scheme: Scheme, found: Labelled) -> Truth:
    """The true counts of a file as the scheme sees them. Values that no client could report are refused by line."""
    held = found.counts > 0
    if not 1 <= int(found.counts.sum()) <= _MOST:
        raise DomainError(f"{found.name}: expected 1 to {_MOST:,} users, got {int(found.counts.sum()):,}")
    texts = [text for text, any_user in zip(found.items, held, strict=True) if any_user]
    try:
        return _seen(scheme.domain, found.name, texts, found.counts[held])
    except DomainError as error:
        if error.position is None:
            raise
        lines = [line for line, any_user in zip(found.lines, held, strict=True) if any_user]
        more = f" (and {error.more:,} other items)" if error.more else ""
        place = f"{found.name}, line {lines[error.position]}{more}"
        raise DomainError(Words(f"{place}: ", error.reason)) from None


def made_up(scheme: Scheme, data: str, users: int, seed: int) -> Truth:
    """True counts of a made-up crowd as the scheme sees it: of its domain, or of strings if that cannot be listed."""
    domain = scheme.domain
    if domain.size is not None:
        return Truth(data, _all_items(domain), crowd(data, users, domain.size, seed), complete=True)
    if data in STRINGS:
        # By type: only Strings have a length, and longer made-up strings would be truncated.
        length = domain.length if isinstance(domain, Strings) else MAX_LENGTH
        found = STRINGS[data](users, min(length, MAX_LENGTH), seed)
        try:
            return _seen(domain, data, [str(text) for text in found.strings.tolist()], found.counts)
        except DomainError:
            why = f"{data}: these strings have characters or lengths that the domain does not allow; "
            raise DomainError(Words(why, "make the scheme with ", TAKE_OTHERS)) from None
    if data in CROWDS and not domain.searchable:
        return Truth(data, domain.examples(_NAMED), crowd(data, users, _NAMED, seed), complete=False)
    raise ParameterError(f"unknown data {shown(data)}; {nearest(data, STRINGS)}")


def _seen(domain: Domain, name: str, texts: list[str], counts: Counts) -> Truth:
    # Different texts may be one item: truncation makes them equal, and many texts are "other".
    if domain.size is None:
        merged: Counter[Any] = Counter()
        for item, count in zip(domain.named(domain.parse(texts)), counts.tolist(), strict=True):
            merged[item] += count
        return Truth(name, object_array(merged), np.array([*merged.values()], dtype=np.int64), complete=False)
    codes = domain.codes_of(texts).astype(np.int64)
    whole = np.bincount(codes, counts, minlength=domain.size).astype(np.int64)
    others = int(whole[-1]) if domain.other else 0
    return Truth(name, _all_items(domain), whole, complete=True, others=others)


def _all_items(domain: Domain) -> npt.NDArray[Any]:
    return domain.decode(domain.spread(domain.code_count))
