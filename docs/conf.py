"""The documentation site: the repository's own Markdown pages, a catalogue computed from the schemes, and the API.

The source folder is the root of the repository, so that every link works here as it does on a code host:

    sphinx-build -W -n -c docs . docs/_build/html
"""

import posixpath
import re
import sys
from pathlib import Path
from urllib.parse import quote

from docutils import nodes

import plausibly

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "plausibly"
author = "The plausibly developers"
copyright = author
version = release = plausibly.__version__

root_doc = "docs/index"
include_patterns = ["docs/**.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/results/*.md"]
# Folders that need not be looked through.
exclude_patterns = [".*", "build", "dist", "src", "tests", "docs/_build", "bench/results/full", "bench/results/quick"]
# docs/ordered.md shows this table.
exclude_patterns += ["bench/results/ordered.md"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "catalogue"]

myst_heading_anchors = 3
highlight_language = "none"
smartquotes = False

autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
# Links must lead somewhere. Types in signatures need not: most are NumPy's, or aliases that have no page.
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_title = f"plausibly {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# index.html, which leads from the root of the site to its first page, and the try page, which is a site of its own.
html_extra_path = ["_extra", "../src/plausibly/pages/try.html"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#33608a", "color-brand-content": "#33608a"},
    "dark_css_variables": {"color-brand-primary": "#8ab6e0", "color-brand-content": "#8ab6e0"},
}


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", for_readers)
    app.connect("doctree-resolved", pictures_open)


def pictures_open(app, doctree, docname):
    """A link from each picture to itself, so that readers on a telephone can enlarge it."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        if isinstance(image.parent, nodes.reference) or "://" in image["uri"]:
            continue
        name = app.builder.env.images.get(image["uri"], (None, ""))[1]
        if name:
            there = posixpath.relpath(f"_images/{name}", posixpath.dirname(f"{docname}.html") or ".")
            link = nodes.reference("", "", internal=True, refuri=quote(there), classes=["picture-link"])
            image.replace_self(link)
            link += image


def for_readers(app, docname, source):
    """What pages leave to the site, because a code host or doctest would stumble over it."""
    # Doctest needs an empty line after the last output, readers do not.
    source[0] = re.sub(r"(?s)(^```python\n.*?)\n\n```$", r"\1\n```", source[0], flags=re.MULTILINE)
    # On a code host, the try page is a file of the package; here it is a page, which Sphinx would offer as a download.
    there = "../" * docname.count("/") + "try.html"
    source[0] = re.sub(r"\[([^\]]+)\]\([./]*src/plausibly/pages/try\.html\)", rf'<a href="{there}">\1</a>', source[0])
    if docname == "docs/adr/README":  # a code host would show the directive as it is
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"
