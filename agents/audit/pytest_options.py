"""The pytest options of a project, and those that an audit needs."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..sandbox.interpreter import Interpreter
from ..syntax.encoding import decoded
from ..worktree.tree import Tree

SETTINGS = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
"""Files at a project's top with options of pytest."""
_SWITCHED_OFF = (
    ("xdist", rb"(^|[\s\"'])(-n|--numprocesses|--dist)\b", ("-n", "0")),
    ("pytest_cov", rb"--cov\b", ("--no-cov",)),
    ("pytest_randomly", rb"randomly", ("-p", "no:randomly")),
    ("pytest_random_order", rb"random-order", ("-p", "no:random_order")),
    ("pytest_rerunfailures", rb"--reruns\b", ("-p", "no:rerunfailures")),
)
"""Plugins that run tests elsewhere, reordered or repeatedly, or trace them: module, setting, options."""
_UNREADABLE = (ValueError, SyntaxError, configparser.Error, RecursionError)
_LONGEST_TOML = 1 << 20
_MOST_DOTS = 200
"""Of a line of TOML: parsing its keys is quadratic in their parts."""


def switched_off(tree: Tree, interpreter: Interpreter) -> Iterator[str]:
    """Yield a sentence for each plugin that the project's settings use and that is switched off."""
    settings = b"\n".join(tree.files.get(name, b"") for name in SETTINGS)
    for module, used, switch in _SWITCHED_OFF:
        if interpreter.finds(module) and re.search(used, settings, re.MULTILINE):
            yield f"{module} was switched off: {' '.join(switch)}."


def options_for(tree: Tree, interpreter: Interpreter, code: Tree | None = None) -> list[str]:
    """Return the pytest options for a project: its packages are found where the tree says that its `code` is, and
    no plugin runs the tests elsewhere, reordered or repeatedly."""
    code = code or tree
    has_src = any(path.startswith("src/") and path.endswith(".py") for path in code.files)
    where, told = (setting(each, "pythonpath") for each in (code, tree))
    where = "src ." if where is None and has_src else where
    options = ["-o", f"pythonpath={where or ''}"] if where != told else []
    return options + [each for module, _, switch in _SWITCHED_OFF if interpreter.finds(module) for each in switch]


def options_in(path: str, data: bytes) -> object:
    """Return pytest's options in a file, without where the code is; its bytes where it can't be read."""
    try:
        return {name: value for name, value in _settings(path, data).items() if name != "pythonpath"}
    except _UNREADABLE:
        return data


def _settings(path: str, data: bytes) -> dict[str, Any]:
    """Return the options of pytest in a file of settings. Raises one of `_UNREADABLE`."""
    text = decoded(data)
    if path.endswith(".toml"):
        if len(text) > _LONGEST_TOML or any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
            raise ValueError("a key of many parts takes quadratic time")
        values = tomllib.loads(text)
        found = _table(_table(values, "tool") if path == "pyproject.toml" else values, "pytest")
        return {**found, **_table(found, "ini_options"), "ini_options": None}
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    named = [name for name in parser.sections() if name in ("pytest", "tool:pytest")]
    return {option: value for name in named for option, value in parser[name].items()}


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def setting(tree: Tree, name: str) -> str | None:
    """Return an option in pytest's settings, as in an INI file; None where they have none."""
    for path in SETTINGS:
        with suppress(*_UNREADABLE):
            found = _settings(path, tree.files.get(path, b"")).get(name)
            if found is not None:
                return shlex.join(map(str, found)) if isinstance(found, list) else " ".join(str(found).split())
    return None
