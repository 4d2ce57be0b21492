"""How a fault is planted: the source of a function is edited and compiled again in the module it comes from."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import pytest

from plausibly import kernels
from plausibly.kernels import reference


@dataclass(frozen=True)
class Edit:
    """``old`` becomes ``new`` in the function at ``where`` ("module:name" or "module:Class.name").

    With ``at`` the edited function goes there instead: a kernel's twin in place of the C function, or the module
    that has imported the function by name.
    """

    where: str
    old: str
    new: str
    at: str = ""

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        module, owner, name = _find(self.where)
        source = textwrap.dedent(inspect.getsource(_function(vars(owner)[name])))
        # A catalogue that no longer fits the code must not pass for a caught fault.
        assert source.count(self.old) == 1, f"{self.where} has {self.old!r} {source.count(self.old)} times"
        # Outside its class a function has to say whose parent it means.
        edited = source.replace(self.old, self.new).replace("super()", f"super({owner.__name__}, self)")
        compiled: dict[str, Any] = {}
        exec(edited, vars(module), compiled)
        _, target, target_name = _find(self.at) if self.at else (module, owner, name)
        if isinstance(compiled[name], cached_property):
            compiled[name].__set_name__(target, target_name)
        monkeypatch.setattr(target, target_name, compiled[name])


@dataclass(frozen=True)
class Value:
    """Another value, or a whole function of ours, at ``where``."""

    where: str
    new: object

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _, owner, name = _find(self.where)
        monkeypatch.setattr(owner, name, self.new)


@dataclass(frozen=True)
class Twin:
    """The NumPy twin in place of the C kernel, so that edits of what it calls take effect."""

    name: str

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kernels, self.name, getattr(reference, self.name))


Step = Edit | Value | Twin


def kernel(name: str, old: str, new: str) -> Edit:
    """An edit of a kernel: of its twin, which then stands in for it."""
    return Edit(f"kernels.reference:{name}", old, new, at=f"kernels:{name}")


def _find(where: str) -> tuple[Any, Any, str]:
    module_name, _, path = where.partition(":")
    module = import_module(f"plausibly.{module_name}")
    *owners, name = path.split(".")
    owner = module
    for part in owners:
        owner = vars(owner)[part]
    return module, owner, name


def _function(found: Any) -> Callable[..., Any]:
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    elif isinstance(found, classmethod | staticmethod):
        found = found.__func__
    return inspect.unwrap(found)
