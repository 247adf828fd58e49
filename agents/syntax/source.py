"""Python source as text: parsing without warnings, statements, and the names that it binds and uses."""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
import re
import symtable
import threading
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any, Literal

from .definitions import Definition, bound_by, first_line, is_definition

_SCOPES = Definition | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__"}

# Warning filters are global to the process, and without the fix of python/cpython#106905 (as in 3.11.7) so is the
# parser's recursion depth: two threads that parse at the same time may get a SystemError.
_one_at_a_time = threading.Lock()


def parse(text: str) -> ast.Module:
    """Parse `text`, without the warnings that Python prints for odd literals; thread-safe.

    Raises ValueError with a reason and a line number for text that isn't Python, nests too deeply or has a number
    that `repr` refuses, so that the tree can be copied and unparsed.
    """
    tree: ast.Module = _tree(text, "exec")
    return tree


def parse_expression(text: str) -> ast.expr:
    """Parse one expression, as `parse` does for a module. Raises ValueError as that does."""
    tree: ast.Expression = _tree(text, "eval")
    return tree.body


def _tree(text: str, mode: Literal["exec", "eval"]) -> Any:
    with _parser():
        tree = ast.parse(text.removeprefix("\ufeff"), _NO_FILE, mode)
    _check_bounds(tree)
    return tree


def _check_bounds(tree: ast.AST) -> None:
    """Raise ValueError for a tree that is too deep for `ast.unparse` or `copy.deepcopy`, or has a number that
    `repr` refuses."""
    level = [tree]
    for _ in range(_DEEPEST):
        for node in level:
            match node:
                case ast.Constant(value=int(number), lineno=line) if number.bit_length() > _MOST_BITS:
                    raise ValueError(f"line {line}: the number is too long to be written out")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise ValueError("the code nests too deeply to be read")


_DEEPEST = 200
"""Levels of a tree: `copy.deepcopy` takes four calls for each, of the 1,000 that Python allows."""
_MOST_BITS = 14_000
"""4,300 digits, the most that Python writes by default, have 14,284."""
_NO_FILE = ""
"""File name for the parser, which opens the named file (`<unknown>` by default) to quote a faulty line."""


@contextmanager
def _parser() -> Iterator[None]:
    """Lock the parser and turn warnings off during the body; raise its errors as ValueErrors with a reason."""
    try:
        with _one_at_a_time, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise ValueError(f"{where}{error.msg}") from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise ValueError("the code nests too deeply to be parsed") from error


def program(text: str) -> str:
    """Return a key that texts with the same AST share; `text` where it is not Python."""
    try:
        return ast.dump(parse(text))
    except ValueError:
        return text


def parses(text: str) -> bool:
    """Return True if `text` is Python."""
    return not parse_error(text)


def parse_error(text: str) -> str:
    """Return why `text` can't be parsed, as a phrase; empty where it can."""
    return _error(parse, text)


def _error(reader: Callable[[str], object], text: str) -> str:
    try:
        reader(text)
    except ValueError as error:
        return str(error)
    return ""


def statements(text: str) -> list[ast.stmt]:
    """Return the statements of `text`; none if it is not Python."""
    try:
        return parse(text).body
    except ValueError:
        return []


def compile_error(text: str) -> str:
    """Return why `text` can't be compiled, as a phrase; empty where it can. Nothing of it is run."""
    return _error(compiled, text)


def compiled(text: str) -> CodeType:
    """Return the compiled code of a module, without running it. Raises ValueError with a reason."""
    tree = parse(text)
    with _parser():
        code: CodeType = compile(tree, _NO_FILE, "exec", dont_inherit=True)
    return code


def unparse(node: ast.AST) -> str:
    """Return the source of `node`. Raises ValueError where it nests too deeply."""
    try:
        return ast.unparse(node)
    except RecursionError as error:
        raise ValueError("the code nests too deeply to be written out") from error
    except ValueError:  # before Python 3.12 the braces of an f-string can't have a backslash
        return ast.unparse(swapped(copy.deepcopy(node), _formatted))


def _formatted(node: ast.AST) -> ast.expr | None:
    """Return an f-string as calls of `join` and `format`; None for any other node."""
    match node:
        case ast.JoinedStr(values=values):
            parts = [swapped(part, _formatted) for part in values]
            return ast.Call(ast.Attribute(ast.Constant(""), "join"), [ast.Tuple(parts)], [])
        case ast.FormattedValue(value=value, conversion=conversion, format_spec=layout):
            shown = swapped(value, _formatted)
            if conversion >= 0:
                shown = ast.Call(ast.Name({"r": "repr", "s": "str", "a": "ascii"}[chr(conversion)]), [shown], [])
            return ast.Call(ast.Name("format"), [shown, *([swapped(layout, _formatted)] if layout else [])], [])
    return None


def source_of(lines: Sequence[str], node: ast.stmt) -> str:
    """Return the text of a top-level statement, decorators included; `lines` is the source split at newlines."""
    taken = list(lines[first_line(node) - 1 : node.end_lineno])
    taken[-1] = taken[-1].encode()[: node.end_col_offset].decode()
    if not is_definition(node) or not node.decorator_list:
        taken[0] = taken[0].encode()[node.col_offset :].decode()
    return "\n".join(taken)


def indented(code: str) -> str:
    """Return `code` indented one level, without the inside of multi-line strings."""
    inside = lines_in_strings(parse(code))
    lines = enumerate(code.split("\n"), 1)
    return "\n".join(line if number in inside or not line.strip() else f"    {line}" for number, line in lines)


def lines_in_strings(tree: ast.AST) -> frozenset[int]:
    """Return the numbers, from 1, of the lines that begin inside of a string."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr() | ast.Constant(value=str() | bytes()):
                inside.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return frozenset(inside)


def names_bound(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a module-level statement binds, also in its branches (a star import binds `*`)."""
    names: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update((alias.asname or alias.name).split(".")[0] for alias in aliases)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
        names.update(bound_by(node))
        if not isinstance(node, _SCOPES):
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def names_used(nodes: ast.AST | Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that are read anywhere in `nodes`, with parameters, which pytest resolves to fixtures."""
    names: set[str] = set()
    for root in [nodes] if isinstance(nodes, ast.AST) else nodes:
        for node in ast.walk(root):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name):
                    names.add(name)
    return frozenset(names)


def names_unbound(text: str, own: str | None = None) -> frozenset[str]:
    """Return the global names that `text` reads and never binds, without builtins other than `own`.

    A star import may bind any of them. Raises ValueError for text that isn't Python; text that parses and can't be
    compiled (an unbound `nonlocal`) has none.
    """
    parse(text)
    try:
        with _parser():
            module = symtable.symtable(text.removeprefix("\ufeff"), "<source>", "exec")
    except ValueError:
        return frozenset()
    read: set[str] = set()
    assigned: set[str] = set()
    pending = [module]
    while pending:
        table = pending.pop()
        pending.extend(table.get_children())
        for symbol in table.get_symbols():
            binds = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
            if binds and (table is module or symbol.is_declared_global()):
                assigned.add(symbol.get_name())
            if symbol.is_referenced() and (table is module or symbol.is_global()):
                read.add(symbol.get_name())
    return frozenset(read - assigned - (BUILTINS - {own}))


def is_constant(node: ast.AST) -> bool:
    """Return True for a statement that is only a constant, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def texts_in(node: ast.AST) -> frozenset[str]:
    """Return the string constants in `node`: pytest is asked for a fixture by its name (`usefixtures`)."""
    return frozenset(text_of(inner) for inner in ast.walk(node)) - {""}


def unused_name(name: str, taken: Container[str]) -> str:
    """Return `name_2`, `name_3` and so on: the first that is not `taken`."""
    return next(new for number in itertools.count(2) if (new := f"{name}_{number}") not in taken)


def with_name(text: str, old: str, new: str) -> str:
    """Return the source of a function or class with its name `old` replaced in the header."""
    header = rf"^((?:async\s+)?(?:def|class)\s+){re.escape(old)}\b"
    return re.sub(header, rf"\g<1>{new}", text, count=1, flags=re.MULTILINE)


def text_of(node: object) -> str:
    """Return the string of the constant `node`; empty for other nodes."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def plain(tree: ast.Module) -> ast.Module:
    """Normalize `tree` in place, and return it: concatenated string constants become one, and `getattr` with a
    constant becomes an attribute."""
    visited = _Plain().visit(tree)
    assert isinstance(visited, ast.Module)
    return visited


class _Plain(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        joined = isinstance(node.op, ast.Add) and text_of(node.left) and text_of(node.right)
        return ast.copy_location(ast.Constant(text_of(node.left) + text_of(node.right)), node) if joined else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, name, *_]) if text_of(name).isidentifier():
                return ast.copy_location(ast.Attribute(owner, text_of(name), ast.Load()), node)
        return node


def swapped(tree: ast.AST, other: Callable[[ast.AST], ast.AST | None]) -> Any:
    """Replace nodes of `tree` in place by what `other` returns for them, and return it; for None, keep the node
    and visit its children."""
    return _Swapped(other).visit(tree)


def with_values(tree: ast.AST, values: Mapping[str, ast.expr]) -> Any:
    """Replace names in `tree` in place by expressions, and return it."""
    return swapped(tree, lambda node: values.get(node.id) if isinstance(node, ast.Name) else None)


class _Swapped(ast.NodeTransformer):
    def __init__(self, other: Callable[[ast.AST], ast.AST | None]) -> None:
        self._other = other

    def visit(self, node: ast.AST) -> ast.AST:
        found = self._other(node)
        return self.generic_visit(node) if found is None else found


def annotations_in(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the annotations in `tree`: of variables, parameters and return values."""
    for node in ast.walk(tree):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(annotation, ast.expr):
            yield annotation


def quoted(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of quoted annotations, also of quotes in quotes: some functions evaluate them."""
    for annotation in annotations_in(tree):
        yield from _quoted_in(annotation)


def _quoted_in(annotation: ast.AST) -> Iterator[ast.AST]:
    for text in filter(None, map(text_of, ast.walk(annotation))):
        if (expression := in_quotes(text)) is not None:
            yield from ast.walk(expression)
            yield from _quoted_in(expression)


def in_quotes(text: str) -> ast.expr | None:
    """Return the expression of a quoted annotation, which may have a comment after it or a star before it."""
    for form in (f"({text}\n)", f"({text}\n,)"):
        match statements(form):
            case [ast.Expr(value=expression)]:
                return expression
    return None
