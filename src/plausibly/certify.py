"""Audits: an exact certificate by running the shipped client on every outcome of its coins, and a statistical one."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, product
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from . import kernels
from .core.accumulator import Accumulator
from .core.codec import decode_reports, encode_reports
from .core.enumeration import (
    Law,
    Probe,
    Public,
    Shape,
    mixture,
    one_of_each_group,
    output_law,
    private_paths,
    public_outcomes,
    worst_ratio,
)
from .core.errors import ParameterError, ReportError
from .core.laws import Estimator, choose_estimator
from .core.probability import WORD, log_upper_bound, within_exp
from .core.randomness import Layout, RandomLike, SeededRandom, Stream, TapeSource
from .core.scheme import Encoded, Reports, Scheme, expect_scheme
from .device import Randomizer, Source, WordSource

# What an audit may cost: a few hundredths of a second for most schemes.
_MOST_PATHS = 4_000
_MOST_ITEMS = 8
_MOST_MOMENT_ITEMS = 16
_MOST_CELLS = 64
_MOST_PUBLICS = 64
_SAMPLED_PUBLICS = 8
_MOST_TAPES = 256
_MOST_LIKELIHOODS = 128

Bits = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, repr=False)
class Certificate:
    """What the exact audit found: ``holds`` is the verdict, ``findings`` says what is wrong, if anything."""

    scheme: Scheme
    enumerated: Scheme
    """The scheme whose client was run: the one asked about, or it on a domain small enough to enumerate."""
    worst_ratio: Fraction | float
    """The largest likelihood ratio of one record under two items; infinite if one of them cannot send it."""
    epsilon: Fraction | float
    """The privacy delivered: an upper bound of the log of that ratio, and of the one the client states."""
    attained: bool
    """Whether some record has the ratio that the client states as its worst: then the bound is tight."""
    items: int
    paths: int
    public_outcomes: int
    public_complete: bool
    """Whether every outcome of the public coins was run, or a sample."""
    tapes: int
    """Reports made by client and bulk path from the same words, half of them words next to a threshold."""
    moment_items: int
    """Size of the domain on which mean and variance were computed; 0 if they were not."""
    unbiased: bool | None
    """Exactly, over all coins, with every decoder; None where it rests on ``scheme.unbiased_given``."""
    variance_exact: bool | None
    findings: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """The certificate, JSON-ready: numbers that must be exact as text, what is infinite as "infinity"."""
        return {
            "holds": self.holds,
            "findings": list(self.findings),
            "scheme": self.scheme.name,
            "fingerprint": self.scheme.fingerprint(),
            "epsilon_asked": str(self.scheme.epsilon),
            "epsilon_delivered": _text(self.epsilon),
            "epsilon_rounded_up": _rounded_up(self.epsilon),
            "worst_ratio": _text(self.worst_ratio),
            "attained": self.attained,
            "whole_domain": self.enumerated is self.scheme,
            "enumerated": self.enumerated.to_dict(),
            "items": self.items,
            "paths": self.paths,
            "public_outcomes": self.public_outcomes,
            "public_complete": self.public_complete,
            "tapes": self.tapes,
            "moment_items": self.moment_items,
            "unbiased": self.unbiased,
            "variance_exact": self.variance_exact,
            "rests_on": self.scheme.unbiased_given,
        }

    def __str__(self) -> str:
        run = f"{self.items} of {self.scheme.domain.size or '2^64'} items"
        if self.enumerated is not self.scheme:
            run = f"{self.items} items, the domain cut to {self.enumerated.domain.size or 'a smaller alphabet'}"
        if not self.public_complete or self.public_outcomes > 1:
            kind = "all" if self.public_complete else "a sample of"
            run += f"; {kind} {self.public_outcomes} public outcome{'s' * (self.public_outcomes > 1)}"
        rests = f"given {self.scheme.unbiased_given or 'coins too many to enumerate'}"
        exact = f"exactly, over all coins, on {self.moment_items} items"
        lines = [
            f"{_named(self.scheme)} {'holds' if self.holds else 'DOES NOT HOLD'}",
            f"  privacy   epsilon <= {_rounded_up(self.epsilon)}{', attained' if self.attained else ''}",
            f"  client    run on all private coins, {self.paths:,} paths: {run}",
            f"  bulk      compared with the client on {self.tapes} tapes of words",
            f"  unbiased  {({True: exact, False: 'NO', None: rests})[self.unbiased]}",
            f"  variance  {({True: exact, False: 'NO', None: rests})[self.variance_exact]}",
        ]
        return "\n".join([*lines, *(f"  FINDING   {finding}" for finding in self.findings)])

    __repr__ = __str__


def audit(scheme: Scheme) -> Certificate:
    """The exact certificate of a scheme: the output law of the client that ships, decided in integers.

    Proven for all pairs of the items run, given each public outcome run: no record is more than e^epsilon times as
    likely under one item as under another, neither draws nor record size depend on the item or on a coin, and the
    likelihood that the scheme states is the true one. A domain of too many paths is cut for that; the worst ratio
    that the client states must bound the one found, and on the whole domain it must be below e^epsilon. How words
    become coins, and the bulk path, are compared on tapes full of the words at which a draw changes its mind.
    """
    expect_scheme(scheme)
    findings: list[str] = []

    def expect(holds: bool, otherwise: str) -> None:
        if not holds and otherwise not in findings:
            findings.append(otherwise)

    small = _affordable(scheme)
    client = small.randomizer
    stated, whole = client.worst_ratio(), scheme.randomizer.worst_ratio()
    items = _spread(small, max(3, min(_MOST_ITEMS, _MOST_PATHS // private_paths(client))))
    groups = one_of_each_group(client)
    affordable = min(_MOST_PUBLICS, _MOST_PATHS // (private_paths(client) * len(items)))
    every_public = public_outcomes(client, max(1, affordable))
    worst: Fraction | float = Fraction(1)
    paths = outcomes = 0
    for public in every_public or chain(groups[1:], _public_sample(client)):
        laws = [output_law(client, item, public) for item in items]
        worst = max(worst, worst_ratio(laws))
        shapes: set[Shape] = set()
        for item, law in zip(items, laws, strict=True):
            shapes |= law.shapes
            paths += law.paths
            misreading = _misreading(small, item, law)
            expect(not misreading, misreading)
        expect(len(shapes) == 1, "the draws depend on the item or on a coin")
        outcomes += 1
        # A sampled hash may send all items to one value: go on until the worst is seen or the paths are spent.
        enough = outcomes >= len(groups) and (outcomes >= _SAMPLED_PUBLICS or paths >= _MOST_PATHS)
        if not every_public and enough and (worst >= stated or paths >= 4 * _MOST_PATHS):
            break
    expect(worst != math.inf and within_exp(Fraction(worst), scheme.epsilon), "a likelihood ratio exceeds e^epsilon")
    expect(worst <= stated, "a likelihood ratio exceeds the worst one that the client states")
    expect(within_exp(whole, scheme.epsilon), "the thresholds exceed e^epsilon on the whole domain")
    values, tapes, drawn = _crafted_tapes(scheme)
    expect(drawn == {scheme.randomizer.words}, "the client draws more or fewer words than it says")
    expect(_bulk_agrees(scheme, values, tapes), "the bulk path and the client differ on the same words")
    expect(_device_agrees(scheme, values, tapes), "the device does not turn words into coins as defined")
    moment_items, unbiased, variance_exact = _moments(scheme)
    expect(unbiased is not False, "the estimate is biased")
    expect(variance_exact is not False, "the variance is not the stated one")
    return Certificate(
        scheme=scheme,
        enumerated=small,
        worst_ratio=worst,
        epsilon=math.inf if worst == math.inf else log_upper_bound(max(Fraction(worst), whole), scheme.epsilon),
        attained=worst == stated,
        items=len(items),
        paths=paths,
        public_outcomes=outcomes,
        public_complete=bool(every_public),
        tapes=len(tapes),
        moment_items=moment_items,
        unbiased=unbiased,
        variance_exact=variance_exact,
        findings=tuple(findings),
    )


def _rounded_up(epsilon: Fraction | float) -> str:
    # "<=" must stay true of the digits shown.
    return "infinity" if epsilon == math.inf else f"{math.ceil(epsilon * 10**12) / 10**12:.12g}"


def _named(scheme: Scheme) -> str:
    # A search with all its parts would fill a page.
    text = repr(scheme)
    return text if len(text) <= 200 else f"{scheme.name} with epsilon={scheme.epsilon} ({scheme.fingerprint()[:12]})"


def _text(number: Fraction | float) -> str:
    return "infinity" if number == math.inf else str(number)


# --- what is run ------------------------------------------------------------------------------------------------


def _affordable(scheme: Scheme) -> Scheme:
    # A scheme of few items, or of any, may still have many coins: a sketch has those of its cells.
    small, paths, size = scheme, private_paths(scheme.randomizer), max(scheme.domain.size or 2, _MOST_CELLS)
    while size > 2 and 3 * paths > _MOST_PATHS:
        size = max(2, size // 2)
        cut = scheme.cut(size)
        if private_paths(cut.randomizer) == paths < WORD:
            break  # The paths are those of a hash range: the whole domain costs no more.
        small, paths = cut, private_paths(cut.randomizer)
    return small


def _spread(scheme: Scheme, most: int) -> list[int]:
    return [scheme.domain.number(code) for code in scheme.domain.spread(most)]


def _public_sample(client: Randomizer) -> Iterator[Public]:
    # A fixed one, so that the same scheme always gets the same certificate.
    stream, layout = SeededRandom(0).replay(0), Layout(dense=client.words)
    return (client.public(stream.source(layout, i)) for i in range(_MOST_PUBLICS))


def _misreading(scheme: Scheme, item: int, law: Law) -> str:
    # What the server gets wrong about the records of this law, if anything.
    if {len(record) for record in law.weights} != {scheme.report_dtype.itemsize}:
        return "the size of a record is not the stated one"
    records = np.frombuffer(b"".join(law.weights), dtype=scheme.report_dtype)
    try:
        scheme.accept(records)
    except ReportError:
        return "the server refuses what the client sends"
    # All records of a small law; of a large one as many, spread over it.
    step = 1 + (len(records) - 1) // _MOST_LIKELIHOODS
    for record in records[::step]:
        stated = scheme.likelihood(record, item)
        if stated.numerator * law.denominator != law.weights[record.tobytes()] * stated.denominator:
            return "the stated likelihood is not the client's law"
    return ""


# --- words, coins and the bulk path -----------------------------------------------------------------------------


def _report(client: Randomizer, value: int, source: Source) -> bytes:
    return client.perturb(value, client.public(source), source)


def _crafted_tapes(scheme: Scheme) -> tuple[Encoded, Words, set[int]]:
    # Values, the words of a report of each (every other one critical), and how many words the client draws.
    items, client = scheme.domain.spread(_MOST_ITEMS), scheme.randomizer
    probes = [Probe() for _ in items]
    for item, probe in zip(items, probes, strict=True):
        _report(client, scheme.domain.number(item), probe)
    drawn = {len(probe.shape) for probe in probes}
    for public in one_of_each_group(client):
        probes.append(Probe())
        client.perturb(scheme.domain.number(items[0]), public, probes[-1])
    critical = np.array(sorted(set().union(*(probe.critical for probe in probes))), dtype=np.uint64)
    words = scheme.layout.words
    count = max(32, min(_MOST_TAPES, 2**15 // words))
    random = SeededRandom(1).replay(0).words(Layout(dense=2 * words), 0, count)
    choice, fresh = random[:, :words], random[:, words:]
    tapes = np.where(choice >> np.uint64(63), critical[choice % np.uint64(len(critical))], fresh)
    return items[np.arange(count) % len(items)], tapes, drawn


@dataclass(frozen=True, kw_only=True)
class _GivenStream(Stream):
    """A stream that has given words at its addresses."""

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
    """A source whose every stream is the given one."""

    def __init__(self, given: Stream) -> None:
        super().__init__(0)
        self.given = given

    def stream(self) -> Stream:
        return self.given


def _bulk_agrees(scheme: Scheme, values: Encoded, tapes: Words) -> bool:
    client, layout = scheme.randomizer, scheme.layout
    stream = _GivenStream(key=b"", layout=layout, tapes=tapes)
    first = 5  # A call that starts in the middle must find its own words.
    try:
        bulk = scheme.privatize_encoded(values[first:], _GivenRandom(stream), first_report=first)
        return all(
            _report(client, scheme.domain.number(value), stream.source(layout, first + i)) == bulk[i].tobytes()
            for i, value in enumerate(values[first:])
        )
    except ValueError:
        return False  # More words, or another record, than there is room for.


def _device_agrees(scheme: Scheme, values: Encoded, tapes: Words) -> bool:
    client = scheme.randomizer
    for i, code in enumerate(values[: min(64, len(tapes) // 2)]):
        value = scheme.domain.number(code)
        words = tapes[i : i + 16].reshape(-1)  # The rows that follow are there for repeats.
        device = WordSource(client.words, io.BytesIO(words.astype("<u8").tobytes()).read)
        if _report(client, value, device) != _report(client, value, TapeSource(words.tolist())):
            return False
    return True


# --- bias and variance ------------------------------------------------------------------------------------------


def _moments(scheme: Scheme) -> tuple[int, bool | None, bool | None]:
    # On the largest domain that can be afforded, with every decoder: is the mean of one report's estimates the
    # holder's item, and their variance the stated one?
    if scheme.unbiased_given or scheme.domain.size is None:
        return 0, None, None
    for size in range(min(scheme.size, _MOST_MOMENT_ITEMS), 1, -1):
        small = scheme if size == scheme.size else scheme.cut(size)
        client = small.randomizer
        publics = public_outcomes(client, _MOST_PATHS // (private_paths(client) * size))
        if publics:
            break
    else:
        return 0, None, None
    laws = [mixture([output_law(client, x, public) for public in publics]) for x in range(size)]
    try:
        verdicts = [_moments_of(small, laws, options) for options in _decoders(small)]
    except ValueError:
        verdicts = [(False, False)]  # The server cannot read a record.
    return size, all(mean for mean, _ in verdicts), all(variance for _, variance in verdicts)


def _decoders(scheme: Scheme) -> Iterator[dict[str, Any]]:
    hints = get_type_hints(scheme.estimator)
    choices = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def _moments_of(scheme: Scheme, laws: list[Law], options: dict[str, Any]) -> tuple[bool, bool]:
    estimator = choose_estimator(scheme.estimator, options)
    assert isinstance(estimator, Estimator)  # what is unbiased over its own coins is linear
    records = list(dict.fromkeys(record for law in laws for record in law.weights))
    scores = np.array([_tally(scheme, [record]).scores(**options) for record in records]).astype(object)
    # Reports must add up: then what holds for one user holds for a crowd.
    crowd, totals = _tally(scheme, records), scores.sum(axis=0)
    values = [float(estimator.scale * (total - len(records) * estimator.offset)) for total in totals]
    unbiased = bool((crowd.scores(**options) == totals).all())
    unbiased &= np.allclose(crowd.estimate(**options).values, values, rtol=1e-9, atol=1e-6)
    variance_exact = True
    for x, law in enumerate(laws):
        weights = np.array([law.weights.get(record, 0) for record in records], dtype=object)
        for y, score in enumerate(scores.T):
            mean = Fraction(weights @ score, law.denominator)
            square = Fraction(weights @ (score * score), law.denominator)
            given = {"f": int(x == y), "mates": int(scheme.share_a_block(x, y))}
            stated = estimator.law.exact(1, **given)
            unbiased &= estimator.scale * (mean - estimator.offset) == given["f"]
            variance_exact &= estimator.scale**2 * (square - mean**2) == stated
            variance_exact &= math.isclose(estimator.law.at(1, **given), stated, rel_tol=1e-9)
    return unbiased, variance_exact


def _tally(scheme: Scheme, records: list[bytes]) -> Accumulator:
    tally = scheme.accumulator()
    tally.add(np.frombuffer(b"".join(records), dtype=scheme.report_dtype))
    return tally


# --- statistics on wire records ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class StatisticalAudit:
    """A lower confidence bound on the epsilon of wire records; above the scheme's epsilon it is a violation."""

    scheme: Scheme
    lower_bound: float
    confidence: float
    reports: int

    @property
    def consistent(self) -> bool:
        """Whether the reports are compatible with the privacy the scheme promises."""
        return self.lower_bound <= float(self.scheme.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """The finding, JSON-ready."""
        found = {"lower_bound": self.lower_bound, "confidence": self.confidence, "reports": self.reports}
        return {"consistent": self.consistent, **found, "fingerprint": self.scheme.fingerprint()}

    def __str__(self) -> str:
        verdict = "is consistent with" if self.consistent else "VIOLATES"
        shown = f"{self.reports:,} reports show epsilon >= {self.lower_bound:.4g}"
        return f"{_named(self.scheme)} {verdict} its epsilon: {shown} with confidence {self.confidence:g}"


def audit_statistically(
    scheme: Scheme, *, reports: int = 20_000, confidence: float = 0.999, rng: RandomLike | None = None
) -> StatisticalAudit:
    """Attacks the bulk path on wire bytes: by how much, at least, does some event tell two items apart?

    Of the ``reports`` of each of three items, one half chooses the event (one or two bits of the record, or which
    item the stated likelihood favours) and the other half bounds its probabilities (Clopper and Pearson 1934). If
    reports are independent, the bound exceeds the true epsilon with probability at most 1 - confidence.
    """
    expect_scheme(scheme)
    numbers = isinstance(reports, Integral) and isinstance(confidence, Real)
    if not numbers or not 0 < confidence < 1 or reports < 8:
        raise ParameterError("expected 0 < confidence < 1 and at least 8 reports")
    codes = scheme.domain.spread(3)
    items = [scheme.domain.number(code) for code in codes]
    seen = {item: _wire_records(scheme, code, reports, rng) for item, code in zip(items, codes, strict=True)}
    pairs = list(combinations(items, 2))
    # Each of two bounds, for both orders of each pair, may be the one that is wrong.
    alpha = (1 - confidence) / (4 * len(pairs))
    bound = max(_pair_bound(scheme, pair, seen[pair[0]], seen[pair[1]], alpha) for pair in pairs)
    return StatisticalAudit(scheme, max(0.0, bound), confidence, reports * len(items))


def _wire_records(scheme: Scheme, code: Any, count: int, rng: RandomLike | None) -> Reports:
    reports = scheme.privatize_encoded(np.repeat(np.asarray(code)[None], count, axis=0), rng)
    return decode_reports(scheme, encode_reports(scheme, reports))


def _pair_bound(scheme: Scheme, pair: tuple[int, int], a: Reports, b: Reports, alpha: float) -> float:
    half = len(a) // 2
    events = _events(scheme, pair, a[:half], b[:half])
    trained = [events(reports[:half]).sum(axis=0) for reports in (a, b)]
    tested = [events(reports[half:]).sum(axis=0) for reports in (a, b)]
    bounds = [0.0]
    for likely, unlikely in ((0, 1), (1, 0)):
        event = int(np.argmax(_evidence(trained[likely], trained[unlikely])))
        low = clopper_pearson(int(tested[likely][event]), len(a) - half, alpha)[0]
        high = clopper_pearson(int(tested[unlikely][event]), len(a) - half, alpha)[1]
        bounds += [math.log(low / high)] if low > 0 else []
    return max(bounds)


def _events(scheme: Scheme, pair: tuple[int, int], a: Reports, b: Reports) -> Callable[[Reports], Bits]:
    # The bits, set or not, that tell these reports apart best; any two of them; what the likelihood favours.
    count = 8 * scheme.report_dtype.itemsize
    ones = [kernels.column_sums(_bytes(reports), count) for reports in (a, b)]
    zeros = [len(a) - counts for counts in ones]
    evidence = [_evidence(*counts) for counts in (ones, ones[::-1], zeros, zeros[::-1])]
    literals = [divmod(int(i), count) for i in np.argsort(-np.concatenate(evidence), kind="stable")[:12]]

    def columns(reports: Reports) -> Bits:
        raw = _bytes(reports)
        single = [(raw[:, bit >> 3] >> (bit & 7) & 1 == 1) == (kind < 2) for kind, bit in literals]
        double = [x & y for x, y in combinations(single, 2)]
        # The bits of a bitmap speak for themselves; those of another record need its public part to be read.
        favoured = [] if scheme.layout.split else _favoured(scheme, pair, reports)
        return np.column_stack([*single, *double, *favoured])

    return columns


def _favoured(scheme: Scheme, pair: tuple[int, int], reports: Reports) -> list[Bits]:
    distinct, where = np.unique(_bytes(reports), axis=0, return_inverse=True)
    records = distinct.reshape(-1).view(scheme.report_dtype)
    first, second = (np.array([float(scheme.likelihood(record, item)) for record in records]) for item in pair)
    return [(first > second)[where], (second > first)[where]]


def _evidence(likely: Counts, unlikely: Counts) -> npt.NDArray[np.float64]:
    # Log ratios less three standard errors: rare events have wild ratios.
    more, less = likely + 0.5, unlikely + 0.5
    evidence: npt.NDArray[np.float64] = np.log(more / less) - 3 * np.sqrt(1 / more + 1 / less)
    return evidence


def _bytes(reports: Reports) -> npt.NDArray[np.uint8]:
    return np.frombuffer(reports.tobytes(), dtype=np.uint8).reshape(len(reports), -1)


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Lower and upper bounds of a probability, each wrong with probability at most alpha."""
    k = np.arange(trials + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(k[1:]))])
    choose = factorials[-1] - factorials - factorials[::-1]

    def chance(p: float, part: slice) -> float:
        terms = choose[part] + k[part] * math.log(p) + (trials - k[part]) * math.log1p(-p)
        return float(np.exp(terms).sum())

    low = _bisect(lambda p: chance(p, slice(successes, None)) < alpha)[0] if successes else 0.0
    high = _bisect(lambda p: chance(p, slice(successes + 1)) >= alpha)[1] if successes < trials else 1.0
    return low, high


def _bisect(below: Callable[[float], bool]) -> tuple[float, float]:
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high
