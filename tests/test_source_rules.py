"""Rules that the source itself must keep: between a value and its record there are only integers and secure words."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import plausibly
import trusting
from cases import in_turn
from plausibly import Keys, Labels, SeededRandom, experiments, extend
from plausibly.core.scheme import required
from plausibly.kernels.sources import source_files

PACKAGE = Path(plausibly.__file__).parent
FILES = [file.relative_to(PACKAGE).as_posix() for file in sorted(PACKAGE.rglob("*.py"))]

# The client's functions are searched in these; audits only look at them from outside, with sources of their own, and
# the decoders of sketches and of ordered values never see a value. Of a search only its parts do. Tables of estimates
# and arithmetic with them have methods of the same names as schemes.
DECODERS = ("bound", "families", "halves", "mean_of_bits", "most_likely", "nested", "places", "sliding", "system")
OUTSIDE = {"core/enumeration.py", "sketches/combining.py", "sketches/regression.py"}
OUTSIDE |= {f"core/{name}.py" for name in ("basis", "changes", "combining", "derived", "measured", "notebook")}
OUTSIDE |= {name for name in FILES if name.startswith("search/")} - {"search/string_parts.py"}
OUTSIDE |= {f"ordered/{name}.py" for name in DECODERS}
CLIENT_FILES = [
    name
    for name in FILES
    if name == "device.py"
    or (name.startswith(("core/", "oracles/", "sketches/", "search/", "ordered/", "kernels/")) and name not in OUTSIDE)
]
EXTRAS = {
    "PIL",
    "dask",
    "distributed",
    "grpc",
    "matplotlib",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "pyspark",
    "scipy",
    "sklearn",
}
ROOTS = {"privatize", "privatize_encoded", "respond", "encode", "public", "perturb"}

BANNED_NAMES = {"float", "complex", "round", "math", "cmath", "random", "statistics", "Decimal"}
BANNED_ATTRIBUTES = re.compile(
    r"random|float\d*|double|half|single|longdouble|complex\d*|(true_)?divide|reciprocal|mean|average|std|var|sqrt|cbrt"
    r"|exp\d?|expm1|log\w*|linspace|logspace|interp|float_power"
)
FLOAT_BY_DEFAULT = {"zeros", "ones", "empty"}


def parsed(file: str) -> ast.Module:
    return ast.parse((PACKAGE / file).read_text(encoding="utf-8"))


tree = cache(parsed)


@cache
def nodes(file: str) -> list[ast.AST]:
    return list(ast.walk(tree(file)))


@dataclass(frozen=True)
class Function:
    """A function or method of the package, with where it is."""

    file: str
    node: ast.FunctionDef

    @property
    def place(self) -> str:
        return f"{self.file}:{self.node.lineno} {self.node.name}"


def functions() -> list[Function]:
    return [Function(file, node) for file in CLIENT_FILES for node in nodes(file) if isinstance(node, ast.FunctionDef)]


@cache
def called_names(node: ast.AST) -> set[str]:
    """The last names of everything called, NumPy aside: an over-approximation of the call graph."""
    return names_called(ast.walk(node))


def names_called(among: Iterable[ast.AST]) -> set[str]:
    names = set()
    for call in among:
        called = call.func if isinstance(call, ast.Call) else None
        if isinstance(called, ast.Name):
            names.add(called.id)
        elif isinstance(called, ast.Attribute) and not begins_with_numpy(called):
            names.add(called.attr)
    return names


def begins_with_numpy(node: ast.AST) -> bool:
    """Whether the code of an expression starts with ``np.``."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        inner = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(inner, ast.Name):
            return inner.id == "np" and isinstance(node, ast.Attribute)
        node = inner
    return False


@cache
def client_path() -> list[Function]:
    """Every function that may run between a value and its record, by name, starting from the roots."""
    known = functions()
    reached, names, fresh = set(), set(ROOTS), set(ROOTS)
    while fresh:
        found = {function for function in known if function.node.name in fresh} - reached
        reached |= found
        fresh = set().union(*(called_names(function.node) for function in found)) - names if found else set()
        names |= fresh
    return sorted(reached, key=lambda function: function.place)


def about_epsilon(function: Function) -> bool:
    # The check of a scheme's own epsilon is in fractions, and says so in its signature.
    returns = function.node.returns
    return isinstance(returns, ast.Name) and returns.id == "Fraction"


def offences(node: ast.AST) -> Iterator[str]:
    """What a function on the client path must not contain."""
    for part in ast.walk(node):
        line = getattr(part, "lineno", 0)
        if isinstance(part, ast.Constant) and isinstance(part.value, float | complex):
            yield f"line {line}: the number {part.value}"
        elif isinstance(part, ast.BinOp | ast.AugAssign) and isinstance(part.op, ast.Div):
            yield f"line {line}: a division"
        elif isinstance(part, ast.Name) and part.id in BANNED_NAMES:
            yield f"line {line}: {part.id}"
        elif isinstance(part, ast.Attribute) and BANNED_ATTRIBUTES.fullmatch(part.attr):
            yield f"line {line}: .{part.attr}"
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            given = {keyword.arg for keyword in part.keywords}
            if part.func.attr in FLOAT_BY_DEFAULT and "dtype" not in given and len(part.args) < 2:
                yield f"line {line}: np.{part.func.attr} without a dtype"


def test_the_walk_finds_the_whole_way_from_a_value_to_its_record() -> None:
    found = {(function.file, function.node.name) for function in client_path()}
    expected = {
        ("core/scheme.py", "privatize"),
        ("core/domain/integers.py", "encode"),
        ("core/domain/strings.py", "encode"),
        ("core/randomness.py", "head"),
        ("core/randomness.py", "tail"),
        ("core/randomness.py", "below"),
        ("core/parallel.py", "in_chunks"),
        ("device.py", "perturb"),
        ("device.py", "local_hash"),
        ("device.py", "item_key"),
        ("kernels/native.py", "unary_response"),
        ("kernels/reference.py", "unary_response"),
        ("kernels/reference.py", "local_hash"),
        ("core/unary.py", "respond"),
        ("core/grouped.py", "respond"),
        ("core/domain/symbols.py", "symbol_numbers"),
        ("search/string_parts.py", "as_bytes"),
        ("device.py", "field_multiply"),
        ("device.py", "projective_point"),
        ("kernels/reference.py", "subset_response"),
        ("kernels/reference.py", "_answer"),
        ("kernels/reference.py", "_error"),
        ("kernels/reference.py", "_toeplitz_hash"),
        ("kernels/reference.py", "_affine_hash"),
    }
    assert expected - found == set()
    files = {file for file, name in found if name == "respond"}
    assert files >= {kind.__module__.removeprefix("plausibly.").replace(".", "/") + ".py" for kind in with_respond()}


def with_respond() -> list[type]:
    """The class of each catalogue entry that defines its randomizer."""
    return [next(parent for parent in kind.__mro__ if "respond" in vars(parent)) for kind in plausibly.CATALOG.values()]


def test_nothing_between_a_value_and_its_record_uses_floats() -> None:
    checked = [function for function in client_path() if not about_epsilon(function)]
    assert {function.place: found for function in checked if (found := list(offences(function.node)))} == {}


def test_the_device_file_uses_floats_nowhere() -> None:
    # A tree of its own, because it is cut.
    whole = parsed("device.py")
    known = [Function("device.py", node) for node in ast.walk(whole) if isinstance(node, ast.FunctionDef)]
    exempt = {id(part) for function in known if about_epsilon(function) for part in ast.walk(function.node)}
    for node in list(ast.walk(whole)):
        if isinstance(node, ast.Module | ast.ClassDef):
            node.body = [part for part in node.body if id(part) not in exempt]
    assert list(offences(whole)) == []


def test_the_walk_would_notice() -> None:
    wrong = [
        "x / 2",
        "0.5",
        "float(x)",
        "math.floor(x)",
        "np.random.rand()",
        "x.astype(np.float64)",
        "np.zeros(3)",
        "x.mean()",
    ]
    assert [code for code in wrong if not list(offences(ast.parse(code)))] == []
    right = "np.zeros(3, dtype=np.uint64) + x // 2 * 5 % 7 >> 2"
    assert list(offences(ast.parse(right))) == []


def is_float(value: object) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


@pytest.mark.parametrize("name", sorted(plausibly.CATALOG))
def test_no_variable_on_the_way_from_a_value_to_its_record_is_a_float(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAUSIBLY_THREADS", "1")
    kind = plausibly.CATALOG[name]
    domains = [plausibly.Integers(70), Labels(("a", "b", "c"), other=True), Keys()]
    own = {"epsilon": 1}
    if name in ("CM", "CS"):
        own = {"oracle": plausibly.make("OUE", epsilon=1, domain_size=20), "rows": 3}
    if "memo_epsilon" in required(kind):
        own |= {"memo_epsilon": 2}
    schemes = [kind(domain=domain, **own) for domain in domains if isinstance(domain, kind.accepts)]
    found: set[str] = set()

    def watch(frame: FrameType, event: str, result: object) -> None:
        if event == "return" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            seen = {**frame.f_locals, "the result": result}
            where = Path(frame.f_code.co_filename).relative_to(PACKAGE)
            found.update(f"{where} {frame.f_code.co_name}: {key}" for key, value in seen.items() if is_float(value))

    for scheme in schemes:
        items = [["b", "x"], [3, 4]][isinstance(scheme.domain, plausibly.Integers)]
        client = trusting.load(scheme.to_json())
        scheme.fingerprint()
        sys.setprofile(watch)
        try:
            scheme.privatize(items * 200, rng=SeededRandom(1))
            scheme.privatize(items)
            client.privatize(items[0])
        finally:
            sys.setprofile(None)
    assert found == set()


def test_the_c_kernels_have_no_floating_point() -> None:
    source = "\n".join(file.read_text(encoding="utf-8") for file in source_files(PACKAGE / "kernels"))
    code = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\])*\"", " ", source, flags=re.DOTALL)
    assert re.findall(r"\b(?:float|double|_Float\w*|long double)\b", code) == []
    assert re.findall(r"\b\d+\.\d*|\b\d+[eE][-+]?\d+\b", re.sub(r"\b0[xX][0-9a-fA-F]+\w*", " ", code)) == []
    assert re.findall(r"#\s*include\s*<(?:math|tgmath|fenv|complex)\.h>", code) == []
    assert re.findall(r"\b(?:s?rand|random|drand48|arc4random\w*)\s*\(", code) == []


def imports(among: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The absolute names of imported modules, with their lines."""
    for node in among:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


# Experiments invent their crowds, and nothing below may import them.
@pytest.mark.full
@in_turn("file", [name for name in FILES if not name.startswith("experiments/")])
def test_no_file_uses_a_generator_that_is_not_cryptographic(file: str) -> None:
    banned = re.compile(r"(random|numpy\.random|scipy\.stats|uuid)(\..*)?")
    assert [(name, line) for name, line in imports(nodes(file)) if banned.fullmatch(name)] == []
    names = ("random", "default_rng", "RandomState", "randint", "shuffle", "getrandbits", "SystemRandom")
    used = [node for node in nodes(file) if isinstance(node, ast.Attribute) and node.attr in names]
    assert [ast.unparse(node) for node in used] == []


def outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """The statements that run when a module is imported."""
    yield node
    for child in ast.iter_child_nodes(node):
        inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case) and not inner:
            yield from outside_functions(child)


def test_imports_within_functions_would_be_found() -> None:
    function = "    def f(self):\n        if self:\n            import c\n"
    source = f"import a\nclass B:\n    import b\n{function}if a:\n    import d"
    assert [name for name, _ in imports(outside_functions(ast.parse(source)))] == ["a", "b", "d"]


@in_turn("file", FILES)
def test_functions_import_nothing_but_optional_extras(file: str) -> None:
    outside = set(outside_functions(tree(file)))
    within = [node for node in nodes(file) if isinstance(node, ast.Import | ast.ImportFrom) and node not in outside]
    hidden = [name for name, _ in imports(within) if name.split(".")[0] not in EXTRAS]
    hidden += [node.module or "." for node in within if isinstance(node, ast.ImportFrom) and node.level]
    assert hidden == []


@in_turn("file", FILES)
def test_only_the_public_doors_and_the_list_of_commands_import_by_name(file: str) -> None:
    dynamic = names_called(nodes(file)) & {"import_module", "__import__", "exec", "eval"}
    assert dynamic <= (
        {"import_module"}
        if file in {"__init__.py", "extend.py", "experiments/__init__.py", "cli/deferred.py"}
        else set()
    )


@in_turn("file", FILES)
def test_nothing_is_printed_or_logged(file: str) -> None:
    # A log is where private values go to be found. That of the collector has one module, and tests with canaries.
    assert (
        file == "service/log.py"
        or [name for name, _ in imports(nodes(file)) if name.split(".")[0] in {"logging", "syslog"}] == []
    )
    # A command's business is to print, an experiment's, too: its values are made up. All others are elsewhere.
    assert file.startswith(("cli/", "experiments/")) or "print" not in names_called(nodes(file))


# --- the graph of imports ---------------------------------------------------------------------------------------------

Graph = dict[str, set[str]]
MODULES = {file.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in FILES}
"""The file of each module; names begin below the package, which is itself called ``__init__``."""


def imported(module: str, *, for_types: bool) -> set[str]:
    """The modules of the package that a module imports when it runs, or only when types are checked."""
    file = MODULES[module]
    guarded = {
        id(node)
        for block in nodes(file)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for statement in block.body
        for node in ast.walk(statement)
    }
    found: set[str] = set()
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.level and (id(node) in guarded) == for_types:
            folders = file.split("/")[: -node.level]
            base = ".".join([*folders, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}".removeprefix(".")
                found.add(name if name in MODULES else base or "__init__")
    return found - {module}


def cycles(graph: Graph) -> list[set[str]]:
    """The largest sets of modules each of which leads to all others."""
    reached = {module: reach(graph, module) for module in graph}
    found: list[set[str]] = []
    for module in graph:
        cycle = {other for other in reached[module] if module in reached[other]}
        if cycle and cycle not in found:
            found.append(cycle)
    return found


def reach(graph: Graph, start: str) -> set[str]:
    """The modules that one imports, directly or not."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = graph[waiting.pop()] - seen
        seen |= fresh
        waiting += fresh
    return seen


@cache
def import_graph(*, for_types: bool = False) -> Graph:
    """Every module and what it imports when it runs; ``for_types`` adds what it imports when types are checked."""
    kinds = (False, True) if for_types else (False,)
    return {module: set().union(*(imported(module, for_types=kind) for kind in kinds)) for module in MODULES}


def test_the_graph_of_imports_would_show_a_cycle() -> None:
    graph = import_graph()
    assert "core.laws" in graph["core.scheme"]
    assert "core.domain" in graph["core.scheme"]
    assert "kernels" in graph["core.records"]
    assert "core.scheme" not in graph["core.accumulator"]
    assert "core.scheme" in import_graph(for_types=True)["core.accumulator"]
    assert sum(map(len, graph.values())) > 600
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [{"b", "c"}]


def test_no_modules_import_each_other() -> None:
    assert cycles(import_graph()) == []


@pytest.mark.full
def test_types_make_one_cycle_at_most() -> None:
    # A scheme makes its accumulators, and those know the scheme whose reports they hold.
    assert cycles(import_graph(for_types=True)) == [{"core.accumulator", "core.scheme"}]


DOMAINS = {"Domain", "Listable", "Integers", "Labels", "Keys", "Strings"}


def domain_checks(file: str) -> list[int]:
    """The lines that ask whether something is a domain, or of which kind it is."""
    found = set()
    for call in nodes(file):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "isinstance":
            named = [part for part in ast.walk(call.args[1]) if isinstance(part, ast.Name | ast.Attribute)]
            if DOMAINS & {part.id if isinstance(part, ast.Name) else part.attr for part in named}:
                found.add(call.lineno)
    return sorted(found)


def test_domains_speak_for_themselves() -> None:
    # A new kind of domain is one file only if callers do not ask for the kind. The few that must give the reason in the
    # line above. The device file has domains of its own.
    files = [file for file in FILES if not file.startswith("core/domain/") and file != "device.py"]
    found = [(file, line) for file in files for line in domain_checks(file)]
    assert len(found) <= 5
    sources = {file: (PACKAGE / file).read_text(encoding="utf-8").splitlines() for file, _ in found}
    assert [(file, line) for file, line in found if "# By type: " not in sources[file][line - 2]] == []
    assert domain_checks("core/domain/making.py") != []


def test_the_device_file_imports_the_standard_library_alone() -> None:
    names = {name.split(".")[0] for name, _ in imports(nodes("device.py"))}
    assert names <= sys.stdlib_module_names
    assert not [node for node in nodes("device.py") if isinstance(node, ast.ImportFrom) and node.level]


PAPER = PACKAGE.parents[1] / "reproduction"


@in_turn("file", sorted(str(path.relative_to(PAPER)) for path in PAPER.rglob("*.py")))
def test_the_papers_experiments_use_promised_names_alone(file: str) -> None:
    doors = {"plausibly": plausibly, "plausibly.experiments": experiments, "plausibly.extend": extend}
    for node in ast.walk(ast.parse((PAPER / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("plausibly")]
            assert set(names) <= doors.keys(), node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and str(node.module).startswith("plausibly"):
            assert node.module in doors, node.lineno
            assert {alias.name for alias in node.names} <= set(doors[node.module].__all__), node.lineno


# --- schemes speak for themselves -------------------------------------------------------------------------------

# Where schemes are defined and named: their own files and the catalogue; presets, which say what they build; and the
# client, whose table from names to randomizers is a catalogue of its own.
SCHEMES_AT_HOME = ("oracles/", "sketches/", "search/", "catalog.py", "presets.py", "device.py")


def constants(node: ast.AST) -> list[object]:
    """The texts of an expression: itself, or those of a tuple, list or set."""
    inner = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return [each.value for each in inner if isinstance(each, ast.Constant)]


def decides_by_name(node: ast.AST) -> bool:
    """Whether it compares something with the name of a scheme, or looks something up by it."""
    names = set(plausibly.CATALOG)
    if isinstance(node, ast.Compare):
        return any(set(constants(each)) & names for each in (node.left, *node.comparators))
    if isinstance(node, ast.MatchValue):
        return bool(set(constants(node.value)) & names)
    if isinstance(node, ast.Dict):
        # The colour of a line decides nothing.
        colours = all(str(value).startswith("#") for each in node.values for value in constants(each) or [""])
        keys = {value for key in node.keys if key is not None for value in constants(key)}
        return bool(keys & names) and not colours
    return False


def decides_by_class(node: ast.AST) -> bool:
    """Whether it asks if something is one particular scheme of the catalogue."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2):
        return False
    named = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
    named |= {part.attr for part in ast.walk(node.args[1]) if isinstance(part, ast.Attribute)}
    return node.func.id in ("isinstance", "issubclass") and bool(named & set(plausibly.CATALOG))


def ladders(files: Iterable[str]) -> list[str]:
    return [
        f"{file}:{node.lineno}"  # type: ignore[attr-defined]
        for file in files
        for node in nodes(file)
        if decides_by_name(node) or decides_by_class(node)
    ]


@pytest.mark.full
def test_nobody_outside_the_catalogue_decides_by_the_name_or_the_class_of_a_scheme() -> None:
    assert ladders(file for file in FILES if not file.startswith(SCHEMES_AT_HOME)) == []


@in_turn(
    "source",
    [
        'scheme.name == "OLH"',
        'name in ("TLH", "AGR")',
        '"DE" != name',
        '{"OLH": 1.0, "BLH": 2.0}.get(name)',
        "isinstance(scheme, HR)",
        "isinstance(scheme, DE | SS)",
        "issubclass(kind, oracles.FLH)",
        'match name:\n    case "HM":\n        pass',
    ],
)
def test_a_ladder_of_schemes_would_be_seen(source: str) -> None:
    assert any(decides_by_name(node) or decides_by_class(node) for node in ast.walk(ast.parse(source)))
