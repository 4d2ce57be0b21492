"""A clean machine can install the package: with the oldest and the newest dependencies, with and without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DEPENDENCIES: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
OLDEST = [requirement.replace(">=", "==") for requirement in DEPENDENCIES]

# Every scheme through every layer; the last line says which kernels did it.
SMOKE = """
import warnings
warnings.simplefilter("ignore", RuntimeWarning)
import plausibly
from plausibly import device, kernels
for name, kind in plausibly.CATALOG.items():
    if plausibly.Strings in kind.accepts:
        continue
    own = {"epsilon": 1}
    if name in ("CM", "CS"):
        own = {"oracle": plausibly.make("HM", epsilon=1, domain_size=16), "rows": 4}
    scheme = plausibly.make(name, domain=["a", "b", "c"], other=True, **own)
    tally = scheme.accumulator()
    tally.add(plausibly.decode_reports(scheme, plausibly.encode_reports(scheme, scheme.privatize(list("aabd") * 500))))
    again = plausibly.Accumulator.from_bytes(scheme, tally.to_bytes())
    assert len(again) == 2000 and (name == "BLOOM" or again.estimate().n == 2000)
    assert len(device.load(scheme.to_json()).privatize("d")) == scheme.report_dtype.itemsize
    assert plausibly.audit(scheme).holds
search = plausibly.TRELLIS(3, domain=plausibly.Strings("ab", 3), users=2000)
tally = search.accumulator()
tally.add(search.privatize(["abba", "b"] * 1000))
assert set(tally.search(k=2).items) == {"abb", "b"}
print(kernels.active)
"""


def install(folder: Path, requirements: list[str], **environment: str) -> str:
    """Which kernels are active after a clean installation into a fresh environment."""
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "libplausibly.so", "__pycache__")
    shutil.copytree(ROOT, folder / "source", ignore=ignored)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    command = [str(python), "-m", "pip", "install", "--quiet", str(folder / "source"), *requirements]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    # -I: nothing of this checkout or of the user's own packages may help.
    smoke = subprocess.run([str(python), "-I", "-c", SMOKE], check=True, capture_output=True, text=True, cwd=folder)
    # The paper is not installed, and the command says where it is.
    paper = [str(python), "-I", "-m", "plausibly", "reproduce", "fig1"]
    told = subprocess.run(paper, check=False, capture_output=True, text=True, cwd=folder)
    assert told.returncode == 2
    assert "git clone" in told.stderr
    return smoke.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("requirements", [[], OLDEST], ids=["newest", "oldest"])
def test_clean_installation_works_with(requirements: list[str], tmp_path: Path) -> None:
    assert install(tmp_path, requirements) == "c"


@pytest.mark.slow
def test_installation_without_a_compiler_falls_back_to_numpy(tmp_path: Path) -> None:
    assert install(tmp_path, [], CC="/bin/false") == "numpy"
