"""README as a package index shows it: on a page of its own, where relative links and images lead nowhere.

Only the standard library, and no import of the package: setup.py runs this file before anything is installed.
"""

from __future__ import annotations

import re

PAPER = "https://doi.org/10.14778/3476249.3476261"

# A fence with its block, which stays as it is, or one of the ways to name a target.
_FENCE = r"(?ms:^(?P<fence>```+|~~~+).*?^(?P=fence)[ \t]*$)|(?P<code>`[^`\n]+`)"
_IMAGE = re.compile(_FENCE + r"|!\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_LINK = re.compile(_FENCE + r"|(?<!!)\[(?P<text>(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\((?P<target>[^)\s]+)\)")
_TAG = re.compile(
    _FENCE + r'|<(?P<name>img|source|a)\b(?P<before>[^>]*?)\b(?P<key>src|srcset|href)="(?P<target>[^"]+)"'
)


def index_page(readme: str, *, repository: str, version: str) -> str:
    """The README with links that work anywhere: to the tag of this version in the public repository.

    While there is no public repository, the address is empty: the text of each link stays, and each image is replaced
    by its description.
    """
    page = _TAG.sub(lambda found: _tag(found, repository, version), readme)
    page = _IMAGE.sub(lambda found: _markdown(found, repository, version), page)
    return _LINK.sub(lambda found: _markdown(found, repository, version), page)


def project_urls(*, repository: str, version: str) -> dict[str, str]:
    """The links beside a project on a package index; without a public repository, the paper alone."""
    if not repository:
        return {"Paper": PAPER}
    return {
        "Source": repository,
        "Documentation": _address("docs/index.md", repository, version, "blob"),
        "Changelog": _address("CHANGELOG.md", repository, version, "blob"),
        "Issues": f"{repository}/issues",
        "Paper": PAPER,
    }


def _is_relative(target: str | None) -> bool:
    return target is not None and not re.match(r"[a-z][a-z0-9+.-]*:|#|//", target)


def _address(path: str, repository: str, version: str, kind: str) -> str:
    return f"{repository}/{kind}/v{version}/{path}"


def _markdown(found: re.Match[str], repository: str, version: str) -> str:
    text, target, mark = found["text"], found["target"], "!" * found[0].startswith("!")
    if not _is_relative(target):
        return found[0]
    if not repository:
        return f"*Picture: {text}*" if mark else text
    return f"{mark}[{text}]({_address(target, repository, version, 'raw' if mark else 'blob')})"


def _tag(found: re.Match[str], repository: str, version: str) -> str:
    target = found["target"]
    if not _is_relative(target):
        return found[0]
    kind = "blob" if found["name"] == "a" else "raw"
    address = _address(target, repository, version, kind) if repository else ""
    return f'<{found["name"]}{found["before"]}{found["key"]}="{address}"'
