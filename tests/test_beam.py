"""The recipe for Apache Beam runs as the page shows it; the pipeline itself only where Beam is installed."""

from __future__ import annotations

import doctest
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from contract.entries import tally_of
from plausibly import Accumulator, decode_reports

INSTALLED = find_spec("apache_beam") is not None
PAGE = Path(__file__).parents[1] / "docs" / "engines.md"


class StandInForCombineFn:
    """The class of Beam that the recipe derives from, with the methods that must not be taken from it."""

    def create_accumulator(self) -> Any:
        raise NotImplementedError

    add_input = merge_accumulators = extract_output = create_accumulator

    def compact(self, accumulator: Any) -> Any:
        return accumulator


def shown(monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], str]:
    """The names that the page defines, a CombineFn among them, and the text of the pipeline."""
    text = PAGE.read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(text.partition("\n## Apache Beam\n")[2].partition("\n## ")[0]):
        exec(compile(example.source, PAGE.name, "single" if "\n" not in example.source.strip() else "exec"), found)
    if not INSTALLED:
        module: Any = ModuleType("apache_beam")
        module.CombineFn = StandInForCombineFn
        monkeypatch.setitem(sys.modules, "apache_beam", module)
    derived, pipeline = re.findall(r"^```py\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    exec(derived, found)
    return found, pipeline


def test_the_recipe_adds_merges_and_extracts_as_beam_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    page, _ = shown(monkeypatch)
    scheme, batches = page["scheme"], page["batches"]
    combine = page["BeamTally"](scheme)
    bundles = []
    for bundle in (batches[:2], batches[2:], []):
        tally = combine.create_accumulator()
        for batch in bundle:
            tally = combine.add_input(tally, batch)
        bundles.append(combine.compact(tally))
    result = combine.extract_output(combine.merge_accumulators(iter(bundles)))
    assert result == tally_of(scheme, *(decode_reports(scheme, batch) for batch in batches)).to_bytes()


def test_the_pipeline_writes_the_tally_where_beam_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page, pipeline = shown(monkeypatch)
    monkeypatch.chdir(tmp_path)
    if not INSTALLED:
        compile(pipeline, PAGE.name, "exec")
        return
    exec(pipeline, page)
    (written,) = tmp_path.glob("pets.tally*")
    assert len(Accumulator.from_bytes(page["scheme"], written.read_bytes())) == 5
