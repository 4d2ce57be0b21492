"""The attacks of docs/longitudinal.md: what the page says is what comes out."""

from __future__ import annotations

import re
import runpy
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def limit(items: int, bits: int, keep: float) -> Fraction:
    """The chance of the best guess from the hash function and the entry itself: no number of reports exceeds it."""
    cells, own = 2**bits, Fraction(keep)
    other, total = (1 - own) / (cells - 1), Fraction(0)
    for rows in product(range(items), repeat=bits):
        used = len({tuple((row & item).bit_count() & 1 for row in rows) for item in range(items)})
        total += (used * own + (cells - used) * other) / items
    return total / items**bits


@pytest.mark.full
def test_the_attacks_succeed_as_often_as_the_page_says() -> None:
    page = (ROOT / "docs" / "longitudinal.md").read_text(encoding="utf-8")
    rows = {
        name: re.findall(r"0?\.\d\d|1\.00", row) for name, row in re.findall(r"^\| ([\w, ]+) \|(.*)\|$", page, re.M)
    }
    attacks = runpy.run_path(str(ROOT / "examples" / "memos.py"))
    found = attacks["averaging"]()
    for name, shares in found.items():
        assert rows[name] == [f"{share:.2f}" for share in shares]
    # 4,000 users: four standard errors, a false alarm once in 16,000 seeds.
    most = float(limit(16, 2, attacks["P1"]))
    assert most == pytest.approx(0.164, abs=5e-4)
    assert abs(found["with a memo"][-1] - most) < 4 * (most * (1 - most) / attacks["USERS"]) ** 0.5
    assert f"{most:.2f}" in page
    # Whatever the hash function, four entries allow no more.
    assert 4 * attacks["P1"] / 16 == pytest.approx(0.178, abs=5e-4)
    assert rows["one change detected"] == [f"{share:.2f}" for share in attacks["changing"]()]
