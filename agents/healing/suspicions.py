"""Suspicions of a plausible patch, which can lower a grade and never raise one.

Each compares the syntax of the old and the new text of the changed files.
"""

from __future__ import annotations

import ast
import builtins
import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import accumulate
from typing import TypeGuard

from ..records.heal import Item, Suspicion
from ..syntax.collection import chain
from ..syntax.imports import split_imports
from ..syntax.literals import literal_value
from ..syntax.source import parse, plain, swapped, unparse
from ..syntax.units import qualified
from ..verifier.inside.proxy.plain_source import is_plain
from .statement_effects import effects_lost
from .voices import variables

_TRIVIAL: tuple[object, ...] = (0, 1, -1, "", None)
_COMPARES = frozenset(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__contains__"])
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_COUNTED = frozenset(["range", "round", "divmod", "pow", "int", "format"])
"""Functions whose constants beside another argument are steps, digits or formats."""
_OF_A_MATCH = frozenset(["group", "start", "end", "span"])
"""Methods whose argument is the number of a group."""
_ANY_ERROR = frozenset(["Exception", "BaseException"])
_FIELD = re.compile(r"\{[^{}]*\}")
_EXITS = frozenset(
    ["sys.exit", "exit", "quit", "os._exit", "os.abort", "os.kill", "atexit.register", "SystemExit"]
)
_REACHES: Mapping[str, frozenset[str]] = {
    what: frozenset(names.split())
    for what, names in {
        "the network": "socket ssl urllib http requests httpx aiohttp ftplib smtplib",
        "processes": "subprocess multiprocessing pty os.system os.popen os.fork os.execv os.execvp",
        "files": (
            "open shutil tempfile os.remove os.unlink os.rename os.rmdir os.environ write_text write_bytes "
            "unlink rmdir read_text read_bytes"
        ),
        "pytest": "pytest _pytest unittest conftest",
        "frames and modules": (
            "sys._getframe inspect gc ctypes importlib sys.modules builtins __builtins__ eval exec __import__ "
            "globals sys.settrace sys.setprofile sys.stdout sys.argv"
        ),
    }.items()
}

_OPENS = frozenset(["open", "read_text", "read_bytes", "write_text", "write_bytes"])
_OF_PATHS = _OPENS | {"unlink", "rmdir"}
_BUILTIN = frozenset(dir(builtins))
_NO_VALUE = (ValueError, TypeError, OverflowError)
"""Errors of an expression of constants without a value, such as `{[]}`."""


def suspicions(old: Mapping[str, str], new: Mapping[str, str], items: Iterable[Item]) -> tuple[Suspicion, ...]:
    """Return the suspicions of the `new` texts of the files `old`; `items` are what failed."""
    literals = [text for item in items for text in item.literals]
    found: list[Suspicion] = []
    for path, text in new.items():
        after = plain(parse(text))
        try:
            before = known = plain(parse(old[path]))
        except ValueError:  # the failure is a syntax error: only the constants in the old text are known
            before, known = after, swapped(plain(parse(text)), partial(_unless_in, old[path]))
        found += _swallows(before, after)
        found += _hard_coded(known, after, literals)
        for reasons in (_removes, _leaves_early, _reaches, _weakens_types):
            found += reasons(before, after)
    return tuple(dict.fromkeys(found))


def _unless_in(text: str, node: ast.AST) -> ast.AST | None:
    """Return `...` in place of a constant that does not occur in `text`; None for other nodes."""
    if not isinstance(node, ast.Constant) or str(node.value) in text or repr(node.value)[1:-1] in text:
        return None
    return ast.Constant(...)


def _swallows(before: ast.Module, after: ast.Module) -> Iterator[Suspicion]:
    quiet = [{each: unparse(each) for each in ast.walk(tree) if _is_quiet(each)} for tree in (after, before)]
    handlers = {text: each for part in quiet for each, text in part.items()}
    new, old = (part.values() for part in quiet)
    gone = [handlers[text] for text in _added(old, new)]
    for text in _added(new, old):
        if not any(_is_narrower(handlers[text], each) for each in gone):
            yield Suspicion("swallows", f"a new handler does nothing about the error ({text.splitlines()[0]})")
    calls = ((node for node in ast.walk(tree) if isinstance(node, ast.Call)) for tree in (after, before))
    suppressed = _added(*((_dotted(node.func) for node in of_one) for of_one in calls))
    if any(name.rpartition(".")[2] == "suppress" for name in suppressed):
        yield Suspicion("swallows", "errors are suppressed")
    kinds, left = (Counter(type(node) for node in ast.walk(tree)) for tree in (before, after))
    for kind in (ast.Raise, ast.Assert):
        if (lost := kinds[kind] - left[kind]) > 0:
            yield Suspicion("swallows", f"{lost} `{kind.__name__.lower()}` is gone")


def _is_quiet(node: ast.AST) -> TypeGuard[ast.ExceptHandler]:
    """Return True for a handler without `raise` that catches any error, or does nothing (`pass`, a constant)."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    if any(isinstance(inner, ast.Raise) for inner in ast.walk(node)):
        return False
    return bool(_caught(node) & _ANY_ERROR) or all(map(_does_nothing, node.body))


def _caught(handler: ast.ExceptHandler) -> set[str]:
    named = ast.walk(handler.type) if handler.type else [ast.Name("Exception")]
    return {each.id for each in named if isinstance(each, ast.Name)}


def _is_narrower(handler: ast.ExceptHandler, other: ast.ExceptHandler) -> bool:
    """Return True if a handler has the body of another one, for fewer errors."""
    fewer = _caught(handler) <= _caught(other) or (
        _caught(other) & _ANY_ERROR and not _caught(handler) & _ANY_ERROR
    )
    return bool(fewer) and [*map(unparse, handler.body)] == [*map(unparse, other.body)]


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Return(value=None) | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=value) | ast.Assign(value=value):
            return value is not None and not any(
                isinstance(inner, ast.Call | ast.Name | ast.Attribute) for inner in ast.walk(value)
            )
        case ast.Expr(value=ast.Call(func=function)):
            return unparse(function).split(".")[0] in ("print", "logging", "logger", "log", "warnings", "sys")
    return False


def _hard_coded(before: ast.Module, after: ast.Module, literals: Iterable[str]) -> Iterator[Suspicion]:
    known = Counter(map(repr, _constants(before)))
    for text in dict.fromkeys(literals):
        value = _value(text)
        if value in _TRIVIAL:
            continue
        new = [each for each in _constants(after) if _is_same(each, value)]
        if len(new) > sum(count for each, count in known.items() if _is_same(_value(each), value)):
            yield Suspicion("hard-coded", f"the literal {repr(new[0])[:60]} is new, and what fails names it")


def _constants(tree: ast.Module) -> Iterator[object]:
    """Yield the constants of a module that can be an answer or a condition: no operand, index, step of a range,
    number of digits or splits, format, docstring, or value that a remainder is compared with. An expression of
    constants counts as its value."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        match node:
            case ast.Constant(value=value):
                yield value
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.List() | ast.Tuple() | ast.Dict() | ast.Set():
                with suppress(*_NO_VALUE):
                    yield _folded(node)
                pending.extend(ast.iter_child_nodes(node))
            case ast.UnaryOp() | ast.BinOp():
                try:
                    yield _folded(node)
                except _NO_VALUE:
                    pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.Constant)]
            case ast.Compare(ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int())) as left, _, others):
                pending += [left, *(each for each in others if not is_plain(each))]
            case ast.Subscript(value=value, slice=index):
                pending.append(value)
                if not isinstance(index, ast.Constant | ast.Slice):
                    pending.append(index)
            case ast.FormattedValue(value=value):
                pending.append(value)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
                yield _FIELD.sub("", text)
                pending.extend([*node.args, *node.keywords])
            case ast.Call(ast.Attribute(attr="split" | "rsplit") as function, args, keywords):
                pending += [function, *args[:1], *(each for each in keywords if each.arg != "maxsplit")]
            case ast.Call(func=ast.Attribute(attr=name) as function) if name in _OF_A_MATCH:
                pending += [function, *(each for each in node.args if not isinstance(each, ast.Constant))]
            case ast.Call(func=ast.Name(id=name), args=args) if name in _COUNTED:
                given = [each for each in args if not isinstance(each, ast.Constant)]
                pending.extend(given if given or name == "range" else args)
            case _:
                pending.extend(ast.iter_child_nodes(node))


def _folded(node: ast.AST) -> object:
    """Return the value of an expression of constants. Raises one of `_NO_VALUE` for any other."""
    if not isinstance(node, ast.BinOp):
        return ast.literal_eval(node)
    one, other, compute = _folded(node.left), _folded(node.right), _OPERATORS.get(type(node.op))
    if compute is None or not isinstance(one, int | float) or not isinstance(other, int | float):
        raise ValueError
    return compute(one, other)


def _value(text: str) -> object:
    (value,) = literal_value(text) or [text]
    return value


def _is_same(found: object, wanted: object) -> bool:
    if isinstance(found, str) and isinstance(wanted, str) and wanted.strip():
        # Whole words, since an alphabet contains `abc`.
        return len(wanted) > 1 and re.search(rf"(?<!\w){re.escape(wanted.strip())}(?!\w)", found) is not None
    return type(found) is type(wanted) and found == wanted


def _removes(before: ast.Module, after: ast.Module) -> Iterator[Suspicion]:
    known = dict(qualified(before))
    lost = known.keys() - {name for name, _ in qualified(after)}
    functions = {name for name, node in known.items() if not isinstance(node, ast.ClassDef)}
    # Nested functions are private to theirs, and may go.
    if lost := {each for each in lost if functions.isdisjoint(accumulate(each.split(".")[:-1], "{}.{}".format))}:
        yield Suspicion("removes", f"the definition of {', '.join(sorted(lost))} is gone")
    fewer = effects_lost(before, after)
    if fewer > 0:
        counted, are = ("statements", "are") if fewer > 1 else ("statement", "is")
        yield Suspicion("removes", f"{fewer} {counted} with an effect {are} gone")


def _leaves_early(before: ast.Module, after: ast.Module) -> Iterator[Suspicion]:
    exits = _added(*(filter(_EXITS.__contains__, _dotted_names(tree)) for tree in (after, before)))
    if exits:
        yield Suspicion("leaves early", f"{exits[0]} is new")


def _reaches(before: ast.Module, after: ast.Module) -> Iterator[Suspicion]:
    used, new = set(_dotted_names(before)), set(_dotted_names(after))
    for what, names in _REACHES.items():
        known = {_reached_name(name, names) for name in used} | {""}
        added = {_reached_name(name, names) for name in new} - known - (_OPENS if known & _OPENS else set())
        if added:
            yield Suspicion("reaches", f"{min(added)} is new: it reaches for {what}")


def _reached_name(name: str, names: frozenset[str]) -> str:
    parts = name.split(".")
    if not parts[0] and parts[-1] not in _OF_PATHS:  # an attribute of a variable that has a module's name
        return ""
    candidates = [".".join(parts[:length]) for length in range(1, len(parts) + 1)] + [parts[-1]]
    return next((each for each in candidates if each in names), "")


def _dotted_names(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted names that are read or imported, without import aliases and names of variables."""
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        for entry in split_imports(node) if isinstance(node, ast.stmt) else ():
            name = f"{entry.module}.{entry.name}" if entry.name else entry.module
            if not entry.level:
                aliases[entry.binds] = name if entry.name or entry.alias else entry.binds
                yield name
    held = variables(tree)[0].keys() - aliases.keys() - _BUILTIN
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            first, dot, rest = _dotted(node).partition(".")
            yield ("" if first in held else aliases.get(first, first)) + dot + rest


def _dotted(node: ast.expr) -> str:
    first, names = chain(node)
    return ".".join([first.id if first is not None else "", *names])


def _weakens_types(before: ast.Module, after: ast.Module) -> Iterator[Suspicion]:
    checks = _added(*(map(unparse, filter(_is_type_guard, ast.walk(tree))) for tree in (after, before)))
    defined = ([node.name for _, node in qualified(tree)] for tree in (after, before))
    compared = _added(*(filter(_COMPARES.__contains__, names) for names in defined))
    if compared:
        yield Suspicion("weakens types", f"{compared[0]} is new: it can make any comparison true")
    asked, before_asked = (sum(map(_asks_type, ast.walk(tree))) for tree in (after, before))
    if checks and asked > before_asked:
        yield Suspicion("weakens types", f"values of another type are ignored ({checks[0].splitlines()[0]})")


def _is_type_guard(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and any(map(_asks_type, ast.walk(node.test)))
        and all(map(_does_nothing, node.body))
    )


def _asks_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("isinstance", "type")


def _added(new: Iterable[str], old: Iterable[str]) -> list[str]:
    """Return what is in `new` more often than in `old`."""
    return list((Counter(new) - Counter(old)).elements())
