"""No command overwrites a file that it reads, whichever option names it."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer

import plausibly
from drawn import thinned
from plausibly import SeededRandom, Strings, Table, make
from plausibly.cli.inputs import inputs_of, options_that_name
from plausibly.cli.options.common import Names
from plausibly.cli.options.simulate import SimulateOptions
from plausibly.cli.summaries import SUMMARIES
from plausibly.files import Key, write_reports, write_tally
from plausibly.files.overwriting import refuse_inputs

REQUESTS: dict[str, dict[str, Any]] = {
    "backup": {"folder": "own.py"},
    "changes": {"before": "a.tally", "after": "b.tally", "items_file": "items.txt", "key_file": "key"},
    "collect": {"inputs": ["r.parquet"], "out": "new.tally", "scheme": "s.json", "key_file": "key", "simulated": True},
    "compare": {"schemes": ["OUE"], "values": "values.csv", "counts": "counts.csv"},
    "demo": {},
    "estimate": {"inputs": ["a.tally"], "items_file": "items.txt", "key_file": "key"},
    "merge": {"tallies": ["a.tally", "b.tally"], "out": "new.tally", "key_file": "key", "overwrite": True},
    "plan": {
        "labels": "items.txt",
        "attributes": "a.txt",
        "choices": "items.txt",
        "users": 1000,
        "epsilon": "1",
        "overwrite": True,
    },
    "privatize": {"sources": ["values.csv"], "scheme": "s.json", "key_file": "key", "seed": 1},
    "reproduce": {"names": ["own.py"], "aol": "values.csv", "folder": "own.py", "quick": True},
    "sample": {},
    "search": {"tally": "strings.tally", "dictionary": "items.txt", "key_file": "key"},
    "series": {"tallies": ["1.tally", "2.tally"], "rota": 2, "items_file": "items.txt", "key_file": "key"},
    "simulate": {"scheme": "s.json", "counts": "counts.csv", "values": "values.csv", "key_file": "key", "repeats": 1},
    "table": {"tally": "records.tally", "rows": "pet", "key_file": "key"},
}
"""A request for each command that writes, with every option that names an input."""
SUFFIXES = {"collect": ".tally", "merge": ".tally", "privatize": ".parquet", "tree": ".svg", "rows": ".jsonl"}
FOLDERS = {"backup", "compare", "reproduce", "demo"}
"""Commands that write to a folder, which they refuse to be a file."""


def options_of(command: str) -> Any:
    return getattr(import_module(f"plausibly.cli.options.{command}"), f"{command.capitalize()}Options")


def commands_that_write() -> dict[str, list[str]]:
    names = [name for panel in SUMMARIES.values() for name in panel]
    found = {name: list(options_that_name(Names.OUTPUT, options_of(name))) for name in names}
    return {name: outputs for name, outputs in found.items() if outputs}


def run(command: str, given: dict[str, Any]) -> None:
    getattr(import_module(f"plausibly.cli.{command}"), command)(options_of(command)(**given))


def fitting(command: str, option: str, paths: list[Path]) -> Any:
    """The paths of the type that typer gives the option."""
    hint = str(get_type_hints(options_of(command))[option])
    found = list(map(str, paths)) if "str" in hint else paths
    return found if "list" in hint else found[0]


def typed(command: str, folder: Path, *, chosen: str) -> dict[str, Any]:
    """The request for a command with paths in a folder; of options that exclude each other, the chosen."""
    given = dict(REQUESTS[command])
    for usual, *others in (("counts", "values"), ("labels", "attributes", "choices")):
        if {usual, *others} <= given.keys():
            for name in {usual, *others} - {chosen if chosen in others else usual}:
                del given[name]
    for name in options_that_name(Names.INPUT, options_of(command)):
        if name in given:
            each = given[name] if isinstance(given[name], list) else [given[name]]
            given[name] = fitting(command, name, [folder / path for path in each])
    return given


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "key").chmod(0o600)
    key, scheme = Key.read(tmp_path / "key"), make("OUE", epsilon=1, domain=["cat", "dog"])
    (tmp_path / "s.json").write_text(scheme.to_json())
    for seed, name in enumerate(("a.tally", "b.tally", "1.tally", "2.tally")):
        write_tally(tmp_path / name, scheme.simulate([50, 30 + seed], SeededRandom(seed)), key=key)
    strings = plausibly.TRELLIS(4, domain=Strings("acdgot", 3), users=500)
    write_tally(tmp_path / "strings.tally", strings.simulate({"cat": 300, "dog": 200}, SeededRandom(1)), key=key)
    records = make("CLIQUE", epsilon=1, domain=Table({"pet": ["cat", "dog"], "old": 2}))
    write_tally(tmp_path / "records.tally", records.simulate({("cat", 1): 50}, SeededRandom(1)), key=key)
    (tmp_path / "a.txt").write_text("pet=cat,dog\nold=no,yes\n")
    reports = scheme.privatize(["cat", "dog"] * 20, SeededRandom(1))
    write_reports(tmp_path / "r.parquet", scheme, reports, key=key, simulated=True)
    (tmp_path / "items.txt").write_text("cat\ndog\n")
    (tmp_path / "values.csv").write_text("pet\n" + "cat\ndog\n" * 5)
    (tmp_path / "counts.csv").write_text("item,count\ncat,5\ndog,7\n")
    (tmp_path / "own.py").write_text("figures = []\n")
    return tmp_path


def test_every_command_that_writes_has_a_request_with_every_input() -> None:
    assert commands_that_write().keys() == REQUESTS.keys()
    for command, given in REQUESTS.items():
        assert set(options_that_name(Names.INPUT, options_of(command))) <= given.keys()


@pytest.mark.full
@pytest.mark.parametrize("command", sorted(REQUESTS.keys() - FOLDERS - {"sample"}))
def test_the_requests_are_good_ones(command: str, folder: Path) -> None:
    new, (output, *_) = folder / f"new{SUFFIXES.get(command, '.json')}", commands_that_write()[command][::-1]
    run(command, typed(command, folder, chosen="") | {output: fitting(command, output, [new])})
    assert new.exists()


@pytest.mark.parametrize("command", thinned(sorted(REQUESTS)))
def test_no_command_overwrites_what_it_reads(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for output in commands_that_write()[command]:
        for name in options_that_name(Names.INPUT, options_of(command)):
            same = folder / f"same{SUFFIXES.get(output) or SUFFIXES.get(command, '.json')}"
            named = REQUESTS[command][name]
            shutil.copy(folder / (named[0] if isinstance(named, list) else named), same)
            same.chmod(0o600)
            before = same.read_bytes()
            both = {each: fitting(command, each, [same]) for each in (name, output)}
            with pytest.raises(typer.Exit) as ended:
                run(command, typed(command, folder, chosen=name) | both)
            told = capsys.readouterr().err
            assert ended.value.exit_code, (name, output)
            assert same.read_bytes() == before, (name, output, told)
            if command not in FOLDERS | {"collect", "privatize"} or output == "rows":
                assert "would overwrite an input file" in told, (name, output, told)


def test_a_scheme_in_words_is_no_file(folder: Path) -> None:
    words = "OUE:epsilon=1,domain_size=" + "0" * 300 + "9"
    request = SimulateOptions(scheme=words, out=folder / "items.txt")
    refuse_inputs(folder / "items.txt", inputs_of(request))  # too long for the name of a file
