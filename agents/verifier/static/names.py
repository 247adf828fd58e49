"""The names of a test with its preamble: their imports, their bindings, and the texts that they may hold."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import product
from math import prod

from ...syntax.collection import chain, parameters_listed
from ...syntax.definitions import Function, bound_by
from ...syntax.imports import USER_MODULE, Import, split_imports
from ...syntax.source import parse, plain, quoted, text_of
from ..inside.proxy.describe import words
from .allowed import ROWS, Path, Row

_MOST_TEXTS = 1000
_LONGEST_TEXT = 1000
"""Limits on texts that are put together: their number, and the characters of one."""
_DEEPEST = 3
"""Functions through which a list is followed."""
_MOST_CALLS = 100
"""Calls of a function that are followed: each is visited for each use of its parameter."""


class Names:
    """The names of one test with its preamble. `imports` has the dotted paths that a name may stand for,
    `under_test` the names from the code, `defined` all that is bound otherwise."""

    def __init__(self, text: str) -> None:
        self.tree = plain(parse(text))
        self.nodes = [*ast.walk(self.tree), *quoted(self.tree)]
        self.parents = {id(child): node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self.imports: dict[str, set[str]] = defaultdict(set)
        self.under_test: set[str] = set()
        self.defined: dict[str, list[ast.AST]] = defaultdict(list)
        self.everything = False
        """True if a star import brings all names of the code."""
        for node in self.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for entry in split_imports(node):
                    self._import(entry)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.defined[node.id].append(node)
            else:
                for name in bound_by(node):
                    self.defined[name].append(node)
        self.defined = dict(self.defined)
        self.used = {last(node) for node in self.nodes}
        self._answers: dict[tuple[Callable[[Names, str], bool], str], bool] = {}
        self._texts: dict[ast.AST, frozenset[str] | None] = {}

    def _import(self, entry: Import) -> None:
        if entry.name is None:
            self.imports[entry.binds].add(entry.module if entry.alias else entry.binds)
        elif entry.name == "*":
            self.everything = self.everything or entry.module == USER_MODULE
            row = ROWS.get(entry.module, Row(frozenset(), frozenset()))
            for name in row.isolated | row.shared:
                self.imports[name].add(f"{entry.module}.{name}")
        elif entry.module == USER_MODULE:
            self.under_test.add(entry.binds)
        else:
            self.imports[entry.binds].add(f"{entry.module}.{entry.name}")

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node that holds `node`."""
        return self.parents.get(id(node))

    def above(self, node: ast.AST | None) -> Iterator[ast.AST]:
        """Yield the nodes around `node`, from the inside."""
        while node is not None and (node := self.parent(node)) is not None:
            yield node

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the function around `node`; None where that is a lambda, or there is none."""
        around = self._scopes(node)[0]
        return around if isinstance(around, Function) else None

    def paths(self, node: ast.AST) -> list[Path]:
        """Return what `a.b` may stand for: after `import x.y as a` the parts `x`, `y`, `b`; else nothing."""
        root, names = chain(node)
        imported = self.imports.get(root.id, ()) if root else ()
        return [[*path.split("."), *names] for path in sorted(imported)]

    def stands_for(self, node: ast.AST, *paths: str) -> bool:
        """Return True if `node` may stand for one of `paths`."""
        return any(".".join(path) in paths for path in self.paths(node))

    def is_builtin(self, node: ast.AST, *names: str) -> bool:
        """Return True if `node` names one of the builtins `names`, and nothing in the file has its name."""
        known = isinstance(node, ast.Name) and (node.id in names if names else hasattr(builtins, node.id))
        return known and isinstance(node, ast.Name) and not (node.id in self.defined or node.id in self.under_test)

    def is_under_test(self, node: ast.AST) -> bool:
        """Return True if `node` is the code under test, or a part of it."""
        root, _ = chain(node)
        return root is not None and (root.id in self.under_test or USER_MODULE in self.imports.get(root.id, ()))

    def call_of(self, node: ast.AST) -> ast.Call | None:
        """Return the call whose function `node` is."""
        parent = self.parent(node)
        return parent if isinstance(parent, ast.Call) and parent.func is node else None

    def decorated_by(self, node: ast.AST) -> Function | ast.ClassDef | None:
        """Return what `node`, or its call, decorates."""
        mark = self.call_of(node) or node
        parent = self.parent(mark)
        return parent if isinstance(parent, Function | ast.ClassDef) and mark in parent.decorator_list else None

    def is_left_to_pytest(self, made: Function | ast.ClassDef) -> bool:
        """Return True if nothing decorates it but marks and fixtures of pytest's."""
        return all(path[:1] == ["pytest"] for mark in decorators(made) for path in self.paths(mark) or [[]])

    def answer(self, question: Callable[[Names, str], bool], name: str) -> bool:
        """Answer a question about a name, with a guard against recursion: no for a name bound to itself."""
        if (question, name) not in self._answers:
            self._answers[question, name] = False
            self._answers[question, name] = question(self, name)
        return self._answers[question, name]

    def fresh(self, node: ast.Name, seen: set[ast.expr | None]) -> list[ast.expr | None]:
        """Return all that a name is bound to that was not `seen` yet, and add it there."""
        found = [value for value in self.values_of(node) if value not in seen]
        seen.update(found)
        return found

    def texts(self, node: ast.AST) -> frozenset[str] | None:
        """Return the texts that `node` may be, by constants, concatenation or a literal's items; None if any."""
        if node not in self._texts:
            self._texts[node] = None  # of a name that is bound to what has itself in it
            self._texts[node] = self._texts_of(node)
        return self._texts[node]

    def _texts_of(self, node: ast.AST) -> frozenset[str] | None:
        match node:
            case ast.Constant(value=value):
                return frozenset([str(value)])
            case ast.JoinedStr(values=parts):
                return self._joined(parts)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.texts(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._joined([left, right])
            case ast.IfExp(body=body, orelse=orelse):
                return self._any([body, orelse])
            case ast.Name():
                return self._any(self.values_of(node))
        return None

    def _joined(self, parts: list[ast.expr]) -> frozenset[str] | None:
        each = [self.texts(part) for part in parts]
        known = [texts for texts in each if texts is not None]
        longest = sum(max(map(len, texts), default=0) for texts in known)
        few = prod(map(len, known)) < _MOST_TEXTS and longest <= _LONGEST_TEXT
        return frozenset(map("".join, product(*known))) if len(known) == len(each) and few else None

    def _any(self, nodes: list[ast.expr | None]) -> frozenset[str] | None:
        each = [self.texts(node) if node is not None else None for node in nodes]
        return None if None in each else frozenset(text for texts in each for text in texts or ())

    @cached_property
    def _elsewhere(self) -> set[str]:
        """Return the names that may be bound elsewhere: by an import or a function, or as an attribute."""
        declared = {
            name for node in self.nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
        }
        attributes = {node.attr for node in self.nodes if isinstance(node, ast.Attribute)}
        return self.imports.keys() | self.under_test | declared | attributes

    def _scopes(self, node: ast.AST) -> list[ast.AST]:
        functions = (around for around in self.above(node) if isinstance(around, Function | ast.Lambda))
        return [*functions, self.tree]

    def values_of(self, node: ast.Name, loops: bool = True) -> list[ast.expr | None]:
        """Return all that a name is bound to in this function or around it; None for what cannot be told."""
        scopes = {id(scope) for scope in self._scopes(node)}
        places = [place for place in self.defined.get(node.id, []) if id(self._scopes(place)[0]) in scopes]
        values = [value for place in places for value in self.bound_to(place, loops)]
        return values if values and not (self.everything or node.id in self._elsewhere) else [None]

    def bound_to(self, place: ast.AST, loops: bool) -> list[ast.expr | None]:
        """Return what a name is bound to at one place; None for what cannot be told."""
        if isinstance(place, ast.arg):
            return self._cases(place) or self.given(place)
        holder = self.parent(place)
        index: int | None = None
        if isinstance(holder, ast.Tuple) and _is_plain(holder.elts):
            index, place, holder = holder.elts.index(place), holder, self.parent(holder)  # type: ignore[arg-type]
        match holder:
            case ast.Assign(value=value) | ast.AnnAssign(value=value) if index is None:
                return [value]
            case ast.Assign(value=ast.Tuple(elts=parts)) if _is_plain(parts) and len(parts) > (index or 0):
                return [parts[index or 0]]
            case ast.For(target=target, iter=each) | ast.comprehension(target=target, iter=each):
                return self._each(each, index) if loops and target is place else [None]
        return [None]

    def _each(self, node: ast.expr, index: int | None, depth: int = _DEEPEST) -> list[ast.expr | None]:
        """Return the elements of a literal that is gone through, or of each of them the one at `index`."""
        match node:
            case ast.Name(id=name):
                values = self.values_of(node, loops=False) if depth else [None]
                known = [value for value in values if value is not None]
                rows = [row for value in known for row in getattr(value, "elts", []) if index is not None]
                changeable = any(isinstance(row, ast.List) for row in rows)  # by `for row in rows: row[0] = ...`
                if len(known) < len(values) or changeable or not self._stays(name, known):
                    return [None]
                return [part for value in known for part in self._each(value, index, depth - 1)]
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self._each(value, index, depth)
            case ast.Call(func=function, args=parts, keywords=[]) if self.is_builtin(function, "zip"):
                whole = index is None or index >= len(parts) or not _is_plain(parts)
                return [None] if whole else self._each(parts[index or 0], None, depth)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                if index is None:
                    return [part for each in elements for part in self._parts(each, depth)]
                rows = [each.elts if isinstance(each, ast.List | ast.Tuple) else [] for each in elements]
                plain_rows = all(map(_is_plain, rows))
                return [row[index] if plain_rows and len(row) > index else None for row in rows]
            case ast.Dict(keys=keys) if index is None:
                return list(keys)
            case ast.Call(func=ast.Attribute(value=ast.Dict(keys=keys, values=values), attr="items"), args=[]):
                return list(values if index else keys)
        return [None]

    def _parts(self, element: ast.expr, depth: int) -> list[ast.expr | None]:
        """Return what an element of a literal stands for: itself, or all that follows its star."""
        if not isinstance(element, ast.Starred):
            return [element]
        return self._each(element.value, None, depth - 1) if depth else [None]

    def _stays(self, name: str, values: list[ast.expr]) -> bool:
        """Return True if what `name` holds cannot be changed: tuples, or it is only gone through."""
        loads = [node for node in self.nodes if isinstance(node, ast.Name) and node.id == name]
        return all(isinstance(value, ast.Tuple) for value in values) or all(map(self._is_read, loads))

    def _is_read(self, node: ast.Name, depth: int = _DEEPEST) -> bool:
        """Return True if this use of a list goes through it, or a function of the file does that is given it."""
        parent = self.parent(node)
        if isinstance(node.ctx, ast.Load) and isinstance(parent, ast.Call) and node in parent.args:
            given = self.paths(parent.func) == [["pytest", "mark", "parametrize"]]
            if given or self.is_builtin(parent.func, "zip", "len", "enumerate"):
                return True
            (helper, *others) = self.defined.get(last(parent.func), [None])
            if not isinstance(helper, Function) or helper.decorator_list or others or not depth:
                return False
            name = next((name for name, item in _taken(helper, parent) if item is node), None)
            loads = [each for each in ast.walk(helper) if isinstance(each, ast.Name) and each.id == name]
            return name not in (None, "*") and all(self._is_read(each, depth - 1) for each in loads)
        match parent:
            case ast.Subscript(slice=ast.Slice(), ctx=ast.Load()) | ast.For() | ast.comprehension():
                return True
        return not isinstance(node.ctx, ast.Load) and not isinstance(parent, ast.AugAssign)

    def given(self, parameter: ast.arg) -> list[ast.expr | None]:
        """Return what the calls in the file pass for a parameter of a function; None for what cannot be told."""
        helper = self.function_of(parameter)
        if helper is None or helper.decorator_list or len(self.defined[helper.name]) > 1:
            return [None]
        named = [self.call_of(node) for node in self.nodes if helper.name in (last(node), text_of(node))]
        calls = [dict(_taken(helper, call)) if call else {} for call in named]
        if parameter is helper.args.vararg:
            taken = len([*helper.args.posonlyargs, *helper.args.args])
            rest = [call.args[taken:] for call in named if call and _is_plain(call.args[:taken])]
            whole = len(rest) == len(named) and 0 < len(rest) <= _MOST_CALLS
            return [ast.Tuple(each, ast.Load()) for each in rest] if whole else [None]
        given = [None if "*" in each else each.get(parameter.arg) for each in calls]
        return given if 0 < len(given) <= _MOST_CALLS else [None]

    def _cases(self, parameter: ast.arg) -> list[ast.expr | None]:
        """Return the cases of a test's parameter, as a literal lists them; nothing for another function's."""
        test = self.function_of(parameter)
        if test is None or not test.name.startswith("test"):
            return []
        named = any(test.name in (last(node), text_of(node)) for node in self.nodes)
        by_others = named or self.used & {"vars", "__dict__"} or self.defined.keys() & _GET_TESTS
        if by_others or not self.is_left_to_pytest(test):
            return [None]
        for mark in test.decorator_list:
            match mark:
                case ast.Call(args=[names, cases], keywords=others) if self.stands_for(
                    mark.func, "pytest.mark.parametrize"
                ):
                    split = parameters_listed(names)
                    if parameter.arg in split and all(other.arg == "ids" for other in others):
                        return self._each(cases, split.index(parameter.arg) if len(split) > 1 else None)
        return [None]


_GET_TESTS = words("setup_method teardown_method setup_function teardown_function")
"""Functions to which pytest passes a test."""


def _taken(function: Function, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of `function` with what `call` passes for them; `*` for what cannot be told."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    for name, item in zip(names, call.args, strict=False):
        yield name if isinstance(call.func, ast.Name) and not isinstance(item, ast.Starred) else "*", item
    for word in call.keywords:
        yield word.arg or "*", word.value


def _is_plain(parts: list[ast.expr]) -> bool:
    return not any(isinstance(each, ast.Starred) for each in parts)


def last(node: ast.AST) -> str:
    """Return the last part of a dotted name; empty for other nodes."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def decorators(node: Function | ast.ClassDef) -> list[ast.expr]:
    """Return the decorators of a function or class, without their arguments."""
    return [mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list]


@lru_cache(maxsize=1024)
def names_of(preamble: str, source: str) -> Names:
    """Return the names of a test. Raises ValueError where it is not Python."""
    return Names(f"{preamble}\n{source}\n")


@lru_cache(maxsize=8)
def names_in(tests: str) -> Names:
    """Return the names of whole files of tests, which several checks read. Raises ValueError for no Python."""
    return Names(tests)
