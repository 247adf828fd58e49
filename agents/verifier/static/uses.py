"""Checks the names, attributes and modules of a test: all that `allowed.txt` does not list is refused."""

from __future__ import annotations

import ast
import builtins
import re
import sys
import types
from collections.abc import Iterator

from ...syntax.collection import is_fixture
from ...syntax.definitions import Function, bound_by
from ...syntax.imports import USER_MODULE, split_imports
from ...syntax.source import names_bound, text_of
from ..inside.proxy.describe import words
from .allowed import ROWS, WHOLE, Path, parted
from .arguments import ARGUMENTS, PLACES, is_kind, is_known
from .names import Names, last

HYPOTHESIS = "hypothesis"
_OPERATORS = ROWS["@operators"].isolated
_READ = _OPERATORS | ROWS["@read"].isolated
_SET = _OPERATORS | ROWS["@set"].isolated
_DEFINED = _OPERATORS | ROWS["@define"].isolated
REFUSED_BUILTINS = {name for name in dir(builtins) if name[:2] != "__"} - ROWS["@builtins"].isolated
_FRAMES = (types.FrameType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
           types.TracebackType, types.CodeType, types.CellType)  # fmt: skip
NEVER = {
    name for kind in _FRAMES for name in dir(kind) if re.fullmatch(r"(f|gi|cr|ag|tb|co|cell)_\w+", name)
} | words(
    """_exit _os _sys _ctypes _getframe _evaluate _outcome _cleanups _callTestMethod _ShouldStop _Outcome _SubTest
    _item _pyfuncitem _excinfo settrace setprofile SkipTest skipTest expectedFailure failureException
    doCleanups ForwardRef get_field create_subprocess_exec create_subprocess_shell subprocess_exec
    subprocess_shell load_extension enable_load_extension sysexec pyimport syspath_prepend get_stack _module
    _setattr _setitem _peer inner_test fuzz_one_input is_hypothesis_test conjecture_data register_profile
    load_profile get_profile reproduce_failure"""
)
"""Attributes that lead to frames, to the interpreter, to a program, or to the test's own run."""
_PREFIXES = ("_hypothesis", "_greenloop")
_WORDS = words("traceback getter xfail ctypes builtins importlib subprocess temp_original")
"""The same, for names that are plain words in a text."""
_NOT_OF_PACKAGES = words(
    """sys os io builtins gc inspect importlib ctypes subprocess signal threading pickle eval read_pickle to_pickle
    ctypeslib f2py rundocs runstring measure core lib compat distutils load util
    memmap fromfile"""
)
"""Attributes of third-party packages that lead to the interpreter, or run texts as code."""
_OF_TUPLES = words("_fields _replace _asdict _make _field_defaults")
_CAPTURES = words("capsys capsysbinary capfd capfdbinary")
_TO_A_CONSTANT = words("__tracebackhide__")
_LOADED = words("__name__ __file__ __doc__ __class__ __debug__")
_METACLASSES = ("abc.ABCMeta", "enum.EnumMeta", "enum.EnumType")
_FIRST = ("attrgetter", "methodcaller", "getfixturevalue")
_BY_NAME = {"getattr": 1, "setattr": 1, "delattr": 1, "object": 1} | dict.fromkeys(_FIRST, 0)
"""Functions that take the name of an attribute or fixture, by its position."""


class Uses:
    """Reads what one test uses; `found` yields violations."""

    def __init__(self, names: Names, importable: frozenset[str]) -> None:
        """`importable` are packages and modules that tests may import beside the standard library's."""
        self._names = names
        self._importable = importable
        self._packages = importable - {HYPOTHESIS}

    def found(self) -> Iterator[str]:
        """Yield what is wrong, as phrases."""
        hints = any("hypothesis" in name for paths in self._names.imports.values() for name in paths)
        for node in self._names.nodes:
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from self._imported(node)
                case ast.Attribute():
                    yield from self._attribute(node)
                case ast.Name():
                    yield from self._name(node)
                case ast.Call():
                    yield from self._call(node)
                case ast.MatchClass(cls=kind, patterns=patterns, kwd_attrs=named):
                    yield from (fault for name in named for fault in self.attribute_named(name))
                    if patterns and not is_known(self._names, kind):
                        yield f"it matches {ast.unparse(kind)} by position"
                case ast.ClassDef(bases=bases, keywords=keywords):
                    yield from self._class(bases, keywords)
            for name in bound_by(node):
                method = isinstance(node, Function) and isinstance(self._names.parent(node), ast.ClassDef)
                yield from self._special(name, _DEFINED if method else _SET)
            for name in getattr(node, "names", []) if isinstance(node, ast.Global | ast.Nonlocal) else []:
                yield from self._special(name, _SET)
            annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
            if hints and isinstance(annotation, ast.expr) and not is_kind(self._names, annotation, True):
                yield f"the annotation {ast.unparse(annotation)} is made at run time"

    def attribute_named(self, name: str) -> Iterator[str]:
        """Yield why tests may not read the attribute `name` of any object."""
        yield from self._special(name, _READ)
        if name in NEVER | _WORDS or name.startswith(_PREFIXES):
            yield f"it uses {name}, which tests may not"

    def is_refused(self, path: Path) -> bool:
        """Return True if `path` leads from an imported module where tests may not."""
        if path[0] in self._packages:
            outside = _NOT_OF_PACKAGES | NEVER | sys.stdlib_module_names - words("random test string array")
            return any(name in outside or name.startswith("_") for name in path[1:])
        if path[0] == USER_MODULE:
            return path[1:2] in (["__dict__"], ["__class__"])
        module, rest = parted(path)
        if not module or (path[0] == HYPOTHESIS and HYPOTHESIS not in self._importable):
            return True
        row = ROWS[module]
        private = any(name.startswith("_") and name not in _READ | _OF_TUPLES for name in rest)
        marks = ".".join(path[:3]) in ("pytest.mark.skip", "pytest.mark.xfail")
        return private or marks or bool(rest and rest[0] not in row.isolated | row.shared)

    @staticmethod
    def _special(name: str, allowed: frozenset[str]) -> Iterator[str]:
        if name.strip("_") and name.startswith("__") and name.endswith("__") and name not in allowed:
            yield f"it uses {name}, which tests may not"

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(self._names.parent(node), ast.ClassDef):
            yield "it imports inside of a class"
        for entry in split_imports(node):
            yield from self._special(entry.alias or "", _SET)
            path = [*entry.module.split("."), *([entry.name] if entry.name else [])]
            whole = entry.name == "*" and entry.module in WHOLE | {USER_MODULE}
            named = path[0] in self._packages | {USER_MODULE} and entry.name != "*"
            if entry.level or (self.is_refused(path) and not whole):
                known = named or path[0] in sys.stdlib_module_names
                why = "which tests may not" if known else "neither user_code nor named (--packages, --with)"
                yield f"it imports {'.'.join(path)}, {why}"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        if isinstance(node.ctx, ast.Load):
            yield from self.attribute_named(node.attr)
        else:
            yield from self._special(node.attr, _SET)
            if node.attr in NEVER or node.attr.startswith(_PREFIXES):
                yield f"it sets {node.attr}"
            parent = self._names.parent(node)
            to_a_text = isinstance(parent, ast.Assign) and text_of(parent.value)
            if node.attr in ("__name__", "__qualname__") and not to_a_text:
                yield f"it assigns to {node.attr}"
        yield from self._path(node)
        if last(node.value) in _CAPTURES and node.attr not in ("readouterr", "disabled"):
            yield f"it uses {last(node.value)}.{node.attr}"
        if node.attr in ("__annotations__", "__dict__") and not self._is_looked_up(node):
            yield f"it uses {node.attr} for more than a look at one name"
        if node.attr == "target" and self._names.used & {"patch"} and not self._names.is_under_test(node):
            yield "it uses the target of a patch"
        if node.attr == "getfixturevalue" and self._names.call_of(node) is None:
            yield "it hands getfixturevalue around"

    def _name(self, node: ast.Name) -> Iterator[str]:
        if not isinstance(node.ctx, ast.Load):
            constant = isinstance(getattr(self._names.parent(node), "value", None), ast.Constant)
            yield from self._special(node.id, _SET | _TO_A_CONSTANT if constant else _SET)
            return
        if node.id not in _LOADED:
            yield from self._special(node.id, frozenset())
        if node.id in REFUSED_BUILTINS and not self._is_imported(node):
            yield f"it uses {node.id}, which tests may not"
        if node.id in ("getattr", "setattr", "delattr", "vars", "eval") and self._names.call_of(node) is None:
            yield f"it uses {node.id} in a way that tests may not"
        yield from self._path(node)

    def _is_imported(self, node: ast.Name) -> bool:
        """Return True if an import of the file binds a name (above its uses: `prepare_file`), and nothing else."""
        imports = (each for each in self._names.tree.body if isinstance(each, ast.Import | ast.ImportFrom))
        return node.id not in self._names.defined and any(node.id in names_bound(each) for each in imports)

    def _path(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        """Yield what is wrong with what a dotted name stands for."""
        if last(node) in _CAPTURES and isinstance(node.ctx, ast.Load) and not self._stays_a_capture(node):
            yield f"it hands {last(node)} around"
        for path in self._names.paths(node):
            dotted = ".".join(path)
            if self.is_refused(path) and isinstance(node.ctx, ast.Load):
                yield f"it uses {dotted}, which tests may not"
            call = self._names.call_of(node)
            called = dotted not in ARGUMENTS or (call is not None and ARGUMENTS[dotted](self._names, call))
            if not called or (dotted in PLACES and not PLACES[dotted](self._names, node)):
                yield f"it uses {dotted} in a way that tests may not"
            module = path[0] in self._packages and len(path) == 1
            whole = not parted(path)[1] and path[0] != USER_MODULE
            used = isinstance(self._names.parent(node), ast.Attribute) or self._may_take_modules(node)
            if (module or whole or dotted == "pytest.mark") and not used:
                yield f"it hands {dotted} around"

    def _may_take_modules(self, node: ast.expr) -> bool:
        """Return True if a module is passed to what looks up or replaces a name in it."""
        call = self._names.parent(node)
        function = call.func if isinstance(call, ast.Call) else None
        if isinstance(function, ast.Attribute) and self._names.stands_for(function.value, "unittest.mock.patch"):
            return function.attr in ("object", "multiple")
        if isinstance(function, ast.Attribute) and function.attr in ("setattr", "delattr"):
            places = self._names.defined.get(last(function.value), [])
            return bool(places) and all(map(self._is_monkeypatch, places))
        return function is not None and self._names.is_builtin(function, "hasattr", "dir")

    def _is_monkeypatch(self, place: ast.AST) -> bool:
        """Return True for a parameter `monkeypatch` that no call overrides, and for `MonkeyPatch.context()`."""
        around = next((node for node in self._names.above(place) if not isinstance(node, ast.arguments)), None)
        if isinstance(place, ast.arg) and isinstance(around, Function):
            calls = [self._names.call_of(node) for node in self._names.nodes if last(node) == around.name]
            given = all(call and "monkeypatch" in map(last, call.args) for call in calls)
            return place.arg == "monkeypatch" and (given or is_fixture(around))
        made = around.context_expr if isinstance(around, ast.withitem) else None
        return isinstance(made, ast.Call) and self._names.stands_for(made.func, "pytest.MonkeyPatch.context")

    def _is_looked_up(self, node: ast.expr) -> bool:
        """Return True if a namespace is read by constant names alone: a type's descriptors lead anywhere."""
        parent = self._names.parent(node)
        match parent:
            case ast.Compare(left=left, comparators=others):
                named = all(other is node or self._are_names(other) for other in (left, *others))
                return named or last(node) == "__annotations__"
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if value is node:
                texts = self._names.texts(key)
                return texts is not None and not any(text.startswith("__") for text in texts)
            case ast.Call(func=function):
                return self._names.is_builtin(function, "len", "sorted", "list", "set", "bool")
            case ast.Attribute(attr="keys"):
                return True
            case ast.ListComp(elt) if elt is node and isinstance(self._names.parent(parent), ast.Compare):
                return self._is_looked_up(parent)
        return False

    def _are_names(self, node: ast.expr) -> bool:
        if isinstance(node, ast.List):
            return all(map(self._are_names, node.elts))
        if isinstance(node, ast.Dict):
            return all(isinstance(key, ast.Constant) and not str(key.value).startswith("__") for key in node.keys)
        all_names = last(node) == "__dict__" or last(getattr(node, "func", node)) == "vars"
        return all_names or isinstance(node, ast.Constant)

    def _call(self, node: ast.Call) -> Iterator[str]:
        name = last(node.func)
        for keyword in node.keywords:
            yield from self._special(keyword.arg or "", words("__name__ __qualname__ __doc__"))
            if keyword.arg == "eval_str":
                yield "it has text run as code"
        whole = len(node.args) != 1 or isinstance(node.args[0], ast.Starred) or not self._is_looked_up(node)
        if whole and self._names.is_builtin(node.func, "vars"):
            yield "it uses vars for more than a look at one name"
        if name == "multiple" and any(not word.arg for word in node.keywords):
            yield "it replaces names made at run time"
        evaluates = name in ("query", "eval") and self._packages and isinstance(node.func, ast.Attribute)
        if evaluates and re.search("@|__|^$", text_of(node.args[0]) if node.args else ""):
            yield f"it calls {name} with more than a plain text"
        name = next((path[-1] for path in self._names.paths(node.func)), name)
        if name not in _BY_NAME or (name == "object" and not self._names.paths(node.func)):
            return
        given = node.args if name == "attrgetter" else node.args[_BY_NAME[name] : _BY_NAME[name] + 1]
        attribute = isinstance(node.func, ast.Attribute)
        if attribute and name in ("setattr", "delattr") and (text_of(node.args[0]) if node.args else ""):
            return
        if any(isinstance(item, ast.Starred) for item in node.args) or any(not word.arg for word in node.keywords):
            yield f"it uses {name} with names made at run time"
        for item in given:
            texts = self._names.texts(item)
            if texts is None and not self._of_the_code(node, item) and not self._of_own(node, name):
                yield f"it uses {name} with a name made at run time"
            if name == "getfixturevalue" and (texts or frozenset()) & (_CAPTURES | {"request"}):
                yield f"it asks for {ast.unparse(item)} by name"
            reads = name in ("getattr", "attrgetter", "methodcaller")
            allowed = _READ if reads else _SET - {"__name__", "__qualname__"}
            for part in (part for text in texts or () for part in text.split(".")):
                yield from self._special(part, allowed)
                yield from self.attribute_named(part)

    def _of_the_code(self, call: ast.Call, name: ast.expr) -> bool:
        """Return True for the code's attributes by names that can't be special, and for dataclass fields."""
        if isinstance(name, ast.Attribute) and name.attr == "name":
            loops = [self._names.parent(place) for place in self._names.defined.get(last(name.value), [])]
            made = [getattr(getattr(loop, "iter", None), "func", None) for loop in loops]
            return bool(made) and all(each and self._names.stands_for(each, "dataclasses.fields") for each in made)
        first = name.values[0] if isinstance(name, ast.JoinedStr) else getattr(name, "left", None)
        return self._names.is_under_test(call.args[0]) and text_of(first)[:1].isalpha()

    def _of_own(self, call: ast.Call, name: str) -> bool:
        """Return True where a method sets attributes of its own object, which is of a class of the tests alone."""
        method = next((node for node in self._names.above(call) if isinstance(node, Function)), None)
        owner = self._names.parent(method) if method else None
        if name not in ("setattr", "delattr") or method is None or not isinstance(owner, ast.ClassDef):
            return False
        own = method.args.args[0].arg if method.args.args else ""
        alone = not owner.bases and not owner.keywords and not method.decorator_list
        return alone and last(call.args[0]) == own and isinstance(call.args[0], ast.Name)

    def _stays_a_capture(self, node: ast.expr) -> bool:
        """Return True if pytest's `capsys` is used for its attributes, kept under its name, or passed on as it."""
        parent = self._names.parent(node)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and node in parent.args:
            functions = self._names.defined.get(parent.func.id, [])
            taken = [each.args.args[parent.args.index(node) :] for each in functions if isinstance(each, Function)]
            return len(taken) == len(functions) > 0 and all(rest and rest[0].arg == last(node) for rest in taken)
        kept = isinstance(parent, ast.Assign) and [last(target) for target in parent.targets] == [last(node)]
        return kept or isinstance(parent, ast.Attribute)

    def _class(self, bases: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[str]:
        for word in keywords:
            known = self._names.stands_for(word.value, *_METACLASSES) or self._names.is_under_test(word.value)
            if word.arg == "metaclass" and not known:
                yield "it makes a class with a metaclass"
        for base in bases:
            if self._names.is_builtin(base, "type") or self._names.stands_for(base, *_METACLASSES):
                yield "it defines a metaclass"
