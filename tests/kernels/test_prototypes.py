"""ctypes believes what it is told: the prototypes in native.py are those of the C source, word by word."""

from __future__ import annotations

import ctypes
import inspect
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import handed
from plausibly import kernels
from plausibly.kernels import native, reference, sources

FOLDER = Path(kernels.__file__).parent
DRIVER = Path(__file__).with_name("fuzz") / "driver.c"
EXPORTED = re.compile(r"\bTARGET EXPORT (?P<result>\w+) KERNEL\((?P<name>\w+)\)\((?P<arguments>[^)]*)\)\s*\{")
WIDTHS = {"i64": 8, "u64": 8, "u32": 4, "i32": 4, "int": 4, "Field": 24}


def in_the_source() -> dict[str, str]:
    """The prototype of each exported kernel, as C has it."""
    code = "\n".join(file.read_text() for file in sources.source_files(FOLDER))
    code = re.sub(r"/\*.*?\*/", " ", code, flags=re.DOTALL)
    # Every kernel is seen by the pattern, however it is written.
    assert len(EXPORTED.findall(code)) == len(re.findall(r"\bKERNEL\(", code)) - len(["its definition"])
    found = [match.groupdict() for match in EXPORTED.finditer(code)]
    return {each["name"]: f"{each['result']} ({' '.join(each['arguments'].split())})" for each in found}


def differences(declared: Mapping[str, str]) -> list[str]:
    """Kernels that are declared in another way than the source has them, or in one place only."""
    source = in_the_source()
    return [name for name in sorted(declared.keys() | source.keys()) if declared.get(name) != source.get(name)]


def public(module: object) -> set[str]:
    functions = inspect.getmembers(module, inspect.isfunction)
    return {name for name, function in functions if function.__module__ == module.__name__ and name[0] != "_"}  # type: ignore[attr-defined]


def test_declarations_are_the_prototypes_of_the_source() -> None:
    assert differences(native.declared) == []


FAULTS = {
    "another result": ("i64 (", "void ("),
    "a scalar of another type": ("u64 keep", "u32 keep"),
    "a signed scalar": ("u64 size", "i64 size"),
    "a pointer to other numbers": ("const u64 *words", "const i64 *words"),
    "an input that may be written to": ("const u64 *values", "u64 *values"),
    "an output that may not": (", i64 *reports", ", const i64 *reports"),
    "a pointer for a field": ("Field out", "u8 *out"),
    "a number for a pointer": ("i64 *reports", "i64 reports"),
    "an argument too few": (", i64 room", ""),
    "an argument too many": ("i64 room", "i64 room, i64 more"),
    "two arguments exchanged": ("u64 keep, u64 size", "u64 size, u64 keep"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_declaration_with_a_fault_is_noticed(fault: str) -> None:
    right, wrong = FAULTS[fault]
    prototype = native.declared["direct_response"]
    assert prototype.count(right) == 1
    assert differences({**native.declared, "direct_response": prototype.replace(right, wrong)}) == ["direct_response"]


def test_a_kernel_without_a_declaration_and_one_without_a_source_are_noticed() -> None:
    declared = dict(native.declared)
    declared["indirect_response"] = declared.pop("direct_response")
    assert differences(declared) == ["direct_response", "indirect_response"]


def test_every_argument_has_the_width_that_c_expects() -> None:
    assert set(WIDTHS) | {"void"} == set(native._SCALARS)
    for name, prototype in native.declared.items():
        result, arguments = native._types_of(prototype)
        words = [argument.split() for argument in prototype.partition("(")[2].rstrip(")").split(", ")]
        expected = [8 if word[-1].startswith("*") else WIDTHS[word[0]] for word in words]
        assert [ctypes.sizeof(each) for each in arguments] == expected, name
        assert (result is None) == prototype.startswith("void "), name


def test_each_name_is_a_kernel_in_c_a_twin_and_an_export() -> None:
    names = set(kernels.NAMES)
    assert names == set(in_the_source()) == set(native.declared)
    assert names == public(reference) == public(native) - {"load"}
    assert {name for name in names if not callable(vars(kernels).get(name))} == set()
    for name in names:
        twin, own = (inspect.signature(getattr(module, name)) for module in (reference, native))
        assert list(twin.parameters) == list(own.parameters), name


@pytest.mark.parametrize(
    ("declared", "right", "wrong"),
    [
        ("const u64 *values", np.zeros(3, np.uint64), np.zeros(3, np.int64)),
        ("const u64 *values", np.zeros(3, np.uint64), [0, 0, 0]),
        ("const u64 *values", np.zeros(3, np.uint64), np.zeros(6, np.uint64)[::2]),
        ("i64 *counts", np.zeros(3, np.int64), np.frombuffer(bytes(24), np.int64)),
        ("const i64 *counts", np.frombuffer(bytes(24), np.int64), np.zeros(3, np.int32)),
        ("i64 *reports", (ctypes.c_int64 * 2)(), (ctypes.c_int32 * 2)()),
        ("Field out", native._NO_FIELD, np.zeros(3, np.uint8)),
        ("u64 keep", 2**64 - 1, -1),
        ("u32 size", 2**32 - 1, 2**32),
        ("i64 n", 5, 5.0),
    ],
)
def test_what_is_handed_over_is_checked_against_its_declaration(declared: str, right: object, wrong: object) -> None:
    assert handed.fault(declared, right) == ""
    assert handed.fault(declared, wrong) != ""


def test_the_sanitized_driver_calls_every_kernel() -> None:
    driver = DRIVER.read_text()
    assert set(re.findall(r"\bCALL(?:_WIDEST)?\((\w+),", driver)) - {"name"} == set(kernels.NAMES)
    assert f"KERNELS = {len(kernels.NAMES)}," in driver


def test_the_digest_covers_every_included_file(tmp_path: Path) -> None:
    files = sources.source_files(FOLDER)
    included = {file.name for file in files}
    for file in files:
        assert set(re.findall(r'#include "(?:c/)?(.*?)"', file.read_text())) <= included
        copy = tmp_path / file.relative_to(FOLDER)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(file.read_bytes())
    whole = sources.digest(tmp_path)
    assert whole == sources.digest(FOLDER)
    for file in sources.source_files(tmp_path):
        content = file.read_bytes()
        file.write_bytes(content + b"\n")
        assert sources.digest(tmp_path) != whole
        file.write_bytes(content)
    assert sources.digest(tmp_path) == whole
    (tmp_path / "c" / "search.h").rename(tmp_path / "c" / "searching.h")
    assert sources.digest(tmp_path) != whole
