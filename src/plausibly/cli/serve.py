"""plausibly serve: a collector over HTTP."""

from __future__ import annotations

import os

from ..service.server import serve as served
from .common import exit_on_error, messages
from .options.serve import ServeOptions


def serve(request: ServeOptions) -> None:
    """Run ``plausibly serve``."""
    with exit_on_error(messages(), request, "Stopped."):
        served(
            request.folder,
            host=request.host,
            port=request.port,
            behind_proxy=request.behind_proxy,
            lines=request.as_json,
            inbox=request.inbox,
            leave=os._exit,
        )
