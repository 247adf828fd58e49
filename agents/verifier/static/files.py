"""Finds tests with `tmp_path` that work if each process has its own copy of the files: those that only use paths
below it, in ways that make no difference between a copy and the original."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...syntax.collection import chain
from ...syntax.definitions import Function
from ...syntax.imports import USER_MODULE
from ...syntax.source import text_of
from ..inside.proxy.describe import words
from .names import Names, decorators, last

_MODULES = words(
    """pytest user_code pathlib os json csv io re math textwrap datetime string itertools collections typing
    decimal fractions functools enum random uuid subprocess sys unittest asyncio contextlib hashlib base64"""
)
"""Modules whose isolated names open no file and take no time."""
_USES = words(
    """exists is_file is_dir read_text read_bytes write_text write_bytes mkdir iterdir glob rglob unlink rmdir
    touch open"""
)
_NAMES = words(
    """name stem suffix suffixes joinpath as_posix relative_to is_relative_to parts parent with_suffix with_name
    with_stem startswith endswith"""
)
"""Uses of a path below the directory: the files themselves, and their names."""
_OTHERS = words(
    """stat lstat chmod lchmod symlink_to hardlink_to link_to readlink is_symlink is_mount is_fifo is_socket
    is_block_device is_char_device is_junction samefile owner group cwd home expanduser resolve absolute walk"""
)
"""Methods of paths that read what is not copied, or lead elsewhere."""
OF_FILES = _USES | _OTHERS | {"rename"}  # without these in a test a path is a name alone
_LISTING = words("iterdir glob rglob")
_OF_OS = ("os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.getsize", "os.listdir")
_OPTIONS = words("encoding newline errors parents exist_ok missing_ok data")
_OF_OPEN = words("mode encoding newline errors")
_EMPTY = ("mkdir", "touch")
_BY_NAME = words("getattr attrgetter methodcaller pytest_generate_tests pytestmark")


class Files:
    """The paths below `tmp_path` in a test, found by syntax alone."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._inside: dict[int, bool] = {}
        self._parametrized = " ".join(
            ast.unparse(node.args[0])
            for node in names.nodes
            if isinstance(node, ast.Call) and node.args and last(node.func) == "parametrize"
        )
        self._below = set(names.defined) - names.imports.keys() - names.under_test
        while wrong := {name for name in self._below if not all(map(self._binds, names.defined[name]))}:
            self._below -= wrong

    def is_below(self, node: ast.AST | None) -> bool:
        """Return True if `node` is the directory or a path below it."""
        match node:
            case ast.Name(id=name):
                return name in self._below
            case ast.BinOp(left=path, op=ast.Div(), right=part):
                return self.is_below(path) and self._is_inside(part)
            case ast.Call(func=ast.Attribute(value=path, attr="joinpath"), args=parts, keywords=[]):
                return self.is_below(path) and all(map(self._is_inside, parts))
            case ast.Call(func=ast.Name(id=name)) if name in self._below:  # a function that returns such paths
                return all(isinstance(each, Function) for each in self._names.defined[name])
            case ast.Call(func=function, args=[path, *parts], keywords=[]):
                one = self._names.is_builtin(function, "str") or self._names.stands_for(function, "pathlib.Path")
                joins = self._names.stands_for(function, "os.path.join") or (one and not parts)
                return joins and self.is_below(path) and all(map(self._is_inside, parts))
            case ast.JoinedStr(values=[ast.FormattedValue(path, -1, None), ast.Constant(value=text)]):
                inside = str(text).removeprefix("/")
                return inside != text and self.is_below(path) and self._leads_down(ast.Constant(inside))
        return False

    def _is_inside(self, node: ast.expr) -> bool:
        """Return True if `node` is text that leads down from a directory; a number in it goes for a digit."""
        if id(node) not in self._inside:
            self._inside[id(node)] = False  # of a function that calls itself
            self._inside[id(node)] = self._leads_down(node)
        return self._inside[id(node)]

    def _leads_down(self, node: ast.expr) -> bool:
        if isinstance(node, ast.JoinedStr):
            node = ast.JoinedStr([ast.Constant("0") if self._counts(part) else part for part in node.values])
        if isinstance(node, ast.Name) and not self._names.is_under_test(node):
            places = self._names.defined.get(node.id, [])
            if places and all(isinstance(each, ast.arg) and self._takes(each, self._is_inside) for each in places):
                return True
        texts = self._names.texts(node)
        return texts is not None and not any({"", ".."} & {*text.split("/")} for text in texts)

    def _counts(self, part: ast.expr) -> bool:
        """Return True if a part of a text is a number that a loop counts."""
        match part:
            case ast.FormattedValue(
                ast.Name(id=name), -1, None | ast.JoinedStr([ast.Constant("02" | "03" | "04")])
            ):
                places = [] if self._names.is_under_test(part.value) else self._names.defined.get(name, [])
                loops = [getattr(self._names.parent(place), "iter", None) for place in places]
                made = [getattr(each, "func", ast.Constant(None)) for each in loops]
                return bool(made) and all(self._names.is_builtin(each, "range") for each in made)
        return False

    def _binds(self, place: ast.AST) -> bool:
        """Return True if a name is bound to such a path at `place`, if it is elsewhere."""
        if isinstance(place, ast.arg):
            return self._is_given(place)
        if isinstance(place, Function):  # a fixture or another function, whose values are such paths
            values = [node.value for node in ast.walk(place) if isinstance(node, ast.Return | ast.Yield)]
            own = isinstance(place, ast.FunctionDef) and (self._is_pytests(place) or not place.decorator_list)
            return own and bool(values) and all(map(self.is_below, values))
        match self._names.parent(place):
            case ast.For(target=target, iter=each) | ast.comprehension(target=target, iter=each):
                return target is place and self._lists(each)
        return all(map(self.is_below, self._names.bound_to(place, loops=False)))

    def _lists(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=path, attr=name), args=patterns, keywords=[]):
                return name in _LISTING and self.is_below(path) and all(map(self._is_inside, patterns))
            case ast.Call(func=function, args=[inner], keywords=[]):
                return self._names.is_builtin(function, "sorted", "list") and self._lists(inner)
        return False

    def _is_given(self, parameter: ast.arg) -> bool:
        """Return True for `tmp_path`, a fixture's parameter, and one that the tests' calls give such paths."""
        function = self._names.function_of(parameter)
        if function is None or not self._is_pytests(function):
            return self._takes(parameter, self.is_below)
        fixture = any(isinstance(place, Function) for place in self._names.defined[parameter.arg])
        given = parameter.arg not in self._parametrized and not function.args.defaults
        return given and parameter in function.args.args and (fixture or parameter.arg == "tmp_path")

    def _takes(self, parameter: ast.arg, is_one: Callable[[ast.expr], bool]) -> bool:
        """Return True if a function of the tests is called, and gets only such arguments for `parameter`."""
        return all(value is not None and is_one(value) for value in self._names.given(parameter))

    def _is_pytests(self, function: Function) -> bool:
        """Return True for a test or a fixture that pytest alone calls."""
        fixture = any(self._names.stands_for(mark, "pytest.fixture") for mark in decorators(function))
        classes = [node for node in self._names.above(function) if isinstance(node, ast.ClassDef)]
        plain = all(map(self._names.is_left_to_pytest, (function, *classes)))
        plain = plain and not any(each.bases or each.keywords for each in classes)
        return plain and (fixture or (function.name.startswith("test") and function.name not in self._names.used))

    def may_read(self, node: ast.AST) -> bool:
        """Return True if `node` uses, on such a path alone, what otherwise needs one process."""
        if isinstance(node, ast.Call) and last(node.func) == "open":
            path = node.func.value if isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
            return self.is_below(path) and isinstance(self._names.parent(node), ast.withitem)
        if isinstance(node, ast.Name | ast.Attribute) and self._names.stands_for(node, "pathlib.Path"):
            call = self._names.parent(node)
            asked = isinstance(call, ast.Call) and self._names.is_builtin(call.func, "isinstance")
            return asked or self.is_below(call)
        if isinstance(node, ast.Name | ast.Attribute) and self._names.stands_for(node, *_OF_OS):
            use = self._names.call_of(node)
            return use is not None and not use.keywords and all(map(self.is_below, use.args))
        return False

    def wrong(self) -> Iterator[str]:
        """Yield what needs the files themselves, as phrases."""
        places = self._names.defined["tmp_path"]
        if "tmp_path" not in self._below or not all(isinstance(place, ast.arg) for place in places):
            yield "it uses tmp_path otherwise than pytest gives it"
        if self._names.everything:
            yield "it uses tmp_path, and names that may be the code's"
        if self._names.used & _BY_NAME or _BY_NAME & self._names.defined.keys():
            yield "it uses tmp_path, and names made at run time"
        if "PermissionError" in self._names.used:
            yield "it uses tmp_path, and expects an error of permissions"
        for node in self._names.nodes:
            match node:
                case ast.Name(ctx=ast.Load()):
                    tops = {path[0] for path in self._names.paths(node)} - _MODULES
                    yield from (f"it uses {top} and tmp_path" for top in sorted(tops))
                case ast.Attribute():
                    yield from self._attribute(node)
                case ast.Call(func=function, args=args, keywords=options) if last(function) in _USES:
                    known = _OF_OPEN if last(function) == "open" else _OPTIONS
                    if {option.arg for option in options} - known or (args and last(function) in _EMPTY):
                        yield f"it uses options of {last(function)}"
                case ast.Call(func=function, keywords=options) if self._names.stands_for(
                    function, "pytest.fixture"
                ):
                    if {option.arg for option in options} - {"scope", "autouse"}:
                        yield "it uses tmp_path, and fixtures of other names"
                case ast.Call(func=function, args=args) if last(function) == "parametrize":
                    if not args or any(isinstance(each, ast.Name | ast.Call) for each in ast.walk(args[0])):
                        yield "it uses tmp_path, and parameters named at run time"
                case ast.Call(func=function, args=[owner, *_]) if last(function) in ("setattr", "delattr"):
                    owners = self._names.paths(owner) or [text_of(owner).split(".")[:-1]]
                    if any(len(each) != 1 for each in owners):
                        yield "it uses tmp_path, and replaces what files may be read and written by"
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=made)))) if self._asks(made):
                    yield "it uses tmp_path, and drops what may have a file open"
                case ast.With(items=items, body=body):
                    opened = (getattr(each.context_expr, "func", each.context_expr) for each in items)
                    asks = any(self._asks(each) for part in body for each in ast.walk(part))
                    if "open" in map(last, opened) and asks:
                        yield "it asks the code while it has a file open"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        path, name, call = node.value, node.attr, self._names.call_of(node)
        if self._names.stands_for(node, "sys.path"):
            yield "it uses sys.path and tmp_path"
        sized = getattr(self._names.parent(call), "attr", "") == "st_size" if call else False
        if any(found[0] != USER_MODULE or len(found) == 2 for found in self._names.paths(node)):
            return  # a function of a module's
        if name in _USES:
            plain = call is not None and self.is_below(path) and (name not in _LISTING or self._lists(call))
            if not plain:
                yield f"it uses {name} of more than what is below tmp_path"
        elif (name in _OTHERS or (self.is_below(path) and name not in _NAMES)) and not (name == "stat" and sized):
            yield f"it uses {name} of a path"

    def _asks(self, node: ast.AST) -> bool:
        """Return True if `node` is a part of the code, or a function of the tests, which may ask it."""
        root, _ = chain(node)
        if root is None:
            return False
        places = self._names.defined.get(root.id, [])
        return self._names.is_under_test(root) or any(isinstance(place, Function) for place in places)
