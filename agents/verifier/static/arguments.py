"""What is harmless with some arguments only, or in some places: each check says whether a use of it is one of those."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from ...syntax.imports import USER_MODULE
from ...syntax.source import text_of
from .kinds import is_kind, is_plain_class
from .names import Function, Names, last, words
from .needs_one_process import shared_by

_OF_A_PROGRAM = words("input capture_output text universal_newlines encoding stdout stderr check timeout")
_BESIDE = re.compile(r"[./]*(src|lib|app|code|source|python|package|module|project|solution|tests?)?/?")
_WRITERS = words("zipfile tarfile gzip bz2 lzma xml numpy pandas")
_MAKE_PATHS = (
    "os.path.dirname", "os.path.abspath", "os.path.join", "os.path.realpath", "os.path.normpath", "pathlib.Path"
)  # fmt: skip
_FUNCTION_MAKERS = ("hypothesis", "pytest", "unittest")

Check = Callable[[Names, ast.expr, ast.Call | None], bool]


def _checks() -> dict[str, Check]:
    """By what is used: the name that stands for it, and the call that it is the function of."""
    checks: dict[str, Check] = {
        "timeit.timeit timeit.repeat timeit.Timer": _times_a_function,
        "pickle.loads": lambda names, node, call: bool(call and call.args) and _pickled_here(names, call.args[0]),
        "typing.get_type_hints": _hints_of_the_code,
        "importlib.import_module": lambda names, node, call: bool(call and [*map(text_of, call.args)] == [USER_MODULE]),
        "inspect.getmembers": _lists_functions,
        "subprocess.run subprocess.check_output": _runs_the_program,
        "functools.singledispatch": lambda names, node, call: False,
        "operator.attrgetter operator.methodcaller": lambda names, node, call: call is not None,
        "pytest.fixture": lambda names, node, call: names.decorated_by(node) is not None,
        "pytest.mark.skipif unittest.skipIf unittest.skipUnless": _of_the_machine,
        "dataclasses.dataclass": lambda names, node, call: is_plain_class(names, names.decorated_by(node)),
        "hypothesis.given hypothesis.strategies.composite hypothesis.stateful.rule hypothesis.stateful.invariant "
        "hypothesis.stateful.initialize hypothesis.stateful.precondition": _at_a_plain_function,
        "hypothesis.strategies.builds hypothesis.strategies.from_type": _of_a_kind,
        "hypothesis.strategies.functions": _like_a_lambda,
        "sys.path": _beside_the_tests,
    }
    return {path: check for paths, check in checks.items() for path in paths.split()}


def _times_a_function(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    """A text would be run as code, also one that the code under test gives."""
    if not call or len(call.args) != 1 or not {keyword.arg for keyword in call.keywords} <= {"number", "repeat"}:
        return False
    places = names.defined.get(last(call.args[0]), []) if isinstance(call.args[0], ast.Name) else []
    return isinstance(call.args[0], ast.Lambda) or (bool(places) and all(isinstance(each, Function) for each in places))


def _pickled_here(names: Names, given: ast.expr, depth: int = 0) -> bool:
    """Bytes made by the test otherwise may name any function, to be called."""
    if isinstance(given, ast.Call):
        return names.stands_for(given.func, "pickle.dumps") or names.is_under_test(given.func)
    values = names.values_of(given) if isinstance(given, ast.Name) and depth < 3 else [None]
    return all(value is not None and _pickled_here(names, value, depth + 1) for value in values)


def _hints_of_the_code(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    own = bool(call and call.args) and names.is_under_test(call.args[0])
    return own and not call.keywords and "__annotations__" not in names.used


def _lists_functions(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    kinds = ("inspect.isfunction", "inspect.isclass", "inspect.ismethod")
    return call is not None and len(call.args) == 2 and names.stands_for(call.args[1], *kinds)


def _at_a_plain_function(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    """Hypothesis makes a function as text from the name of the one given, so that must be as it was written."""
    function = names.decorated_by(node)
    marks = function.decorator_list if isinstance(function, Function) else []
    named = [names.paths(mark.func if isinstance(mark, ast.Call) else mark) for mark in marks]
    return bool(marks) and all(paths and all(path[0] in _FUNCTION_MAKERS for path in paths) for paths in named)


def _of_a_kind(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    """What is in quotes in the annotations of a kind is run as code."""
    return call is not None and bool(call.args) and is_kind(names, call.args[0])


def _like_a_lambda(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    likes = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("like", None))] if call else [node]
    return all(isinstance(like, ast.Lambda) for like in likes)


def _beside_the_tests(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    """`sys.path` may be asked, and get the folder of the tests or one around it: no archive, nothing written before."""
    parent = names.parent(node)
    if isinstance(parent, ast.Compare):
        return node in parent.comparators
    added = names.call_of(parent) if isinstance(parent, ast.Attribute) and parent.attr in ("insert", "append") else None
    if not (added and added.args and isinstance(names.parent(added), ast.Expr)):
        return False
    made_of = _parts_of_place(names, added.args[-1])
    tops = {path.split(".")[0] for paths in names.imports.values() for path in paths}
    writes = bool(tops & _WRITERS) or any(shared_by(names))
    return None not in made_of and (not writes or ("__file__" in made_of and "here" not in made_of))


def _parts_of_place(names: Names, node: ast.expr | None, depth: int = 0) -> set[str | None]:
    """Return what a path is made of: the tests' own file, names of usual folders, and where the run is ("here");
    None for anything else."""
    match node:
        case ast.Constant(value=str(text)) if _BESIDE.fullmatch(text):
            return {"folder"}
        case ast.Name(id="__file__"):
            return {"__file__"}
        case ast.Name() if depth < 20:
            return _parts_of_places(names, names.values_of(node), depth)
        case ast.Attribute(attr="parent" | "parents", value=value) | ast.Subscript(value=value):
            return _parts_of_place(names, value, depth + 1)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _parts_of_places(names, [left, right], depth)
        case ast.Attribute() if names.stands_for(node, "os.pardir", "os.path.pardir"):
            return {"folder"}
        case ast.Call(func=function, args=given, keywords=[]):
            if names.stands_for(function, "os.getcwd", "pathlib.Path.cwd"):
                return {"here"}
            if isinstance(function, ast.Attribute) and function.attr in ("resolve", "absolute", "as_posix"):
                return _parts_of_place(names, function.value, depth + 1) if not given else {None}
            if names.stands_for(function, *_MAKE_PATHS) or names.is_builtin(function, "str"):
                return _parts_of_places(names, given, depth)
    return {None}


def _parts_of_places(names: Names, nodes: Sequence[ast.expr | None], depth: int) -> set[str | None]:
    return {part for node in nodes for part in _parts_of_place(names, node, depth + 1)} or {None}


def _of_the_machine(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    """A test is skipped for the platform, a version or what is installed only."""
    given = call and [*call.args[:1], *(word.value for word in call.keywords if word.arg == "condition")]
    return bool(given) and _is_fact(names, given[0])


def _is_fact(names: Names, condition: ast.expr, named: bool = False) -> bool:
    facts = []
    for name in {node.id: node for node in ast.walk(condition) if isinstance(node, ast.Name)}.values():
        tops = {path.split(".")[0] for path in names.imports.get(name.id, ())}
        values = [getattr(names.parent(place), "value", None) for place in names.defined.get(name.id, [])]
        derived = bool(values) and not named and all(value and _is_fact(names, value, named=True) for value in values)
        facts.append(bool(tops) and tops <= {"sys", "os", "platform", "importlib"} or derived)
    return bool(facts) and all(facts)


def _runs_the_program(names: Names, node: ast.expr, call: ast.Call | None) -> bool:
    """A process is started for the code under test only, in a way that works from afar."""
    given = call and {keyword.arg for keyword in call.keywords} <= _OF_A_PROGRAM and len(call.args) == 1
    return bool(call and given) and _begins_with_program(names, call.args[0])


def _begins_with_program(names: Names, command: ast.expr | None) -> bool:
    """Return True for `[sys.executable, "user_code.py", ...]`, and what begins with a name for such a list."""
    match command:
        case ast.BinOp(left=left, op=ast.Add()):
            return _begins_with_program(names, left)
        case ast.List(elts=[ast.Starred(value=first), *_]):
            return _begins_with_program(names, first)
        case ast.List(elts=[python, *following]):
            named = names.stands_for(python, "sys.executable") or text_of(python) in ("python", "python3")
            told = [text_of(word) for word in following[:2]]
            return named and (told[:1] == [f"{USER_MODULE}.py"] or told == ["-m", USER_MODULE])
        case ast.Name():
            values = names.values_of(command)
            return all(isinstance(value, ast.List) and _begins_with_program(names, value) for value in values)
    return False


CHECKS = _checks()
