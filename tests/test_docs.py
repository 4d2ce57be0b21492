"""The documentation site builds without a warning, and nothing public is missing from it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import plausibly
from plausibly import extend

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def test_every_page_is_in_the_contents() -> None:
    listed = re.findall(r"^([\w/-]+)$", (DOCS / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert pages <= set(listed)
    assert len(listed) == len(set(listed))


def test_the_reference_has_every_public_name() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    named = re.findall(r":: plausibly\.(\w+)(?:\(.*\))?$", text, flags=re.MULTILINE)
    assert sorted(set(named) - {"device", "extend", *PROMISED}) == sorted(plausibly.__all__)


PROMISED = (
    "client",
    "demo",
    "device",
    "engines",
    "engines.dask",
    "engines.spark",
    "experiments",
    "extend",
    "files",
    "pages",
    "planner",
    "postprocess",
)
"""The modules beside ``plausibly`` itself whose names in ``__all__`` are promised."""
_IMPORT = re.compile(
    r"^(?:>>> |\.\.\. )?\s*(?:from plausibly(?:\.([\w.]+))? import ([\w, ]+)|import plausibly\.([\w.]+))", re.MULTILINE
)


def test_examples_import_only_what_is_promised() -> None:
    pages = [*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
    found = [
        (page.name, module or whole, {name.strip() for name in names.split(",") if name.strip()})
        for page in pages
        for module, names, whole in _IMPORT.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(found) > 20
    for page, module, names in found:
        assert not module or module in PROMISED, f"{page}: plausibly.{module} is not promised"
        public = [*plausibly.__all__, *PROMISED] if not module else import_module(f"plausibly.{module}").__all__
        assert names <= set(public), f"{page}: {names - set(public)} of plausibly.{module}"


def test_the_reference_has_every_name_of_the_second_door() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    named = re.findall(r":: plausibly\.extend\.(\w+)$", page, flags=re.MULTILINE)
    assert sorted(named) == sorted(set(extend.__all__) - {"device"})


@pytest.mark.full
def test_the_site_builds_without_a_warning_and_all_is_there(tmp_path: Path) -> None:
    # As `make docs` does it.
    options = ["-q", "-n", "-W", "-E", "--keep-going", "-c", "docs", "-d", str(tmp_path / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, ".", str(tmp_path / "site")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert (run.returncode, run.stderr) == (0, "")
    site = tmp_path / "site"
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(ROOT)).with_suffix(".html").exists(), page
    catalogue = (site / "docs" / "catalogue.html").read_text(encoding="utf-8")
    for name in plausibly.CATALOG:
        assert f'<section id="{name.lower()}">' in catalogue, name
    reference = (site / "docs" / "api.html").read_text(encoding="utf-8")
    for name in plausibly.__all__:
        assert f'id="plausibly.{name}"' in reference, name
    assert broken_links(site) == []
    index = (site / "docs" / "index.html").read_text(encoding="utf-8")
    assert '<a class="picture-link reference internal" href="../_images/emerging.png"><img' in index, "opens large"


def broken_links(site: Path) -> list[tuple[str, str]]:
    """Pages of the site, and what they link to or show that is not there."""
    broken = []
    for page in site.rglob("*.html"):
        targets = re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8"))
        inside = [target for target in targets if not re.match("[a-z]+:", target)]
        broken += [(page.name, target) for target in inside if not (page.parent / target).exists()]
    return broken


def test_the_tests_that_hold_a_promise_exist() -> None:
    page = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "`tests/" in line]
    assert len(rows) > 20
    for row in rows:
        for path in re.findall(r"`(tests/[^`]+)`", row):
            assert (ROOT / path).exists(), f"{path}: named in docs/privacy.md, and not there"
