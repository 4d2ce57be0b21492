"""The attacks of docs/longitudinal.md: what the page says is what comes out."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.full
def test_the_attacks_succeed_as_often_as_the_page_says() -> None:
    page = (ROOT / "docs" / "longitudinal.md").read_text(encoding="utf-8")
    rows = {
        name: re.findall(r"0?\.\d\d|1\.00", row) for name, row in re.findall(r"^\| ([\w, ]+) \|(.*)\|$", page, re.M)
    }
    attacks = runpy.run_path(str(ROOT / "examples" / "memos.py"))
    for name, shares in attacks["averaging"]().items():
        assert rows[name] == [f"{share:.2f}" for share in shares]
    assert rows["one change detected"] == [f"{share:.2f}" for share in attacks["changing"]()]
