"""No preamble that reaches the interpreter is run; each does reach it where nothing stops it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from agents.records import Test
from agents.verifier.static.gate import examine
from tests.verifier.static.hostile import HEAD, HOSTILE, TEST

USER_CODE = '''STATEMENT = """import os; open(os.environ["REACHED"] + "/timeit-of-the-code-s-text", "w").close()"""

def add(a, b):
    return a + b

def parametrize(names):
    names[0] = "__builtins__"

def decorated(function):
    return parametrize
'''
CLOSED = {
    "typing argument",
    "typing argument by get_args",
    "dataclass of a made class",
    "dataclass with a made base",
    "dataclass with set annotations",
    "sqlite3's module",
}
"""Ways that Python 3.13 has closed itself."""
IMPORTABLE = frozenset({"hypothesis", "numpy", "pandas"})


def written(name: str) -> str:
    """The file of tests that holds the preamble."""
    return f"{HEAD}{HOSTILE[name]}\n".replace("NAME", mark(name))


def mark(name: str) -> str:
    """The name of the file that the preamble makes."""
    return re.sub(r"\W", "-", name)


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """Names of the preambles that reach the interpreter in plain pytest, without the gate."""
    folder = tmp_path_factory.mktemp("hostile")
    marks = tmp_path_factory.mktemp("reached")
    (folder / "user_code.py").write_text(USER_CODE, encoding="utf-8")
    for number, name in enumerate(HOSTILE):
        (folder / f"test_{number}.py").write_text(written(name) + TEST, encoding="utf-8")
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-s", "--continue-on-collection-errors"]
    subprocess.run(
        [*command, "--rootdir", folder, "-c", os.devnull, folder],
        cwd=folder,
        env={**os.environ, "REACHED": str(marks), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        timeout=100,
        check=False,
    )
    return frozenset(path.name for path in marks.iterdir())


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused(name: str) -> None:
    assert examine(Test("test_add", TEST, "generated", written(name)), IMPORTABLE) is not None


@pytest.mark.parametrize("name", [each for each in HOSTILE if sys.version_info < (3, 13) or each not in CLOSED])
def test_it_reaches_the_interpreter_without_the_gate(name: str, reached: frozenset[str]) -> None:
    assert mark(name) in reached
