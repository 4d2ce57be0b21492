"""Device, bulk code and the JavaScript client normalize alike, whatever version of Unicode each of them knows.

The vectors come from `naive_client` and by hand (tests/vectors/normalized.py).
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import browsing
import naive_client as naive
import plausibly
from cases import case
from drawn import drawn
from plausibly import device
from plausibly.core.domain.normalizing import normalized_texts
from plausibly.core.randomness import TapeSource
from test_vectors import TapeRandom, answers
from trusting import load
from vectors import normalized as generate

ALL = ("nfc", "lower", "strip")
LAST = 0x110000
# Old enough for all versions of Python: the tables are those of this version.
OLDEST = "14.0.0"


@cache
def file() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(generate.PATH.read_text(encoding="utf-8"))
    return loaded


@cache
def probe(section: str) -> list[str]:
    """What the JavaScript client says to the entries of a section."""
    asked: list[dict[str, Any]] = []
    for entry in file()[section]:
        if section == "texts":
            asked.append({"steps": entry["steps"], "texts": [entry["text"]]})
        elif section == "broken":
            asked.append({"scheme": json.dumps(entry["fields"]), "value": "a", "tape": ["1"] * 40})
        else:
            scheme = json.dumps(file()["schemes"][entry["scheme"]])
            asked.append({"scheme": scheme, "value": entry["value"], "tape": entry["tape"]})
    return answers(asked)


# --- vectors ----------------------------------------------------------------------------------------------------


def test_the_file_is_what_the_generator_writes() -> None:
    written = generate.PATH.read_text(encoding="utf-8")
    assert written == generate.text_of(), "run: PYTHONPATH=tests python -m vectors.normalized"


def test_the_device_and_bulk_code_normalize_the_texts() -> None:
    for entry in file()["texts"]:
        with case(ascii(entry)):
            assert device.normalized(entry["text"], entry["steps"]) == entry["normalized"]
            assert normalized_texts(["x", entry["text"]], entry["steps"]) == ["x", entry["normalized"]]


def test_the_javascript_client_normalizes_the_texts() -> None:
    told = [json.loads(answer)[0] for answer in probe("texts")]
    wrong = [entry for entry, text in zip(file()["texts"], told, strict=True) if text != entry["normalized"]]
    assert wrong == []


def test_the_library_reads_and_writes_the_schemes() -> None:
    for fields in file()["schemes"]:
        scheme = plausibly.from_json(json.dumps(fields))
        assert scheme.to_json() == naive.canonical(fields)
        assert scheme.fingerprint() == naive.fingerprint(fields).hex() == load(json.dumps(fields)).fingerprint


def test_the_clients_and_bulk_code_make_the_records() -> None:
    for number, fields in enumerate(file()["schemes"]):
        mine = [vector for vector in file()["vectors"] if vector["scheme"] == number]
        client, tapes = load(json.dumps(fields)), [naive.Tape(map(int, vector["tape"])) for vector in mine]
        for vector, tape in zip(mine, tapes, strict=True):
            source = TapeSource(list(map(int, vector["tape"])))
            assert client.privatize(vector["value"], source).hex() == vector["record"], vector
            naive.record(fields, vector["value"], tape)
        bulk = plausibly.from_json(json.dumps(fields)).privatize(
            [vector["value"] for vector in mine], rng=TapeRandom([tape.draws for tape in tapes])
        )
        assert [report.tobytes().hex() for report in bulk] == [vector["record"] for vector in mine]


def test_the_javascript_client_makes_the_records() -> None:
    assert probe("vectors") == [vector["record"] for vector in file()["vectors"]]


def test_spellings_of_one_value_have_one_honest_record() -> None:
    # The first two vectors of a value: an honest tape, and another one.
    honest = {vector["value"]: vector["record"] for vector in file()["vectors"] if vector["scheme"] == 0}
    plain = plausibly.from_json(json.dumps(file()["schemes"][0])).domain
    assert plain.encode(["dog", "Dog", " DOG\u3000", "\ufeffdog"]).tolist() == [0] * 4
    assert len(honest) == len(generate.VALUES)


def test_library_device_and_javascript_refuse_the_broken_documents() -> None:
    for entry, answer in zip(file()["broken"], probe("broken"), strict=True):
        with case(f"{entry['why']}: {entry['fields']['domain']['type']}"):
            text = json.dumps(entry["fields"])
            with pytest.raises(plausibly.ParameterError):
                plausibly.from_json(text)
            with pytest.raises(device.DeviceError, match=r"normalize|labels|alphabet|domain:|UTF-8"):
                load(text)
            assert answer.startswith("refused: ")
            assert "tape" not in answer


def test_the_broken_documents_are_broken_by_one_thing() -> None:
    # Without it they are accepted: nothing else about them is wrong.
    for entry in file()["broken"]:
        fields = json.loads(json.dumps(entry["fields"]))
        for domain in (fields["domain"], fields.get("oracle", fields)["domain"]):
            domain.pop("normalize", None)
        if entry["why"] != "labels that become equal":
            with case(entry["why"]):
                load(json.dumps(fields))


# --- tables -----------------------------------------------------------------------------------------------------


def test_the_two_clients_compose_the_same_runs() -> None:
    source = (browsing.SOURCE.parent / "normalizing.js").read_text(encoding="utf-8")
    written = re.search(r'const COMPOSING =\n((?:  ".*" ?\+?;?\n)+)', source)
    assert written is not None
    distances = [int(each, 36) for each in "".join(re.findall(r'"(.*)"', written[1])).split()]
    points = list(accumulate(distances))
    assert list(zip(points[::2], points[1::2], strict=True)) == [run[:2] for run in device._runs(device._COMPOSING)]


@pytest.mark.full
def test_the_two_clients_lower_every_code_point_alike() -> None:
    text = "".join(chr(point) for point in range(LAST) if not 0xD800 <= point < 0xE000)
    (told,) = answers([{"steps": ["lower"], "texts": [text]}])
    assert json.loads(told) == [device.normalized(text, ["lower"])]


@pytest.mark.full
def test_spaces_are_what_python_or_javascript_strips() -> None:
    python = {chr(point) for point in range(LAST) if chr(point).isspace()}
    (told,) = answers(
        [{"steps": ["strip"], "texts": [f"{chr(p)}a{chr(p)}" for p in range(0xD800)] + ["\ufeffa\ufeff"]}]
    )
    stripped = [chr(point) for point, text in enumerate(json.loads(told)) if text == "a"]
    assert set(device.SPACES) == python | {"\ufeff"} == {*stripped[:-1], "\ufeff"}
    assert sorted(device.SPACES) == [chr(point) for point in naive.SPACES]


@pytest.mark.full
def test_the_tables_have_no_code_point_that_unicode_has_added_since() -> None:
    # All versions of Python know them, since none is ever removed.
    composing = {p for first, last, _, _ in device._runs(device._COMPOSING) for p in range(first, last + 1)}
    known = composing | set(device._LOWER) | set(device._LOWER.values())
    assert {point for point in known if unicodedata.category(chr(point)) == "Cn"} == set()
    if unicodedata.unidata_version == OLDEST:
        active = {p for p in map(ord, _all_characters()) if _takes_part_in_nfc(chr(p))}
        assert active <= composing
        lower = {p: ord(chr(p).lower()[0]) for p in range(LAST) if chr(p).lower() != chr(p)}
        assert lower == device._LOWER


def _takes_part_in_nfc(character: str) -> bool:
    parts = unicodedata.decomposition(character)
    canonical = bool(parts) and not parts.startswith("<")
    return character >= "\u0300" and (canonical or bool(unicodedata.combining(character)))


def _all_characters() -> list[str]:
    return [chr(point) for point in range(LAST) if not 0xD800 <= point < 0xE000]


def crowd(step: int) -> list[str]:
    """Every code point, or every ``step``-th: alone, taken apart, with accents and syllables before and after it."""
    characters = _all_characters()[::step]
    texts = characters + [unicodedata.normalize("NFD", c) for c in characters]
    return texts + [
        text for c in characters for text in (f"e{c}\u0301", f"{c}\u0323\u0301", f"\u1100\u1161{c}", f" {c}")
    ]


def check_clients_agree(step: int) -> None:
    texts = crowd(step)
    for start in range(0, len(texts), 200_000):
        part = texts[start : start + 200_000]
        python = [device.normalized(text, ALL) for text in part]
        (told,) = answers([{"steps": ALL, "texts": part}])
        assert [ascii(t) for t, a, b in zip(part, python, json.loads(told), strict=True) if a != b] == []
        assert normalized_texts(part, ALL) == python
        assert normalized_texts(python, ALL) == python  # once is enough


@pytest.mark.full
def test_the_clients_agree_on_code_points_of_every_version() -> None:
    check_clients_agree(307)


@pytest.mark.slow
def test_the_clients_agree_on_all_code_points() -> None:
    check_clients_agree(1)


SAMPLE = (
    "eE\u0301\u0323\u0130iJ\u030c\u01f0\u03aa\u0390H\u0331 \u3000\ufeff\u212b\u1100\u1161\u11a8\u0897\u0958\u0915\u093c"
)


@given(st.text(alphabet=SAMPLE, max_size=12) | st.text(max_size=12), st.sampled_from(generate.STEPS))
@drawn(80)
def test_what_is_normalized_stays_as_it_is(text: str, steps: list[str]) -> None:
    once = device.normalized(text, steps)
    assert device.normalized(once, steps) == once
    assert normalized_texts([text], steps) == [once]
    assert [device.normalized(device.shortened(once, length, steps), steps) for length in range(13)] == [
        device.shortened(once, length, steps) for length in range(13)
    ]


@given(st.text(alphabet="".join(sorted(set(SAMPLE))), max_size=12))
@drawn(80)
def test_a_text_of_old_characters_is_normalized_as_by_python(text: str) -> None:
    old = text.replace("\u0897", "")
    assert device.normalized(old, ["nfc"]) == unicodedata.normalize("NFC", old)


def test_plain_texts_never_meet_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    # Millions of values: a call for each of them would cost more than everything else.
    monkeypatch.delattr(device, "normalized")
    assert normalized_texts([" Dog\x1f", "CAT", ""], ALL) == ["dog", "cat", ""]
    with pytest.raises(AttributeError):
        normalized_texts(["dog", "né"], ALL)


def test_a_hostile_label_takes_no_quadratic_time() -> None:
    # Sorting all these accents as one run would take hours.
    label = "e" + "\u0301\u0323" * 200_000
    assert device.normalized(label, ["nfc"]) == label
    many = ("e" + "\u0301\u0323" * 60 + " ") * 2_000
    assert device.normalized(many, ["nfc"]) != many
