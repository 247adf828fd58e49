"""Lets tests be collected on code that lacks names which they import: only those that use such a name fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ..repository.suite import SuiteRun
from ..syntax.clean_text import clean
from ..syntax.imports import Import, render_imports, split_imports
from ..syntax.source import parse, unparse
from ..worktree.tree import Tree
from .base import parsed, with_test_files

_ABSENT = re.compile(r"(?:cannot import name|No module named) '([\w.]+)'")


def with_absent_names(tree: Tree) -> Tree:
    """Return a tree whose tests, and what lies beside them, bind names that can't be imported to something that
    raises when it is used."""
    return with_test_files(tree, _bearing)


def absences(run: SuiteRun, files: Mapping[str, bytes], code: str) -> Iterator[tuple[str, str]]:
    """Yield each file of tests that could not be collected on `code`, empty for all, and what that lacks."""
    texts = {name: test.text for name, test in run.tests.items() if name in files}
    for name, text in texts.items() if run.tests else [("", run.output)]:
        if lacking := _ABSENT.findall(text):
            who = clean(name) or "The tests"
            yield name, f"{who} can't be collected on the code of {code}: no `{clean(lacking[-1])}`"


def _bearing(data: bytes) -> bytes:
    """Return the text of a file with each of its module's imports tried by itself."""
    body: list[ast.stmt] = []
    for node in parsed(data).body:
        entries = [each for each in split_imports(node) if each.module != "__future__" and each.name != "*"]
        body += [each for entry in entries for each in parse(_tried(entry)).body] or [node]
    with suppress(ValueError):  # it nests too deeply
        return unparse(ast.Module(body, [])).encode() if body else data
    return data


def _tried(entry: Import) -> str:
    return f"""
try:
    {render_imports([entry])}
except (ImportError, AttributeError):
    from inside.absent_names import AbsentName
    {entry.binds} = AbsentName({entry.name or entry.module!r})
"""
