"""Random words: their addresses, computed directly; fresh keys; forks; nothing wraps around and no key is shown."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import hashlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

import plausibly
import trusting
from cases import in_turn
from plausibly import ParameterError, SecureRandom, SeededRandom, device, make
from plausibly.core import scheme as scheme_module
from plausibly.core.randomness import FreshKey, Layout, Stream, TapeSource

KEY = bytes(range(32))
CALL = 0xA1B2C3D4


def aes(key: bytes, counter: int) -> bytes:
    """One block of AES-256."""
    return Cipher(AES(key), ECB()).encryptor().update(counter.to_bytes(16, "big"))


def head_byte(key: bytes, call: int, place: int) -> int:
    """A byte of the head lane: counter = call(32) lane 0 (1) block number (95)."""
    return aes(key, (call << 96) | place // 16)[place % 16]


def tail_word(key: bytes, call: int, attempt: int, report: int, draw: int) -> int:
    """A word of the tail lane: counter = call(32) lane 1 (1) attempt(7) report(48) draw(40)."""
    bits = f"{call:032b}1{attempt:07b}{report:048b}{draw:040b}"
    assert len(bits) == 128
    return int.from_bytes(aes(key, int(bits, 2))[:8], "little")


# --- addresses -------------------------------------------------------------------------------------------------------


@in_turn("first", [0, 1, 15, 16, 17, 1000, 2**36 - 3, 2**40 + 5, 2**59 - 5])
@in_turn("count", [0, 1, 16, 50])
def test_head_bytes_are_the_keystream_of_their_block(first: int, count: int) -> None:
    wanted = [head_byte(KEY, CALL, place) for place in range(first, first + count)]
    assert Stream(KEY, CALL).head(first, count).tolist() == wanted


@pytest.mark.parametrize("attempt", [0, 1, 127])
def test_tail_words_are_single_blocks_at_their_addresses(attempt: int) -> None:
    reports = [0, 1, 2**24 - 1, 2**24, 2**48 - 1, 123_456_789_012]
    draws = [0, 1, 2**31, 2**40 - 1, 5, 77]
    found = Stream(KEY, CALL).tail(np.array(reports), np.array(draws), attempt)
    assert found.tolist() == [tail_word(KEY, CALL, attempt, r, d) for r, d in zip(reports, draws, strict=True)]


@in_turn("layout", [Layout(dense=1), Layout(dense=3), Layout(dense=0, split=5), Layout(dense=2, split=3)])
@in_turn("report", [0, 7, 2**30, 2**48 - 1])
def test_a_tape_is_dense_words_then_split_ones(layout: Layout, report: int) -> None:
    start = report * (8 * layout.dense + layout.split)
    words = []
    for draw in range(layout.dense + layout.split):
        if draw < layout.dense:
            eight = [head_byte(KEY, CALL, start + 8 * draw + i) for i in range(8)]
            words.append(int.from_bytes(bytes(eight), "little"))
        else:
            top = head_byte(KEY, CALL, start + 8 * layout.dense + draw - layout.dense)
            words.append(top << 56 | tail_word(KEY, CALL, 0, report, draw) >> 8)
    assert Stream(KEY, CALL).tape(layout, report) == words


def test_rows_of_bulk_words_are_the_tapes_of_their_reports() -> None:
    stream, layout = Stream(KEY, CALL), Layout(dense=3)
    rows = stream.words(layout, 100, 50)
    assert rows.shape == (50, 3)
    assert rows.tolist() == [stream.tape(layout, report) for report in range(100, 150)]


def test_a_repeated_draw_is_found_in_the_tail_at_its_attempt() -> None:
    # below(2^63 + 1) refuses nearly half of all words, so that repeats are common.
    m, layout = 2**63 + 1, Layout(dense=2)
    limit = 2**64 - 2**64 % m
    stream, repeats = Stream(KEY, CALL), 0
    for report in range(60):
        source = stream.source(layout, report)
        found = [source.below(m), source.below(m)]
        for draw, word in enumerate(stream.tape(layout, report)):
            attempt = 0
            while word >= limit:
                attempt += 1
                word = tail_word(KEY, CALL, attempt, report, draw)
            repeats += attempt
            assert found[draw] == word % m
    assert repeats > 60


def test_the_lanes_never_meet() -> None:
    # Head counters have a zero where tail counters have a one, whatever the report, draw and attempt.
    top = (2**48 * (8 * 40 + 2**32)) // 16
    assert top < 2**95


def test_the_seeded_key_is_the_digest_of_the_decimal_seed() -> None:
    for seed in (0, 7, -3, 10**30):
        key = hashlib.sha256(b"plausibly seeded stream\0" + str(seed).encode()).digest()
        assert SeededRandom(seed).replay(5) == Stream(key, 5)


def test_calls_are_numbered_from_zero_and_all_differ() -> None:
    rng = SeededRandom(9)
    streams = [rng.stream() for _ in range(5)]
    assert streams == [SeededRandom(9).replay(call) for call in range(5)]
    assert len({stream.head(0, 16).tobytes() for stream in streams}) == 5


def test_threads_that_share_a_seeded_source_never_share_a_call() -> None:
    rng = SeededRandom(9)
    calls: list[int] = []
    threads = [threading.Thread(target=lambda: calls.extend(rng.stream().call for _ in range(200))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(calls) == list(range(1600))


@pytest.mark.parametrize("call", [-1, 2**32, 1.5, "1", None, True])
def test_a_call_without_an_address_is_refused(call: int) -> None:
    with pytest.raises(ParameterError, match="call: expected"):
        SeededRandom(1).replay(call)
    with pytest.raises(ParameterError, match="call: expected"):
        SeededRandom(1, call=call).stream()


@pytest.mark.parametrize("seed", [1.0, "7", None, True, b"7", [1]])
def test_a_seed_that_is_no_integer_is_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed: expected an integer"):
        SeededRandom(seed)  # type: ignore[arg-type]


# --- the two primitives ----------------------------------------------------------------------------------------------


def sources(words: list[int]) -> list[device.Source]:
    """The same words for the bulk path's scalar code and for the device."""
    tape = b"".join(word.to_bytes(8, "little") for word in words)
    position = [0]

    def read(count: int) -> bytes:
        position[0] += count
        return tape[position[0] - count : position[0]]

    return [TapeSource(words), device.WordSource(1, read)]


@pytest.mark.parametrize("size", [1, 2, 3, 10, 2**63, 2**63 + 1, 2**64 - 1, 2**64])
def test_below_takes_words_until_one_is_under_the_limit(size: int) -> None:
    limit = 2**64 - 2**64 % size
    for word in {0, 1, size - 1, limit - 1, limit // 2}:
        for source in sources([word]):
            assert source.below(size) == word % size
    for refused in {limit, 2**64 - 1}:
        if limit <= refused < 2**64:
            for source in sources([refused, refused, limit - 1]):
                assert source.below(size) == (limit - 1) % size


@pytest.mark.parametrize("threshold", [1, 2**63, 2**64 - 1])
def test_bernoulli_is_a_word_below_the_threshold(threshold: int) -> None:
    for source in sources([threshold - 1, threshold]):
        assert [source.bernoulli(threshold), source.bernoulli(threshold)] == [True, False]


# --- nothing wraps around -------------------------------------------------------------------------------------------


def test_a_tape_that_has_run_out_is_refused_and_not_started_again() -> None:
    source = TapeSource([1, 2])
    assert [source.below(10), source.below(10), source.used] == [1, 2, 2]
    with pytest.raises(ParameterError, match="the tape of 2 words has run out"):
        source.below(10)


def test_a_device_that_needs_more_words_reads_new_ones() -> None:
    asked: list[int] = []

    def read(count: int) -> bytes:
        asked.append(count)
        return bytes([len(asked)]) * count

    source = device.WordSource(2, read)
    words = [source.below(2**64) for _ in range(5)]
    assert asked == [16, 8, 8, 8]
    assert words == [int.from_bytes(bytes([i]) * 8, "little") for i in (1, 1, 2, 3, 4)]


def test_a_long_stream_never_repeats_a_block() -> None:
    blocks = Stream(KEY).head(0, 16 * 100_000).reshape(-1, 16)
    assert len(np.unique(blocks, axis=0)) == 100_000


def test_pieces_of_a_stream_are_the_stream() -> None:
    stream = Stream(KEY, 3)
    whole = stream.head(0, 1000)
    for size in (1, 7, 16, 333):
        pieces = [stream.head(first, min(size, 1000 - first)) for first in range(0, 1000, size)]
        np.testing.assert_array_equal(np.concatenate(pieces), whole)


# --- keys ------------------------------------------------------------------------------------------------------------


def test_every_secure_call_has_a_key_of_its_own() -> None:
    secure = SecureRandom()
    assert len({bytes(secure.stream().key) for _ in range(100)}) == 100
    assert vars(secure) == {}
    assert {len(secure.stream().key), secure.stream().call} == {32, 0}


def test_a_key_is_read_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(count) or bytes(count))
    scheme = make("DE", epsilon=1, domain_size=5)
    scheme.privatize([1])
    scheme.privatize([1])
    scheme.simulate([1, 1, 1, 1, 1])
    assert asked == [32, 32, 32]


def test_no_repr_shows_a_key() -> None:
    rng = SeededRandom(5)
    secure = SecureRandom()
    stream = secure.stream()
    source = stream.source(Layout(dense=2), 3)
    shown = [repr(thing) + str(thing) for thing in (rng, rng.replay(0), secure, stream, source)]
    for key in (stream.key, rng.replay(0).key):
        assert not [text for text in shown if key.hex() in text or repr(key) in text or str(list(key)) in text]
    assert "call=" in repr(rng)


def test_a_fresh_key_is_zero_once_it_has_overwritten_itself() -> None:
    key = FreshKey(KEY)
    before = (ctypes.c_char * 32).from_buffer(key)  # where it lies: overwritten there, and not in a new place
    assert before.raw == KEY
    key.__del__()
    assert before.raw == bytes(32)


def erased(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the keys that have overwritten themselves from now on."""
    sizes: list[int] = []

    def overwrite(key: FreshKey) -> None:
        original(key)
        sizes.append(len(key) if not any(key) else -1)

    original = FreshKey.__del__
    monkeypatch.setattr(FreshKey, "__del__", overwrite)
    return sizes


@in_turn("threads", ["1", "2"])
def test_a_key_overwrites_itself_at_the_end_of_its_call(threads: str) -> None:
    scheme = make("OUE", epsilon=1, domain_size=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAUSIBLY_THREADS", threads)
        patch.setattr(scheme_module, "_CHUNK_BYTES", 1 << 12)
        sizes = erased(patch)
        scheme.privatize([1] * 5000)
        assert sizes == [32]
        scheme.simulate([50] * 20)
        assert sizes == [32, 32]


def test_a_key_overwrites_itself_when_its_call_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme, sizes = make("DE", epsilon=1, domain_size=5), erased(monkeypatch)

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(scheme), "respond", fails)
    with contextlib.suppress(KeyboardInterrupt):
        scheme.privatize([1, 2])
    assert sizes == [32]


def test_the_key_of_a_seed_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, sizes = SeededRandom(5), erased(monkeypatch)
    first = rng.replay(0).head(0, 64).tolist()
    assert (rng.replay(0).head(0, 64).tolist(), sizes) == (first, [])


@in_turn("duplicate", [copy.copy, copy.deepcopy, lambda stream: pickle.loads(pickle.dumps(stream))])
def test_a_copy_of_a_stream_has_its_words_even_after_the_stream_is_gone(duplicate: Callable[[Stream], Stream]) -> None:
    stream = SecureRandom().stream()
    words, again = stream.head(0, 64).tolist(), duplicate(stream)
    assert (again, hash(again)) == (stream, hash(stream))
    del stream
    assert again.head(0, 64).tolist() == words
    assert isinstance(again.key, FreshKey)


CHILD = """
import sys, numpy as np, plausibly
from plausibly.core import randomness
masked, kept, stream = [], [], randomness.SecureRandom.stream
def noted(self):
    found = stream(self)
    masked.append(np.frombuffer(found.key, np.uint8) ^ np.uint8(165))  # the key itself is written nowhere
    kept.extend([found] * (len(masked) == 1))
    return found
randomness.SecureRandom.stream = noted
scheme = plausibly.make("OUE", epsilon=1, domain_size=100)
for _ in range(5):
    scheme.privatize(np.arange(20_000) % 100)
print(" ".join(key.tobytes().hex() for key in masked), flush=True)
sys.stdin.read()
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process through /proc")
def test_no_part_of_a_key_is_left_in_memory_after_its_call() -> None:
    # A process makes five calls and keeps the stream of the first, whose key must be found: the search can find one.
    # False alarm: eight given bytes elsewhere in a gigabyte, 16 times, have probability 1e-9.
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    with child, child.stdin:
        keys = [bytes(byte ^ 165 for byte in bytes.fromhex(word)) for word in child.stdout.readline().split()]
        memory = readable_memory(child.pid)
    places = [[sum(part.count(key[i : i + 8]) for part in memory) for i in range(0, 32, 8)] for key in keys]
    assert len(keys) == 5
    assert min(places[0]) >= 1
    assert places[1:] == [[0] * 4] * 4


def readable_memory(process: int) -> list[bytes]:
    """All that another process has written or may write to."""
    parts = []
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            first, last = (int(end, 16) for end in place.split("-"))
            if rights.startswith("rw"):
                memory.seek(first)
                parts.append(memory.read(last - first))
    return parts


def test_a_copy_of_a_secure_source_shares_nothing() -> None:
    secure = SecureRandom()
    again = pickle.loads(pickle.dumps(secure))
    assert secure.stream().key != again.stream().key


# --- forks -----------------------------------------------------------------------------------------------------------

WORKERS = 64


def in_forks(work: Callable[[], bytes]) -> list[bytes]:
    """What ``work`` returns in each of 64 forked processes, all alive at the same time."""
    readers = []
    for _ in range(WORKERS):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            # No way out of the child but this one: pytest must not go on in it, and it must not hang.
            status = 1
            try:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(60)
                os.close(reader)
                with os.fdopen(writer, "wb") as pipe:
                    pipe.write(work())
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        readers.append((child, reader))
    results = []
    for child, reader in readers:
        with os.fdopen(reader, "rb") as pipe:
            results.append(pipe.read())
        assert os.waitpid(child, 0)[1] == 0
    return results


def seeds_of(reports: bytes, size: int) -> list[bytes]:
    return [reports[i : i + 8] for i in range(0, len(reports), size)]


@pytest.mark.full
def test_64_forked_workers_never_repeat_noise() -> None:
    # The parent has used the library, its source and its thread pool before. Every OLH record starts with its
    # 64-bit public seed. False alarm: a collision among 25,600 honest seeds has probability 2e-11.
    scheme = make("OLH", epsilon=1, domain_size=16)
    secure = SecureRandom()
    items = [3] * 400
    before = scheme.privatize(items, rng=secure).tobytes()
    results = in_forks(lambda: scheme.privatize(items, rng=secure).tobytes())
    seeds = [seed for part in (before, *results) for seed in seeds_of(part, 9)]
    assert len(set(seeds)) == len(seeds) == 400 * (WORKERS + 1)


@pytest.mark.full
def test_forked_workers_of_a_parent_with_a_busy_pool_never_repeat_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", "2")
    monkeypatch.setattr(scheme_module, "_CHUNK_BYTES", 1 << 10)
    scheme = make("OLH", epsilon=1, domain_size=16)
    items = [3] * 200
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            scheme.privatize(items)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        results = in_forks(lambda: scheme.privatize(items).tobytes())
    finally:
        stop.set()
        thread.join()
    seeds = [seed for part in results for seed in seeds_of(part, 9)]
    assert len(set(seeds)) == len(seeds) == 200 * WORKERS


@pytest.mark.full
def test_forked_devices_never_repeat_noise() -> None:
    client = trusting.load(make("OLH", epsilon=1, domain_size=16).to_json())
    before = client.privatize(3)
    results = in_forks(lambda: b"".join(client.privatize(3) for _ in range(20)))
    seeds = [seed for part in (before, *results) for seed in seeds_of(part, 9)]
    assert len(set(seeds)) == len(seeds) == 20 * WORKERS + 1


def _pool_worker(text: str) -> bytes:
    return plausibly.from_json(text).privatize([3] * 50).tobytes()


@pytest.mark.full
def test_a_multiprocessing_pool_never_repeats_noise() -> None:
    text = make("OLH", epsilon=1, domain_size=16).to_json()
    _pool_worker(text)
    with multiprocessing.get_context("fork").Pool(8) as pool:
        results = pool.map(_pool_worker, [text] * WORKERS, chunksize=1)
    seeds = [seed for part in results for seed in seeds_of(part, 9)]
    assert len(set(seeds)) == len(seeds) == 50 * WORKERS
