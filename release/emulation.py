"""An aarch64 wheel tested on another machine: Debian's Python for arm64 runs the tests of the kernels in qemu-user.

The packages are unpacked into a folder; nothing is installed, and the package lists of this machine stay as they are.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from .kernel_tests import TOOLS, arguments, passed
from .running import run

EMULATOR = "qemu-aarch64"
NOT_RUN = f"built, not run: the test needs {EMULATOR} and apt-get (Debian and Ubuntu: apt install qemu-user)"


def test_emulated(wheel: Path, source: Path, folder: Path) -> str:
    """Install an aarch64 wheel beside an emulated Python, run the tests of the kernels, and return what was done."""
    if not shutil.which(EMULATOR) or not shutil.which("apt-get"):
        return NOT_RUN
    python = _python(folder)
    packages = folder / "packages"
    _install(wheel, packages, python.name.removeprefix("python"))
    command = [EMULATOR, "-L", str(folder / "root"), str(python), *arguments("aarch64")]
    told = run(*command, cwd=source, PYTHONPATH=str(packages), PYTHONDONTWRITEBYTECODE="1", PLAUSIBLY_THREADS="1")
    return f"installed and tested in {EMULATOR}: {passed(told)}"


def _python(folder: Path) -> Path:
    """Debian's Python for arm64, downloaded and unpacked once."""
    root = folder / "root"
    if not (folder / ".unpacked").exists():
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("state/lists/partial", "cache/archives/partial", "root"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        options = {
            "APT::Architecture": "arm64",
            "APT::Architectures::": "arm64",
            "APT::Sandbox::User": "root",
            "Debug::NoLocking": "1",
            "Dir::State": folder / "state",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
        }
        settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        run("apt-get", *settings, "update")
        # NumPy needs libstdc++.
        wanted = ("python3", "libstdc++6")
        run("apt-get", *settings, "install", "-y", "--download-only", "--no-install-recommends", *wanted)
        for package in sorted((folder / "cache/archives").glob("*.deb")):
            run("dpkg-deb", "-x", package, root)
        (folder / ".unpacked").touch()
    return (root / "usr/bin/python3").resolve()


def _install(wheel: Path, packages: Path, version: str) -> None:
    """Install the wheel, its dependencies and pytest for another platform; pip refuses a wheel with a wrong tag."""
    shutil.rmtree(packages, ignore_errors=True)
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in range(17, 29)]
    options = ["--only-binary=:all:", f"--python-version={version}", f"--target={packages}", *platforms]
    run(sys.executable, "-m", "pip", "install", "--quiet", *options, wheel, *TOOLS)
