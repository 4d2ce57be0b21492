"""Print the lowest version of each dependency and each extra that pyproject.toml allows, for `pip install`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

USED = ("plots", "frames", "files", "rappor", "serve", "postgres")
"""The extras that users install. The others are tools of developers, who have those of requirements/."""


def oldest() -> list[str]:
    """A requirement such as ``numpy==1.26`` for each lower bound."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    bounds = [*project["dependencies"], *(bound for extra in USED for bound in extras[extra])]
    return [_lowest(bound) for bound in bounds if not bound.startswith("plausibly[")]  # an extra that is in the list


def _lowest(bound: str) -> str:
    found = re.fullmatch(r"([\w-]+(?:\[\w+\])?)>=([\d.]+)(; sys_platform != 'win32')?", bound)
    if not found:
        raise ValueError(f"pyproject.toml: expected a dependency such as numpy>=1.26, got {bound}")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    print(*oldest())
