"""Spell the settings in messages as people type them in a shell: ``--missing skip``, not ``missing="skip"``."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

from ..core.words import Kind, Part, Setting, Words

_OPTIONS = {"allow_simulated": "simulated", "key": "key_file", "k": "top"}
"""Parameters of Python functions that are options of another name."""
_TARGETS = ("within", "find")
"""Options that give the target of a plan, which is one parameter in Python."""
_TYPED: dict[object, str] = {"\t": "tab"}
"""Values that commands take under a name, because they are hard to type."""
_KINDS: dict[type, str] = {str: "a text", bytes: "bytes", bool: "true or false", int: "an integer", float: "a fraction"}
_KINDS |= {list: "a list", tuple: "a list", dict: "an object", type(None): "nothing"}


def spelled(message: object, request: Any) -> str:
    """A message of the library with its settings spelled as options of the command that was requested."""
    if not isinstance(message, Words):
        return str(message)
    return "".join(_part(part, request) for part in message.parts)


def _part(part: Part, request: Any) -> str:
    if isinstance(part, Kind):
        return _KINDS.get(part.type, str(getattr(part.type, "title", "something else")))  # domains have a title
    return _setting(part, request) if isinstance(part, Setting) else part


def _setting(setting: Setting, request: Any) -> str:
    name, value = _OPTIONS.get(setting.name, setting.name), setting.value
    if name == "target":
        return "a target (--within, --find or --quantile-within)"
    if name == "share":
        name = next((target for target in _TARGETS if getattr(request, target, None) is not None), name)
    if setting.of and type(request).__name__ != f"{setting.of.capitalize()}Options":
        return f"plausibly {setting.of} … {_option(name, value)}"
    options = {field.name for field in fields(request)}
    if setting.of or name in options or (value is False and f"no_{name}" in options):
        return _option(name, value)
    # Otherwise it is a parameter of a scheme, as in OLH:epsilon=1,domain_size=1000.
    return name if value is None else f"{name}={value}"


def _option(name: str, value: object) -> str:
    if value is False:
        return f"--no-{name.replace('_', '-')}"
    option = f"--{name.replace('_', '-')}"
    return option if value is None or value is True else f"{option} {_TYPED.get(value) or shlex.quote(str(value))}"
