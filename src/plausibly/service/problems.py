"""Problem documents (RFC 9457): what a client gets instead of an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

TITLES = {
    400: "The request cannot be understood",
    401: "A token is needed",
    403: "The token does not allow this",
    404: "There is nothing here",
    405: "This method is not allowed here",
    409: "Not yet",
    410: "The collection is closed",
    413: "The body is too large",
    429: "The collection has all reports that it accepts",
    500: "An error that should not happen",
    503: "The collector cannot answer now",
    507: "The disk of the collector is full",
}


def title_of(status: int) -> str:
    """A status in words."""
    return TITLES.get(status, HTTPStatus(status).phrase)


class ProblemError(Exception):
    """A problem to be answered, with its status and one sentence for people."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})

    def response(self) -> Response:
        """The problem as a response."""
        document = {
            "type": "about:blank",
            "title": title_of(self.status),
            "status": self.status,
            "detail": self.detail,
        }
        content = json.dumps(document, ensure_ascii=False)
        return Response(content, self.status, self.headers, media_type="application/problem+json")
