"""The second public door: every name is there, and nothing is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import plausibly
from plausibly import device, extend
from plausibly.core import steps


def test_every_name_resolves_and_is_documented() -> None:
    for name in extend.__all__:
        found = getattr(extend, name)
        documented = isinstance(found, type | ModuleType) or callable(found)
        assert not documented or found.__doc__, name
    assert sorted(extend.__all__) == dir(extend)
    assert extend.device is device
    assert extend.register_step is steps.register
    assert extend.Scheme is plausibly.Scheme


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"plausibly.extend.*'Grouping'"):
        extend.Grouping  # noqa: B018


def test_the_door_itself_loads_nothing() -> None:
    code = "import sys, plausibly.extend; print('numpy' in sys.modules, 'plausibly.core' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_an_unfinished_scheme_is_not_registered() -> None:
    unfinished = type("UNFINISHED", (extend.Scheme,), {"name": "UNFINISHED"})
    nameless = type("NAMELESS", (plausibly.CATALOG["DE"],), {"name": ""})
    for kind in (unfinished, nameless):
        with pytest.raises(plausibly.ParameterError, match="a name and all members"):
            extend.register(kind)
