"""Fills docs/catalogue.md when the site is built: what every scheme says of itself, and its exact numbers."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import plausibly
from plausibly import longitudinal, oracles, ordered, presets, search, sketches, tables

DOCS = Path(__file__).parent.parent
MARKER = "<!-- the catalogue -->"

USERS = 1_000_000
ITEMS = 1024
EPSILONS = (1, 3)
ALPHABET, LENGTH = "abcdefghijklmnopqrstuvwxyz", 6

LAYERS = {
    "Frequency oracles": oracles,
    "Sketches": sketches,
    "Searches": search,
    "Ordered values": ordered,
    "Tables of several attributes": tables,
    "The same users again": longitudinal,
}
LABELS = ("Privacy", "Variance of the mean", "Variance", "Default", "Cost", "Derivation")
SIGNS = [
    (r"docs/(adr/(\d{4})[\w-]*\.md)", r"[ADR \2](\1)"),
    (r"(?<=[\w)'])\*(?=[\w([])", "·"),
    (r" \* ", " · "),
    (r"\beps\b", "ε"),
    (r"<=", "≤"),
    (r"2\^64", "2⁶⁴"),
    (r"\bF2\b", "F₂"),
    (r"``", "`"),
    (r"\|", r"\\|"),
]


def zipf_squares() -> float:
    """F₂ of the crowd of the tables: USERS users over ITEMS items by Zipf's law with exponent 1.1."""
    weights = [rank**-1.1 for rank in range(1, ITEMS + 1)]
    return sum((USERS * weight / sum(weights)) ** 2 for weight in weights)


def oracle(name: str, epsilon: Fraction | int, size: int | None = None) -> plausibly.Scheme:
    """The oracle of a sketch over this many cells, or of a search, over keys."""
    domain = plausibly.Keys() if size is None else plausibly.Integers(size)
    return plausibly.CATALOG[name](epsilon=epsilon, domain=domain)


def example(kind: type[plausibly.Scheme], epsilon: int) -> tuple[plausibly.Scheme, str]:
    """The scheme of the tables, and how to make it."""
    needs = {field.name for field in fields(kind) if field.init and field.default is MISSING} - {"domain"}
    strings, words = plausibly.Strings(ALPHABET, LENGTH), f"domain=Strings(a–z, {LENGTH})"
    if hasattr(presets, kind.name):
        return getattr(presets, kind.name)(epsilon, domain=strings, users=USERS), f"plausibly.{kind.name}, {words}"
    if hasattr(tables, kind.name):
        records = plausibly.Table(dict.fromkeys("abcdefgh", 2), missing=False)
        return kind(epsilon=epsilon, domain=records), "eight yes/no attributes"
    if hasattr(longitudinal, kind.name):
        scheme = kind(epsilon=epsilon, memo_epsilon=2 * epsilon, domain=plausibly.Integers(ITEMS))
        return scheme, f"a memo of twice the ε, domain_size={ITEMS}"
    if needs <= {"epsilon"}:
        return kind(epsilon=epsilon, domain=plausibly.Integers(ITEMS)), f"domain_size={ITEMS}"
    if hasattr(sketches, kind.name):
        cells = ITEMS * (1 + kind.signed)
        scheme = kind(oracle=oracle("TLH", epsilon, cells), rows=32, domain=plausibly.Keys())
        return scheme, f"oracle=TLH, width {ITEMS}, rows=32, domain=Keys()"
    if not needs <= {"oracle", "word_oracle"}:
        return kind.example(epsilon, strings, lambda each, on: oracle("TLH", each, on.size)), f"oracle=TLH, {words}"

    def with_parts(each: Fraction) -> plausibly.Scheme:
        return kind(domain=strings, **dict.fromkeys(needs, oracle("FLH", each)))

    # What is sent together shares epsilon.
    each = Fraction(epsilon) ** 2 / with_parts(Fraction(epsilon)).epsilon
    shared = "" if each == epsilon else " with half of ε each"
    return with_parts(each), f"{', '.join(f'{part}=FLH' for part in sorted(needs))}{shared}, {words}"


def numbers(kind: type[plausibly.Scheme]) -> tuple[str, list[list[str]]]:
    """How the examples are made, and a row of exact numbers for every epsilon."""
    rows = []
    for epsilon in EPSILONS:
        scheme, how = example(kind, epsilon)
        try:
            variance = scheme.variance(USERS, 0, f2=zipf_squares())
            law = [f"{variance / USERS:.4g}", f"{sqrt(variance):,.0f}"]
        except plausibly.StateError:
            law = ["none", "none"]
        delivered = f"≤ {float(scheme.privacy_loss()):.12g}"
        rows.append([str(epsilon), delivered, str(scheme.report_bits), str(scheme.report_dtype.itemsize), *law])
    return how, rows


def signs(text: str) -> str:
    """The formulas of a docstring with the signs of the pages."""
    for pattern, sign in SIGNS:
        text = re.sub(pattern, sign, text)
    return text


def said(kind: type[plausibly.Scheme]) -> tuple[str, dict[str, str]]:
    """What the docstring of a scheme says: the definition, and the text after each label."""
    text = " ".join((inspect.getdoc(kind) or "").split("\n>>>")[0].split())
    first, *rest = re.split(rf"(?<=[.)]) ({'|'.join(LABELS)}): ", text)
    return signs(first), {label: signs(words) for label, words in zip(rest[::2], rest[1::2], strict=True)}


def parameters(kind: type[plausibly.Scheme]) -> str:
    """The parameters of a scheme besides its domain, with their defaults."""
    given = []
    for field in fields(kind):
        if field.init and field.name != "domain":
            default = "" if field.default in (MISSING, None) else f"={field.default!r}"
            given.append(f"`{field.name}{default}`")
    return ", ".join(given)


def table_rows() -> dict[str, dict[str, str]]:
    """The rows of the tables of the other pages, by the name of the scheme, in their order.

    Every scheme has one: tests/test_readme.py.
    """
    rows: dict[str, dict[str, str]] = {}
    for page in ("oracles", "sketches", "searches", "ordered", "tables", "longitudinal"):
        head: list[str] = []
        for line in (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not cells:
                head = []
            elif not head:
                head = cells
            elif name := re.match(r"`([A-Z]+)`", cells[0]):
                rows.setdefault(name[1], dict(zip(head, cells, strict=True)))
    return rows


def entry(kind: type[plausibly.Scheme], row: dict[str, str]) -> Iterator[str]:
    """The section of one scheme."""
    definition, labelled = said(kind)
    yield f"### {kind.name}\n\n{definition}\n"
    shown: dict[str, Any] = {"parameters": parameters(kind)}
    shown |= {
        "privacy": labelled.get("Privacy"),
        "variance": labelled.get("Variance") or labelled.get("Variance of the mean"),
        "formula": next((cell for head, cell in row.items() if head.startswith("variance of")), None),
        "default": labelled.get("Default"),
        "cost": labelled.get("Cost"),
        "derivation": labelled.get("Derivation"),
        "module": f"`{kind.__module__}`",
    }
    yield "| | |\n|---|---|"
    yield from (f"| *{label}* | {text} |" for label, text in shown.items() if text)
    how, rows = numbers(kind)
    yield f"\nNumbers for {how}:\n"
    yield "| ε asked | ε delivered | bits | bytes | variance a user | standard error |\n|--:|--:|--:|--:|--:|--:|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def overview(kinds: list[type[plausibly.Scheme]]) -> Iterator[str]:
    """One row for every scheme of a layer."""
    head = "".join(f" variance a user, ε = {e} | standard error, ε = {e} |" for e in EPSILONS)
    yield f"| name | bits, ε = {EPSILONS[-1]} | bytes |{head}\n|---|--:|--:|{'--:|--:|' * len(EPSILONS)}"
    for kind in kinds:
        rows = numbers(kind)[1]
        law = " | ".join(cell for row in rows for cell in row[-2:])
        yield f"| [`{kind.name}`](#{kind.name.lower()}) | {rows[-1][2]} | {rows[-1][3]} | {law} |"
    yield ""


def catalogue() -> str:
    """The whole catalogue as Markdown."""
    rows, lines = table_rows(), []
    for title, layer in LAYERS.items():
        kinds = [plausibly.CATALOG[name] for name in rows if hasattr(layer, name)]
        lines += [f"## {title}\n", *overview(kinds)]
        for kind in kinds:
            lines += entry(kind, rows[kind.name])
    return "\n".join(lines)


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Puts the catalogue where its page has the marker."""
    if docname == "docs/catalogue":
        before, marker, after = source[0].partition(MARKER)
        if not marker:
            raise RuntimeError(f"docs/catalogue.md has no line {MARKER}")
        source[0] = before + catalogue() + after


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", fill)
    # What is generated changes with the package and not with the page: read it anew each time.
    app.connect("env-get-outdated", lambda *_: ["docs/catalogue", "docs/api"])
    return {"parallel_read_safe": True}
