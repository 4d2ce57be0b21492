"""Collections of every kind for the tests of the dashboard, filled in a real collector, and an analyst who signs in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

import plausibly
from plausibly import Choices, Keys, Labels, Ordered, SeededRandom, Strings, Table, encode_reports, make
from plausibly.service.collections import Collection
from serving import Answer, Serving, new_key, place, serving

NOW = datetime.now(UTC).replace(microsecond=0)
LABELS = ["fern", "moss", "<b>oak</b>", "שלום", "rose"]
AGES = Ordered.bins([0, 18, 30, 50, 70, 120], unit="years")
APPS = Choices(["Maps", "<u>Mail</u>", "Chess"], other=True)
OWNED = [["Maps", "<u>Mail</u>"], ["Maps"], [], ["Chess", "Sudoku"], ["<u>Mail</u>", "Maps"]]
"""Half of those with Maps have mail as well, and nobody else has; a fifth has chess, and other apps, too."""
SHARES = [0.5, 0.25, 0.15, 0.06, 0.04]


def _drawn(items: Any, count: int, shares: list[float] | None = None, seed: int = 3) -> list[Any]:
    values: list[Any] = np.random.default_rng(seed).choice(items, count, p=shares).tolist()
    return values


def _collection(name: str, scheme: Any, **options: Any) -> Collection:
    return Collection(name=name, scheme=scheme, **options)


def _habit(i: int) -> dict[str, Any]:
    # Dark themes go with one browser; a tenth skips the question. Age and score have nothing to do with each other.
    browser = ("Firefox", "<i>Chrome</i>", "שלום")[i % 3]
    theme = None if i % 10 == 9 else "dark" if i % 3 == 0 else "light"
    return {"browser": browser, "theme": theme, "age": 20 + i * 7919 % 60, "score": i // 3 % 16}


def kinds() -> dict[str, tuple[Collection, list[Any]]]:
    """A collection of every kind that pages tell apart, with the values of its users."""
    plants = make("OUE", epsilon=2, domain=Labels(LABELS, other=True))
    ages = np.random.default_rng(5).normal(40, 12, 20_000).clip(0, 120).astype(int).tolist()
    window = {"opens": NOW - timedelta(days=12), "closes": NOW + timedelta(days=18)}
    survey = Table(
        {"browser": ["Firefox", "<i>Chrome</i>", "שלום"], "theme": ["dark", "light"], "age": AGES, "score": 16}
    )
    habits = [_habit(i) for i in range(20_000)]
    words = plausibly.TRELLIS(4, domain=Strings("abcd", 3), users=4000)
    return {
        "oracle": (_collection("plants", plants, minimum=1000, cap=60_000, **window), _drawn(LABELS, 30_000, SHARES)),
        "later": (_collection("plants, later", plants), _drawn(LABELS, 30_000, SHARES[::-1], 4)),
        "sketch": (
            _collection("crashes", make("CM", oracle=make("OLH", epsilon=4, domain_size=64), rows=4, domain=Keys())),
            _drawn(["/cart", "/login"], 5000, [0.7, 0.3]),
        ),
        "search": (_collection("words", words), _drawn(["abc", "dd"], 4000, [0.8, 0.2])),
        "ordered": (_collection("ages", make("SLIDE", epsilon=2, domain=Ordered(0, 120, unit="years"))), ages),
        "few in order": (_collection("rooms", make("OUE", epsilon=2, domain=Ordered(1, 9))), [3] * 600 + [5] * 400),
        "square wave": (_collection("waves", make("SW", epsilon=2, domain=Ordered(0, 63))), [20] * 700 + [40] * 300),
        "mean": (_collection("minutes", make("MEAN", epsilon=1, domain=Ordered(0, 240, unit="min"))), [60] * 3000),
        "many": (_collection("codes", make("HR", epsilon=2, domain_size=4000)), [7] * 9000 + list(range(1000))),
        "table": (_collection("habits", make("CLIQUE", epsilon=2, domain=survey)), habits),
        "single attributes": (_collection("answers", make("SMP", epsilon=2, domain=survey)), habits[:4000]),
        "choices": (_collection("apps", make("CLIQUE", epsilon=2, domain=APPS)), OWNED * 4000),
        "single choices": (_collection("apps, one by one", make("SMP", epsilon=2, domain=APPS)), OWNED * 400),
        "below the minimum": (_collection("few", plants, minimum=1000), ["fern"] * 350),
        "empty": (_collection("empty", plants, opens=NOW + timedelta(days=3)), []),
        "closed": (_collection("last year", plants, series="plants", slot=1), ["fern"] * 900),
        "noise": (_collection("noise", make("OUE", epsilon=1, domain=["a", "b", "c"])), ["a", "b", "c"] * 3),
    }


@dataclass
class Analyst:
    """A browser without a screen: it keeps a cookie, and says where its requests come from."""

    server: Serving
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=lambda: {"Sec-Fetch-Site": "same-origin"})

    def get(self, path: str = "", **headers: str) -> Answer:
        own = {"Cookie": self.cookie} if self.cookie else {}
        return self.server.request("GET", f"/dashboard{path}", headers=own | headers)

    def post(self, path: str, headers: dict[str, str] | None = None, **form: str) -> Answer:
        own = {"Cookie": self.cookie} if self.cookie else {}
        given = own | (self.headers if headers is None else headers)
        return self.server.request("POST", f"/dashboard{path}", urlencode(form), headers=given)

    def sign_in(self, token: str) -> Answer:
        answer = self.post("/sign-in", token=token)
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def page(self, path: str = "") -> str:
        """The text of a page that must be there."""
        answer = self.get(path)
        assert answer.status == 200, answer.body
        return answer.body.decode()


@dataclass
class Filled:
    """A collector with a collection of every kind."""

    server: Serving
    kinds: dict[str, Collection]

    def analyst(self, role: str = "read") -> Analyst:
        analyst = Analyst(self.server)
        assert analyst.sign_in(self.server.tokens[role]).status == 303
        return analyst

    def path(self, kind: str) -> str:
        return f"/collections/{self.kinds[kind].id}"

    def send(self, kind: str, values: list[Any]) -> None:
        scheme = self.kinds[kind].scheme
        body = encode_reports(scheme, scheme.privatize(values, SeededRandom(len(values))))
        answer = self.server.request("POST", f"{place(self.kinds[kind])}/reports/{new_key()}", body)
        assert answer.status == 201, answer.body


@contextmanager
def filled(folder: Path) -> Iterator[Filled]:
    """A collector with a collection of every kind; its log must stay without errors."""
    given = kinds()
    with serving(folder) as server:
        made = Filled(server, {kind: collection for kind, (collection, _) in given.items()})
        for kind, (collection, values) in given.items():
            assert server.request("POST", "/v1/collections", collection.document.encode(), "admin").status == 201
            if values:
                made.send(kind, values)
        assert server.request("POST", f"{place(made.kinds['closed'])}/close", role="admin").status == 200
        yield made
        assert server.terminate() == 0
        assert "error" not in server.logged(), server.logged()
        assert not re.search(r"plausibly_\w{20}", server.logged()), "no token is logged"
