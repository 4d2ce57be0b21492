"""The tests that an installed wheel with kernels must pass: kernels against their NumPy twins, and the released bytes.

They run in the folder of an unpacked source archive, with the package of the wheel and not that of the archive.
"""

from __future__ import annotations

TOOLS = ("pytest", "hypothesis")
"""Packages that the tests need besides the wheel."""

_TESTS = ("tests/kernels/test_native_equals_reference.py", "tests/kernels/test_local_hash.py", "tests/test_vectors.py")

# Not `-m pytest`: first make sure which library on which machine the tests will use.
_SCRIPT = """
import platform, sys
import pytest
from plausibly import kernels
assert platform.machine() == sys.argv[1], platform.machine()
assert (kernels.active, kernels.reason) == ("c", "the library that came with the package"), kernels.reason
options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib", "-m", "not slow and not full"]
sys.exit(pytest.main([*options, *sys.argv[2:]]))
"""


def arguments(machine: str) -> list[str]:
    """Arguments of a Python that runs the tests of the kernels on a machine of this kind."""
    return ["-c", _SCRIPT, machine, *_TESTS]


def passed(output: str) -> str:
    """The last line of the tests, such as ``388 passed, 228 deselected in 9.43s``."""
    return output.strip().splitlines()[-1]
