"""The import rules: arrows run downward only, heavy libraries stay where they belong."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "agents"
FILES = sorted(PACKAGE.rglob("*.py"))

FLOORS = (
    "__init__",
    "cli",
    "mcp",
    "ui",
    "terminal",
    "jobs",
    "batch",
    "bench",
    "integrations",
    "audit",
    "repairing",
    "healing",
    "repository",
    "run",
    "telemetry",
    "loop",
    "debugger",
    "roles",
    "strength",
    "judge",
    "verifier",
    "llm_backends",
    "storage",
    "sandbox",
    "reply",
    "spec",
    "suite",
    "syntax",
    "settings",
    "checked",
    "events",
    "records",
    "worktree",
    "files",
    "errors",
)
"""Every name in `agents/`, the topmost floor first: imports run down this list only."""
MODELS = {"smolagents", "litellm", "xllamacpp", "openai", "huggingface_hub"}
PROCESSES = {"subprocess", "multiprocessing", "pty"}


def name_of(file: Path) -> str:
    """The part of the package that a file belongs to: its module, or its first folder."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def nodes_of(file: Path) -> list[ast.AST]:
    """Every node of a file."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def imports_of(file: Path) -> Iterator[tuple[str, int]]:
    """Every imported module, wherever the import stands, as a dotted name and its level (0: absolute)."""
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module:
                yield node.module, node.level
            else:
                yield from ((alias.name, node.level) for alias in node.names)


def files_that_call(function: str, but: set[Path]) -> set[str]:
    """The files of the package, without `but`, in which `ast.FUNCTION` is named."""
    return {
        file.relative_to(ROOT).as_posix()
        for file in set(FILES) - but
        for node in nodes_of(file)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == f"ast.{function}"
    }


def module_of(file: Path) -> str:
    """The dotted name of a file below the package; a folder stands for its `__init__`."""
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(file) for file in FILES}


def own_modules_used(file: Path) -> set[str]:
    """The modules of the package that a file imports, those for type checking included, the version excepted."""
    used = set()
    for node in nodes_of(file):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = file.relative_to(PACKAGE).parts
            base = [*parts[: len(parts) - node.level], *(node.module or "").split(".")]
            dotted = ".".join(part for part in base if part) or "__init__"
            names = {alias.name for alias in node.names if alias.name != "__version__"}
            modules = {f"{dotted}.{name}".removeprefix("__init__.") for name in names} & MODULES
            used |= modules or ({dotted} if names else set())
    return used


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Modules that import each other, by Tarjan's strongly connected components."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found: list[set[str]] = []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        path.append(module)
        for used in arrows.get(module, ()):
            if used not in order:
                visit(used)
                low[module] = min(low[module], low[used])
            elif used in path:
                low[module] = min(low[module], order[used])
        if low[module] == order[module]:
            component = set(path[path.index(module) :])
            del path[path.index(module) :]
            if len(component) > 1:
                found.append(component)

    for module in arrows:
        if module not in order:
            visit(module)
    return found


def test_every_name_in_the_package_has_a_floor() -> None:
    assert {name_of(file) for file in FILES} == set(FLOORS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_run_downward_only(file: Path) -> None:
    here = FLOORS.index(name_of(file))
    for used in own_modules_used(file):
        there = FLOORS.index(used.split(".")[0])
        assert there >= here, f"{module_of(file)} imports {used}, which is above it"


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles({module_of(file): own_modules_used(file) for file in FILES}) == []


def test_a_circle_would_be_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [{"b", "c"}]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_inside_the_package_imports_are_relative(file: Path) -> None:
    absolute = {module.split(".")[0] for module, level in imports_of(file) if level == 0}
    assert not absolute & {"agents", "greenloop"}


def test_only_the_backends_import_model_libraries() -> None:
    users = {name_of(file) for file in FILES if {m.split(".")[0] for m, _ in imports_of(file)} & MODELS}
    assert users == {"llm_backends"}


def test_python_is_parsed_in_one_place_which_threads_can_share() -> None:
    """Before Python 3.11.8 two threads that call `ast.parse` at once get a SystemError now and then."""
    inside = {file for file in FILES if "inside" in file.parts}
    assert files_that_call("parse", inside) == {"agents/syntax/source.py"}


def test_only_the_sandbox_starts_processes_but_for_pip_and_git() -> None:
    in_a_sandbox_already = {
        "healing/inside/script_process.py",
        "verifier/inside/proxy/program.py",
    }
    users = {
        str(file.relative_to(PACKAGE))
        for file in FILES
        if {m.split(".")[0] for m, _ in imports_of(file)} & PROCESSES
    }
    assert {user for user in users if not user.startswith("sandbox/")} <= {
        "worktree/git.py",
        "llm_backends/weights.py",
    } | in_a_sandbox_already


READERS = {
    "files.py": "the place for it",
    "sandbox/": "programs of greenloop's own, /proc, and files inside a container",
    "bench/": "benchmarks' data and results, which the user names",
    "batch/ray/archive.py": "new files below a folder of its own",
    "batch/reports/page.py": "greenloop's own files",
    "cli/bench.py": "benchmarks' data, which the user names",
    "debugger/debugger.py": "greenloop's own files",
    "cli/ending.py": "/dev/null alone",
    "batch/package.py": "files of greenloop's runs",
    "healing/request.py": "greenloop's own files",
    "llm_backends/recorded.py": "files of greenloop's runs",
    "run/event_log.py": "files of greenloop's runs",
    "storage/run_directory.py": "files of greenloop's runs",
    "healing/call_process.py": "modules that this process has imported already",
    "healing/case.py": "greenloop's own files",
    "judge/track_record.py": "greenloop's own files",
    "llm_backends/weights.py": "the user's cache of weights",
    "repository/suite.py": "greenloop's own files",
    "roles/prompt.py": "greenloop's own files",
    "strength/measure.py": "greenloop's own files",
    "ui/server.py": "greenloop's own files",
    "storage/atomic.py": "new files and folders that are written",
    "verifier/inside_bytecode.py": "greenloop's own files",
    "verifier/static/allowed.py": "greenloop's own files",
}
"""Where files are opened otherwise than by `agents/files.py`, which follows no link out of a folder and waits for
no FIFO; and why that does no harm there. `inside` folders run in the sandbox."""
_NO_FILES = {"webbrowser", "tarfile", "archive", "model", "direct", "bench"}
"""Names before `.open` that are no files."""


def opens_files(source: str) -> bool:
    """Return True for a module that opens files for reading by itself."""
    called = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return any(
        (isinstance(each, ast.Name) and each.id == "open")
        or (isinstance(each, ast.Attribute) and each.attr in ("read_text", "read_bytes"))
        or (isinstance(each, ast.Attribute) and each.attr == "open" and ast.unparse(each.value) not in _NO_FILES)
        for each in called
    )


def test_files_of_strange_folders_are_opened_in_one_place() -> None:
    users = {
        file.relative_to(PACKAGE).as_posix()
        for file in FILES
        if "inside" not in file.parts and opens_files(file.read_text(encoding="utf-8"))
    }
    assert {user for user in users if not user.startswith(tuple(READERS))} == set()


QUESTION_WORDS = ("What", "Whether", "Who")


def questions_in(source: str) -> list[str]:
    """The docstrings that begin like a question: one says what is done, or names what something is."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    said = [ast.get_docstring(node) for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return [text for text in said if text and text.split()[0].rstrip(",.:") in QUESTION_WORDS]


def test_no_docstring_begins_like_a_question() -> None:
    found = {str(file): questions_in(file.read_text(encoding="utf-8")) for file in FILES}
    assert {file: texts for file, texts in found.items() if texts} == {}


def test_a_docstring_that_begins_like_a_question_would_be_seen() -> None:
    assert questions_in('"""What is sent."""\nclass A:\n    """Who sends."""\ndef f():\n    """Send."""\n') == [
        "What is sent.",
        "Who sends.",
    ]


@pytest.mark.parametrize(
    "source", ["path.read_text()", "Path(a).read_bytes()", "open(path)", "(a / b).open('rb')", "os.open(path, 0)"]
)
def test_a_file_that_is_opened_elsewhere_would_be_seen(source: str) -> None:
    assert opens_files(source)
    assert not opens_files("read_regular(path); tarfile.open(fileobj=io)")


EXTRAS = {
    "mcp": {"mcp"},
    "starlette": {"ui"},
    "uvicorn": {"ui"},
    "opentelemetry": {"telemetry"},
    "claude_agent_sdk": {"integrations"},
    "langchain_core": {"integrations"},
}
"""Packages of extras, and the part that imports each."""


@pytest.mark.parametrize(("package", "parts"), EXTRAS.items())
def test_a_package_of_an_extra_is_imported_in_one_part(package: str, parts: set[str]) -> None:
    users = {
        name_of(file)
        for file in FILES
        if package in {module.split(".")[0] for module, level in imports_of(file) if level == 0}
    }
    assert users <= parts


@pytest.mark.parametrize("command", [["--help"], ["show"], ["models", "--help"], ["--version"]])
def test_commands_that_ask_no_model_start_without_the_heavy_libraries(command: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from agents.cli import main\n"
        "main(sys.argv[2:])\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(ROOT), *command], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    loaded = set(ast.literal_eval(ended.stderr.splitlines()[-1]))
    assert not loaded & (MODELS | {"pytest", "_pytest", "jinja2", "httpx", *EXTRAS})


def possessive_groups_in(source: str) -> list[str]:
    """Return groups that are repeated possessively: before Python 3.11.5 these match less than they should."""
    return re.findall(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+", source)


def test_no_group_of_a_pattern_is_repeated_possessively() -> None:
    found = {str(file): possessive_groups_in(file.read_text(encoding="utf-8")) for file in FILES}
    assert not {name: groups for name, groups in found.items() if groups}


def test_a_group_that_is_repeated_possessively_would_be_seen() -> None:
    assert possessive_groups_in(r"(?:a|b)*+ (a){2,}+ \)*+ [)]++ (?>(?:a|b)*)") == [")*+", "){2,}+"]
