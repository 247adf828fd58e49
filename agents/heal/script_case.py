"""A request to heal a script -> its case."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_regular
from ..records.heal import HealRequest
from ..sandbox import Sandbox, SandboxLimits
from ..syntax.encoding import decoded
from .expectations import read_calls, read_expectations
from .script_run import Invocation
from .scripts import ScriptCase
from .tree import Tree, files_below, never_changes, read_tree

_REFUSED = ("PATH", "HOME")
_REFUSED_PREFIXES = ("LD_", "PYTHON", "DYLD_")
_MOST_STDIN = 8 << 20


def script_case(
    request: HealRequest, sandbox: Sandbox, environment: Mapping[str, str], cancelled: Callable[[], bool]
) -> ScriptCase:
    """Read what a case needs: the script's folder, its standard input, what is expected.

    `environment` has the values of the variables that `request` names. Raises UsageError.
    """
    script = Path(request.path)
    root = script.parent
    if not script.is_file():
        raise UsageError(f"There is no script {script}; give the path of a Python file.")
    named, extra = _data(root, request.data)
    tree = read_tree(root, [script.name, *named], extra)
    expectations = read_expectations(
        request.expect, request.expect_output, request.expect_exit, request.expect_file
    )
    wanted = tuple(check.path for check in expectations.files)
    given = _checked_environment(environment)

    def invocation(arguments: Sequence[str]) -> Invocation:
        return Invocation(script.name, tuple(arguments), _stdin(request.stdin), given, wanted)

    case = ScriptCase(
        sandbox=sandbox,
        limits=SandboxLimits(wall_seconds=request.seconds, cpu_seconds=max(1, round(request.seconds))),
        tree=tree,
        may_change=(script.name, *changeable(tree, script.name, request.may_change)),
        cancelled=cancelled,
        invocation=invocation(request.arguments),
        expectations=expectations,
        keep=tuple(invocation(_split(text)) for text in request.keep),
    )
    return replace(case, expected_calls=read_calls(request.expect_call, case.files))


def _data(root: Path, data: Sequence[str]) -> tuple[list[str], dict[str, Path]]:
    """Return the files that `--data` names, themselves or by their folder: those below `root`, and those from
    elsewhere, which lie beside the script under their own names. Raises UsageError."""
    root = Path(os.path.abspath(root))  # noqa: PTH100
    named: list[str] = []
    elsewhere: dict[str, Path] = {}
    for path in (Path(os.path.abspath(each)) for each in data):  # noqa: PTH100 (`..` goes, and links stay)
        folder, found = path.parent, [path]
        if path.is_dir():
            folder, found = path, [path / inner for inner in files_below(path)]
        files = [each for each in found if each.is_file()]
        if not files:
            raise UsageError(f"--data {path}: there is no file.")
        if path.is_relative_to(root):
            named += [each.relative_to(root).as_posix() for each in files]
        else:
            elsewhere |= {each.relative_to(path.parent).as_posix(): contained(each, folder) for each in files}
    return named, elsewhere


def changeable(tree: Tree, script: str | None, patterns: Sequence[str]) -> tuple[str, ...]:
    """Files that `--may-change` names, tests and configuration left out. Raises UsageError where it names none."""
    found: list[str] = []
    for pattern in patterns:
        matching = [
            path
            for path in tree.files
            if fnmatch(path, pattern) and path.endswith(".py") and path != script
            and not never_changes(path)
        ]  # fmt: skip
        if not matching and not (script and fnmatch(script, pattern)):
            raise UsageError(f"--may-change {pattern} names no Python file below {tree.root} that may change.")
        found += matching
    for path in found if script is None else (script, *found):
        try:
            decoded(tree.files[path])
        except (SyntaxError, ValueError, LookupError) as error:
            raise UsageError(f"{tree.root / path} is not in the encoding that it declares ({error}).") from error
    return tuple(dict.fromkeys(found))


def _checked_environment(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for name in environment:
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


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--keep {text!r} can't be split into arguments ({error}).") from error
