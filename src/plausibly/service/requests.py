"""What the API and the dashboard share: the collection of a request, files of answers, and errors as problems."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import Request

from ..core.errors import DomainError, ParameterError, PlausiblyError
from ..pages.answers import Answer
from ..pages.estimates import write_estimates
from ..pages.table_files import write_table
from ..pages.tables import TableAnswer
from .answers import INFLUENCE, TooFewError, UnknownError, facts_beside
from .collections import Collection
from .collector import Collector
from .inbox import Account, FullError
from .log import fault
from .problems import ProblemError
from .release import release_of

FOREVER = "public, max-age=31536000, immutable"
RETRY = {"Retry-After": "2"}
STOPPING = ProblemError(503, "the collector is being stopped; send the request again", RETRY)
"""The answer to a request that is cut off. Only the end of the collector cancels the tasks of requests."""
NO_COLLECTION = "there is no such collection"
_ID = re.compile(r"[0-9a-f]{64}")


async def collection_of(collector: Collector, request: Request) -> Collection:
    """The collection that the path of a request names."""
    identity = request.path_params["id"]
    if not _ID.fullmatch(identity):
        raise ProblemError(404, NO_COLLECTION)
    known = collector.known(identity)
    if known is not None:
        return known
    account = await collector.errands.run(collector.account, identity)
    if account is None:
        raise ProblemError(404, NO_COLLECTION)
    return account.collection


def problem_of(error: Exception) -> ProblemError:
    """The problem that an error is for the sender of a request."""
    if isinstance(error, ParameterError | DomainError):
        return ProblemError(400, str(error))
    if isinstance(error, UnknownError):
        return ProblemError(404, str(error))
    if isinstance(error, TooFewError):
        return ProblemError(409, str(error))
    # The message names files of this machine: it is for the log.
    fault(error)
    if isinstance(error, FullError):
        return ProblemError(507, "the disk of the collector is full")
    if isinstance(error, PlausiblyError | OSError):
        return ProblemError(503, "the collector cannot read what it needs; its log says why", RETRY)
    return ProblemError(500, "an error that should not happen; the log of the collector names it")


def facts_of(answer: Answer | TableAnswer, account: Account) -> dict[str, Any]:
    """What belongs beside an answer: ε, the influence of fake reports, and how batches are released."""
    made = answer.table if isinstance(answer, TableAnswer) else answer.estimates
    release = release_of(account)
    return facts_beside(answer.source.scheme, made.n) | ({} if release is None else {"release": release})


def as_file(ending: str, answer: Answer | TableAnswer, account: Account) -> bytes:
    """The content of a file of an answer, with the facts beside it; in CSV, those that are a number."""
    facts = facts_of(answer, account)
    if ending == ".csv":
        influence = facts[INFLUENCE]
        moves = None if influence is None else influence["count_moves_at_most"]
        facts = {"epsilon_per_report": facts["epsilon_per_report"], INFLUENCE: moves}
    told = replace(answer, beside=facts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"estimates{ending}"
        if isinstance(told, TableAnswer):
            write_table(path, told)
        else:
            write_estimates(path, told)
        return path.read_bytes()
