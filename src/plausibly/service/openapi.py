"""The OpenAPI 3.1 description of the collector, made from its table of routes."""

from __future__ import annotations

from typing import Any

from ..version import __version__
from .routes import all_operations
from .sessions import COOKIE


def openapi() -> dict[str, Any]:
    """The OpenAPI document of the collector."""
    paths: dict[str, dict[str, Any]] = {}
    for path, operation in all_operations():
        described = paths.setdefault(path, {})
        described[operation.method.lower()] = operation.to_dict()
        described["options"] = {
            "operationId": f"options_{operation.name}",
            "summary": "The methods of this route.",
            "responses": {"204": {"description": "The methods are in the header Allow."}},
            **({"parameters": parameters} if (parameters := _path_parameters(operation.to_dict())) else {}),
        }
    problem = {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "plausibly collector",
            "version": __version__,
            "summary": "Reports under local differential privacy: devices send them, analysts read estimates.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": problem},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
    }


def _path_parameters(described: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in described.get("parameters", ()) if each["in"] == "path"]
