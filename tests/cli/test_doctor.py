"""plausibly doctor, as a person runs it and as a machine reads it."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import plausibly
from plausibly import diagnose, kernels
from plausibly.cli import app


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def test_quick_names_versions_kernels_threads_randomness_and_extras() -> None:
    code, shown = run("doctor", "--quick")
    assert code == 0
    for word in (plausibly.__version__, "numpy", "cryptography", kernels.active, "threads", "AES-256-CTR", "plots"):
        assert word in shown


@pytest.mark.full
def test_self_test_runs_every_scheme_and_says_so_in_json() -> None:
    code, shown = run("doctor", "--json")
    told = json.loads(shown)
    assert code == 0
    assert {check["name"] for check in told["checks"]} > set(plausibly.CATALOG)
    assert all(check["passed"] for check in told["checks"])


@pytest.mark.parametrize(
    ("rate", "text"),
    [(12_340_000, "12.3 million"), (1_000_000, "1.0 million"), (43_210, "43 thousand"), (1_290, "1.3 thousand")],
)
def test_slow_schemes_have_a_speed_too(rate: float, text: str) -> None:
    assert diagnose._rate_text(rate) == text


def test_a_failing_scheme_is_shown_and_ends_in_an_error_code(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = plausibly.CATALOG["DE"]
    monkeypatch.setattr(diagnose, "CATALOG", {"DE": broken})
    wrong = plausibly.make("DE", epsilon=2, domain_size=64)
    monkeypatch.setattr(broken, "likelihood", lambda self, report, item: Fraction(wrong.keep, item + 2**64))
    code, shown = run("doctor")
    assert code == 1
    assert "FAIL DE" in shown
    assert "the stated likelihood is not the client's law" in shown


def test_a_missing_extra_comes_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnose, "EXTRAS", {"plots": "no-such-distribution"})
    assert "pip install no-such-distribution" in run("doctor", "--quick")[1]


@pytest.mark.full
def test_module_and_version_work_from_the_shell() -> None:
    shown = subprocess.run([sys.executable, "-m", "plausibly", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == f"plausibly {plausibly.__version__}"
    assert plausibly.__version__ == importlib.metadata.version("plausibly")


@pytest.mark.full
def test_importing_the_package_loads_no_command_line_library() -> None:
    code = "import sys, plausibly; plausibly.make; assert not {'typer', 'rich', 'pydantic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
