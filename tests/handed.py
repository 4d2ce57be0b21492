"""What is handed to C, checked against the prototype of the kernel: a wrong array would be read as something else."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from plausibly.kernels import native

ELEMENTS = {
    "u8": np.uint8,
    "u32": np.uint32,
    "u64": np.uint64,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
RANGES = {"i64": (-(2**63), 2**63), "u64": (0, 2**64), "u32": (0, 2**32), "i32": (-(2**31), 2**31), "int": (-1, 2**31)}


def fault(declared: str, value: Any) -> str:
    """What is wrong with an argument, or nothing; it is declared as in C: ``const u64 *values``."""
    *kind, name = declared.split()
    if name.startswith("*"):
        if isinstance(value, ctypes.Array):
            return "" if kind == ["i64"] and value._type_ is ctypes.c_int64 else "a list of other numbers"
        if not isinstance(value, np.ndarray):
            return "no array"
        if value.dtype != ELEMENTS[kind[-1]]:
            return f"an array of {value.dtype}"
        if not value.flags.c_contiguous:
            return "an array with gaps"
        if kind[0] != "const" and not value.flags.writeable:
            return "an array that may not be written to"
        return ""
    if kind == ["Field"]:
        return "" if isinstance(value, native._Record) else "no field"
    least, end = RANGES[kind[0]]
    return "" if isinstance(value, int | np.integer) and least <= value < end else "a number out of range"


def checked(call: Callable[..., int]) -> Callable[..., int]:
    """`native._call`, which refuses arguments that are not as declared."""

    def called(name: str, *arguments: Any) -> int:
        declared = native.declared[name].partition("(")[2].rstrip(")").split(", ")
        for each, value in zip(declared, arguments, strict=True):
            if found := fault(each, value):
                raise AssertionError(f"{name} is handed {found} as {each}")
        return call(name, *arguments)

    return called
