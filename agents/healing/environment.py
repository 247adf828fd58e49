"""Finds failures that no patch can fix: something that the sandbox lacks, or that the command has to give."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from ..records.heal import RaisedError
from ..sandbox.interpreter import Interpreter
from ..worktree.tree import Tree

_NETWORK_KINDS = frozenset({"gaierror", "herror", "URLError", "ConnectionError", "ConnectTimeout", "ConnectError",
                            "NewConnectionError", "MaxRetryError", "NameResolutionError"})  # fmt: skip
_NETWORK_FILES = ("socket.py", "ssl.py", "http/client.py", "urllib/request.py", "asyncio/base_events.py")
_NETWORK_NUMBERS = frozenset({97, 99, 100, 101, 111, 113})
"""Linux error numbers: no address family, no address, network down or unreachable, refused, no route."""


def environment_fault(
    errors: Sequence[RaisedError], tree: Tree, interpreter: Interpreter, *, has_stdin: bool
) -> str | None:
    """Return a sentence with the remedy for the first of `errors` that comes of the environment; None without one,
    when the code is at fault."""
    return next(filter(None, (_fault(each, tree, interpreter, has_stdin=has_stdin) for each in errors)), None)


def arguments_fault(error: RaisedError, tree: Tree) -> str | None:
    """Return a sentence with the remedy if `error` is that of a script that got no arguments; else None."""
    few = error.kind == "IndexError" or error.message.startswith("not enough values to unpack")
    if not few or not error.frames:
        return None
    lines = tree.files.get(error.frames[0].path, b"").splitlines()[error.frames[0].line - 1 :][:1]
    return "The script needs arguments, and got none; give them behind --." if b"argv" in b"".join(lines) else None


def _fault(error: RaisedError, tree: Tree, interpreter: Interpreter, *, has_stdin: bool) -> str | None:
    if "ModuleNotFoundError" in error.bases and error.name:
        return _missing_module(error.name.split(".")[0], tree, interpreter)
    if _is_network(error):
        return "The script needs the network, which no sandbox has; record what it fetches, and give it by --data."
    if "EOFError" in error.bases and not has_stdin and "EOF when reading" in error.message:
        return "The script reads standard input; give it with --stdin FILE."
    if "KeyError" in error.bases and error.raised_in.endswith(("os.py", "<frozen os>")):
        name = error.message.strip("'\"")
        return f"The script needs the environment variable {name}; give it with --env {name}=VALUE."
    if "no display" in error.message or "cannot connect to display" in error.message.lower():
        return "The script opens windows, and the sandbox has no display."
    if "FileNotFoundError" in error.bases or "PermissionError" in error.bases:
        return _missing_file(error, tree)
    return None


def _missing_module(name: str, tree: Tree, interpreter: Interpreter) -> str | None:
    own = {Path(path).parts[0].removesuffix(".py") for path in tree.files}
    left_out = [path for path in tree.left_out if Path(path).parts[0].removesuffix(".py") == name]
    place = tree.root / name
    if left_out or place.is_dir() or place.with_suffix(".py").exists():
        return f"The module {name} was not copied into the sandbox; add it with --data {place}."
    known = {*interpreter.importable, *sys.stdlib_module_names, *own}
    near = [each for each in known if each[:1] == name[:1] and abs(len(each) - len(name)) <= 1]
    if difflib.get_close_matches(name, near, n=1, cutoff=0.75):  # a typo, which a patch can fix
        return None
    return (
        f"The module {name} is not installed in {interpreter.executable}; install what provides it there, or name "
        "another interpreter with --python."
    )


def _missing_file(error: RaisedError, tree: Tree) -> str | None:
    if error.filename is None:
        return None
    named = Path(error.filename)
    place = tree.root / named
    inside = any(part == "case" for part in named.parts) and named.is_absolute()
    if inside:
        place = tree.root.joinpath(*named.parts[named.parts.index("case") + 1 :])
    if place.exists() and (named.is_absolute() and not inside):
        return f"The sandbox has no {named}; put a copy beside the script, and give that with --data."
    if place.exists() and place.is_relative_to(tree.root):
        path = place.relative_to(tree.root).as_posix()
        if path not in tree.files:
            return f"{path} was not copied into the sandbox; add it with --data {place}."
    return None


def _is_network(error: RaisedError) -> bool:
    if _NETWORK_KINDS.intersection(error.bases) or (error.errno in _NETWORK_NUMBERS and "OSError" in error.bases):
        return True
    return "OSError" in error.bases and error.raised_in.endswith(_NETWORK_FILES)
