"""Planted faults of SLIDE: the client, the bulk path, the equations, the laws of sums, and what must be refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import naive
import naive_client
import plausibly
import trusting
import vectors
from faults.detectors import Detector, _accepted
from faults.planting import Edit
from plausibly import Ordered, SeededRandom
from plausibly.core.randomness import TapeSource
from plausibly.ordered.families import family

LAW = "the stated likelihood is not the client's law"
BIAS = "the estimate is biased"
VARIANCE = "the variance is not the stated one"
RATIO = "a likelihood ratio exceeds the worst one that the client states"
TWIN = "other answers than the slow twin"

SMALL: dict[str, Any] = {"epsilon": 1, "domain": Ordered(1, 6, other=True), "widths": (1, 2, 3), "weights": (3, 1, 2)}
# The last width is cut at every second place.
WIDE: dict[str, Any] = {"epsilon": 2, "domain": Ordered(1, 1200, other=True), "widths": (1, 30, 400)}


def _audited() -> Iterator[str]:
    # What is kept of the equations must be that of the code that runs.
    family.cache_clear()
    yield from plausibly.audit(plausibly.make("SLIDE", **SMALL)).findings
    family.cache_clear()


audited = Detector("audit of SLIDE", _audited)


def _as_defined() -> Iterator[str]:
    for given in (SMALL, WIDE):
        scheme, rng = plausibly.make("SLIDE", **given), SeededRandom(2)
        written, client = json.loads(scheme.to_json()), trusting.load(scheme.to_json())
        values = [*range(1, given["domain"].size, 1 + given["domain"].size // 60), None] * 4
        reports = scheme.privatize(values, rng)
        for i, value in enumerate(values):
            tape = rng.replay(0).tape(scheme.layout, i)
            wanted = naive_client.record(written, value, naive_client.Tape(tape))
            if client.privatize(value, TapeSource(tape)) != wanted:
                yield "a device sends another record than defined"
            if reports[i].tobytes() != wanted:
                yield "bulk code makes another record than defined"


as_defined = Detector("SLIDE sends what is defined", _as_defined)


def _as_the_twin() -> Iterator[str]:
    family.cache_clear()
    scheme = plausibly.make("SLIDE", **SMALL)
    reports = scheme.privatize([1, 2, 2, 5, 6, None, 6, 3] * 20, SeededRandom(3))
    tally = scheme.accumulator()
    tally.add(reports)
    questions = np.array([[0, 1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6, 0]], dtype=float)
    decoder: Any = scheme.estimator()
    found = [*decoder.linear(tally.evidence, tally.n).weighted(questions), tally.estimate().values]
    twin = naive.Slide(json.loads(scheme.to_json()))
    wanted = [*twin.answers(naive.fields(reports), questions), twin.counts(naive.fields(reports))]
    for what, mine, slow in zip(("sums", "variances of sums", "counts"), found, wanted, strict=True):
        if not np.allclose(mine, slow, rtol=1e-9):
            yield f"{what}: {TWIN}"
    family.cache_clear()


as_the_twin = Detector("SLIDE answers as its slow twin", _as_the_twin)


def _refused() -> Iterator[str]:
    path = Path(vectors.__path__[0]) / "SLIDE.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    schemes = [plausibly.from_json(json.dumps(listed["fields"])) for listed in content["schemes"]]
    for each in content["broken"]["records"]:
        scheme, record = schemes[each["scheme"]], bytes.fromhex(each["bytes"])
        read = np.frombuffer(record, dtype=scheme.report_dtype)
        yield from _accepted(f"a record with {each['why']}", [lambda s=scheme, r=read: s.check(r)])
    for each in content["broken"]["schemes"]:
        if each["client"]:
            text = json.dumps(each["fields"])
            yield from _accepted(f"on a device, {each['why']}", [lambda t=text: trusting.load(t)])


refused = Detector("broken records and schemes of SLIDE are refused", _refused)

PLANS: list[tuple[Any, ...]] = []


def plan(id: str, breaks: str, step: Edit, by: Detector, sees: str) -> None:
    PLANS.append((f"slide-{id}", breaks, (step,), by, sees))


plan(
    "client-forgets-the-step",
    "the blocks of a device are moved by the number of the offset, not by the offset",
    Edit("device:Blocks.perturb", "offset * self.step", "offset"),
    as_defined,
    "a device sends another record than defined",
)
plan(
    "client-off-by-one",
    "the blocks of a device begin one item late",
    Edit("device:Blocks.perturb", "(value + offset", "(max(value, 1) - 1 + offset"),
    as_defined,
    "a device sends another record than defined",
)
plan(
    "client-other-in-the-last-block",
    "a missing value is reported as one of the largest",
    Edit("device:Blocks.perturb", "else self.blocks + value", "else self.blocks - 1 + value"),
    as_defined,
    "a device sends another record than defined",
)
plan(
    "client-states-no-loss",
    "a device takes any scheme, because blocks seem to reveal nothing",
    Edit("device:Blocks.worst_ratio", "self.oracle.worst_ratio()", "Fraction(1)"),
    audited,
    RATIO,
)
plan(
    "client-takes-any-oracle",
    "the oracle of a device has fewer items than there are blocks",
    Edit("device:Blocks.__init__", "or oracle.size != self.blocks + items - length", ""),
    refused,
    "on a device, ",
)
plan(
    "bulk-forgets-the-step",
    "the same in bulk code",
    Edit("ordered.slide:SLIDE._table", "windows.step", "1"),
    as_defined,
    "bulk code makes another record than defined",
)
plan(
    "bulk-other-in-the-last-block",
    "the same in bulk code",
    Edit("ordered.slide:SLIDE._table", "windows.blocks,", "windows.blocks - 1,"),
    as_defined,
    "bulk code makes another record than defined",
)
plan(
    "bulk-last-offset-never-drawn",
    "bulk code has one offset less",
    Edit("ordered.slide:SLIDE._table", "end, windows.offsets", "end, max(1, windows.offsets - 1)"),
    as_defined,
    "bulk code makes another record than defined",
)
plan(
    "likelihood-at-the-first-offset",
    "the stated likelihood is that of a report with another offset",
    Edit("ordered.blocks:Blocks.likelihood", 'np.array([report["offset"]]', 'np.array([0 * report["offset"]]'),
    audited,
    LAW,
)
plan(
    "offsets-not-checked",
    "a report of an offset that does not exist is counted somewhere",
    Edit("ordered.blocks:Blocks.check", '(reports["offset"], self', '(0 * reports["offset"], self'),
    refused,
    "a record with an offset too many",
)
plan(
    "blocks-not-checked",
    "a report may support every block",
    Edit("ordered.blocks:Blocks.check", 'self.oracle.check(reports["report"])', "pass"),
    refused,
    "a record with a subset of another size",
)
plan(
    "shares-swapped",
    "the equations take the shares of the widths in another order",
    Edit("ordered.slide:SLIDE.system", "self.share(i)", "self.share(len(self.parts) - 1 - i)"),
    audited,
    BIAS,
)
plan(
    "offsets-mirrored",
    "the counts of the blocks of an offset are added to those of the opposite one",
    Edit("ordered.windows:Windows.of_blocks", "table[::-1].T", "table.T"),
    audited,
    BIAS,
)
plan(
    "windows-one-step-off",
    "the score of an item has a window that does not contain it",
    Edit("ordered.windows:Windows.spread", "[..., self.offsets - 1 :", "[..., self.offsets - 2 + (self.offsets < 2) :"),
    as_the_twin,
    TWIN,
)
plan(
    "other-item-not-scored",
    "the equations forget the reports of the item outside the order",
    Edit("ordered.sliding:Sliding._scores_by_width", "table[:, -1].sum()", "0.0"),
    audited,
    BIAS,
)
plan(
    "users-forgotten",
    "counts do not add up to the number of users, although it is known",
    Edit("ordered.system:System.counts", "(n - solved.sum())", "0.0"),
    as_the_twin,
    f"counts: {TWIN}",
)
plan(
    "covariance-of-the-holder-dropped",
    "subsets are taken for independent bits: intervals are too short",
    Edit("core.laws:VarianceLaw.contrast", " - 2 * self.covariance[1]", ""),
    audited,
    VARIANCE,
)
plan(
    "covariance-of-others-dropped",
    "the same for two blocks of others",
    Edit("core.laws:VarianceLaw.contrast", " - self.covariance[0]", ""),
    audited,
    VARIANCE,
)
plan(
    "own-weight-with-the-level",
    "the variance of a sum takes off the square of the wrong mean",
    Edit("ordered.system:Questions.variance", "(self.weights - self.level[:, None])", "self.weights"),
    as_the_twin,
    f"variances of sums: {TWIN}",
)
plan(
    "other-item-without-noise",
    "the variance leaves out the item outside the order",
    Edit("ordered.system:System.solved_by", "fixed += width.noise * alone", "fixed += 0.0 * alone"),
    as_the_twin,
    f"variances of sums: {TWIN}",
)
plan(
    "variance-without-the-holders",
    "the variance of a count leaves out what its holders add",
    Edit("ordered.families:Family.variance", "n * self.fixed + self._held(counts)", "n * self.fixed"),
    audited,
    VARIANCE,
)
