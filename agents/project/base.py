"""What a project was at a git reference: its test files, and the lines that have changed since."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UsageError
from ..heal.git import git, git_root
from ..heal.tree import Tree, never_changes
from ..syntax.collection import is_test
from ..syntax.encoding import decoded
from ..syntax.source import parse

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Base:
    """`tests` are the test files that differ now, as they were (empty: there was none); `lines` those of code that
    are new or changed, by path."""

    tests: Mapping[str, bytes]
    lines: Mapping[str, frozenset[int]]


def read_base(tree: Tree, reference: str) -> Base:
    """Compare `tree` with the commit that `reference` names. Raises UsageError."""
    root = tree.root
    if git_root(root) is None:
        raise UsageError(f"{root} is in no git repository; give --base in one, or go without.")
    try:
        commit = git(
            root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}"
        ).strip()
    except UsageError:
        raise UsageError(
            f"There is no commit {reference!r} here; name one (a shallow clone may lack it)."
        ) from None
    prefix = git(root, "rev-parse", "--show-prefix").strip()
    before = {
        path.removeprefix(prefix)
        for path in git(root, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).split("\0")
        if path.startswith(prefix)
    }
    tests: dict[str, bytes] = {}
    lines: dict[str, frozenset[int]] = {}
    differing = git(root, "diff", "--no-ext-diff", "--relative", "-z", "--name-only", commit).split("\0")
    for path in sorted({*differing, *(set(tree.files) - before)}):
        if not path.endswith(".py"):
            continue
        old = (
            git(root, "show", f"{commit}:{prefix}{path}").encode("utf-8", "surrogateescape")
            if path in before
            else b""
        )
        new = tree.files.get(path, b"")
        if old == new:
            continue
        if never_changes(path):
            tests[path] = old
        elif new:
            difference = git(root, "diff", "--no-ext-diff", "--no-color", "-U0", commit, "--", path)
            lines[path] = _added(difference) if path in before else frozenset(range(1, new.count(b"\n") + 2))
    return Base(tests, lines)


def _added(difference: str) -> frozenset[int]:
    found: set[int] = set()
    for start, count in _HUNK.findall(difference):
        found.update(range(int(start), int(start) + int(count or 1)))
    return frozenset(found)


def test_places(path: str, data: bytes) -> dict[str, tuple[int, str]]:
    """Line and text (as a dump of its tree) of each test function in a file, by its id without parameters. A file
    that is not Python has none."""
    try:
        body = parse(decoded(data)).body
    except (ValueError, SyntaxError):
        return {}
    found: dict[str, tuple[int, str]] = {}

    def collect(nodes: list[ast.stmt], name: str) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                collect(node.body, f"{name}::{node.name}")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_test(node):
                text = "\n".join(ast.dump(each) for each in (node.args, *node.body))
                found[f"{name}::{node.name}"] = (node.lineno, text)

    collect(body, path)
    return found


def texts_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Text of each test function in the test files among `files`, by its id without parameters."""
    return {
        name: text
        for path, data in files.items()
        if never_changes(path)
        for name, (_, text) in test_places(path, data).items()
    }
