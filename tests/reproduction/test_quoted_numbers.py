"""Numbers that README and the pages quote from measurements: each is computed again from what the repository keeps.

``QUOTES`` lists every sentence that quotes a result, with ``{}`` for each number. Numbers of the reproduction come from
docs/reproduction (rows.jsonl and findings.md). The rows of docs/heavy_hitters.md are not kept, because they take hours:
its sentences are compared with the page's own tables of all settings. A paragraph about results in which another
number turns up fails the test: list it in ``QUOTES``, or in ``OTHER`` if it is no result of ours.

To mend a failure, change the page as the message says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import reproduction
from plausibly.experiments import MODEL_CLICKS_D, Curves, Mean, Outcome, Results, average, wanted
from plausibly.experiments.tables import table_of
from reproduction.figures.table2 import AS_PROGRAMMED, AS_WRITTEN, Reading

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "reproduction"
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/walkthroughs/*.md"))
)
HITTERS = "docs/heavy_hitters.md"


# --- what can be computed ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class About:
    """A number that is known up to rounding: the tables of a page have few digits."""

    value: float
    slack: float

    def __str__(self) -> str:
        return f"{self.value:.4g}"


UNKNOWN = None
"""A standard error of runs whose rows are not kept."""
Number = str | About | None


@cache
def kept(figure: str) -> Curves:
    """The rows of a figure, which must have been measured as it is declared now."""
    results, declared = Results(KEPT / "rows.jsonl"), reproduction.FIGURES[figure]
    missing = results.missing(wanted([declared]))
    assert not missing, f"docs/reproduction lacks {len(missing)} measurements of {figure}: run plausibly reproduce"
    return Curves(declared.rows(results))


def coverage() -> list[Number]:
    """Returned strings of all settings, the share of their intervals that hold, and the least share of a setting."""
    rows = table(HITTERS, "items", "covered, %", "always found")
    shares = [float(row["covered, %"].split(" ")[0]) for row in rows]
    items = sum(int(row["items"].replace(",", "")) for row in rows)
    return [f"{items:,}", About(sum(shares) / len(shares), 0.05), f"{min(shares):.1f}"]


def coverage_of_listed() -> list[Number]:
    """Strings with p ≤ .05 in all settings, and the share of their intervals that hold."""
    rows = [row for row in table(HITTERS, "items", "if p ≤ .05", "nothing") if row["if p ≤ .05"] != "–"]
    listed = np.array(column(rows, "items")) - column(rows, "nothing")
    return [f"{listed.sum():,.0f}", About(float(listed @ column(rows, "if p ≤ .05") / listed.sum()), 0.05), UNKNOWN]


def details_and_the_rest() -> list[Number]:
    """Claims that depend on a detail, those of each kind, and those that cannot be told."""
    found = claims("reversed", "holds for the paper's decoder", "holds with", "cannot be told")[1:]
    return [str(sum(int(str(count)) for count in found[:3])), *found]


def claims(*outcomes: str) -> list[Number]:
    """The number of all claims, and of those with each outcome; findings.md is compared with the rows elsewhere."""
    summary = next(line for line in (KEPT / "findings.md").read_text(encoding="utf-8").splitlines() if "claims" in line)
    total = re.match(r"(\d+) claims", summary)
    assert total
    counts = {outcome: int(count) for count, outcome in re.findall(r"(\d+) × ([^,.]+)", summary)}
    assert sum(counts.values()) == int(total[1])
    # "holds with" stands for both kinds of kernels, "cannot be told" also for other data.
    found = [sum(count for name, count in counts.items() if name.startswith(outcome)) for outcome in outcomes]
    return [total[1], *map(str, found)]


def f1(*starts: str, metric: str = "f1") -> list[Number]:
    """The best mean F1 in table 2 among the lines whose labels start so, for each start; as .96."""
    rows = kept("table2")
    means = {
        label: rows.level("table2", sweep.name, label, metric).value
        for sweep in reproduction.FIGURES["table2"].sweeps
        for label in rows.labels("table2", sweep.name)
    }
    best = [max(value for label, value in means.items() if label.startswith(start)) for start in starts]
    return [f"{value:.2f}".removeprefix("0") for value in best]


def best_of_pem(reading: Reading) -> list[Number]:
    """The best mean F1 of PEM over the sketches of one reading of the paper."""
    return [max(map(str, f1(*(f"{reading.searches['PEM']}, {sketch}" for sketch in reading.sketches))))]


@cache
def tables(page: str) -> list[list[dict[str, str]]]:
    """The tables of a page, each row by its header."""
    blocks = re.findall(r"(?:^\|.*\n?)+", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)
    lines = [[cells(line) for line in block.splitlines()] for block in blocks]
    return [[dict(zip(header, row, strict=True)) for row in rows] for header, _, *rows in lines]


def cells(line: str) -> list[str]:
    return [cell.strip(" *") for cell in line.strip("|").split("|")]


def table(page: str, *columns: str, without: str = "") -> list[dict[str, str]]:
    """The first table of the page that has these columns, and one column not."""
    for rows in tables(page):
        if rows and set(columns) <= rows[0].keys() and without not in rows[0]:
            return rows
    raise AssertionError(f"{page}: expected a table with the columns {', '.join(columns)}, got none")


def column(rows: Sequence[dict[str, str]], name: str) -> list[float]:
    return [float(row[name].replace(",", "").partition(" ")[0]) for row in rows]


def mean(rows: Sequence[dict[str, str]], name: str, slack: float = 0.001) -> About:
    return About(float(np.mean(column(rows, name))), slack)


def short() -> list[dict[str, str]]:
    return table(HITTERS, "data", "TRELLIS", "PEM+", "C3U", "C1")


def long() -> list[dict[str, str]]:
    return table(HITTERS, "data", "TRELLIS", "C1", without="PEM+")


def false(rows: Sequence[dict[str, str]]) -> tuple[int, int]:
    """Number of runs that name a false string, and of all runs."""
    counts = np.array([row["runs with a false string"].split(" of ") for row in rows], dtype=int).sum(axis=0)
    return int(counts[0]), int(counts[1])


def bare(rows: Sequence[dict[str, str]]) -> About:
    """Number of right strings among ten: ten times F1."""
    return About(10 * mean(rows, "TRELLIS").value, 0.01)


def found(rows: Sequence[dict[str, str]]) -> list[Number]:
    """Significant strings, right ones, right ones of the bare ten, runs with a false string, and all runs."""
    return [
        mean(rows, "significant", 0.01),
        mean(rows, "right", 0.01),
        bare(rows),
        *(f"{count:,}" for count in false(rows)),
    ]


def false_runs() -> list[Number]:
    some, runs = false(short())
    return [str(some), f"{runs:,}", f"{100 * some / runs:.1f}"]


def apart(one: str, other: str) -> About:
    return About(mean(short(), one).value - mean(short(), other).value, 0.001)


def at_full_size(*methods: str) -> list[Number]:
    (cell,) = (row for row in short() if (row["data"], row["n"], row["ε"]) == ("url-clicks", "1,935,614", "3"))
    return [cell[method] for method in methods]


def runs_of_nothing() -> list[Number]:
    rows = table(HITTERS, "length", "runs", "runs that name a string")
    return [str(round(sum(column(rows, name)))) for name in ("runs that name a string", "runs")]


# --- what is quoted ----------------------------------------------------------------------------------------------


ORDERED = "docs/ordered.md"


def in_order(data: str, label: str, **fixed: object) -> Mean:
    """The squared error of ranges of a line on a crowd of extra 8, over all numbers of users and ε but the fixed."""
    return kept("extra8").level("extra8", data, label, "range_mse", **fixed)


def slide_without_spikes() -> list[Number]:
    """The least and the greatest error of SLIDE relative to SW, over shapes without spikes and numbers of users."""
    users = (10_000, 100_000, 1_000_000)
    ratios = [
        in_order(data, "SLIDE, monotone", n=n).over(in_order(data, "SW, EMS", n=n)).value ** 0.5
        for data in ("smooth", "bimodal", "even")
        for n in users
    ]
    return [f"{min(ratios):.1f}", f"{max(ratios):.1f}"]


def kept_with_more_users() -> list[Number]:
    """Shares of the squared error that SW and SLIDE keep with ten times the users, in percent, on spikes."""
    told = []
    for label in ("SW, EMS", "SLIDE, monotone"):
        shares = [
            in_order(data, label, n=1_000_000).over(in_order(data, label, n=100_000)).value
            for data in ("income", "spiky", "ends")
        ]
        told += [f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"]
    return told


def beside_slide(*rivals: str, ending: str = "") -> list[Number]:
    """Squared errors relative to that of SLIDE, over all shapes."""
    shapes = ("smooth", "bimodal", "even", "income", "spiky", "ends")
    ratios = [
        average([in_order(data, rival + ending).over(in_order(data, "SLIDE" + ending)) for data in shapes]).value
        for rival in rivals
    ]
    return [f"{ratio:.2f}" for ratio in ratios]


def best_tree() -> list[Number]:
    """The least of these of a tree, all made monotone."""
    return [min(beside_slide("HH₂", "HH₄", "HH₂, best shares", ending=", monotone"), key=str)]


FAKES = "docs/fakes.md"
PROTOCOLS = ("DE", "OUE", "OLH")


def left_by_normalization() -> list[Number]:
    """The least and the greatest part of the maximal gain that normalization leaves, in percent."""
    parts = []
    for of in PROTOCOLS:
        gain, left = (kept("extra9").curve("extra9", f"targets, {of}", label, "gain") for label in REMEDIES)
        parts += [100 * left[targets].value / gain[targets].value for targets in gain]
    return [f"{min(parts):.0f}", f"{max(parts):.0f}"]


def covered_despite_fakes() -> list[Number]:
    """The least share of targets whose interval despite fakes contains the truth, in percent."""
    attacks = ("random items", "random reports", "maximal gain")
    found = [
        kept("extra9").level("extra9", f"intervals, {of}", f"{attack}: despite_fakes", "covered")
        for of in PROTOCOLS
        for attack in attacks
    ]
    return [f"{100 * min(mean.value for mean in found):.1f}"]


REMEDIES = ("no defence", "normalization")


@dataclass(frozen=True)
class Quote:
    """A piece of a page with ``{}`` for each number, and the numbers that belong there."""

    page: str
    text: str
    numbers: Callable[[], Sequence[Number]]

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.escape(self.text).replace(r"\{\}", r"([\d,.]*\d)"))

    def __str__(self) -> str:
        return f"{self.page}: {self.text[:40]}"


BESIDE_OTHERS = Quote(
    HITTERS,
    "TRELLIS is {} ± {} below the exhaustive ceiling, and {} ± {} above PEM+",
    lambda: [apart("C3U", "TRELLIS"), UNKNOWN, apart("TRELLIS", "PEM+"), UNKNOWN],
)
QUOTES = [
    Quote(FAKES, "It leaves {} to {} % of the maximal gain", left_by_normalization),
    Quote(FAKES, "contain the truth in {} % of all cases or more", covered_despite_fakes),
    Quote(ORDERED, "made monotone, is {} to {} times as large", slide_without_spikes),
    Quote(
        ORDERED,
        "it keeps {} to {} % of its squared error, and `SLIDE`, made monotone, {} to {} %",
        kept_with_more_users,
    ),
    Quote(
        ORDERED,
        "`HH` has {} times its squared error with the best shares and {} times as published, `HAAR` {} times",
        lambda: beside_slide("HH₂, best shares", "HH₄", "HAAR"),
    ),
    Quote(ORDERED, "the best tree still has {} times that of `SLIDE`", best_tree),
    Quote(
        "README.md",
        "judges {} of its claims, each by a stated rule and with its error: {} hold, {} do not,",
        lambda: claims("reproduced", "not reproduced"),
    ),
    Quote(
        "README.md",
        "{} depend on a detail ({} hold only in the published program, {} for the paper's decoder of HM, {} for one"
        " kind of kernels), and {} cannot be told",
        details_and_the_rest,
    ),
    Quote("docs/catalogue.md", "ten most clicked of {} made-up addresses", lambda: [f"{round(MODEL_CLICKS_D, -4):,}"]),
    Quote(
        "docs/catalogue.md",
        "there PEM reaches F1 = {} at best as the paper's program runs it, and {} as the paper's text describes it",
        lambda: best_of_pem(AS_PROGRAMMED) + best_of_pem(AS_WRITTEN),
    ),
    Quote(
        "docs/catalogue.md",
        "Our search reaches {}, as do both ceilings",
        lambda: ["/".join(map(str, {*f1("TRELLIS", "C1", "C3U")}))],
    ),
    Quote(HITTERS, "16 runs of each make {} runs of every method", lambda: [f"{false(short())[1]:,}"]),
    BESIDE_OTHERS,
    Quote(HITTERS, "the ceiling itself is {} above PEM+", lambda: [apart("C3U", "PEM+")]),
    Quote(
        HITTERS,
        "At n = 1,935,614, ε = 3 on `url-clicks` TRELLIS reaches {} and C1 {}.",
        lambda: at_full_size("TRELLIS", "C1"),
    ),
    Quote(HITTERS, "{} of {} runs ({} %) name a false string", false_runs),
    Quote(
        HITTERS,
        "a search with it returns {} strings, {} of them right; a search without it returns ten, {} of them right",
        lambda: found(short())[:3],
    ),
    Quote(HITTERS, "equally probable strings, {} of {} runs name one", runs_of_nothing),
    Quote(HITTERS, "Of all {} intervals {} % contain the truth, and {} % in the worst setting", coverage),
    Quote(HITTERS, "Of the {} strings with p ≤ .05, which `plausibly search` lists, {} ± {} %", coverage_of_listed),
    Quote(
        HITTERS,
        "The mean over all lengths is {} ± {}.",
        lambda: [mean(table(HITTERS, "length", "runs", "F1", "C1"), "F1"), UNKNOWN],
    ),
    Quote(
        HITTERS,
        "Mean F1: TRELLIS {}, C1 {}. Significant at 5 %: {} strings per run, {} of them right; the plain top 10 has {}"
        " right. {} of {} runs have a false string.",
        lambda: [mean(long(), "TRELLIS"), mean(long(), "C1"), *found(long())],
    ),
    Quote(
        HITTERS,
        "Mean F1: TRELLIS {}, PEM+ {}, C3U {}, C1 {}. Significant at 5 %: {} strings per run, {} of them right; the"
        " plain top 10 has {} right. {} of {} runs have a false string.",
        lambda: [*(mean(short(), method) for method in ("TRELLIS", "PEM+", "C3U", "C1")), *found(short())],
    ),
    Quote("docs/walkthroughs/researcher.md", "PEM 2→4→6, with ± {}, is not exact", lambda: [pem_error()]),
    Quote(
        "docs/walkthroughs/researcher.md",
        "has {} runs of each; there TRELLIS is {} ± {} below C3U, and {} ± {} above the best variant of PEM",
        lambda: [f"{false(short())[1]:,}", *as_on_its_page()],
    ),
]

OTHER = {
    "README.md": ("VLDB 2021",),
    HITTERS: (
        "4e^ε/(e^ε − 1)²",
        "the top 10 over",
        "above PEM+ in 11 of 12 points",  # read off the picture
        "ε = 1, 2 and 3",
        "ε = 2 and 3",
        "with 1,935,614 users",
        "`--runs 8`",
        "may deviate by 0.001",
        "at least 94 % in each setting that has more than 30 of them. (The setting with 85.7 % has 21.)",
        "Where many strings are clearly there, …",  # the columns of the table above it
        "level of 5 %",
        "at most 5 % of runs",
        "in 95 % of runs or more",
        "How well does a search find the most common strings …",
        "The crowds are synthetic, …",
        "F1 says whether the right strings are found. …",
        "*covered*: by the intervals …",
    ),
    "docs/experiments.md": ("a probability of error of at most 1 %",),
    "docs/walkthroughs/researcher.md": (
        "VLDB 2021",
        "* **± %** is the standard error of the MSE. …",  # a run of the page itself
    ),
}
"""Numbers in paragraphs about results that are settings, years or formulas; a paragraph ends at three dots."""


def pem_error() -> str:
    rows = kept("table2")
    best = max(
        (rows.level("table2", "PEM 2→4→6", label, "f1") for label in rows.labels("table2", "PEM 2→4→6")),
        key=lambda m: m.value,
    )
    return f"{best.error:.3f}"


def as_on_its_page() -> list[Number]:
    quoted = BESIDE_OTHERS.pattern.search(prose(HITTERS))
    assert quoted
    return list(quoted.groups())


# --- tests --------------------------------------------------------------------------------------------------------


@cache
def paragraphs(page: str) -> list[str]:
    """The paragraphs and lists of a page, each on one line, without code, tables and headings."""
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.S | re.M)
    plain = [line for line in text.splitlines() if not line.startswith(("|", "#"))]
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", "\n".join(plain)) if block.strip()]


def prose(page: str) -> str:
    return "\n".join(paragraphs(page))


@pytest.mark.full
@pytest.mark.parametrize("quote", QUOTES, ids=str)
def test_quoted_numbers_are_those_of_the_rows(quote: Quote) -> None:
    there = quote.pattern.search(prose(quote.page))
    assert there, f"{quote.page} no longer says {quote.text!r}: change or delete the entry in QUOTES"
    expected = list(quote.numbers())
    right = [agrees(said, number) for said, number in zip(there.groups(), expected, strict=True)]
    told = ", ".join("(not kept)" if number is None else str(number) for number in expected)
    assert all(right), f"{quote.page} says {there[0]!r}; computed: {told}"


def agrees(said: str, number: Number) -> bool:
    if isinstance(number, About):
        return abs(float(said.replace(",", "")) - number.value) <= number.slack
    return number is None or said == number


@pytest.mark.full
def test_the_table_of_noticed_fakes_is_that_of_the_rows() -> None:
    figure = reproduction.FIGURES["extra9"]
    assert figure.table is not None
    made = table_of(figure, figure.table, list(figure.rows(Results(KEPT / "rows.jsonl"))))
    assert (KEPT / "extra9.md").read_text(encoding="utf-8") == made.markdown()
    (quoted,) = (rows for rows in tables(FAKES) if "reports see it" in rows[0])
    assert [tuple(row.values()) for row in quoted] == list(made.lines)


def test_means_over_the_settings_of_a_crowd() -> None:
    wrong = []
    for row in table(HITTERS, "mean F1"):
        own = [cell for cell in short() if row["mean F1"] in (cell["data"], "all")]
        for method in ("TRELLIS", "PEM+", "C3U", "C1"):
            if not agrees(row[method], mean(own, method)):
                wrong.append(f"{row['mean F1']}, {method}: {row[method]} is {mean(own, method)}")
    assert wrong == []


ABOUT_RESULTS = re.compile(r"\bF1\b|\b[Tt]able [12]\b|\b[Ff]igures? \d|\b(of its claims|findings)\b")
SETTING = re.compile(
    r"\b(?:[Tt]able|[Ff]igures?|[Ss]ections?)\s\d+(?:(?:,| and| to)\s\d+)*|\bF1\b|[a-zε′]\s=\s[\d,.]*\d"
    r"|\]\([^)]*\)|`[^`]*`"
)
NUMBER = re.compile(r"(?<![\w.,])(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?!\w)")


@pytest.mark.parametrize("page", PAGES)
def test_no_other_number_is_quoted(page: str) -> None:
    unlisted = []
    for paragraph in paragraphs(page):
        if page != HITTERS and not ABOUT_RESULTS.search(paragraph):
            continue
        rest = paragraph
        for quote in QUOTES:
            rest = quote.pattern.sub(" ", rest) if quote.page == page else rest
        for fragment in OTHER.get(page, ()):
            start, dots, _ = fragment.partition("…")
            rest = rest.partition(start)[0] if dots else rest.replace(fragment, " ")
        unlisted += [f"{number} in: {paragraph[:100]}…" for number in NUMBER.findall(SETTING.sub(" ", rest))]
    assert unlisted == [], f"{page}: numbers that neither QUOTES nor OTHER lists"


def test_outcomes_have_the_names_that_pages_are_compared_with() -> None:
    starts = (
        "reproduced",
        "not reproduced",
        "reversed",
        "holds for the paper's decoder",
        "holds with",
        "cannot be told",
    )
    assert {start: sum(str(outcome).startswith(start) for outcome in Outcome) for start in starts} == {
        **dict.fromkeys(starts[:4], 1),
        **dict.fromkeys(starts[4:], 2),
    }


@pytest.mark.parametrize(
    ("said", "number", "outcome"), [("0.61", About(0.6104, 0.001), True), ("0.62", About(0.61, 0.001), False)]
)
def test_a_wrong_number_is_seen(said: str, number: Number, outcome: bool) -> None:
    assert agrees(said, number) is outcome
    assert agrees("1,728", "1,728")
    assert not agrees("1,728", "1,729")
