"""Finds changes of workflows after which tests exist, but nothing runs them."""

from __future__ import annotations

import re

from ..worktree.tree import Tree
from .triggers import started

YAML = (".yml", ".yaml")

RUNS_TESTS = re.compile(
    r"(\b|-m)(pytest|py\.test|tox|nox|unittest|nose2|make (test|check)\w*|hatch (run )?test|greenloop)\b"
)
NO_STEP = re.compile(
    r"(- )?(#|(run:\s+)?@?(echo|printf)\b([^&|;`$]|\$(?!\())*$|\[(?!\[?[\"'])|name:|pip |uv (?!run\b)|deps\b)|"
    r"(import |@)nox\b|nox\.options\b|.*(\binstall\b|\s--notest\b)"
)
_ASKED = re.compile(r"(?:py\.?test|unittest)\b(?:[^&|;]|>&)*")
_NO_ARGUMENT = re.compile(r"\{(?:pos)?args:?|[\"',()\[\]]")
_TESTS = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_FOLDER = re.compile(
    r"(?:working-directory\s*:|change_?dir\s*=|session\.(?:chdir|cd)\(|\bcd\s)\s*[\"']?(?:[${][\w{}]*/)?([\w.][\w./-]*)"
)
_UNITS = {
    "noxfile.py": re.compile(r"^(?=@nox\.session.*\n(?:@.*\n){0,9}def (\w+))@nox\.session(.*)", re.MULTILINE),
    "Makefile": re.compile(r"^(?!\.[A-Z])([\w.%/-]+)[ \t]*::?(?!=)([^=;#\n]*)", re.MULTILINE),
    "tox": re.compile(r"^\[(?:tool\.tox\.)?(?:testenv|env_run_base|env)\b[:.]?([^\]\n]*)()\]", re.MULTILINE),
}
"""Heads of targets that are run by name: the name, and its dependencies."""
_LISTED = {
    "noxfile.py": re.compile(r"nox\.options\.sessions\s*=\s*[\[(]([^\])]*)"),
    "tox": re.compile(r"^env_?list\s*=\s*(.*(?:\n[ \t]+.*)*)", re.MULTILINE),
}
_OWN = re.compile(r"^commands\s*=|^[ \t]+session\.", re.MULTILINE)
_DEEPEST = 10
"""Levels of make's dependencies."""
_WORD = re.compile(r"[\w{}-]+")


def runs_tests(text: str) -> bool:
    """Return True for a command that runs tests."""
    return not NO_STEP.match(text.strip()) and bool(RUNS_TESTS.search(text))


def arguments(text: str) -> str:
    """Return what follows the runners in a command, without what is none of their arguments."""
    return _NO_ARGUMENT.sub(" ", " ".join(_ASKED.findall(text)))


def unasked(text: str, tree: Tree) -> set[str]:
    """Return the files with tests that are in none of the folders that a command names or runs in, if any."""
    named = (each.strip("./") for each in (*arguments(text).split(), *_FOLDER.findall(text)))
    tests = set(filter(_TESTS.fullmatch, tree.files))
    folders = tuple(f"{each}/" for each in named if any(path.startswith(f"{each}/") for path in tests))
    return {path for path in tests if folders and not path.startswith(folders)}


def starting(path: str, text: str, tree: Tree) -> dict[str, bool]:
    """Return what runs tests in a CI file, and if changes trigger it; for make, nox or tox the targets with their
    dependencies or defaults, and if they run tests."""
    if path.endswith(YAML):
        return started(text, RUNS_TESTS, [each for each in tree.files if each.endswith(".py")])
    name = path.rpartition("/")[2]
    kind = name if name in _UNITS else "tox" if name.endswith((".ini", ".toml")) else "Makefile"
    if kind == "Makefile" and not name.lower().endswith(("makefile", ".mk", "justfile")):
        return {}
    _, *parts = _UNITS[kind].split(text)
    units = [*zip(parts[::3], parts[1::3], parts[2::3], strict=True)]
    running = {name for name, _, body in units if any(map(runs_tests, body.splitlines()))}
    if kind == "Makefile":
        for _ in range(_DEEPEST):
            running |= {name for name, needs, _ in units if running.intersection(needs.split())}
        return {name: name in running for name, *_ in units} if running else {}
    own = {name: needs for name, needs, body in units if _OWN.search(body)}
    listed = _LISTED[kind].search(text)
    names = (
        _WORD.findall(listed[1]) if listed else ["", *(each for each in own if "default=False" not in own[each])]
    )
    return {kind: any((each if each in own else "") in running for each in names)} if running else {}
