"""Checks a request to heal, and opens it as a case."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from ..checked import check
from ..errors import UsageError
from ..files import contained, read_regular
from ..records.heal import HealRequest
from ..sandbox import Sandbox, SandboxLimits
from ..syntax.encoding import decoded
from ..syntax.source import parses
from ..syntax.units import unit_named
from ..verifier import inside_bytecode
from ..worktree.tree import Tree, files_below, is_wanted, never_changes, read_tree
from .call_process import STAND_INS
from .case import Invocation
from .expectations import read_calls, read_expectations
from .scripts import ScriptCase
from .tests_case import TestsCase

_REFUSED = ("PATH", "HOME")
_REFUSED_PREFIXES = ("LD_", "PYTHON", "DYLD_")
_MOST_STDIN = 8 << 20
_MARKS = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", ".git")
"""Names in the top folder of a project."""
_CPU_SHARE = 2
"""Processor seconds of tests for each second of wall time: they may use two cores."""
_INERT = Path(inside_bytecode.__file__).with_name("inside") / "call_process" / "inert_decorators.py"
_EXPECTED = {
    **{"keep": "--keep", "expect": "--expect", "expect_output": "--expect-output"},
    **{"expect_exit": "--expect-exit", "expect_file": "--expect-file", "arguments": "What stands behind --"},
}
_OF_SCRIPTS = {**_EXPECTED, "stdin": "--stdin", "environment": "--env"}
"""The fields of a request that have no meaning with tests."""
_KEPT = {**_EXPECTED, "may_change": "--may-change", "tests": "--test"}
"""Those of a record that nothing changes."""
_PACKAGE = """

replace_packages([__name__])


def __getattr__(name: str) -> Any:
    return getattr(_Package("greenloop"), name)
"""


def resolved(request: HealRequest, folder: Path = Path()) -> HealRequest:
    """Return a request for the record: paths absolute (from `folder`), FILE.py::NAME split into file and name.

    Raises UsageError for an invalid value, and where tests and files that may change don't fit the target.
    """
    check(request)
    path, _, name = request.path.partition("::")
    name = request.name or name
    whole = folder / path
    is_folder = os.path.isdir(whole)  # noqa: PTH112 - raises nothing
    if name and not request.tests:
        raise UsageError(f"Say which test {path}::{name} fails: --test tests/test_it.py::test_name")
    if is_folder and not (request.tests and request.may_change):
        raise UsageError(f"{path} is a folder; name what fails and what may change: --tests, --may-change.")
    if request.tests and not name and not is_folder:
        raise UsageError(f"Tests go with a function or a project; name it: {path}::NAME")
    if request.tests and (option := _said(request, _OF_SCRIPTS)):
        raise UsageError(f"{option} is said of a script, and here tests say what fails; leave it out.")
    return replace(
        request,
        path=str(whole.absolute()),
        name=name or None,
        tests=tuple(_absolute(each, folder) for each in request.tests),
        stdin=request.stdin and str((folder / request.stdin).absolute()),
        data=tuple(str((folder / each).absolute()) for each in request.data),
    )


def _absolute(reference: str, folder: Path) -> str:
    path, colons, rest = reference.partition("::")
    return f"{(folder / path).absolute()}{colons}{rest}"


def _said(request: HealRequest, options: Mapping[str, str]) -> str:
    """Return the first of `options`, by their fields, that `request` gives; empty for none."""
    blank = HealRequest(path="")
    return next((option for name, option in options.items() if getattr(request, name) != getattr(blank, name)), "")


def check_recorded(request: HealRequest, given: HealRequest) -> None:
    """Raise UsageError unless all files of a recorded request are `given` too, or lie below its folder and are no
    secrets, and a run takes at most its seconds; also where it gives what the record decides.

    A record is untrusted: the user has to name again what its script reads, since that may get into prompts.
    """
    if option := _said(given, _KEPT):
        raise UsageError(f"{option} is kept as this heal was begun with it; leave it out, or begin a new heal.")
    tests = [each.partition("::")[0] for each in request.tests]
    top = Path(given.path).resolve()
    named = [Path(each).resolve() for each in (*given.data, *filter(None, [given.stdin]))]
    for path in (request.path, *tests, *request.data, *filter(None, [request.stdin])):
        place = contained(Path(path), Path(Path.cwd().anchor))
        own = place.is_relative_to(top) and is_wanted(place.relative_to(top).as_posix())
        if not own and not any(map(place.is_relative_to, named)):
            raise UsageError(
                f"The record of this heal names {path}, which lies outside of {top} or is taken by its name only; "
                "go on with it from there, or name that too: heal FOLDER --resume RUN, --data, --stdin."
            )
    if request.seconds > given.seconds:
        raise UsageError(f"This heal was begun with --seconds {request.seconds:g}; give that again, or more.")


def open_case(
    request: HealRequest, sandbox: Sandbox, environment: Mapping[str, str], cancelled: Callable[[], bool]
) -> ScriptCase | TestsCase:
    """Return the case of a request; `environment` has the script's variables. Raises UsageError."""
    if request.tests:
        return tests_case(request, sandbox, cancelled)
    script = Path(request.path)
    root = script.parent
    if not os.path.isfile(script):  # noqa: PTH113 - raises nothing
        raise UsageError(f"There is no script {script}; give the path of a Python file.")
    named, extra = _data(root, request.data)
    tree = read_tree(root, [script.name, *named], extra)
    expectations = read_expectations(request)
    texts = _changeable(tree, script.name, request.may_change)
    text = texts[script.name]
    if not (script.name.endswith((".py", ".pyw")) or text.startswith("#!") or parses(text)):
        raise UsageError(f"{script} is no Python by its name or its text; give the path of a Python file.")
    expected = read_calls(request.expect_call, texts)
    run = Invocation(
        script.name,
        request.arguments,
        _stdin(request.stdin),
        _checked_environment(environment),
        wanted=tuple(check.path for check in expectations.files),
    )
    return ScriptCase(
        sandbox=sandbox,
        limits=_limits(request, 1),
        tree=tree,
        texts=texts,
        cancelled=cancelled,
        expected_calls=expected,
        invocation=replace(run, asked=tuple(each.call for each in expected)),
        expectations=expectations,
        keep=tuple(replace(run, arguments=_split(text)) for text in request.keep),
    )


def _data(root: Path, data: Sequence[str]) -> tuple[list[str], dict[str, Path]]:
    """Return the files of `--data` (of a folder all but secrets): the paths of those below `root`, and the others
    by the path at which they are copied beside the script. Raises UsageError."""
    root = Path(os.path.abspath(root))  # noqa: PTH100
    named: list[str] = []
    elsewhere: dict[str, Path] = {}
    for path in (Path(os.path.abspath(each)) for each in data):  # noqa: PTH100 (removes `..`, keeps links)
        folder, found = path.parent, [path]
        if path.is_dir():
            folder, found = path, [path / inner for inner in files_below(path) if is_wanted(inner)]
        files = [each for each in found if each.is_file()]
        if not files:
            raise UsageError(f"--data {path}: there is no file.")
        if path.is_relative_to(root):
            named += [each.relative_to(root).as_posix() for each in files]
        else:
            elsewhere |= {each.relative_to(path.parent).as_posix(): contained(each, folder) for each in files}
    return named, elsewhere


def _limits(request: HealRequest, share: int) -> SandboxLimits:
    limits = SandboxLimits(wall_seconds=request.seconds)
    return replace(limits, cpu_seconds=max(1, round(request.seconds * share)))


def _changeable(tree: Tree, script: str | None, patterns: Sequence[str]) -> dict[str, str]:
    """Return the texts of the file `script` and of those that `--may-change` names, without tests, configuration
    and names that would break a diff. Raises UsageError for a pattern that names no file."""
    found = [script] if script else []
    for pattern in patterns:
        matching = [
            path
            for path in tree.files
            if fnmatch(path, pattern) and path.endswith(".py") and path.isprintable() and path != script
            and not never_changes(path)
        ]  # fmt: skip
        if not matching and not (script and fnmatch(script, pattern)):
            raise UsageError(f"--may-change {pattern} names no Python file below {tree.root} that may change.")
        found += matching
    texts: dict[str, str] = {}
    for path in found:
        try:
            texts[path] = decoded(tree.files[path])
        except (SyntaxError, ValueError, LookupError) as error:
            raise UsageError(f"{tree.root / path} is not in the encoding that it declares ({error}).") from error
    return texts


def _checked_environment(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for name, value in environment.items():
        if not isinstance(value, str) or "\0" in value:
            raise UsageError(f"The variable {name} can't be {value!r}; give a text without NUL.")
        if name in _REFUSED or name.startswith(_REFUSED_PREFIXES) or not name or "=" in name:
            raise UsageError(f"--env {name} can't be set: it says which programs and libraries run.")
    return tuple(environment.items())


def _stdin(path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        data = read_regular(Path(path), most=_MOST_STDIN + 1)
    except OSError as error:
        raise UsageError(f"--stdin {path} can't be read ({error.strerror}).") from error
    if len(data) > _MOST_STDIN:
        raise UsageError(f"--stdin {path} is longer than {_MOST_STDIN >> 20} MiB; give a shorter file.")
    return data


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--keep {text!r} can't be split into arguments ({error}).") from error


def tests_case(request: HealRequest, sandbox: Sandbox, cancelled: Callable[[], bool]) -> TestsCase:
    """Return the case of a project with failing tests. Raises UsageError."""
    path = Path(request.path)
    if not path.exists():
        raise UsageError(f"There is no {path}; give the path of a Python file or of a project's folder.")
    if path.is_file() and never_changes(path.name):
        raise UsageError(f"{path} holds tests or configuration, which never change; name the code that they test.")
    tests = [Path(reference.partition("::")[0]) for reference in request.tests]
    root = path if path.is_dir() else _root(path, tests)
    for each in tests:
        if not each.exists():
            raise UsageError(f"There is no {each}; name tests as pytest does: tests/test_it.py::test_name")
        if not each.resolve().is_relative_to(root.resolve()):
            raise UsageError(f"{each} lies outside of {root}; name tests of that project.")
    own = None if path.is_dir() else _relative(path, root)
    named = [_relative(each, root) for each in tests if each.is_file()]
    data, extra = _data(root, request.data)
    tree = read_tree(root, [*([own] if own else []), *named, *data], extra)
    pairs = zip(tests, request.tests, strict=True)
    references = tuple(_relative(each, root) + reference[len(str(each)) :] for each, reference in pairs)
    texts = _changeable(tree, own, request.may_change)
    if own and request.name is not None:
        try:
            unit_named(own, texts[own], request.name, (), 0)
        except ValueError as error:
            raise UsageError(f"{path}: {error}; name a function or a method: FILE.py::Class.method") from error
    return TestsCase(
        sandbox=sandbox,
        limits=_limits(request, _CPU_SHARE),
        tree=tree,
        texts=texts,
        cancelled=cancelled,
        expected_calls=read_calls(request.expect_call, texts),
        wanted=references,
        target=(own, request.name) if own and request.name is not None else None,
    )


def _root(path: Path, tests: list[Path]) -> Path:
    """Return the top folder of a project: the nearest above a file and its tests that has a project's marks."""
    common = Path(os.path.commonpath([path.parent, *(each.parent for each in tests)]))
    for folder in (common, *common.parents):
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return common


def _relative(path: Path, root: Path) -> str:
    return contained(path, root).relative_to(root.resolve()).as_posix()


def call_tests(
    path: Path, files: Sequence[Path], sandbox: Sandbox, seconds: float, cancelled: Callable[[], bool]
) -> TestsCase:
    """Return the case of pytest `files` for a function of the module `path`.

    They run in the project's own pytest, on a copy where greenloop's decorators do nothing. Raises UsageError.
    """
    request = HealRequest(path=str(path), tests=tuple(map(str, files)), seconds=seconds)
    case = tests_case(request, sandbox, cancelled)
    inert = (_INERT.read_text(encoding="utf-8") + _PACKAGE).encode()
    own = {file.partition("/")[0] for file in case.tree.files}
    stand_ins = {f"{name}/__init__.py": inert for name in STAND_INS if name not in own}
    tree = replace(case.tree, files={**case.tree.files, **stand_ins})
    return replace(case, tree=tree, arguments=case.wanted)
