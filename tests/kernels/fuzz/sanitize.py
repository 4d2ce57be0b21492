"""The kernels under AddressSanitizer and UndefinedBehaviorSanitizer: `make sanitize` and `make fuzz`.

Three programs, each made in a temporary folder, so that the library of the installation stays what it is:

- the package with a sanitized library, under the tests of the kernels, of states and of wire batches;
- `driver.c`, which calls every kernel with arrays of any bytes;
- the same as a libFuzzer harness, if clang has that.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "plausibly" / "kernels" / "native.c"
DRIVER = Path(__file__).with_name("driver.c")
# What is tested, and which of it: of the kernels all, for the quick tests leave out an instruction set.
TESTS = {
    "not slow": ["tests/kernels/test_native_equals_reference.py"],
    "not slow and not full": [
        "tests/core/test_memory.py",
        "tests/contract/test_state.py",
        "tests/contract/test_wire.py",
    ],
}

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
COMPILED = ("-O1", "-g", "-std=gnu11", *SANITIZERS)
# Python keeps some memory to its end, and it is not ours.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


class SanitizeError(Exception):
    """A program could not be made, or found something; the message says which."""


def run(command: list[str], failure: str, environment: Mapping[str, str] | None = None) -> None:
    """Runs a command from the root of the project; raises with this text if it fails."""
    print("·", shlex.join(command), flush=True)
    if subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, check=False).returncode:
        raise SanitizeError(failure)


def runtime(gcc: str) -> str:
    """Where the run-time library of gcc's AddressSanitizer is; Python must load it before anything else."""
    if not shutil.which(gcc):
        raise SanitizeError("expected gcc, found none; on Debian and Ubuntu: apt install gcc")
    asked = subprocess.run([gcc, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    found = asked.stdout.strip()
    if not os.path.isabs(found):
        raise SanitizeError("expected a gcc with libasan, found one without; on Debian and Ubuntu: apt install gcc")
    return found


def sanitized_package(folder: Path, gcc: str) -> Path:
    """A folder for PYTHONPATH with a copy of the package whose library is sanitized."""
    package = folder / "plausibly"
    shutil.copytree(ROOT / "src" / "plausibly", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    digest = runpy.run_path(str(SOURCE.with_name("sources.py")))["digest"](SOURCE.parent)
    library = str(package / "kernels" / "libplausibly.so")
    flags = [*COMPILED, "-shared", "-fPIC", f'-DPLAUSIBLY_DIGEST="{digest}"']
    run([gcc, *flags, "-o", library, str(SOURCE)], "the sanitized library could not be compiled")
    return folder


def run_tests(folder: Path, gcc: str) -> None:
    """The tests of what goes through the kernels, in a Python whose kernels are sanitized."""
    environment = {
        **OPTIONS,
        "LD_PRELOAD": runtime(gcc),
        "PYTHONPATH": str(sanitized_package(folder, gcc)),
        "PYTHONHASHSEED": "0",
    }
    probe = f"from plausibly.kernels import active, native; assert native._LIBRARY.is_relative_to({str(folder)!r})"
    asked = [sys.executable, "-c", probe + "; assert active == 'c'"]
    run(asked, "the sanitized library was not loaded", environment)
    for chosen, files in TESTS.items():
        # A process that the sanitizers end could not show what pytest has captured of their report.
        options = ["-q", "-p", "no:cacheprovider", "--capture=sys", "-m", chosen]
        command = [sys.executable, "-m", "pytest", *options, *files]
        run(command, "the tests failed under the sanitizers; see above", environment)


def run_driver(folder: Path, gcc: str, calls: int, seed: int) -> None:
    """So many calls of the kernels with arrays of any bytes."""
    runtime(gcc)
    program = str(folder / "driver")
    command = [gcc, *COMPILED, "-I", str(SOURCE.parent), "-o", program, str(DRIVER)]
    run(command, "the driver could not be compiled")
    run([program, str(calls), str(seed)], f"the driver found something with seed {seed}; see above")


def run_fuzzer(folder: Path, seconds: int) -> bool:
    """Lets libFuzzer search that long; False if clang or its libFuzzer is not installed."""
    program = str(folder / "fuzzer")
    command = ["clang", *COMPILED, "-fsanitize=fuzzer", "-DLIBFUZZER", "-I", str(SOURCE.parent), "-o", program]
    if (
        not shutil.which("clang")
        or subprocess.run([*command, str(DRIVER)], capture_output=True, check=False).returncode
    ):
        return False
    corpus = folder / "corpus"
    corpus.mkdir()
    limits = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=60", "-print_final_stats=1", "-verbosity=0"]
    where = f"-artifact_prefix={tempfile.gettempdir()}/plausibly-"
    run([program, str(corpus), *limits, where], "the fuzzer found something; see above", OPTIONS)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=30_000, help="calls of the driver (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="what the driver's calls follow from")
    parser.add_argument("--fuzz", type=int, metavar="SECONDS", help="search with libFuzzer instead of the tests")
    given = parser.parse_args()
    gcc = os.environ.get("CC") or "gcc"
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if given.fuzz is None:
                run_driver(folder, gcc, given.calls, given.seed)
                run_tests(folder / "package", gcc)
            elif not run_fuzzer(folder, given.fuzz):
                print("· no clang with libFuzzer (Debian: apt install clang); the random driver runs instead")
                run_driver(folder, gcc, given.calls, given.seed)
    except SanitizeError as error:
        print(f"sanitize: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
