"""The table of routes: who may call what, and which answers there are. The API and its description are made from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .answers import QUESTIONS, SEARCHES, TABLES
from .tokens import Scope

PREFIX = "/v1"
DASHBOARD = "/dashboard"
_ID, _KEY = "/collections/{id}", "/collections/{id}/reports/{key}"
_JSON, _CSV, _PARQUET, _BYTES = (
    "application/json",
    "text/csv",
    "application/vnd.apache.parquet",
    "application/octet-stream",
)
_HTML, _SVG, _FORM = "text/html", "image/svg+xml", "application/x-www-form-urlencoded"
_ESTIMATES = (200, 304, 400, 401, 403, 404, 409, 503)
_CREATED = (
    "The body is the document of the collection. With `release`, an object with `smallest_batch`, reports are released "
    "in shuffled batches of at least this number only. Those that are left at the close are dropped if they are fewer."
)
_RELEASED = (
    "A collection with `release` answers from complete batches only, and `release.central` is their central ε, with "
    "its conditions. Other collections have no central ε: their answers change with every report, so that a reader who "
    "asks often sees batches of one report, which is protected by the ε of its scheme alone."
)
_CROSSED = (
    "`rows` and `columns` name attributes. Without `columns`, the answer is the estimates of one attribute. Without "
    "both, it is the count of every item, if the values are any number of listed items (`Choices`); other collections "
    "need `rows`."
)


@dataclass(frozen=True)
class Operation:
    """A method of a route."""

    method: str
    path: str
    name: str
    """Name of the function that answers."""
    scope: Scope
    summary: str
    statuses: tuple[int, ...]
    media: str | None = _JSON
    """Media type of a successful answer; None if it has no body."""
    body: str | None = None
    """Media type of the request's body, if it has one."""
    parameters: tuple[str, ...] = ()
    """Names of parameters in the query."""
    shared: bool = False
    """Whether pages of any origin may call it."""
    operator: bool = False
    """Whether it is for operators: open to this machine, and with a token otherwise."""
    about: str = ""
    """What its answer promises, if the summary does not say it."""
    page: bool = False
    """Whether it belongs to the dashboard: for browsers, with a cookie instead of a token, and errors as pages."""

    def to_dict(self) -> dict[str, Any]:
        """The operation as OpenAPI describes it."""
        names = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        given = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": _PATTERNS[name]}}
            for name in names
        ]
        given += [
            {"name": name, "in": "query", "required": False, "schema": {"type": "array", "items": {"type": "string"}}}
            for name in self.parameters
        ]
        described: dict[str, Any] = {
            "operationId": self.name,
            "summary": self.summary,
            "responses": {str(status): self._response(status) for status in self.statuses},
        }
        if self.about:
            described["description"] = self.about
        if given:
            described["parameters"] = given
        if self.body is not None:
            kind = _BODIES.get(self.body, {"type": "string", "format": "binary"})
            described["requestBody"] = {"required": True, "content": {self.body: {"schema": kind}}}
        if self.page:
            described["security"] = [{"session": []}] if self.scope is not Scope.ANYONE else [{}]
        elif self.scope is not Scope.ANYONE or self.operator:
            described["security"] = [{"token": []}, *([{}] if self.operator else [])]
        return described

    def _response(self, status: int) -> dict[str, Any]:
        if status >= 400 and self.page:
            return {"description": "A problem, as a page.", "content": {_HTML: {}}}
        if status >= 400:
            problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
            return {"description": "A problem.", "content": {"application/problem+json": problem}}
        described: dict[str, Any] = {"description": _DONE.get(status, "Done.")}
        if self.media is not None and status not in (204, 303, 304):
            described["content"] = {self.media: {}}
        return described


_PATTERNS = {"id": "^[0-9a-f]{64}$", "key": "^[0-9a-f]{32}$", "name": "^[a-z0-9.-]+$"}
_BODIES: dict[str, dict[str, Any]] = {
    _JSON: {"type": "object"},
    _FORM: {
        "type": "object",
        "properties": {"token": {"type": "string", "maxLength": 200}, "to": {"type": "string"}},
        "required": ["token"],
    },
}
_DONE = {303: "See another page, such as the one to sign in.", 304: "Not changed."}

OPERATIONS = (
    Operation(
        *("POST", "/collections", "create", Scope.ADMIN, "Create a collection."),
        *((200, 201, 400, 401, 403, 413, 503, 507), _JSON, _JSON),
        about=_CREATED,
    ),
    Operation(
        *("GET", "/collections", "collections", Scope.READ, "List all collections.", (200, 401, 403, 503)),
        about=_RELEASED,
    ),
    Operation(
        *("GET", _ID, "document", Scope.ANYONE, "The document of a collection; its SHA-256 is the id."),
        *((200, 304, 404, 503),),
        shared=True,
    ),
    Operation(
        *("GET", f"{_ID}/scheme", "scheme", Scope.ANYONE, "The scheme; the SHA-256 of its bytes is the fingerprint."),
        *((200, 304, 404, 503),),
        shared=True,
    ),
    Operation(
        *("POST", _KEY, "receive", Scope.ANYONE, "Send reports under a random key; the same key counts once."),
        *((200, 201, 400, 404, 409, 410, 413, 429, 503, 507), None, _BYTES),
        shared=True,
    ),
    Operation(
        *("GET", f"{_ID}/estimates", "estimates", Scope.READ, "Estimates, with intervals."),
        *(_ESTIMATES, _JSON, None, QUESTIONS),
        about=_RELEASED,
    ),
    Operation(
        *("GET", f"{_ID}/estimates.csv", "estimates_csv", Scope.READ, "Estimates as CSV."),
        *(_ESTIMATES, _CSV, None, QUESTIONS),
    ),
    Operation(
        *("GET", f"{_ID}/estimates.parquet", "estimates_parquet", Scope.READ, "Estimates as Parquet."),
        *(_ESTIMATES, _PARQUET, None, QUESTIONS),
    ),
    Operation(
        *("GET", f"{_ID}/table", "table", Scope.READ, "The table of one or two attributes of records, with intervals."),
        *(_ESTIMATES, _JSON, None, TABLES),
        about=f"{_CROSSED} {_RELEASED}",
    ),
    Operation(
        *("GET", f"{_ID}/table.csv", "table_csv", Scope.READ, "The table of attributes as CSV."),
        *(_ESTIMATES, _CSV, None, TABLES),
        about=_CROSSED,
    ),
    Operation(
        *("GET", f"{_ID}/table.parquet", "table_parquet", Scope.READ, "The table of attributes as Parquet."),
        *(_ESTIMATES, _PARQUET, None, TABLES),
        about=_CROSSED,
    ),
    Operation(
        *("GET", f"{_ID}/search", "search", Scope.READ, "The most common strings, with intervals."),
        *(_ESTIMATES, _JSON, None, SEARCHES),
        about=_RELEASED,
    ),
    Operation(
        *("GET", f"{_ID}/tally", "tally", Scope.ADMIN, "The tally file of all reports, or of complete batches."),
        *((200, 304, 401, 403, 404, 409, 503), _BYTES),
    ),
    Operation(
        *("POST", f"{_ID}/close", "close", Scope.ADMIN, "Accept no more reports."), (200, 401, 403, 404, 503, 507)
    ),
    Operation(
        *("DELETE", _ID, "delete", Scope.ADMIN, "Delete a collection with all its reports."),
        *((204, 401, 403, 404, 503, 507), None),
    ),
)
"""The operations under `PREFIX`."""

OPERATOR = (
    Operation(
        "GET", "/healthz", "healthz", Scope.READ, "Whether the process runs.", (200, 401, 403, 503), operator=True
    ),
    Operation(
        "GET", "/readyz", "readyz", Scope.READ, "Whether reports are accepted.", (200, 401, 403, 503), operator=True
    ),
    Operation(
        *("GET", "/metrics", "metrics", Scope.READ, "Counters for Prometheus.", (200, 401, 403, 503), "text/plain"),
        operator=True,
    ),
    Operation("GET", "/openapi.json", "description", Scope.ANYONE, "This description.", (200,)),
)

_ASKED = ("items", "rows", "columns")
_SHOWN = (*_ASKED, "find", "sort", "page")
_COMPARED = ("before", "after", "items", "same_users")

_PAGE = (200, 303, 400, 404, 409, 503)
PAGES = tuple(
    replace(each, page=True)
    for each in (
        Operation(
            *("GET", "", "page_collections", Scope.READ, "All collections with their progress."),
            *((200, 303, 304, 503), _HTML),
        ),
        Operation(
            "GET", "/sign-in", "page_sign_in", Scope.ANYONE, "The form for a token.", (200,), _HTML, None, ("to",)
        ),
        Operation(
            "POST", "/sign-in", "page_signed_in", Scope.ANYONE, "Begin a session.", (303, 403, 413, 503), None, _FORM
        ),
        Operation("POST", "/sign-out", "page_signed_out", Scope.ANYONE, "End the session.", (303, 403, 503), None),
        Operation("GET", "/try", "page_try", Scope.ANYONE, "A page to flip the coins of a report.", (200,), _HTML),
        Operation(
            "GET", "/static/{name}", "page_static", Scope.ANYONE, "A file that all pages load.", (200, 404), "text/css"
        ),
        Operation(
            *("GET", _ID, "page_collection", Scope.READ, "The page of a collection.", (200, 303, 304, 400, 404, 503)),
            *(_HTML, None, _SHOWN),
        ),
        Operation(
            *("GET", f"{_ID}/charts/{{name}}", "page_chart", Scope.READ, "A chart of a collection's page."),
            *(_PAGE, _SVG, None, (*_SHOWN, "narrow")),
        ),
        Operation(
            *("GET", f"{_ID}/estimates.csv", "page_csv", Scope.READ, "The page's estimates as CSV."),
            *(_PAGE, _CSV, None, _ASKED),
        ),
        Operation(
            *("GET", f"{_ID}/estimates.parquet", "page_parquet", Scope.READ, "The page's estimates as Parquet."),
            *(_PAGE, _PARQUET, None, _ASKED),
        ),
        Operation(
            *("GET", "/changes", "page_changes", Scope.READ, "What changed between two collections."),
            *((200, 303, 400, 503), _HTML, None, _COMPARED),
        ),
        Operation(
            *("GET", "/changes/chart", "page_changes_chart", Scope.READ, "The chart of the changes.", _PAGE, _SVG),
            *(None, (*_COMPARED, "narrow")),
        ),
    )
)
"""The operations of the dashboard, under `DASHBOARD`."""


def is_page(path: str) -> bool:
    """Whether a path belongs to the dashboard."""
    return path == DASHBOARD or path.startswith(f"{DASHBOARD}/")


def all_operations() -> list[tuple[str, Operation]]:
    """Each operation with its whole path."""
    return [(PREFIX + each.path, each) for each in OPERATIONS] + [
        *((each.path, each) for each in OPERATOR),
        *((DASHBOARD + each.path, each) for each in PAGES),
    ]
