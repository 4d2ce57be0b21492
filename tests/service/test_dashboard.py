"""The dashboard of a real collector: pages of every kind of collection, sessions, policies, and errors as pages."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from xml.etree import ElementTree

import pyarrow.parquet
import pytest

from dashboards import Analyst, Filled, filled
from plausibly import Ordered, SeededRandom, Table, make
from plausibly.core.estimates import Estimates
from plausibly.pages.listing import ROWS, Listing, listed
from plausibly.service.api import Blind
from plausibly.service.assets import ASSETS, SCRIPT, STYLE, TRY_SCRIPT, TRY_STYLE
from plausibly.service.collections import Collection
from plausibly.service.inbox import Account
from plausibly.service.overview import influence_of_fakes
from plausibly.service.progress import Progress
from plausibly.service.routes import PAGES
from plausibly.service.sessions import COOKIE, Sessions
from plausibly.service.tokens import Scope, Tokens, create_token, revoke_token, token_id
from serving import serving

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    with filled(tmp_path_factory.mktemp("dashboard") / "collector") as running:
        yield running


class Reader(HTMLParser):
    """The text of a page, and its elements; everything must be closed in order, and nothing is inline."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.elements, self._open = "", [("", {})], [""]  # type: ignore[var-annotated]
        self.feed(text)
        self.close()
        assert self._open == [""]

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        assert "style" not in given
        assert not [key for key in given if key.startswith("on")], "no handler in the markup"
        assert name != "style"
        self.elements.append((name, given))
        if name not in ("img", "input", "link", "meta", "source"):
            self._open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self._open.pop() == name

    def handle_data(self, text: str) -> None:
        assert self._open[-1] not in ("script", "style") or not text.strip(), "no inline script"
        self.text += text

    def all(self, name: str) -> list[dict[str, str]]:
        return [given for each, given in self.elements if each == name]


def read(analyst: Analyst, path: str = "") -> Reader:
    return Reader(analyst.page(path))


# --- pages -----------------------------------------------------------------------------------------------------------


def test_the_list_has_every_collection_with_its_progress(made: Filled) -> None:
    page = read(made.analyst())
    for collection in made.kinds.values():
        assert f"/dashboard/collections/{collection.id}" in [link["href"] for link in page.all("a")]
    for told in (
        *(
            "30,000 of at most 60,000 reports (50\N{NO-BREAK SPACE}%)",
            "350 of the 1,000 reports that an answer needs",
            "No reports yet",
        ),
        *("Accepts no more reports", "not open yet", "17 days left", "plants, 1"),
    ):
        assert told in page.text, told
    assert ("350", "1000") in [(given["value"], given["max"]) for given in page.all("progress")]


SAYS = {
    "oracle": ("Most common: fern", "allows for the choice of the largest", "<b>oak</b>", "שלום", "Since", "are fake"),
    "sketch": ("name the items to count", "Items to count, one on each line"),
    "search": ("Most common: abc", "How the strings were found", "The search finds", "p-value"),
    "ordered": ("Median", "Mean", "Histogram", "Distribution function", "Quantiles", "years"),
    "few in order": ("The estimates", "Distribution function", "Most common: 3"),
    "square wave": ("error unknown", "Distribution function"),
    "mean": ("Mean", "The mean is known to", "One fake report"),
    "many": ("Items 1 to 50 of 4,000", "Most common: 7", "“At most” marks"),
    "table": (
        "browser and theme",
        "Related",
        "<i>Chrome</i>",
        "Which two attributes?",
        "Each attribute",
        "approximate",
    ),
    "single attributes": ("SMP knows one attribute at a time", "Each attribute", "missing"),
    "choices": (
        "Most common: Maps",
        "Maps and <u>Mail</u>",
        "Related",
        "Which two items together?",
        "Every item",
        "Items 1 to 3 of 3",
        "Download all estimates",
        "Download the table of both items",
    ),
    "single choices": ("Most common: Maps", "Every item", "Items 1 to 3 of 3"),
    "below the minimum": ("Not yet", "650 more reports", "are needed before there is an answer"),
    "empty": ("Not yet", "No reports yet", "Opens on"),
    "closed": ("closed", "Accepts no more reports", "Most common: fern"),
    "noise": ("Nothing stands out",),
}


@pytest.mark.parametrize("kind", SAYS)
def test_a_page_of_every_kind_says_what_matters_and_its_charts_are_there(made: Filled, kind: str) -> None:
    analyst = made.analyst()
    page = read(analyst, made.path(kind))
    for told in SAYS[kind]:
        assert told in page.text, told
    assert "ε = " in page.text
    assert "do not agree" not in page.text, "with these seeds"
    narrow = [given["srcset"] for given in page.all("source")] if kind in ("oracle", "table") else []
    for image in [*(given["src"] for given in page.all("img")), *narrow]:
        chart = analyst.get(image.removeprefix("/dashboard"))
        assert (chart.status, chart.headers["content-type"]) == (200, "image/svg+xml")
        assert ElementTree.fromstring(chart.body).tag.endswith("svg")
    if kind in ("below the minimum", "empty"):
        assert not page.all("img"), "no estimate in any form"
        assert "95 % interval" not in page.text
        assert analyst.get(f"{made.path(kind)}/estimates.csv").status == 409
        assert analyst.get(f"{made.path(kind)}/charts/chart").status == 409
    else:
        assert page.all("img") or kind in ("sketch", "mean", "single attributes")


def test_items_that_cannot_be_listed_are_counted_when_they_are_named(made: Filled) -> None:
    analyst = made.analyst()
    page = read(analyst, f"{made.path('sketch')}?items=/cart%0A/login")
    assert "Most common: /cart" in page.text
    csv = analyst.get(f"{made.path('sketch')}/estimates.csv?items=/cart").body.decode()
    assert csv.count("\n") == 2
    assert analyst.get(f"{made.path('sketch')}/estimates.csv").status == 400
    many = "%0A".join(map(str, range(1001)))
    assert analyst.get(f"{made.path('sketch')}?items={many}").status == 400


def test_two_attributes_are_chosen_in_a_form_and_their_table_is_that_of_the_api(made: Filled) -> None:
    analyst, where = made.analyst(), made.path("table")
    page = read(analyst, where)
    assert [given["name"] for given in page.all("select")] == ["rows", "columns"]
    assert [given["value"] for given in page.all("option")] == ["browser", "theme", "age", "score"] * 2
    pair = "rows=age&columns=score"
    page = read(analyst, f"{where}?{pair}")
    assert [given["value"] for given in page.all("option") if "selected" in given] == ["age", "score"]
    assert "No relation found" in page.text, "with this seed"
    cells = server_table(made, pair)
    for cell in cells[:40]:
        assert f"{cell['estimate']:z,.0f}" in page.text
        assert f"± {(cell['high'] - cell['low']) / 2:z,.0f}" in page.text
    downloads = [given["href"] for given in page.all("a") if "download" in given]
    assert all(f"?{pair}" in each for each in downloads)
    api = made.server.request("GET", f"/v1{where}/table.csv?{pair}", role="read").body
    assert analyst.get(downloads[0].removeprefix("/dashboard")).body == api
    assert pyarrow.parquet.read_table(io.BytesIO(analyst.get(downloads[1].removeprefix("/dashboard")).body)).num_rows
    same = read(analyst, f"{where}?rows=age&columns=age")
    assert "Choose two different attributes." in same.text
    assert not same.all("img")
    assert analyst.get(f"{where}?rows=age&columns=nothing").status == 400
    assert analyst.get(f"{where}/charts/table-chart?{pair}&narrow=1").status == 200
    drawn = [analyst.get(f"{where}/charts/table-chart?{each}").body for each in (pair, "rows=score&columns=age")]
    assert drawn[0] != drawn[1]
    chosen = [given["value"] for given in read(analyst, "/changes").all("option")]
    assert made.kinds["table"].id not in chosen
    compared = read(analyst, f"/changes?before={made.kinds['table'].id}&after={made.kinds['single attributes'].id}")
    assert "expected two collections that count items" in compared.text.lower()


def test_all_items_of_choices_are_one_table_and_not_one_of_yes_and_no_for_each(made: Filled) -> None:
    analyst, where, server = made.analyst(), made.path("choices"), made.server
    page = read(analyst, where)
    assert "Each attribute" not in page.text
    rows = server.request("GET", f"/v1{where}/table", role="read").json["estimates"]
    for row in rows:
        assert f"{row['estimate']:z,.0f}" in page.text
    assert [given["value"] for given in page.all("option")] == [row["item"] for row in rows] * 2
    downloads = [given["href"].removeprefix("/dashboard") for given in page.all("a") if "download" in given]
    pair = "rows=Maps&columns=%3Cu%3EMail%3C%2Fu%3E"
    for address, route in zip(downloads, ("table.csv", "", f"table.csv?{pair}", ""), strict=True):
        assert analyst.get(address).status == 200
        if route:
            assert analyst.get(address).body == server.request("GET", f"/v1{where}/{route}", role="read").body
    other = read(analyst, f"{where}?rows=Chess&columns=other")
    assert "Chess and other" in other.text
    assert "Items 1 to 3 of 3" in other.text
    assert "Choose two different items." in read(analyst, f"{where}?rows=Chess&columns=Chess").text
    alone = read(analyst, made.path("single choices"))
    assert not alone.all("select")
    assert "Items 1 to 1 of 1" in read(analyst, f"{where}?find=chess").text


def server_table(made: Filled, query: str) -> list[dict[str, Any]]:
    found = made.server.request("GET", f"/v1{made.path('table')}/table?{query}", role="read").json
    cells: list[dict[str, Any]] = found["cells"]
    return cells


def test_a_table_without_room_on_a_page_is_a_download(made: Filled) -> None:
    scheme = make("CLIQUE", epsilon=2, domain=Table({"a": 60, "b": 200, "c": 2}))
    collection, server = Collection(name="large", scheme=scheme), made.server
    assert server.request("POST", "/v1/collections", collection.document.encode(), "admin").status == 201
    reports = scheme.privatize([(1, 2, 0)] * 500).tobytes()
    assert server.request("POST", f"/v1/collections/{collection.id}/reports/{'2' * 32}", reports).status == 201
    page = read(made.analyst(), f"/collections/{collection.id}")
    assert "The table has 61 rows and 201 columns, too many for a page" in page.text
    assert not page.all("img")


def test_tables_are_sorted_and_filtered_without_a_script(made: Filled) -> None:
    analyst, where = made.analyst(), made.path("many")
    sizes = [float(text) for text in re.findall(r'data-key="([^"]+)"', analyst.page(where))[::3]]
    assert len(sizes) == ROWS
    assert sizes == sorted(sizes, reverse=True)
    assert "allow for the choice of the largest" in read(analyst, where).text
    by_item = read(analyst, f"{where}?sort=item&page=2").text
    assert "Items 51 to 100 of 4,000, in the order of the domain" in by_item
    assert "had in mind" in by_item
    assert "Items 1 to 14 of 14" in read(analyst, f"{where}?find=399").text
    assert "No item matches" in read(analyst, f"{where}?find=nothing").text
    assert "Items 3,951 to 4,000" in read(analyst, f"{where}?page=999999").text, "the last page"
    assert "Next 50" not in read(analyst, f"{where}?page=80").text
    heads = [given.get("aria-sort") for given in read(analyst, where).all("th")]
    assert "descending" in heads
    assert "ascending" not in heads
    for wrong in ("sort=x", "page=0", "page=x", "page=99999999999"):
        assert analyst.get(f"{where}?{wrong}").status == 400, wrong


def test_marks_allow_for_the_whole_list_whatever_part_is_shown() -> None:
    tally = make("HR", epsilon=2, domain_size=2000).accumulator()
    tally.add(tally.scheme.privatize([3] * 2000 + list(range(2000)), SeededRandom(1)))
    found: Estimates = tally.estimate()
    standing = found.stands_out.tolist()
    assert 0 < sum(standing) < len(standing)
    for asked in (Listing(), Listing(sort="item"), Listing(find="3"), Listing(page=40)):
        rows = listed(found, asked)
        assert rows.marks is not None
        wanted = [standing[found.place(item)] for item in rows.shown.items.tolist()]
        assert rows.marks.tolist() == wanted


ODD = [
    *(
        "=1+1",
        "\x01",
        "\x0b",
        "\ufffe",
        "\uffff",
        "\U0001fffe",
        "\ufdd0",
        "a\u202eb",
        "\u2028",
        "a\nb",
        "]]>&amp;<!--",
        "-->",
    ),
    *("</text><script>alert(1)</script>", '" onload="x', "$x^2$", "\U0001f600", "e" + "\u0301" * 40, "x" * 500),
]


def test_labels_of_any_characters_break_no_page_chart_or_file(made: Filled) -> None:
    scheme = make("OUE", epsilon=3, domain=ODD)
    named = [Collection(name=name, scheme=scheme) for name in ("<script>alert(1)</script>", "=$x$")]
    for odd in named:
        assert made.server.request("POST", "/v1/collections", odd.document.encode(), "admin").status == 201
        Filled(made.server, {"odd": odd}).send("odd", ODD * 200)
    analyst, where = made.analyst(), f"/collections/{named[0].id}"
    both = f"?before={named[0].id}&after={named[1].id}"
    for path in ("", where, f"{where}?find=%EF%BF%BE", f"/changes{both}"):
        assert [given["src"] for given in read(analyst, path).all("script")] == [SCRIPT.address]
    for path in (f"{where}/charts/chart", f"{where}/charts/chart?narrow=1", f"/changes/chart{both}"):
        assert ElementTree.fromstring(analyst.get(path).body).tag.endswith("svg")
    rows = list(csv.reader(io.StringIO(analyst.get(f"{where}/estimates.csv").body.decode(), newline="")))
    assert [row[0] for row in rows[1:]] == [each if each[0] not in "=-" else f"'{each}" for each in ODD], "no formula"
    for ending in ("csv", "parquet"):
        name = analyst.get(f"{where}/estimates.{ending}").headers["content-disposition"]
        assert re.fullmatch(rf'attachment; filename="estimates-[0-9a-f]{{12}}\.{ending}"', name)


def test_attributes_and_units_of_any_characters_break_no_page_chart_or_file(made: Filled) -> None:
    names = ["<script>alert(1)</script>", '" onload="x', "=$x^2$", "]]>&amp;<!--", "\U0001f600"]
    odd = Table({names[0]: ["<img src=x>", "=1"], names[1]: Ordered(0, 9, unit="<b>"), **dict.fromkeys(names[2:], 2)})
    survey = Collection(name="x</title><svg onload=alert(1)>", scheme=make("CLIQUE", epsilon=3, domain=odd))
    ages = Collection(name="$\\frac", scheme=make("SLIDE", epsilon=3, domain=Ordered(0, 9, unit='"><script>$x$')))
    for each, values in ((survey, [["=1", 3, 0, 1, 1]] * 500), (ages, [4] * 500)):
        assert made.server.request("POST", "/v1/collections", each.document.encode(), "admin").status == 201
        Filled(made.server, {"odd": each}).send("odd", values)
    analyst, where = made.analyst(), f"/collections/{survey.id}"
    pairs = [urlencode({"rows": rows, "columns": columns}) for rows, columns in pairwise(names)]
    for path in (f"/collections/{ages.id}", *(f"{where}?{pair}" for pair in pairs)):
        page = read(analyst, path)
        assert [given["src"] for given in page.all("script")] == [SCRIPT.address]
        for image in page.all("img"):
            drawn = analyst.get(image["src"].removeprefix("/dashboard"))
            assert ElementTree.fromstring(drawn.body).tag.endswith("svg")
    for ending in ("csv", "parquet"):
        assert analyst.get(f"{where}/estimates.{ending}?{pairs[0]}").status == 200


def test_the_first_visitor_starts_loading_the_charts_and_reports_do_not(tmp_path: Path) -> None:
    with serving(tmp_path / "collector") as server:
        loaded = Path(f"/proc/{server.process.pid}/maps")
        assert server.request("GET", "/healthz").status == 200
        assert "ft2font" not in loaded.read_text(encoding="utf-8")
        assert Analyst(server).get("/sign-in").status == 200
        until = monotonic() + 30
        while "ft2font" not in loaded.read_text(encoding="utf-8") and monotonic() < until:
            sleep(0.02)
        # It may not be done yet; the end waits for it, because its list of fonts is in a folder that goes then.
        assert "ft2font" in loaded.read_text(encoding="utf-8")
        assert (server.terminate(), "Traceback" in server.logged()) == (0, False)


def test_downloads_are_those_of_the_api(made: Filled) -> None:
    analyst, collection = made.analyst(), made.kinds["oracle"]
    file = analyst.get(f"{made.path('oracle')}/estimates.csv")
    assert "attachment" in file.headers["content-disposition"]
    assert file.body == made.server.request("GET", f"/v1/collections/{collection.id}/estimates.csv", role="read").body
    table = pyarrow.parquet.read_table(io.BytesIO(analyst.get(f"{made.path('oracle')}/estimates.parquet").body))
    assert table.num_rows == 6
    assert "mean" in analyst.get(f"{made.path('mean')}/estimates.csv").body.decode()
    assert analyst.get(f"{made.path('mean')}/estimates.parquet").status == 400


def test_two_collections_are_compared_and_others_are_refused_in_words(made: Filled) -> None:
    analyst, kinds = made.analyst(), made.kinds
    both = f"before={kinds['oracle'].id}&after={kinds['later'].id}"
    assert "4 of 6 items changed" in read(analyst, f"/changes?{both}").text
    assert analyst.get(f"/changes/chart?{both}").headers["content-type"] == "image/svg+xml"
    some = read(analyst, f"/changes?{both}&items=fern%0Amoss").text
    assert "2 of 2 items changed" in some
    assert "Choose a collection" in read(analyst, "/changes").text
    for before, after, told in (
        ("oracle", "oracle", "two different collections"),
        ("oracle", "ordered", "the same items"),
        ("oracle", "below the minimum", "at least 1,000 reports"),
        ("mean", "oracle", "the same items"),
    ):
        page = read(analyst, f"/changes?before={kinds[before].id}&after={kinds[after].id}")
        assert told in page.text
        assert not page.all("img")
    assert "expected two collections" in read(analyst, "/changes?before=x&after=y").text.lower()
    assert analyst.get(f"/changes/chart?before=x&after={'0' * 64}").status == 400


def test_a_page_is_304_until_a_report_comes(made: Filled) -> None:
    analyst, where = made.analyst(), made.path("closed")
    for path in ("", where, f"{where}?sort=item", made.path("below the minimum")):
        first = analyst.get(path)
        assert first.headers["cache-control"] == "no-store"
        again = analyst.get(path, **{"If-None-Match": first.headers["etag"]})
        assert (again.status, again.body) == (304, b"")
        assert f'data-state="{first.headers["etag"]}"'.replace('""', '"') in first.body.decode().replace("&quot;", "")
    tag = analyst.get(made.path("later")).headers["etag"]
    made.send("later", ["fern"])
    assert analyst.get(made.path("later"), **{"If-None-Match": tag}).status == 200


def test_lost_groups_are_a_warning_on_the_page(made: Filled) -> None:
    scheme = make("SLIDE", epsilon=2, domain=made.kinds["ordered"].scheme.domain)
    reports = scheme.privatize([40] * 20_000, SeededRandom(1))
    groups = reports[reports.dtype.names[0]]
    kept = reports[groups != groups[0]]
    assert len(kept) < len(reports)
    collection = Collection(name="a group is lost", scheme=scheme)
    server = made.server
    assert server.request("POST", "/v1/collections", collection.document.encode(), "admin").status == 201
    sent = server.request("POST", f"/v1/collections/{collection.id}/reports/{'1' * 32}", kept.tobytes())
    assert sent.status == 201
    page = read(made.analyst(), f"/collections/{collection.id}")
    assert "Reports were lost or added, and the estimates are biased" in page.text
    assert "do not agree" not in page.text, "a loss explains that"


def test_reports_that_contradict_each_other_are_a_warning_on_the_page(made: Filled) -> None:
    scheme = make("OUE", epsilon=1, domain_size=64)
    honest = scheme.privatize(list(range(64)) * 300, SeededRandom(1))
    collection, server = Collection(name="attacked", scheme=scheme), made.server
    assert server.request("POST", "/v1/collections", collection.document.encode(), "admin").status == 201
    address = f"/v1/collections/{collection.id}/reports/"
    assert server.request("POST", address + "4" * 32, honest.tobytes()).status == 201
    assert "do not agree" not in read(made.analyst(), f"/collections/{collection.id}").text
    supports_all = b"\xff" * honest.dtype.itemsize
    assert server.request("POST", address + "5" * 32, supports_all * 400).status == 201
    told = read(made.analyst(), f"/collections/{collection.id}").text
    assert re.search(r"The reports do not agree with each other .*: the sum of all counts \(p below 1e-99\)", told)
    assert "at most one in 10,000 at each look" in told


def test_a_warning_about_the_scheme_says_nothing_about_python(made: Filled) -> None:
    told = read(made.analyst(), made.path("search")).text
    assert "Devices refuse this scheme unless told otherwise: it has no item for other values." in told
    assert "other=True" not in told


# --- access ----------------------------------------------------------------------------------------------------------


def test_every_page_needs_a_session_and_nothing_else_gives_one(made: Filled, tmp_path: Path) -> None:
    server, good = made.server, made.analyst()
    revoked, folder = made.analyst(), Path(server.process.args[2])  # type: ignore[index]
    token = create_token(folder / "tokens.json", Scope.READ)
    assert revoked.sign_in(token).status == 303
    assert revoked.get().status == 200
    revoke_token(folder / "tokens.json", token_id(token))
    ended = made.analyst()
    assert ended.post("/sign-out").status == 303
    ends, drawn, code = good.cookie.partition("=")[2].split(".")
    forged = [
        f"{COOKIE}={value}"
        for value in (
            *(server.tokens["read"], "", "x", "..", f"{int(ends) + 1}.{drawn}.{code}", f"{ends}.x.{code}"),
            *(f"{ends}.{drawn}.{code[:-1]}", f"{'9' * 30}.{drawn}.{code}", f"{ends}.{drawn}.é"),
        )
    ]
    strangers = [Analyst(server, cookie) for cookie in ("", "other=1", *(each for each in forged if each.isascii()))]
    for operation in PAGES:
        path = operation.path.replace("{id}", made.kinds["oracle"].id).replace("{name}", "chart")
        if operation.method != "GET" or operation.scope is Scope.ANYONE:
            continue
        for role in ("read", "admin"):
            assert made.analyst(role).get(path).status in (200, 400), path
        for each in (*strangers, revoked, ended):
            answer = each.get(path)
            assert answer.status == 303, (path, each.cookie)
            assert answer.headers["location"].startswith("/dashboard/sign-in?to=%2Fdashboard")
            assert answer.body == b""
        with_token = server.request("GET", f"/dashboard{path}", role="admin")
        assert with_token.status == 303, "a token in a header is for the API"


def test_a_session_opens_nothing_but_the_dashboard(made: Filled) -> None:
    analyst = made.analyst("admin")
    for path in ("/v1/collections", f"/v1/collections/{made.kinds['oracle'].id}/estimates"):
        assert made.server.request("GET", path, headers={"Cookie": analyst.cookie}).status == 401
    assert made.server.request("POST", "/v1/collections", "{}", headers={"Cookie": analyst.cookie}).status == 401


def test_only_the_dashboard_is_told_of_its_cookie_and_of_no_other() -> None:
    names = ("cookie", "origin", "sec-fetch-site", "user-agent", "referer", "authorization", "x-forwarded-for", "host")
    sent = [(name.encode(), b"theirs=1; plausibly-session=ours; more=2") for name in names]
    seen: dict[str, dict[bytes, bytes]] = {}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["client"] is None
        seen[scope["path"]] = dict(scope["headers"])

    paths = {"/v1/collections/x/reports/y", "/dashboards", "/dashboard", "/dashboard/changes"}
    for path in paths:
        asyncio.run(Blind(app)({"type": "http", "path": path, "headers": sent}, None, None))  # type: ignore[arg-type]
    for path in paths:
        if path in ("/dashboard", "/dashboard/changes"):
            assert set(seen[path]) == {b"cookie", b"origin", b"sec-fetch-site", b"host"}
            assert seen[path][b"cookie"] == b"plausibly-session=ours"
        else:
            assert set(seen[path]) == {b"authorization"}


def test_the_cookie_is_for_the_dashboard_alone_and_hides_the_token(made: Filled, tmp_path: Path) -> None:
    answer = Analyst(made.server).sign_in(made.server.tokens["read"])
    cookie = answer.headers["set-cookie"]
    assert made.server.tokens["read"] not in cookie
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/dashboard", "max-age=43200"} <= attributes
    assert "secure" not in attributes
    assert answer.headers["location"] == "/dashboard"
    with serving(tmp_path / "collector", "--behind-proxy") as proxied:
        behind = Analyst(proxied).sign_in(proxied.tokens["read"]).headers["set-cookie"]
        assert "secure" in behind.lower()


def test_wrong_tokens_and_long_forms_are_refused(made: Filled) -> None:
    stranger = Analyst(made.server)
    for token in ("", "x", made.server.tokens["read"][:-1], "plausibly_" + "A" * 400, "é\x00"):
        answer = stranger.sign_in(token)
        assert answer.status == 403
        assert "set-cookie" not in answer.headers
        assert "This token is not known" in Reader(answer.body.decode()).text
    assert stranger.post("/sign-in", token="x" * 20_000).status == 413


def test_forms_of_other_sites_are_refused(made: Filled) -> None:
    host = f"127.0.0.1:{made.server.port}"
    token = made.server.tokens["read"]
    for headers, status in (
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Origin": f"http://{host}"}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": f"http://{host}"}, 403),
        ({"Origin": "https://elsewhere.example"}, 403),
        *(({"Origin": origin}, 403) for origin in ("null", "", "http://", "http://[", f"http://[{host}", f"//{host}")),
        ({}, 403),
    ):
        answer = Analyst(made.server).post("/sign-in", headers=headers, token=token)
        assert answer.status == status, headers
        assert ("set-cookie" in answer.headers) == (status == 303)
    analyst = made.analyst()
    assert analyst.post("/sign-out", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert analyst.get().status == 200


def test_a_sign_in_leads_nowhere_else(made: Filled) -> None:
    token = made.server.tokens["read"]
    inside = f"/dashboard{made.path('oracle')}?sort=item"
    for to, where in (
        (inside, inside),
        ("https://elsewhere.example", "/dashboard"),
        ("//elsewhere.example", "/dashboard"),
        ("/dashboard\\@elsewhere.example", "/dashboard"),
        ("/dashboard.elsewhere.example", "/dashboard"),
        ("/dashboard\r\nX: y", "/dashboard"),
        ("/dashboard/sign-out", "/dashboard"),
        ("/dashboard/../v1/collections", "/dashboard"),
        ("/dashboard/%2e%2e/v1", "/dashboard"),
        ("/dashboard//elsewhere.example", "/dashboard"),
        ("/dashboard/changes/.", "/dashboard"),
        ("javascript:alert(1)", "/dashboard"),
    ):
        assert Analyst(made.server).post("/sign-in", token=token, to=to).headers["location"] == where
    asked = f"{made.path('sketch')}?items="
    for items in ("*", "a%0D%0Ab", "x" * 3000):
        location = Analyst(made.server).get(asked + items).headers["location"]
        to = parse_qs(urlsplit(location).query)["to"][0]
        assert (
            Analyst(made.server).post("/sign-in", token=token, to=to).headers["location"] == f"/dashboard{asked}{items}"
        )
    location = Analyst(made.server).get(asked + "x" * 60_000).headers["location"]
    assert made.server.request("GET", location).status == 200, "not longer than a header may be"


def test_sessions_end_with_their_time(tmp_path: Path) -> None:
    time = [1000.0]
    path = tmp_path / "tokens.json"
    token = create_token(path, Scope.READ)
    key = tmp_path / "sessions.key"
    sessions = Sessions(Tokens(path), key, seconds=60, clock=lambda: time[0])
    cookie = sessions.begin(token)
    assert cookie is not None
    assert sessions.active(cookie)
    assert key.stat().st_mode & 0o777 == 0o600
    assert Sessions(Tokens(path), key, clock=lambda: time[0]).active(cookie), "another collector on the same folder"
    (tmp_path / "other.key").write_bytes(bytes(32))
    assert not Sessions(Tokens(path), tmp_path / "other.key", clock=lambda: time[0]).active(cookie)
    assert not Sessions(Tokens(path), tmp_path / "no.key", clock=lambda: time[0]).active(cookie)
    assert not (tmp_path / "no.key").exists(), "made by a sign-in alone"
    time[0] = 1060
    assert not sessions.active(cookie)


def test_a_sign_out_ends_a_session_for_all_collectors_and_for_good(tmp_path: Path) -> None:
    time = [1000.0]
    path, key, ended = (tmp_path / name for name in ("tokens.json", "sessions.key", "sessions.ended"))
    token = create_token(path, Scope.READ)

    def collector() -> Sessions:
        return Sessions(Tokens(path), key, seconds=60, clock=lambda: time[0])

    here, there = collector(), collector()
    stolen, other = here.begin(token), here.begin(token)
    assert stolen is not None
    assert other is not None
    for forged in ("", "x", f"{other}0", "9999999999.0123456789abcdef.00"):
        here.end(forged)
    assert not ended.exists(), "only a session can be ended"
    here.end(stolen)
    for each in (here, there, collector()):
        assert not each.active(stolen)
        assert each.active(other), "the other one goes on"
    assert stolen.rpartition(".")[2] not in ended.read_text(encoding="ascii"), "the file opens nothing"
    assert ended.stat().st_mode & 0o777 == 0o600
    time[0] = 1059
    last = there.begin(token)
    assert last is not None
    time[0] = 1061
    there.end(last)
    assert ended.read_text(encoding="ascii").split() == [last.rpartition(".")[0]], "those that are over are dropped"


# --- headers and errors ----------------------------------------------------------------------------------------------

POLICY = {
    *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"),
    *("form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"),
    *("require-trusted-types-for 'script'", "trusted-types 'none'"),
}


def test_every_page_has_the_whole_policy(made: Filled) -> None:
    analyst, stranger = made.analyst(), Analyst(made.server)
    paths = ["", "/changes", "/sign-in", "/nothing", "/collections/x", *map(made.path, made.kinds)]
    for answer in (*map(analyst.get, paths), stranger.get(), stranger.sign_in("x"), analyst.get("/sign-out")):
        assert set(answer.headers["content-security-policy"].split("; ")) == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers


def test_the_try_page_is_for_everybody_and_may_not_even_connect(made: Filled) -> None:
    answer = Analyst(made.server).get("/try")
    policy = set(answer.headers["content-security-policy"].split("; "))
    assert policy == POLICY - {"connect-src 'self'"} | {"connect-src 'none'"}
    page = Reader(answer.body.decode())
    assert [given["src"] for given in page.all("script")] == [TRY_SCRIPT.address]
    assert TRY_STYLE.address in [given["href"] for given in page.all("link")]


def test_files_are_named_by_their_content_and_kept_forever(made: Filled) -> None:
    stranger = Analyst(made.server)
    page = Reader(stranger.get("/sign-in").body.decode())
    assert [given["src"] for given in page.all("script")] == [SCRIPT.address]
    assert STYLE.address in [given["href"] for given in page.all("link")]
    for asset in ASSETS.values():
        answer = stranger.get(f"/static/{asset.name}")
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"] == asset.media
        assert answer.body.decode() == asset.content
    assert stranger.get("/static/style.0000000000000000.css").status == 404


def test_other_methods_reveal_nothing(made: Filled) -> None:
    analyst, stranger, host = made.analyst(), Analyst(made.server), made.server
    for path in (
        "",
        made.path("oracle"),
        f"{made.path('oracle')}/charts/chart",
        f"{made.path('oracle')}/estimates.csv",
    ):
        head = host.request("HEAD", f"/dashboard{path}", headers={"Cookie": analyst.cookie})
        assert (head.status, head.body) == (200, b"")
        assert head.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in head.headers["content-security-policy"]
        assert host.request("HEAD", f"/dashboard{path}", headers={"Cookie": stranger.cookie}).status == 303
        asked = host.request("OPTIONS", f"/dashboard{path}", headers={"Origin": "https://elsewhere.example"})
        assert (asked.status, asked.body, asked.headers["allow"]) == (204, b"", "GET, HEAD, OPTIONS")
        assert not [name for name in asked.headers if name.startswith("access-control")]
        assert host.request("POST", f"/dashboard{path}", headers={"Cookie": analyst.cookie}).status == 405


def test_a_second_sign_in_is_a_session_of_its_own(made: Filled) -> None:
    first = made.analyst()
    planted = Analyst(made.server, first.cookie)  # by somebody who waits for a sign-in with it
    assert planted.sign_in(made.server.tokens["admin"]).status == 303
    assert planted.cookie != first.cookie
    assert first.post("/sign-out").status == 303
    assert first.get().status == 303
    assert planted.get().status == 200


def test_an_unknown_address_names_the_dashboard(made: Filled) -> None:
    assert made.server.request("GET", "/").json["detail"].endswith("people find the dashboard at /dashboard")


def test_errors_are_pages_for_browsers(made: Filled) -> None:
    analyst = made.analyst()
    for path, status in (
        ("/nothing", 404),
        (f"/collections/{'0' * 64}", 404),
        ("/collections/x", 404),
        (f"{made.path('oracle')}/charts/nothing", 404),
        (f"{made.path('oracle')}?sort=x", 400),
        ("/sign-out", 405),
    ):
        answer = analyst.get(path)
        assert answer.status == status, path
        assert Reader(answer.body.decode()).all("h1")


def test_the_effect_of_fakes_is_told_in_words() -> None:
    scheme = make("OUE", epsilon=1, domain_size=8)
    assert influence_of_fakes(scheme, 1) == "If a single report is fake, a count moves by at most 4 users."
    told = "If 1 % of the reports (2,000) are fake, a count moves by at most 6,328 users (3.2 % of the reports)."
    assert influence_of_fakes(scheme, 200_000) == told


def test_progress_is_told_in_words() -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    scheme = make("DE", epsilon=1, domain_size=4)

    def told(received: int, closed: bool = False, **options: object) -> tuple[str, str, str]:
        collection = Collection(name="x", scheme=scheme, **options)  # type: ignore[arg-type]
        progress = Progress(Account(1, collection, received=received, closed=closed), now)
        return progress.status, progress.reports(), progress.window()

    hour = timedelta(hours=1)
    assert told(0) == ("open", "No reports yet", "Without a fixed end.")
    assert told(5, cap=5) == ("full", "5 of at most 5 reports (100 %)", "Has all the reports that it accepts.")
    assert told(1, closes=now)[0::2] == ("closed", "Closed since 1 March 2026, 12:00 UTC.")
    assert told(1, closes=now + 5 * hour)[2] == "Until 1 March 2026, 17:00 UTC: 5 hours left."
    assert told(1, closes=now + hour / 60)[2].endswith("less than an hour left.")
    assert told(1, opens=now - 48 * hour)[2] == "Since 27 February 2026, 12:00 UTC, without a fixed end."
    assert told(1, opens=now + 49 * hour)[0::2] == (
        "not open yet",
        "Opens on 3 March 2026, 13:00 UTC, 2 days from now.",
    )
    assert told(1, True, opens=now)[2] == "Accepts no more reports; opened on 1 March 2026, 12:00 UTC."
