"""Mutants: a module with one small change each."""

from __future__ import annotations

import ast
import copy
import threading
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, zip_longest
from types import CodeType

from ..records import Survivor
from ..syntax.definitions import Function, first_line
from ..syntax.source import compiled, parse, unparse
from .operators import replacements
from .sites import Site, Unit, sites

MOST = 30
LONGEST_SHOWN = 110
_one_at_a_time = threading.Lock()
"""Guards the tree that all changes of a module share while a change is written out."""


@dataclass(frozen=True, slots=True)
class Mutant(Survivor):
    """A change of a module; `write` returns the whole text with it.

    For a change in a top-level function or method, `function` is its text within its classes and without
    decorators, `names` are theirs and its own, `first` is its first line. Otherwise `names` is empty.
    """

    write: Callable[[], str] = field(repr=False, compare=False)
    function: str = field(default="", repr=False)
    names: tuple[str, ...] = ()
    first: int = 0

    @property
    def code(self) -> str:
        """Return the whole module with the change, in the layout of `plain_layout`."""
        return self.write()

    @property
    def survivor(self) -> Survivor:
        """Return the change without its text."""
        return Survivor(self.line, self.before, self.after)


def plain_layout(code: str) -> str:
    """Return the module in its mutants' layout, without comments. Raises ValueError if it isn't Python."""
    return _written(parse(code))


def _written(node: ast.AST) -> str:
    return unparse(node) + "\n"


def mutants(code: str, most: int = MOST) -> tuple[Mutant, ...]:
    """Return at most `most` mutants, the same ones for the same module, spread evenly over its functions.

    Omitted are those that don't compile, and those that compile to the same code (Papadakis et al., "Trivial
    Compiler Equivalence", 2015). Raises ValueError if `code` isn't Python.
    """
    return tuple(islice(mutants_in(code), most))


def mutants_of(code: str, survivors: Sequence[Survivor]) -> tuple[Mutant, ...]:
    """Return the mutants of `survivors`, in that order. Raises ValueError if `code` isn't Python."""
    wanted = set(survivors)
    found: dict[Survivor, Mutant] = {}
    for mutant in mutants_in(code) if wanted else ():
        if mutant.survivor in wanted:
            found.setdefault(mutant.survivor, mutant)
        if len(found) == len(wanted):
            break
    return tuple(found[survivor] for survivor in survivors if survivor in found)


def mutants_in(code: str, lines: Container[int] | None = None) -> Iterator[Mutant]:
    """Yield the mutants of a module lazily, in the order of `mutants`; outside of functions only those on `lines`,
    if given. A change is written and compiled with its function or top-level statement alone."""
    tree = parse(code)
    known: set[tuple[int, object]] = set()
    for site, node in _changes(tree):
        if lines is not None and site.scope.function is None and site.line not in lines:
            continue
        unit = site.scope.unit
        assert unit is not None
        number = id(unit.node)
        if (number, None) not in known:
            known |= {(number, None), (number, _substance(compiled(_text(unit))))}
        mutant = _mutant(tree, unit, site, node)
        try:
            substance = (number, _substance(compiled(mutant.function)))
        except ValueError:
            continue
        if substance not in known:
            known.add(substance)
            yield mutant


def _text(unit: Unit) -> str:
    """Write out a unit, a function within its classes and without decorators."""
    if not isinstance(unit.node, Function):
        return _written(unit.node)
    node: ast.stmt = copy.copy(unit.node)
    node.decorator_list = []  # type: ignore[attr-defined]
    for name in reversed(unit.names):
        node = ast.ClassDef(name, [], [], [node], [])
    return _written(node)


def _changes(tree: ast.Module) -> Iterator[tuple[Site, ast.AST]]:
    """Yield one change of each scope after the other; within a scope spread over it."""
    groups: dict[str, list[tuple[Site, ast.AST]]] = {}
    for site in sites(tree):
        groups.setdefault(site.scope.name, []).extend((site, node) for node in replacements(site))
    spread = [[group[index] for index in _spread(len(group))] for group in groups.values()]
    for turn in zip_longest(*spread):
        yield from (change for change in turn if change is not None)


def _spread(count: int) -> list[int]:
    """Return `range(count)` in the order of van der Corput's sequence, any prefix of which is spread evenly."""
    width = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda index: int(f"{index:0{width}b}"[::-1], 2))


def _mutant(tree: ast.Module, unit: Unit, site: Site, node: ast.AST) -> Mutant:
    own = site.node
    before = _shown(site.statement)
    removed = isinstance(node, ast.Pass)

    def changed(write: Callable[[], str]) -> str:
        with _one_at_a_time:
            site.put(node)
            try:
                return write()
            finally:
                site.put(own)

    text = changed(lambda: _text(unit))
    after = "" if removed else changed(lambda: _shown(node if own is site.statement else site.statement))
    if before == after:  # a line further down
        before, after = _shown(own), _shown(node)
    whole = partial(changed, lambda: _written(tree))
    function = site.scope.function
    names = () if function is None else (*unit.names, function.name)
    return Mutant(site.line, *_cut(before, after), whole, text, names, first_line(unit.node))


def _shown(node: ast.AST) -> str:
    """Return a node as source: of a statement with a body the line that opens it."""
    lines = unparse(node).strip().split("\n")
    return next((line for line in lines if not line.startswith("@")), "")


def _cut(before: str, after: str) -> tuple[str, str]:
    """Truncate both around the first difference."""
    if max(len(before), len(after)) <= LONGEST_SHOWN:
        return before, after
    shorter = min(len(before), len(after))
    alike = next((index for index in range(shorter) if before[index] != after[index]), shorter)
    start = max(0, alike - LONGEST_SHOWN // 2)
    end = start + LONGEST_SHOWN - 6

    def part(text: str) -> str:
        return f"{'...' * (start > 0)}{text[start:end]}{'...' * (len(text) > end)}"

    return part(before), part(after)


def _substance(code: CodeType) -> tuple[object, ...]:
    """Return a key of compiled code by its behaviour: all but file names and line numbers."""
    constants = tuple(
        _substance(part) if isinstance(part, CodeType) else (type(part).__name__, repr(part))
        for part in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable)
