"""Lets tests be collected on code that lacks names which they import: only those that use such a name fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ..repository.suite import SuiteRun
from ..syntax.clean_text import clean
from ..syntax.encoding import encoded, lines_in
from ..syntax.source import unparse
from ..worktree.tree import Tree
from .base import parsed, with_test_files

_ABSENT = re.compile(r"(?:cannot import name|No module named) '([\w.]+)'")


def with_absent_names(tree: Tree) -> Tree:
    """Return a tree whose tests, and what lies beside them, bind names that can't be imported to something that
    raises when it is used."""
    return with_test_files(tree, _bearing)


def absences(run: SuiteRun, files: Mapping[str, bytes], code: str) -> Iterator[tuple[str, str]]:
    """Yield each file of tests that could not be collected on `code`, empty for all, and what that lacks."""
    lacking = _ABSENT.findall(run.output)
    if lacking and not run.tests:
        yield "", f"The tests can't be collected on the code of {code}: no `{clean(lacking[-1])}`"
    for name, test in run.tests.items():
        lacking = _ABSENT.findall(test.text)
        if name in files and lacking:
            yield name, f"{clean(name)} can't be collected on the code of {code}: no `{clean(lacking[-1])}`"


def _bearing(data: bytes) -> bytes:
    """Return the text of a file with each of its imports tried by itself: those of the module, a line each."""
    module = parsed(data)
    lines: list[str] = []
    changed: dict[int, list[str]] = {}
    for node in module.body:
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and node.module != "__future__" and node.names[0].name != "*"
        ):
            changed[id(node)] = [line for name in node.names for line in _tried(node, name)]
    if not changed:
        return data
    text = lines_in(data)
    begun = 0
    for before, node, after in zip([None, *module.body], module.body, [*module.body[1:], None], strict=False):
        alone = (before is None or before.end_lineno != node.lineno) and (
            after is None or after.lineno != node.end_lineno
        )
        if id(node) in changed and alone:
            lines += [*text[begun : node.lineno - 1], *changed[id(node)]]
            begun = node.end_lineno or node.lineno
    return encoded("\n".join([*lines, *text[begun:]]) + "\n", data)


def _tried(node: ast.Import | ast.ImportFrom, name: ast.alias) -> list[str]:
    alone = ast.Import([name]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [name], node.level)
    bound = name.asname or name.name.partition(".")[0]
    return [
        "try:",
        f"    {unparse(alone)}",
        "except (ImportError, AttributeError):",
        "    from inside.absent_names import AbsentName",
        f"    {bound} = AbsentName({name.name!r})",
    ]
