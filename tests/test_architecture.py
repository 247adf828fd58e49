"""The import rules: arrows run downward only, heavy libraries stay where they belong."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "agents"
FILES = sorted(PACKAGE.rglob("*.py"))

WORDS = {"records", "run_record", "errors", "events"}
"""What everything may speak of."""
LAYERS = (
    ("main command", {"cli"}),
    ("many runs", {"bench", "batch"}),
    ("one run", {"job", "keeper", "crew", "rig", "workplace"}),
    ("loop", {"orchestrator"}),
    ("strength of a suite", {"strength"}),
    ("roles and judge", {"code_writer", "test_writer", "critic", "judge", "votes", "probes", "asking", "effort"}),
    ("execution", {"verifier"}),
    ("outside world", {"llm_backends", "sandbox", "runs"}),
)
MODELS = {"smolagents", "litellm", "xllamacpp", "openai", "huggingface_hub"}
PROCESSES = {"subprocess", "multiprocessing", "pty"}


def name_of(file: Path) -> str:
    """The part of the package that a file belongs to: its module, or its first folder."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(file: Path) -> Iterator[tuple[str, int]]:
    """Every imported module, wherever the import stands, as a dotted name and its level (0: absolute)."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
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
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == f"ast.{function}"
    }


def own_parts_used(file: Path) -> set[str]:
    """The parts of the package that a file imports."""
    used = set()
    for module, level in imports_of(file):
        depth = len(file.relative_to(PACKAGE).parts)
        if level == depth:
            used.add(module.split(".")[0])
        elif 0 < level < depth:
            used.add(name_of(file))
    return used


def rank(name: str) -> int | None:
    return next((index for index, (_, members) in enumerate(LAYERS) if name in members), None)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_arrows_run_downward_only(file: Path) -> None:
    here = rank(name_of(file))
    for used in own_parts_used(file) - {name_of(file)} - WORDS:
        there = rank(used)
        if here is not None and there is not None:
            assert there >= here, f"{name_of(file)} ({LAYERS[here][0]}) imports {used} ({LAYERS[there][0]})"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_inside_the_package_imports_are_relative(file: Path) -> None:
    absolute = {module.split(".")[0] for module, level in imports_of(file) if level == 0}
    assert not absolute & {"agents", "greenloop"}


@pytest.mark.parametrize("name", sorted(WORDS))
def test_the_words_import_nothing_but_words(name: str) -> None:
    assert own_parts_used(PACKAGE / f"{name}.py") <= WORDS


def test_only_the_backends_import_model_libraries() -> None:
    users = {name_of(file) for file in FILES if {m.split(".")[0] for m, _ in imports_of(file)} & MODELS}
    assert users == {"llm_backends"}


def test_python_is_parsed_in_one_place_which_threads_can_share() -> None:
    """Before Python 3.11.8 two threads that call `ast.parse` at once get a SystemError now and then."""
    inside = {file for file in FILES if "inside" in file.parts}
    assert files_that_call("parse", inside) == {"agents/source.py"}


def test_only_the_sandbox_starts_processes_but_for_pip_and_the_baseline_of_a_measurement() -> None:
    users = {
        str(file.relative_to(PACKAGE))
        for file in FILES
        if {m.split(".")[0] for m, _ in imports_of(file)} & PROCESSES
    }
    assert {user for user in users if not user.startswith("sandbox/")} <= {
        "llm_backends/weights.py",
        "bench/verifier_speed.py",
    }


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
    assert not loaded & (MODELS | {"pytest", "_pytest", "jinja2", "httpx"})
