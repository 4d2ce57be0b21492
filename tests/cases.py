"""Small cases in turn within one test: each is named when it fails, and none costs what a test of its own costs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Test = Callable[..., None]


@contextmanager
def case(name: object) -> Iterator[None]:
    """Has whatever fails within tell the name of the case."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {name}")
        raise


class Given:
    """The arguments of one case; its name is what they look like, unless there is a better one."""

    def __init__(self, arguments: dict[str, Any], name: str = "") -> None:
        self.arguments, self.name = arguments, name

    def __str__(self) -> str:
        return self.name or ", ".join(f"{key}={value!r:.200}" for key, value in self.arguments.items())


def run_in_turn(test: Test, cases: Iterable[Given], fixtures: dict[str, Any]) -> None:
    """Runs the test on each case, with patches of its own, until one fails."""
    for one in cases:
        with case(one):
            if "monkeypatch" in fixtures:
                with fixtures["monkeypatch"].context() as patches:
                    test(**fixtures | {"monkeypatch": patches}, **one.arguments)
            else:
                test(**fixtures, **one.arguments)


def in_turn(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As pytest.mark.parametrize, but one test, which ends with the first case that fails."""
    keys = (names,) if isinstance(names, str) else names
    given = [Given(dict(zip(keys, (each,) if isinstance(names, str) else each, strict=True))) for each in cases]
    assert given, "without a case it would always pass"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def every_case(**fixtures: Any) -> None:
            run_in_turn(test, given, fixtures)

        return with_signature(every_case, test, without=keys)

    return decorate


def with_signature(wrapper: Test, test: Test, *, without: Iterable[str], instead: Iterable[str] = ()) -> Test:
    """The wrapper, which is to pytest a test that takes other arguments."""
    signature = inspect.signature(test)
    left = dict(signature.parameters)
    for name in without:
        del left[name]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in instead]
    wrapper.__signature__ = signature.replace(parameters=[*left.values(), *more])  # type: ignore[attr-defined]
    return wrapper
