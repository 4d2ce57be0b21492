"""Check whether the written proof of docs/adr/0015 covers a client: same code, and within the proof's conditions."""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from types import CellType, CodeType, FunctionType, GetSetDescriptorType, ModuleType
from typing import Any

from .. import device
from ..core.probability import WORD
from ..device import Randomizer

PROVED = "cdde2592611571da44c809ced1a75bf3431b3dad317819c62e0572c60c9febc3"
"""SHA-256 of the code that the proof is about. If that code changes, check the proof first, then edit this."""

_ALWAYS = ""
"""Name of statements that define nothing: imports, conditions, assignments to attributes."""
_ROOTS = {"public", "perturb", "worst_ratio", "memo_ratio", _ALWAYS}
# Exact types: a subclass of int could override comparison, and send one item in the clear.
_PLAIN = (int, bool, str, bytes, type(None))


def argument_applies(client: Randomizer, items: int) -> bool:
    """Whether the written argument proves this very client private on every item below ``items`` and every coin."""
    return digest() == PROVED and _as_written() and _of_device(client) and _within_conditions(client, items)


@cache
def digest() -> str:
    """SHA-256 of the code that the argument is about, with comments and imports.

    This is all code of ``device.py`` that may run between a value and its record.
    """
    return digest_of(_source())


def digest_of(source: str) -> str:
    """The digest that the argument pins, for a given source text of the device."""
    lines = [f"{place}\n{text}\n" for place, text in sorted(_reached(source).items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def _source() -> str:
    try:
        return inspect.getsource(device)
    except OSError:
        return ""  # an installation without source files: its code cannot be checked


@cache
def _reached(source: str) -> dict[str, str]:
    # Every definition that the roots refer to, directly or indirectly, by its place. Only names are compared, so that
    # the result can only be too large: an attribute of any object counts as every method of that name.
    definitions = list(_definitions(source))
    reached: dict[str, str] = {}
    # Python calls special methods without naming them. The conditions check the attributes that __init__ sets.
    special = {name for place, name, _, _ in definitions if "." in place and name.startswith("__")} - {"__init__"}
    names = fresh = _ROOTS | special
    while fresh:
        found = [(place, text, node) for place, name, text, node in definitions if name in fresh]
        reached |= {place: text for place, text, _ in found}
        fresh = set().union(*(_names(node) for _, _, node in found)) - names
        names = names | fresh
    return reached


def _definitions(source: str) -> Iterator[tuple[str, str, str, ast.AST]]:
    # Place, name, text and tree of all statements of the module and its classes; class members include the header.
    lines = source.splitlines()
    module = ast.parse(source)
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    others = [node for node in module.body if not isinstance(node, ast.ClassDef)]
    headers = ["\n".join(lines[_first_line(node) - 1 : node.body[0].lineno - 1]) for node in classes]
    owners = [(f"{node.name}.", header, node.body) for node, header in zip(classes, headers, strict=True)]
    for owner, header, body in [("", "", others), *owners]:
        for node in body:
            text = "\n".join([header, *lines[_first_line(node) - 1 : node.end_lineno]])
            for name in _defined(node):
                yield f"{owner}{name or text}", name, text, node


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return []  # a docstring
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if names and len(names) == len(targets) else [_ALWAYS]


def _names(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name)} | {
        part.attr for part in parts if isinstance(part, ast.Attribute)
    }


# --- is the running code the written code? ----------------------------------------------------------------------


@cache
def _written() -> ModuleType:
    spec = importlib.util.spec_from_file_location(device.__name__, device.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _as_written() -> bool:
    # Anything may have been replaced or added since the file was read: a global named range would hide the builtin.
    running, written = _globals_of(device), _globals_of(_written())
    # Other packages may register clients and kinds of domains; that does not change existing ones.
    for table in ("RANDOMIZERS", "DOMAINS"):
        running[table] = {name: running[table].get(name) for name in written[table]}
    return running.keys() == written.keys() and all(
        _same(running[name], written[name]) and (type(written[name]) is not type or _same_class(name))
        for name in written
    )


def _globals_of(module: ModuleType) -> dict[str, Any]:
    # Without __spec__ and the like, which belong to the import system.
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}


def _same_class(name: str) -> bool:
    running, written = vars(device)[name], vars(_written())[name]
    if running is written:
        return True  # imported
    fields, expected = (
        {key: kind[key] for key in kind if key not in _NOTES} for kind in (vars(running), vars(written))
    )
    return (
        _same(running.__bases__, written.__bases__)
        and fields.keys() == expected.keys()
        and all(_same(fields[key], expected[key]) for key in expected)
    )


# Attributes that Python itself adds to classes: copying and pickling record slot names, debuggers and type hints the
# rest. No function of a client reads them.
_NOTES = {
    "__slotnames__",
    "__static_attributes__",
    "__annotations__",
    "__annotations_cache__",
    "__annotate__",
    "__annotate_func__",
    "__firstlineno__",
}


def _same(running: Any, written: Any) -> bool:
    # Whether an object in memory is what the file defines; classes by name, because each is compared separately.
    if running is written:
        return True
    if type(running) is not type(written):
        return False
    if isinstance(written, type):
        name = written.__name__
        return vars(device).get(name) is running and vars(_written()).get(name) is written
    if type(written) in (*_PLAIN, CodeType):
        return bool(running == written)
    if type(written) in (list, tuple):
        return len(running) == len(written) and all(map(_same, running, written))
    if type(written) is dict:
        return _same(list(running.items()), list(written.items()))
    if isinstance(written, FunctionType) and (
        running.__globals__ is not vars(device) or running.__builtins__ is not vars(builtins)
    ):
        return False
    parts = _PARTS.get(type(written), ())
    return bool(parts) and all(_same(getattr(running, part), getattr(written, part)) for part in parts)


_PARTS: dict[type, tuple[str, ...]] = {
    FunctionType: ("__code__", "__defaults__", "__kwdefaults__", "__closure__"),
    staticmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    cached_property: ("func", "attrname"),
    GetSetDescriptorType: ("__name__", "__objclass__"),
    CellType: ("cell_contents",),
}


def _of_device(thing: Any) -> bool:
    # Only numbers, texts and objects of the device's classes, none with an instance method of its own.
    kind = type(thing)
    if kind in _PLAIN:
        return True
    if kind in (list, tuple, dict):
        return all(map(_of_device, [*thing, *thing.values()] if kind is dict else thing))
    if vars(device).get(kind.__name__) is not kind:
        return False
    fields = vars(thing)
    return (
        type(fields) is dict
        and not any(callable(getattr(kind, name, None)) for name in fields)
        and all(map(_of_device, fields.values()))
    )


# --- the conditions of the proof --------------------------------------------------------------------------------


def _within_conditions(client: Any, items: int) -> bool:
    # The proof's assumptions about the parameters of a client.
    condition = _CONDITIONS.get(type(client))
    names = ("keep", "flip", "memo_keep", "memo_flip")
    thresholds = [getattr(client, name) for name in names if hasattr(client, name)]
    sound = all(0 < t < WORD for t in thresholds) and items <= getattr(client, "items", items)
    return condition is not None and sound and condition(client, items)


def _rows(client: Any, items: int) -> bool:
    return client.rows >= 1 and client.split >= 1 and _within_conditions(client.oracle, client.size)


def _blocks(client: Any, items: int) -> bool:
    # Every value has a block of the oracle, at every offset.
    sound = client.step >= 1 and client.offsets >= 1 and client.offsets * client.step == client.width
    sound = sound and 1 <= client.length <= client.items
    enough = client.blocks == (client.length - 1 + client.width - client.step) // client.width + 1
    return sound and enough and _within_conditions(client.oracle, client.blocks + client.items - client.length)


def _one_bit(client: Any, items: int) -> bool:
    # Thresholds rise from the first to the last.
    places = client.places
    rising = places is None or (len(places) == client.size and places == sorted(places) and places[0] >= 0)
    top = client.size - 1 if places is None else places[-1]
    sound = items <= client.size and client.first >= 1 and client.step >= 1
    return rising and sound and bool(client.first + client.step * top == client.last < WORD)


def _groups(client: Any, items: int) -> bool:
    parts = [part for group in client.groups for part in group]
    # No nested groups: their number of public draws would depend on the group.
    return all(
        _whole(part)
        and type(part.randomizer) is not device.Grouped
        and _within_conditions(part.randomizer, _items_of(part))
        for part in parts
    )


def _whole(part: Any) -> bool:
    # A part maps every value to an item, without an error on some of them.
    condition = _PART_CONDITIONS.get(type(part))
    return condition is not None and condition(part)


def _symbols(part: Any) -> bool:
    text, tag = part.text, part.tag
    whole = 2 <= text.symbols <= 2**16 and 0 <= part.first <= part.last <= text.length
    return whole and (tag is None or 0 <= tag.bits <= 16)


def _extension(part: Any) -> bool:
    numbers = part.numbers.values()
    fits = part.more == part.text.symbols ** (part.last - part.first) and part.hash_seed is None
    return _symbols(part) and fits and all(0 <= number < len(numbers) for number in numbers)


def _half(part: Any) -> bool:
    # Every value has a block of the oracle, and its sign is the bit above all blocks.
    fits = part.width >= 2 and part.items <= part.order * part.width
    return fits and type(part.randomizer) is device.HadamardMechanism and part.order == part.randomizer.order


def _items_of(part: Any) -> int:
    # Upper bound of the items that a part gives to its oracle.
    if type(part) is device.Fold:
        return int(part.blocks * part.block)
    return WORD if getattr(part, "hash_seed", None) is not None else int(part.count())


_PART_CONDITIONS: dict[type, Callable[[Any], bool]] = {
    device.Digit: lambda part: part.step >= 1 and part.base >= 1,
    device.Joint: lambda part: all(step >= 1 and base >= 1 for step, base in part.digits),
    device.Symbols: _symbols,
    device.Fold: lambda part: _symbols(part) and part.block >= 1 and part.blocks >= 1,
    device.Extension: _extension,
    device.Width: lambda part: part.items >= 1,
    device.Half: _half,
}


def _power_of_two(number: int) -> bool:
    return number > 0 and number & number - 1 == 0


_CONDITIONS: dict[type, Callable[[Any, int], bool]] = {
    device.Direct: lambda c, items: c.size >= 2 and items <= c.size,
    device.Unary: lambda c, items: c.size >= 2 and items <= c.size and c.record_bytes == (c.size + 7) // 8,
    device.LocalHashing: lambda c, items: c.size >= 2 and c.split >= 1,
    device.FastLocalHashing: lambda c, items: c.size >= 2 and c.split >= 1 and c.hashes >= 1,
    device.HadamardMechanism: lambda c, items: c.size == 1 << c.coefficients,
    device.HadamardResponse: lambda c, items: _power_of_two(c.order) and items <= c.blocks * (c.order - 1),
    device.SubsetSelection: lambda c, items: (
        items <= c.size and 1 <= c.subset_size < c.size and c.record_bytes == (c.size + 7) // 8
    ),
    device.ToeplitzHashing: lambda c, items: c.size == 1 << c.hash_bits and 1 <= c.window < c.size,
    device.AffineResponse: lambda c, items: c.size == 1 << c.hash_bits and 1 <= c.window < c.size,
    device.RowSketch: _rows,
    device.SampledBloom: _rows,
    device.Bloom: lambda c, items: c.size >= 2 and c.hashes >= 1 and c.split >= 1,
    device.Blocks: _blocks,
    device.SquareWave: lambda c, items: (
        items <= c.size and c.size >= 2 and c.near >= 1 and c.places == c.size + c.near - 1
    ),
    device.OneBit: _one_bit,
    device.MemoisedHashing: lambda c, items: c.size == 1 << c.hash_bits and 1 <= c.hash_bits <= 8,
    device.MemoisedUnary: lambda c, items: c.size >= 2 and items <= c.size and c.record_bytes == (c.size + 7) // 8,
    device.Grouped: _groups,
}
