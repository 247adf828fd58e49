"""Names of code that tests use: those that a change renames, and placeholders for missing ones."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import partial

from ..repository.suite import SuiteRun
from ..syntax.definitions import Definition
from ..syntax.encoding import decoded, encoded
from ..syntax.imports import Import, render_imports, split_imports
from ..syntax.source import parse, unparse
from ..worktree.tree import Tree
from .base import modules, parsed, with_test_files

_ABSENT = re.compile(r"(?:cannot import name|No module named) '([\w.]+)'")
_PATH = re.compile(r"""[\w"'.]+""")
_WORD = re.compile(r"\w+")
_ALIKE = 0.5
"""The share of common names that makes two modules the same."""


def renames(old: Tree, new: Tree) -> dict[str, str]:
    """Return the new names of gone functions, classes and modules, found by the same text or the same place."""
    before, after = (modules(each, of_tests=False) for each in (old, new))
    found: list[tuple[str, str]] = []
    for path, other in _pairs(before, after):
        parts = [each.removesuffix(".py").split("/") for each in (path, other)]
        differing = [each for each in zip(*parts, strict=False) if each[0] != each[1]]
        if len(parts[0]) == len(parts[1]) and len(differing) == 1:
            found += differing
        found += _renamed(_definitions(before[path].body), _definitions(after[other].body))
    own, others = {*_names(before)}, {*_names(after)}
    gone, come = own - others - {*_taken(old)}, others - own - {*_taken(new)}
    unique = dict.fromkeys(pair for pair in found if pair[0] in gone and pair[1] in come)
    lefts, rights = ([pair[side] for pair in unique] for side in (0, 1))
    return {left: right for left, right in unique if lefts.count(left) == 1 and rights.count(right) == 1}


def dropped(old: Tree, new: Tree) -> set[str]:
    """Return the names that the code of one tree has, and that of another has not."""
    own, others = ({*_names(modules(each, of_tests=False))} for each in (old, new))
    return own - others


def with_names(tests: Tree, names: Mapping[str, str]) -> Tree:
    """Return a tree in whose tests other names of code stand."""
    return with_test_files(tests, partial(_written, names)) if names else tests


def _pairs(before: Mapping[str, ast.Module], after: Mapping[str, ast.Module]) -> Iterator[tuple[str, str]]:
    """Yield the paths of each module then and now."""
    added = {path: {each.name for each in _definitions(after[path].body)} for path in after if path not in before}
    for path, module in before.items():
        if path in after:
            yield path, path
            continue
        own = {each.name for each in _definitions(module.body)}
        shares = {
            other: len(own & names) / len(own | names) if own else module.body == after[other].body
            for other, names in added.items()
        }
        best = max(added, key=lambda other: shares[other], default=None)
        if best is not None and shares[best] >= _ALIKE:
            yield path, best


def _definitions(nodes: Sequence[ast.stmt]) -> list[Definition]:
    return [node for node in nodes if isinstance(node, Definition)]


def _renamed(before: list[Definition], after: list[Definition]) -> Iterator[tuple[str, str]]:
    """Yield the old and new names of definitions, and of those within."""
    old, new = ([each.name for each in side] for side in (before, after))
    pairs: list[tuple[Definition, Definition]] = []
    for kind, first, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lost, come = before[first:end], after[start:stop]
        if kind == "equal" or [*map(_size, lost)] == [*map(_size, come)]:
            pairs += zip(lost, come, strict=True)
    taken = {id(each) for pair in pairs for each in pair}
    lost, come = ([each for each in side if id(each) not in taken] for side in (before, after))
    texts = {_text(each): each for each in come}
    pairs += [(one, texts[text]) for one in lost if (text := _text(one)) in texts]
    for one, other in pairs:
        if one.name != other.name:
            yield one.name, other.name
        if isinstance(one, ast.ClassDef) and isinstance(other, ast.ClassDef):
            yield from _renamed(_definitions(one.body), _definitions(other.body))


def _size(node: Definition) -> tuple[type, int]:
    return type(node), 0 if isinstance(node, ast.ClassDef) else len(node.args.args)


def _text(node: Definition) -> str:
    return re.sub(rf"\b{node.name}\b", "", ast.dump(node))


def _names(modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the names of modules and their folders, and all that code defines and sets."""
    for path, module in modules.items():
        yield from path.removesuffix(".py").split("/")
        for node in ast.walk(module):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    yield name


def _taken(tree: Tree) -> Iterator[str]:
    """Yield names that tests have for something else: files, and parameters, which pytest knows by texts, too."""
    for path, module in modules(tree, of_tests=True).items():
        yield from path.removesuffix(".py").split("/")
        yield from (node.arg for node in ast.walk(module) if isinstance(node, ast.arg))


def _written(names: Mapping[str, str], data: bytes) -> bytes:
    """Return a file with other names, also in the texts that are paths of names."""
    try:
        text = decoded(data)
        tokens = [*tokenize.generate_tokens(io.StringIO(text, newline="").readline)]
    except (ValueError, SyntaxError, tokenize.TokenError):
        return data
    lines = [*io.StringIO(text, newline="")]
    for token in reversed(tokens):
        (row, first), (last, end) = token.start, token.end
        is_path = token.type == tokenize.STRING and "." in token.string and bool(_PATH.fullmatch(token.string))
        if row == last and (is_path or token.type == tokenize.NAME):
            new = _WORD.sub(lambda found: names.get(found[0], found[0]), token.string)
            lines[row - 1] = lines[row - 1][:first] + new + lines[row - 1][end:]
    return encoded("".join(lines), data)


def with_absent_names(tree: Tree) -> Tree:
    """Return a tree whose tests bind names that can't be imported to something that raises when it is used."""
    return with_test_files(tree, _bearing)


def absences(run: SuiteRun, files: Mapping[str, bytes], code: str) -> Iterator[tuple[str, str]]:
    """Yield each file of tests that could not be collected on `code`, empty for all, and what that lacks."""
    texts = {name: test.text for name, test in run.tests.items() if name in files}
    for name, text in texts.items() if run.tests else [("", run.output)]:
        if lacking := _ABSENT.findall(text):
            yield name, f"{name or 'The tests'} can't be collected on the code of {code}: no `{lacking[-1]}`"


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
