"""Checks functions that only some arguments or places make harmless, and names that are run as code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from ...syntax.collection import chain
from ...syntax.definitions import Function
from ...syntax.imports import USER_MODULE
from ...syntax.source import in_quotes, text_of
from ..inside.proxy.describe import words
from .names import Names, decorators, last
from .needs_one_process import shared_by

_OF_A_PROGRAM = words("input capture_output text universal_newlines encoding stdout stderr check timeout")
_OF_PLACES = words(
    "os path pathlib Path dirname abspath join realpath normpath pardir parent parents resolve absolute getcwd cwd"
)
_FOLDER = re.compile(r"[./]*(src|lib|app|code|source|python|package|module|project|solution|tests?)?/?")
_WRITERS = words("zipfile tarfile gzip bz2 lzma xml numpy pandas")
_FUNCTION_MAKERS = ("hypothesis", "pytest", "unittest")
_OF_FUNCTIONS = ("inspect.isfunction", "inspect.isclass", "inspect.ismethod")


def _sets_any_attribute(names: Names) -> bool:
    """Return True if the test copies or wraps objects, which sets attributes by names that an object has."""
    copies = {path.split(".")[0] for paths in names.imports.values() for path in paths} & {"copy", "pickle"}
    return bool(copies or names.used & {"wraps", "update_wrapper"})


def _makes_a_class(names: Names, node: ast.expr) -> bool:
    """Return True for `dataclass` on a plain class: the names of fields run as code, those of bases too."""
    made = names.decorated_by(node)
    bases = made.bases if isinstance(made, ast.ClassDef) else []
    return _is_plain_class(names, made) and not (bases and _sets_any_attribute(names))


def _times_a_function(names: Names, call: ast.Call) -> bool:
    """Return True if no text is timed: it would run as code, even one that the code under test gives."""
    if len(call.args) != 1 or not {keyword.arg for keyword in call.keywords} <= {"number", "repeat"}:
        return False
    places = names.defined.get(call.args[0].id, []) if isinstance(call.args[0], ast.Name) else []
    function = bool(places) and all(isinstance(place, Function) for place in places)
    return isinstance(call.args[0], ast.Lambda) or function


def _pickled_here(names: Names, given: ast.AST | None, seen: set[ast.expr | None]) -> bool:
    """Return True for a pickle of the test's own or of the code: another may name any function to call."""
    if isinstance(given, ast.Call):
        return names.stands_for(given.func, "pickle.dumps") or names.is_under_test(given.func)
    fresh = names.fresh(given, seen) if isinstance(given, ast.Name) else [None]
    return all(value is not None and _pickled_here(names, value, seen) for value in fresh)


def _at_a_plain_function(names: Names, node: ast.expr) -> bool:
    """Return True if the decorated function has its own name: hypothesis runs that as source."""
    function = names.decorated_by(node)
    named = [names.paths(mark) for mark in decorators(function)] if isinstance(function, Function) else []
    return bool(named) and all(paths and all(path[0] in _FUNCTION_MAKERS for path in paths) for paths in named)


def _beside_the_tests(names: Names, node: ast.expr) -> bool:
    """Return True if `sys.path` is only read, or gets the tests' folder or one around it."""
    parent = names.parent(node)
    if isinstance(parent, ast.Compare):
        return node in parent.comparators
    added = isinstance(parent, ast.Attribute) and parent.attr in ("insert", "append") and names.call_of(parent)
    if not (added and added.args and isinstance(names.parent(added), ast.Expr)):
        return False
    seen: set[ast.expr | None] = set()
    parts = {part for inner in ast.walk(added.args[-1]) for part in _parts_of_place(names, inner, seen)}
    tops = {path.split(".")[0] for paths in names.imports.values() for path in paths}
    here = bool(parts & {"getcwd", "cwd"}) or "__file__" not in parts
    return None not in parts and not (here and (tops & _WRITERS or any(shared_by(names))))


def _parts_of_place(names: Names, node: ast.AST | None, seen: set[ast.expr | None]) -> set[str | None]:
    """Return the names that a part of a path is made with, but for values `seen`; None for any other part."""
    match node:
        case ast.Constant(value=value):
            return {"" if isinstance(value, int) or _FOLDER.fullmatch(str(value)) else None}
        case ast.Name(id=name) if name == "__file__" or names.is_builtin(node, "str"):
            return {name}
        case ast.Name(id=name) if name not in names.imports:
            fresh = names.fresh(node, seen)
            values = [inner for value in fresh for inner in (ast.walk(value) if value else [None])]
            return {part for value in values for part in _parts_of_place(names, value, seen)}
        case ast.Name() | ast.Attribute():
            used = {part for path in names.paths(node) for part in path} | {last(node)} - names.imports.keys()
            return {part if part in _OF_PLACES else None for part in used}
        case ast.Call(keywords=[]) | ast.Subscript() | ast.BinOp(op=ast.Div()) | ast.expr_context() | ast.Div():
            return set()
    return {None}


def _of_the_machine(names: Names, call: ast.Call) -> bool:
    """Return True if a test is skipped only for the platform, a version or what is installed."""
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "condition")]
    return bool(given) and _is_fact(names, given[0])


def _is_fact(names: Names, condition: ast.expr, named: bool = False) -> bool:
    facts = []
    for name in {node.id: node for node in ast.walk(condition) if isinstance(node, ast.Name)}.values():
        tops = {path.split(".")[0] for path in names.imports.get(name.id, ())}
        values = [getattr(names.parent(place), "value", None) for place in names.defined.get(name.id, [])]
        derived = bool(values) and not named and all(each and _is_fact(names, each, named=True) for each in values)
        facts.append(derived or (bool(tops) and tops <= {"sys", "os", "platform", "importlib"}))
    return bool(facts) and all(facts)


def _runs_the_program(names: Names, call: ast.Call) -> bool:
    """Return True if the process is the code under test, started in a way that works remotely."""
    given = {keyword.arg for keyword in call.keywords} <= _OF_A_PROGRAM and len(call.args) == 1
    return given and _begins_with_program(names, call.args[0], set())


def _begins_with_program(names: Names, command: ast.expr, seen: set[ast.expr | None]) -> bool:
    """Return True for `[sys.executable, "user_code.py", ...]`, or a name for such a list not in `seen`."""
    match command:
        case ast.BinOp(left=first, op=ast.Add()) | ast.List(elts=[ast.Starred(value=first), *_]):
            return _begins_with_program(names, first, seen)
        case ast.List(elts=[python, *following]):
            named = names.stands_for(python, "sys.executable") or text_of(python) in ("python", "python3")
            told = [text_of(word) for word in following[:2]]
            return named and (told[:1] == [f"{USER_MODULE}.py"] or told == ["-m", USER_MODULE])
        case ast.Name():
            fresh = names.fresh(command, seen)
            return all(isinstance(value, ast.List) and _begins_with_program(names, value, seen) for value in fresh)
    return False


def _is_plain_class(names: Names, node: ast.AST | None) -> bool:
    """Return True if a class has no attributes but those in its body and in those of its bases."""
    return isinstance(node, ast.ClassDef) and all(
        is_known(names, base)
        or (isinstance(base, ast.Subscript) and is_known(names, base.value))
        or (isinstance(base, ast.Name) and names.answer(_is_class_here, base.id))
        for base in node.bases
    )


def is_known(names: Names, node: ast.AST) -> bool:
    """Return True if `node` names a builtin, what is imported, or a part of the code under test."""
    return names.is_builtin(node) or names.is_under_test(node) or bool(names.paths(node))


def is_kind(names: Names, node: ast.AST, in_annotation: bool = False) -> bool:
    """Return True if `node` names a type. A text made at run time does not."""
    match node:
        case ast.Constant(value=str(text)):
            said = in_quotes(text)
            return in_annotation and (said is None or is_kind(names, said, True))
        case ast.Constant():
            return True
        case ast.Name(id=name) if name in names.defined:
            return names.answer(_is_kind_here, name)
        case ast.Name() | ast.Attribute():
            root, _ = chain(node)  # a name of the file that stands in quotes alone is not read with the test
            return is_known(names, node) or (in_annotation and root is not None and root.id not in names.defined)
        case ast.Subscript(value=value, slice=inner):
            literal = names.stands_for(value, "typing.Literal")
            return is_kind(names, value) and (literal or is_kind(names, inner, in_annotation))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return all(is_kind(names, part, in_annotation) for part in (left, right))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(is_kind(names, part, in_annotation) for part in parts)
        case ast.Call(func=function, args=[_, *given], keywords=options):
            given += [option.value for option in options]
            made = names.stands_for(function, "typing.TypeVar", "typing.NewType", "typing.ParamSpec")
            return made and all(is_kind(names, each) for each in given)
    return False


def _is_kind_here(names: Names, name: str) -> bool:
    places = names.defined[name]
    values = [getattr(names.parent(place), "value", None) for place in places]
    return (
        names.answer(_is_class_here, name)
        or all(isinstance(place, Function) for place in places)
        or all(value is not None and is_kind(names, value) for value in values)
    )


def _is_class_here(names: Names, name: str) -> bool:
    places = names.defined.get(name, [])
    return bool(places) and all(_is_plain_class(names, place) for place in places)


_CALLS: dict[str, Callable[[Names, ast.Call], bool]] = {
    "timeit.timeit timeit.repeat timeit.Timer": _times_a_function,
    "pickle.loads": lambda names, call: all(
        _pickled_here(names, item, set()) for item in [*call.args, *call.keywords]
    ),
    "typing.get_type_hints": lambda names, call: (
        not call.keywords and all(map(names.is_under_test, call.args)) and not _sets_any_attribute(names)
    ),
    "importlib.import_module": lambda names, call: [*map(text_of, call.args)] == [USER_MODULE],
    "inspect.getmembers": lambda names, call: (
        len(call.args) == 2 and names.stands_for(call.args[1], *_OF_FUNCTIONS)
    ),
    "subprocess.run subprocess.check_output": _runs_the_program,
    "functools.singledispatch unittest.main": lambda names, call: False,
    "functools.wraps": lambda names, call: len(call.args) == 1 and not call.keywords,
    "functools.update_wrapper": lambda names, call: len(call.args) == 2 and not call.keywords,
    "operator.attrgetter operator.methodcaller": lambda names, call: True,
    "pytest.mark.skipif unittest.skipIf unittest.skipUnless": _of_the_machine,
    # What is in quotes in the annotations of a kind is run as code.
    "hypothesis.strategies.builds hypothesis.strategies.from_type": lambda names, call: (
        bool(call.args) and is_kind(names, call.args[0]) and not _sets_any_attribute(names)
    ),
    "hypothesis.strategies.functions": lambda names, call: (
        all(isinstance(item, ast.Lambda) for item in call.args[:1])
        and all(isinstance(word.value, ast.Lambda) for word in call.keywords if word.arg in ("like", None))
    ),
}
ARGUMENTS = {path: check for paths, check in _CALLS.items() for path in paths.split()}
"""Checks of the calls of functions that may be used in no other way, by path."""
_NAMES: dict[str, Callable[[Names, ast.expr], bool]] = {
    "pytest.fixture": lambda names, node: names.decorated_by(node) is not None,
    "dataclasses.dataclass": _makes_a_class,
    "hypothesis.given hypothesis.strategies.composite hypothesis.stateful.rule hypothesis.stateful.invariant "
    "hypothesis.stateful.initialize hypothesis.stateful.precondition": _at_a_plain_function,
    "sys.path": _beside_the_tests,
}
PLACES = {path: check for paths, check in _NAMES.items() for path in paths.split()}
"""Checks of the positions in which a name may stand, by path."""
