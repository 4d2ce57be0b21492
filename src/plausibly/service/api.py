"""The API over HTTP: each function answers one operation of the table of routes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from ..pages.answers import Answer
from ..pages.tables import TableAnswer
from .answers import State, expect_enough
from .collections import Collection
from .collector import Collector, summary
from .dashboard import Dashboard, problem_page
from .inbox import KEY_BYTES, Account, Outcome
from .metrics import metrics_text
from .openapi import openapi
from .problems import ProblemError
from .requests import FOREVER, NO_COLLECTION, RETRY, STOPPING, as_file, collection_of, facts_of, problem_of
from .routes import Operation, all_operations, is_page
from .sessions import COOKIE
from .tokens import Scope
from .writer import Arrival, Failure, Replies, Reply

MOST_BODY = 1 << 23
"""The largest body in bytes."""
MOST_RECEIVING = 1 << 28
"""The most bytes of bodies in memory that are not yet complete."""
_HEADERS = frozenset({b"authorization", b"content-encoding", b"content-length", b"if-none-match"})
"""All that the application is told of a request's header."""
_OF_BROWSERS = frozenset({b"content-length", b"host", b"if-none-match", b"origin", b"sec-fetch-site"})
"""All that the dashboard is told of a request's header, beside its own cookie."""
_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}")
_NOT_STORED = "the reports could not be stored; send them again later under the same key"

_Handler = Callable[[Request], Awaitable[Response]]


def application(collector: Collector, *, behind_proxy: bool = False) -> ASGIApp:
    """The application of a collector. Behind a proxy, requests of operators need a token, too."""
    api = _Api(collector, behind_proxy)
    by_path: dict[str, list[Operation]] = {}
    for path, operation in all_operations():
        by_path.setdefault(path, []).append(operation)
    # A path with a suffix comes before the one that it begins with.
    routes = [api.route(path, operations) for path, operations in sorted(by_path.items(), reverse=True)]
    app = Starlette(routes=routes, lifespan=api.lifespan, exception_handlers={HTTPException: _http_problem})
    app.router.redirect_slashes = False
    return Blind(app)


class Blind:
    """The application without addresses, agents and referrers, and only the dashboard with its cookie."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Run the application on what is left of the request."""
        if scope["type"] == "http":
            given = scope["headers"]
            kept = _OF_BROWSERS if is_page(scope["path"]) else _HEADERS
            headers = [(name, value) for name, value in given if name in kept]
            headers += _own_cookie(given) if is_page(scope["path"]) else []
            scope = {**scope, "headers": headers, "client": None, "server": None}
        await self._app(scope, receive, send)


def _own_cookie(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    # Other applications of the same host have cookies, too, which are none of ours.
    crumbs = [crumb.strip() for name, value in headers if name == b"cookie" for crumb in value.split(b";")]
    return [(b"cookie", crumb) for crumb in crumbs if crumb.startswith(f"{COOKIE}=".encode())][:1]


async def _http_problem(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    detail = "the request has another method than this address takes"
    if status == 404:
        detail = "the address is unknown; people find the dashboard at /dashboard"
    problem = ProblemError(status, detail, headers)
    return problem_page(problem, signed_in=False) if is_page(request.url.path) else problem.response()


class _Api:
    def __init__(self, collector: Collector, behind_proxy: bool) -> None:
        self._collector, self._behind_proxy = collector, behind_proxy
        self._receiving = 0
        self._waking = False
        self._dashboard = Dashboard(collector, secure=behind_proxy)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def deliver(replies: Replies) -> None:
            with suppress(RuntimeError):  # the loop is closed, and nobody is left to be answered
                loop.call_soon_threadsafe(_settle, replies)

        self._collector.deliver = deliver
        self._collector.roller.start()
        yield

    def route(self, path: str, operations: list[Operation]) -> Route:
        handlers = {each.method: self._guarded(each) for each in operations}
        methods = sorted({*handlers, "OPTIONS", *(["HEAD"] if "GET" in handlers else [])})
        shared = any(each.shared for each in operations)

        async def answer(request: Request) -> Response:
            if request.method == "OPTIONS":
                response = Response(status_code=204, headers={"Allow": ", ".join(methods)})
                if shared:
                    allowed = ", ".join(each.method for each in operations if each.shared)
                    response.headers["Access-Control-Allow-Methods"] = allowed
                    response.headers["Access-Control-Max-Age"] = "86400"
            else:
                method = "GET" if request.method == "HEAD" else request.method
                shared_here = any(each.shared for each in operations if each.method == method)
                response = await handlers[method](request)
                if not shared_here:
                    return response
            if shared:
                response.headers["Access-Control-Allow-Origin"] = "*"
            return response

        return Route(path, answer, methods=methods)

    def _guarded(self, operation: Operation) -> _Handler:
        if operation.page:
            return self._dashboard.guarded(operation)
        handler: _Handler = getattr(self, operation.name)
        needed = operation.scope
        if operation.operator and not self._behind_proxy:
            needed = Scope.ANYONE  # the collector then listens on this machine alone

        async def answer(request: Request) -> Response:
            try:
                self._authorize(request, needed)
                return await handler(request)
            except ProblemError as problem:
                return problem.response()
            except ClientDisconnect:
                return Response(status_code=400)  # nobody is there to read it
            except asyncio.CancelledError:
                return STOPPING.response()
            except Exception as error:
                return problem_of(error).response()

        return answer

    def _authorize(self, request: Request, needed: Scope) -> None:
        if needed is Scope.ANYONE:
            return
        given = self._collector.tokens.scope(request.headers.get("authorization"))
        if given is None or given is Scope.ANYONE:
            raise ProblemError(401, "send a token: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"})
        if not given.allows(needed):
            raise ProblemError(403, f"this needs a token of scope {needed.value}")

    # --- collections -------------------------------------------------------------------------------------------

    async def create(self, request: Request) -> Response:
        collection = await self._collector.errands.run(Collection.from_document, await self._body(request))
        new = await self._collector.errands.run(self._collector.create, collection)
        where = {"Location": f"/v1/collections/{collection.id}"}
        said = {"id": collection.id, "fingerprint": collection.scheme.fingerprint(), "warnings": collection.warnings}
        return _json(said, 201 if new else 200, where)

    async def collections(self, request: Request) -> Response:
        accounts = await self._collector.errands.run(self._collector.accounts)
        return _json({"collections": [summary(each) for each in accounts]})

    async def document(self, request: Request) -> Response:
        found = await self._collection(request)
        return _unchanging(request, found.document.encode(), found.id)

    async def scheme(self, request: Request) -> Response:
        found = (await self._collection(request)).scheme
        return _unchanging(request, found.to_json().encode(), found.fingerprint())

    async def close(self, request: Request) -> Response:
        identity = (await self._collection(request)).id
        await self._collector.errands.run(self._collector.close, identity)
        account = await self._collector.errands.run(self._collector.account, identity)
        return _json(summary(account) if account is not None else {})

    async def delete(self, request: Request) -> Response:
        identity = (await self._collection(request)).id
        await self._collector.errands.run(self._collector.delete, identity)
        return Response(status_code=204)

    # --- reports -----------------------------------------------------------------------------------------------

    async def receive(self, request: Request) -> Response:
        key = request.path_params["key"]
        if not _KEY.fullmatch(key):
            raise ProblemError(400, f"expected a key of {2 * KEY_BYTES} hexadecimal digits in the address")
        # Not read from the inbox each time: the commit answers for collections that are closed or deleted.
        met = self._collector.met(request.path_params["id"])
        collection = met if met is not None else await self._collection(request)
        now = datetime.now(UTC)
        if collection.opens is not None and now < collection.opens:
            raise ProblemError(409, "the collection has not opened yet")
        if collection.closes is not None and now >= collection.closes:
            raise ProblemError(410, "the collection accepts no more reports")
        body = await self._body(request)
        ticket: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        if not self._collector.writer.submit(Arrival(collection, bytes.fromhex(key), body, ticket)):
            raise ProblemError(503, "too many reports are waiting; send them again later under the same key", RETRY)
        self._wake_writer_soon()
        return _replied(await ticket)

    def _wake_writer_soon(self) -> None:
        # After all requests that the loop reads in this round. Woken by the first of them, the writer would commit a
        # few at a time, and the two threads would take the interpreter's lock from each other for each.
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_soon(self._wake_writer)

    def _wake_writer(self) -> None:
        self._waking = False
        self._collector.writer.wake()

    # --- answers -----------------------------------------------------------------------------------------------

    async def estimates(self, request: Request) -> Response:
        return await self._answered(request, self._collector.answers.estimates, _as_json)

    async def estimates_csv(self, request: Request) -> Response:
        return await self._answered(request, self._collector.answers.estimates, _as_csv)

    async def estimates_parquet(self, request: Request) -> Response:
        return await self._answered(request, self._collector.answers.estimates, _as_parquet)

    async def search(self, request: Request) -> Response:
        return await self._answered(request, self._collector.answers.search, _as_json)

    async def table(self, request: Request) -> Response:
        return await self._answered(request, self._collector.answers.table, _as_json)

    async def table_csv(self, request: Request) -> Response:
        return await self._answered(request, self._collector.answers.table, _as_csv)

    async def table_parquet(self, request: Request) -> Response:
        return await self._answered(request, self._collector.answers.table, _as_parquet)

    async def tally(self, request: Request) -> Response:
        def written() -> Response:
            state = self._collector.answers.state(identity)
            expect_enough(state.account)
            tag = _tag(identity, state.tag)
            if tag == request.headers.get("if-none-match"):
                return Response(status_code=304, headers={"ETag": tag})
            content = state.collected.to_bytes()
            return Response(content, headers={"ETag": tag}, media_type="application/octet-stream")

        identity = (await self._collection(request)).id
        return await self._collector.errands.run(written)

    async def _answered(
        self,
        request: Request,
        ask: Callable[[str, Mapping[str, list[str]]], tuple[State, Answer | TableAnswer]],
        write: Callable[[Answer | TableAnswer, Account], tuple[bytes, str]],
    ) -> Response:
        asked: dict[str, list[str]] = {}
        for name, text in request.query_params.multi_items():
            asked.setdefault(name, []).append(text)

        def written() -> Response:
            known = request.headers.get("if-none-match")
            if known is not None and known == _tag(identity, self._collector.answers.tag(identity)):
                return Response(status_code=304, headers={"ETag": known})
            state, answer = ask(identity, asked)
            content, media = write(answer, state.account)
            headers = {"ETag": _tag(identity, state.tag), "Cache-Control": "no-cache"}
            return Response(content, headers=headers, media_type=media)

        identity = (await self._collection(request)).id
        return await self._collector.errands.run(written)

    # --- operators ---------------------------------------------------------------------------------------------

    async def healthz(self, request: Request) -> Response:
        return _json({"status": "alive"})

    async def readyz(self, request: Request) -> Response:
        await self._collector.errands.run(self._collector.expect_ready)
        return _json({"status": "ready"})

    async def metrics(self, request: Request) -> Response:
        return Response(metrics_text(self._collector), media_type="text/plain; version=0.0.4")

    async def description(self, request: Request) -> Response:
        return _json(openapi())

    # --- requests ----------------------------------------------------------------------------------------------

    async def _collection(self, request: Request) -> Collection:
        return await collection_of(self._collector, request)

    async def _body(self, request: Request) -> bytes:
        if request.headers.get("content-encoding", "").lower() not in ("", "identity"):
            # Compressed bytes can be valid records, too, and would count as other reports.
            raise ProblemError(400, "expected a body that is not compressed; send it without Content-Encoding")
        said = request.headers.get("content-length", "")
        if said.isdecimal() and int(said) > MOST_BODY:
            raise _too_large()
        body = bytearray()
        try:
            async for piece in request.stream():
                body += piece
                self._receiving += len(piece)
                if len(body) > MOST_BODY:
                    raise _too_large()
                if self._receiving > MOST_RECEIVING:
                    raise ProblemError(503, "too many reports are arriving; send them again later", RETRY)
        finally:
            self._receiving -= len(body)
        return bytes(body)


_REPLIES: dict[Outcome | Failure, ProblemError | int] = {
    Outcome.NEW: 201,
    Outcome.REPEATED: 200,
    Outcome.CLOSED: ProblemError(410, "the collection accepts no more reports"),
    Outcome.CAPPED: ProblemError(429, "the collection has all reports that it accepts"),
    Outcome.UNKNOWN: ProblemError(404, NO_COLLECTION),
    Failure.NO_ROOM: ProblemError(507, _NOT_STORED),
    Failure.BROKEN: ProblemError(503, _NOT_STORED, RETRY),
}


def _replied(reply: Reply) -> Response:
    if reply.outcome is Outcome.REFUSED:
        raise ProblemError(400, reply.reason)
    found = _REPLIES[reply.outcome]
    return found.response() if isinstance(found, ProblemError) else Response(status_code=found)


def _settle(replies: Replies) -> None:
    for arrival, reply in replies:
        if not arrival.ticket.done():  # the sender may have gone
            arrival.ticket.set_result(reply)


def _too_large() -> ProblemError:
    return ProblemError(413, f"expected at most {MOST_BODY:,} bytes; send several batches under different keys")


def _as_json(answer: Answer | TableAnswer, account: Account) -> tuple[bytes, str]:
    content = replace(answer, beside=facts_of(answer, account)).to_dict()
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode(), "application/json"


def _as_csv(answer: Answer | TableAnswer, account: Account) -> tuple[bytes, str]:
    return as_file(".csv", answer, account), "text/csv"


def _as_parquet(answer: Answer | TableAnswer, account: Account) -> tuple[bytes, str]:
    return as_file(".parquet", answer, account), "application/vnd.apache.parquet"


def _tag(identity: str, tag: str) -> str:
    return f'"{identity[:16]}-{tag}"'


def _unchanging(request: Request, content: bytes, digest: str) -> Response:
    headers = {"ETag": f'"{digest}"', "Cache-Control": FOREVER}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="application/json")


def _json(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return Response(text, status, dict(headers or {}), media_type="application/json")
