"""Whether the written proof of docs/adr/0015 covers a client: is it the code that was proved, within its conditions?"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from .. import device
from ..core.probability import WORD
from ..device import Randomizer

PROVED = "443baffe795632b914761d88ee9ec02155144e05e0232fbd12b241fe47834106"
"""SHA-256 of the code that the proof is about. Whoever changes that code reads the proof again, then changes this."""

_ROOTS = {"public", "perturb", "worst_ratio"}
_PLAIN = (int, str, bytes, Fraction, type(None))


def applies(client: Randomizer, items: int) -> bool:
    """Whether this very client is proved private on every item below ``items`` and every coin."""
    return digest() == PROVED and _as_written() and _of_device(client) and _within_conditions(client, items)


@cache
def digest() -> str:
    """SHA-256 of all code of ``device.py`` that may run between a value and its record, comments included."""
    return digest_of(_source())


def digest_of(source: str) -> str:
    """The digest of another source of the device."""
    lines = [f"{place}\n{text}\n" for place, text in sorted(_reached(source).items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def _source() -> str:
    try:
        return inspect.getsource(device)
    except OSError:
        return ""  # an installation without source files: nothing can be said of its code


@cache
def _reached(source: str) -> dict[str, str]:
    # Every definition that the roots name, and those name, and so on, by its place. Names alone decide, so that this
    # can only be too much: an attribute of any object counts as every method of that name.
    definitions = list(_definitions(source))
    reached: dict[str, str] = {}
    names, fresh = set(_ROOTS), set(_ROOTS)
    while fresh:
        found = [(place, text, node) for place, name, text, node in definitions if name in fresh]
        reached |= {place: text for place, text, _ in found}
        fresh = set().union(*(_names(node) for _, _, node in found)) - names
        names |= fresh
    return reached


def _definitions(source: str) -> Iterator[tuple[str, str, str, ast.AST]]:
    # Place, name, text and tree of all functions and assignments of the module and of its classes.
    lines = source.splitlines()
    module = ast.parse(source)
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    for owner, body in [("", module.body), *((f"{node.name}.", node.body) for node in classes)]:
        for node in body:
            for name in _defined(node):
                first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
                yield f"{owner}{name}", name, "\n".join(lines[first - 1 : node.end_lineno]), node


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _names(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name)} | {
        part.attr for part in parts if isinstance(part, ast.Attribute)
    }


# --- is what runs what is written? ------------------------------------------------------------------------------


@cache
def _written() -> ModuleType:
    spec = importlib.util.spec_from_file_location(device.__name__, device.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _as_written() -> bool:
    # A function may have been replaced since the file was read.
    for place in _reached(_source()):
        running, written = _found(device, place), _found(_written(), place)
        if isinstance(written, FunctionType):
            same = isinstance(running, FunctionType) and running.__globals__ is vars(device)
            if not same or running.__code__ != written.__code__ or running.__defaults__ != written.__defaults__:
                return False
        elif isinstance(written, (*_PLAIN, tuple)) and running != written:
            return False
    return True


def _found(module: ModuleType, place: str) -> Any:
    *owner, name = place.split(".")
    found = vars(vars(module)[owner[0]] if owner else module).get(name)
    return found.__func__ if isinstance(found, staticmethod) else found


def _of_device(thing: Any) -> bool:
    # Only numbers, texts and objects of the device's own classes, none of which has a method of its own.
    if isinstance(thing, _PLAIN):
        return True
    if isinstance(thing, list | tuple | dict):
        parts = [*thing, *thing.values()] if isinstance(thing, dict) else thing
        return all(map(_of_device, parts))
    kind = type(thing)
    if vars(device).get(kind.__name__) is not kind:
        return False
    fields: Mapping[str, Any] = vars(thing)
    return not any(callable(getattr(kind, name, None)) for name in fields) and all(map(_of_device, fields.values()))


# --- the conditions of the proof --------------------------------------------------------------------------------


def _within_conditions(client: Any, items: int) -> bool:
    # What the proof takes for granted of the numbers that a client was made with.
    condition = _CONDITIONS.get(type(client))
    thresholds = [getattr(client, name) for name in ("keep", "flip") if hasattr(client, name)]
    sound = all(0 < t < WORD for t in thresholds) and items <= getattr(client, "items", items)
    return condition is not None and sound and condition(client, items)


def _rows(client: Any, items: int) -> bool:
    return client.rows >= 1 and client.split >= 1 and _within_conditions(client.oracle, client.size)


def _groups(client: Any, items: int) -> bool:
    parts = [part for group in client.groups for part in group]
    return all(_within_conditions(part.randomizer, _items_of(part)) for part in parts)


def _items_of(part: Any) -> int:
    # What a part of a search gives to its oracle is below this.
    if isinstance(part, device.Fold):
        return int(part.blocks * part.block)
    if isinstance(part, device.Extension):
        return int(len(part.numbers) * part.more + 1)
    if part.hash_seed is not None:
        return WORD
    return int(part.text.symbols ** (part.last - part.first) << (part.tag.bits if part.tag else 0))


def _power_of_two(number: int) -> bool:
    return number > 0 and number & number - 1 == 0


_CONDITIONS: dict[type, Callable[[Any, int], bool]] = {
    device.Direct: lambda c, items: c.size >= 2 and items <= c.size,
    device.Unary: lambda c, items: c.size >= 2 and items <= c.size,
    device.LocalHashing: lambda c, items: c.size >= 2 and c.split >= 1,
    device.FastLocalHashing: lambda c, items: c.size >= 2 and c.split >= 1 and c.hashes >= 1,
    device.HadamardMechanism: lambda c, items: c.size == 1 << c.coefficients,
    device.HadamardResponse: lambda c, items: _power_of_two(c.order) and items <= c.blocks * (c.order - 1),
    device.SubsetSelection: lambda c, items: items <= c.size and 1 <= c.subset_size < c.size,
    device.ToeplitzHashing: lambda c, items: c.size == 1 << c.hash_bits and 1 <= c.window < c.size,
    device.AffineResponse: lambda c, items: c.size == 1 << c.hash_bits and 1 <= c.window < c.size,
    device.RowSketch: _rows,
    device.SampledBloom: _rows,
    device.Bloom: lambda c, items: c.size >= 2 and c.hashes >= 1 and c.split >= 1,
    device.Grouped: _groups,
}
