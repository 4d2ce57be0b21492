"""Build the source archive and all wheels from it, then install and test every wheel that can run here.

`make wheels` calls this. Zig, which comes from the package index, compiles the kernels for every platform; auditwheel
checks that the Linux wheels need nothing but an old C library. Wheels for macOS and Windows are built, but not run.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import shutil
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .emulation import test_emulated
from .kernel_tests import TOOLS, arguments, passed
from .running import run

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """One wheel: its platform tag, and the name that Zig has for the platform; a pure wheel has none."""

    platform: str
    zig: str = ""

    @property
    def is_linux(self) -> bool:
        """Whether auditwheel can judge the wheel."""
        return self.platform.startswith("manylinux")


# The C library of CentOS 7: any Linux with glibc that runs Python 3.11 is newer.
NATIVE = Target("manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17")
EMULATED = Target("manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17")
PURE = Target("any")
TARGETS = (
    NATIVE,
    EMULATED,
    Target("macosx_11_0_arm64", "aarch64-macos.11.0"),
    Target("macosx_11_0_x86_64", "x86_64-macos.11.0"),
    Target("win_amd64", "x86_64-windows-gnu"),
    PURE,
)


def build_source(dist: Path) -> Path:
    """Build the source archive of this clone."""
    # From a copy: setuptools writes into the folder, where tests and people may be at work.
    unwanted = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "*.egg-info", "*.so")

    def ignored(path: str, names: list[str]) -> set[str]:
        # At the root, these are made by us; clients/js/dist is a source.
        return unwanted(path, names) | ({"build", "dist"} if Path(path) == ROOT else set())

    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(ROOT, Path(folder) / "clone", ignore=ignored)
        run(sys.executable, "setup.py", "-q", "sdist", "-d", dist, cwd=copy)
    [archive] = dist.glob("*.tar.gz")
    return archive


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a source archive, and return its only folder."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    [source] = folder.iterdir()
    return source


def build_wheel(source: Path, target: Target, tools: Path, dist: Path) -> Path:
    """Build one wheel of an unpacked source archive."""
    for name in ("build", "src/plausibly.egg-info"):
        shutil.rmtree(source / name, ignore_errors=True)
    before = set(dist.iterdir())
    options = ["--plat-name", target.platform] if target.zig else []
    caches = {f"ZIG_{kind}_CACHE_DIR": str(tools / "cache") for kind in ("GLOBAL", "LOCAL")}
    command = [sys.executable, "setup.py", "-q", "bdist_wheel", "-d", str(dist), *options]
    run(*command, cwd=source, CC=compiler(target, tools), **caches)
    [wheel] = set(dist.iterdir()) - before
    if not wheel.name.endswith(f"-py3-none-{target.platform}.whl"):
        raise SystemExit(f"expected a wheel for {target.platform}, got {wheel.name}: the kernels did not compile")
    return wheel


def compiler(target: Target, tools: Path) -> str:
    """The command of the cross compiler as $CC; for a pure wheel, a command that fails."""
    if not target.zig:
        return "false"
    return shlex.join([str(tools / "bin/python"), "-m", "ziglang", "cc", "-target", target.zig, "-s"])


def audit(wheel: Path, target: Target, tools: Path) -> None:
    """Fail if a Linux wheel needs more than its platform tag promises."""
    told = json.loads(run(tools / "bin/python", "-m", "auditwheel", "show", "--json", wheel))
    if told["overall_tag"] != target.platform:
        raise SystemExit(f"{wheel.name}: expected a wheel for {target.platform}, auditwheel says {told['overall_tag']}")


def test_installed(wheel: Path, source: Path, kernels: str) -> str:
    """Install a wheel into a fresh environment, test it there, and return what was done."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin/python"
        run(sys.executable, "-m", "venv", folder)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        # -I: nothing of this clone may help.
        told = json.loads(run(python, "-I", "-W", "ignore", "-m", "plausibly", "doctor", "--json", cwd=Path(folder)))
        [active] = [fact["value"] for fact in told["facts"] if fact["name"] == "kernels"]
        if not active.startswith(f"{kernels} ("):
            raise SystemExit(f"{wheel.name}: expected the kernels {kernels}, got {active}")
        done = f"installed and tested here: {len(told['checks'])} checks of plausibly doctor, kernels {active}"
        if kernels == "c":
            run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS)
            done += f"; {passed(run(python, *arguments(platform.machine()), cwd=source))}"
    return done


def check(wheel: Path, target: Target, source: Path, tools: Path) -> str:
    """Test a wheel as far as this machine can, and say how far that was."""
    if target.is_linux:
        audit(wheel, target, tools)
    if target == PURE:
        return test_installed(wheel, source, "numpy")
    if target.is_linux and target.platform.endswith(platform.machine()):
        return test_installed(wheel, source, "c")
    return test_emulated(wheel, source, tools / "aarch64") if target == EMULATED else "built, not run"


def main() -> None:
    """Build, test and list the files of a release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, required=True, help="environment with ziglang and auditwheel")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", nargs="*", help="platform tags; default: all")
    parser.add_argument("--untested", action="store_true", help="build only")
    given = parser.parse_args()
    tools, dist = given.tools.absolute(), given.dist.absolute()
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir(parents=True)
    archive = build_source(dist)
    lines = [f"{archive.name}  {archive.stat().st_size / 1e3:,.0f} kB"]
    print(f"· {lines[0]}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        source = unpack(archive, Path(folder))
        for target in TARGETS:
            if given.only and target.platform not in given.only:
                continue
            wheel = build_wheel(source, target, tools, dist)
            how = "built" if given.untested else check(wheel, target, source, tools)
            lines.append(f"{wheel.name}  {wheel.stat().st_size / 1e3:,.0f} kB  {how}")
            print(f"· {lines[-1]}", flush=True)
    (dist / "tested.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
