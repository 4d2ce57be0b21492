"""The examples in the docstrings of schemes run, and every scheme has one."""

from __future__ import annotations

import doctest
import re
import sys

import pytest

import plausibly


@pytest.mark.parametrize("name", sorted(plausibly.CATALOG))
def test_the_docstring_has_an_example_and_it_runs(name: str) -> None:
    kind = plausibly.CATALOG[name]
    module = sys.modules[kind.__module__]
    tests = doctest.DocTestFinder(recurse=False).find(kind, name, module=module)
    examples = sum(len(test.examples) for test in tests)
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        runner.run(test)
    assert runner.failures == 0
    assert examples > 0, "a scheme's docstring shows one executed example"


@pytest.mark.parametrize("name", sorted(plausibly.CATALOG))
def test_the_docstring_states_privacy_variance_and_cost(name: str) -> None:
    text = plausibly.CATALOG[name].__doc__ or ""
    assert [word for word in ("Privacy: ", "Cost: ") if word not in text] == []
    assert "Variance" in text or "variance" in text
    # Where it comes from: a section of the paper, another publication, or a derivation of our own.
    assert re.search(r"paper, section|\(.* \d{4}\)|Derivation: docs/adr/", text)
