"""Schemes of other packages, on the public doors only: installed, found by name, and good for everything."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULES = ("plausible_ranges", "plausible_pairs")
# The NumPy kernels must pass, too, on a machine without a compiler.
STRICT = ("-W", "error", "-W", "default:plausibly uses its slower NumPy kernels:RuntimeWarning")


def install(site: Path, name: str, **schemes: str) -> None:
    """What pip leaves behind of a package: its metadata and its entry points. The modules are copied."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{scheme} = {value}\n" for scheme, value in schemes.items()]
    (info / "entry_points.txt").write_text("".join(["[plausibly.schemes]\n", *lines]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages: one names a class, the other a module that registers its class."""
    folder = tmp_path_factory.mktemp("site")
    for module in MODULES:
        shutil.copy(HERE / f"{module}.py", folder)
    install(folder, "plausible-ranges", RANGES="plausible_ranges:RANGES")
    install(folder, "plausible-pairs", PAIR="plausible_pairs")
    return folder


def run(site: Path, *arguments: str, cwd: Path | None = None) -> str:
    """What a fresh process prints that has these packages installed."""
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, cwd=cwd)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.parametrize("module", MODULES)
def test_each_is_one_short_file_on_the_public_doors(module: str) -> None:
    source = (HERE / f"{module}.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) < 200
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            imported |= {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
    own = {name for name in imported if name.startswith("plausibly")}
    assert own == {"plausibly", "plausibly.device", "plausibly.extend"}
    private = [node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    assert [
        name for name in private if name.startswith("_") and name not in {"__name__", "__setattr__", "_range"}
    ] == []


@pytest.mark.full
def test_they_are_loaded_when_a_name_is_unknown_and_not_before(site: Path) -> None:
    code = """
import sys, plausibly
plausibly.make("DE", epsilon=1, domain_size=4)
assert "OLH" in plausibly.CATALOG
assert not {"plausible_ranges", "plausible_pairs"} & sys.modules.keys()
try:
    plausibly.make("RANGE", epsilon=1, domain_size=4)
except plausibly.ParameterError as error:
    assert "RANGES" in str(error), error
assert {"plausible_ranges", "plausible_pairs"} <= sys.modules.keys()
assert {"RANGES", "PAIR", "DE"} <= set(plausibly.CATALOG)
print("done")
"""
    assert run(site, *STRICT, "-c", code) == "done\n"


@pytest.mark.full
def test_json_is_enough_to_find_the_scheme_or_a_domain_of_another_package(site: Path) -> None:
    ranges = """
import plausibly
from plausible_ranges import Ordered
levels = [plausibly.make("OLH", epsilon=1, domain_size=d) for d in (100, 25, 7, 2)]
print(plausibly.make("RANGES", levels=levels, domain=Ordered(1, 100)).to_json())
print(plausibly.make("OLH", epsilon=1, domain=Ordered(1, 100)).to_json())
"""
    for text in run(site, "-c", ranges).splitlines():
        code = f"""
import plausibly
scheme = plausibly.from_json({text!r})
assert scheme.to_json() == {text!r}
print(scheme.domain.describe())
from plausibly import device
assert len(device.load(scheme.to_json()).privatize(17)) == scheme.report_dtype.itemsize
"""
        assert run(site, *STRICT, "-c", code) == "whole numbers from 1 to 100\n"


@pytest.mark.full
def test_everything_works_for_them(site: Path) -> None:
    code = """
import doctest
import numpy as np, plausibly, plausible_ranges
from plausibly import device
from plausible_ranges import Ordered
for name in ("RANGES", "PAIR"):
    kind = plausibly.CATALOG[name]
    for scheme in kind.examples().values():
        certificate = plausibly.audit(scheme)
        assert certificate.proved and certificate.bulk_complete, certificate
        assert certificate.argued and certificate.unbiased, certificate
        assert certificate.variance_exact is (True if name == "RANGES" else None)
        client, items = device.load(scheme.to_json()), scheme.domain.examples(scheme.size).tolist()
        counts = {item: 4000 + 3000 * i for i, item in enumerate(items)}
        tally = scheme.simulate(counts, plausibly.SeededRandom(5))
        records = b"".join(client.privatize(item) for item in items * 50)
        tally.add(np.frombuffer(records, dtype=scheme.report_dtype))
        blob = plausibly.encode_reports(scheme, scheme.privatize(items, plausibly.SeededRandom(1)))
        tally.add(plausibly.decode_reports(scheme, blob))
        assert plausibly.Accumulator.from_bytes(scheme, tally.to_bytes()).to_bytes() == tally.to_bytes()
        merged = scheme.accumulator(); merged.merge(tally); merged.merge(tally)
        assert len(merged) == 2 * len(tally)
        estimates = tally.estimate()
        held = [sum(n for i, n in enumerate(counts.values()) if scheme.counts_towards(i, j)) + 51 * sum(
            scheme.counts_towards(i, j) for i in range(len(items))) for j in range(len(estimates))]
        off = np.abs(estimates.values - held) / np.sqrt(estimates.variance)
        assert off.max() < 4, off  # false alarm: less than once in a thousand seeds, and the seed is fixed
        cost = scheme.cost(1_000_000, 100)
        assert cost.state_bytes == 8 * tally.cells and not cost.keeps_reports
# On a domain that cannot be enumerated the written proof covers their clients.
levels = [plausibly.make("OUE", epsilon=1, domain_size=d) for d in (1000, 250)]
large = plausibly.make("RANGES", levels=levels, domain=Ordered(0, 999))
certificate = plausibly.audit(large)
assert certificate.proved and not certificate.complete, certificate
levels = [plausibly.make("OLH", epsilon=3, domain_size=d) for d in (64, 16, 4)]
scheme = plausibly.make("RANGES", levels=levels, domain=Ordered(0, 63))
tally = scheme.simulate([1000] * 64, plausibly.SeededRandom(2))
ranges = tally.ranges([(0, 63), (0, 31), (5, 50), (7, 7), (-9, 99)])
low, high = ranges.interval(0.999)
assert ((low < [64000, 32000, 46000, 1000, 64000]) & (high > [64000, 32000, 46000, 1000, 64000])).all(), ranges
assert plausibly.plan(Ordered(0, 63), 100_000, epsilon=1).scheme.domain == Ordered(0, 63)
assert doctest.testmod(plausible_ranges).failed == 0
print("done")
"""
    assert run(site, *STRICT, "-c", code) == "done\n"


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "values", "asked", "found"),
    [
        ("RANGES", ["-2", "-1", "0", "1", "2", "3"], "-1,3", {-1, 3}),
        ("PAIR", ["a/x", "b/y", "b/z"], "first=a,second=y", {"first=a", "second=y"}),
    ],
)
def test_commands_work_for_them(
    site: Path, tmp_path: Path, name: str, values: list[str], asked: str, found: set[object]
) -> None:
    make = f"import plausibly; (scheme,) = plausibly.CATALOG[{name!r}].examples().values(); print(scheme.to_json())"
    (tmp_path / "scheme.json").write_text(run(site, "-c", make))
    (tmp_path / "values.csv").write_text("\n".join(["value", *values * 500]) + "\n")

    def command(*arguments: str) -> str:
        return run(site, *STRICT, "-m", "plausibly", *arguments, cwd=tmp_path)

    shown = command("show", "scheme.json")
    assert name in shown
    command("privatize", "values.csv", "--column", "value", "--scheme", "scheme.json", "--out", "reports.parquet")
    command("collect", "reports.parquet", "--out", "counts.tally")
    assert f"{500 * len(values):,} reports" in command("estimate", "counts.tally")
    answer = json.loads(command("estimate", "counts.tally", f"--items={asked}", "--json"))
    assert {row["item"] for row in answer["estimates"]} == found
    assert "holds" in command("audit", "scheme.json")


@pytest.mark.full
def test_the_self_test_tries_them(site: Path, tmp_path: Path) -> None:
    code = """
from unittest.mock import patch
from plausibly import CATALOG, diagnose
with patch.object(diagnose, "CATALOG", {name: CATALOG[name] for name in ("RANGES", "PAIR")}):
    for check in diagnose.self_test():
        print(check.name, check.passed, "" if check.passed else check.detail)
"""
    printed = run(site, *STRICT, "-c", code)
    assert printed.splitlines()[1:] == ["RANGES True ", "PAIR True "]


@pytest.mark.full
def test_a_broken_plug_in_is_named_and_breaks_nothing_else(site: Path, tmp_path: Path) -> None:
    install(tmp_path, "broken-plugin", BROKEN="broken_plugin:BROKEN", ALSO="plausible_thief:DE")
    (tmp_path / "broken_plugin.py").write_text("import a_module_that_is_not_there\n")
    (tmp_path / "plausible_thief.py").write_text("import plausibly\nclass DE(plausibly.CATALOG['DE']): pass\n")
    code = """
import warnings, plausibly
plausibly.make("DE", epsilon=1, domain_size=4)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert {"RANGES", "PAIR", "OLH"} <= set(plausibly.CATALOG)
    assert len(list(plausibly.CATALOG)) == len(plausibly.CATALOG)
assert sorted(str(warning.message).split(" (")[0] for warning in caught) == [
    "the package broken-plugin 1.0 offers the scheme ALSO",
    "the package broken-plugin 1.0 offers the scheme BROKEN",
], [str(warning.message) for warning in caught]
assert plausibly.CATALOG["DE"].__module__ == "plausibly.oracles.direct"
try:
    plausibly.make("BROKEN", epsilon=1, domain_size=4)
except plausibly.ParameterError as error:
    print(error)
"""
    printed = run(Path(f"{tmp_path}{os.pathsep}{site}"), "-c", code)
    assert "unknown scheme 'BROKEN'" in printed
    assert "the package broken-plugin 1.0 offers the scheme BROKEN (broken_plugin:BROKEN), which cannot be" in printed
    assert "a_module_that_is_not_there" in printed
    assert "DE is already the name of plausibly.oracles.direct.DE" in printed


@pytest.mark.full
def test_a_plug_in_that_exits_or_prints_disturbs_nothing(tmp_path: Path) -> None:
    install(tmp_path, "rough-plugin", EXITS="rough_exit", PRINTS="rough_print", MUTE="rough_mute")
    (tmp_path / "rough_exit.py").write_text("raise SystemExit('a\\x1b[31m b')\n")
    (tmp_path / "rough_print.py").write_text("print('noise')\n")
    (tmp_path / "rough_mute.py").write_text(
        "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\nraise Mute\n"
    )
    code = """
import plausibly
try:
    plausibly.make("EXITS", epsilon=1, domain_size=4)
except plausibly.ParameterError as error:
    print(error)
"""
    printed = run(tmp_path, "-W", "ignore", "-c", code)
    assert printed.startswith("unknown scheme 'EXITS'")
    assert "noise" not in printed
    assert "EXITS (rough_exit), which cannot be loaded: SystemExit: a\\x1b[31m b" in printed
    assert "MUTE (rough_mute), which cannot be loaded: rough_mute.Mute" in printed
