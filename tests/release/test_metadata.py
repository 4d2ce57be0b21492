"""What a package index shows of a release, and the facts that several files must agree on."""

from __future__ import annotations

import re
import subprocess
import tomllib

from release.index_page import index_page, project_urls
from release.oldest import oldest

import plausibly
from cases import in_turn
from tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
README = (ROOT / "README.md").read_text("utf-8")
WORKFLOW = (ROOT / ".github/workflows/test.yml").read_text("utf-8")
# Nobody can own this address: RFC 2606.
HOME = "https://code.example/plausibly"
TARGET = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]*)\"")


def targets(page: str) -> list[str]:
    """Targets of links and images outside blocks of code."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", page)
    return [a or b for a, b in TARGET.findall(prose)]


def test_the_version_is_in_one_place() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "plausibly.version.__version__"}
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited == [plausibly.__version__], "CITATION.cff cites another version than src/plausibly/version.py"


def test_the_classifiers_name_the_pythons_that_continuous_integration_runs() -> None:
    named = [c.rsplit(" ", 1)[1] for c in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", c)]
    [matrix] = re.findall(r"^ +python: \[(.*)\]$", WORKFLOW, re.MULTILINE)
    assert [f'"{version}"' for version in named] == matrix.split(", ")
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


def test_continuous_integration_calls_make_alone() -> None:
    commands = re.findall(r"^ +(?:- )?run: (.*)$", WORKFLOW, re.MULTILINE)
    assert set(commands) >= {"make check", "make test", "make test-oldest", "make UNLOCKED=1 test", "make wheels"}
    known = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for command in commands:
        make, *_, goal = command.split()
        assert make == "make"
        assert goal in known


def test_every_lower_bound_is_a_version_that_can_be_installed() -> None:
    named = {bound.split("==")[0] for bound in oldest()}
    assert named >= {"numpy", "typer", "rich", "cryptography", "pyarrow", "pandas"}
    assert "typer==0.26" in oldest()


def test_on_an_index_every_image_and_every_link_has_a_whole_address() -> None:
    page = index_page(README, repository=HOME, version="1.2.3")
    assert "](docs/emerging.png)" in README
    assert f"]({HOME}/raw/v1.2.3/docs/emerging.png)" in page
    before, after = targets(README), targets(page)
    assert len(before) == len(after)
    for relative, whole in zip(before, after, strict=True):
        assert re.match(r"https://|#", whole), whole
        if whole != relative:
            path = re.fullmatch(rf"{HOME}/(?:raw|blob)/v1\.2\.3/([^#]+)(?:#.*)?", whole)
            assert path is not None, whole
            assert (ROOT / path[1]).exists(), f"README links to {path[1]}, which does not exist"


def test_without_a_public_repository_the_page_on_an_index_has_no_dead_link() -> None:
    page = index_page(README, repository="", version="1.2.3")
    assert [target for target in targets(page) if not re.match(r"https://|#", target)] == []
    assert "*Picture: " in page


@in_turn(
    ("given", "whole", "none"),
    [
        ("[a](b.md#c)", f"[a]({HOME}/blob/v1/b.md#c)", "a"),
        ("![a b](c.png)", f"![a b]({HOME}/raw/v1/c.png)", "*Picture: a b*"),
        ("[![a](b.svg)](c.md)", f"[![a]({HOME}/raw/v1/b.svg)]({HOME}/blob/v1/c.md)", "*Picture: a*"),
        ('<img alt="a" src="b.png">', f'<img alt="a" src="{HOME}/raw/v1/b.png">', '<img alt="a" src="">'),
        ("[a](#b) and [c](https://d.example/e)", "[a](#b) and [c](https://d.example/e)", None),
        ("`[a](b.md)`", "`[a](b.md)`", None),
        ("```\n[a](b.md)\n```\n", "```\n[a](b.md)\n```\n", None),
    ],
)
def test_links_of_every_kind_are_rewritten(given: str, whole: str, none: str | None) -> None:
    assert index_page(given, repository=HOME, version="1") == whole
    assert index_page(given, repository="", version="1") == (given if none is None else none)


def test_a_project_without_a_repository_claims_no_address() -> None:
    assert set(project_urls(repository="", version="1")) == {"Paper"}
    urls = project_urls(repository=HOME, version="1")
    assert urls["Source"] == HOME
    assert urls["Changelog"] == f"{HOME}/blob/v1/CHANGELOG.md"
    assert not PROJECT["tool"]["plausibly"]["repository"].endswith("/")


def test_no_file_names_the_host_of_a_package_registry() -> None:
    # In two parts, or this file would name them.
    hosts = [a + b for a, b in (("pypi", ".org"), ("pythonhosted", ".org"), ("deb.deb", "ian.org"), ("npmjs", ".org"))]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        content = (ROOT / name).read_bytes()
        for host in hosts:
            assert host.encode() not in content, f"{name}: {host}"
