"""Device, bulk code on both kernels, and the JavaScript probe make the same bytes of the same words.

The vectors come from `naive_client`, which shares no code with any of them (tests/vectors/generate.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import browsing
import naive_client as naive
import plausibly
from cases import case
from drawn import thinned
from plausibly import device, kernels
from plausibly.core.domain import domain_from_dict
from plausibly.core.randomness import Layout, SeededRandom, Stream, TapeSource
from plausibly.kernels import native, reference
from trusting import load
from vectors import generate

HERE = Path(__file__).parent
NAMES = sorted([*plausibly.CATALOG, *generate.SPLITS])
# Searches draw and pack alike: the quick tests take one of them.
SEARCHES = {name for name in plausibly.CATALOG if plausibly.Strings in plausibly.CATALOG[name].accepts}
RARE = (SEARCHES | set(generate.SPLITS)) - {"PEM"}
every_name = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full if name in RARE else ()) for name in NAMES]
)
KERNELS: dict[str, ModuleType] = {"numpy": reference}
if kernels.active == "c":
    KERNELS["c"] = native

HASHES = [  # seed, value, split, size -> hash
    (0x0, 0, 64, 2, 0),
    (0x1, 1, 64, 4, 3),
    (0x0123456789ABCDEF, 1023, 64, 21, 2),
    (0xFFFFFFFFFFFFFFFF, 4095, 64, 150, 142),
    (0xDEADBEEFCAFEF00D, 999983, 1024, 21, 5),
]


@cache
def file(name: str) -> dict[str, Any]:
    """The vectors of one scheme."""
    loaded: dict[str, Any] = json.loads((HERE / "vectors" / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@cache
def scheme(name: str, number: int) -> plausibly.Scheme:
    """A scheme of a file, read by the library."""
    return plausibly.from_json(json.dumps(file(name)["schemes"][number]["fields"]))


@cache
def client(name: str, number: int) -> device.Client:
    """A scheme of a file, read by the device."""
    return load(json.dumps(file(name)["schemes"][number]["fields"]))


def tape_of(vector: dict[str, Any]) -> list[int]:
    return [int(word) for word in vector["tape"]]


# --- the files --------------------------------------------------------------------------------------------------


def test_there_is_a_file_for_every_scheme_of_the_catalogue_and_every_split_and_no_other() -> None:
    assert sorted(path.stem for path in (HERE / "vectors").glob("*.json")) == NAMES


@pytest.mark.full
@every_name
def test_the_files_are_what_the_generator_writes(name: str) -> None:
    written = (HERE / "vectors" / f"{name}.json").read_text(encoding="utf-8")
    assert written == generate.text_of(name), "run: PYTHONPATH=tests python -m vectors.generate"


@every_name
def test_a_file_has_a_hundred_vectors_with_refused_words_where_there_can_be_any(name: str) -> None:
    vectors = file(name)["vectors"]
    assert len(vectors) >= 100
    repeats = [v for v in vectors if len(v["tape"]) > client(name, v["scheme"]).randomizer.words]
    # Unary schemes and single bits draw no number below m, and BLH only below 2^64 and below 1: nothing to refuse.
    bits = device.Unary | device.OneBit | device.MemoisedUnary
    draws_none = isinstance(client(name, 0).randomizer, bits) or name == "BLH"
    assert bool(repeats) != draws_none


@every_name
def test_the_library_derives_the_same_schemes(name: str) -> None:
    for number, listed in enumerate(file(name)["schemes"]):
        made = made_of({"scheme": name.partition("-")[0], **listed["make"]})
        assert made.to_json() == naive.canonical(listed["fields"])
        assert made.fingerprint() == naive.fingerprint(listed["fields"]).hex()
        assert scheme(name, number) == made


def made_of(written: dict[str, Any]) -> plausibly.Scheme:
    """The scheme that plausibly.make gives for these arguments, those of its parts made first."""
    how = dict(written)
    if "keys" in how:
        how["domain"] = plausibly.Keys(int(how.pop("keys")))
    if "strings" in how:
        fields = dict(how.pop("strings"))
        if fields.pop("type") == "byte strings":
            fields["alphabet"] = bytes.fromhex(fields["alphabet"])
        how["domain"] = plausibly.Strings(**fields)
    if "table" in how:
        how["domain"] = domain_from_dict(how.pop("table"))
    if "ordered" in how:
        how["domain"] = domain_from_dict(how.pop("ordered"))
    parts = {key: made_of(value) for key, value in how.items() if isinstance(value, dict)}
    return plausibly.make(**{"name": how.pop("scheme"), **how, **parts})


# --- values and words to records --------------------------------------------------------------------------------


class Served:
    """A source of bytes that hands out a tape, and then nothing."""

    def __init__(self, words: list[int]) -> None:
        self.left = b"".join(word.to_bytes(8, "little") for word in words)

    def __call__(self, count: int) -> bytes:
        served, self.left = self.left[:count], self.left[count:]
        return served


@dataclass(frozen=True)
class TapeStream(Stream):
    """A bulk stream whose words are crafted: ``draws[report][draw]`` are the words of each attempt."""

    key: bytes = b""
    draws: list[list[list[int]]] = field(default_factory=list)

    def heads(self, layout: Layout, first_report: int, count: int) -> npt.NDArray[np.uint8]:
        rows = []
        for draws in self.draws[first_report : first_report + count]:
            first = [attempts[0] for attempts in draws]
            dense = b"".join(word.to_bytes(8, "little") for word in first[: layout.dense])
            rows.append(dense + bytes(word >> 56 for word in first[layout.dense :]))
        return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(count, layout.head_bytes)

    def tail(
        self, reports: npt.NDArray[np.int64], draws: npt.NDArray[np.int64], attempt: int = 0
    ) -> npt.NDArray[np.uint64]:
        # Attempt 0 is the rest of a split word: its low 56 bits, above one byte that nobody looks at.
        words = [
            self.draws[report][draw][attempt] << (0 if attempt else 8) & 2**64 - 1
            for report, draw in zip(reports.tolist(), draws.tolist(), strict=True)
        ]
        return np.array(words, dtype=np.uint64)


class TapeRandom(SeededRandom):
    """A random source for ``privatize`` that opens a crafted stream."""

    def __init__(self, draws: list[list[list[int]]]) -> None:
        super().__init__(0)
        self.draws = draws

    def stream(self) -> Stream:
        return TapeStream(draws=self.draws)


@pytest.fixture(params=sorted(KERNELS))
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Bulk code on one kind of kernels."""
    for name in kernels.NAMES:
        monkeypatch.setattr(kernels, name, getattr(KERNELS[request.param], name))
    return str(request.param)


@every_name
def test_the_device_makes_the_records(name: str) -> None:
    for vector in file(name)["vectors"]:
        chosen = client(name, vector["scheme"])
        served = Served(tape_of(vector))
        source = device.WordSource(chosen.randomizer.words, read=served)
        assert chosen.privatize(naive.native(vector["value"]), source).hex() == vector["record"], vector
        assert not served.left


@cache
def naive_records(name: str, number: int) -> tuple[list[str], list[list[list[int]]]]:
    """The records that the naive client makes of vectors, which takes its time, and the words of each draw."""
    listed, mine = file(name)["schemes"][number], thinned(vectors_of(name, number))
    tapes = [naive.Tape(tape_of(v)) for v in mine]
    values = [naive.native(v["value"]) for v in mine]
    records = [naive.record(listed["fields"], *each).hex() for each in zip(values, tapes, strict=True)]
    return records, [tape.draws for tape in tapes]


def vectors_of(name: str, number: int) -> list[dict[str, Any]]:
    return [v for v in file(name)["vectors"] if v["scheme"] == number]


@pytest.mark.usefixtures("kernel")
@every_name
def test_bulk_code_makes_the_records(name: str) -> None:
    for number in range(len(file(name)["schemes"])):
        mine = thinned(vectors_of(name, number))
        records, draws = naive_records(name, number)
        assert records == [v["record"] for v in mine]
        values = [naive.native(v["value"]) for v in mine]
        reports = scheme(name, number).privatize(values, rng=TapeRandom(draws))
        assert [report.tobytes().hex() for report in reports] == records


@every_name
def test_the_tape_source_of_the_library_makes_the_records(name: str) -> None:
    for vector in file(name)["vectors"]:
        tape = tape_of(vector)
        source = TapeSource(tape)
        made = client(name, vector["scheme"]).privatize(naive.native(vector["value"]), source)
        assert (made.hex(), source.used) == (vector["record"], len(tape))


# --- users with a memo ------------------------------------------------------------------------------------------

MEMOISED = [name for name in NAMES if "memos" in file(name)]


def test_the_schemes_with_a_memo_have_users_with_keys() -> None:
    assert sorted(generate.MEMOISED) == MEMOISED
    assert all(len(file(name)["memos"]) >= 20 for name in MEMOISED)


@pytest.mark.parametrize("name", MEMOISED)
def test_the_device_makes_the_records_of_a_user_with_a_key(name: str) -> None:
    for vector in file(name)["memos"]:
        memo = device.Memo(bytes.fromhex(vector["memo"]["key"]), vector["memo"]["series"])
        text = json.dumps(file(name)["schemes"][vector["scheme"]]["fields"])
        chosen, tape = device.load(text, memo=memo, max_epsilon=1000, total=False), tape_of(vector)
        source = TapeSource(tape)
        made = chosen.privatize(naive.native(vector["value"]), source)
        assert (made.hex(), source.used) == (vector["record"], len(tape))


@pytest.mark.parametrize("name", MEMOISED)
def test_the_javascript_client_makes_the_records_of_a_user_with_a_key(name: str) -> None:
    asked = [
        {**vector, "scheme": json.dumps(file(name)["schemes"][vector["scheme"]]["fields"])}
        for vector in file(name)["memos"]
    ]
    assert answers(asked) == [vector["record"] for vector in file(name)["memos"]]


# --- JavaScript -------------------------------------------------------------------------------------------------


def questions(names: list[str]) -> Iterator[tuple[tuple[str, str, int], dict[str, Any]]]:
    """Everything the probe is asked about these schemes, by scheme, section and number."""
    for name in names:
        content = file(name)
        fields = [listed["fields"] for listed in content["schemes"]]
        broken = content["broken"]
        plenty = ["1"] * 40
        sections = {"vectors": content["vectors"], "values": broken["values"], "tapes": broken["tapes"]}
        for section, entries in sections.items():
            for i, entry in enumerate(entries):
                line = {"value": entry["value"], "tape": entry.get("tape", plenty)}
                yield (name, section, i), {"scheme": json.dumps(fields[entry["scheme"]]), **line}
        for i, entry in enumerate(broken["schemes"]):
            yield (name, "schemes", i), {"scheme": json.dumps(entry["fields"]), "value": 0, "tape": plenty}


def answers(asked: list[dict[str, Any]]) -> list[str]:
    """What the probe says to each question; one node process for all of them."""
    lines = "".join(json.dumps(question) + "\n" for question in asked)
    return browsing.ask_node(lines)


@cache
def _answers_by_key(rare: bool) -> dict[tuple[str, str, int], str]:
    asked = list(questions([name for name in NAMES if (name in RARE) == rare]))
    return dict(zip((key for key, _ in asked), answers([question for _, question in asked]), strict=True))


def probe(name: str, section: str) -> list[str]:
    """The probe's answers by scheme and section, in the order of the file."""
    return [answer for key, answer in _answers_by_key(name in RARE).items() if key[:2] == (name, section)]


@pytest.mark.full
@every_name
def test_the_javascript_probe_makes_the_records(name: str) -> None:
    assert probe(name, "vectors") == [vector["record"] for vector in file(name)["vectors"]]


@pytest.mark.full
@every_name
def test_the_javascript_probe_refuses_what_the_device_refuses(name: str) -> None:
    assert set(probe(name, "tapes")) == {"refused: the tape has run out"}
    assert [answer for answer in probe(name, "values") if not blames_input(answer)] == []
    taken = [
        entry["why"]
        for entry, answer in zip(file(name)["broken"]["schemes"], probe(name, "schemes"), strict=True)
        if entry["client"] and not blames_input(answer)
    ]
    assert taken == []


def blames_input(answer: str) -> bool:
    """Whether the probe has refused the value or the scheme, and not merely run out of words."""
    return answer.startswith("refused: ") and "tape" not in answer


# --- the hash family --------------------------------------------------------------------------------------------


def test_device_kernels_and_probe_have_the_published_hashes() -> None:
    asked = [{"hash": [str(seed), str(value), str(split), size]} for seed, value, split, size, _ in HASHES]
    assert [int(answer) for answer in answers(asked)] == [row[-1] for row in HASHES]
    for seed, value, split, size, hashed in HASHES:
        assert device.local_hash(seed, value, split, size) == hashed
        assert naive.local_hash(seed, value, split, size) == hashed
        for module in KERNELS.values():
            arrays = np.array([seed], dtype=np.uint64), np.array([value], dtype=np.uint64)
            assert module.local_hash(*arrays, split, size).tolist() == [hashed]


def test_the_naive_hash_has_the_published_intermediate_values() -> None:
    assert [naive.premix(j) for j in (0, 1, 2**31)] == [0, 0x06D3FA73, 0xC0BD1472]
    assert [naive.table_entry(1, 0, 1, 4), naive.table_entry(0, 1, 0, 4)] == [0, 3]


@pytest.mark.parametrize(
    ("content", "digest"),
    [
        (b"", "ef2a8b78dd80da9c"),
        (b"a", "3746ba2ac42c6821"),
        (b"https://example.org/", "228669f3784f2ad0"),
    ],
)
def test_keys_have_the_published_digests(content: bytes, digest: str) -> None:
    key = int.from_bytes(bytes.fromhex(digest), "little")
    assert device.key64(content, 0) == device.item_key(content, 0) == naive.key64(content, 0, b"") == key
    assert plausibly.Keys().encode([content]).tolist() == [key]


# --- records to states ------------------------------------------------------------------------------------------


def records_of(name: str, number: int, records: list[str]) -> npt.NDArray[np.void]:
    return np.frombuffer(bytes.fromhex("".join(records)), dtype=scheme(name, number).report_dtype)


@pytest.mark.usefixtures("kernel")
@every_name
def test_records_add_up_to_the_states(name: str) -> None:
    for entry in file(name)["states"]:
        chosen = scheme(name, entry["scheme"])
        tally = chosen.accumulator()
        tally.add(records_of(name, entry["scheme"], entry["records"]))
        assert len(tally) == len(entry["records"])
        if "parts" in entry:
            assert tally.n.tolist() == entry["numbers"]  # type: ignore[attr-defined]
            assert [part.to_payload().hex() for part in tally.parts] == entry["parts"]  # type: ignore[attr-defined]
        elif "cells" in entry:
            assert tally.state.ravel().tolist() == entry["cells"]  # type: ignore[attr-defined]
            assert tally.n.tolist() == entry.get("numbers", [len(tally)])  # type: ignore[attr-defined]
        else:
            assert sorted(r.tobytes().hex() for r in tally.reports) == entry["kept"]  # type: ignore[attr-defined]
        assert tally.to_bytes().hex() == entry["bytes"]
        restored = plausibly.Accumulator.from_bytes(chosen, bytes.fromhex(entry["bytes"]))
        assert len(restored) == len(tally)
        assert restored.to_bytes().hex() == entry["bytes"]


@every_name
def test_records_travel_in_the_batches(name: str) -> None:
    for entry in file(name)["states"]:
        chosen = scheme(name, entry["scheme"])
        records = records_of(name, entry["scheme"], entry["records"])
        assert plausibly.encode_reports(chosen, records).hex() == entry["batch"]
        assert plausibly.decode_reports(chosen, bytes.fromhex(entry["batch"])).tobytes() == records.tobytes()


# --- what must be refused ---------------------------------------------------------------------------------------


def broken(name: str, section: str) -> list[tuple[str, dict[str, Any]]]:
    """The broken inputs of a section, each with its name."""
    entries = file(name)["broken"][section]
    return [(f"{name}, broken {section}, {i}: {entry.get('why', '')}", entry) for i, entry in enumerate(entries)]


@every_name
def test_device_and_bulk_refuse_values_outside_the_domain(name: str) -> None:
    for entry in file(name)["broken"]["values"]:
        value = naive.native(entry["value"])
        with pytest.raises(device.DeviceError):
            client(name, entry["scheme"]).privatize(value)
        with pytest.raises(plausibly.DomainError, match=r"^item"):
            scheme(name, entry["scheme"]).privatize([value])


@every_name
def test_a_tape_that_runs_out_is_refused(name: str) -> None:
    for entry in file(name)["broken"]["tapes"]:
        value, tape = naive.native(entry["value"]), tape_of(entry)
        chosen = client(name, entry["scheme"])
        with pytest.raises(device.DeviceError, match="random"):
            chosen.privatize(value, device.WordSource(chosen.randomizer.words, read=Served(tape)))
        with pytest.raises(plausibly.ParameterError, match="has run out"):
            chosen.privatize(value, TapeSource(tape))


@every_name
def test_broken_schemes_are_refused(name: str) -> None:
    for which, entry in broken(name, "schemes"):
        text = json.dumps(entry["fields"])
        with case(which):
            with pytest.raises(plausibly.ParameterError):
                plausibly.from_json(text)
            if entry["client"]:
                with pytest.raises(device.DeviceError):
                    load(text)
            else:
                # More noise than epsilon asks for harms nobody.
                assert load(text).privatize(
                    {"integers": 0, "table": [0, 0, 0]}.get(entry["fields"]["domain"]["type"], "a")
                )


@every_name
def test_broken_batches_are_refused(name: str) -> None:
    for which, entry in broken(name, "batches"):
        with case(which), pytest.raises(plausibly.ReportError):
            plausibly.decode_reports(scheme(name, entry["scheme"]), bytes.fromhex(entry["bytes"]))


@every_name
def test_records_out_of_range_are_refused_and_change_nothing(name: str) -> None:
    for which, entry in broken(name, "records"):
        chosen = scheme(name, entry["scheme"])
        good = next(v["record"] for v in file(name)["vectors"] if v["scheme"] == entry["scheme"])
        records = [good, entry["bytes"]]
        fields = file(name)["schemes"][entry["scheme"]]["fields"]
        blob = generate.envelope(generate.BATCH_MAGIC, fields, 2, bytes.fromhex("".join(records)))
        with case(which):
            with pytest.raises(plausibly.ReportError, match=r"^report 1: "):
                plausibly.decode_reports(chosen, blob)
            tally = chosen.accumulator()
            with pytest.raises(plausibly.ReportError, match=r"^report 1: "):
                tally.add(records_of(name, entry["scheme"], records))
            assert tally.to_bytes() == chosen.accumulator().to_bytes()


@every_name
def test_broken_accumulators_are_refused(name: str) -> None:
    for which, entry in broken(name, "states"):
        with case(which), pytest.raises(plausibly.StateError):
            plausibly.Accumulator.from_bytes(scheme(name, entry["scheme"]), bytes.fromhex(entry["bytes"]))
