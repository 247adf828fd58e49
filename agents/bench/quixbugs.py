"""Programs of QuixBugs (Lin et al., 2017), read from a checkout: 40 with one bug each, and their own tests.

QuixBugs' comparisons are kept: `sqrt` approximately, `hanoi` with tuples, generators as lists, and the two items
that its pytest files skip as slow left out.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..syntax.source import indented, parse, source_of
from .quixbugs_inputs import GENERATORS

COMMIT = "4257f44b0ff1181dedaedee6a447e133219fcebf"
_MODULE = "user_code"
_SLOW = [("levenshtein", "amanaplanacanalpanama"), ("knapsack", 6404180)]
"""Programs and the first argument of the item that QuixBugs skips unless told `--runslow`."""
_GENERATORS = ("flatten", "kheapsort")


@dataclass(frozen=True, slots=True)
class Program:
    """One program: the module with the bug, the one without, and its items, test functions by their names.

    `preamble` is what the items need: the import of the program, and what its pytest file defines beside tests.
    """

    name: str
    buggy: str
    reference: str
    preamble: str
    items: Mapping[str, str]

    def tests(self, names: Collection[str]) -> str:
        """Make a pytest file of the items `names`, in QuixBugs' order."""
        return "\n\n\n".join([self.preamble, *(text for name, text in self.items.items() if name in names)]) + "\n"

    @property
    def head(self) -> str:
        """The line that begins the function; a body makes it a module."""
        return next(line for line in self.reference.split("\n") if line.startswith(f"def {self.name}(")) + "\n"


@dataclass(frozen=True, slots=True)
class Split:
    """The names of a program's items that a repair may see, and of those that judge it."""

    visible: tuple[str, ...]
    held_out: tuple[str, ...]


def read_programs(checkout: Path) -> tuple[Program, ...]:
    """Read the 40 programs. Raises UsageError, with the file, where `checkout` is none of QuixBugs."""
    if not (checkout / "python_programs").is_dir():
        raise UsageError(
            f"{checkout} is no checkout of QuixBugs; git clone https://github.com/jkoppel/QuixBugs, and "
            f"git checkout {COMMIT[:12]} in it."
        )
    return tuple(_program(checkout, name) for name in GENERATORS)


def split(program: Program, failing: Collection[str]) -> Split:
    """Show half of the items (the larger one), chosen by a hash, with one at least of those on which the program
    fails: if need be in the place of the last one chosen."""
    items = program.items
    order = sorted(items, key=lambda name: sha256(f"{program.name}\0{items[name]}".encode()).digest())
    shown = (len(order) + 1) // 2
    if not any(name in failing for name in order[:shown]):
        first = next((place for place, name in enumerate(order) if name in failing), shown - 1)
        order[shown - 1], order[first] = order[first], order[shown - 1]
    visible = set(order[:shown])
    return Split(
        tuple(name for name in program.items if name in visible),
        tuple(name for name in program.items if name not in visible),
    )


def without_docstring(code: str) -> str:
    """Leave out the text at a program's end, which says what it does."""
    last = parse(code).body[-1]
    is_text = isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)
    return "\n".join(code.split("\n")[: last.lineno - 1]).rstrip() + "\n" if is_text else code


def _program(checkout: Path, name: str) -> Program:
    buggy = _text(checkout / "python_programs" / f"{name}.py")
    reference = _text(checkout / "correct_python_programs" / f"{name}.py")
    data = checkout / "json_testcases" / f"{name}.json"
    try:
        if data.is_file():
            needs_pytest = "import pytest\n\n" if name == "sqrt" else ""
            preamble, items = f"{needs_pytest}from {_MODULE} import {name}", _items_of_data(name, _text(data))
        else:
            preamble, items = _items_of_file(checkout, name)
    except (ValueError, TypeError, IndexError) as error:
        raise UsageError(f"{checkout}: the items of {name} can't be read ({error}).") from error
    return Program(name, buggy, reference, preamble, items)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read ({error}); give a whole checkout of QuixBugs.") from error


def _items_of_data(name: str, text: str) -> dict[str, str]:
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    kept = [(given, value) for given, value in rows if (name, given[0]) not in _SLOW]
    return {
        f"test_{number}": f"def test_{number}():\n    assert {_comparison(name, given, value)}"
        for number, (given, value) in enumerate(kept, 1)
    }


def _comparison(name: str, given: list[Any], value: Any) -> str:
    call = f"{name}({', '.join(map(repr, given))})"
    if name in _GENERATORS:
        return f"list({call}) == {value!r}"
    if name == "sqrt":
        return f"{call} == pytest.approx({value!r}, abs={given[-1]!r})"
    if name == "hanoi":
        value = [tuple(step) for step in value]
    return f"{call} == {value!r}"


def _items_of_file(checkout: Path, name: str) -> tuple[str, dict[str, str]]:
    """Read a pytest file of QuixBugs: its import of the program becomes that of `user_code`.

    Each test makes anew what its file makes once for all: the verifier passes no object from test to test.
    """
    text = _text(checkout / "python_testcases" / f"test_{name}.py")
    lines = text.split("\n")
    preamble = [f"from {_MODULE} import {name}"]
    shared: list[str] = []
    items: dict[str, str] = {}
    for node in parse(text).body:
        match node:
            case ast.Import() | ast.If():
                continue
            case ast.ImportFrom(module="node"):
                preamble.append(_text(checkout / "python_testcases" / "node.py").strip())
            case ast.FunctionDef(name=test) if test.startswith("test"):
                items[test] = source_of(lines, node)
            case _:
                shared.append(indented(source_of(lines, node)))
    if not items:
        raise ValueError("its pytest file has no test")
    made = "".join(f"{text.rstrip()}\n" for text in shared)
    return "\n\n\n".join(preamble), {test: text.replace(":\n", f":\n{made}", 1) for test, text in items.items()}
