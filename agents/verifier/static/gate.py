"""The static gate: refuses tests that are not worth running, or only pretend to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain

from ...records import Test
from ...syntax.collection import is_test
from ...syntax.definitions import is_definition
from ...syntax.encoding import decoded
from ...syntax.literals import literal_value
from ...syntax.source import names_bound
from .names import Names, names_of
from .tampering import Tampering
from .uses import HYPOTHESIS, Uses


@lru_cache(maxsize=1024)
def examine(test: Test, importable: frozenset[str] = frozenset([HYPOTHESIS])) -> str | None:
    """Return why `test` is not run, as a phrase, or None. It may also import the modules `importable`."""
    try:
        names = names_of(test.preamble, test.source)
        uses = Uses(names, importable)
        return next(chain(uses.found(), Tampering(names, uses).found(), _misread(names)), None)
    except ValueError as error:
        return f"it is not Python: {error}"
    except RecursionError:
        return "it nests too deeply to be read"


def check_encoding(source: str) -> None:
    """Raise ValueError where a file declares an encoding in which its bytes are another text than stands there."""
    data = source.encode()
    with suppress(SyntaxError, ValueError, LookupError):
        if decoded(data) == source.removeprefix("\ufeff"):
            return
    raise ValueError("line 1: it declares an encoding other than UTF-8")


def _misread(names: Names) -> Iterator[str]:
    """Yield tests and assertions that Python reads otherwise than they look, as no run shows."""
    for node in ast.walk(names.tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            bound = [name for item in node.body for name in names_bound(item)]
            tests = [item.name for item in node.body if is_test(item) and is_definition(item)]
            for name in (name for name in tests if bound.count(name) > 1):
                yield f"it binds {name} twice, so that one hides the other"
        for part in _joined(node) if _is_asserted(names, node) else ():
            if _is_data(names, part):
                yield f"line {part.lineno} asserts {ast.unparse(part)}, and does not compare with it"
        if isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Tuple) and node.test.elts:
                yield f"line {node.lineno} asserts a tuple, which is always true"
            elif node.msg and _is_value(node.msg) and not _is_question(node.test):
                yield f"line {node.lineno} has the expected value as its message, and does not compare with it"
        truth = isinstance(node, ast.Call) and ast.unparse(node.func) in ("self.assertTrue", "self.assertFalse")
        if truth and isinstance(node, ast.Call) and any(map(_is_value, node.args[1:])):
            yield f"line {node.lineno} has the expected value as its message, and does not compare with it"


def _is_asserted(names: Names, node: ast.AST) -> bool:
    """Return True if `node` is what an assertion asks for to be true."""
    holder = names.parent(node)
    call = holder.func if isinstance(holder, ast.Call) and node in holder.args[:1] else None
    return (isinstance(holder, ast.Assert) and holder.test is node) or getattr(call, "attr", "") == "assertTrue"


def _joined(node: ast.AST) -> list[ast.expr]:
    """Return the parts of `f(x) and 3`."""
    parts = node.values if isinstance(node, ast.BoolOp) else []
    return [each for part in parts for each in _joined(part) or [part]]


def _is_data(names: Names, node: ast.expr) -> bool:
    """Return True if `node` is, or names, literals other than True, False and None, so that it decides nothing. A
    list or table that is empty at first may be filled."""
    values = names.values_of(node) if isinstance(node, ast.Name) else [node]
    found = [literal_value(value or "") for value in values]
    known = [each[0] for each in found if each is not None]
    fixed = len(known) == len(found) and not any(each in ([], {}) for each in known)
    return fixed and not {bool, type(None)}.issuperset(map(type, known))


def _is_value(node: ast.expr) -> bool:
    """Return True if `node` is a constant other than a text, which would be a message."""
    value = literal_value(node)
    return value is not None and not isinstance(value[0], str)


def _is_question(node: ast.expr) -> bool:
    """Return True if `node` is true or false, so that any message goes with it."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).split(".")[-1]
        return name.startswith(("is", "has", "all", "any", "can", "starts", "ends"))
    return isinstance(node, ast.Compare | ast.BoolOp) or ast.unparse(node).startswith("not ")
