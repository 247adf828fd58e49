"""Finds in a change what makes tests pass by something else than right code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..syntax.clean_text import clean
from ..syntax.encoding import decoded
from ..syntax.source import parse, unparse
from ..worktree.tree import Tree, never_changes
from .base import Base
from .records import Tampering

_RUNNERS = re.compile(
    r"pytest|py\.test|unittest|conftest|\bnose2?\b|\btests?/|\btest_\w+\.py|^(CI|GITHUB_ACTIONS|GITLAB_CI|TOX_\w+)$",
    re.IGNORECASE,
)
_ASKS = "it asks for what runs the tests"
_TELLS = re.compile(r"\bargv\b|environ|getenv|__file__|getcwd|co_filename|sys\.path\b")
_FRAMES = frozenset({
    *("_getframe", "_current_frames", "currentframe", "extract_stack", "format_stack", "getouterframes"),
    *("gettrace", "getprofile", "get_referrers", "get_objects"),
})  # fmt: skip
"""Names of attributes by which code looks at what calls it."""
_ENDS = frozenset({"os._exit", "os.abort", "os.kill", "os.killpg", "signal.raise_signal"})
_SHARED = frozenset({"builtins", "sys.modules", "pytest", "_pytest", "unittest"})
_COMPARES = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"})
_WORKFLOWS = re.compile(
    r"\.github/workflows/.*\.ya?ml|\.gitlab-ci\.yml|\.gitlab/.*\.ya?ml|\.circleci/.*|azure-pipelines\.yml|"
    r"\.pre-commit-config\.yaml|Makefile|GNUmakefile|tox\.ini|noxfile\.py|Jenkinsfile|\.travis\.yml|justfile"
)
_IGNORES = re.compile(
    r"\|\|\s*(true|:|exit\s+0|echo\b)|continue-on-error:\s*(true|yes|\$)|allow_failure:\s*(true|yes)|"
    r"^\s*(-\s*)?set\s+\+e\b|;\s*(true|exit\s+0)\s*$|ignore_outcome\s*=\s*true|if:\s*(false|\$\{\{\s*false)|success_codes",
    re.IGNORECASE,
)
_DASHED = re.compile(r"^(\s+|commands\w*\s*=\s*)-\s*\w")
"""A command whose failure make or tox ignores; in YAML an item of a list."""
_RUNS_TESTS = re.compile(
    r"\b(pytest|py\.test|tox|nox|unittest|nose2|make (test|check)\w*|hatch (run )?test|greenloop)\b"
)
_NO_STEP = re.compile(r"(- )?(#|\[|name:|pip |uv |deps\b)|.*\binstall\b")
_FEWER = re.compile(r"\s(-k|-m|--deselect|--ignore(-glob)?|--collect-only|--co|--lf|--last-failed)\b")
"""Options of pytest by which fewer tests are run, or none."""
_MOST = 12
"""Special cases that are tried."""
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SpecialCase:
    """New code that asks for a literal which the code of the base asks for nowhere; `without` is the text of the
    whole file with no such case."""

    path: str
    line: int
    text: str
    without: str


def tampering(tree: Tree, base: Base, imported: Collection[str]) -> Iterator[Tampering]:
    """Yield what stands in the files that differ from the base's, and not in those: in tests and what is beside
    them, in code that tests have `imported`, and in workflows."""
    for path in base.differing:
        old, new = base.tree.files.get(path, b""), tree.files.get(path, b"")
        if _WORKFLOWS.fullmatch(path):
            yield from _in_workflow(path, old, new)
        elif path.endswith(".py") and (never_changes(path) or path in imported):
            look = _in_tests if never_changes(path) else _in_code
            known = [text for _, text, _ in look(old)]
            for line, text, why in look(new):
                if text in known:
                    known.remove(text)
                elif why != _ASKS or b"pytest" not in old:
                    yield Tampering(clean(path), line, f"{why}: {clean(text)[:200]}")
    yield from _removed_steps(tree, base)


def _parsed(data: bytes) -> ast.Module:
    try:
        return parse(decoded(data))
    except (ValueError, SyntaxError):
        return ast.Module([], [])


Found = tuple[int, str, str]
"""Line, text and reason."""


def _in_code(data: bytes) -> Iterator[Found]:
    """Yield what code does to look at or change what runs it, or to compare equal to anything."""
    module = _parsed(data)
    documented = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    guarded = {
        id(inner)
        for node in module.body
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(module):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documented and _RUNNERS.search(text):
                yield node.lineno, text, _ASKS
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                modules = (
                    [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in names]
                )
                if any(_RUNNERS.search(each) or each == "__main__" for each in modules):
                    yield node.lineno, unparse(node), _ASKS
                elif isinstance(node, ast.ImportFrom) and {each.name for each in names} & {*_FRAMES, "stack"}:
                    yield node.lineno, unparse(node), "it asks who calls it"
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[other]) if _is_modules(other):
                yield node.lineno, unparse(node), _ASKS
            case ast.Subscript(value=other, slice=ast.Constant(value="__main__")) if _is_modules(other):
                yield node.lineno, unparse(node), _ASKS
            case ast.For(iter=other) | ast.comprehension(iter=other) if _is_modules(other):
                yield other.lineno, unparse(other), _ASKS
            case ast.Compare() if _TELLS.search(text := unparse(node)) and "test" in text.lower():
                yield node.lineno, text, _ASKS
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in _FRAMES or unparse(node) == "inspect.stack":
                yield node.lineno, unparse(node), "it asks who calls it"
            case ast.Call(func=ast.Attribute() as function) if (name := unparse(function)) in _ENDS:
                yield node.lineno, name, "it ends the process"
            case ast.FunctionDef(name=name) if name in _COMPARES and _is_blind(node):
                yield node.lineno, f"def {name}", "it compares without looking at what it is compared with"
            case ast.ClassDef(name=name, bases=bases) if any("Mock" in unparse(each) for each in bases):
                yield node.lineno, f"class {name}", "it is a mock"
        for target in _assigned(node):
            if unparse(target).rsplit("[")[0] in _SHARED or unparse(target).rpartition(".")[0] in _SHARED:
                yield node.lineno, unparse(node), "it changes what all code shares"  # type: ignore[attr-defined]
    for node in module.body:
        if id(node) not in guarded and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and unparse(inner.func) in ("sys.exit", "exit", "quit"):
                    yield inner.lineno, unparse(inner), "it ends the process when it is imported"


def _is_modules(node: ast.expr) -> bool:
    return unparse(node).removesuffix(".keys()").removeprefix("list(").rstrip("()") == "sys.modules"


def _assigned(node: ast.AST) -> list[ast.expr]:
    """Return attributes and items that a statement sets, also by `setattr`."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            targets = [target]
        case ast.Delete(targets=targets):
            pass
        case ast.Call(func=ast.Name(id="setattr"), args=[owner, *_]):
            targets = [ast.Attribute(owner, "_", ast.Store())]
    return [each for each in targets if isinstance(each, ast.Attribute | ast.Subscript)]


def _is_blind(node: ast.FunctionDef) -> bool:
    """Return True for a method that returns something, and does not use its argument."""
    arguments = [each.arg for each in node.args.args]
    used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
    told = [each for each in returned if each is not None and unparse(each) != "NotImplemented"]
    constant = all(isinstance(each, ast.Constant) for each in told)
    return bool(told) and len(arguments) == 2 and (arguments[1] not in used or constant)


def _in_tests(data: bytes) -> Iterator[Found]:
    """Yield what tests and what is beside them do to end the run, or to say how it went."""
    for node in ast.walk(_parsed(data)):
        match node:
            case ast.Call(func=function) if (name := unparse(function)) in {*_ENDS, "pytest.exit"} - {"os.kill"}:
                yield node.lineno, name, "it ends the run"
            case ast.Attribute(attr="outcome" | "longrepr" | "exitstatus" | "testsfailed", ctx=ast.Store()):
                yield node.lineno, unparse(node), "it says how a test ended"
            case ast.FunctionDef(
                name="pytest_runtest_protocol" | "pytest_pyfunc_call" | "pytest_runtestloop" as name
            ):
                yield node.lineno, f"def {name}", "it takes over the running of tests"


def _in_workflow(path: str, old: bytes, new: bytes) -> Iterator[Tampering]:
    """Yield the new lines that have failures ignored."""
    known = [line.strip() for line in old.decode("utf-8", "replace").splitlines()]
    for number, line in enumerate(new.decode("utf-8", "replace").splitlines(), 1):
        if line.strip() in known:
            known.remove(line.strip())
        elif line.lstrip().startswith("#"):
            continue
        elif _IGNORES.search(line) or (_DASHED.search(line) and not path.endswith(("yml", "yaml"))):
            yield Tampering(clean(path), number, f"failures are ignored: {clean(line.strip())[:200]}")
        elif _RUNS_TESTS.search(line) and _FEWER.search(line.partition("pytest")[2]):
            yield Tampering(clean(path), number, f"fewer tests are asked for: {clean(line.strip())[:200]}")


def _removed_steps(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield the files of workflows in which no test is run any more, or fewer times, and in no other one more."""

    def count(files: Mapping[str, bytes], path: str) -> int:
        text = files.get(path, b"").decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if not _NO_STEP.match(line.strip())]
        return sum(bool(_RUNS_TESTS.search(line)) for line in lines)

    paths = [path for path in base.differing if _WORKFLOWS.fullmatch(path)]
    lost = [path for path in paths if count(base.tree.files, path) > count(tree.files, path)]
    if sum(count(tree.files, path) - count(base.tree.files, path) for path in paths) < 0:
        for path in lost:
            yield Tampering(clean(path), 1, "a step that runs the tests is gone")


def special_cases(tree: Tree, base: Base) -> list[SpecialCase]:
    """Return what new lines of code ask for by literals that stand in tests and nowhere in the base's code."""
    known, told = _constants(base.tree, of_tests=False), _constants(base.tree, of_tests=True)
    found: list[SpecialCase] = []
    for path, lines in base.lines.items():
        module = _parsed(tree.files[path])
        for case in list(_asked(module)):
            node = case.node
            new = [key for key in case.keys if _is_telling(key) and key not in known and _parts(key) <= told]
            if new and lines.intersection(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
                text = unparse(node).split("\n")[0]
                case.put(case.without(new))
                found.append(SpecialCase(path, node.lineno, text, unparse(module) + "\n"))
                case.put(node)
    return found[:_MOST]


def _constants(tree: Tree, *, of_tests: bool) -> set[object]:
    """Return the literals in the code or in the tests, and what numbers and words stand in their texts."""
    found: set[object] = set()
    for path, data in tree.files.items():
        if path.endswith(".py") and never_changes(path) == of_tests:
            for node in ast.walk(_parsed(data)):
                if isinstance(node, ast.Constant | ast.Tuple | ast.List | ast.UnaryOp):
                    for key in _literals([node]):
                        found |= _parts(key) | {key}
                        for word in _WORDS.findall(key) if isinstance(key, str) else ():
                            found |= {word, int(word)} if word.isdecimal() and word.isascii() else {word}
    return found


def _parts(key: object) -> set[object]:
    return {inner for part in key for inner in _parts(part)} if isinstance(key, tuple) else {key}


def _is_telling(key: object) -> bool:
    """Return False for values that honest code has branches for."""
    if isinstance(key, str | bytes):
        return len(key) > 1
    return not (key is None or isinstance(key, bool) or key in (0, 1, -1, 2, ()))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A place in a tree, and the literals that it has something for; `without` makes what it is without some."""

    parent: ast.AST
    name: str
    index: int | None
    node: ast.expr | ast.pattern
    keys: list[Any]
    without: Callable[[Sequence[Any]], ast.AST]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.index] = node


def _asked(module: ast.Module) -> Iterator[_Asked]:
    """Yield each comparison, table and pattern."""
    for parent in ast.walk(module):
        for name, value in ast.iter_fields(parent):
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if keys := _keys(node):
                    at = index if isinstance(value, list) else None
                    yield _Asked(parent, name, at, node, keys, partial(_without, node))


def _keys(node: object) -> list[Any]:
    match node:
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot()], left=left, comparators=[right]):
            return _literals([left, right])
        case ast.Compare(
            ops=[ast.In() | ast.NotIn()], comparators=[ast.Tuple(parts) | ast.List(parts) | ast.Set(parts)]
        ):
            return _literals(parts)
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith" | "__eq__"), args=parts):
            return _literals(parts)
        case ast.BoolOp(op=ast.And(), values=values):
            alike = [key for each in values if isinstance(each, ast.Compare) for key in _keys(each)]
            return [tuple(alike)] if len(alike) > 1 else []
        case ast.Dict(keys=keys):
            return _literals([key for key in keys if key is not None])
        case ast.Set(elts=parts):
            return _literals(parts)
        case ast.MatchValue(value=literal):
            return _literals([literal])
    return []


def _without(node: ast.AST, keys: Sequence[Any]) -> ast.AST:
    match node:
        case ast.Compare(ops=[operator]):
            return ast.Constant(isinstance(operator, ast.NotEq | ast.IsNot | ast.NotIn))
        case ast.BoolOp() | ast.Call():
            return ast.Constant(False)
        case ast.Dict(keys=names, values=values):
            kept = [
                (name, value)
                for name, value in zip(names, values, strict=True)
                if name is None or not {*_literals([name])} & {*keys}
            ]
            return ast.Dict([name for name, _ in kept], [value for _, value in kept])
        case ast.Set():
            return ast.Call(ast.Name("set"), [], [])
    return ast.MatchValue(ast.Constant("\0 no such value"))


def _literals(nodes: Sequence[ast.expr]) -> list[Any]:
    """Return the values of those nodes that are literals, lists and the like as tuples."""
    found = []
    for node in nodes:
        try:
            found.append(_frozen(ast.literal_eval(node)))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
    return found


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        value = [part for item in value.items() for part in item]
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple | set) else value
