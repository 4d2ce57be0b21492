"""Build the C kernels as a plain shared library beside the loader; nearly everything else is in pyproject.toml.

The library does not use Python's C interface (it is loaded with ctypes), so one wheel serves every Python version:
`py3-none-<platform>`. Without a working compiler the build continues, the wheel is `py3-none-any`, and the package
computes the same numbers with NumPy. The same sources and the same compiler give the same bytes.
"""

import os
import runpy
import shlex
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

KERNELS = Path("src/plausibly/kernels")
# Run instead of imported: importing the package needs NumPy, which the build must not require.
SOURCES = runpy.run_path(str(KERNELS / "sources.py"))

# Files in a wheel have neither the date nor the permissions of the day on which somebody built it. The date is the
# earliest that a zip file can have.
os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800")
os.umask(0o022)

# -O3 is explicit because the kernels are several times slower under -O2 (gcc 12).
FLAGS = ["-O3", "-std=gnu11", "-shared", "-fPIC", "-Wall"]

# Flags that make memory errors harder to exploit. Not every compiler, C library and linker supports all of them: each
# group is tried on an empty library first and left out if it fails. A distribution may define FORTIFY itself.
HARDENING = [
    ["-fstack-protector-strong"],
    ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"],
    ["-Wl,-z,relro", "-Wl,-z,now"],
    ["-Wl,-z,noexecstack"],
]


def compiler() -> list[str]:
    """The command of the C compiler: $CC if set, else the first of the usual names that is installed."""
    chosen = shlex.split(os.environ.get("CC", ""))
    if chosen:
        return chosen
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    raise CompileError("no C compiler found (looked for $CC, cc, gcc, clang)")


def understood(command: list[str]) -> list[str]:
    """The hardening flags with which this compiler builds a library without a warning."""
    flags: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("#include <string.h>\nint nothing(void) { return 0; }\n")
        for group in HARDENING:
            attempt = [*command, *FLAGS, "-Werror", *group, "-o", str(source.with_suffix(".so")), str(source)]
            if subprocess.run(attempt, capture_output=True, check=False).returncode == 0:
                flags += group
    return flags


def compile_library(source: Path, target: Path) -> None:
    """Compile `source` into the shared library `target`, with the digest of all source files inside."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # A failed build must not ship the library of an earlier source.
    target.unlink(missing_ok=True)
    try:
        digest = SOURCES["digest"](source.parent)
        flags = [*FLAGS, *understood(compiler()), f'-DPLAUSIBLY_DIGEST="{digest}"']
        # In a folder of its own: a linker for Windows writes more than the library.
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / target.name
            command = [*compiler(), *flags, "-o", str(made), str(source)]
            print(shlex.join(command), flush=True)
            subprocess.run(command, check=True)
            shutil.copy(made, target)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CompileError(str(error)) from error


class BuildLibrary(build_ext):
    """A build with the bare C compiler, without Python's own flags and headers."""

    built = False

    def get_ext_filename(self, fullname: str) -> str:
        return os.path.join(*fullname.split(".")) + ".so"

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.build_lib) / self.get_ext_filename(ext.name)
        try:
            compile_library(Path(ext.sources[0]), target)
        except CompileError:
            print("plausibly: no C kernels were built; the slower NumPy kernels will be used.", flush=True)
            raise
        self.built = True


class PortableWheel(bdist_wheel):
    """A wheel tagged by its contents: a library for one platform, or only Python."""

    def get_tag(self) -> tuple[str, str, str]:
        if self.get_finalized_command("build_ext").built:
            return "py3", "none", super().get_tag()[2]
        self.root_is_pure = True
        return "py3", "none", "any"


def index_metadata() -> dict[str, object]:
    """The README for a package index and the links beside it."""
    page = runpy.run_path("release/index_page.py")
    where = {
        "repository": tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["plausibly"]["repository"],
        "version": runpy.run_path("src/plausibly/version.py")["__version__"],
    }
    return {
        "long_description": page["index_page"](Path("README.md").read_text("utf-8"), **where),
        "long_description_content_type": "text/markdown",
        "project_urls": page["project_urls"](**where),
    }


setup(
    **index_metadata(),
    ext_modules=[
        # Optional: setuptools turns a CompileError into a warning.
        Extension(
            "plausibly.kernels.libplausibly",
            [str(KERNELS / "native.c")],
            depends=[str(file) for file in SOURCES["source_files"](KERNELS)],
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PortableWheel},
)
