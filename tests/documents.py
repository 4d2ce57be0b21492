"""Scheme documents to attack a client with: small honest ones, and mutations that know what a document is made of."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import naive_client as naive
import plausibly
from plausibly.core.probability import keep_threshold

Fields = dict[str, Any]
Place = tuple[Any, Any]
"""A container and the key or index of something in it."""

EPSILONS = ("1/100", "1/2", "1", "2")


def honest() -> list[Fields]:
    """Documents of every scheme of the catalogue, over every kind of domain, whose coins can be enumerated."""
    made: list[plausibly.Scheme] = []
    for epsilon in EPSILONS:
        half = str(Fraction(epsilon) / 2)
        for domain in ({"domain_size": 5}, {"domain": ["yes", "no"], "other": True}):
            made += [plausibly.make(name, epsilon=epsilon, **domain) for name in ("DE", "OUE", "SUE", "HM", "SS")]
            made += [plausibly.make(name, epsilon=epsilon, **domain) for name in ("THE", "BLH", "OLH", "TLH", "AGR")]
            made += [plausibly.make("HR", epsilon=epsilon, variant=v, **domain) for v in ("pure", "block")]
            made.append(plausibly.make("FLH", epsilon=epsilon, hashes=3, hash_seed=2**60, **domain))
        made += [plausibly.make(name, epsilon=epsilon, domain=plausibly.Keys()) for name in ("OLH", "TLH")]
        cells = plausibly.make("DE", epsilon=epsilon, domain_size=4)
        for domain in ({"domain_size": 9}, {"domain": plausibly.Keys(2**55)}):
            made += [plausibly.make(name, oracle=cells, rows=2, **domain) for name in ("CM", "CS")]
            made.append(plausibly.make("BLOOM", epsilon=epsilon, bits=3, hashes=1, cohorts=2, **domain))
            made.append(plausibly.make("BLOOM", oracle=cells, hashes=2, cohorts=2, **domain))
        for strings in (plausibly.Strings("ab", 2, other=True), plausibly.Strings(b"\x00\x61", 2)):
            made += _searches(epsilon, half, strings)
    return [json.loads(scheme.to_json()) for scheme in made]


def _searches(epsilon: str, half: str, strings: plausibly.Strings) -> Iterator[plausibly.Scheme]:
    def listed(size: int, name: str = "DE", at: str = epsilon) -> plausibly.Scheme:
        return plausibly.make(name, epsilon=at, domain_size=size)

    count = strings.symbols**2
    yield plausibly.make("PEM", oracle=listed(count), start=1, step=1, domain=strings)
    keyed = plausibly.make("OLH", epsilon=epsilon, domain=plausibly.Keys())
    yield plausibly.make("PEM", oracle=keyed, start=1, step=1, domain=strings)
    both = {"oracle": listed(2 * count, at=half), "word_oracle": listed(count, at=half)}
    yield plausibly.make("TH", start=1, step=1, domain=strings, **both)
    yield plausibly.make("SFP", fragment=1, hash_bits=1, domain=strings, **both)
    both = {"oracle": listed(2 * count), "word_oracle": listed(count, "HR")}
    yield plausibly.make("BITSTOGRAM", hash_bits=1, domain=strings, **both)
    prefixes = [strings.alphabet[:1]]
    yield plausibly.make("ROUND", oracle=listed(count + 1), prefixes=prefixes, stem=1, reach=2, domain=strings)
    tables = {"letters": listed(strings.symbols), "first": listed(strings.symbols, "SS"), "folded": listed(8)}
    yield plausibly.make("TRELLIS", weights=[1, 2, 3, 4], start=1, step=1, cohorts=1, domain=strings, **tables)


def honest_splits() -> list[Fields]:
    """Documents of the searches that split their users, or ask for fragments alone, instead of splitting the budget."""
    made: list[plausibly.Scheme] = []
    for epsilon in EPSILONS:
        for strings in (plausibly.Strings("ab", 2, other=True), plausibly.Strings(b"\x00\x61", 2)):
            count = strings.symbols**2
            oracle = plausibly.make("DE", epsilon=epsilon, domain_size=2 * count)
            words = plausibly.make("HR", epsilon=epsilon, domain_size=count)
            given: Fields = {"oracle": oracle, "word_oracle": words, "domain": strings, "split": "users"}
            made.append(plausibly.make("TH", start=1, step=1, **given))
            made.append(plausibly.make("SFP", fragment=1, hash_bits=1, **given))
            given |= {"word_oracle": None, "split": "none"}
            made.append(plausibly.make("SFP", fragment=1, hash_bits=1, **given))
    return [json.loads(scheme.to_json()) for scheme in made]


def honest_normalizing() -> list[Fields]:
    """Documents of schemes whose domains normalize, by one step and by several."""
    made: list[plausibly.Scheme] = []
    for epsilon in EPSILONS:
        for steps in ("lower", "nfc,strip", "nfc,lower,strip"):
            made.append(plausibly.make("DE", epsilon=epsilon, domain=["yes", "né"], other=True, normalize=steps))
            made.append(plausibly.make("OLH", epsilon=epsilon, domain=plausibly.Keys(3, steps)))
            strings = plausibly.Strings("a ", 2, other=True, normalize=steps)
            keyed = plausibly.make("OLH", epsilon=epsilon, domain=plausibly.Keys())
            made.append(plausibly.make("PEM", oracle=keyed, start=1, step=1, domain=strings))
    return [json.loads(scheme.to_json()) for scheme in made]


def honest_ordered() -> list[Fields]:
    """Documents of schemes over ordered values of every kind, with an item for others and without."""
    ordered = plausibly.Ordered
    domains = [
        ordered(-2, 3),
        ordered(0, 4, other=True, infinite="clamp", unit="years"),
        ordered.bins([-1, 0, 0.5, 8]),
        ordered.bins([0, 2.5, 1e16], other=True, unit="mg"),
        ordered.dates("2026-02-27", "2026-03-02", other=True),
        ordered.durations(0, 3, unit="min"),
    ]
    made = [plausibly.make("DE", epsilon=epsilon, domain=domain) for epsilon in EPSILONS for domain in domains]
    made += [plausibly.make(name, epsilon=1, domain=domain) for name in ("OLH", "OUE") for domain in domains]
    return [json.loads(scheme.to_json()) for scheme in made]


def honest_blocks() -> list[Fields]:
    """Documents of the schemes for values in order, whose users report blocks of them."""
    bins = plausibly.Ordered.bins([0, 1, 2.5, 9, 10, 11, 12])
    domains = [plausibly.Integers(5), plausibly.Ordered(0, 4, other=True), bins]
    kinds = [(name, epsilon) for name in ("SLIDE", "HH", "HAAR") for epsilon in EPSILONS]
    made = [plausibly.make(name, epsilon=epsilon, domain=domain) for name, epsilon in kinds for domain in domains]
    return [json.loads(scheme.to_json()) for scheme in made]


def honest_places() -> list[Fields]:
    """Documents of the schemes for values in order, whose users report a place near them, or a bit."""
    domains = [plausibly.Integers(5), plausibly.Ordered.bins([0, 1, 2.5, 9, 10]), plausibly.Ordered(-1, 1)]
    kinds = [(name, epsilon) for name in ("SW", "MEAN") for epsilon in EPSILONS]
    made = [plausibly.make(name, epsilon=epsilon, domain=domain) for name, epsilon in kinds for domain in domains]
    return [json.loads(scheme.to_json()) for scheme in made]


def honest_tables() -> list[Fields]:
    """Documents of the schemes for records, with every kind of attribute."""
    survey = plausibly.Table({"browser": ["a", "b"], "age": plausibly.Ordered(0, 3), "plan": 2})
    tables = [survey, plausibly.Table({"q": 2, "r": 3, "s": 2}, missing=["q"])]
    made = [
        plausibly.make(name, epsilon=epsilon, domain=t) for name in naive.TABLES for epsilon in EPSILONS for t in tables
    ]
    return [json.loads(scheme.to_json()) for scheme in made]


# --- mutations ------------------------------------------------------------------------------------------------------

NUMBERS = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 31, 32, 64, 255, 256, 257)
LARGE = (2**16, 2**16 + 1, 2**24, 2**24 + 2, 2**32, 2**32 + 1, 2**53, 2**63, 2**64)
ODD = (
    None,
    True,
    False,
    2.0,
    2.9,
    "",
    "2",
    " 2",
    "1_0",
    "+2",
    "02",
    "\u0663",
    "2.0",
    [],
    {},
    [2],
    {"size": 2},
    "\ud800",
)
STATED = (
    "1/100",
    "1/200",
    "1/4",
    "1/3",
    "1/2",
    "2/4",
    "1",
    "1/1",
    "2",
    "3",
    "0",
    "-1",
    "1e3",
    "1/0",
    "\u0661",
    "1000",
    "1001",
)


def mutations(seed: int, bases: list[Fields] | None = None) -> Iterator[str]:
    """Documents with one to four changes each, for ever; some are still honest."""
    random, bases = Random(seed), honest() if bases is None else bases
    while True:
        document = copy.deepcopy(random.choice(bases))
        for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
            _mutate(random, document, bases)
        if random.random() < 0.5:
            _fit_thresholds(random, document)
        text = json.dumps(document)
        yield _repeat_a_field(random, document, text) if random.random() < 0.03 else text


def _mutate(random: Random, document: Fields, bases: list[Fields]) -> None:
    places = list(_places(document))
    if not places:
        return
    container, key = random.choice(places)
    other = random.choice(bases)
    kind = random.randrange(12)
    if kind < 3:
        container[key] = _another(random, container[key], key)
    elif kind == 3:
        container[key] = copy.deepcopy(random.choice(ODD))
    elif kind == 4:
        # What stands under the same name elsewhere: another scheme's domain, oracle, threshold, name.
        container[key] = _found_elsewhere(random, other, key, container[key])
    elif kind == 5:
        del container[key]
    elif kind == 6 and isinstance(container, dict):
        container[random.choice(["sizes", "Size", "size", "keep ", "domain"])] = container.pop(key)
    elif kind in (7, 8):
        # A field that belongs to another kind of object.
        objects = [document, *(value for value in _values(document) if isinstance(value, dict))]
        name, value = random.choice(
            [item for found in (*_values(other), other) if type(found) is dict for item in found.items()]
        )
        random.choice(objects)[name] = copy.deepcopy(value)
    elif kind == 9:
        domains = [value for value in _values(document) if isinstance(value, dict) and "type" in value]
        if domains:
            random.choice(domains)["size"] = random.choice((2, 3, 4, 5, 8, 9))
    elif kind == 10:
        document["epsilon"] = random.choice((random.choice(STATED), _share_of(random, document.get("epsilon"))))
    else:
        domains = [value for value in _values(document) if isinstance(value, dict) and "type" in value]
        if domains:
            random.choice(domains)["type"] = random.choice(["integers", "labels", "keys", "strings", "byte strings"])


def _share_of(random: Random, epsilon: Any) -> Any:
    try:
        return str(Fraction(epsilon) * random.choice((Fraction(1, 2), Fraction(99, 100), 2)))
    except (TypeError, ValueError, ZeroDivisionError):
        return epsilon


def _another(random: Random, value: Any, key: Any) -> Any:
    if type(value) is int:
        return random.choice(
            (value + 1, value - 1, 2 * value, value // 2, random.choice(NUMBERS), random.choice(LARGE), str(value))
        )
    if type(value) is bool:
        return not value
    if type(value) is str and value.isdecimal() and key != "epsilon":
        number = int(value)
        return random.choice(
            (str(number + 1), str(number - 1), str(2**64 - number), "0", "1", str(2**64), number, value + " ")
        )
    if type(value) is str:
        return random.choice((value[:-1], value + value, value + "c", value.upper(), value[:1]))
    if type(value) is list:
        return random.choice((value[:-1], value + value[-1:], value[::-1], [*value, 1], [*value, "x"]))
    return copy.deepcopy(random.choice(ODD))


def _found_elsewhere(random: Random, other: Fields, key: Any, value: Any) -> Any:
    alike = [
        container[name] for container, name in _places(other) if name == key or type(container[name]) is type(value)
    ]
    return copy.deepcopy(random.choice(alike)) if alike else value


def _fit_thresholds(random: Random, document: Fields) -> None:
    # As an attacker would: the largest probability that some reading of the document allows.
    for holder in [document, *(value for value in _values(document) if isinstance(value, dict))]:
        if isinstance(holder.get("keep"), str):
            try:
                epsilon = Fraction(holder.get("epsilon"))
                if not 0 < epsilon <= 1000:  # e^0 is no irrational number, and its threshold is never decided
                    continue
                inside, outside = random.randint(1, 4), random.choice((1, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31))
                holder["keep"] = str(keep_threshold(epsilon, inside, outside))
            except (TypeError, ValueError, ArithmeticError):
                pass


def _repeat_a_field(random: Random, document: Fields, text: str) -> str:
    name = random.choice(["epsilon", "keep", "domain", "scheme"])
    first = {"epsilon": random.choice(STATED), "keep": "1", "scheme": "DE"}.get(name, {"type": "integers", "size": 2})
    return "{" + json.dumps(name) + ": " + json.dumps(first) + ", " + text[1:] if len(text) > 2 else text


def _places(node: Any) -> Iterator[Place]:
    if isinstance(node, dict | list):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            yield node, key
            yield from _places(node[key])


def _values(node: Any) -> list[Any]:
    return [container[key] for container, key in _places(node)]


# --- what a document says -------------------------------------------------------------------------------------------


def stated_epsilon(text: str) -> Fraction:
    """The smallest epsilon that a reader of the text can find in it, whichever of two fields they take."""
    found: list[str] = []

    def keep_all(pairs: list[tuple[str, Any]]) -> Fields:
        if any(name == "scheme" for name, _ in pairs):
            found.clear()  # inner objects end first: the last ones are the whole's
            found.extend(value for name, value in pairs if name == "epsilon")
        return dict(pairs)

    json.loads(text, object_pairs_hook=keep_all)
    return min(map(Fraction, found))


def values_of(text: str, most: int = 40) -> list[Any]:
    """All values of the document's domain, or the first, the last and others in between where there are more."""
    domain = json.loads(text)["domain"]
    kind = domain["type"]
    if kind == "integers":
        return _spread(range(domain["size"]), most)
    if kind == "labels":
        return _spread([*domain["labels"], *(["unheard of"] if domain["other"] else [])], most)
    if kind in naive.ORDERED:
        starts = _spread(naive.starts_of(domain), most)
        numbers = [str(start) if kind == "dates" else float(start) for start in starts]
        return [*numbers, *([None] if "other" in domain else [])]
    if kind == "table":
        columns = [values_of(json.dumps({"domain": each["domain"]}), 5) for each in domain["attributes"]]
        # Neither client takes bytes in a record.
        columns = [[value for value in own if not isinstance(value, bytes)] for own in columns]
        columns = [[*own, *[None] * each["missing"]] for own, each in zip(columns, domain["attributes"], strict=True)]
        return [[own[i % len(own)] for own in columns] for i in range(10)]
    if kind == "choices":
        items = [*domain["items"], *["unheard of"] * domain["other"]]
        return [[item for j, item in enumerate(items) if i >> j % 5 & 1] for i in range(32)]
    if kind == "keys":
        return ["", "a", "b", b"a", 5, "5", "x" * 100]
    alphabet: Any = bytes.fromhex(domain["alphabet"]) if kind == "byte strings" else domain["alphabet"]
    characters = [alphabet[i : i + 1] for i in range(len(alphabet))] + (["\u2603"] if domain["other"] else [])
    empty = alphabet[:0]
    texts = [
        empty.join(text)
        for length in range(min(domain["length"], 3) + 1)
        for text in product(_spread(characters, 4), repeat=length)
    ]
    return _spread([*texts, characters[0] * min(domain["length"], 300)], most)


def _spread(items: Any, most: int) -> list[Any]:
    count = len(items)
    chosen = range(count) if count <= most else sorted({i * (count - 1) // (most - 1) for i in range(most)})
    return [items[i] for i in chosen]
