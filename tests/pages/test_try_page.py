"""The try page: its file is current and small, and its numbers are those of the library."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import browsing
from plausibly import SeededRandom, catalog
from plausibly.pages.try_page import FILE, try_page

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.full


@cache
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("try_build", ROOT / "clients" / "try" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


@cache
def schemes() -> dict[tuple[str, str], Any]:
    return {key: catalog.from_json(document) for key, document in build().schemes().items()}


@cache
def reports() -> dict[tuple[str, str], Any]:
    """A thousand reports of each scheme."""
    values = [build().secrets()[place] for place in np.random.default_rng(5).integers(8, size=1000)]
    return {key: scheme.privatize(values, SeededRandom(i)) for i, (key, scheme) in enumerate(schemes().items())}


@cache
def computed() -> dict[tuple[str, str], Any]:
    """What the arithmetic of the page says about the same schemes and reports."""
    asked = [
        {
            "kind": kind,
            "epsilon": epsilon,
            "thresholds": build().thresholds()[epsilon][kind],
            "records": bytes_of(found),
        }
        for (epsilon, kind), found in reports().items()
    ]
    told = browsing.run_node(ROOT / "tests/browser/chances.mjs", given="\n".join(map(json.dumps, asked)))
    return dict(zip(reports(), map(json.loads, told.splitlines()), strict=True))


def bytes_of(found: Any) -> list[int]:
    return list(found.tobytes())


def test_the_committed_file_is_what_the_sources_make() -> None:
    assert build().built() == FILE.read_text(encoding="utf-8"), "run `python clients/try/build.py`"


def test_the_file_is_small_and_names_no_other_address() -> None:
    assert FILE.stat().st_size <= 60_000
    addresses = set(re.findall(r"https?://[\w./]+", FILE.read_text(encoding="utf-8")))
    assert addresses == {"http://www.w3.org/2000/svg"}, "a namespace, which nobody loads"


def test_the_parts_have_no_script_or_style_in_the_page() -> None:
    parts = try_page()
    served = parts.framed()
    assert "<script" not in served
    assert "<style" not in served
    assert not re.search(r"\s(style|on\w+)=", served), "a strict policy refuses such attributes"
    assert len(parts.style) + len(parts.script) + len(served) < FILE.stat().st_size


def test_the_documents_of_the_page_are_those_of_the_library() -> None:
    for key, document in build().schemes().items():
        assert computed()[key]["document"] == document, key


def test_the_likelihoods_of_every_byte_are_those_of_the_library() -> None:
    for key, scheme in schemes().items():
        records = np.arange(8 if key[1] == "DE" else 256, dtype=np.uint8)
        for byte in records:
            if key[1] == "SS" and int(byte).bit_count() != scheme.subset_size:
                continue
            record = np.frombuffer(bytes([byte]), dtype=scheme.report_dtype)[0]
            expected = [float(scheme.likelihood(record, item)) for item in range(8)]
            np.testing.assert_allclose(computed()[key]["chances"][byte], expected, rtol=1e-13)


def test_the_likelihoods_of_all_bytes_add_up_to_one_under_each_secret() -> None:
    for (epsilon, kind), found in computed().items():
        size = schemes()[epsilon, kind].subset_size if kind == "SS" else None
        possible = [row for byte, row in enumerate(found["chances"]) if size is None or byte.bit_count() == size]
        np.testing.assert_allclose(np.sum(possible, axis=0), 1.0, rtol=1e-12)


def test_the_estimates_and_intervals_of_the_same_reports_are_those_of_the_library() -> None:
    for key, scheme in schemes().items():
        tally = scheme.accumulator()
        tally.add(reports()[key])
        answer = tally.estimate()
        low, high = answer.interval()
        expected = np.column_stack([answer.values, low, high]) / answer.n
        found = [[row["share"], row["low"], row["high"]] for row in computed()[key]["found"]]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert computed()[key]["error"] == pytest.approx((scheme.variance(1000, 0) ** 0.5) / 1000, rel=1e-9)
        assert computed()[key]["times"] == 1
