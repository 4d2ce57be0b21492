"""What is meant to catch faults: each detector says in words what it found wrong, and nothing if all is well.

Statistical detectors have fixed seeds. Without a fault each would raise a false alarm with the probability stated.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

import naive
import naive_client
import plausibly
import trusting
from contract.entries import ORACLES
from plausibly import SecureRandom, SeededRandom, device, kernels
from plausibly.core import codec
from plausibly.core import scheme as scheme_module
from plausibly.core.domain.normalizing import normalized_texts
from plausibly.core.enumeration import public_outcomes
from plausibly.core.laws import Estimator
from plausibly.core.probability import within_exp
from plausibly.core.randomness import Layout
from plausibly.oracles import HM
from vectors import normalized


@dataclass(frozen=True)
class Detector:
    """A check by name; ``run`` yields what is wrong."""

    name: str
    run: Callable[[], Iterator[str]] = field(compare=False)


class EveryDecoder(HM):
    """HM with its choice of decoders spelled out, so that the audit takes both."""

    def estimator(self, decoder: Literal["full", "paper"] = "full") -> Estimator:
        return super().estimator(decoder)


def make(name: str, **parameters: Any) -> plausibly.Scheme:
    """The scheme of that name; HM with both decoders."""
    scheme = plausibly.make(name, **parameters)
    if not isinstance(scheme, HM):
        return scheme
    return EveryDecoder(epsilon=scheme.epsilon, domain=scheme.domain, coefficients=scheme.coefficients)


# --- exact ------------------------------------------------------------------------------------------------------


def audit(name: str, **parameters: Any) -> Detector:
    """The exact audit of one scheme."""

    def run() -> Iterator[str]:
        yield from plausibly.audit(make(name, **parameters)).findings

    shown = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return Detector(f"audit of {name}({shown})", run)


def sketch(name: str, oracle: str = "DE", *, cells: int = 6, rows: int = 3, epsilon: Any = 1, **given: Any) -> Any:
    """A sketch over so many cells of an oracle, on 20 items."""
    part = plausibly.make(oracle, epsilon=epsilon, domain_size=cells)
    return plausibly.make(name, oracle=part, rows=rows, **{"domain_size": 20, **given})


def audit_sketch(name: str, oracle: str) -> Detector:
    """The exact audit of a sketch over an oracle."""
    return Detector(f"audit of {name} over {oracle}", lambda: iter(plausibly.audit(sketch(name, oracle)).findings))


def _tight_thresholds() -> Iterator[str]:
    for name in ORACLES:
        for epsilon in ("0.1", 1, 5):
            scheme = plausibly.make(name, epsilon=epsilon, domain_size=5)
            client = scheme.randomizer
            if scheme.spends_less:
                # More would still be private; the definition has thresholds of its own.
                defined = naive_client.scheme_of(name, str(epsilon), {"type": "integers", "size": 5})
                if (client.keep, client.flip) != (int(defined["keep"]), int(defined["flip"])):
                    yield f"{name}: a threshold is not the defined one"
                continue
            noisier = "flip" if name == "OUE" else "keep"
            setattr(client, noisier, getattr(client, noisier) + (-1 if name == "OUE" else 1))
            if name == "SUE":
                client.flip -= 1
            if within_exp(client.worst_ratio(), Fraction(epsilon)):
                yield f"{name}: the threshold is not the largest private one"


tight_thresholds = Detector("thresholds are as large as privacy allows", _tight_thresholds)


# --- the hash family --------------------------------------------------------------------------------------------

_TABLE = [
    (0x0, 0, 2, 64, 0),
    (0x1, 1, 4, 64, 3),
    (0x0123456789ABCDEF, 1023, 21, 64, 2),
    (0xFFFFFFFFFFFFFFFF, 4095, 150, 64, 142),
    (0xDEADBEEFCAFEF00D, 999_983, 21, 1024, 5),
]
"""Seed, item, range, split and hash, computed when the family was defined (docs/adr/0006-hash-family.md)."""


def _defined_hash(seed: int, x: int, g: int, split: int) -> int:
    def premix(j: int) -> int:
        for shift, factor in ((16, 0x21F0AAAD), (15, 0xD35A2D97)):
            j = (j ^ (j >> shift)) * factor % 2**32
        return j ^ (j >> 15)

    def entry(first: int, second: int, j: int) -> int:
        t = premix(j)
        for half, factor in ((first, 0x21F0AAAD), (second, 0xD35A2D97)):
            t = (t ^ half) * factor % 2**32
            t ^= t >> 15
        return ((t >> 8) * g) >> 24

    low, high = seed % 2**32, seed >> 32
    return (entry(low, high, x % split) + entry(high, low, x // split)) % g


def _hash_family() -> Iterator[str]:
    for seed, x, g, split, wanted in _TABLE:
        assert _defined_hash(seed, x, g, split) == wanted
    seeds = SeededRandom(0).replay(0).words(Layout(dense=3), 0, 40)
    rows = [(seed, x, g, split) for seed, x, g, split, _ in _TABLE]
    rows += [(seed, x % 5000, 21, 128) for seed, x, _ in seeds.tolist()]
    rows += [(seed, key, 300, 2**32) for seed, key, _ in seeds.tolist()]
    for seed, x, g, split in rows:
        wanted = _defined_hash(seed, x, g, split)
        one_seed, one_item = np.array([seed], dtype=np.uint64), np.array([x], dtype=np.uint64)
        if device.local_hash(seed, x, split, g) != wanted:
            yield "the device hashes otherwise than defined"
        if kernels.local_hash(one_seed, one_item, split, g)[0] != wanted:
            yield "the bulk path hashes otherwise than defined"
        hashes = np.array([wanted], dtype=np.uint32)
        if split <= 1024 and kernels.support_counts(one_seed, hashes, x + 1, split, g)[x] != 1:
            yield "the fold does not see the support of a report for its own item"
        if kernels.support_of(one_seed, hashes, one_item, split, g)[0] != 1:
            yield "the decoder of keys does not see the support of a report for its own item"


hash_family = Detector("the hash family is the defined one", _hash_family)


def _fresh_functions() -> Iterator[str]:
    first, second = ({device.public_hash_seed(seed, i) for i in range(100)} for seed in (0, 1))
    if len(first) != 100 or first & second:
        yield "another hash_seed does not give other hash functions"


fresh_functions = Detector("FLH's functions follow hash_seed", _fresh_functions)


def _keys_apart() -> Iterator[str]:
    forms = (5, "5", b"5")
    if len({device.item_key(item, 0) for item in forms}) != 3:
        yield "5, '5' and b'5' are not three keys"
    if device.item_key("5", 0) == device.item_key("5", 1):
        yield "another hash_seed does not give other keys"


keys_apart = Detector("keys of different types differ", _keys_apart)


# --- randomness -------------------------------------------------------------------------------------------------


def _addresses() -> Iterator[str]:
    # The definition, block by block: counter = call(32) lane(1) attempt(7) report(48) draw(40), big-endian.
    stream = SeededRandom(5).replay(3)
    encrypt = Cipher(AES(stream.key), ECB()).encryptor().update

    def block(rest: int, lane: int) -> bytes:
        return encrypt((stream.call << 96 | lane << 95 | rest).to_bytes(16, "big"))

    for first_byte in (0, 5, 16, 1000, 2**16, 2**20 + 3):
        start = first_byte // 16
        head = b"".join(block(start + i, 0) for i in range(4))
        skip = first_byte % 16
        if stream.head(first_byte, 40).tobytes() != head[skip : skip + 40]:
            yield "a byte of the head lane is not at its address"
    for attempt, report, draw in ((0, 0, 0), (0, 2**24 + 7, 3), (1, 9, 2), (127, 2**48 - 1, 2**40 - 1)):
        wanted = block(attempt << 88 | report << 40 | draw, 1)[:8]
        found = stream.tail(np.array([report]), np.array([draw]), attempt)
        if int(found[0]) != int.from_bytes(wanted, "little"):
            yield "a word of the tail lane is not at its address"


addresses = Detector("every random word is at its address", _addresses)


def _fresh_noise() -> Iterator[str]:
    scheme = plausibly.make("OLH", epsilon=1, domain_size=8)
    values = np.arange(64, dtype=np.uint64) % np.uint64(8)
    rng = SeededRandom(1)
    calls = [scheme.privatize_encoded(values, source).tobytes() for source in (None, SecureRandom(), rng, rng)]
    calls += [scheme.privatize_encoded(values, SeededRandom(seed)).tobytes() for seed in (2, 258)]
    if len(set(calls)) != len(calls):
        yield "two calls have the same noise"
    whole = np.frombuffer(calls[2], dtype=scheme.report_dtype)
    if len(np.unique(whole["seed"])) != len(whole):
        yield "two reports of a call have the same noise"
    if scheme.privatize_encoded(values[40:], SeededRandom(1), first_report=40).tobytes() != whole[40:].tobytes():
        yield "a continued call has other noise than the whole one"
    usual = scheme_module._CHUNK_BYTES
    try:
        scheme_module._CHUNK_BYTES = 24 * 10
        if scheme.privatize_encoded(values, SeededRandom(1)).tobytes() != whole.tobytes():
            yield "the chunks of a call have other noise than the whole call"
        tally = scheme.accumulator()
        tally.add(whole[np.argsort(values, kind="stable")])
        honest = scheme.accumulator()
        honest.add(scheme.privatize_encoded(np.sort(values), SeededRandom(1)))
        if scheme.simulate([8] * 8, SeededRandom(1)).to_bytes() != honest.to_bytes():
            yield "a simulated crowd has other noise than an honest one"
    finally:
        scheme_module._CHUNK_BYTES = usual


fresh_noise = Detector("no noise is used twice", _fresh_noise)


def _noise_after_fork() -> Iterator[str]:
    reports = []
    for _ in range(4):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.write(writer, SecureRandom().stream().head(0, 32).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        reports.append(os.read(reader, 32))
        os.close(reader)
        os.close(writer)
    if len(set(reports)) != len(reports):
        yield "forked processes have the same noise"


noise_after_fork = Detector("forked processes have noise of their own", _noise_after_fork)


# --- crowds -----------------------------------------------------------------------------------------------------


def crowd(name: str, **parameters: Any) -> Detector:
    """Estimates of simulated crowds are off by what the variance says.

    Half of 4,000 users hold item 0. Over 60 seeds (FLH: of the hashes, too) the mean z-score of each of eight items
    must be within 6/sqrt(60) of 0, and the mean of all squares within 0.5 of 1, five times its measured standard
    deviation of 0.1: a false alarm in fewer than one of 10,000 choices of seeds.
    """

    def run() -> Iterator[str]:
        counts = [2000, 1000, 500, 300, 100, 50, 50, 0]
        scores = []
        for seed in range(60):
            fresh = {"hash_seed": seed} if name == "FLH" else {}
            scheme = make(name, **parameters, **fresh)
            size = scheme.domain.size
            items = list(range(8)) if size is None else [i * (size - 1) // 7 for i in range(8)]
            tally = scheme.simulate(dict(zip(items, counts, strict=True)), SeededRandom(seed))
            estimates = tally.estimate(items)
            if size is not None and not np.array_equal(estimates.values, tally.estimate().values[items]):
                yield "items asked for have other estimates than in the whole domain"
            assert estimates.variance is not None
            scores.append((estimates.values - counts) / np.sqrt(estimates.variance))
        z = np.array(scores)
        if np.abs(z.mean(axis=0)).max() > 6 / math.sqrt(len(z)):
            yield "estimates are biased"
        if abs(float((z**2).mean()) - 1) > 0.5:
            yield "the spread of estimates is not the stated one"

    shown = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return Detector(f"crowds of {name}({shown})", run)


def sketch_crowd(name: str) -> Detector:
    """As ``crowd``, over 60 hash seeds: 32 rows of 16 cells over an oracle that seldom lies, so that hashes err most.

    The variance is the stated one for the true counts. Bias and spread have the limits and the false alarms of crowds.
    """

    def run() -> Iterator[str]:
        counts = np.array([2000, 1000, 500, 300, 100, 50, 50, 0])
        scores = []
        for seed in range(60):
            scheme = sketch(name, cells=32 if name == "CS" else 16, rows=32, epsilon=4, hash_seed=seed)
            tally = scheme.simulate(dict(enumerate(counts.tolist())), SeededRandom(seed))
            variance = scheme.variance(4000, counts, f2=float((counts**2).sum()))
            scores.append((tally.estimate(range(8)).values - counts) / np.sqrt(variance))
        z = np.array(scores)
        if np.abs(z.mean(axis=0)).max() > 6 / math.sqrt(len(z)):
            yield "estimates are biased"
        if abs(float((z**2).mean()) - 1) > 0.5:
            yield "the spread of estimates is not the stated one"

    return Detector(f"crowds of {name}", run)


def _sketches_as_defined() -> Iterator[str]:
    # Rows with many users, with few, and with none.
    for name in ("CM", "CS"):
        for rows, count in ((3, 90), (7, 5)):
            scheme = sketch(name, rows=rows)
            reports = scheme.privatize([i * i % 20 for i in range(count)], SeededRandom(1))
            tally = scheme.accumulator()
            tally.add(reports)
            for combine in ("mean", "median", "min", "peel"):
                fields = naive.fields(reports)
                twin = naive.answer(json.loads(scheme.to_json()), fields, range(20), combine=combine)
                found = tally.estimate(combine=combine).values
                if not np.allclose(found, [float(value) for value in twin.values], rtol=1e-9, atol=1e-9):
                    yield f"the {combine} of the rows of {name} is not the defined one"


sketches_as_defined = Detector("sketches estimate as defined", _sketches_as_defined)


def _peeled_as_defined() -> Iterator[str]:
    # Frequent items in few cells, over an oracle that hardly lies: much is peeled, in several rounds, and with these
    # functions an item is also given back.
    for name in ("CM", "CS"):
        scheme = sketch(name, cells=32, rows=4, epsilon=12, domain_size=60, hash_seed=2)
        items = [x for x in range(60) for _ in range(400 // (1 + x))]
        reports = scheme.privatize(items, SeededRandom(1))
        tally = scheme.accumulator()
        tally.add(reports)
        twin = naive.answer(json.loads(scheme.to_json()), naive.fields(reports), range(60), combine="peel")
        found = tally.estimate(combine="peel").values
        if not np.allclose(found, [float(value) for value in twin.values], rtol=1e-9, atol=1e-7):
            yield f"what is peeled from the rows of {name} is not what is defined"


peeled_as_defined = Detector("sketches are peeled as defined", _peeled_as_defined)


def _rows_shared_out() -> Iterator[str]:
    scheme = sketch("CM")
    publics = public_outcomes(scheme.randomizer, 100)
    assert publics is not None
    if Counter(public[0] for public in publics) != Counter(range(3)):
        yield "a client does not take every row alike"
    # Six standard deviations for each of three rows: a false alarm in 6e-9 of all choices of seeds.
    rows = np.bincount(scheme.privatize([0] * 9000, SeededRandom(0))["row"], minlength=3)
    if np.abs(rows - 3000).max() > 6 * math.sqrt(2000):
        yield "bulk reports do not take every row alike"


rows_shared_out = Detector("users are shared out evenly among the rows", _rows_shared_out)


def _row_functions() -> Iterator[str]:
    first, second = (set(sketch("CM", rows=100, hash_seed=seed).seeds.tolist()) for seed in (0, 1))
    if len(first) != 100:
        yield "two rows have the same hash function"
    if first & second:
        yield "another hash_seed does not give other hash functions"


row_functions = Detector("every row has a hash function of its own", _row_functions)


def _intervals() -> Iterator[str]:
    scheme = plausibly.make("DE", epsilon=1, domain_size=4)
    estimates = scheme.simulate([10, 20, 30, 40], SeededRandom(0)).estimate()
    assert estimates.variance is not None
    low, high = estimates.interval(0.95)
    if not np.allclose(high - low, 2 * 1.959964 * np.sqrt(estimates.variance), rtol=1e-6):
        yield "the interval is not the central 95 %"


intervals = Detector("intervals have their level", _intervals)


def _computing() -> Iterator[str]:
    direct = plausibly.make("DE", epsilon=1, domain=["a", "b", "c"], other=True)
    tallies = [direct.simulate([10, 20, 30, 40], SeededRandom(seed)) for seed in (0, 1)]
    one, other = (tally.estimate() for tally in tallies)
    total = one.total().variance
    if total is None or total > 1e-6:
        yield "the sum of all items of DE is not certain"
    yield from _accepted("the same reports twice", [lambda: one - tallies[0].estimate(["other", "a", "b", "c"])])
    yield from _accepted("an unlisted item as a question", [lambda: tallies[0].estimate(["d"])])
    found = one - other
    if not (found.interval(together=True)[1] > found.interval()[1]).all():
        yield "joint intervals are not wider"
    hashed = plausibly.make("FLH", epsilon=3, domain_size=20, hashes=2)
    first, second = (hashed.simulate([3000, *[50] * 19], SeededRandom(seed)) for seed in (0, 1))
    stated = (first.estimate() + second.estimate()).variance
    first.merge(second)
    exact = first.estimate().variance
    assert stated is not None
    assert exact is not None
    if (stated < 0.9 * exact).any():
        yield "a sum with shared hash functions is more certain than the merged tally"


computing = Detector("arithmetic with estimates", _computing)


# --- states and bytes -------------------------------------------------------------------------------------------


def _states() -> Iterator[str]:
    for domain in ({"domain_size": 7}, {"domain": plausibly.Keys()}):
        scheme = plausibly.make("OLH", epsilon=1, **domain)
        reports = scheme.privatize([i % 7 for i in range(300)], SeededRandom(0))
        whole = scheme.accumulator()
        whole.add(reports)
        first, second = scheme.accumulator(), scheme.accumulator()
        handed_in = reports[:100].copy()
        first.add(reports[100:])
        second.add(handed_in)
        handed_in["hash"] = 0  # What was added must not change with the caller's array.
        first.merge(second)
        if len(first) != 300:
            yield "merging loses the number of reports"
        if first.to_bytes() != whole.to_bytes():
            yield "merged parts are not the whole"
        try:
            if plausibly.Accumulator.from_bytes(scheme, whole.to_bytes()).to_bytes() != whole.to_bytes():
                yield "a state changes on its way through bytes"
        except plausibly.StateError:
            yield "a state does not come back from its bytes"


states = Detector("parts merge to the whole", _states)


def _channels() -> Iterator[str]:
    scheme = sketch("CM")
    reports = scheme.privatize([i % 20 for i in range(300)], SeededRandom(0))
    tally = scheme.accumulator()
    tally.add(reports)
    for row in range(3):
        alone = scheme.oracle.accumulator()
        alone.add(np.ascontiguousarray(reports["report"][reports["row"] == row]))
        if tally.n[row] != len(alone) or not np.array_equal(tally.state[row], alone.state[0]):
            yield "a channel does not hold what its reports make"
    try:
        again = plausibly.Accumulator.from_bytes(scheme, tally.to_bytes())
    except plausibly.StateError:
        yield "a state of channels does not come back from its bytes"
    else:
        if not np.array_equal(again.n, tally.n) or not np.array_equal(again.state, tally.state):
            yield "a state of channels comes back as another"
    twice = scheme.accumulator()
    twice.merge(tally)
    twice.merge(tally)
    if not np.array_equal(twice.n, 2 * tally.n) or not np.array_equal(twice.state, 2 * tally.state):
        yield "merging two states of channels does not add them"
    simulated = scheme.simulate([15] * 20, SeededRandom(0))
    honest = scheme.accumulator()
    honest.add(scheme.privatize(np.repeat(np.arange(20), 15), SeededRandom(0)))
    if simulated.to_bytes() != honest.to_bytes():
        yield "a simulated crowd is not shared out as an honest one"
    # A bitmap sets as many bits as its coins say: one user more or less cannot be told from the cells.
    for kind in (scheme, sketch("CM", "OUE")):
        blob = kind.simulate([15] * 20, SeededRandom(0)).to_bytes()
        first, *others = np.frombuffer(blob[28:52], "<i8").tolist()
        claims = [0, 0, 0], [0, 0, 300], [first + 1, *others]
        forged = [_sealed(blob[:28] + np.array(claim, "<i8").tobytes() + blob[52:-4]) for claim in claims]
        read = (lambda b=b, kind=kind: plausibly.Accumulator.from_bytes(kind, b) for b in forged)
        yield from _accepted("a state whose users are not those of its cells", read)


channels = Detector("each channel holds its own reports", _channels)


def _refusals() -> Iterator[str]:
    scheme, other = (plausibly.make("OLH", epsilon=e, domain_size=7, hash_range=4) for e in (1, 2))
    reports = scheme.privatize(np.arange(7), SeededRandom(0))
    tally = scheme.accumulator()
    tally.add(reports)
    batch, state = plausibly.encode_reports(scheme, reports), tally.to_bytes()

    def read_batch(blob: bytes) -> None:
        codec.decode_reports(scheme, blob)

    def read_state(blob: bytes) -> None:
        plausibly.Accumulator.from_bytes(scheme, blob)

    for what, blob, read in (("batch", batch, read_batch), ("state", state, read_state)):
        flipped = [_flip(blob, 8 * i + i % 8) for i in range(len(blob))]
        yield from _accepted(f"a bit flip in a {what}", (lambda b=b, read=read: read(b) for b in flipped))
        cut = [blob[:-1], blob[: len(blob) // 2], blob + b"\0", b""]
        yield from _accepted(f"a {what} of another length", (lambda b=b, read=read: read(b) for b in cut))
        for name, forged in _forgeries(blob, scheme, other):
            yield from _accepted(f"a {what} with {name}", [lambda b=forged, read=read: read(b)])
    yield from _accepted("another scheme's state", [lambda: tally.merge(other.accumulator())])
    yield from _accepted("another scheme's reports", [lambda: tally.add(other.privatize([1]))])
    yield from _accepted("too many reports", [lambda: tally._check_room(2**63)])
    for name in ("HM", "TLH", "AGR"):
        # The decoder's sums are those of up to g = 2^t times as many reports.
        linear = plausibly.make(name, epsilon=1, domain_size=7, **{"coefficients" if name == "HM" else "hash_bits": 8})
        count = 2**63 // linear.g
        yield from _accepted(
            f"so many reports of {name} that decoding them would overflow",
            [lambda scheme=linear, count=count: scheme.accumulator()._check_room(count)],
        )


refusals = Detector("bytes and states that do not fit are refused", _refusals)


def _out_of_range() -> Iterator[str]:
    shape = {"hash_bits": 2, "window": 2}
    too_large: list[tuple[str, dict[str, int], list[tuple[str, int]]]] = [
        ("DE", {}, [("item", 5)]),
        ("SUE", {}, [("bits", 1 << 5)]),
        ("OUE", {}, [("bits", 1 << 5)]),
        ("BLH", {}, [("hash", 2)]),
        ("OLH", {}, [("hash", 4)]),
        ("FLH", {}, [("index", 1000)]),
        ("HM", {}, [("rows", 8)]),
        ("HR", {}, [("position", 8)]),
        ("SS", {"subset_size": 2}, [("bits", 0b100001), ("bits", 0b1), ("bits", 0b111)]),
        ("TLH", shape, [("matrix", 16), ("hash", 4)]),
        ("AGR", shape, [("line", 21), ("line", 5), ("hash", 4), ("stretch", 0), ("stretch", 4)]),
    ]
    for name, own, fields in too_large:
        scheme = plausibly.make(name, epsilon=1, domain_size=5, **own)
        for key, value in fields:
            record = scheme.privatize([0], SeededRandom(0))
            record[key] = value
            blob = plausibly.encode_reports(scheme, scheme.privatize([0], SeededRandom(0)))
            forged = _sealed(blob[:28] + record.tobytes())
            yield from _accepted(f"{name}: {key} out of range", [lambda s=scheme, b=forged: codec.decode_reports(s, b)])
    for name in ("CM", "CS"):
        scheme = sketch(name)
        honest = scheme.privatize([0], SeededRandom(0))
        for key, record in (("row", (3, honest["report"][0])), ("report", (0, (6,)))):
            forged = _sealed(
                plausibly.encode_reports(scheme, honest)[:28] + np.array([record], scheme.report_dtype).tobytes()
            )
            yield from _accepted(f"{name}: {key} out of range", [lambda s=scheme, b=forged: codec.decode_reports(s, b)])
    for name in ("DE", "OUE", "HM", "SS", "TLH", "AGR"):
        scheme = plausibly.make(name, epsilon=1, domain_size=5)
        tally = scheme.accumulator()
        tally.add(scheme.privatize([1, 2, 3], SeededRandom(0)))
        if name in ("DE", "SS", "AGR"):
            # Each report counts in equally many cells, so that one count more is one too many.
            one_more = tally.state.astype("<i8")
            one_more.reshape(-1)[int(tally.state.argmin())] += 1
            forged = _sealed(tally.to_bytes()[:28] + one_more.tobytes())
            yield from _accepted(
                f"{name}: a count that no report has made",
                [lambda s=scheme, b=forged: plausibly.Accumulator.from_bytes(s, b)],
            )
        cells = np.full(tally.state.shape, 50, dtype="<i8").tobytes()
        forged = _sealed(tally.to_bytes()[:28] + cells)
        yield from _accepted(
            f"{name}: cells that three reports cannot make",
            [lambda s=scheme, b=forged: plausibly.Accumulator.from_bytes(s, b)],
        )


out_of_range = Detector("records and cells out of range are refused", _out_of_range)


def _domains() -> Iterator[str]:
    scheme = plausibly.make("DE", epsilon=1, domain_size=5)
    labels = plausibly.make("DE", epsilon=1, domain=["a", "b"])
    clients = [trusting.load(s.to_json()) for s in (scheme, labels)]
    for value in (5, -1, True, 1.0, "1"):
        yield from _accepted("an item outside the domain, in bulk", [lambda v=value: scheme.privatize([v])])
        yield from _accepted("an item outside the domain, on a device", [lambda v=value: clients[0].privatize(v)])
    yield from _accepted("an unknown label, in bulk", [lambda: labels.privatize(["c"])])
    yield from _accepted("an unknown label, on a device", [lambda: clients[1].privatize("c")])


domains = Detector("items outside the domain are refused", _domains)


def _normalizing() -> Iterator[str]:
    vectors = json.loads(normalized.PATH.read_text(encoding="utf-8"))
    for entry in vectors["texts"]:
        if device.normalized(entry["text"], entry["steps"]) != entry["normalized"]:
            yield "a text is normalized otherwise on a device"
        if normalized_texts([entry["text"]], entry["steps"]) != [entry["normalized"]]:
            yield "a text is normalized otherwise in bulk"
    strings = plausibly.Strings("abcd ", 3, normalize="lower,strip")
    client = trusting.load(_search_of(strings).to_json())
    for text in ("ab cd", "Ab", " ab", "a b", "ab  \u3000 cd"):
        if strings.number(strings.encode([text])[0]) != client.encode(text):
            yield "a cut text has other symbols in bulk"
        if " " in (strings.named([text])[0][-1:], strings.named(strings.named([text]))[0][-1:]):
            yield "a cut text ends in a space"
    keyed = plausibly.make("OLH", epsilon=1, domain=plausibly.Keys(normalize="lower"))
    if keyed.accumulator().estimate(items=["Dog"]).items.tolist() != ["dog"]:
        yield "an answer has a name that nobody reports"
    for entry in vectors["broken"]:
        text = json.dumps(entry["fields"])
        yield from _accepted(f"{entry['why']} on a device", [lambda t=text: trusting.load(t)])
        yield from _accepted(f"{entry['why']} on a server", [lambda t=text: plausibly.from_json(t)])


def _search_of(strings: plausibly.Strings) -> plausibly.Scheme:
    return plausibly.make("PEM", oracle=plausibly.make("OLH", epsilon=1, domain=plausibly.Keys()), domain=strings)


normalizing = Detector("spellings become equal, the same on devices and in bulk", _normalizing)


def _identity() -> Iterator[str]:
    families: list[list[plausibly.Scheme]] = [
        [plausibly.make("OLH", epsilon=e, domain_size=8, hash_range=4) for e in ("0.1", "0.10001", 1)],
        [plausibly.make("OLH", epsilon=1, domain_size=8, hash_range=g) for g in (2, 3, 4)],
        [plausibly.make("OLH", epsilon=1, domain=plausibly.Keys(seed)) for seed in (0, 1)],
        [plausibly.make("FLH", epsilon=1, domain_size=8, hash_seed=seed) for seed in (0, 1, 2**63)],
        [plausibly.make("FLH", epsilon=1, domain_size=8, hashes=k) for k in (10, 11)],
        [plausibly.make("HM", epsilon=1, domain_size=8, coefficients=t) for t in (1, 2)],
        [plausibly.make("OUE", epsilon=1, domain_size=d) for d in (7, 8)],
        [plausibly.make("HR", epsilon=3, domain_size=8, variant=v) for v in ("pure", "block")],
        [plausibly.make("SS", epsilon=3, domain_size=8, subset_size=w) for w in (1, 2)],
        [plausibly.make("TLH", epsilon=3, domain_size=8, hash_bits=t, window=w) for t, w in ((4, 1), (4, 2), (5, 2))],
        [
            plausibly.make("AGR", epsilon=3, domain_size=8, hash_bits=3, dimension=m, window=w)
            for m, w in ((1, 1), (2, 1), (2, 2))
        ],
        [plausibly.make("DE", epsilon=1, domain=labels) for labels in (["a", "b"], ["b", "a"])],
        [plausibly.make(name, epsilon=1, domain_size=8) for name in ORACLES],
        [
            *(sketch(name) for name in ("CM", "CS")),
            *(sketch("CM", rows=rows, hash_seed=seed) for rows, seed in ((4, 0), (3, 1), (3, 2**63))),
            *(sketch("CM", oracle, epsilon=e) for oracle in ("DE", "OUE") for e in (2, 3)),
            *(sketch("CM", domain_size=d, cells=c) for d, c in ((21, 6), (20, 7))),
        ],
    ]
    for family in families:
        if len({scheme.fingerprint() for scheme in family}) != len(family):
            yield "two different schemes have one fingerprint"
    text = plausibly.make("DE", epsilon=1, domain_size=5).to_json()
    keep = str(plausibly.make("DE", epsilon=1, domain_size=5).keep)
    louder = text.replace(keep, str(int(keep) + 1))
    yield from _accepted("a scheme with another threshold than its epsilon's", [lambda: plausibly.from_json(louder)])
    yield from _accepted("thresholds beyond epsilon, on a device", [lambda: trusting.load(louder)])
    yield from _accepted_sketches()


identity = Detector("a scheme is what its fingerprint and thresholds say", _identity)


def _accepted_sketches() -> Iterator[str]:
    good = json.loads(sketch("CM").to_json())
    louder = {**good["oracle"], "keep": str(int(good["oracle"]["keep"]) + 1)}
    wrong = {
        "an oracle beyond its epsilon": {**good, "oracle": louder},
        "an oracle beyond its own epsilon, not the sketch's": {**good, "epsilon": "2", "oracle": louder},
        "an oracle of another version": {**good, "oracle": {**good["oracle"], "version": 2}},
        "a sketch that promises less epsilon than its oracle has": {**good, "epsilon": "1/2"},
        "a sketch within a sketch": {**good, "oracle": good},
    }
    for what, fields in wrong.items():
        text = json.dumps(fields)
        yield from _accepted(f"{what}, on a device", [lambda t=text: trusting.load(t)])
        yield from _accepted(f"{what}, in JSON", [lambda t=text: plausibly.from_json(t)])


def _accepted(what: str, attempts: Any) -> Iterator[str]:
    for attempt in attempts:
        try:
            attempt()
        except (plausibly.PlausiblyError, device.DeviceError):
            continue
        yield f"{what} is accepted"


def _flip(blob: bytes, bit: int) -> bytes:
    flipped = bytearray(blob)
    flipped[bit >> 3] ^= 1 << (bit & 7)
    return bytes(flipped)


def _sealed(body: bytes) -> bytes:
    return body + zlib.crc32(body).to_bytes(4, "little")


def _forgeries(blob: bytes, scheme: plausibly.Scheme, other: plausibly.Scheme) -> Iterator[tuple[str, bytes]]:
    # Sealed again with a fitting checksum, so that only the field itself gives them away.
    yield "another magic", _sealed(b"XX" + blob[2:-4])
    yield "another fingerprint", _sealed(blob[:4] + bytes.fromhex(other.fingerprint())[:16] + blob[20:-4])
    yield "another count", _sealed(blob[:20] + bytes(8) + blob[28:-4])
