"""Collections: canonical documents, strict parsing, and fresh hash functions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

import plausibly
from cases import case
from plausibly import ParameterError, catalog, make
from plausibly.service.collections import Collection, with_fresh_hashes
from serving import question

SCHEME = make("OUE", epsilon=1, domain=["a", "b"])
LASTING = make("LOLOHA", epsilon=1, memo_epsilon=2, domain=["a", "b"])
FULL = Collection(
    name="Besuche",
    scheme=SCHEME,
    opens=datetime(2026, 1, 31, 8, tzinfo=UTC),
    closes=datetime(2026, 2, 28, tzinfo=UTC),
    minimum=100,
    cap=1000,
    series="weekly",
    slot=3,
)


def test_a_document_is_canonical_and_its_digest_is_the_id() -> None:
    plain = Collection(name="x", scheme=SCHEME)
    for collection in (plain, FULL):
        again = Collection.from_document(collection.document)
        assert (again, again.id) == (collection, collection.id)
        assert hashlib.sha256(collection.document.encode()).hexdigest() == collection.id
        shuffled = json.dumps(dict(reversed(json.loads(collection.document).items())), indent=3)
        assert Collection.from_document(shuffled).id == collection.id
    assert '"window":{"closes":"2026-02-28T00:00:00Z","opens":"2026-01-31T08:00:00Z"}' in FULL.document
    assert "series" not in plain.document


def test_a_document_without_batches_has_the_bytes_that_it_always_had() -> None:
    assert question().id == "aebf88291fdafe0e3a530115a2440d20e6c2d626f175ba34b3248f11b793ac7d"
    batches = replace(question(), smallest_batch=1000)
    fields = json.loads(batches.document)
    assert fields.pop("release") == {"smallest_batch": 1000}
    assert fields == json.loads(question().document)
    assert Collection.from_document(batches.document) == batches


def changed(**fields: Any) -> str:
    return json.dumps(json.loads(FULL.document) | fields)


def without(name: str) -> str:
    return json.dumps({key: value for key, value in json.loads(FULL.document).items() if key != name})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "not JSON"),
        ("[1]", "JSON of another kind"),
        ("[" * 100_000, "not JSON"),
        (b"\xff", "not JSON"),
        ('{"name":"a","name":"b"}', "not JSON"),
        (without("cap"), "cap: expected for a collection"),
        (without("slot"), "expected series and slot, got one"),
        (changed(nmae="x"), "did you mean 'name'"),
        (changed(version=2), "version: expected 1, got 2"),
        (changed(version=True), "version: expected 1"),
        (changed(name=""), "name: expected 1 to 200 printable"),
        (changed(name="a\nb"), "name: expected 1 to 200 printable"),
        (changed(name=7), "name: expected a text"),
        (changed(minimum=0), "minimum: expected 1 to"),
        (changed(minimum=1.5), "minimum: expected an integer"),
        (changed(cap=5), "cap: expected at least the minimum"),
        (changed(slot=-1), "slot: expected 0 to"),
        *[(changed(rota=rota), "rota: expected 2 to 2147483647") for rota in (0, 1, -1, 2**31, 2**63)],
        *[(changed(rota=rota), "rota: expected an integer") for rota in ("7", True, 7.0, [7])],
        *[(changed(rota=7, slot=slot), "slot: expected 0 to 2147483647") for slot in (-1, 2**31, 2**63)],
        (changed(rota=7, series=None, slot=None), "rota: expected with series"),
        (changed(rota=7, slot=None), "expected series and slot, got one"),
        *[(changed(series=text), "series: expected 1 to 200 printable") for text in ("", "x" * 201, "a\nb", "\ud800")],
        (changed(rota=7, scheme=LASTING.to_dict()), "rota: expected none with LOLOHA"),
        (changed(slot=2**31, scheme=LASTING.to_dict()), "slot: expected 0 to 2147483647"),
        (changed(window=None), "window: expected an object"),
        (changed(window={"opens": None}), "window: expected an object"),
        (changed(window={"opens": "today", "closes": None}), "opens: expected a time in UTC"),
        (changed(window={"opens": 3, "closes": None}), "opens: expected a time in UTC"),
        (
            changed(window={"opens": "2026-03-01T00:00:00Z", "closes": "2026-02-01T00:00:00Z"}),
            "closes: expected a time after",
        ),
        (changed(release=None), "release: expected an object with smallest_batch"),
        (changed(release={}), "release: expected an object with smallest_batch"),
        (changed(release={"smallest_batch": 10, "more": 1}), "release: expected an object with smallest_batch"),
        (changed(release={"smallest_batch": None}), "smallest_batch: expected an integer"),
        (changed(release={"smallest_batch": 1}), "smallest_batch: expected 2 to"),
        (changed(release={"smallest_batch": 1001}), "cap: expected at least the smallest batch of 1,001"),
        (
            changed(release={"smallest_batch": 2**40}, cap=None),
            "smallest_batch: expected at most 1,073,741,824 reports",
        ),
        (changed(scheme=None), "scheme: expected a JSON object"),
        (changed(scheme={"scheme": "NO"}), "scheme: unknown scheme"),
        (changed(scheme=json.loads(SCHEME.to_json()) | {"epsilon": "0"}), "scheme: "),
    ],
)
def test_wrong_documents_are_refused_with_the_field(document: str | bytes, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Collection.from_document(document)


def test_a_scheme_whose_reports_can_be_linked_has_no_batches() -> None:
    linked = make("LOLOHA", epsilon=2, memo_epsilon=3, domain_size=16)
    assert Collection(name="x", scheme=linked).smallest_batch is None
    with pytest.raises(ParameterError, match="cannot be linked, got LOLOHA"):
        Collection(name="x", scheme=linked, smallest_batch=1000)


def test_a_slot_of_a_rota_or_a_memo_is_a_collection_and_others_keep_their_documents() -> None:
    for fields in ({"rota": 2**31 - 1, "slot": 2**31 - 1}, {"scheme": LASTING.to_dict()}, {"slot": 2**53}):
        made = Collection.from_document(changed(**fields))
        assert Collection.from_document(made.document) == made
        assert ("rota" in made.document) == ("rota" in fields)
    assert "rota" not in FULL.document


def test_a_scheme_without_an_item_for_others_is_warned_about() -> None:
    assert "no item for other values" in " ".join(Collection(name="x", scheme=SCHEME).warnings)
    other = make("OUE", epsilon=1, domain=plausibly.Labels(["a", "b"], other=True))
    assert Collection(name="x", scheme=other).warnings == ()


def test_fresh_hashes_change_all_shared_seeds_and_nothing_else() -> None:
    for name, kind in plausibly.CATALOG.items():
        for which, scheme in catalog.examples(kind).items():
            with case(f"{name} {which}"):
                fresh = with_fresh_hashes(scheme)
                assert len(fresh.hash_seeds) == len(scheme.hash_seeds)
                assert not fresh.hash_seeds & scheme.hash_seeds
                assert (fresh == scheme) == (not scheme.hash_seeds)
                assert plausibly.from_json(fresh.to_json()) == fresh
