"""The parts that engines on other processes and machines share: jobs, tasks and replies as bytes.

An engine sends bytes, and runs two functions of this module on its workers::

    job = pack_job(work, merge)                                  # once; contains the key, if there is one
    tasks = [pack_task(number, task) for number, task in enumerate(tasks)]
    reply = run(job, tasks[:2])                                  # on a worker: fold some tasks into one state
    reply = combine(job, [reply, other])                         # on a worker: merge the states of some replies

    wave = Wave(range(len(tasks)))                               # here
    state = wave.state(reply)                                    # raises the error of a worker, if there is one
    wave.expect_all()                                            # when all replies of the wave are in

Replies are compressed, and say which tasks they cover and what their worker runs. A `Wave` refuses a reply of another
version of plausibly, and a task that comes twice or never. Errors of plausibly travel in a reply: every attempt would
fail in the same way, so they reach the caller as they are. All other errors are raised on the worker, where the engine
may try the task again.
"""

from __future__ import annotations

import json
import pickle
import platform
import struct
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cache, lru_cache, reduce
from typing import Any

from .. import kernels
from ..core.errors import PlausiblyError, StateError
from ..version import __version__

_PREFIX = struct.Struct("<I")
_LEVEL = 1

Work = Callable[[Any], Any]
Merge = Callable[[Any, Any], Any]


def pack_job(work: Work, merge: Merge) -> bytes:
    """The bytes of a job: the two functions that workers run."""
    return _packed(_Label(), (work, merge))


def pack_task(number: int, task: object) -> bytes:
    """The bytes of a task with its number, by which a `Wave` knows it again."""
    return _packed(_Label(tasks=(number,)), task)


def run(job: bytes, tasks: Iterable[bytes]) -> bytes:
    """The reply of a worker: the merged state of these tasks, of which there is at least one."""
    packed = list(tasks)
    numbers = tuple(number for each in packed for number in _label(each).tasks)
    return _reply(job, numbers, map(_loaded, packed))


def run_on(job: bytes, number: int, given: object) -> bytes:
    """The reply of a worker to a task that has this number, and that is on the worker already, like rows of a table."""
    return _reply(job, (number,), [given])


def _reply(job: bytes, numbers: tuple[int, ...], tasks: Iterable[Any]) -> bytes:
    if _label(job).version != __version__:  # its pickle may name functions that do not exist here
        return _packed(_Label(numbers, "version"), None)
    try:
        work, merge = _job(job)
        return _packed(_Label(numbers), reduce(merge, map(work, tasks)))
    except (PlausiblyError, ImportError) as error:
        return _packed(_Label(numbers, "error"), error)


def combine(job: bytes, replies: Iterable[bytes]) -> bytes:
    """The reply of a worker that merges the states in other replies. An error in one of them is passed on."""
    packed = list(replies)
    labels = [_label(each) for each in packed]
    for reply, label in zip(packed, labels, strict=True):
        if label.problem or label.version != __version__ or len(packed) == 1:
            return reply
    numbers = tuple(number for label in labels for number in label.tasks)
    slow = next((label for label in labels if label.kernels != "c"), labels[0])
    try:
        _, merge = _job(job)
        return _packed(_Label(numbers, kernels=slow.kernels), reduce(merge, map(_content, packed)))
    except PlausiblyError as error:
        return _packed(_Label(numbers, "error"), error)


class Wave:
    """The replies to some tasks, each of which must be in exactly one reply.

    Without ``numbers``, the tasks are not known beforehand, and each may come once.
    """

    def __init__(self, numbers: Iterable[int] | None = None) -> None:
        self._sent = None if numbers is None else frozenset(numbers)
        self._seen: set[int] = set()

    def state(self, reply: bytes) -> Any:
        """The state in a reply. Raise the error in it, and refuse other versions and tasks that are not missing."""
        label = _label(reply)
        if label.version != __version__:
            raise StateError(
                f"the worker {label.host} runs plausibly {label.version}, this process {__version__}; "
                "install the same version on all workers"
            )
        if label.problem:
            error = _content(reply)
            error.add_note(f"raised on {label.host}")
            raise error
        if label.kernels != "c":
            _warn_of_slow_kernels()
        again = len(set(label.tasks)) < len(label.tasks) or not self._seen.isdisjoint(label.tasks)
        if again or not (self._sent is None or self._sent.issuperset(label.tasks)):
            raise StateError(f"the engine returned {_named(label.tasks)}, of which at least one was returned before")
        self._seen.update(label.tasks)
        return _content(reply)

    def expect_all(self) -> None:
        """Raise unless the replies of the wave cover all its tasks."""
        if missing := sorted((self._sent or frozenset()) - self._seen):
            raise StateError(f"the engine did not return {_named(missing)}; repeat the call to resume")


@dataclass(frozen=True)
class _Label:
    """The readable part of a message. Every version understands it: fields may be added, but none may change."""

    tasks: tuple[int, ...] = ()
    problem: str = ""
    """Empty if the message has a state; "error" or "version" if it has none."""
    version: str = __version__
    kernels: str = kernels.active
    host: str = platform.node()
    size: int = 0
    """Size of the compressed content before compression; 0 if it is not compressed."""


def _packed(label: _Label, content: object) -> bytes:
    body = pickle.dumps(content, protocol=5)
    size = 0
    if not label.problem:  # an error must travel even from a worker without pyarrow
        size, body = len(body), _codec().compress(body, asbytes=True)
    text = json.dumps({**vars(label), "size": size}).encode()
    return b"".join([_PREFIX.pack(len(text)), text, body])


def _label(packed: bytes) -> _Label:
    (length,) = _PREFIX.unpack_from(packed)
    said = json.loads(packed[_PREFIX.size : _PREFIX.size + length])
    known = {each.name: said[each.name] for each in fields(_Label) if each.name in said}
    return _Label(**{**known, "tasks": tuple(known["tasks"])})


def _content(packed: bytes) -> Any:
    # Unpickling trusts the workers, as the result does: a hostile worker could return any counts.
    (length,) = _PREFIX.unpack_from(packed)
    size, body = _label(packed).size, memoryview(packed)[_PREFIX.size + length :]
    return pickle.loads(_codec().decompress(body, decompressed_size=size) if size else body)


@lru_cache(maxsize=1)
def _job(job: bytes) -> tuple[Work, Merge]:
    # The same for all tasks of a collection, and large if the scheme lists many labels.
    work, merge = _loaded(job)
    return work, merge


def _loaded(packed: bytes) -> Any:
    # A job or a task, which may have objects of classes that are not ours.
    try:
        return _content(packed)
    except (AttributeError, ModuleNotFoundError) as error:
        raise StateError(
            f"a worker cannot load a class of yours ({error}); put the class in a module, not in a script or a "
            "notebook, and install the module on all workers"
        ) from None


def _codec() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("workers need pyarrow: pip install pyarrow") from error
    return pyarrow.Codec("zstd", compression_level=_LEVEL)


@cache  # once
def _warn_of_slow_kernels() -> None:
    fix = "run plausibly doctor on a worker to see why"
    warnings.warn(f"plausibly uses its slower NumPy kernels on the workers; {fix}", RuntimeWarning, stacklevel=4)


def _named(numbers: Iterable[int]) -> str:
    few = list(numbers)
    return f"task {few[0]}" if len(few) == 1 else f"tasks {', '.join(map(str, few[:5]))}{' …' * (len(few) > 5)}"
