"""Finds what no honest test does: replacing the code under test, ending or steering the run, reaching for the
interpreter, running text as code. Whether a test could fail is not asked here.

Names are followed through imports, constant arguments of `getattr`, and texts put together from constants.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
import types
from collections.abc import Callable, Iterator
from itertools import chain

from ...syntax.collection import is_fixture, is_test, is_test_case
from ...syntax.imports import USER_MODULE
from ...syntax.source import names_bound, names_used, plain, quoted, text_of
from ..async_plugins import async_plugins


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MODULES = _words(
    """__future__ abc argparse array ast asyncio base64 binascii bisect builtins calendar cmath codecs collections
    collections.abc colorsys concurrent concurrent.futures configparser contextlib contextvars copy csv
    dataclasses datetime decimal email email.message http
    difflib enum errno fnmatch fractions functools gc glob graphlib gzip hashlib heapq hmac html html.parser
    importlib importlib.util inspect io ipaddress itertools json keyword logging math numbers operator os os.path
    pathlib pickle platform pprint pytest queue random re secrets shlex shutil sqlite3 stat statistics string
    struct subprocess sys tempfile textwrap threading time timeit traceback types typing unicodedata tarfile
    tomllib unittest
    unittest.mock urllib urllib.parse uuid warnings weakref xml xml.etree
    xml.etree.ElementTree zipfile zlib zoneinfo"""
)
_ATTRIBUTES_OF = {
    (words := line.split())[0].rstrip(":"): frozenset(words[1:])
    for line in """os: path environ getcwd listdir scandir walk remove unlink mkdir makedirs rmdir rename replace \
            sep linesep name stat getenv pathsep curdir chdir urandom PathLike fspath cpu_count utime
        sys: maxsize float_info int_info version version_info getsizeof byteorder platform getrecursionlimit \
            setrecursionlimit stdin stdout stderr argv path executable maxunicode getdefaultencoding getrefcount
        builtins: input print open
        gc: collect
        importlib: util import_module
        importlib.util: find_spec
        inspect: signature Parameter isfunction isclass isgenerator isgeneratorfunction iscoroutinefunction \
            isawaitable iscoroutine isasyncgen isasyncgenfunction getdoc ismethod isabstract getmembers getsource \
            getfullargspec
        pytest: raises approx fixture mark param warns deprecated_call fail MonkeyPatch CaptureFixture \
            FixtureRequest LogCaptureFixture TempPathFactory WarningsRecorder ExceptionInfo RaisesGroup RaisesExc
        subprocess: run check_output PIPE STDOUT CalledProcessError TimeoutExpired CompletedProcess
        traceback: format_exc format_exception format_exception_only print_exc""".splitlines()
}
_PATCHABLE = _words("sys.exit os.system os.popen")
_NOT_BUILTINS = _words("exec eval compile globals locals exit quit breakpoint")
_OF_REQUEST = re.compile(r"request\.(param|getfixturevalue|addfinalizer|instance|cls|node\.(name|callspec))")
_NOT_FIXTURES = _words("pytestconfig pytester testdir")
_NOT_OF_TEST_CASES = _words("run debug doCleanups defaultTestResult _callTestMethod _callSetUp __call__")
_MADE_BYTES = _words("encode bytes bytearray b64decode fromhex unhexlify to_bytes pack tobytes write_text")
_NOT_SET = _words("__class__ __dict__ __bases__ __defaults__ __annotations__ __call__")
_BY_NAME = _words("getattr setattr delattr attrgetter methodcaller getfixturevalue")

_OF_A_PROGRAM = _words("input capture_output text universal_newlines encoding stdout stderr check timeout")

_INSIDE = re.compile(r"__\w+__|(?:f|gi|cr|ag|tb|co)_\w+")
_ORDINARY = {name for kind in (int, str, list, dict, BaseException, Iterator) for name in dir(kind)} | _words(
    """__name__ __qualname__ __annotations__ __defaults__ __kwdefaults__ __dict__ __mro__ __bases__ __base__
    __call__ __get__ __set__ __delete__ __del__ __await__ __aiter__ __anext__ __type_params__ __args__ __origin__
    __parameters__ __instancecheck__ __subclasscheck__ __or__ __ror__ __prepare__ __weakref__"""
)
_NOT_ATTRIBUTES = {
    name
    for kind in (*vars(types).values(), type, builtins)
    for name in dir(kind)
    if _INSIDE.fullmatch(name) and name not in _ORDINARY
} | _words(
    """__getattribute__ __setattr__ __delattr__ __reduce__ __reduce_ex__ __traceback__ __file__ __cached__ __path__
    _exit _os _sys _getframe settrace setprofile SkipTest skipTest expectedFailure failureException _outcome
    _cleanups _callTestMethod _ShouldStop _Outcome _SubTest doCleanups ForwardRef get_field
    create_subprocess_exec create_subprocess_shell"""
)
"""Attributes that lead from an object to the interpreter, or from a test to its own run."""
HYPOTHESIS = "hypothesis"
_NOT_OF_PACKAGES = _words(
    """sys os builtins gc inspect importlib ctypes subprocess signal threading pickle eval read_pickle to_pickle
    ctypeslib f2py rundocs runstring measure"""
)
"""Parts of third-party packages that lead to the interpreter, or run texts as code."""
_SHOWS_FRAMES = _words("traceback getter")
"""Of `pytest.raises` and of `patch`; in a text they are plain words."""


class Tampering:
    """Reads one test with its preamble; `reason` says what is wrong with it, None where nothing is."""

    def __init__(self, tree: ast.Module, importable: frozenset[str] = frozenset([HYPOTHESIS])) -> None:
        """`importable` are packages and modules that tests may import, too: hypothesis where there is one, and
        those that are named."""
        self._importable = importable
        self._tree = tree = plain(tree)
        self._nodes = [*ast.walk(tree), *quoted(tree)]
        self._names: dict[str, str] = {}
        self._user_names: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.split(".")[0]
                    self._names[alias.asname or top] = alias.name if alias.asname else top
            elif isinstance(node, ast.ImportFrom) and node.module == USER_MODULE:
                self._user_names.update(alias.asname or alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                self._names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self._calls = {id(call.func): call for call in calls}
        self._called_names = {_last(call.func) for call in calls}
        self._used = {_last(node) for node in self._nodes}
        self._texts = [text for node in self._nodes if (text := text_of(node))]
        checks: dict[str, Callable[[ast.Call], bool]] = {
            "pytest.mark.skipif unittest.skipIf unittest.skipUnless": self._of_the_machine,
            "timeit.timeit timeit.repeat timeit.Timer": self._times_a_function,
            "pickle.load pickle.loads pickle.Unpickler": self._pickled_here,
            "typing.get_type_hints": lambda call: self._is_under_test(call.args[0]),
            "importlib.import_module": lambda call: text_of(call.args[0]) == USER_MODULE,
            "getattr setattr delattr": lambda call: True,
            "subprocess.run subprocess.check_output": self._runs_the_program,
        }
        self._harmless = {path: check for paths, check in checks.items() for path in paths.split()}

    @property
    def reason(self) -> str | None:
        """The first thing found, as a phrase for the user."""
        return next(self._found(), None)

    def _found(self) -> Iterator[str]:
        for node in self._nodes:
            match node:
                case ast.Import() | ast.ImportFrom():
                    yield from self._imported(node)
                case ast.Attribute():
                    yield from self._reached(node)
                case ast.Name():
                    yield from self._named(node)
                case ast.Call():
                    yield from chain(self._called(node), self._patched(node))
                case ast.Constant(value=str(text)):
                    yield from self._told(text)
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    yield from self._defined(node)
                case ast.Global(names=names) | ast.Nonlocal(names=names) if self._user_names & set(names):
                    yield f"it rebinds {names[0]}, which is under test"
        yield from self._aliased()

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        module = (node.module or ".") if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            path = [*module.split("."), alias.name] if module else alias.name.split(".")
            named = path[0] == USER_MODULE or path[0] in self._importable
            known = (module or alias.name) in _MODULES or named
            if not known or (isinstance(node, ast.ImportFrom) and node.level) or self._refuses(path):
                unnamed = not (named or path[0] in sys.stdlib_module_names)
                why = "a package that is not named (--packages)" if unnamed else "which tests may not"
                yield f"it imports {'.'.join(path)}, {why}"

    def _reached(self, node: ast.Attribute) -> Iterator[str]:
        path = self._path(node)
        if not isinstance(node.ctx, ast.Load):
            if path or self._is_under_test(node):
                yield f"it assigns to {ast.unparse(node)}, which is under test or shared"
            elif node.attr in _NOT_SET:
                yield f"it assigns to {node.attr}"
        elif path in ([USER_MODULE, "__dict__"], [USER_MODULE, "__class__"]) or self._refuses(path):
            yield f"it uses {'.'.join(path)}, which tests may not"
        if node.attr in _NOT_ATTRIBUTES | _SHOWS_FRAMES:
            yield f"it uses {node.attr}, which tests may not"
        yield from self._in_a_harmless_call(node, ".".join(path))

    def _refuses(self, path: list[str]) -> bool:
        """Return True if `path` leads where tests may not."""
        if path and path[0] in self._importable - {HYPOTHESIS}:
            return any(name in _NOT_OF_PACKAGES or name in _NOT_ATTRIBUTES for name in path[1:])
        return _refused(path)

    def _in_a_harmless_call(self, node: ast.expr, path: str) -> Iterator[str]:
        """Refuse what is harmless with some arguments only, unless it is in such a call."""
        call = self._calls.get(id(node))
        if path in self._harmless and not (call and call.args + call.keywords and self._harmless[path](call)):
            yield f"it uses {path} in a way that tests may not"

    def _named(self, node: ast.Name) -> Iterator[str]:
        if not isinstance(node.ctx, ast.Load):
            if node.id in self._user_names or self._names.get(node.id) == USER_MODULE:
                yield f"it rebinds {node.id}, which is under test"
            elif node.id in ("__test__", "pytest_plugins", "failureException"):
                yield f"it sets {node.id}, which changes the run"
        elif node.id in _NOT_BUILTINS or (node.id in _NOT_ATTRIBUTES and node.id != "__file__"):
            yield f"it uses {node.id}, which tests may not"
        elif node.id in ("__file__", "__name__") and not self._is_place(node):
            yield f"it uses {node.id}, which tells which run this is"
        else:
            yield from self._in_a_harmless_call(node, ".".join(self._path(node)) or node.id)

    def _is_place(self, name: ast.Name) -> bool:
        """Return True if `__file__` makes a path, for `sys.path` as a rule, or `__name__` names a logger."""
        if name.id == "__name__":
            return any(_last(call.func) == "getLogger" and name in call.args for call in self._calls.values())
        for statement in self._tree.body:
            if isinstance(statement, ast.Assign | ast.Expr | ast.If) and name in (nodes := [*ast.walk(statement)]):
                decides = any(isinstance(node, ast.Compare | ast.BoolOp | ast.IfExp) for node in nodes)
                return not decides or "sys.path" in ast.unparse(statement)
        return False

    def _called(self, node: ast.Call) -> Iterator[str]:
        name = _last(node.func)
        target = node.args[0] if node.args else None
        path = self._path(target) if target else []
        under_test = target is not None and self._is_under_test(target)
        if name in ("setattr", "delattr") and isinstance(node.func, ast.Name) and (path or under_test):
            yield f"it replaces a part of {ast.unparse(node.args[0])}, which is under test or shared"
        if name in _words("vars type repr str id") and (path == [USER_MODULE] or (name == "vars" and not target)):
            yield f"it uses {name} of a module"
        if name in _BY_NAME and (isinstance(node.func, ast.Name) or name not in ("setattr", "delattr")):
            given = node.args[1:2] if name in ("getattr", "setattr", "delattr") else node.args
            if any(map(self._is_made_up, given)) and (not under_test or len(node.args) < 2):
                yield f"it uses {name} with a name made at run time"
        if any(keyword.arg == "eval_str" for keyword in node.keywords):
            yield "it has text run as code"

    def _patched(self, node: ast.Call) -> Iterator[str]:
        """`monkeypatch.setattr(user_code, "f", ...)`, `patch("user_code.f")`: a fake of what is under test."""
        by = _last(node.func)
        mocks = {name for name, path in self._names.items() if path.startswith("unittest.mock")}
        if not node.args or by not in _words("setattr delattr object multiple dict patch") | mocks:
            return
        first, second = [*map(text_of, node.args[:2]), ""][:2]
        names = [second] if not first else [""]
        if by == "multiple":
            names = [keyword.arg or "" for keyword in node.keywords]
        fake = second in self._called_names or _last(node.args[0]) == second
        if not first and _last(node.args[0]) in self._user_names and second and fake:
            yield f"it replaces {second} of {_last(node.args[0])}, which is under test"
        top, *rest = first.split(".")
        root = [*self._names.get(top, top).split("."), *rest] if first else self._path(node.args[0])
        for path in ([*root, *filter(None, [name])] for name in names):
            replaced = path[:1] == [USER_MODULE] and (path[-1] in self._called_names or "__dict__" in path)
            hidden = _refused(path) and ".".join(path) not in _PATCHABLE
            if replaced or hidden or path[:1] in (["pytest"], ["_pytest"]):
                yield f"it replaces {'.'.join(path)}"

    def _is_made_up(self, name: ast.expr) -> bool:
        """Return True if an attribute's name may be put together at run time, and so be any."""
        if isinstance(name, ast.JoinedStr | ast.BinOp):
            start = text_of(name.values[0] if isinstance(name, ast.JoinedStr) else name.left)
            return not start[:1].isalpha() or any(
                name.startswith(start) for name in filter(_INSIDE.match, _NOT_ATTRIBUTES)
            )
        bound_to = [
            node.value
            for node in self._nodes
            if isinstance(node, ast.Assign | ast.AugAssign | ast.NamedExpr)
            and _last(name) in names_used(getattr(node, "targets", None) or [getattr(node, "target", node)])
        ]
        made = any(not isinstance(value, ast.Name) and self._is_made_up(value) for value in bound_to)
        pieces = any(text.startswith("__") and not text.endswith("__") for text in self._texts)
        simple = isinstance(name, ast.Constant | ast.Name | ast.Attribute | ast.Subscript)
        return not isinstance(name, ast.Constant) and (pieces or made or not simple)

    def _is_under_test(self, node: ast.expr) -> bool:
        root = _root(node)
        return root is not None and (root.id in self._user_names or self._names.get(root.id) == USER_MODULE)

    def _path(self, node: ast.expr) -> list[str]:
        """`b.c` after `import a as b` as its parts `a`, `c`; nothing where its base was not imported."""
        root = _root(node)
        known = root is not None and root.id in self._names
        return [*self._names[root.id].split("."), *ast.unparse(node).split(".")[1:]] if root and known else []

    def _of_the_machine(self, call: ast.Call) -> bool:
        """Return True if a test is skipped for the platform, a version or what is installed only."""
        given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "condition")]
        return bool(given) and self._is_fact(given[0])

    def _is_fact(self, condition: ast.expr, named: bool = False) -> bool:
        facts = []
        for name in {node.id: node for node in ast.walk(condition) if isinstance(node, ast.Name)}.values():
            top = self._names.get(name.id, "").split(".")[0]
            values = [
                node.value for node in self._nodes if isinstance(node, ast.Assign) and name.id in names_bound(node)
            ]
            derived = bool(values) and not named and all(self._is_fact(value, named=True) for value in values)
            facts.append(top in ("sys", "os", "platform", "importlib") or derived)
        return bool(facts) and all(facts)

    def _times_a_function(self, call: ast.Call) -> bool:
        """Return True if a function is timed: a text would be run as code."""
        defined = {node.name for node in self._nodes if isinstance(node, ast.FunctionDef)} | self._user_names
        function = [isinstance(item, ast.Lambda) or _last(item) in defined for item in call.args]
        return function == [True] and {keyword.arg for keyword in call.keywords} <= {"number", "repeat"}

    def _pickled_here(self, call: ast.Call) -> bool:
        """Return True if the test makes bytes by pickling only: others may name any function, to be called."""
        literal = any(isinstance(node, ast.Constant) and isinstance(node.value, bytes) for node in self._nodes)
        return not literal and not self._used & _MADE_BYTES and bool(self._used & {"dump", "dumps"})

    def _runs_the_program(self, call: ast.Call) -> bool:
        """Return True if a process is started for the code under test only, in a way that works from afar."""
        given = {keyword.arg for keyword in call.keywords} <= _OF_A_PROGRAM and len(call.args) == 1
        return given and self._begins_with_program(call.args[0])

    def _begins_with_program(self, command: ast.expr) -> bool:
        """Return True for `[sys.executable, "user_code.py", ...]`, and what begins with a name for such a list."""
        match command:
            case ast.BinOp(left=left, op=ast.Add()):
                return self._begins_with_program(left)
            case ast.List(elts=[ast.Starred(value=first), *_]):
                return self._begins_with_program(first)
            case ast.List(elts=[python, *words]):
                named = ast.unparse(python) == "sys.executable" or text_of(python) in ("python", "python3")
                told = [text_of(word) for word in words[:2]]
                return named and (told[:1] == [f"{USER_MODULE}.py"] or told == ["-m", USER_MODULE])
            case ast.Name(id=name):
                bound = [
                    node.value
                    for node in self._nodes
                    if isinstance(node, ast.Assign) and name in names_bound(node)
                ]
                return (
                    bool(bound)
                    and all(isinstance(value, ast.List) for value in bound)
                    and all(map(self._begins_with_program, bound))
                )
        return False

    def _told(self, text: str) -> Iterator[str]:
        """Names in texts: for `attrgetter`, `getmembers(...)["..."]`, fixtures asked for by name, formats."""
        names = set(text.split(".")) if re.fullmatch(r"[\w.]+", text) else set()
        if self._used & {"format", "format_map"}:
            names.update(name for field in re.findall(r"{([^{}]*)}", text) for name in re.findall(r"\w+", field))
        if hidden := names & (_NOT_ATTRIBUTES | _NOT_FIXTURES):
            yield f"it names {min(hidden)}, which tests may not use"
        elif re.fullmatch(r"[A-Z_]*PYTEST[A-Z_]*", text):
            yield f"it asks for {text}, which tells which run this is"

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
        if node.name in self._user_names or self._names.get(node.name) == USER_MODULE:
            yield f"it defines its own {node.name}, which is under test"
        if isinstance(node, ast.ClassDef):
            hooks = {"__getattr__"} | (_NOT_OF_TEST_CASES if is_test_case(node) else set())
            inside = {getattr(item, "name", "") for item in node.body} if is_test(node) else set()
        else:
            hooks = {"__getattr__"} if node in self._tree.body else set()
            inside = {node.name}
            yield from self._with_arguments(node)
        for name in inside:
            if name in hooks or name == "__del__" or name.startswith("pytest_"):
                yield f"it defines {name}, which would change the run"

    def _with_arguments(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
        arguments = {item.arg for item in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
        for hidden in arguments & self._user_names:
            yield f"its parameter {hidden} hides what is under test"
        if not (is_fixture(node) or node.name.startswith(("test", "setup", "teardown"))):
            return
        for name in arguments & _NOT_FIXTURES:
            yield f"it asks for {name}: a test may not look at its own run"
        nodes = [inner for statement in node.body for inner in ast.walk(statement)]
        uses = sum(isinstance(inner, ast.Name) and inner.id == "request" for inner in nodes)
        fine = [
            inner
            for inner in nodes
            if isinstance(inner, ast.Attribute) and _OF_REQUEST.fullmatch(ast.unparse(inner))
        ]
        if "request" in arguments and uses > len(fine):
            yield "it uses request for more than a fixture's parameter, value or cleanup"
        cases = [case for case in self._nodes if isinstance(case, ast.ClassDef) and node in case.body]
        awaited = any(_last(base) == "IsolatedAsyncioTestCase" for case in cases for base in case.bases)
        if isinstance(node, ast.AsyncFunctionDef) and not awaited and not async_plugins(ast.unparse(self._tree)):
            yield "it is an async function, which plain pytest does not run: call asyncio.run in it"

    def _aliased(self) -> Iterator[str]:
        """A module, and `pytest.mark`, may be used for its attributes, not handed around."""
        fine = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        for call in self._calls.values():
            if _last(call.func) in ("setattr", "object", "delattr", "hasattr", "dir", "multiple"):
                fine.update(map(id, call.args))
        for node in self._nodes:
            if isinstance(node, ast.Name | ast.Attribute) and id(node) not in fine:
                path = ".".join(self._path(node))
                if path in _MODULES or path == "pytest.mark":
                    yield f"it hands {path} around"


def _refused(path: list[str]) -> bool:
    """Return True if `path` leads from an imported module to another, to private parts, or where tests may not."""
    for index in range(1, len(path) if path[:1] != [USER_MODULE] else 0):
        before, name = ".".join(path[:index]), path[index]
        allowed = _ATTRIBUTES_OF.get(before)
        private = name.startswith("_") and not name.endswith("__")
        # A module may hold a function of its own name (`copy.copy`), or of another one's (`datetime.time`).
        module = name in sys.stdlib_module_names and name != path[index - 1] and f"{before}.{name}" not in _MODULES
        elsewhere = module and not allowed and before not in ("datetime", "pytest.mark")
        if name not in (allowed or [name]) or private or elsewhere or name in _NOT_ATTRIBUTES:
            return True
    return ".".join(path[:3]) in ("pytest.mark.skip", "pytest.mark.xfail", "unittest.skip")


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.expr) -> ast.Name | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None
