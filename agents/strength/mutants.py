"""Mutants: a module with one small change each, which a suite worth its name tells from the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from types import CodeType

from ..records import Survivor
from ..syntax.source import compiled, parse, unparse
from .operators import replacements
from .sites import Site, sites

MOST = 30
LONGEST_SHOWN = 110


@dataclass(frozen=True, slots=True)
class Mutant(Survivor):
    """A change, and `code`, the whole module with it, in the layout of `plain_layout`."""

    code: str

    @property
    def survivor(self) -> Survivor:
        """The change alone."""
        return Survivor(self.line, self.before, self.after)


def plain_layout(code: str) -> str:
    """The module in the layout of its mutants, without comments. Raises ValueError where it isn't Python."""
    return unparse(parse(code)) + "\n"


def mutants(code: str, most: int = MOST) -> tuple[Mutant, ...]:
    """At most `most` mutants of a module, always the same ones for the same module; any first few of them are
    spread evenly over its functions, and over each function.

    Left out: what doesn't compile, and what compiles to the same code (Papadakis et al., "Trivial Compiler
    Equivalence", 2015). Raises ValueError where `code` isn't Python.
    """
    return tuple(islice(_made(code), most))


def mutants_of(code: str, survivors: Sequence[Survivor]) -> tuple[Mutant, ...]:
    """Return the mutants that `survivors` tell of, in that order. Raises ValueError where `code` isn't Python."""
    wanted = set(survivors)
    found: dict[Survivor, Mutant] = {}
    for mutant in _made(code) if wanted else ():
        if mutant.survivor in wanted:
            found.setdefault(mutant.survivor, mutant)
        if len(found) == len(wanted):
            break
    return tuple(found[survivor] for survivor in survivors if survivor in found)


def _made(code: str) -> Iterator[Mutant]:
    tree = parse(code)
    known = [_substance(compiled(unparse(tree)))]
    for change in _changes(tree):
        mutant = _mutant(tree, *change)
        try:
            substance = _substance(compiled(mutant.code))
        except ValueError:
            continue
        if substance not in known:
            known.append(substance)
            yield mutant


def _changes(tree: ast.Module) -> Iterator[tuple[Site, ast.AST]]:
    """One change of each scope after the other; those of a scope from all over it."""
    groups: dict[str, list[tuple[Site, ast.AST]]] = {}
    for site in sites(tree):
        groups.setdefault(site.scope.name, []).extend((site, node) for node in replacements(site))
    spread = [[group[index] for index in _spread(len(group))] for group in groups.values()]
    for turn in zip_longest(*spread):
        yield from (change for change in turn if change is not None)


def _spread(count: int) -> list[int]:
    """`range(count)` in an order of which any first few lie far apart (van der Corput's sequence)."""
    width = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda index: int(f"{index:0{width}b}"[::-1], 2))


def _mutant(tree: ast.Module, site: Site, node: ast.AST) -> Mutant:
    own = site.node
    before = _shown(site.statement)
    removed = isinstance(node, ast.Pass)
    site.put(node)
    try:
        code = unparse(tree) + "\n"
        after = "" if removed else _shown(node if own is site.statement else site.statement)
    finally:
        site.put(own)
    if max(len(before), len(after)) > LONGEST_SHOWN and not removed:
        before, after = _shown(own), _shown(node)
    line = getattr(own, "lineno", site.statement.lineno)
    return Mutant(line, _cut(before), _cut(after), code)


def _shown(node: ast.AST) -> str:
    """Return a node as source: of a statement with a body the line that opens it."""
    lines = unparse(node).strip().split("\n")
    return next((line for line in lines if not line.startswith("@")), "")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def _substance(code: CodeType) -> tuple[object, ...]:
    """Key of compiled code by its behaviour: all but names of files and numbers of lines."""
    constants = tuple(
        _substance(part) if isinstance(part, CodeType) else (type(part).__name__, repr(part))
        for part in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable)
