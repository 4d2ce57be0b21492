"""The lock files: whole, hashed, and without the name of a host."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def test_all_locks_are_there() -> None:
    assert [lock.name for lock in LOCKS] == ["build.lock", "dev.lock", "wheels.lock"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_line_is_a_version_or_a_hash_and_every_version_has_hashes(lock: Path) -> None:
    entries = lock.read_text().replace("\\\n", " ").splitlines()
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.-]+==[\w.]+( ; [^;\\]+?)?( +--hash=sha256:[0-9a-f]{64})+", entry), entry[:60]


def test_the_lock_has_every_dependency_that_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    wanted = {re.split(r"[^\w.-]", each)[0] for each in named} - {"plausibly"}
    locked = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / "requirements" / "dev.lock").read_text(), re.MULTILINE))
    assert wanted <= locked


def test_every_npm_package_has_a_hash_and_no_address() -> None:
    lock = json.loads((ROOT / "clients" / "js" / "package-lock.json").read_text(encoding="utf-8"))
    named = json.loads((ROOT / "clients" / "js" / "package.json").read_text(encoding="utf-8"))
    assert lock["packages"].pop("")["devDependencies"] == named["devDependencies"]
    for name, package in lock["packages"].items():
        assert package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
    assert "dependencies" not in named
