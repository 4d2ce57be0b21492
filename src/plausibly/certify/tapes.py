"""Check that client, device and bulk path make the same records from the same words."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..core.enumeration import Probe, one_of_each_group
from ..core.probability import WORD
from ..core.randomness import Layout, SeededRandom, Stream, TapeSource
from ..core.scheme import Encoded, Scheme
from ..device import Randomizer, Source, WordSource
from .client import can_be_run, cut_until, most_draws

Expect = Callable[[bool, str], None]
Counts = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_SPREAD_ITEMS = 8
_SAMPLED_ITEMS = 64
_ROUNDS = 3
"""Number of tapes per item: one on which every coin lies, and two with many words next to a threshold."""
_TAPES = 256
_FIRST = 5
"""The first report that is compared: a call that starts in the middle must find its own words."""
_MOST_WORDS = 2**22
"""Maximum number of words on all tapes, whatever the budget, because they are in memory at once."""
_STEP = 10
"""Cost of a report besides its draws, in draws."""


@dataclass(frozen=True)
class Comparison:
    """The extent of the comparison."""

    scheme: Scheme | None
    """The scheme itself or its copy on a smaller domain; None if its reports are too large to make."""
    items: int = 0
    tapes: int = 0


def compare_tapes(scheme: Scheme, draws: int, expect: Expect) -> Comparison:
    """Compare the records that client, device and bulk path make from the same tapes, for all affordable items."""
    made = scheme if can_be_run(scheme, draws) else cut_until(scheme, lambda small: can_be_run(small, draws))
    if made is None:
        return Comparison(None)
    items, values, tapes, drawn = _crafted_tapes(made, draws)
    expect(drawn == {made.randomizer.words}, "the client draws more or fewer words than it says")
    expect(_bulk_agrees(made, values, tapes), "the bulk path and the client differ on the same words")
    expect(_device_agrees(made, values, tapes), "the device does not turn words into coins as defined")
    return Comparison(made, items, len(tapes) - _FIRST)


def _report(client: Randomizer, value: int, source: Source) -> bytes:
    return client.perturb(value, client.public(source), source)


def _crafted_tapes(scheme: Scheme, draws: int) -> tuple[int, Encoded, Words, set[int]]:
    # The number of items, the values of the reports, their words, and the numbers of words that the client draws.
    client, words = scheme.randomizer, scheme.layout.words
    probes = []
    for code in scheme.domain.spread(_SPREAD_ITEMS):
        probes.append(Probe(most_draws(client)))
        _report(client, scheme.domain.number(code), probes[-1])
    drawn = {len(probe.shape) for probe in probes}
    first = scheme.domain.number(scheme.domain.spread(_SPREAD_ITEMS)[0])
    for public in one_of_each_group(client):
        probes.append(Probe(most_draws(client)))
        client.perturb(first, public, probes[-1])
    # The number of reports that the budget allows: all items in all rounds, or some of them.
    most = min(draws, _MOST_WORDS) // (words + _STEP)
    sampled = min(_SAMPLED_ITEMS, max(_SPREAD_ITEMS, most // 4))
    count = scheme.domain.code_count
    items = scheme.domain.spread(count if count <= most else sampled)
    count = _FIRST + max(32, min(_TAPES, 2**15 // words), min(_ROUNDS * len(items), most))
    random = SeededRandom(1).replay(0).words(Layout(dense=2 * words), 0, count)
    choice, fresh = random[:, :words], random[:, words:]
    critical = np.array(sorted(set().union(*(probe.critical for probe in probes))), dtype=np.uint64)
    critical = np.where(choice >> np.uint64(63), critical[choice % np.uint64(len(critical))], fresh)
    highest = max(probe.highest for probe in probes)
    lies = np.uint64(highest) + fresh % np.uint64(WORD - highest) if highest else fresh
    numbers = np.arange(-_FIRST, count - _FIRST)
    # Item after item with the next kind of words, so that after all rounds every item has had every kind.
    lying = ((numbers + numbers // len(items)) % _ROUNDS)[:, None] == 0
    tapes = np.where(lying, lies, critical)
    return len(items), items[numbers % len(items)], tapes, drawn


@dataclass(frozen=True, kw_only=True)
class _GivenStream(Stream):
    """A stream with given words at its addresses."""

    layout: Layout
    tapes: Words

    @cached_property
    def _head(self) -> npt.NDArray[np.uint8]:
        dense = np.ascontiguousarray(self.tapes[:, : self.layout.dense]).astype("<u8").view(np.uint8)
        split = (self.tapes[:, self.layout.dense :] >> np.uint64(56)).astype(np.uint8)
        return np.hstack([dense, split]).reshape(-1)

    def head(self, first_byte: int, count: int) -> npt.NDArray[np.uint8]:
        return self._head[first_byte : first_byte + count]

    def tail(self, reports: Counts, draws: Counts, attempt: int = 0) -> Words:
        words: Words = self.tapes[(reports + attempt) % len(self.tapes), draws]
        return words if attempt else words << np.uint64(8)


class _GivenRandom(SeededRandom):
    """A source that always returns the given stream."""

    def __init__(self, given: Stream) -> None:
        super().__init__(0)
        self.given = given

    def stream(self) -> Stream:
        return self.given


def _bulk_agrees(scheme: Scheme, values: Encoded, tapes: Words) -> bool:
    client, layout = scheme.randomizer, scheme.layout
    stream = _GivenStream(key=b"", layout=layout, tapes=tapes)
    try:
        bulk = scheme.privatize_encoded(values[_FIRST:], _GivenRandom(stream), first_report=_FIRST)
        return all(
            _report(client, scheme.domain.number(value), stream.source(layout, _FIRST + i)) == bulk[i].tobytes()
            for i, value in enumerate(values[_FIRST:])
        )
    except ValueError:
        return False  # More words, or another record, than there is room for.


def _device_agrees(scheme: Scheme, values: Encoded, tapes: Words) -> bool:
    client = scheme.randomizer
    for i, code in enumerate(values[: min(96, len(tapes) // 2)]):
        value = scheme.domain.number(code)
        words = tapes[i : i + 16].reshape(-1)  # The rows that follow are there for repeats.
        device = WordSource(client.words, io.BytesIO(words.astype("<u8").tobytes()).read)
        if _report(client, value, device) != _report(client, value, TapeSource(words.tolist())):
            return False
    return True
