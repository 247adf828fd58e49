"""Merging of the preambles of several tests: equal statements once, different definitions of a name renamed."""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..records import Test
from ..syntax.collection import is_fixture, is_test
from ..syntax.definitions import is_definition
from ..syntax.imports import Import, render_imports, split_imports
from ..syntax.source import (
    BUILTINS,
    names_bound,
    names_unbound,
    names_used,
    parse,
    source_of,
    texts_in,
    unparse,
    unused_name,
)

_Meaning = frozenset[str]
"""The definition of a name: the texts of all statements that make it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One top-level statement of tests, or one binding of an import (`entry`)."""

    text: str
    node: ast.stmt
    binds: frozenset[str]
    uses: frozenset[str]
    entry: Import | None = None
    always: bool = False
    """True if it has effects, or is of `__future__`: every test of its file needs it."""

    @property
    def key(self) -> str:
        """The key that equal pieces share."""
        return repr(self.entry) if self.entry else self.text


def merged(tests: Sequence[Test]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the imports, definitions and test functions of one module with all `tests`."""
    read = functools.cache(_pieces)  # many tests have one preamble
    named = _renamed([(*read(test.preamble), *read(test.source)) for test in tests])
    own = {pieces[-1].key for pieces in named}
    imports = [piece.entry for pieces in named for piece in pieces if piece.entry]
    shared = [[piece.key for piece in pieces if not piece.entry and piece.key not in own] for pieces in named]
    # A base class of tests is in the preamble of its subclass, and must come first.
    functions = dict.fromkeys(piece.key for pieces in named for piece in pieces if piece.key in own)
    return render_imports(imports), tuple(_in_order(shared)), tuple(functions)


def _pieces(source: str) -> tuple[Piece, ...]:
    lines = source.split("\n")
    return tuple(piece for node in parse(source).body for piece in pieces_of(node, lines))


def pieces_of(node: ast.stmt, lines: Sequence[str]) -> list[Piece]:
    """Return a statement of a module as a piece, or an import as a piece for each binding."""
    if imports := split_imports(node):
        return [_import_piece(entry) for entry in imports]
    return [Piece(source_of(lines, node), node, names_bound(node), names_used(node))]


def _import_piece(entry: Import) -> Piece:
    text, of_the_file = render_imports([entry]), entry.module == "__future__"
    return Piece(text, parse(text).body[0], frozenset({entry.binds}), frozenset(), entry, of_the_file)


def _meanings(pieces: Sequence[Piece]) -> Callable[[str], _Meaning]:
    """Return a function from a name to its `_Meaning`: the statements that define and change it."""
    imported = {each for piece in pieces if piece.entry for each in piece.binds}
    makers: dict[str, list[Piece]] = {}
    for piece in pieces:
        for name in piece.binds or piece.uses - imported:
            makers.setdefault(name, []).append(piece)

    @functools.cache
    def meaning(name: str) -> _Meaning:
        found, seen, pending = set[str](), set[str](), [name]
        while pending:
            wanted = pending.pop()
            for piece in makers.get(wanted, ()) if wanted not in seen else ():
                found.add(piece.key)
                pending.extend(piece.uses - seen)
            seen.add(wanted)
        return frozenset(found)

    return meaning


def _renamed(suites: Sequence[tuple[Piece, ...]]) -> list[tuple[Piece, ...]]:
    """Return the pieces renamed, so that each name has one meaning in all of them."""
    taken: dict[str, _Meaning] = {name: frozenset() for pieces in suites for name in _outside(pieces)}
    everywhere = {name for pieces in suites for piece in pieces for name in piece.binds | piece.uses}
    meanings = [_meanings(pieces) for pieces in suites]

    @functools.cache
    def placed(name: str, meaning: _Meaning) -> str:
        new = name if taken.setdefault(name, meaning) == meaning else unused_name(name, everywhere)
        everywhere.add(new)
        taken[new] = meaning
        return new

    # Names of tests are kept; a helper with such a name is renamed.
    for pieces, meaning_of in zip(suites, meanings, strict=True):
        for name in pieces[-1].binds:
            placed(name, meaning_of(name))
    renamed = []
    for pieces, meaning_of in zip(suites, meanings, strict=True):
        bound = sorted({name for piece in pieces for name in piece.binds} - {"*"})
        names = {name: new for name in bound if (new := placed(name, meaning_of(name))) != name}
        fixtures = frozenset(name for piece in pieces if is_fixture(piece.node) for name in piece.binds)
        parts = (_apply(piece, names, fixtures & names.keys()) for piece in pieces)
        renamed.append(tuple(parts) if names else pieces)
    return renamed


def _outside(pieces: Sequence[Piece]) -> frozenset[str]:
    """Return names that the pieces use and don't bind: mostly builtins."""
    text = "\n".join(piece.text for piece in pieces)
    here = {name for piece in pieces for name in piece.binds}
    read = {name for piece in pieces for name in piece.uses} & BUILTINS
    return frozenset((names_unbound(text) | read) - here)


def _apply(piece: Piece, names: Mapping[str, str], fixtures: frozenset[str]) -> Piece:
    if not (names.keys() & (piece.binds | piece.uses) or fixtures & texts_in(piece.node)):
        return piece
    if piece.entry:
        new = names[piece.entry.binds]
        return _import_piece(piece.entry._replace(alias=new))
    node = _Renamer(names, fixtures).visit(parse(piece.text).body[0])
    return Piece(unparse(node), node, names_bound(node), names_used(node))


def _in_order(sequences: Iterable[Sequence[str]]) -> list[str]:
    """Return the members of all `sequences` once, in an order that fits all of them if there is one."""
    sorter: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
    first_seen: dict[str, None] = {}
    for sequence in sequences:
        first_seen.update(dict.fromkeys(sequence))
        for index, member in enumerate(sequence):
            sorter.add(member, *sequence[max(0, index - 1) : index])
    try:
        return list(sorter.static_order())
    except graphlib.CycleError:
        return list(first_seen)


class _Renamer(ast.NodeTransformer):
    """Renames global names, except where local names hide them, and parameters that are fixtures."""

    def __init__(self, names: Mapping[str, str], fixtures: frozenset[str]) -> None:
        self.names = dict(names)
        self.fixtures = fixtures
        self.depth = 0

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and node.value in self.fixtures:
            node.value = self.names.get(node.value, node.value)
        return node

    def visit_Global(self, node: ast.Global) -> ast.Global:
        node.names = [self.names.get(name, name) for name in node.names]
        return node

    def _scope(self, node: Any) -> Any:
        """Visit a definition or a lambda: decorators, defaults and annotations see the names outside of it."""
        hidden, body, names = self._local_names(node), node.body, self.names
        if is_definition(node) and not self.depth:
            node.name = names.get(node.name, node.name)
        self.depth += 1
        node.body = ast.Pass()
        self.generic_visit(node)
        self.names = {old: new for old, new in names.items() if old not in hidden}
        node.body = [self.visit(each) for each in body] if isinstance(body, list) else self.visit(body)
        self.depth -= 1
        self.names = names
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _scope  # noqa: N815 - of the base

    def _local_names(self, node: Any) -> frozenset[str]:
        """Return the names of a scope's own; rename the parameters that are fixtures."""
        if isinstance(node, ast.ClassDef):
            return frozenset()
        asks = not isinstance(node, ast.Lambda) and (is_fixture(node) or is_test(node) or self.depth)
        local = set()
        args: ast.arguments = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        for parameter in filter(None, every):
            if asks and parameter.arg in self.fixtures:
                parameter.arg = self.names[parameter.arg]
            else:
                local.add(parameter.arg)
        body = node.body if isinstance(node.body, list) else []
        declared = {name for each in ast.walk(node) if isinstance(each, ast.Global) for name in each.names}
        return frozenset(local.union(*map(names_bound, body)) - declared)
