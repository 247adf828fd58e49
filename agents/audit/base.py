"""A project at a git commit: its files, the lines of code and the tests that differ since."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

from ..errors import UsageError
from ..files import LONGEST, read_regular
from ..syntax.changes import new_lines
from ..syntax.definitions import Definition, Function, first_line, is_definition
from ..syntax.encoding import decoded, lines_in
from ..syntax.imports import split_imports
from ..syntax.source import is_constant, parse, unparse
from ..worktree.git import Repository, open_repository
from ..worktree.tree import MOST_BYTES, MOST_FILES, Tree, is_wanted, never_changes
from .pytest_options import SETTINGS, options_in, setting

_IMPORTED = (".py", ".pyc", ".pyo", ".so", ".pyd")
HasBody = ast.Module | Definition
_Class = tuple[str, ast.ClassDef]


@dataclass(frozen=True, slots=True)
class Base:
    """The files of the base commit; `lines` are new or changed lines of code, `differing` the paths of all files
    that differ, also of those that no copy has. `left_at` is the merge base, if HEAD left its history."""

    tree: Tree
    lines: Mapping[str, frozenset[int]]
    differing: tuple[str, ...]
    left_at: str = ""


@dataclass(frozen=True, slots=True)
class TestPlace:
    """The location of a test function, its `source`, and dumps of its tree: of its arguments and `body`, and of
    the `whole` with decorators; the file at `path` may be that of a base class."""

    line: int
    source: str
    body: str
    whole: str
    path: str = ""

    def has_within(self, body: str) -> bool:
        """Return True if the body contains that of another function, as dumps."""
        return not self.body.endswith(f"\n{body}") and all(each in self.body for each in body.split("\n"))


def read_base(tree: Tree, reference: str) -> Base:
    """Compare `tree` with the commit that `reference` names. Files that git ignores there, or modules that its
    code names, such as built ones, are taken as they are now. Raises UsageError."""
    root = tree.root.resolve()
    with open_repository(root) as repository:
        commit = repository.commit(reference)
        if commit is None:
            raise UsageError(f"There is no commit {reference!r} here; name one (a shallow clone may lack it).")
        committed = repository.files(commit)
        out_of_sight = (path for path in repository.index if not is_wanted(path) and path.endswith(_IMPORTED))
        hidden = [*_changed(repository, out_of_sight, committed, commit)]
        before = {path: blob for path, blob in committed.items() if is_wanted(path)}
        made = [path for path in tree.files if path not in before and path not in repository.index]
        ignored = repository.ignored(made, commit)
        late = repository.ignored(made) - ignored  # a change may have its own modules ignored
        files: dict[str, bytes] = {}
        lost: list[str] = []
        for path, blob in before.items():
            if path in tree.files and repository.is_unchanged(path, blob, tree.files[path], commit):
                files[path] = tree.files[path]
            elif path not in tree.left_out or not _is_readable(root, path):
                lost.append(path)
        _refuse_unseen(tree, repository, before, commit)
        left_at = repository.left_at(commit)
        blobs = repository.blobs(before[path] for path in lost)
    files |= {path: blobs[before[path]] for path in lost}
    code = b" ".join(data for path, data in files.items() if late and path.endswith(".py"))
    named = {each.decode() for each in re.findall(rb"[a-zA-Z_]\w*", code)}
    ignored |= {path for path in late if path.rpartition("/")[2].partition(".")[0] in named}
    files |= {path: tree.files[path] for path in ignored}
    differing = tuple(sorted({*hidden, *lost, *({*tree.files} - {*files})}))
    old = _with_named(replace(tree, files=files, left_out=frozenset()))
    lines = {
        path: new_lines(files.get(path, b""), tree.files[path])
        for path in differing
        if path.endswith(".py") and not old.holds_tests(path) and tree.files.get(path)
    }
    return Base(old, lines, differing, left_at)


def _with_named(tree: Tree) -> Tree:
    """Return a tree with the names of files with tests that its settings have, but for those that any code has."""
    patterns = re.findall(r"[^\s'\"]+", setting(tree, "python_files") or "")
    named = (each for each in patterns if not (fnmatch("__init__.py", each) or fnmatch("a.py", each)))
    return replace(tree, named=tuple(named))


def _changed(
    repository: Repository, paths: Iterable[str], before: Mapping[str, str], commit: str
) -> Iterator[str]:
    """Yield those of `paths` that can be read and differ from `before`; also all beyond 64 MiB in all."""
    room = LONGEST
    for path in paths:
        with suppress(OSError, UsageError):  # no file of the folder
            data = read_regular(repository.folder / path, repository.folder, room)
            room -= len(data)
            if path not in before or not repository.is_unchanged(path, before[path], data, commit):
                yield path


def _refuse_unseen(tree: Tree, repository: Repository, before: Mapping[str, str], commit: str) -> None:
    """Raise UsageError for a file beyond the size limits on which tests may depend: tests, and code, test data and
    settings that are new or changed. On neither side, it would not count as different."""
    unseen = [
        path for path in sorted(tree.left_out) if path.endswith(".py") or never_changes(path) or path in SETTINGS
    ]
    unseen = [path for path in unseen if _is_readable(repository.folder, path)]
    ignored = repository.ignored([path for path in unseen if path not in before])
    unseen = [path for path in unseen if path not in ignored]
    tests = [path for path in unseen if path.endswith(".py") and is_of_tests(path)]
    if path := next(iter([*tests, *_changed(repository, unseen, before, commit)]), ""):
        raise UsageError(
            f"{path} does not fit: a project has at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB; "
            "run it in a folder that has less."
        )


def _is_readable(root: Path, path: str) -> bool:
    """Return True for a regular file in `root`, links followed: it was left out for its size."""
    try:
        read_regular(root / path, root, 0)
    except (OSError, UsageError):
        return False
    return True


def with_tests_of(code: Tree, tests: Tree, expected: Collection[str] = ()) -> Tree:
    """Return the code of one tree with the tests of another, and what belongs to them."""

    def goes_along(path: str) -> bool:
        return is_of_tests(path) or path in expected or code.holds_tests(path)

    kept = {path: data for path, data in code.files.items() if not goes_along(path)}
    return replace(code, files=kept | {path: data for path, data in tests.files.items() if goes_along(path)})


def with_test_files(tree: Tree, written: Callable[[bytes], bytes]) -> Tree:
    """Return a tree with the Python files of its tests, and of what lies beside them, as `written` has them."""
    files = {path: data for path, data in tree.files.items() if path.endswith(".py") and tree.holds_tests(path)}
    return replace(tree, files={**tree.files, **{path: written(data) for path, data in files.items()}})


def is_of_tests(path: str) -> bool:
    """Return True for tests, files beside them, settings of pytest, and texts that may hold doctests."""
    return never_changes(path) or path in SETTINGS or path.endswith((".rst", ".md"))


def places_of(tree: Tree) -> dict[str, TestPlace]:
    """Return the locations of test functions by id without parameters, once for each inheriting class."""
    found: dict[str, TestPlace] = {}
    files = modules(tree, of_tests=True)
    lines = {path: lines_in(tree.files[path]) for path, module in files.items() if module.body}
    classes = {
        node.name: (path, node) for path in files for node in files[path].body if isinstance(node, ast.ClassDef)
    }
    for path, module in files.items():
        for where, name, node in _functions(path, path, module.body, classes):
            parts = [ast.dump(each) for each in (node.args, *node.body)]
            marks = [ast.dump(each) for each in node.decorator_list]
            source = "\n".join(lines[where][first_line(node) - 1 : node.end_lineno])
            found[name] = TestPlace(node.lineno, source, "\n".join(parts), "\n".join((*marks, *parts)), where)
    return found


def functions_in(tree: Tree, *, of_tests: bool) -> dict[str, Function]:
    """Return the functions of tests or of the code, by `path::line`."""
    return {
        f"{path}::{first_line(node)}": node
        for path, module in modules(tree, of_tests=of_tests).items()
        for node in ast.walk(module)
        if isinstance(node, Function)
    }


def newly_parsed(data: bytes) -> ast.Module:
    """Return the tree of a file's text, an empty one where it can't be read."""
    try:
        return parse(decoded(data))
    except (ValueError, SyntaxError):
        return ast.Module([], [])


parsed = lru_cache(MOST_FILES)(newly_parsed)
"""The same, cached: the tree must not be changed."""


def modules(tree: Tree, *, of_tests: bool) -> dict[str, ast.Module]:
    """Return the Python files that are tests or lie beside them, or all others, by their paths."""
    wanted = (each for each in tree.files if each.endswith(".py") and tree.holds_tests(each) == of_tests)
    return {path: parsed(tree.files[path]) for path in wanted}


def named(node: HasBody, prefix: str = "") -> Iterator[tuple[str, HasBody]]:
    """Yield a module and its definitions by their qualified names, each after a dot."""
    yield prefix, node
    for each in node.body:
        if is_definition(each):
            yield from named(each, f"{prefix}.{each.name}")


def _functions(
    path: str, name: str, nodes: list[ast.stmt], classes: Mapping[str, _Class]
) -> Iterator[tuple[str, str, Function]]:
    """Yield functions by the ids that they have as tests, with their files; settings may make any name a test."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            for where, each in _lineage((path, node), classes):
                others = classes if each is node else {}  # what it inherits from may be what it stands in
                yield from _functions(where, f"{name}::{node.name}", each.body, others)
        elif isinstance(node, Function):
            yield path, f"{name}::{node.name}", node


def _lineage(of: _Class, classes: Mapping[str, _Class]) -> list[_Class]:
    """Return a class after its base classes in test files, by their names."""
    found: dict[str, _Class] = {}
    left = [of]
    while left:
        where, node = left.pop()
        found.setdefault(node.name, (where, node))
        names = [unparse(each).rpartition(".")[2] for each in node.bases]
        left += [classes[each] for each in names if each in classes and each not in found]
    return [*found.values()][::-1]


def around(tree: Tree, base: Base, tests: Container[str]) -> tuple[str, ...]:
    """Return the files around the tests that differ: helpers, fixtures, data and settings. In a file with tests
    the functions `tests`, and imports of new names, do not count."""
    found = []
    for path in base.differing:
        old, new = base.tree.files.get(path), tree.files.get(path)
        if path in SETTINGS:
            differs = options_in(path, old or b"") != options_in(path, new or b"")
        elif path.endswith(".py"):
            differs = tree.holds_tests(path) and _differ(_beside(old or b"", tests), _beside(new or b"", tests))
        else:
            differs = never_changes(path) and old is not None  # no old test reads a new file
        if differs:
            found.append(path)
    return tuple(found)


def _differ(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> bool:
    """Return True if statements differ, ignoring heads of classes and imported names of one side only."""
    names = {"", *({name for name, _ in old} & {name for name, _ in new})}
    one, other = ([each for each in side if each[0] in names] for side in (old, new))
    return one != other


def _beside(data: bytes, tests: Container[str]) -> list[tuple[str, str]]:
    """Return a file's statements except `tests`, as dumps: of a class its head, with its name, and its statements,
    of an import the origin of each name, sorted by name."""
    imports: list[tuple[str, str]] = []

    def kept(nodes: list[ast.stmt]) -> Iterator[tuple[str, str]]:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                yield node.name, str([ast.dump(each) for each in (*node.bases, *node.decorator_list)])
                yield from kept(node.body)
            elif entries := split_imports(node):
                bound = ((each.alias or each.name or each.module, str(each)) for each in entries)
                imports.extend((f"import {name}" if name != "*" else "", origin) for name, origin in bound)
            elif not is_constant(node) and not (isinstance(node, Function) and node.name in tests):
                yield "", ast.dump(node)

    return [*kept(parsed(data).body), *sorted(imports)]
