"""Memos on devices: what a key decides, what is refused, and what never shows."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import plausibly
from cases import in_turn
from plausibly import device
from plausibly.device import DeviceError, Memo
from test_device import Shake

NAMES = ["LOLOHA", "LOSUE", "LSUE"]
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


def text_of(name: str, memo_epsilon: str = "2", epsilon: str = "1", size: int = 16) -> str:
    return plausibly.make(name, epsilon=epsilon, memo_epsilon=memo_epsilon, domain_size=size).to_json()


def client(name: str, key: bytes = KEY, series: str = "theme", **own: Any) -> device.Client:
    return device.load(text_of(name, **own), memo=Memo(key, series))


class Truth:
    """Coins with which an answer is the entry itself, if answers are so more often than not."""

    def bernoulli(self, threshold: int) -> bool:
        return threshold > 2**63

    def below(self, size: int) -> int:
        return 0


def entry(name: str, value: int, **own: Any) -> bytes:
    """The entry of a value, and for LOLOHA the hash function, as a record."""
    return client(name, **own).privatize(value, Truth())


def entries(name: str, **own: Any) -> list[bytes]:
    return [entry(name, value, **own) for value in range(16)]


@in_turn("name", NAMES)
def test_the_memo_lasts_and_only_the_answers_are_fresh(name: str) -> None:
    assert entries(name) == entries(name)
    assert len(set(entries(name))) > 1
    # A false alarm: 16 equal answers of 16 bits, or of 4 values, less than once in 10^3 for 64 of them.
    records = {client(name).privatize(3) for _ in range(64)}
    assert len(records) > 1
    if name == "LOLOHA":
        assert len({record[:-1] for record in records}) == 1, "one hash function for all days"


@in_turn("name", NAMES)
def test_a_new_epsilon_of_the_reports_keeps_the_memo(name: str) -> None:
    own = [entries(name, epsilon=epsilon) for epsilon in ("1", "1/2", "3/2")]
    # With a different number of cells the hash of LOLOHA is another one; the thresholds of unary memos stay.
    assert name == "LOLOHA" or own[0] == own[1] == own[2]
    bits = [
        plausibly.make("LOLOHA", epsilon=epsilon, memo_epsilon=2, domain_size=16, hash_bits=2).to_json()
        for epsilon in ("1", "3/2")
    ]
    lolohas = [device.load(text, memo=Memo(KEY, "theme")) for text in bits]
    assert all(lolohas[0].privatize(x, Truth()) == lolohas[1].privatize(x, Truth()) for x in range(16))


@in_turn("name", NAMES)
def test_another_key_series_or_memo_is_independent(name: str) -> None:
    # Of 16 entries, those of independent memos agree by chance only: fewer than all of them.
    own = entries(name)
    others = [entries(name, key=OTHER), entries(name, series="themes"), entries(name, memo_epsilon="21/10")]
    others.append(entries(name, size=17))
    assert all(own != other for other in others)
    assert all(a != b for i, a in enumerate(others) for b in others[:i])


def test_a_memo_of_another_epsilon_from_the_same_words_would_give_the_value_away() -> None:
    # Why the memo's own thresholds are part of what its words depend on: with shared words, keeping the cell at the
    # lower threshold implies keeping it at the higher one, and two entries can occur under one value alone.
    one, other = (
        plausibly.make("LOLOHA", epsilon=1, memo_epsilon=memo, domain_size=16, hash_bits=1) for memo in (2, 3)
    )
    assert one.memo_keep < other.memo_keep
    joint = {
        cell: {
            tuple(
                scheme.client.memoise(cell, device.WordSource(2, lambda count, word=word: (word + bytes(8))[:count]))
                for scheme in (one, other)
            )
            for word in ((one.memo_keep - 1).to_bytes(8, "little"), one.memo_keep.to_bytes(8, "little"), b"\xff" * 8)
        }
        for cell in (0, 1)
    }
    assert joint[0] != joint[1]
    assert one.client.subject != other.client.subject


def test_a_lost_key_and_a_found_one() -> None:
    # A user who loses the key has a new hash and new entries; a user who restores it has the old ones.
    before, after, restored = entries("LOLOHA"), entries("LOLOHA", key=OTHER), entries("LOLOHA")
    assert before == restored
    assert before != after
    assert before[0][:-1] != after[0][:-1]


def test_two_processes_with_one_key_have_one_memo(tmp_path: Path) -> None:
    (tmp_path / "scheme.json").write_text(text_of("LOLOHA"))
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import device\n"
        "client = device.load(open(sys.argv[2]).read(), memo=device.Memo(bytes(range(32)), 'theme'))\n"
        "class Truth:\n"
        "    def bernoulli(self, threshold): return threshold > 2**63\n"
        "    def below(self, size): return 0\n"
        "print([client.privatize(x, Truth()).hex() for x in range(16)])\n"
    )
    command = [sys.executable, "-c", program, str(Path(device.__file__).parent), str(tmp_path / "scheme.json")]
    said = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert said == {f"{[record.hex() for record in entries('LOLOHA')]}\n"}


@in_turn("name", NAMES)
def test_a_client_without_a_memo_is_refused_unless_the_user_reports_once(name: str) -> None:
    for memo in (None, "never", b"once", object()):
        with pytest.raises(DeviceError, match=r"^memo: expected load\(\.\.\., memo=Memo\(key, series\)\)"):
            device.load(text_of(name), memo=memo)  # type: ignore[arg-type]
    # Everything is drawn anew.
    once = device.load(text_of(name), memo="once")
    assert len({once.privatize(3) for _ in range(64)}) > 1
    plain = plausibly.make("DE", epsilon=1, domain_size=4).to_json()
    with pytest.raises(DeviceError, match="DE has no memo"):
        device.load(plain, memo=Memo(KEY, "theme"))


def test_keys_and_series_that_are_none_are_refused_and_keys_never_show() -> None:
    for key in (b"", KEY[:16], KEY + b"x", bytearray(KEY), KEY.hex(), None):
        with pytest.raises(DeviceError, match="key: expected 32 bytes") as error:
            Memo(key, "theme")  # type: ignore[arg-type]
        assert KEY.hex() not in str(error.value)
    for series in ("", None, b"theme", 7, "\ud800"):
        with pytest.raises(DeviceError, match="series: expected a text"):
            Memo(KEY, series)  # type: ignore[arg-type]
    shown = f"{Memo(KEY, 'theme')!r} {client('LOLOHA')!r}"
    assert "theme" in shown
    assert KEY.hex() not in shown
    assert repr(KEY) not in shown


@in_turn("name", NAMES)
def test_the_limit_of_a_device_is_for_the_memo(name: str) -> None:
    memo = Memo(KEY, "theme")
    assert device.load(text_of(name), memo=memo, max_epsilon=2).memo_epsilon == 2
    for limit in ("1", "19/10"):
        with pytest.raises(DeviceError, match=f"expected epsilon at most {limit}"):
            device.load(text_of(name), memo=memo, max_epsilon=limit)
    with pytest.raises(DeviceError, match="expected epsilon at most 8"):
        device.load(text_of(name, memo_epsilon="9"), memo=memo)


@pytest.mark.full
@in_turn("name", NAMES)
def test_the_memos_of_many_keys_follow_the_law_of_an_entry(name: str) -> None:
    # 4,000 keys; each share within 5 standard errors of its law: a false alarm once in 10^5.
    scheme = plausibly.make(name, epsilon=1, memo_epsilon=2, domain_size=4)
    keys, runs = Shake(f"memo/{name}"), 4000
    made = scheme.client
    own = hits = other = 0
    for _ in range(runs):
        choices = Memo(keys(32), "theme").choices(made.subject)
        public = made.public(choices(b"hash", 0, made.public_words))
        cell = made.cell(2, public)
        kept = made.memoise(cell, choices(b"memo", cell, made.memo_words))
        if name == "LOLOHA":
            own += kept[0] == cell
            hits += public[0] == 3
        else:
            own += kept[0] >> 2 & 1
            other += kept[0] >> 1 & 1
    expected = {"own": (own, Fraction(scheme.memo_keep, 2**64))}
    if name == "LOLOHA":
        expected["rows"] = (hits, Fraction(1, 4))
    else:
        expected["other"] = (other, Fraction(scheme.memo_flip, 2**64))
    for share, chance in expected.values():
        assert abs(share / runs - float(chance)) < 5 * float(chance * (1 - chance) / runs) ** 0.5


def test_words_of_a_memo_are_read_in_order_whatever_the_sizes_of_the_reads() -> None:
    read = Memo(KEY, "theme").choices("subject")(b"memo", 7, 13)._read
    wanted = device._Keystream(read._key, b"memo", 7)(8 * 40)  # type: ignore[attr-defined]
    for sizes in product((1, 5, 8), repeat=3):
        stream = device._Keystream(read._key, b"memo", 7)  # type: ignore[attr-defined]
        assert b"".join(stream(8 * size) for size in sizes) == wanted[: 8 * sum(sizes)]
