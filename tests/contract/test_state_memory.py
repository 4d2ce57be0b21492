"""Restoring a state under a limit of memory: three times the bytes at most, and none for bytes of the wrong length."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import Keys, Scheme, SeededRandom, Strings

STATM = Path("/proc/self/statm")
SPARE = 8 << 20
"""What a call may take besides, whatever the bytes: most of it is what the allocator reserves at a time."""

CHILD = """
import json, resource, sys
from pathlib import Path
import plausibly
from plausibly import Accumulator, StateError

def taken():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

for line in sys.stdin:
    asked = json.loads(line)
    scheme = plausibly.from_json(asked["scheme"])
    blob = None if asked["blob"] is None else Path(asked["blob"]).read_bytes()
    resource.setrlimit(resource.RLIMIT_AS, (taken() + asked["room"], resource.RLIM_INFINITY))
    try:
        tally = scheme.accumulator() if blob is None else Accumulator.from_bytes(scheme, blob)
        answer = f"{len(tally)} reports"
    except StateError as error:
        tally, answer = None, f"StateError: {error}"
    except BaseException as error:
        tally, answer = None, f"{type(error).__name__}: {error}"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    del tally
    print(json.dumps(answer), flush=True)
"""

limited = pytest.mark.skipif(not STATM.exists(), reason="the memory of a process is limited and read as Linux does it")


def answers(asked: list[tuple[Scheme, bytes | None, int]], folder: Path) -> list[str]:
    """What a process answers that has so much memory left for each of these states."""
    lines = []
    for number, (scheme, blob, room) in enumerate(asked):
        path = folder / str(number)
        if blob is not None:
            path.write_bytes(blob)
        place = None if blob is None else str(path)
        lines.append(json.dumps({"scheme": scheme.to_json(), "blob": place, "room": room}))
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def sealed(scheme: Scheme, count: int, payload: bytes) -> bytes:
    body = struct.pack("<4s16sq", b"PLA\x01", bytes.fromhex(scheme.fingerprint())[:16], count) + payload
    return body + struct.pack("<I", zlib.crc32(body))


def make(name: str, **parameters: Any) -> Scheme:
    return plausibly.make(name, **({} if "oracle" in parameters else {"epsilon": 1}) | parameters)


def huge() -> list[Scheme]:
    """Schemes whose states fit no machine, or hardly one."""
    letters = Strings("abcdefghijklmnopqrstuvwxyz", 8)
    return [
        make("DE", domain_size=2**32),
        make("TLH", domain_size=2**32),
        make("HM", domain_size=2**32),
        make("AGR", domain_size=2**32, hash_bits=12, dimension=4),
        make("FLH", domain_size=100, hashes=2**24, hash_range=2**16),
        make("CM", oracle=make("TLH", domain_size=2**24), rows=2**16, domain=Keys()),
        make("CM", oracle=make("AGR", domain_size=2**24, hash_bits=12, dimension=4), rows=2**16, domain=Keys()),
        make("BLOOM", oracle=make("DE", domain_size=2**16), hashes=2, cohorts=2**15, domain=Keys()),
        make("PEM", oracle=make("TLH", domain_size=2**32), domain=Strings("abcdefg", 8)),
        make(
            "TH",
            oracle=make("FLH", domain=Keys(), hashes=2**24),
            word_oracle=make("OLH", domain=Keys()),
            domain=letters,
        ),
    ]


@pytest.mark.full
@limited
def test_a_short_state_takes_no_memory_whatever_its_scheme_would_need(tmp_path: Path) -> None:
    asked = []
    for scheme in huge():
        groups = len(getattr(scheme, "groups", ()))
        # As many bytes as the tally had that asked for 32 GiB, with the numbers of groups that a search reads first.
        payload = struct.pack("<q", 1) + bytes(8 * groups) + bytes(300)
        asked.append((scheme, sealed(scheme, 1, payload), SPARE))
    keys = make("OLH", domain=Keys())
    asked.append((keys, sealed(keys, 2**62, bytes(9)), SPARE))
    pem = make("PEM", oracle=keys, domain=Strings("ab", 4))
    asked.append((pem, sealed(pem, 2**62, struct.pack("<qq", 2**62, 0)), SPARE))
    asked.append((pem, sealed(pem, 1, struct.pack("<qq", -(2**63), -(2**63))), SPARE))
    for (scheme, _, _), answer in zip(asked, answers(asked, tmp_path), strict=True):
        assert answer.startswith("StateError: accumulator: expected"), (scheme, answer)
        assert "bytes of state, got" in answer


@limited
@pytest.mark.full
def test_a_state_that_fits_no_memory_is_refused_with_its_size(tmp_path: Path) -> None:
    asked = [(scheme, None, 1 << 28) for scheme in huge()]
    for (scheme, _, _), answer in zip(asked, answers(asked, tmp_path), strict=True):
        assert answer.startswith("StateError: accumulator: expected memory for a state of "), (scheme, answer)
    assert "34,359,738,368 bytes" in answers(asked[:1], tmp_path)[0]


def large() -> list[tuple[Scheme, int]]:
    """Schemes with states of some megabytes, each with how many reports to put into it."""
    trellis = plausibly.TRELLIS(1, domain=Strings("abcdefghijklmnopqrstuvwxyz", 6), users=20_000)
    return [
        (make("TLH", domain_size=2**20), 1000),
        (make("TLH", domain_size=2**20, hash_bits=3, window=3), 1000),
        (make("HM", domain_size=2**19), 1000),
        (make("AGR", domain_size=2**20), 1000),
        (make("AGR", domain_size=2**18, hash_bits=9, dimension=2, window=30), 1000),
        (make("SS", domain_size=2**20, subset_size=3), 10),
        (make("BLH", domain_size=2**20), 10),
        (make("HR", domain_size=2**20), 1000),
        (make("CM", oracle=make("TLH", domain_size=2**12), rows=256, domain=Keys()), 1000),
        (make("CM", oracle=make("HM", domain_size=2**19), rows=2, domain=Keys()), 1000),
        (make("OLH", domain=Keys()), 900_000),
        (make("TLH", domain=Keys()), 900_000),
        (trellis, 1000),
    ]


@limited
@pytest.mark.full
def test_a_state_comes_back_within_three_times_its_bytes(tmp_path: Path) -> None:
    asked, wanted = [], []
    for scheme, count in large():
        items: Any = np.zeros(count, dtype=np.int64) if scheme.domain.size else ["a"] * count
        tally = scheme.accumulator()
        tally.add(scheme.privatize(items, rng=SeededRandom(1)))
        blob = tally.to_bytes()
        assert len(blob) > 1 << 21, scheme
        asked.append((scheme, blob, 3 * len(blob) + SPARE))
        wanted.append(f"{count} reports")
    for (scheme, _, _), answer, expected in zip(asked, answers(asked, tmp_path), wanted, strict=True):
        assert answer == expected, scheme
