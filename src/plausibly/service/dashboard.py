"""The dashboard over HTTP: who may see its pages, what browsers may do with them, and which page answers what."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qs, urlencode

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ..core.changes import changes
from ..core.errors import DomainError, ParameterError, StateError
from ..core.tables_only import TablesOnly
from ..pages.changes import ChangeReport, changes_plate
from ..pages.charts import svg_of, warm_up
from ..pages.html import lighter
from ..pages.listing import SORTS, Listing
from ..pages.plates import Plate
from ..version import __version__
from .answers import State, expect_enough
from .assets import ASSETS, SCRIPT, STYLE
from .collector import Collector
from .dashboard_pages import (
    Asked,
    Moment,
    changes_page,
    collection_page,
    collections_page,
    error_page,
    sign_in_page,
    trying_page,
    worth_comparing,
)
from .overview import Overview, overview
from .problems import ProblemError, title_of
from .progress import Progress
from .requests import FOREVER, STOPPING, as_file, collection_of, problem_of
from .routes import DASHBOARD, Operation
from .sessions import COOKIE, SECONDS, Sessions
from .tokens import Scope

_KEPT = 32
"""Number of overviews, comparisons and charts that are kept in memory."""
_LONGEST_FORM = 1 << 14
_MOST_ITEMS = 1000
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_POLICY_OF_PICTURES = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""A chart that is opened by itself has its own styles, and nothing else."""
_POLICY_OF_TRYING = _POLICY.replace("connect-src 'self'", "connect-src 'none'")
"""Where a visitor picks a secret, nothing can be sent."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_HERE = re.compile(rf"{DASHBOARD}(?:/[\w-][\w.-]*)*(?:\?[\w./?&=%+~*-]*)?", re.ASCII)
"""An address of the dashboard: no part of the path begins with a dot, so that nothing leads out of it."""
_LONGEST_WAY_BACK = 4000
"""The longest address, in characters, that a sign-in returns to; a header has an end, too."""
_BUILD = hashlib.sha256(f"{__version__} {STYLE.name} {SCRIPT.name}".encode()).hexdigest()[:8]
"""Part of all tags: a new version makes new pages of the same reports."""

_Handler = Callable[[Request], Awaitable[Response]]
_Made = TypeVar("_Made")


class Dashboard:
    """The pages of a collector. ``secure``: browsers send the cookie over TLS only, to the proxy in front."""

    def __init__(self, collector: Collector, *, secure: bool) -> None:
        self._collector, self._secure = collector, secure
        self._sessions = Sessions(collector.tokens, collector.folder.session_key)
        self._overviews: _Kept[Overview] = _Kept()
        self._pictures: _Kept[bytes] = _Kept()
        # Matplotlib's settings belong to the process.
        self._drawing = threading.Lock()
        self._warm_up_begun = False

    def guarded(self, operation: Operation) -> _Handler:
        """The function that answers an operation, for requests that may have it."""
        handler: _Handler = getattr(self, operation.name)

        async def answer(request: Request) -> Response:
            signed_in = False
            self._warm()
            try:
                signed_in = self._sessions.active(request.cookies.get(COOKIE))
                if operation.scope is not Scope.ANYONE and not signed_in:
                    return sealed(_see_other(f"{DASHBOARD}/sign-in?{urlencode({'to': _here(request)})}"))
                if operation.method == "POST":
                    _expect_own(request)
                return sealed(await handler(request))
            except ClientDisconnect:
                return Response(status_code=400)  # nobody is there to read it
            except asyncio.CancelledError:
                return problem_page(STOPPING, signed_in=signed_in)
            except Exception as error:
                problem = error if isinstance(error, ProblemError) else problem_of(error)
                return problem_page(problem, signed_in=signed_in)

        return answer

    def _warm(self) -> None:
        # The first chart of a process takes seconds. What it needs is loaded while the first visitor still signs in or
        # reads; a collector whose dashboard nobody opens never loads it.
        def work() -> None:
            with self._drawing:
                warm_up()

        if not self._warm_up_begun:
            self._warm_up_begun = True
            self._collector.errands.begin(work)

    # --- signing in --------------------------------------------------------------------------------------------

    async def page_sign_in(self, request: Request) -> Response:
        return _html(sign_in_page(_expect_here(request.query_params.get("to"))))

    async def page_signed_in(self, request: Request) -> Response:
        form = parse_qs((await _form(request)).decode("utf-8", "replace"))
        to = _expect_here(form.get("to", [""])[0])
        cookie = self._sessions.begin(form.get("token", [""])[0][:200])
        if cookie is None:
            told = "This token is not known. It may have been revoked, or copied in part."
            return _html(sign_in_page(to, refused=told), 403)
        response = _see_other(to)
        self._set_cookie(response, cookie, SECONDS)
        return response

    async def page_signed_out(self, request: Request) -> Response:
        await self._collector.errands.run(self._sessions.end, request.cookies.get(COOKIE, ""))
        response = _see_other(f"{DASHBOARD}/sign-in")
        self._set_cookie(response, "", 0)
        return response

    def _set_cookie(self, response: Response, value: str, seconds: int) -> None:
        response.set_cookie(
            COOKIE, value, max_age=seconds, path=DASHBOARD, secure=self._secure, httponly=True, samesite="strict"
        )

    async def page_try(self, request: Request) -> Response:
        response = _html(trying_page())
        response.headers["Content-Security-Policy"] = _POLICY_OF_TRYING
        return response

    # --- pages -------------------------------------------------------------------------------------------------

    async def page_static(self, request: Request) -> Response:
        asset = ASSETS.get(request.path_params["name"])
        if asset is None:
            raise ProblemError(404, "there is no such file")
        return Response(asset.content, headers={"Cache-Control": FOREVER}, media_type=asset.media)

    async def page_collections(self, request: Request) -> Response:
        def written() -> Response:
            accounts = self._collector.accounts()
            states = [
                (each.collection.id, each.received, each.released, Progress.of(each).window()) for each in accounts
            ]
            told = f"{sum(each.received for each in accounts):,} reports in {len(accounts):,} collections."
            return _unless_known(request, Moment(_tag(states), told), lambda now: collections_page(accounts, now))

        return await self._collector.errands.run(written)

    async def page_collection(self, request: Request) -> Response:
        identity, asked = (await collection_of(self._collector, request)).id, _asked(request)

        def written() -> Response:
            account, state = self._collector.answers.moment(identity)
            progress = Progress.of(account)
            found: list[Overview] = []

            def page(moment: Moment) -> str:
                found.extend([self._overview(identity, asked)] if progress.enough else [])
                # The account and the estimates are of one moment.
                newer = found and found[0].state.tag != state
                shown = found[0].state.account if newer else account
                return collection_page(shown, found[0] if found else None, asked, moment)

            tag = _tag((identity, state, account.received, progress.status, progress.window(), asked))
            return _unless_known(request, Moment(tag, f"{progress.reports()}."), page)

        return await self._collector.errands.run(written)

    async def page_chart(self, request: Request) -> Response:
        identity, asked = (await collection_of(self._collector, request)).id, _asked(request)
        name, narrow = request.path_params["name"], bool(request.query_params.get("narrow"))

        def written() -> Response:
            found = self._overview(identity, asked)
            for plate in found.plates():
                if plate.name == name:
                    return self._picture((identity, found.state.tag, asked.items, asked.pair), plate, narrow)
            raise ProblemError(404, "there is no such chart")

        return await self._collector.errands.run(written)

    async def page_csv(self, request: Request) -> Response:
        return await self._file(request, ".csv", "text/csv; charset=utf-8")

    async def page_parquet(self, request: Request) -> Response:
        return await self._file(request, ".parquet", "application/vnd.apache.parquet")

    async def _file(self, request: Request, ending: str, media: str) -> Response:
        collection, asked = await collection_of(self._collector, request), _asked(request)

        def written() -> Response:
            found = self._overview(collection.id, asked)
            answer = found.file_of(asked.pair)
            if answer is None:
                raise ParameterError(f"items: {found.unasked}")
            kept = {"Content-Disposition": f'attachment; filename="estimates-{collection.id[:12]}{ending}"'}
            return Response(as_file(ending, answer, found.state.account), headers=kept, media_type=media)

        return await self._collector.errands.run(written)

    async def page_changes(self, request: Request) -> Response:
        def written() -> Response:
            accounts = worth_comparing(self._collector.accounts())
            report, refused = None, ""
            if all(chosen):
                try:
                    report = self._compared(chosen, request)
                except (ParameterError, DomainError, StateError) as error:
                    refused = str(error)
            return _html(changes_page(accounts, chosen, report, items=_items(request), refused=refused))

        chosen = _chosen(request)
        return await self._collector.errands.run(written)

    async def page_changes_chart(self, request: Request) -> Response:
        def written() -> Response:
            report = self._compared(chosen, request)
            # By state, not by number of reports: a collection may be deleted and made again.
            states = [self._collector.answers.moment(identity)[1] for identity in chosen]
            key = (chosen, _items(request), report.same_users, *states)
            return self._picture(key, changes_plate(report), bool(request.query_params.get("narrow")))

        chosen = _chosen(request)
        return await self._collector.errands.run(written)

    # --- what pages show ---------------------------------------------------------------------------------------

    def _overview(self, identity: str, asked: Asked) -> Overview:
        account, state = self._collector.answers.moment(identity)
        expect_enough(account)
        answers, key = self._collector.answers, (identity, state, asked.items, asked.pair)
        return self._overviews.made(key, lambda: overview(answers, identity, asked.items, asked.pair))

    def _picture(self, key: Hashable, plate: Plate, narrow: bool) -> Response:
        def drawn() -> bytes:
            with self._drawing:
                return lighter(svg_of(plate.draw(narrow))).encode()

        content = self._pictures.made((key, plate.name, narrow), drawn)
        return Response(content, headers={"Content-Security-Policy": _POLICY_OF_PICTURES}, media_type="image/svg+xml")

    def _compared(self, chosen: tuple[str, str], request: Request) -> ChangeReport:
        if chosen[0] == chosen[1]:
            raise ParameterError("expected two different collections, got the same one twice")
        states = [self._state(identity) for identity in chosen]
        before, after = (each.collected for each in states)
        items: Any = _items(request) or None
        domains = [each.scheme.answers for each in (before, after)]
        if items is None and domains[0] != domains[1]:
            raise ParameterError("expected two collections of the same items, got others; name the items to compare")
        if items is not None:
            items = domains[0].parse(list(items))
            if domains[1].parse(list(_items(request))) != items:
                raise ParameterError("items: expected items that both collections name alike, got others")
        one = before.tally.estimate(items)
        same_users = bool(request.query_params.get("same_users"))
        found = changes(one, after.tally.estimate(one.items), same_users=same_users)
        names = states[0].account.collection.name, states[1].account.collection.name
        return ChangeReport(found, before, after, names, same_users, kind="Collection")

    def _state(self, identity: str) -> State:
        if not re.fullmatch(r"[0-9a-f]{64}", identity):
            raise ParameterError("expected two collections, got something else")
        state = self._collector.answers.state(identity)
        expect_enough(state.account)
        if isinstance(state.collected.scheme.estimator(), TablesOnly):
            raise ParameterError("expected two collections that count items, got tables of several attributes")
        return state


class _Kept(Generic[_Made]):
    """The last results, by what they were made from."""

    def __init__(self) -> None:
        self._found: OrderedDict[Hashable, _Made] = OrderedDict()
        self._own = threading.Lock()

    def made(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        with self._own:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        result = make()
        with self._own:
            self._found[key] = result
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return result


# --- requests --------------------------------------------------------------------------------------------------------


def _expect_own(request: Request) -> None:
    # A form of another site must not sign anybody in or out. Browsers say where a request comes from, in a header that
    # scripts cannot set; older ones only name the origin.
    site = request.headers.get("sec-fetch-site")
    _, _, origin = request.headers.get("origin", "").partition("://")
    if site == "same-origin" or (site is None and origin and origin == request.headers.get("host")):
        return
    raise ProblemError(403, "this form was not sent from a page of the dashboard; open the dashboard and try again")


async def _form(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _LONGEST_FORM:
            raise ProblemError(413, f"expected a form of at most {_LONGEST_FORM:,} bytes")
    return bytes(body)


def _here(request: Request) -> str:
    query = f"?{request.url.query}" if request.url.query else ""
    return request.url.path + query * (len(query) <= _LONGEST_WAY_BACK)


def _expect_here(to: str | None) -> str:
    # Only an address of the dashboard itself: a sign-in sends nobody elsewhere.
    return to if to is not None and _HERE.fullmatch(to) and not to.startswith(f"{DASHBOARD}/sign-") else DASHBOARD


def _items(request: Request) -> tuple[str, ...]:
    lines = [line.strip() for text in request.query_params.getlist("items") for line in text.splitlines()]
    items = tuple(dict.fromkeys(line for line in lines if line))
    if len(items) > _MOST_ITEMS:
        raise ParameterError(f"items: expected at most {_MOST_ITEMS:,}, got {len(items):,}")
    return items


def _asked(request: Request) -> Asked:
    given = request.query_params
    sort, page = given.get("sort", SORTS[0]), given.get("page", "1")
    if sort not in SORTS:
        raise ParameterError(f"sort: expected {' or '.join(SORTS)}, got something else")
    if not page.isdecimal() or not int(page[:9]) >= 1 or len(page) > 9:
        raise ParameterError("page: expected a number from 1 on, got something else")
    listing = Listing(given.get("find", "").strip()[:200], sort, int(page))
    return Asked(_items(request), listing, (given.get("rows", ""), given.get("columns", "")))


def _chosen(request: Request) -> tuple[str, str]:
    return request.query_params.get("before", ""), request.query_params.get("after", "")


# --- responses -------------------------------------------------------------------------------------------------------


def sealed(response: Response) -> Response:
    """The response with all that keeps a browser from doing more with it than to show it."""
    for name, value in {"Content-Security-Policy": _POLICY, "Cache-Control": "no-store", **_HEADERS}.items():
        response.headers.setdefault(name, value)
    return response


def problem_page(problem: ProblemError, *, signed_in: bool) -> Response:
    """A problem as a page for people."""
    return sealed(_html(error_page(title_of(problem.status), problem.detail, signed_in=signed_in), problem.status))


def _html(content: str, status: int = 200) -> Response:
    return Response(content, status, media_type="text/html; charset=utf-8")


def _see_other(address: str) -> Response:
    return Response(status_code=303, headers={"Location": address})


def _tag(state: object) -> str:
    return f'"{_BUILD}-{hashlib.sha256(repr(state).encode()).hexdigest()[:24]}"'


def _unless_known(request: Request, moment: Moment, write: Callable[[Moment], str]) -> Response:
    if request.headers.get("if-none-match") == moment.tag:
        return Response(status_code=304, headers={"ETag": moment.tag})
    response = _html(write(moment))
    response.headers["ETag"] = moment.tag
    return response
