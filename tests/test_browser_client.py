"""The JavaScript client: its bundle, its sizes, and the same answers as device.py, in node and in Chromium."""

from __future__ import annotations

import gzip
import json
import random
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from hashlib import sha384
from pathlib import Path
from typing import Any

import pytest

import browsing
import naive_client as naive
import plausibly
from contract.entries import NAMES as ENTRIES
from contract.entries import SCHEMES, build
from contract.test_sampler import assert_follows
from plausibly import Choices, Integers, Keys, Labels, Ordered, Scheme, Strings, Table, device
from plausibly.core.errors import PlausiblyError
from relatives import RELATIVES
from test_hostile_documents import text_of
from test_vectors import NAMES, questions
from trusting import load
from vectors import normalized

KILOBYTE = 1024


# --- the files ----------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_bundle_integrity_and_types_are_those_of_the_source(tmp_path: Path) -> None:
    browsing.run_node(browsing.CLIENT / "build.mjs", str(browsing.TOOLS), str(tmp_path))
    for folder in ("dist", "types"):
        made = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / folder).iterdir()}
        kept = {path.name: path.read_text(encoding="utf-8") for path in (browsing.CLIENT / folder).iterdir()}
        assert made == kept, "run: make client"


def test_the_integrity_is_that_of_the_bundle() -> None:
    digest = b64encode(sha384(browsing.BUNDLE.read_bytes()).digest()).decode()
    assert browsing.BUNDLE.with_suffix(".js.integrity").read_text().strip() == f"sha384-{digest}"


def test_the_client_has_the_version_of_the_package_and_no_dependency() -> None:
    package = json.loads((browsing.CLIENT / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == plausibly.__version__
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & package.keys()


SMALL = {"oracles": "oracles", "sketches": "sketches"}
BEFORE_ORDER = SMALL | {"searches": "searches"}
LATER = {name: name for name in ("normalizing", "ordered", "tables", "memos")} | {"orderedSchemes": "ordered-schemes"}


def size_of(families: dict[str, str], *, sends: bool, repeats: bool = False) -> int:
    """Bytes of a page's client with some families, minified and gzipped; ``repeats``: with the rota."""
    lines = [f'import {{ {name} }} from "./{module}.js";' for name, module in families.items()]
    lines += ['import { loader } from "./core.js";', f"export const load = loader({', '.join(families)});"]
    if sends:
        lines += ['import { joiner } from "./collector.js";', f"export const join = joiner(load{', rota' * repeats});"]
    if repeats:
        lines += ['import { rota } from "./rota.js";']
    build = browsing.CLIENT / "build.mjs"
    made = browsing.run_node(build, str(browsing.TOOLS), ".", "print", given="\n".join(lines))
    return len(gzip.compress(made.encode(), 9, mtime=0))


@pytest.mark.full
def test_pages_load_few_bytes() -> None:
    assert size_of(BEFORE_ORDER, sends=True) <= 8 * KILOBYTE
    assert size_of(SMALL, sends=True) <= 6.5 * KILOBYTE
    assert size_of(SMALL, sends=False) <= 5 * KILOBYTE


@cache
def added_by(family: str) -> int:
    """Bytes that a later family adds to a page."""
    return size_of(BEFORE_ORDER | {family: LATER[family]}, sends=True) - size_of(BEFORE_ORDER, sends=True)


@pytest.mark.full
@pytest.mark.parametrize("family", LATER)
def test_a_later_family_adds_few_bytes(family: str) -> None:
    assert 0 < added_by(family) <= 1.5 * KILOBYTE


@cache
def added_by_the_rota() -> int:
    return size_of(BEFORE_ORDER, sends=True, repeats=True) - size_of(BEFORE_ORDER, sends=True)


@pytest.mark.full
def test_the_rota_adds_few_bytes() -> None:
    assert 0 < added_by_the_rota() <= 1.5 * KILOBYTE


GUIDE = (browsing.CLIENT.parents[1] / "docs" / "browser.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_the_guide_states_the_bytes() -> None:
    table = GUIDE.partition("| modules |")[2].partition("\n\n")[0]
    stated = [int(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]*\b", table)]
    sizes = [size_of(families, sends=sends) for families in (SMALL, BEFORE_ORDER) for sends in (False, True)]
    # Another version of zlib may pack a little better or worse.
    assert stated == pytest.approx([*sizes, *map(added_by, LATER), added_by_the_rota()], rel=0.01)


def test_the_guide_has_every_message_and_every_name() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (browsing.CLIENT / "src").glob("*.js"))
    messages = [*re.findall(r'refuse\([`"]([^`"]+)[`"]', source), *re.findall(r'distrust\("([^"]+)"', source)]
    messages.remove("expected the ${expected}")  # the others of distrust
    assert len(messages) >= 11
    for message in messages:
        assert re.sub(r"\$\{\w+\}", "…", message) in GUIDE, message
    index = (browsing.CLIENT / "src" / "index.js").read_text(encoding="utf-8")
    names = re.findall(r"export const (\w+)", index)
    names += [name.strip() for group in re.findall(r"export \{(.*?)\}", index) for name in group.split(",")]
    assert len(names) == 8
    for name in names:
        assert f"`{name}" in GUIDE.partition("## All names")[2], name


# --- vectors and refusals -----------------------------------------------------------------------------------------


@cache
def pinned() -> str:
    """Every vector and refusal of tests/vectors, and the named relatives of schemes, as lines for the probe."""
    asked: list[dict[str, Any]] = [question for _, question in questions(NAMES)]
    file = json.loads(normalized.PATH.read_text(encoding="utf-8"))
    texts = [json.dumps(fields) for fields in file["schemes"]]
    asked += [{"steps": entry["steps"], "texts": [entry["text"]]} for entry in file["texts"]]
    asked += [{"scheme": json.dumps(each["fields"]), "value": "a", "tape": ["1"] * 40} for each in file["broken"]]
    asked += [{"scheme": texts[v["scheme"]], "value": v["value"], "tape": v["tape"]} for v in file["vectors"]]
    asked += [{"scheme": text_of(document), "policy": {}} for document in RELATIVES.values()]
    return "".join(json.dumps(question) + "\n" for question in asked)


@cache
def answered() -> list[str]:
    """The answers of the source in node, which test_vectors.py and others compare with the files."""
    answers = browsing.ask_node(pinned())
    assert len(answers) > 9000
    assert not [answer for answer in answers if answer.startswith("crashed")]
    return answers


@pytest.mark.full
def test_the_bundle_answers_in_node_as_the_source_does() -> None:
    assert browsing.ask_node(pinned(), browsing.BUNDLE) == answered()


@pytest.mark.full
@pytest.mark.parametrize("client", [browsing.SOURCE, browsing.BUNDLE], ids=["source", "bundle"])
def test_chromium_answers_as_node_does(client: Path) -> None:
    assert browsing.ask_chromium(pinned(), client) == answered()


# --- fresh schemes, values and tapes --------------------------------------------------------------------------------


class Noting:
    """A source of words that are often at the ends of their range or beside a threshold, and a note of them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.words = rng, []  # type: random.Random, list[int]

    def bernoulli(self, threshold: int) -> bool:
        near = [threshold - 1, threshold, 0, 2**64 - 1]
        return self._word(near) < threshold

    def below(self, size: int) -> int:
        limit = 2**64 - 2**64 % size
        near = [limit - 1, limit % 2**64, 2**64 - 1, size - 1]
        while (word := self._word(near)) >= limit:
            pass
        return word % size

    def _word(self, near: list[int]) -> int:
        self.words.append(self.rng.choice(near) if self.rng.random() < 0.1 else self.rng.getrandbits(64))
        return self.words[-1]


def fresh_domain(rng: random.Random) -> Any:
    letters = "".join(rng.sample("abcdefghijklmnopqrstuvwxyzäöüß0123456789 -.€😀", rng.randint(1, 30)))
    steps = rng.choice([{}, {}, {"normalize": ["nfc", "lower", "strip"]}])
    return rng.choice(
        [
            lambda: Integers(rng.choice([2, 3, 7, 64, rng.randint(2, 300), rng.randint(2, 2**20)])),
            lambda: Labels(
                sorted({f"label {rng.randint(0, 99)}" for _ in range(9)} | {"a", "b"}), other=rng.random() < 0.5
            ),
            lambda: Keys(hash_seed=rng.getrandbits(rng.choice([8, 53, 64])), **steps),
            lambda: Strings(letters, rng.randint(1, 9), other=rng.random() < 0.5, **steps),
            lambda: Ordered(rng.randint(-50, 0), rng.randint(1, 300), other=rng.random() < 0.5),
            lambda: fresh_table(rng),
            lambda: fresh_choices(rng),
        ]
    )()


TRAPS = ["__proto__", "constructor", "0", "Zürich 🦉", "plan", *map(str, range(100, 160))]


def fresh_choices(rng: random.Random) -> Choices:
    """A list of few or many items."""
    return Choices(rng.sample(TRAPS, rng.choice((2, 3, 5, 20, 62))), other=rng.random() < 0.5)


def fresh_table(rng: random.Random) -> Table:
    """Few attributes of all kinds, or many with hardly fewer than 2^64 records."""
    names = rng.sample(TRAPS, 63)
    if rng.random() < 0.2:
        return Table(dict.fromkeys(names, 2), missing=False)
    kinds = [
        lambda: Integers(rng.randint(2, 20)),
        lambda: Labels([f"label {i}" for i in range(rng.randint(2, 9))], other=rng.random() < 0.5),
        lambda: Ordered(rng.randint(-50, 0), rng.randint(1, 30), other=rng.random() < 0.5),
    ]
    own = names[: rng.randint(2, 5)]
    return Table({name: rng.choice(kinds)() for name in own}, missing=[name for name in own if rng.random() < 0.5])


def fresh_schemes(rng: random.Random) -> Iterator[Scheme]:
    """Schemes that no file has; each of the catalogue's entries in turn, and one of the combinations between two."""
    combined = sorted({label.partition("-")[0] for label in SCHEMES} - set(ENTRIES))
    while True:
        for label in (each for entry in ENTRIES for each in (*[entry] * 6, rng.choice(combined))):
            epsilon = Fraction(rng.randint(1, 60), rng.randint(5, 20))
            try:
                scheme = build(label, fresh_domain(rng), epsilon)
                load(scheme.to_json())
            except (PlausiblyError, device.DeviceError, ValueError, TypeError, MemoryError):
                continue  # not for this domain, or too large for a device
            yield scheme


def fresh_value(domain: Any, rng: random.Random) -> Any:
    if isinstance(domain, Integers):
        return rng.randrange(domain.size)
    if isinstance(domain, Keys):
        return rng.choice(
            ["", "Ägypten ", rng.getrandbits(80), rng.randbytes(rng.randint(0, 130)), -5, f"k{rng.random()}"]
        )
    if isinstance(domain, Ordered):
        return rng.choice([rng.randint(-99, 400), rng.randint(-99, 400) / 8, -(10**30), 1e300, 7.0])
    if isinstance(domain, Labels):
        return rng.choice(list(domain.labels))
    if isinstance(domain, Choices):
        return rng.choices([*domain.items, *["Ägypten ", "other"] * domain.other], k=rng.randint(0, 7))
    if isinstance(domain, Table):
        record = {
            one.name: None if rng.random() < 0.1 else fresh_value(one.domain, rng)
            for one in rng.sample(domain.attributes, len(domain.attributes))
        }
        return record if rng.random() < 0.5 else [record[one.name] for one in domain.attributes]
    return "".join(rng.choice(domain.alphabet) for _ in range(rng.randint(0, domain.length)))


def compare(cases: int, seed: int) -> Counter[str]:
    """The number of cases for each scheme, all of which the JavaScript client answers as device.py does."""
    rng = random.Random(seed)
    asked, expected, seen = [], [], Counter()  # type: list[dict[str, Any]], list[str], Counter[str]
    for scheme in fresh_schemes(rng):
        text = scheme.to_json()
        client = load(text)
        if client.randomizer.words > 3000:
            continue
        for _ in range(8):
            source, value = Noting(rng), fresh_value(scheme.domain, rng)
            written: Any = naive.portable(value, keys=isinstance(scheme.domain, Keys))
            if isinstance(value, int) and abs(value) >= 2**53:
                written = {"int": str(value)}
            try:
                record = client.privatize(value, source).hex()
            except device.DeviceError:
                record = "refused"
            asked.append({"scheme": text, "value": written, "tape": [str(word) for word in source.words]})
            expected.append(record)
            seen[scheme.name] += 1
        if len(expected) >= cases:
            break
    answers = browsing.ask_node("".join(json.dumps(question) + "\n" for question in asked))
    got = ["refused" if answer.startswith("refused") else answer for answer in answers]
    wrong = [(asked[i], expected[i], answers[i]) for i, told in enumerate(got) if told != expected[i]]
    assert wrong == []
    return seen


@pytest.mark.full
def test_fresh_schemes_and_tapes_give_the_bytes_of_the_device() -> None:
    seen = compare(20_000, seed=1)
    assert seen.total() >= 20_000
    assert seen.keys() == set(plausibly.CATALOG)
    assert min(seen.values()) >= 100


# --- the coins of the browser ---------------------------------------------------------------------------------------


class Following:
    """A source that follows a path of choices and multiplies their probabilities."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.sizes, self.share = path, [], Fraction(1)  # type: tuple[int, ...], list[int], Fraction

    def bernoulli(self, threshold: int) -> bool:
        taken = self._choose(2) == 1
        self.share *= Fraction(threshold if taken else 2**64 - threshold, 2**64)
        return taken

    def below(self, size: int) -> int:
        self.share *= Fraction(1, size)
        return self._choose(size)

    def _choose(self, size: int) -> int:
        self.sizes.append(size)
        return self.path[len(self.sizes) - 1] if len(self.sizes) <= len(self.path) else 0


def law_of(client: device.Client, value: Any) -> dict[str, Fraction]:
    """The probability of every record of a value: all paths of all coins of device.py."""
    law: dict[str, Fraction] = {}
    paths: list[tuple[int, ...]] = [()]
    while paths:
        path = paths.pop()
        source = Following(path)
        record = client.privatize(value, source).hex()
        law[record] = law.get(record, Fraction(0)) + source.share
        for place in range(len(path), len(source.sizes)):
            taken = path + (0,) * (place - len(path))
            paths += [(*taken, choice) for choice in range(1, source.sizes[place])]
    assert sum(law.values()) == 1
    return law


TOSSED: dict[str, Scheme] = {
    "DE": plausibly.make("DE", epsilon=1, domain_size=5),
    "SUE": plausibly.make("SUE", epsilon=1, domain_size=4),
    "OUE": plausibly.make("OUE", epsilon=1, domain_size=4),
    "FLH": plausibly.make("FLH", epsilon=1, domain_size=6, hashes=3, hash_seed=5),
    "HM": plausibly.make("HM", epsilon=1, domain_size=5, coefficients=2),
    "HR": plausibly.make("HR", epsilon=1, domain_size=6),
    "SS": plausibly.make("SS", epsilon=1, domain_size=6),
    "TLH": plausibly.make("TLH", epsilon=1, domain_size=5),
    "CM": plausibly.make("CM", oracle=plausibly.make("DE", epsilon=1, domain_size=4), rows=3, domain=Integers(20)),
    "SLIDE": plausibly.make("SLIDE", epsilon=1, domain=Ordered(0, 7)),
}
EACH = 5_000
"""Reports of each of two values: 100,000 in all. Fresh coins, so the false alarms of 20 tests at 1e-6 are 2e-5."""


@pytest.mark.full
def test_reports_of_chromium_follow_the_law_of_the_device() -> None:
    values = (0, 3)
    asked = [{"scheme": s.to_json(), "values": values, "each": EACH} for s in TOSSED.values()]
    answers = browsing.ask_chromium("".join(json.dumps(question) + "\n" for question in asked), browsing.BUNDLE)
    assert sum(len(answer.split()) for answer in answers) == 100_000
    for scheme, answer in zip(TOSSED.values(), answers, strict=True):
        records = answer.split()
        for i, value in enumerate(values):
            seen = Counter(records[i * EACH : (i + 1) * EACH])
            law = law_of(load(scheme.to_json()), value)
            assert_follows(seen, {record: EACH * float(share) for record, share in law.items()})


@pytest.mark.full
def test_a_page_can_show_how_likely_a_record_is_under_each_item(tmp_path: Path) -> None:
    scheme = plausibly.make("HR", epsilon=1, domain_size=6)
    script = tmp_path / "law.mjs"
    source = browsing.SOURCE.parent.as_uri()
    script.write_text(
        f'import {{ load }} from "{source}/index.js"; import {{ lawOf }} from "{source}/likelihood.js";\n'
        f"const client = load({json.dumps(scheme.to_json())});\n"
        "console.log(JSON.stringify([0, 5].map((value) => [...lawOf(client, value, [])])));"
    )
    told = json.loads(browsing.run_node(script))
    for value, law in zip((0, 5), told, strict=True):
        expected = law_of(load(scheme.to_json()), value)
        assert dict(law) == pytest.approx({record: float(share) for record, share in expected.items()})
