"""Faults typical of searches, and what must see them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import naive
import naive_client
import plausibly
import trusting
from contract.entries import required
from faults.detectors import Detector, _accepted, _sealed
from faults.planting import Edit
from plausibly import Keys, SeededRandom, Strings
from plausibly.core import codec
from plausibly.core.randomness import TapeSource
from search.planted import sent
from search.test_whole_strings import CROWD as COMMON
from search.test_whole_strings import small

TEXTS = Strings("ab", 3)
WORDS = ["", "a", "b", "ab", "ba", "aab", "bba", "bbb"]
CROWD = ["ab", "ab", "ab", "aab", "", "b", "ba", "ab", "aab"] * 30


def search(name: str, oracle: str = "FLH", word_oracle: str = "FLH", *, epsilon: int = 1, **given: Any) -> Any:
    """A search for texts of two letters; oracles over keys where they can be, with few coins."""
    small: dict[str, Any] = {"start": 1, "step": 1} if name in ("PEM", "TH") else {"hash_bits": 1}
    small |= {"fragment": 1} if name == "SFP" else {}
    parts = {"oracle": part(oracle, epsilon), "word_oracle": part(word_oracle, epsilon)}
    return plausibly.make(name, domain=TEXTS, **{key: parts[key] for key in required(name)}, **{**small, **given})


def part(name: str, epsilon: int = 1) -> plausibly.Scheme:
    """A scheme that a search may ask."""
    if name in ("FLH", "OLH"):
        return plausibly.make(name, epsilon=epsilon, domain=Keys(), **({"hashes": 3} if name == "FLH" else {}))
    return plausibly.make(name, epsilon=epsilon, domain_size=27)


def audit_search(name: str, *oracles: str) -> Detector:
    """The exact audit of a search."""
    shown = " and ".join(oracles) or "FLH"
    return Detector(f"audit of {name} over {shown}", lambda: iter(plausibly.audit(search(name, *oracles)).findings))


def _as_defined() -> Iterator[str]:
    # Of one-byte words every 256th has to look at its rest.
    for name, oracle, count in (*((name, "FLH", 8) for name in naive_client.KEYED_SEARCHES), ("PEM", "OUE", 40)):
        scheme, rng = search(name, oracle, oracle), SeededRandom(2)
        written, client = json.loads(scheme.to_json()), trusting.load(scheme.to_json())
        reports = scheme.privatize(WORDS * count, rng)
        for i, text in enumerate(WORDS * count):
            tape = rng.replay(0).tape(scheme.layout, i)
            wanted = naive_client.record(written, text, naive_client.Tape(tape))
            if client.privatize(text, TapeSource(tape)) != wanted:
                yield f"{name}: a device sends another record than defined"
            if reports[i].tobytes() != wanted:
                yield f"{name}: bulk code makes another record than defined"


as_defined = Detector("searches send what is defined", _as_defined)


def _finds() -> Iterator[str]:
    for name in naive_client.KEYED_SEARCHES:
        # Steps of two symbols, the first of which may be a pad.
        scheme = search(name, "DE", "DE", epsilon=4, **({"step": 2} if name in ("PEM", "TH") else {}))
        reports = scheme.privatize(CROWD, SeededRandom(5))
        tally: Any = scheme.accumulator()
        tally.add(reports)
        if name in ("PEM", "TH") and tally.search(keep=99).trace[-1].candidates != 15:
            yield f"{name} looks at something else than the 15 texts"
        choices: dict[str, Any] = {"k": 40} | ({"keep": 5} if name != "BITSTOGRAM" else {})
        found = tally.search(**choices)
        wanted = naive.SEARCHES[name](json.loads(scheme.to_json()), sent(scheme, reports), **choices)
        if found.items.tolist() != [text for text, _ in wanted]:
            yield f"{name} finds other strings than the slow search"
        elif not np.allclose(found.values, [float(value) for _, value in wanted], rtol=1e-9):
            yield f"{name} counts otherwise than the slow search"


finds = Detector("searches find what slow ones find", _finds)


def _crowds() -> Iterator[str]:
    # As for oracles: 60 seeds, the mean z-score of each string within 6/sqrt(60) of 0 and the mean square within
    # 0.5 of 1. A quarter of the users report whole strings, so that who does is most of the error.
    counts = np.array([3000, 1500, 500, 200, 0])
    texts, scores = WORDS[:5], []
    for seed in range(60):
        seldom_lies = plausibly.make("DE", epsilon=6, domain_size=27)
        scheme = plausibly.make("PEM", oracle=seldom_lies, domain=TEXTS, start=1, step=1, weights=(1, 2, 1))
        tally = scheme.simulate(dict(zip(texts, counts.tolist(), strict=True)), SeededRandom(seed))
        estimates = tally.estimate(texts)
        variance = scheme.variance(int(counts.sum()), counts)
        scores.append((estimates.values - counts) / np.sqrt(variance))
        if abs(float(np.sqrt(estimates.variance[0] / variance[0])) - 1) > 0.5:  # type: ignore[index]
            yield "the variance stated is not that of the law"
    z = np.array(scores)
    if np.abs(z.mean(axis=0)).max() > 6 / math.sqrt(len(z)):
        yield "estimates are biased"
    if abs(float((z**2).mean()) - 1) > 0.5:
        yield "the spread of estimates is not the stated one"


crowds = Detector("crowds of a search", _crowds)


def _counts_of_strings() -> Iterator[str]:
    # 60 seeds of 8 strings in small tables; bounds as for ``_crowds``.
    asked, scores = list(COMMON), []
    for seed in range(60):
        estimates = small(seed).simulate(COMMON, SeededRandom(seed)).estimate(asked)
        assert estimates.variance is not None
        scores.append((estimates.values - list(COMMON.values())) / np.sqrt(estimates.variance))
    z = np.array(scores)
    if np.abs(z.mean(axis=0)).max() > 6 / math.sqrt(len(z)):
        yield "counts of strings are biased"
    if abs(float((z**2).mean()) - 1) > 0.3:
        yield "the spread of the counts is not the stated one"


counts_of_strings = Detector("counts of given strings", _counts_of_strings)


def _chosen() -> Iterator[str]:
    # The ten largest of 100 equal counts, 400 in all: fewer than 90 % hold once in 10,000 times.
    scheme, counts = plausibly.make("OUE", epsilon=3, domain_size=100), dict.fromkeys(range(100), 1000)
    held = 0
    for seed in range(40):
        low, high = scheme.simulate(counts, SeededRandom(seed)).estimate().top(10).interval()
        held += int(((low <= 1000) & (high >= 1000)).sum())
    if held < 0.9 * 400:
        yield "intervals of the largest estimates do not hold"


chosen = Detector("intervals after a choice", _chosen)


def _refused() -> Iterator[str]:
    scheme = search("BITSTOGRAM", "DE", "OLH")
    reports = scheme.privatize(["ab"] * 60, SeededRandom(0))
    header = plausibly.encode_reports(scheme, reports[:1])[:28]

    def forged(**changes: Any) -> bytes:
        record = reports[reports["group"] == 0][:1].copy()
        for key, value in changes.items():
            record[key] = value
        return _sealed(header + record.tobytes())

    body = reports[reports["group"] == 0]["body"][0]
    wrong = {
        "a group that is none": forged(group=len(scheme.groups)),
        "something after a short record": forged(body=[*body[:-1], 1]),
        "a record out of range within": forged(body=[27, *body[1:]]),
    }
    for what, blob in wrong.items():
        yield from _accepted(what, [lambda b=blob: codec.decode_reports(scheme, b)])
    tally = scheme.accumulator()
    tally.add(reports)
    blob = tally.to_bytes()
    numbers = np.frombuffer(blob[28 : 28 + 8 * len(tally.n)], "<i8")
    moved = numbers.copy()
    moved[:2] += [1, -1]
    lie = _sealed(blob[:28] + moved.tobytes() + blob[28 + numbers.nbytes : -4])
    yield from _accepted("users of another group", [lambda: plausibly.Accumulator.from_bytes(scheme, lie)])
    # Bitmaps set as many bits as their coins say: one user more cannot be told from the cells.
    bitmaps = search("BITSTOGRAM", "OUE", "OUE")
    blob = bitmaps.simulate(dict.fromkeys(WORDS, 9), SeededRandom(0)).to_bytes()
    more = np.frombuffer(blob[28 : 28 + numbers.nbytes], "<i8") + 1
    nobody = _sealed(blob[:28] + more.tobytes() + blob[28 + numbers.nbytes : -4])
    yield from _accepted("users from nowhere", [lambda: plausibly.Accumulator.from_bytes(bitmaps, nobody)])


refused = Detector("records and states that no search has made are refused", _refused)


def _states() -> Iterator[str]:
    for oracles in (("FLH", "FLH"), ("OLH", "DE")):
        scheme = search("SFP", *oracles)
        reports = scheme.privatize(CROWD, SeededRandom(0))
        whole, first, second = (scheme.accumulator() for _ in range(3))
        whole.add(reports)
        first.add(reports[:100])
        second.add(reports[100:])
        first.merge(second)
        if len(first) != len(CROWD) or first.to_bytes() != whole.to_bytes():
            yield "merged parts are not the whole"
        try:
            again = plausibly.Accumulator.from_bytes(scheme, whole.to_bytes())
        except plausibly.StateError:
            yield "a state does not come back from its bytes"
        else:
            if again.to_bytes() != whole.to_bytes():
                yield "a state comes back as another"
        simulated = scheme.simulate(dict.fromkeys(WORDS, 30), SeededRandom(1))
        honest = scheme.accumulator()
        honest.add(scheme.privatize([text for text in WORDS for _ in range(30)], SeededRandom(1)))
        if simulated.to_bytes() != honest.to_bytes():
            yield "a simulated crowd is another than an honest one"


states = Detector("states of a search merge, travel and are simulated", _states)

TH, SFP, MIXED = audit_search("TH"), audit_search("SFP"), audit_search("BITSTOGRAM", "DE", "OLH")
PEM = audit_search("PEM")

Plan = tuple[str, str, tuple[Edit, ...], Detector, str]

BULK = "the bulk path and the client differ"
EXCEEDS = "a likelihood ratio exceeds e^epsilon"

PLANS: list[Plan] = [
    (
        "tag-of-the-fragment-on-a-device",
        "fragments of one string no longer have one tag",
        (Edit("device:Tag.of", "0, self.text.length)", "0, 1)"),),
        SFP,
        BULK,
    ),
    (
        "tag-of-the-fragment",
        "the same on the device and in bulk: each is what the other does",
        (
            Edit("device:Tag.of", "0, self.text.length)", "0, 1)"),
            Edit("search.string_parts:Tag.of", "symbol_keys(rows, ", "symbol_keys(rows[:, :1], "),
        ),
        as_defined,
        "SFP: a device sends another record than defined",
    ),
    (
        "tag-without-the-hash-seed",
        "another collection has the same collisions",
        (Edit("search.string_parts:Tag.of", "self.hash_seed", "1 + self.hash_seed"),),
        SFP,
        BULK,
    ),
    (
        "tag-forgotten",
        "fragments are reported without what keeps them together",
        (Edit("search.string_parts:Part.items", "self.tag.of(rows) if self.tag else None", "None"),),
        as_defined,
        "SFP: bulk code makes another record than defined",
    ),
    (
        "group-of-the-next-ticket",
        "a ticket at the edge belongs to the wrong group, on a device",
        (Edit("device:Grouped.public", "ticket >= self.weights[number]", "ticket > self.weights[number]"),),
        PEM,
        BULK,
    ),
    (
        "group-of-the-next-ticket-in-bulk",
        "the same in bulk",
        (Edit("core.grouped:Grouped._groups_of", "tickets >= end", "tickets > end"),),
        PEM,
        BULK,
    ),
    (
        "weights-ignored-by-the-estimate",
        "counts are not scaled up",
        (Edit("core.grouped:Grouped.share", " if part in group", ""),),
        crowds,
        "estimates are biased",
    ),
    (
        "equal-shares-in-the-estimate",
        "counts are scaled up as if all groups had one weight",
        (
            Edit(
                "core.grouped:Grouped.share",
                "zip(self.groups, self.group_weights, strict=True)",
                "[(group, Fraction(sum(self.group_weights), len(self.groups))) for group in self.groups]",
            ),
        ),
        crowds,
        "estimates are biased",
    ),
    (
        "who-reports-is-no-error",
        "the variance forgets that the users of a part are drawn",
        (
            Edit(
                "core.laws:thinned",
                "(law.per_holder + 1 - share) / share",
                "law.per_holder / share",
                at="core.parts:thinned",
            ),
        ),
        crowds,
        "the spread of estimates is not the stated one",
    ),
    (
        "variance-not-scaled-up",
        "the intervals of a part taken for those of the crowd",
        (
            Edit(
                "core.parts:scaled_up_with_unheld",
                "variance / share**2 + np.maximum(values, 0.0) * (1 - share) / share",
                "variance",
            ),
        ),
        crowds,
        "the variance stated is not that of the law",
    ),
    (
        "public-draws-after-private-ones",
        "what the second part draws in public comes after what the first draws in private",
        (
            Edit("device:Grouped.public", "for draw in part.randomizer.public(source)]", "for draw in ()]"),
            Edit(
                "device:Grouped.perturb",
                "own, drawn = drawn[:count], drawn[count:]",
                "own = part.randomizer.public(source)",
            ),
        ),
        TH,
        BULK,
    ),
    (
        "second-part-draws-the-words-of-the-first",
        "both reports of a user have the same noise, in bulk",
        (
            Edit(
                "core.grouped:Grouped.respond",
                "draws.part(chosen, place.columns,",
                "draws.part(chosen, places[0].columns,",
            ),
        ),
        TH,
        BULK,
    ),
    (
        "repeats-of-another-report",
        "one-byte words of a chosen report find the rest of another's",
        (Edit("core.randomness:Draws.tails", "self.chosen[reports]", "reports"),),
        as_defined,
        "PEM: bulk code makes another record than defined",
    ),
    (
        "padding-with-something",
        "what fills up a short record is not zeros",
        (Edit("device:Grouped.perturb", r'b"\0"', r'b"\1"'),),
        MIXED,
        "the server refuses what the client sends",
    ),
    (
        "short-records-not-filled-up",
        "the size of a report tells its group, and more where that depends on the value",
        (Edit("device:Grouped.perturb", r'body.ljust(self.body, b"\0")', "body"),),
        MIXED,
        "the size of a record is not the stated one",
    ),
    (
        "fewer-words-in-a-short-group",
        "how many words are drawn depends on the group",
        (Edit("device:Grouped.perturb", "range(1 + sum(", "range(9 + sum("),),
        MIXED,
        "more or fewer words than it says",
    ),
    (
        "prefix-one-symbol-short-on-a-device",
        "the last character of a prefix is never reported",
        (Edit("device:Symbols.__init__", "= text, first, last, tag", "= text, first, max(first + 1, last - 1), tag"),),
        PEM,
        BULK,
    ),
    (
        "prefix-one-symbol-short",
        "the same at both ends",
        (
            Edit("device:Symbols.__init__", "= text, first, last, tag", "= text, first, max(first + 1, last - 1), tag"),
            Edit(
                "search.prefixes:prefix_part",
                "strings, 0, length,",
                "strings, 0, max(1, length - 1),",
                at="search.prefix_extending:prefix_part",
            ),
        ),
        as_defined,
        "PEM: a device sends another record than defined",
    ),
    (
        "symbols-in-another-order",
        "the last symbol the highest",
        (Edit("device:Strings.cut", "(self.length - last) %", "first %"),),
        PEM,
        BULK,
    ),
    (
        "budgets-not-added-up",
        "two reports are sent for the price of one",
        (
            Edit(
                "core.grouped:Grouped.spent",
                "sum((self.parts[i].scheme.epsilon for i in group), Fraction(0))",
                "max(self.parts[i].scheme.epsilon for i in group)",
            ),
        ),
        TH,
        EXCEEDS,
    ),
    (
        "ratios-not-multiplied",
        "the client states the worst ratio of one of its two reports",
        (
            Edit(
                "device:Grouped.worst_ratio",
                "ratio *= part.randomizer.worst_ratio()",
                "ratio = part.randomizer.worst_ratio()",
            ),
        ),
        TH,
        "a likelihood ratio exceeds the worst one that the client states",
    ),
    (
        "likelihoods-not-multiplied",
        "the stated likelihood is that of one of two reports",
        (Edit("core.grouped:Grouped.likelihood", "likelihood *= part", "likelihood = part"),),
        SFP,
        "the stated likelihood is not the client's law",
    ),
    (
        "budget-of-the-first-group",
        "the group that spends most is not the first",
        (Edit("device:Grouped.worst_ratio", "worst = max(worst, ratio)", "worst = worst if worst > 1 else ratio"),),
        Detector("audit of BITSTOGRAM with unlike parts", lambda: iter(plausibly.audit(unlike()).findings)),
        "a likelihood ratio exceeds the worst one that the client states",
    ),
    (
        "ended-strings-are-not-extended",
        "strings shorter than the longest are never found",
        (
            Edit(
                "search.prefixes:extensions",
                "np.hstack([prefixes[ended], pads])",
                "np.hstack([prefixes[ended], pads])[:0]",
            ),
        ),
        finds,
        "PEM finds other strings than the slow search",
    ),
    (
        "pads-inside",
        "what cannot be a string is a candidate",
        (Edit("search.prefixes:inner_pads", "(rows[:, 1:] != 0)", "(rows[:, 1:] > 9)"),),
        finds,
        "TH looks at something else than the 15 texts",
    ),
    (
        "puzzle-without-the-own-tag",
        "pieces of several strings make up another",
        (
            Edit(
                "search.fragments:joined_fragments",
                "whole[tag.of(whole) == common]",
                "whole",
                at="search.fragment_puzzle:joined_fragments",
            ),
        ),
        finds,
        "SFP finds other strings than the slow search",
    ),
    (
        "bucket-named-by-its-rarest-symbols",
        "argmin for argmax",
        (Edit("search.bitstogram:BITSTOGRAM.search", "values.argmax(axis=0)", "values.argmin(axis=0)"),),
        finds,
        "BITSTOGRAM finds other strings than the slow search",
    ),
    (
        "worst-prefixes-kept",
        "the sign of a sort",
        (Edit("search.prefixes:Choices.best", "np.argsort(-values", "np.argsort(values"),),
        finds,
        "PEM finds other strings than the slow search",
    ),
    (
        "group-out-of-range-accepted",
        "a report of a group that does not exist",
        (
            Edit(
                "core.grouped:Grouped.records_by_part",
                'refuse_beyond(reports["group"], len(self.groups),',
                'refuse_beyond(reports["group"], 99,',
            ),
            # The kernel would refuse it, too.
            Edit("core.grouped:Grouped._by_group", "group_order(groups,", "group_order(groups % len(self.groups),"),
        ),
        refused,
        "a group that is none is accepted",
    ),
    (
        "padding-not-checked",
        "a report may carry a message",
        (Edit("core.grouped:Grouped._check_padding", "if padding.any():", "if False:"),),
        refused,
        "something after a short record is accepted",
    ),
    (
        "records-within-not-checked",
        "the oracle's part of a report may be anything",
        (Edit("core.grouped:Grouped._check_part", "scheme.check(records)", "pass"),),
        refused,
        "a record out of range within is accepted",
    ),
    (
        "users-of-groups-do-not-add-up",
        "users appear from nowhere",
        (Edit("core.grouped_accumulator:GroupedAccumulator.restore", "sum(n.tolist()) != count", "False"),),
        refused,
        "users from nowhere is accepted",
    ),
    (
        "users-lost-in-merging",
        "the parts are added, their users are not",
        (Edit("core.grouped_accumulator:GroupedAccumulator.unite", "self.n + other.n", "self.n"),),
        states,
        "merged parts are not the whole",
    ),
    (
        "parts-saved-in-another-order",
        "each part reads what another has written",
        (
            Edit(
                "core.grouped_accumulator:GroupedAccumulator.to_payload",
                "for part in self.parts",
                "for part in reversed(self.parts)",
            ),
        ),
        states,
        "a state does not come back from its bytes",
    ),
    (
        "simulated-users-miscounted",
        "the users of a group are counted in its neighbour, by simulation alone",
        (
            Edit(
                "core.grouped_accumulator:GroupedAccumulator._absorb_alone",
                "self.n + added",
                "self.n + np.roll(added, 1)",
            ),
        ),
        states,
        "a simulated crowd is another than an honest one",
    ),
    (
        "shared-cells-not-solved",
        "a string in a cell of another also gets the other's users",
        (Edit("search.whole_strings:_Reading._mixed", "met.weight[both])", "0 * met.weight[both])"),),
        counts_of_strings,
        "the spread of the counts is not the stated one",
    ),
    (
        "groups-that-do-not-see-the-end",
        "a prefix is counted as the string",
        (Edit("search.whole_strings:Group.sees", "lengths < self.part.last", "lengths <= self.part.last"),),
        counts_of_strings,
        "counts of strings are biased",
    ),
    (
        "groups-as-if-independent",
        "the variance of the mean of several groups is that of one",
        (Edit("search.whole_strings:_Reading._variance", "least += weight**2 *", "least += weight *"),),
        counts_of_strings,
        "the spread of the counts is not the stated one",
    ),
    (
        "choice-forgotten",
        "the largest estimates have the intervals of items chosen beforehand",
        (Edit("core.estimates:Estimates.interval", "self.selection is not None", "False"),),
        chosen,
        "intervals of the largest estimates do not hold",
    ),
    (
        "cut-too-low",
        "the largest estimates are compared with nothing instead of the others",
        (Edit("core.selection:Selection.interval", "least[told]", "0 * least[told]"),),
        chosen,
        "intervals of the largest estimates do not hold",
    ),
]


def unlike() -> Any:
    """A search whose last group spends more than the others."""
    louder = plausibly.make("FLH", epsilon=2, domain=Keys(), hashes=3)
    return plausibly.make("BITSTOGRAM", oracle=part("FLH"), word_oracle=louder, domain=TEXTS, hash_bits=1)
