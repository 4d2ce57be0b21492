"""Every message of the command line: no Python, and the fix as one types it."""

from __future__ import annotations

import ast
import json
import pickle
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import plausibly
from cases import case
from plausibly import Labels, Ordered, SeededRandom, Strings, make
from plausibly.cli import app
from plausibly.cli.options.plan import PlanOptions
from plausibly.cli.spelling import spelled
from plausibly.core.words import Kind, Setting, Words
from plausibly.files import Key, write_reports, write_tally

SYNTAX = {
    "an argument": r"""\w=(True|False|None|["'\[({]|[^\w"'\[({.-]|$)""",
    "a call": r"\b[A-Za-z_][\w.]*\((\.\.\.)?\)|\b[a-z_]+\.[a-z_]+\(",
    "a constant": r"\b(True|False|None)\b",
    "a type": r"\((str|bytes)\b|\bgot (str|int|float|bool|dict|list|tuple|NoneType)\b",
    "a class": r"\b[A-Z][a-z]+[A-Z]\w*|\bTraceback\b|\w+Error\b",
}
SOURCE = Path(plausibly.__file__).parent
PYTHON_ONLY = {
    "device.py": "its messages are for applications that import it",
    "client/collector.py": "its messages are for applications that import it",
    "kernels": "a module that is built or imported wrongly",
    "experiments/loading.py": "about files of Python that the reader has written",
    "experiments/__init__.py": "a module's attributes",
    "core/combining.py": "no command combines estimates",
    "extend.py": "a module's attributes",
    "__init__.py": "a module's attributes",
}
"""Modules whose messages are for people at a Python prompt, with the reason."""
PYTHON_METHODS = {"to_frame() needs", "plot() needs", "plot_tree() needs", "result() returns", "decode_reports reads"}
PYTHON_METHODS |= {"to_polars() needs", "before top()", "tally.estimate(estimates.items)"}
"""Methods without a command, in messages that only their callers can get."""
SPEAKS = {"Words", "refuse", "refused", "_refused", "refuse_asked", "damaged"}
"""Functions that make messages, besides the errors themselves."""


def python_in(text: str) -> str:
    """The kind of Python syntax in a text, or nothing."""
    return next((kind for kind, pattern in SYNTAX.items() if re.search(pattern, text)), "")


# --- the source: messages that no test has provoked ---------------------------------------------------------------


def texts_of_messages(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and texts of all messages in a module. ``repr`` and the name of a type stand for themselves."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if not (name.endswith("Error") or name in SPEAKS):
            continue
        for part in (part for argument in call.args for part in ast.walk(argument)):
            if "Setting" in _callers(part, inside):
                continue  # the command line spells it
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.lineno, part.value
            elif isinstance(part, ast.FormattedValue) and part.conversion == ord("r"):
                yield part.lineno, "None"
            elif isinstance(part, ast.Attribute) and part.attr == "__name__":
                yield part.lineno, "got str"


def _callers(part: ast.AST, inside: dict[int, ast.AST]) -> set[str]:
    found = set()
    while (part := inside.get(id(part))) is not None:  # type: ignore[assignment]
        if isinstance(part, ast.Call):
            found.add(getattr(part.func, "id", getattr(part.func, "attr", "")))
    return found


@pytest.mark.full
def test_no_message_in_the_source_has_python_in_it() -> None:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name in PYTHON_ONLY or name.partition("/")[0] in PYTHON_ONLY:
            continue
        for line, text in texts_of_messages(path):
            kind = python_in(text)
            if kind and kind != "a class" and not any(method in text for method in PYTHON_METHODS):
                found[f"{name}:{line}"] = f"{kind}: {text}"
    assert found == {}, "say it with a Setting or a Kind (core/words.py)"


def test_python_would_be_noticed(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    for text in ("f'x; pass missing=\"skip\"'", "'expected Keys()'", "f'got {name!r}'", "f'got {type(x).__name__}'"):
        with case(text):
            module.write_text(f"raise StateError({text})\n", encoding="utf-8")
            assert [python_in(each) for _, each in texts_of_messages(module)] != [""]
    module.write_text("raise StateError(Words('skip with ', Setting('missing', 'skip', python='Keys()')))\n")
    assert [python_in(each) for _, each in texts_of_messages(module)] == ["", ""]


# --- dozens of mistakes, and the fix for each ---------------------------------------------------------------------

MISTAKES = """
plan                                                                  | expected one of --items, --label, --labels,
plan --items sites.txt                                                | name a file of values with --labels FILE
plan --items 1                                                        | expected at least 2 different values, got 1
plan --items 10                                                       | expected two of --users, --epsilon and a target
plan --items 10 --users 5                                             | expected two of --users, --epsilon and a target
plan --items 10 --users 5 --epsilon x                                 | --epsilon: expected a finite positive number
plan --items 10 --users 5 --epsilon -1                                | --epsilon: expected a positive number
plan --items 10 --users 5 --epsilon 1 --max-epsilon x                 | --max-epsilon: expected a finite positive number
plan --items 10 --users 5 --epsilon 99                                | --epsilon: expected at most the limit
plan --items 10 --users 0 --epsilon 1                                 | --users: expected 1 to
plan --items 10 --users 5.5 --epsilon 1                               | --users
plan --items 10 --epsilon 1 --quantile-within 2                       | expected values that have an order, --range
plan --range 0..120 --epsilon 1 --quantile-within x                   | --quantile-within: expected a number in the unit
plan --range 0..120 --epsilon 1 --quantile-within -2                  | --quantile-within: expected a number in the unit
plan --range 0..120 --epsilon 1 --quantile-within 0                   | --quantile-within: expected a positive number
plan --range 0..120 --epsilon 1 --quantile-within 0.2                 | --quantile-within: expected at least 0.5 values
plan --range 0..120 --epsilon 1 --quantile-within 2 --quantile 2      | --quantile: expected a share between 0 and 1
plan --range 0..120 --epsilon 1 --users 9 --quantile 0.9              | --quantile needs --quantile-within
plan --range 0..120 --epsilon 1 --quantile-within 2 --within 1%       | got --within and --quantile-within
plan --range 0..120 --epsilon 1 --within 1% --frequency 5%            | for single values use --items 121
plan --range 0..120 --users 9 --within 1%                             | out of reach with 9 users
plan --alphabet a-z --length 5 --epsilon 1 --quantile-within 2        | expected values that have an order
plan --items 10 --epsilon 1 --within much                             | --within: expected a share such as 0.005 or 0.5%
plan --items 10 --epsilon 1 --find 2                                  | --find: expected a share between 0 and 1
plan --items 10 --epsilon 1 --within 1% --confidence x                | --confidence: expected a share such as
plan --items 10 --epsilon 1 --within 1% --frequency 7                 | --frequency: expected a share between 0 and 1
plan --items 10 --users 5 --epsilon 1 --memory many                   | --memory: expected bytes, or a size such as
plan --items 10 --users 5 --epsilon 1 --skew odd                      | --skew: expected the exponent of a power law
plan --items 10 --users 5 --epsilon 1 --hash-seed -1                  | --hash-seed: expected 0 to
plan --items 10 --users 5 --epsilon 1 --report-bytes 0                | --report-bytes: expected 1 to
plan --items 1000 --users 99 --epsilon 1 --report-bytes 1             | --report-bytes
plan --items 10 --users 5 --epsilon 1 --save scheme.json              | replace it with --overwrite
plan --items 10 --users 5 --epsilon 1 --save reports.parquet          | choose another name
plan --items 10 --users 5 --epsilon 1 --other                         | --other needs --label, --labels, --attribute,
plan --attribute theme --users 5 --epsilon 1                          | such as theme=dark,light or age=bins:0,18
plan --attribute a=1,2 --users 5 --epsilon 1                          | expected at least two attributes, got one; plan
plan --attribute a=1,2 --attribute b=1,,2 --users 5 --epsilon 1       | expected labels separated by single commas
plan --attribute a=1,2 --attribute b=0..120 --users 5 --epsilon 1     | numbers in order are range:0..120 or bins:0,18
plan --attribute a=1,2 --attribute b=bins:x --users 5 --epsilon 1     | bins: expected edges such as 0,10,20.5,50
plan --attribute a=1,2 --attribute a=1,2 --users 5 --epsilon 1        | expected distinct names, got 'a' more than once
plan --attribute a=1,missing --attribute b=1,2 --users 5 --epsilon 1  | or leave out this cell with --no-missing
plan --attribute a=range:0..2000 --attribute b=range:0..2000 --users 5 --epsilon 1 | bins such as --attribute NAME=bins:
plan --choices a.txt --items 9 --users 5 --epsilon 1                   | got --items and --choices
plan --choices a.txt --normalize lower --users 5 --epsilon 1          | --normalize needs --label, --labels
plan --attributes a.txt --users 5 --epsilon 1                         | a.txt, line 1: expected a name and its values
plan --items 9 --no-missing --users 5 --epsilon 1                     | --no-missing needs --attribute or --attributes
plan --attributes q.txt --items 9 --users 5 --epsilon 1               | got --items and --attributes
privatize survey.csv --column age --scheme survey.json --out new.parquet | name their columns with --columns
privatize survey.csv --glue age,theme --scheme survey.json --out new.parquet | name their columns with --columns
privatize survey.csv --columns theme --scheme survey.json --out new.parquet | expected a column for the attribute 'age'
privatize survey.csv --columns theme,agee --scheme survey.json --out new.parquet | did you mean 'age'?
privatize survey.csv --columns theme,, --scheme survey.json --out new.parquet | such as browser,theme
privatize survey.csv --columns theme=age,age --scheme survey.json --out new.parquet | got one of them twice
privatize survey.csv --columns theme,age=Age --scheme survey.json --out new.parquet | one column named 'Age', got 0
privatize survey.csv --separator ; --column age --scheme scheme.json --out new.parquet | --separator needs --glue, or
privatize survey.csv --columns site,day --scheme scheme.json --out new.parquet | pass --column NAME
privatize survey.csv --scheme survey.json --out new.parquet           | line 3: 'theme': expected one of the 2 labels
privatize a.txt --scheme survey.json --out new.parquet                | pass --format csv if there are some
privatize survey.csv --scheme nested.json --out new.parquet           | plausibly plan … --attribute ITEM=no,yes
table survey.tally                                                    | the attributes are theme, age
table reports.parquet --rows age                                      | plausibly collect reports.parquet --out answers
table survey.tally --rows Theme                                       | --rows: unknown attribute 'Theme'; did you mean
table survey.tally --rows age --columns x                             | --columns: unknown attribute 'x'; valid: age,
table survey.tally --rows age --columns age                           | expected another attribute than --rows
table survey.tally --rows age --columns theme --quantiles .5          | leave out --columns
table survey.tally --rows theme --quantiles .5                        | --quantiles needs values that have an order
table survey.tally --rows age --columns theme --level 2               | --level: expected a number strictly between
table survey.tally --rows age --columns theme --out x.xlsx            | unknown suffix '.xlsx'; valid:
table no-records.tally --rows age                                     | add some with plausibly collect
table a.tally --rows age                                              | use plausibly estimate a.tally
table smp.tally --rows age --columns theme                            | each user reporting 2 attributes (cliques=2)
table sets.tally --rows theme --columns plan                          | CLIQUE and a set of these attributes (cliques)
estimate survey.tally                                                 | plausibly table survey.tally --rows NAME
estimate survey.tally --quantiles .5                                  | plausibly table survey.tally --rows NAME
search survey.tally                                                   | plausibly table survey.tally --rows NAME
changes survey.tally no-records.tally                                 | plausibly table survey.tally --rows NAME
simulate survey.json                                                  | rehearse a table with plausibly privatize
compare CLIQUE --out new                                              | got a scheme for records of several attributes
sample new.csv --questions new.txt                                    | --questions needs --survey
sample new.csv --survey --sites new.txt                               | expected --sites or --survey
plan --range 120 --users 5 --epsilon 1                                | --range: expected two ends such as 0..120, got
plan --range 0.. --users 5 --epsilon 1                                | --range: expected two ends such as 0..120
plan --range a..b --users 5 --epsilon 1                               | --range: expected whole numbers as ends
plan --range 0..1.5 --users 5 --epsilon 1                             | real numbers need bins: --bins 0..1000/256
plan --range 9..3 --users 5 --epsilon 1                               | low: expected less than high (3), got 9; swap
plan --range 0..99999999999 --users 5 --epsilon 1                     | number of items: expected 2 to 4294967296
plan --range 0..9 --items 10 --users 5 --epsilon 1                    | got --items and --range
plan --range 0..9 --infinite drop --users 5 --epsilon 1               | --infinite: expected refuse or clamp
plan --items 9 --infinite clamp --users 5 --epsilon 1                 | --infinite needs --range, --bins or --durations
plan --bins 0,x,2 --users 5 --epsilon 1                               | --bins: expected edges such as 0,10,20.5,50
plan --bins 0..1000 --users 5 --epsilon 1                             | or equal bins such as 0..1000/256, got '0..1000'
plan --bins 0..1000/x --users 5 --epsilon 1                           | or equal bins such as 0..1000/256, got
plan --bins 0..x/4 --users 5 --epsilon 1                              | or equal bins such as 0..1000/256, got '0..x/4'
plan --bins 0..10/1 --users 5 --epsilon 1                             | count: expected 2 to 1048576, got 1
plan --bins 0..10/4000000000 --users 5 --epsilon 1                    | count: expected 2 to 1048576, got 4000000000
plan --bins 10..0/4 --users 5 --epsilon 1                             | low: expected less than high (0), got 10; swap
plan --bins 0..inf/4 --users 5 --epsilon 1                            | high: expected a finite number, got an infinite
plan --bins 0..0.1,5 --users 5 --epsilon 1                            | --bins: expected edges such as 0,10,20.5,50
plan --dates 2026-01-01..2026-01-09 --unit days --users 5 --epsilon 1 | --unit needs --range or --bins
plan --durations 0..500ms --unit s --users 5 --epsilon 1              | --unit needs --range or --bins; write that of
plan --bins 0,1 --users 5 --epsilon 1                                 | edges: expected at least 3, which make 2 bins
plan --bins 0,2,1 --users 5 --epsilon 1                               | edges: expected numbers in rising order
plan --bins 0,nan,1 --users 5 --epsilon 1                             | edges, position 1: expected a finite number
plan --dates 2026-01-01 --users 5 --epsilon 1                         | --dates: expected two ends such as 2026-01-01..
plan --dates 0..5 --users 5 --epsilon 1                               | first: expected a date such as 2026-01-31, got
plan --dates 2026-02-01..2026-01-01 --users 5 --epsilon 1             | first: expected less than last (2026-01-01)
plan --durations 0..500 --users 5 --epsilon 1                         | --durations: expected a range such as 0..500ms
plan --durations 0..500years --users 5 --epsilon 1                    | --durations: expected one of ms, s, min, h, d
show DE:epsilon=1,range=0                                             | range: expected two ends such as 0..120
show DE:epsilon=1,bins=0..9                                           | or equal bins such as 0..1000/256, got '0..9'
show SLIDE:epsilon=1,range=0..9999999                                 | wider bins: plausibly plan … --bins 0..1000/1024
show DE:epsilon=1,durations=0..9ms,unit=s                             | unknown parameter 'unit' for DE
show DE:epsilon=1,range=0..9,infinite=drop                            | infinite: expected refuse or clamp, got 'drop'
show DE:epsilon=1,range=0..9,other=x                                  | other: expected true or false, got a text
privatize ages.csv --scheme ages.json --out o.parquet                 | (with plausibly plan … --other, any text)
privatize infinite.csv --scheme ages.json --out o.parquet             | (plausibly plan … --infinite clamp clamps
plan --label a --label a --users 5 --epsilon 1                        | expected distinct labels
plan --label a --users 5 --epsilon 1                                  | number of labels: expected 2
plan --label a --label other --other --users 5 --epsilon 1            | is the name of the item that --other adds
plan --alphabet aa --length 3 --users 5 --epsilon 1                   | --alphabet: expected distinct characters
plan --alphabet ab --users 5 --epsilon 1                              | expected --alphabet and --length together
plan --alphabet ab --length 0 --users 5 --epsilon 1                   | --length: expected 1 to
plan --alphabet z-a --length 3 --users 5 --epsilon 1                  | put a hyphen that is not a range last
plan --alphabet ab --length 3 --epsilon 1 --within 1%                 | expected --find for strings
plan --alphabet a-z --length 9 --users 99 --epsilon 1 --report-bytes 1 | --report-bytes 6 is enough
plan --alphabet a-z --length 9 --users 99 --epsilon 1 --memory 9kB    | --memory 3
show                                                                  | Missing argument
show OLH                                                              | a text such as OLH:epsilon=1,domain_size=1000
show OHL:epsilon=1,domain_size=9                                      | did you mean 'OLH'?
show OLH:epsilon=1                                                    | expected either a domain_size or a domain
show OLH:domain_size=9                                                | epsilon: expected for OLH
show OLH:epsilon=1,domain_size=ten                                    | domain_size: expected an integer, got a text
show OLH:epsilon=1,domain_size=9,rows=3                               | unknown parameter 'rows' for OLH; valid:
show OLH:epsilon=-1,domain_size=9                                     | epsilon: expected a positive number, got '-1'
show PEM:epsilon=1,domain_size=9                                      | PEM
show CM:domain_size=9                                                 | oracle: expected for CM
show missing.json                                                     | missing.json: No such file
show visits.csv                                                       | expected the JSON text of a scheme
show broken.json                                                      | keep: expected '
show null.json                                                        | other: expected true or false, got nothing
show alphabet.json                                                    | alphabet: expected text, got an integer
show list.json                                                        | domain: expected an object, got a list
show keyed.tally                                                      | pass --key-file FILE
show keyed.tally --key-file visits.csv                                | run chmod 600 visits.csv
audit OLH:epsilon=1                                                   | expected either a domain_size or a domain
audit OLH:epsilon=1,domain_size=9 --statistical 3                     | --statistical
simulate scheme.json --data nothing                                   | unknown data 'nothing'
simulate scheme.json --counts c.csv --data zipf-1.1                   | expected only one of --counts, --values
simulate scheme.json --column x                                       | --column needs --values FILE
simulate scheme.json --values visits.csv --column site                | did you mean --column Site?
simulate scheme.json --values foreign.csv --column site               | plausibly plan … --other any text
simulate scheme.json --counts counts.csv                              | rename the column 'Count'
simulate scheme.json --out x.gif                                      | expected a name that ends in
simulate search.json --data url-clicks                                | plausibly plan … --other
privatize visits.csv --scheme scheme.json --out new.parquet           | choose one with --column NAME
privatize visits.csv --scheme scheme.json --out new.parquet --column site | did you mean --column Site?
privatize spaced.csv --scheme scheme.json --out new.parquet --column site | did you mean --column ' site'?
privatize day.ndjson --scheme scheme.json --out new.parquet           | choose one with --column NAME
privatize day.ndjson --scheme scheme.json --out new.parquet --column Site | did you mean --column site?
privatize gaps.csv --scheme scheme.json --out new.parquet             | skip all such users with --missing skip
privatize semicolons.csv --scheme scheme.json --out new.parquet       | pass --delimiter ';' if it separates columns
privatize tabs.csv --scheme scheme.json --out new.parquet             | pass --delimiter tab if it separates columns
privatize foreign.csv --scheme scheme.json --out new.parquet          | with plausibly plan … --other any text
privatize foreign.csv --scheme search.json --out new.parquet          | plausibly plan … --other takes any
privatize visits --scheme scheme.json --out new.parquet               | pass --format NAME, one of csv
privatize visits.csv --scheme scheme.json --out new.parquet --format cvs | --format: unknown 'cvs'; did you mean 'csv'?
privatize visits.csv --scheme scheme.json --out new.parquet --missing no | --missing: expected refuse or skip
privatize visits.csv --scheme scheme.json --out new.parquet --delimiter ;; | --delimiter: expected one character
privatize a.txt --scheme scheme.json --out new.parquet --column x     | --column: a file with one value per line
privatize a.txt --scheme scheme.json --out new.parquet --no-header    | --no-header: expected the format csv or tsv
privatize visits.csv --no-header --scheme scheme.json --out new.parquet | such as --column 1
privatize visits.csv --no-header --column 7 --scheme scheme.json --out new.parquet | a column number from 1 to 2
privatize visits.csv --column Site --scheme scheme.json --out reports.parquet | choose another name
privatize visits.csv --column Site --scheme scheme.json --out new.csv | .parquet
privatize nothing.csv --scheme scheme.json --out new.parquet          | nothing.csv: No such file
collect simulated.parquet --out new.tally                             | pass --simulated to accept them
collect reports.parquet --out new.tally --scheme other.json           | got another: epsilon is 1, not 2
collect reports.parquet other.parquet --out new.tally                 | epsilon is 2, not 1
collect visits.csv --out new.tally                                    | visits.csv
collect nothing.parquet --out new.tally                               | no such file or folder
collect foo://bucket/day --out new.tally                              | expected a path, or one of s3://, gs://
collect s3:///day --out new.tally                                     | expected one such as s3://bucket/day
collect s3://name:word@bucket/day --out new.tally                     | set them in the environment
collect reports.parquet --out s3://bucket/day?secret_key=x.tally      | set them in the environment
collect reports.parquet --out s3://bucket/day.txt                     | expected a name that ends in .tally
collect abfs://container/day --out new.tally                          | pyarrow cannot open this store; check
privatize s3://bucket/a.csv --scheme scheme.json --out new.parquet    | copy the file here first
estimate a.tally --out s3://bucket/a.csv                              | name a file on this machine
estimate foo://bucket/day.tally                                       | expected a path, or one of s3://, gs://
collect reports.parquet --out nowhere/new.tally                       | there is no folder
collect reports.parquet --out new.txt                                 | .tally
merge a.tally other.tally --out new.tally                             | the scheme of a.tally, got another: epsilon is
merge a.tally a.tally --out new.tally                                 | name it once
merge a.tally b.tally --out a.tally                                   | choose another name
merge a.tally b.tally --out other.tally                               | replace it with --overwrite
merge a.tally keyed.tally --out new.tally                             | pass --key-file FILE
estimate a.tally --items c                                            | expected one of the 2 labels
estimate a.tally --items A                                            | did you mean 'a'?
estimate a.tally --items a,,b                                         | --item "" is the empty text
estimate a.tally --level 2                                            | --level: expected a number strictly between
estimate a.tally --combine mean                                       | leave it out
estimate a.tally --postprocess norm                                   | did you mean 'norm-sub'?
estimate a.tally --postprocess norm-sub:x=1                           | unknown option 'x' for norm-sub
estimate a.tally --postprocess norm-sub:x                             | expected name:option=number
estimate a.tally --quantiles .5                                       | --quantiles needs values that have an order
estimate a.tally --postprocess monotone                               | monotone needs values that have an order
estimate ages.tally --ranges 5..20                                    | the nearest range is 5..9
estimate ages.tally --ranges 7..3                                     | expected the lower end first
estimate ages.tally --ranges 5                                        | --ranges: expected two ends such as 18..24
estimate ages.tally --ranges 2026-01-01..2026-01-31                   | range: expected numbers as ends
estimate days.tally --ranges 1..2                                     | range: expected dates as ends, got '1'
estimate days.tally --ranges 2025-12-31..2026-01-02                   | the nearest range is 2026-01-01..2026-01-02
estimate ages.tally --quantiles 1.5                                   | --quantiles: expected shares from 0 to 1, got
estimate ages.tally --quantiles nan                                   | --quantiles: expected shares from 0 to 1
estimate ages.tally --quantiles half                                  | --quantiles: expected shares such as .25,.5,.75
estimate ages.tally --bins some                                       | --bins: expected auto, a number of bins, or
estimate ages.tally --bins 50                                         | --bins: expected 1 to 10, got 50
estimate ages.tally --bins 0,7,3,9                                    | --bins: expected edges in rising order
estimate ages.tally --mean --items 5                                  | --mean needs all items, got some; leave out
estimate ages.tally --mean --postprocess norm-sub                     | sums of counts have no law here after norm-sub
estimate ages.tally --mean --out mean.parquet                         | expected .csv or .json for mean, got .parquet
estimate a.tally --top 1 --all                                        | expected --top or --all
estimate a.tally --out x.xlsx                                         | unknown suffix '.xlsx'; valid:
estimate a.tally --out a.tally                                        | unknown suffix
estimate a.tally --out scheme.json                                    | choose another name
estimate search.tally                                                 | name some with --items or --items-file
estimate empty.tally                                                  | add some with plausibly collect
estimate sketch.tally --items x --combine mode                        | --combine: unknown 'mode'; did you mean
estimate visits.csv                                                   | visits.csv: not a tally file
estimate reports.parquet                                              | add them up with collect, and estimate
estimate keys.parquet                                                 | name some with --items or --items-file
estimate keys.parquet --items x --combine mean                        | leave it out
estimate keys.parquet --items x --engine thread                       | did you mean 'threads'?
estimate keys.parquet reports.parquet --items x                       | expected the scheme of keys.parquet, got another
estimate keys.parquet visits.csv --items x                            | visits.csv: not a complete Parquet file
estimate made-up.parquet --items x                                    | pass --simulated to accept them
estimate a.tally b.tally                                              | merge several with plausibly merge
estimate a.tally --engine processes                                   | --engine is for files of reports, and a.tally
estimate a.tally --skip-bad                                           | --skip-bad is for files of reports, and a.tally
collect reports.parquet --out new.tally --engine flink                | --engine: unknown 'flink'; valid:
collect reports.parquet --out new.tally --engine sparc                | did you mean 'spark'?
collect reports.parquet --out new.tally --engine spark                | needs --master, such as --master sc://host:15002
collect reports.parquet --out new.tally --engine dask                 | needs --master, such as --master tcp://host:8786
collect reports.parquet --out new.tally --engine spark --master host  | --master: expected an address such as sc://host
collect reports.parquet --out new.tally --engine dask --master sc://a | such as tcp://host:8786, got 'sc://a'
collect reports.parquet --out new.tally --engine dask --master 'sc://a/;token=b' | such as tcp://host:8786, got 'sc://a'
collect file://reports.parquet --out new.tally                        | expected file:///folder/name, with the whole
collect reports.parquet --out file://new.tally                        | leave file:// out if the path is relative
collect s3://key:a/b@bucket/day --out new.tally                       | set them in the environment
collect reports.parquet --out new.tally --master sc://host            | name one with --engine spark or --engine dask
collect reports.parquet --out new.tally --engine processes --master x | or leave --master out
collect reports.parquet other.parquet --out new.tally --engine spark --master sc://host | expected the scheme of
collect simulated.parquet --out new.tally --engine dask --master tcp://host:1 | pass --simulated to accept them
collect nothing --out new.tally --engine dask --master tcp://host:1   | nothing: no such file or folder
estimate keys.parquet --items x --engine dask                         | needs --master, such as --master tcp://host:8786
estimate a.tally --master sc://host                                   | --master is for files of reports, and a.tally
search a.tally                                                        | use plausibly estimate a.tally
search trellis.tally --level 7                                        | --level: expected a number strictly between
search search.tally --level 0.1 --no-level                            | expected --level or --no-level
search search.tally --out x.doc                                       | did you mean '.csv'? valid: .csv
search search.tally --explain xyz                                     | 'x' is not in the alphabet
estimate search.tally --items AB                                      | 'A' is not in the alphabet; did you mean 'ab'?
search search.tally --tree a.csv                                      | valid: .png, .svg
changes a.tally a.tally                                               | expected reports that are not in a.tally
changes a.tally empty.tally                                           | add some with plausibly collect
changes a.tally b.tally --level 7                                     | --level: expected a number strictly between
changes a.tally b.tally --same-users                                  | --same-users: expected as many reports after
changes a.tally b.tally --out x.doc                                   | valid: .csv
changes a.tally labels.tally --items b                                | labels.tally: --items b: expected one of
changes labels.tally a.tally --items b                                | labels.tally: --items b: expected one of
changes trellis.tally short.tally --items abab                        | short.tally: expected items with the same names
sample visits.csv                                                     | choose another name
serve collector --host 0.0.0.0                                        | to listen for others, put a proxy with TLS
serve collector --port 70000                                          | --port: expected 0 to 65535
serve visits                                                          | visits: File exists
collections mke collector                                             | unknown action 'mke'
collections create collector                                          | expected --name for a new collection
collections create collector --name x                                 | expected --scheme for a new collection
collections create collector --name x --scheme no.json                | no.json
collections create collector --name x --scheme scheme.json --minimum 0 | --minimum: expected 1 to
collections create collector --name x --scheme scheme.json --cap 0    | --cap: expected 1 to
collections create collector --name x --scheme scheme.json --opens now | --opens: expected a time in UTC such as
collections create collector --name x --scheme scheme.json --slot 3   | expected --series and --slot, got one of them
collections list collector                                            | collector: there is no such folder
collections close collector --id 1                                    | collector: there is no such folder
collections read collector --id 1                                     | read: expected --to with the address of a
collections list                                                      | expected the folder of a collector, or --to
collections list collector --to http://127.0.0.1:1                    | expected the folder of a collector, or --to
collections list --to http://127.0.0.1:1                              | expected --token-file, or a token in the
collections list --to http://127.0.0.1:1 --token-file visits.csv      | expected one that plausibly tokens create
collections list --to http://collector.example --token-file token     | --to: expected https, because the token would
collections list --to collector.example --token-file token            | --to: expected an address such as http://127
collections list --to https://a:b@c.example --token-file token        | --to: expected an address without a name
collections list --to http://127.0.0.1:1 --token-file token           | no collector answers here
tokens list collector                                                 | tokens.json: there is no such file
tokens revoke collector --id 1                                        | tokens.json: there is no such file
backup visits --out copy                                              | inbox.db: there is no such file
tokens mke collector                                                  | unknown action 'mke'
tokens create collector --scope write                                 | --scope: unknown 'write'
tokens create visits                                                  | visits: File exists
upload reports.parquet --to localhost:8080                            | --to: expected the address of a collection
upload reports.parquet --to http://localhost/v1/collections/1         | with an ID of 64 hexadecimal digits
compare NO                                                            | unknown scheme 'NO'
compare OLH --column x                                                | --column needs --values FILE
compare OLH --data nothing                                            | unknown data 'nothing'
compare OLH:hashes=3                                                  | unknown parameter 'hashes' for OLH
reproduce nothing.py                                                  | nothing.py
"""

LABELS = '{"labels":["dark","light"],"other":false,"type":"labels"}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the mistakes: right ones and wrong ones."""
    monkeypatch.chdir(tmp_path)
    scheme = make("DE", epsilon=1, domain=["a", "b"])
    other = make("DE", epsilon=2, domain=["a", "b"])
    strings, oracle = Strings("ab", 4), make("OLH", epsilon=2, domain=plausibly.Keys())
    search = make("PEM", oracle=oracle, domain=strings, start=2, step=2)
    trellis = plausibly.TRELLIS(2, domain=strings, users=1000)
    sketch = make("CM", oracle=make("DE", epsilon=2, domain_size=8), rows=2, domain=plausibly.Keys())
    key = Key(b"0123456789abcdef")
    records = plausibly.Table({"theme": ["dark", "light"], "age": Ordered(0, 9)})
    three = plausibly.Table({"theme": ["dark", "light"], "age": Ordered(0, 9), "plan": 2})
    survey = make("CLIQUE", epsilon=1, domain=records)
    documents = {"scheme": scheme, "other": other, "search": search, "survey": survey}
    for name, each in documents.items():
        Path(f"{name}.json").write_text(each.to_json(), encoding="utf-8")
    written = json.loads(scheme.to_json())
    texts = json.loads(search.to_json())
    wrong = {
        "broken": written | {"keep": "1"},
        "null": written | {"domain": written["domain"] | {"other": None}},
        "alphabet": texts | {"domain": texts["domain"] | {"alphabet": 3}},
        "list": written | {"domain": []},
    }
    for name, document in wrong.items():
        Path(f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    write_reports("reports.parquet", scheme, scheme.privatize(["a", "b", "a"]))
    write_reports("other.parquet", other, other.privatize(["a", "b", "a"]))
    keys = make("OLH", epsilon=1, domain=plausibly.Keys())
    write_reports("keys.parquet", keys, keys.privatize(["x", "y"]))
    write_reports("made-up.parquet", keys, keys.privatize(["x"], SeededRandom(1)))
    write_reports("simulated.parquet", scheme, scheme.privatize(["a"], SeededRandom(1)))
    for name, each, values in (
        ("a", scheme, ["a", "b"]),
        ("b", scheme, ["b"]),
        ("other", other, ["a"]),
        ("empty", scheme, []),
        ("search", search, ["ab", "ba"]),
        ("trellis", trellis, ["ab", "ba"]),
        ("sketch", sketch, ["x", "y"]),
        ("labels", make("DE", epsilon=1, domain=["a", "c"]), ["a", "c"]),
        ("ages", make("OUE", epsilon=1, domain=Ordered(0, 9)), [5, 6]),
        ("days", make("OUE", epsilon=1, domain=Ordered.dates("2026-01-01", "2026-01-09")), ["2026-01-02"]),
        ("survey", survey, [("dark", 5), (None, 9)]),
        ("no-records", survey, []),
        ("smp", make("SMP", epsilon=1, domain=records), [("dark", 5)]),
        ("sets", make("CLIQUE", epsilon=1, domain=three, cliques=[[0, 1], [1, 2]]), [("dark", 5, 1)]),
        ("short", plausibly.TRELLIS(2, domain=Strings("ab", 3), users=1000), ["ab", "ba"]),
    ):
        tally = each.accumulator()
        tally.add(each.privatize(values))
        write_tally(f"{name}.tally", tally)
    write_tally("keyed.tally", scheme.accumulator(), key=key)
    contents = {
        "visits.csv": "Site,day\na,1\nb,2\n",
        "visits": "a\n",
        "spaced.csv": "day, site\n1,a\n",
        "foreign.csv": "site\nxyz\nq\n",
        "gaps.csv": "site\na\n\nb\n",
        "semicolons.csv": "site;day\na;1\n",
        "tabs.csv": "site\tday\na\t1\n",
        "counts.csv": "item,Count\na,3\nb,4\n",
        "a.txt": "a\nb\n",
        "q.txt": "theme=dark,light\nage=range:0..9\n",
        "survey.csv": "age,theme\n5,dark\n7,blue\n",
        "nested.json": survey.to_json().replace(LABELS, '{"items":["x","y"],"other":true,"type":"choices"}'),
        "ages.json": make("DE", epsilon=1, domain=Ordered(0, 9)).to_json(),
        "ages.csv": "age\n5\nx\n",
        "infinite.csv": "age\n5\ninf\n",
        "day.ndjson": '{"site": "a", "day": 1}\n',
    }
    for name, content in contents.items():
        Path(name).write_text(content, encoding="utf-8")
    Path("token").write_text("plausibly_x\n", encoding="utf-8")
    return tmp_path


@pytest.mark.full
def test_every_mistake_is_told_without_python_and_with_its_fix(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for line in MISTAKES.strip().splitlines():
        words, _, fix = (part.strip() for part in line.rpartition(" | "))
        with case(words):
            ended = CliRunner().invoke(app, shlex.split(words.replace(";;", "';;'")), terminal_width=200)
            assert ended.exit_code in (1, 2), ended.stdout
            assert isinstance(ended.exception, SystemExit)
            told = " ".join(ended.stderr.split())
            assert ended.stdout == ""
            assert fix in told, told
            assert not python_in(told), f"{python_in(told)} in: {told}"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.full
@pytest.mark.parametrize(
    "words", ["plan --alphabet ab --length 9", "plan --label a --label b", "plan --keys", "plan --range 0..9"]
)
def test_plans_and_descriptions_have_no_python_in_them(words: str, tmp_path: Path) -> None:
    saved = tmp_path / "scheme.json"
    for command in (f"{words} --users 1000 --epsilon 9 --save {saved}", f"show {saved}"):
        with case(command):
            shown = CliRunner().invoke(app, shlex.split(command))
            assert shown.exit_code == 0
            assert not python_in(" ".join(shown.stdout.split())), shown.stdout


# --- the spelling itself ------------------------------------------------------------------------------------------


def test_each_tool_spells_a_setting_in_its_own_way() -> None:
    plan = PlanOptions()
    for setting, python, shell in (
        (Setting("users"), "users", "--users"),
        (Setting("report_bytes", 3), "report_bytes=3", "--report-bytes 3"),
        (Setting("other", True), "other=True", "--other"),
        (Setting("save", "my file"), 'save="my file"', "--save 'my file'"),
        (Setting("top", 10, of="search", python="search(k=10)"), "search(k=10)", "plausibly search … --top 10"),
        (Setting("other", True, of="plan"), "other=True", "--other"),
        (Setting("domain_size", 9), "domain_size=9", "domain_size=9"),
        (Setting("rows"), "rows", "rows"),
    ):
        with case(setting):
            assert (str(setting), spelled(Words(setting), plan)) == (python, shell)
    words = Words("expected an integer, got ", Kind(str), "; ") + Words("pass ", Setting("keys", True, python="Keys()"))
    assert words == "expected an integer, got str; pass Keys()"
    assert spelled(words, plan) == "expected an integer, got a text; pass --keys"
    assert spelled(Words("got ", Kind(Labels)), plan).startswith("got items that can be listed")
    assert spelled("plain words", plan) == "plain words"
    # Workers of an engine send their errors to the process that prints them.
    sent = pickle.loads(pickle.dumps(plausibly.StateError(words)))
    assert spelled(sent.words, plan) == spelled(words, plan)


def test_no_page_or_message_advises_to_install_from_an_index_on_which_the_project_is_not() -> None:
    root = SOURCE.parent.parent
    pages = [root / "README.md", *(root / "docs").glob("*.md"), *(root / "docs/walkthroughs").glob("*.md")]
    for path in [*pages, *SOURCE.rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pip install +(-\S+ +)*['\"]?plausibly", text), path
        assert "plausibly[" not in text, path
