"""A clean machine can install the package: with the oldest and the newest dependencies, with and without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from release.oldest import USED, oldest

ROOT = Path(__file__).resolve().parent.parent

# Every scheme through every layer; the last line says which kernels did it.
SMOKE = """
import warnings
warnings.simplefilter("ignore", RuntimeWarning)
import plausibly
from plausibly import device, kernels
for name, kind in plausibly.CATALOG.items():
    if not issubclass(plausibly.Labels, kind.accepts):
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


# A collection on the command line, with a file of every kind that needs an extra.
COMMANDS = """
--help
plan --help
sample visits.csv --users 20000 --sites sites.txt
plan --labels sites.txt --other --users 20000 --epsilon 3 --save scheme.json
privatize visits.csv --column site --scheme scheme.json --out reports.parquet
collect reports.parquet --out visits.tally
estimate visits.tally --top 5 --out chart.png
estimate visits.tally --top 5 --out page.html
estimate visits.tally --top 5 --out table.parquet
show scheme.json
audit OLH:epsilon=1,domain_size=8
doctor --quick
"""


def install(folder: Path, extras: str, requirements: list[str], **environment: str) -> Path:
    """The Python of a fresh environment with a clean installation of this tree."""
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "libplausibly.so", "__pycache__")
    shutil.copytree(ROOT, folder / "source", ignore=ignored)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    command = [str(python), "-m", "pip", "install", "--quiet", f"{folder / 'source'}{extras}", *requirements]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    return python


def active_kernels(python: Path, folder: Path) -> str:
    """The kernels that ran every scheme in this environment."""
    # -I: nothing of this checkout or of the user's own packages may help.
    smoke = subprocess.run([str(python), "-I", "-c", SMOKE], check=True, capture_output=True, text=True, cwd=folder)
    # The paper is not installed, and the command says where it is.
    paper = [str(python), "-I", "-m", "plausibly", "reproduce", "fig1"]
    told = subprocess.run(paper, check=False, capture_output=True, text=True, cwd=folder)
    assert told.returncode == 2
    assert "in a clone of it" in " ".join(told.stderr.split())
    return smoke.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("requirements", [[], oldest()], ids=["newest", "oldest"])
def test_clean_installation_works_with(requirements: list[str], tmp_path: Path) -> None:
    python = install(tmp_path, f"[{','.join(USED)}]", requirements)
    assert active_kernels(python, tmp_path) == "c"
    for line in COMMANDS.strip().splitlines():
        command = [str(python), "-I", "-m", "plausibly", *line.split()]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, f"plausibly {line}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
def test_installation_without_a_compiler_falls_back_to_numpy(tmp_path: Path) -> None:
    assert active_kernels(install(tmp_path, "", [], CC="/bin/false"), tmp_path) == "numpy"
