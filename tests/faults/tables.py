"""Planted faults of tables of several attributes: the client, the bulk path, the components, their law, the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from bench.latent import latent, table

import naive
import naive_client
import plausibly
import trusting
from faults.detectors import Detector, audit
from faults.planting import Edit
from plausibly import Choices, Labels, Ordered, SeededRandom, Table
from plausibly.core.bound import Workload
from plausibly.core.probability import within_exp
from plausibly.core.randomness import TapeSource
from plausibly.tables.designs import sets_of

BIAS = "the estimate is biased"
VARIANCE = "the variance is not the stated one"
RATIO = "a likelihood ratio exceeds the worst one that the client states"
TWIN = "other answers than the slow twin"
DEVICE = "a device sends another record than defined"
BULK = "bulk code makes another record than defined"

SIZES = (2, 3, 2)
WEIGHTED: dict[str, Any] = {"epsilon": 1, "domain": table(*SIZES), "cliques": 2, "weights": (1, 2, 3)}
SURVEY = Table({"browser": Labels(["Firefox", "Chrome"], other=True), "theme": ["dark", "light"], "age": Ordered(0, 4)})
RECORDS = [("Firefox", "dark", 4), (None, None, None), ("Lynx", "light", 0), ("Chrome", None, 2)]
APPS = Choices(["Maps", "Mail", "Chess"], other=True)
LISTS: list[Any] = [["Mail"], [], ["Sudoku"], ["Chess", "Maps", "Go"], ["Maps"]]

audited = audit("CLIQUE", **WEIGHTED)


def _split() -> Iterator[str]:
    # The audit states what a scheme delivers; here, it must be what was asked for.
    scheme = plausibly.make("SPL", epsilon=1, domain=table(2, 2))
    if not within_exp(scheme.randomizer.worst_ratio(), Fraction(1)):
        yield "the parts of a record spend more than epsilon together"


def _as_defined() -> Iterator[str]:
    for domain, values in ((SURVEY, RECORDS), (APPS, LISTS)):
        scheme, rng = plausibly.make("CLIQUE", epsilon=3, domain=domain, cliques=2), SeededRandom(2)
        written, client = json.loads(scheme.to_json()), trusting.load(scheme.to_json())
        many = values * 9
        reports = scheme.privatize(many, rng)
        for i, value in enumerate(many):
            tape = rng.replay(0).tape(scheme.layout, i)
            wanted = naive_client.record(written, value, naive_client.Tape(tape))
            if client.privatize(value, TapeSource(tape)) != wanted:
                yield DEVICE
            if reports[i].tobytes() != wanted:
                yield BULK


def _as_the_twin() -> Iterator[str]:
    # Sets of different sizes: the trust in them differs.
    scheme: Any = plausibly.make("CLIQUE", epsilon=1, domain=table(2, 3, 4), cliques=[[0, 1, 2], [0, 1], [1, 2]])
    records = latent((2, 3, 4), 80, seed=1)
    reports = scheme.privatize(records, SeededRandom(3))
    tally = scheme.accumulator()
    tally.add(reports)
    twin = naive.Clique(json.loads(scheme.to_json()))
    for places in ((0,), (0, 1), (1, 2)):
        found = tally.table(*(f"q{j}" for j in places))
        cell = dict.fromkeys(places, 1)
        place = int(np.ravel_multi_index([1] * len(places), [(2, 3, 4)[j] for j in places]))
        if not np.isclose(found.values[place], float(twin.count(naive.fields(reports), cell)), rtol=1e-9, atol=1e-9):
            yield f"counts: {TWIN}"
        law, one = scheme.estimator().law_at(places), np.zeros([(2, 3, 4)[j] for j in places])
        one.flat[place] = 1.0
        own = float(twin.variance_of_one([1, 1, 1], cell))
        if not np.isclose(law.cell_variances(one, 1).flat[place], own, rtol=1e-9):
            yield f"variances: {TWIN}"


def _agreeing() -> Iterator[str]:
    # The law of cells, of sums and of shares are one law.
    scheme = plausibly.make("CLIQUE", epsilon=2, domain=table(3, 4, 2), cliques=2)
    tally = scheme.accumulator()
    tally.add(scheme.privatize(latent((3, 4, 2), 5000, seed=2), SeededRandom(1)))
    found = tally.table("q0", "q1")
    covariance = found.law.covariance(np.eye(12).reshape(12, 3, 4), found.counts, found.n)
    if not np.allclose(np.diag(covariance), found.variance):
        yield "the law of sums is not that of cells"
    if not np.allclose(found.margin("q1").variance, tally.table("q1").variance):
        yield "the law of a margin is not that of the single attribute"
    shares = found.shares_by("q0")
    total, count = found.counts[0].sum(), found.counts[0, 1]
    gradient = np.zeros((3, 4))
    gradient[0] = -count / total**2
    gradient[0, 1] += 1 / total
    wanted = gradient.reshape(-1) @ covariance @ gradient.reshape(-1)
    if not np.isclose(shares.grid(shares.variance)[0, 1], wanted):
        yield "the variance of a share is not that of the delta method"
    turned = tally.table("q1", "q0")
    if not np.allclose(turned.grid(turned.variance), found.grid(found.variance).T):
        yield "a turned table has other variances"


def _empty_rows() -> Iterator[str]:
    scheme = plausibly.make("CLIQUE", epsilon=1, domain=table(3, 3))
    shares = scheme.simulate({(0, 0): 3000, (1, 2): 3000}, SeededRandom(1)).table("q0", "q1").shares_by("q0")
    if np.isfinite(shares.grid(shares.values)[2]).any():
        yield "shares of a row in which nobody is"


def _lost() -> Iterator[str]:
    scheme = plausibly.make("CLIQUE", epsilon=1, domain=table(2, 2, 2), cliques=2)
    reports = scheme.privatize(latent((2, 2, 2), 6000, seed=3), SeededRandom(2))
    tally = scheme.accumulator()
    tally.add(reports[reports["group"] != 1])
    for found in (tally.table("q0", "q1"), tally.table("q2"), tally.table("q0", "q2").top(2)):
        if not found.cautions:
            yield "a lost group of reports is not noticed"


def _independent() -> Iterator[str]:
    # At 5 %, more than 8 of 30 rejections have a chance of 4 in 100,000.
    for epsilon, users in ((1, 3000), (0.1, 30)):
        scheme = plausibly.make("CLIQUE", epsilon=epsilon, domain=table(3, 4, 2), cliques=2)
        random, rejected = np.random.default_rng(1), 0
        for run in range(30):
            records = np.stack([random.integers(0, size, users) for size in (3, 4, 2)], axis=1)
            tally = scheme.accumulator()
            tally.add(scheme.privatize(records, SeededRandom(run)))
            rejected += tally.table("q0", "q1").independence().p_value < 0.05
        if rejected > 8:
            yield "independent attributes are said to be related"


def _largest() -> Iterator[str]:
    # Of 64 cells alike, the largest owes most to luck: plain intervals hold in few of the runs. At 95 %, fewer than 40
    # of 50 have a chance of 1 in 100,000.
    scheme = plausibly.make("CLIQUE", epsilon=1, domain=table(8, 8))
    records = np.stack([np.arange(4096) % 8, np.arange(4096) // 8 % 8], axis=1)
    held = 0
    for run in range(50):
        tally = scheme.accumulator()
        tally.add(scheme.privatize(records, SeededRandom(run)))
        low, high = tally.table("q0", "q1").top(1).interval()
        held += bool(low[0] <= 64 <= high[0])
    if held < 40:
        yield "intervals of the largest cells are too short"


def _influence() -> Iterator[str]:
    scheme: Any = plausibly.make("CLIQUE", epsilon=1, domain=table(2, 3, 4), cliques=2)
    reports = scheme.privatize(latent((2, 3, 4), 60, seed=1), SeededRandom(1))
    for i in range(len(reports)):
        alone = scheme.accumulator()
        alone.add(reports[i : i + 1])
        for pair in combinations(("q0", "q1", "q2"), 2):
            if float(np.abs(alone.table(*pair).values).max()) > scheme.influence() * (1 + 1e-9):
                yield "a report moves a cell further than stated"


def _planned() -> Iterator[str]:
    records = np.array([(a, b, c) for a in range(3) for b in range(3) for c in range(3)])
    rows = [
        (records[:, a] == x) & (records[:, b] == y)
        for a, b in combinations(range(3), 2)
        for x in range(3)
        for y in range(3)
    ]
    wanted = Workload.of_weights(np.array(rows, dtype=float)).bound(1.0)
    if not np.isclose(Workload.of_tables((3, 3, 3)).bound(1.0), wanted):
        yield "the least possible error is another one"
    covered = {pair for clique in sets_of(20, 3) for pair in combinations(clique, 2)}
    if covered != set(combinations(range(20), 2)):
        yield "two attributes are reported together by nobody"
    scheme: Any = plausibly.make("CLIQUE", epsilon=3, domain=table(*[2] * 6))
    if scheme.together != 3:
        yield "the sets are not the best ones"


def _items() -> Iterator[str]:
    scheme = plausibly.make("CLIQUE", epsilon=4, domain=APPS)
    found = scheme.simulate({("Maps",): 3000, ("Maps", "Go"): 1000, (): 16_000}, SeededRandom(1)).table()
    # Ten standard errors.
    for item, truth in {"Maps": 4000, "Mail": 0, "Chess": 0, "other": 1000}.items():
        if abs(float(found[item]) - truth) > 10 * found[item].standard_error:
            yield "an item has another count"
    if found.complete:
        yield "users are said to have one item each"


split = Detector("SPL splits epsilon", _split)
as_defined = Detector("CLIQUE sends what is defined", _as_defined)
as_the_twin = Detector("CLIQUE answers as its slow twin", _as_the_twin)
agreeing = Detector("cells, sums, margins and shares have one law", _agreeing)
empty_rows = Detector("rows without users have no shares", _empty_rows)
lost = Detector("a lost group is noticed", _lost)
independent = Detector("the level of the test of independence", _independent)
largest = Detector("intervals of the largest cells", _largest)
influence = Detector("the influence of a report on tables", _influence)
planned = Detector("the plan of tables", _planned)
items = Detector("counts of chosen items", _items)

PLANS: list[tuple[Any, ...]] = []


def plan(id: str, breaks: str, where: str, old: str, new: str, by: Detector, sees: str, at: str = "") -> None:
    PLANS.append((f"table-{id}", breaks, (Edit(where, old, new, at),), by, sees))


# --- the client, on devices and in bulk ----------------------------------------------------------------------------

plan(
    "set-drawn-from-the-record",
    "which attributes a device reports depends on the values: the group gives the record away",
    "device:Grouped.perturb",
    "number, *drawn = public",
    "number, drawn = value % len(self.groups), list(public[1:])",
    audited,
    RATIO,
)
plan(
    "device-turns-the-cell",
    "a device reports the cell with its attributes in another order",
    "device:Joint.item",
    "item = item * base + value // step % base",
    "item += value // step % base * (self.count() if not item else 1) // base",
    as_defined,
    DEVICE,
)
plan(
    "device-takes-missing-for-the-first",
    "a device reports a missing value as the first one",
    "device:Table.encode",
    "domain.items if missing and own is None",
    "0 if missing and own is None",
    as_defined,
    DEVICE,
)
plan(
    "device-mixes-up-the-names",
    "a device takes the values of a record in alphabetical order of their names",
    "device:_joints",
    "sizes[i + 1 :]",
    "sizes[:i]",
    as_defined,
    DEVICE,
)
plan(
    "bulk-turns-the-cell",
    "bulk code takes the steps of the attributes the wrong way round",
    "tables.attributed:Attributed._part",
    "(records.steps[j], records.sizes[j])",
    "(records.steps[len(records.steps) - 1 - j], records.sizes[j])",
    as_defined,
    BULK,
)
plan(
    "bulk-missing-in-the-last-cell",
    "bulk code counts a missing value as the last item",
    "core.domain.attributes:Attribute.encode",
    "column, self.domain.size)",
    "column, self.domain.size - 1)",
    as_defined,
    BULK,
)
plan(
    "split-nothing",
    "SPL reports every attribute with the whole epsilon",
    "tables.splitting:SPL.part_epsilon",
    "self.epsilon / len(self.records.names)",
    "self.epsilon",
    split,
    "more than epsilon",
)
plan(
    "choices-mirrored",
    "a device takes the items of a list the wrong way round",
    "device:Choices.__init__",
    "self.items >> place",
    "1 << place - 1 + self.total",
    as_defined,
    DEVICE,
)
plan(
    "choices-others-dropped",
    "a device forgets items that are not on the list",
    "device:Choices.encode",
    "number |= bit",
    "number |= bit if bit > 1 else 0",
    as_defined,
    DEVICE,
)
plan(
    "choices-added-up",
    "bulk code counts an item that a list has twice as the next one",
    "core.domain.choices:Choices.encode",
    "sum({bits.get(item, 1) for item in chosen})",
    "sum([bits.get(item, 1) for item in [*chosen, *chosen[:1]]]) % self.code_count",
    as_defined,
    BULK,
)

# --- components ----------------------------------------------------------------------------------------------------

plan(
    "component-of-unweighted-sets",
    "the weights of a component forget the shares of the sets",
    "tables.residuals:Residuals.weights",
    "(share * knows).sum()",
    "knows.sum()",
    audited,
    BIAS,
)
plan(
    "component-trusts-all-alike",
    "large sets count as much as small ones: unbiased, but noisier than need be",
    "tables.residuals:Sent.trust",
    "1 / (self.noise * self.cells + self.own)",
    "1.0",
    as_the_twin,
    f"counts: {TWIN}",
)
plan(
    "component-trusts-by-noise-alone",
    "the weights leave out what the user's own cell adds",
    "tables.residuals:Sent.trust",
    "+ self.own",
    "",
    as_the_twin,
    f"counts: {TWIN}",
)
plan(
    "component-not-centred",
    "what an attribute adds keeps the mean of the table, which is then counted twice",
    "core.table_law:component",
    "table - mean if axis in kept",
    "table if axis in kept",
    as_the_twin,
    f"counts: {TWIN}",
    at="tables.residuals:component",
)
plan(
    "component-of-other-axes",
    "the table of a set is summed over the attributes that are asked for",
    "tables.residuals:Residuals._component",
    "if j not in places)",
    "if len(sent.attributes) > len(places) and i < len(sent.attributes) - len(places))",
    audited,
    BIAS,
)
plan(
    "mean-of-the-reports-forgotten",
    "the tables do not add up to the number of users, although it is known",
    "tables.residuals:Residuals.tabulated",
    "n / float(np.prod(law.sizes))",
    "0.0",
    audited,
    BIAS,
)

# --- the law -------------------------------------------------------------------------------------------------------

plan(
    "holder-without-covariance",
    "1 + h instead of H: the cells of a subset are taken for independent of the user's own",
    "core.laws:VarianceLaw.contrast",
    " - 2 * self.covariance[1]",
    "",
    audited,
    VARIANCE,
)
plan(
    "others-without-covariance",
    "the cells of a subset are taken for independent of each other",
    "core.laws:VarianceLaw.contrast",
    " - self.covariance[0]",
    "",
    audited,
    VARIANCE,
)
plan(
    "law-forgets-the-lottery",
    "the square of what a user adds on average is not taken off",
    "core.table_law:TableLaw._met",
    "second - sum(cell.values()) * sum(total.values())",
    "second",
    audited,
    VARIANCE,
)
plan(
    "law-without-pairs-of-components",
    "two components are taken for independent although one user is in both",
    "tables.residuals:Residuals.law_at",
    "if factor}",
    "if factor and pair[0] == pair[1]}",
    audited,
    VARIANCE,
)
plan(
    "law-of-fewer-cells",
    "the noise of a component leaves out how many cells of the set it is summed over",
    "tables.residuals:Residuals.law_at",
    "share * noise * cells *",
    "share * noise *",
    audited,
    VARIANCE,
)
plan(
    "law-of-sums-without-the-holders",
    "the covariances of sums leave out the users' own cells",
    "core.table_law:TableLaw.covariance",
    "own * (whole[one] * held) @ whole[other].T",
    "0 * (whole[one] * held) @ whole[other].T",
    agreeing,
    "the law of sums is not that of cells",
)
plan(
    "law-of-the-other-margin",
    "a margin has the variance of another attribute",
    "core.cross_table:marginal",
    "only = (axis,)",
    "only = (0,)",
    agreeing,
    "the law of a margin is not that of the single attribute",
)
plan(
    "law-not-turned",
    "a table asked for in another order keeps the law of the first",
    "core.table_law:transposed",
    "new[axis] for axis in kept",
    "axis for axis in kept",
    agreeing,
    "a turned table has other variances",
    at="core.accumulator:transposed",
)
plan(
    "report-moves-nothing",
    "the influence of a report leaves out the weights of the components",
    "tables.residuals:Residuals._ends_of",
    "table += weight * own",
    "table += own",
    influence,
    "further than stated",
)

# --- answers -------------------------------------------------------------------------------------------------------

plan(
    "shares-of-known-totals",
    "the row of a share is taken for known without error",
    "core.cross_table:CrossTable.shares_by",
    "+ shares**2 * total_variance",
    "+ 0 * total_variance",
    agreeing,
    "delta method",
)
plan(
    "shares-independent-of-their-totals",
    "a count is taken for independent of the sum that it is a part of",
    "core.cross_table:CrossTable.shares_by",
    "- 2 * shares * ",
    "- 0 * shares * ",
    agreeing,
    "delta method",
)
plan(
    "shares-of-nobody",
    "rows in which nobody is have shares",
    "core.cross_table:CrossTable.shares_by",
    "> CLEAR *",
    "> -9e9 *",
    empty_rows,
    "nobody",
)
plan(
    "lost-groups-not-told",
    "the tally compares no numbers of reports",
    "core.group_numbers:misfits",
    "> limit",
    "> 1e9 * limit",
    lost,
    "not noticed",
    at="core.grouped_accumulator:misfits",
)
plan(
    "lost-groups-not-in-tables",
    "tables do not say that reports were lost",
    "core.accumulator:Accumulator.table",
    '"cautions": self.cautions',
    '"cautions": ()',
    lost,
    "not noticed",
)
plan(
    "independence-without-noise",
    "estimated counts are taken for numbers of people",
    "core.independence:independence_of",
    "covariance = noise + ",
    "covariance = 0 * noise + ",
    independent,
    "said to be related",
    at="core.cross_table:independence_of",
)
plan(
    "independence-of-known-margins",
    "the noises of both margins are multiplied where they exceed the crowd, which in small crowds is most of the noise",
    "core.independence:_bounded",
    "min(1.0, ",
    "max(1.0, 0 * ",
    independent,
    "said to be related",
)
plan(
    "largest-cells-with-plain-intervals",
    "the intervals of the largest cells ignore that they were chosen for being large",
    "core.cross_table:CrossTable.top",
    ".top(k)",
    ".taken(np.argsort(-self.values)[:k])",
    largest,
    "too short",
)
plan(
    "choices-counts-the-noes",
    "the table of all items counts those who have not chosen them",
    "core.cross_table:chosen",
    "np.array([table.counts[CHOSEN] for",
    "np.array([table.counts[0] for",
    items,
    "another count",
    at="core.accumulator:chosen",
)
plan(
    "choices-add-up",
    "the counts of chosen items are said to be those of all users",
    "core.cross_table:chosen",
    "        False,",
    "        True,",
    items,
    "one item each",
    at="core.accumulator:chosen",
)
plan(
    "bound-of-other-cells",
    "the least possible error has the wrong size of a table",
    "core.bound:Workload.of_tables",
    "1 / cells**2",
    "1 / cells",
    planned,
    "least possible",
)
plan(
    "design-leaves-out-pairs",
    "the sets of three forget pairs",
    "tables.designs:covering",
    "left -= set(combinations(sorted(chosen), 2))",
    "left -= {pair for pair in left if set(pair) & set(chosen)}",
    planned,
    "by nobody",
)
plan(
    "sets-of-two-always",
    "the best number of attributes is never looked for",
    "tables.clique:CLIQUE._best",
    "if not least or variance < _BETTER * least:",
    "if not least:",
    planned,
    "not the best",
)
