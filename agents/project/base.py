"""A project at a git reference: its test files, the lines that have changed since, and what is lost."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from ..errors import UsageError
from ..repository.suite import SuiteRun
from ..syntax.collection import is_test
from ..syntax.encoding import decoded
from ..syntax.source import parse
from ..worktree.git import open_repository
from ..worktree.tree import Tree, never_changes

_MOST_COMPARED = 25_000_000
"""Pairs of lines; where there are more, all between the first and the last change count as new."""


@dataclass(frozen=True, slots=True)
class Base:
    """`tests` are the test files that differ now, as they were (empty: there was none); `lines` those of code that
    are new or changed, by path."""

    tests: Mapping[str, bytes]
    lines: Mapping[str, frozenset[int]]


def read_base(tree: Tree, reference: str) -> Base:
    """Compare `tree` with the commit that `reference` names. Raises UsageError."""
    root = tree.root.resolve()
    with open_repository(root) as repository:
        commit = repository.commit(reference)
        if commit is None:
            raise UsageError(f"There is no commit {reference!r} here; name one (a shallow clone may lack it).")
        before = repository.files(commit)
        differing = []
        for path in sorted({*before, *tree.files}):
            if not path.endswith(".py") or (root / path).is_symlink():
                continue
            there = path in tree.files or (root / path).exists()
            if path in before and there:
                data = tree.files.get(path)
                if data is None or repository.is_unchanged(path, before[path], data):
                    continue
            if there or never_changes(path):
                differing.append(path)
        old = repository.blobs(before[path] for path in differing if path in before)
    tests: dict[str, bytes] = {}
    lines: dict[str, frozenset[int]] = {}
    for path in differing:
        was, new = old[before[path]] if path in before else b"", tree.files.get(path, b"")
        if never_changes(path):
            tests[path] = was
        elif new:
            lines[path] = _new_lines(was, new)
    return Base(tests, lines)


def _new_lines(old: bytes, new: bytes) -> frozenset[int]:
    """Return the numbers, from 1, of the lines of `new` that are not in `old`, whatever ends them."""
    before, after = old.splitlines(), new.splitlines()
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    before, after = before[same:], after[same:]
    while before and after and before[-1] == after[-1]:
        before.pop()
        after.pop()
    if len(before) * len(after) > _MOST_COMPARED:
        return frozenset(range(same + 1, same + len(after) + 1))
    changes = SequenceMatcher(None, before, after).get_opcodes()
    return frozenset(
        line for kind, _, _, first, end in changes if kind != "equal"
        for line in range(same + first + 1, same + end + 1)
    )  # fmt: skip


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


def function_starts(text: str) -> dict[int, int]:
    """For each line in a function the first line of the innermost one, its decorators included."""
    found: dict[int, int] = {}
    for node in ast.walk(parse(text)):  # outer functions come first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.update(dict.fromkeys(range(start, (node.end_lineno or node.lineno) + 1), start))
    return found


def uncalled(tree: Tree, base: Base, run: SuiteRun) -> list[str]:
    """Functions with new or changed lines that no test calls, as path:line."""
    called = {function for test in run.tests.values() for function in test.called}
    found: dict[str, None] = {}
    for path, lines in base.lines.items():
        try:
            starts = function_starts(decoded(tree.files[path]))
        except (ValueError, SyntaxError):
            continue
        for start in sorted({starts[line] for line in lines if line in starts}):
            if f"{path}::{start}" not in called:
                found[f"{path}:{start}"] = None
    return list(found)


def gone(tree: Tree, base: Base, before: SuiteRun, now: SuiteRun) -> tuple[str, ...]:
    """Tests that pass at the base, on the code of now, and are not there any more or skipped; a test that was only
    renamed or moved is still there."""
    there = {name.partition("[")[0] for name in now.tests}
    run = {name.partition("[")[0] for name, test in now.tests.items() if test.outcome != "skipped"}
    old, texts = texts_of(base.tests), set(texts_of(tree.files).values())
    passed = (name.partition("[")[0] for name, test in before.tests.items() if test.outcome == "passed")
    lost = dict.fromkeys(name for name in passed if name not in run)
    return tuple(name for name in lost if name in there or old.get(name) not in texts)
