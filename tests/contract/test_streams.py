"""Seeded reports do not depend on chunks, threads, kernels or calls; simulation is the honest path in order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plausibly
import trusting
from cases import in_turn
from contract.entries import (
    NAMES,
    QUICK,
    SCHEMES,
    build,
    crowd,
    every_listed_name,
    every_scheme,
    items_of,
    reports_of,
    sized,
    tally_of,
)
from plausibly import DomainError, Integers, ParameterError, Scheme, SecureRandom, SeededRandom
from plausibly.core import scheme as module

COUNT = 600

DIGESTS = """
import hashlib, json, sys
import plausibly
from plausibly import kernels
from plausibly.core import accumulator, scheme as module
# Small tasks, so that there are many of them.
module._CHUNK_BYTES, accumulator._FOLD_CHUNK = 1 << 10, 100
texts, count = json.load(sys.stdin)
found = {"kernels": kernels.active}
for text in texts:
    scheme = plausibly.from_json(text)
    size = scheme.domain.size
    items = [i * i % 97 if size is None else i * i % size for i in range(count)]
    if isinstance(scheme.domain, plausibly.Labels | plausibly.Table):
        items = scheme.domain.decode(plausibly.Integers(size).encode(items)).tolist()
    if isinstance(scheme.domain, plausibly.Strings):
        texts_of = scheme.domain.decode(scheme.domain.spread(97)).tolist()
        items = [texts_of[item % len(texts_of)] for item in items]
    reports = scheme.privatize(items, rng=plausibly.SeededRandom(11))
    tally = scheme.accumulator()
    tally.add(reports)
    asked = items[:50]
    parts = [reports.tobytes(), tally.to_bytes()]
    if scheme.estimator().law is not None:
        parts += [tally.scores(asked).tobytes(), tally.estimate(asked).values.tobytes()]
    found[scheme.fingerprint()] = [hashlib.sha256(part).hexdigest() for part in parts]
print(json.dumps(found))
"""


def digests(texts: list[str], **environment: str) -> dict[str, object]:
    """Digests of reports, states, scores and estimates of each scheme, found by a process of its own."""
    source = str(Path(plausibly.__file__).parent.parent)
    run = subprocess.run(
        [sys.executable, "-c", DIGESTS],
        input=json.dumps([texts, COUNT]),
        env={**os.environ, "PYTHONPATH": source, "PYTHONHASHSEED": "0", **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found: dict[str, object] = json.loads(run.stdout)
    return found


@pytest.fixture(scope="module")
def one_thread() -> dict[str, object]:
    return digests(quick_texts(), PLAUSIBLY_THREADS="1")


def quick_texts() -> list[str]:
    # One-byte hashes and two-byte ones, and a domain of more than one 64-item character, take other kernels.
    wide = [build(name, sized(name, 300), epsilon) for name in NAMES for epsilon in ("0.5", "6")]
    return [scheme.to_json() for scheme in (*QUICK.values(), *wide)]


@pytest.mark.full
@pytest.mark.parametrize("threads", ["2", pytest.param("5", marks=pytest.mark.full)])
def test_threads_change_nothing(one_thread: dict[str, object], threads: str) -> None:
    assert digests(quick_texts(), PLAUSIBLY_THREADS=threads) == one_thread


@pytest.mark.full
def test_numpy_kernels_change_nothing(one_thread: dict[str, object]) -> None:
    found = digests(quick_texts(), PLAUSIBLY_THREADS="2", PLAUSIBLY_KERNELS="numpy")
    assert found.pop("kernels") == "numpy"
    assert found == {key: value for key, value in one_thread.items() if key != "kernels"}


@pytest.mark.full
def test_neither_threads_nor_kernels_change_a_scheme_over_any_other() -> None:
    texts = [scheme.to_json() for label, scheme in SCHEMES.items() if label not in QUICK]
    wanted = digests(texts, PLAUSIBLY_THREADS="1")
    del wanted["kernels"]
    for environment in ({"PLAUSIBLY_THREADS": "5"}, {"PLAUSIBLY_KERNELS": "numpy"}):
        found = digests(texts, **environment)
        assert {key: value for key, value in found.items() if key != "kernels"} == wanted


@pytest.mark.full
@every_scheme
@in_turn("chunk_bytes", [1, 100])
def test_chunks_change_nothing(scheme: Scheme, chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = reports_of(scheme, 200).tobytes()
    monkeypatch.setattr(module, "_CHUNK_BYTES", chunk_bytes)
    assert reports_of(scheme, 200).tobytes() == wanted


@every_scheme
def test_a_call_may_be_continued_anywhere(scheme: Scheme) -> None:
    items = crowd(scheme, 60)
    whole = scheme.privatize(items, rng=SeededRandom(5))
    for first in (0, 1, 17, 59, 60):
        part = scheme.privatize(items[first:], rng=SeededRandom(5), first_report=first)
        assert part.tobytes() == whole[first:].tobytes()


@every_scheme
def test_a_position_that_has_no_address_is_refused(scheme: Scheme) -> None:
    items = crowd(scheme, 2)
    last = 2**48 - 2
    assert len(scheme.privatize(items, rng=SeededRandom(5), first_report=last)) == 2
    for first in (last + 1, 2**63, -1, 1.0, True, "3", None):
        with pytest.raises(ParameterError, match="first_report: expected"):
            scheme.privatize(items, rng=SeededRandom(5), first_report=first)  # type: ignore[arg-type]


@every_scheme
def test_seeded_reports_are_the_client_s_on_the_words_of_the_tape(scheme: Scheme) -> None:
    rng = SeededRandom(8)
    items = crowd(scheme, 300)
    reports = scheme.privatize(items, rng=rng)
    client = trusting.load(scheme.to_json())
    for i, item in enumerate(items):
        tape = rng.replay(0).tape(scheme.layout, i)
        assert len(tape) == scheme.layout.words == client.randomizer.words
        words = b"".join(word.to_bytes(8, "little") for word in tape)
        source = plausibly.device.WordSource(len(tape), lambda count, words=words: words[:count])
        assert client.privatize(item, source) == reports[i].tobytes()


@every_scheme
def test_every_call_of_a_seeded_source_is_another_one_and_can_be_repeated(scheme: Scheme) -> None:
    # False alarm: none; the seeds are fixed, and the records of 50 users are wide enough to differ.
    items = crowd(scheme, 50)
    rng = SeededRandom(1)
    calls = [scheme.privatize(items, rng=rng).tobytes() for _ in range(4)]
    assert len(set(calls)) == 4
    assert scheme.privatize(items, rng=SeededRandom(1, call=2)).tobytes() == calls[2]
    assert scheme.privatize(items, rng=SeededRandom(2)).tobytes() not in calls


@every_scheme
def test_without_a_seed_nothing_repeats(scheme: Scheme) -> None:
    # False alarm: the reports of 400 users have far more than 2^200 outcomes, each of them unlikely.
    items = crowd(scheme, 400)
    secure = SecureRandom()
    calls = [scheme.privatize(items) for _ in range(2)] + [scheme.privatize(items, rng=secure) for _ in range(2)]
    assert len({reports.tobytes() for reports in calls}) == 4


@every_scheme
@in_turn("rng", [7, "seed", np.random.default_rng(1), SeededRandom, b"key"])
def test_any_other_source_is_refused(scheme: Scheme, rng: object) -> None:
    with pytest.raises(ParameterError, match="rng: expected"):
        scheme.privatize(crowd(scheme, 1), rng=rng)  # type: ignore[arg-type]


# --- simulation ----------------------------------------------------------------------------------------------------


@every_scheme
@in_turn("chunk_bytes", [100, 1 << 22])
def test_simulation_is_privatizing_and_adding_the_users_in_order(
    scheme: Scheme, chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHUNK_BYTES", chunk_bytes)
    items = items_of(scheme)
    counts = {item: (i * 7) % 5 for i, item in enumerate(items)}
    users = [item for item, count in counts.items() for _ in range(count)]
    honest = tally_of(scheme, scheme.privatize(users, rng=SeededRandom(3)))
    simulated = scheme.simulate(counts, rng=SeededRandom(3))
    assert simulated.to_bytes() == honest.to_bytes()
    assert len(simulated) == len(users)
    if scheme.domain.size is not None:
        assert scheme.simulate(list(counts.values()), rng=SeededRandom(3)).to_bytes() == honest.to_bytes()
        in_array = np.array(list(counts.values()), dtype=np.uint16)
        assert scheme.simulate(in_array, rng=SeededRandom(3)).to_bytes() == honest.to_bytes()


@every_scheme
def test_simulating_nobody_gives_an_empty_accumulator(scheme: Scheme) -> None:
    nobody = scheme.accumulator().to_bytes()
    assert scheme.simulate({}).to_bytes() == nobody
    assert scheme.simulate({items_of(scheme)[0]: 0}).to_bytes() == nobody


@every_listed_name
@in_turn(
    "counts",
    [
        [1] * 4,
        [1] * 6,
        [[1] * 5],
        [[1], [1, 2], 3, 4, 5],
        [1.0] * 5,
        [1, 1, 1, 1, -1],
        [True] * 5,
        [None] * 5,
        "abcde",
        5,
        None,
    ],
)
def test_counts_that_do_not_fit_the_domain_are_refused(name: str, counts: object) -> None:
    scheme = build(name, Integers(5))
    with pytest.raises(DomainError, match="counts: expected"):
        scheme.simulate(counts, rng=SeededRandom(1))


@every_scheme
def test_simulating_items_outside_the_domain_is_refused(scheme: Scheme) -> None:
    with pytest.raises(DomainError, match="item 0: expected"):
        scheme.simulate({(5,): 3}, rng=SeededRandom(1))
