"""Answers calls of a program's functions in forks of its process, with its modules as the program left them."""

from __future__ import annotations

import ast
import base64
import contextlib
import dis
import importlib
import inspect
import io
import itertools
import json
import os
import pickle
import select
import signal
import stat
import sys
import time
import types
from pathlib import Path

from .calls import DEEPEST, MOST_ITEMS, NO_END, listed, plain, shown
from .reached import reached_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .calls import Calls

_CALL_SECONDS = 1.0
_ALL_SECONDS = 5.0
_OUTSIDE_SECONDS = 15.0
_MOST_OUTPUT = 4000
_MOST_BYTES = 200_000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = {"open": 1, "os.rename": 2, "os.remove": 1}
"""Audit events of Python, each with the number of its leading arguments that are paths."""
_MOST_FILES = 20
_MOST_WRITTEN = 64 << 10


def main() -> None:
    """Write the answers to the calls in a file; the last arguments are `CALLS ANSWERS TREE`."""
    asked, told, tree = sys.argv[-3:]
    sys.argv = [""]
    calls = json.loads(Path(asked).read_text(encoding="utf-8"))
    for path in dict.fromkeys(path for path, _ in calls):
        with contextlib.suppress(Exception):  # each call raises it again
            module_at(tree, path)
    Path(told).write_text(json.dumps([*Answers(tree, seconds=_OUTSIDE_SECONDS).in_turn(calls)]), encoding="utf-8")


class Answers:
    """Answers calls of functions in files below `tree`, and adds the calls that they make to `made`."""

    def __init__(self, tree: str, made: Calls | None = None, seconds: float = _ALL_SECONDS) -> None:
        self._tree = tree.rstrip(os.sep)
        self._made = made
        self._end = time.monotonic() + seconds

    def alone(self, call: list[str]) -> dict[str, Any] | None:
        """Return the answer to one call (path and source), made in a fork of its own."""
        return next(self.in_turn([call]))

    def in_turn(self, calls: list[list[str]]) -> Iterator[dict[str, Any] | None]:
        """Yield the answers to calls made in turn in one fork, and in another fork after a call that ends it or
        hangs. None after the timeout of all calls."""
        at = 0
        while at < len(calls):
            if time.monotonic() + _CALL_SECONDS > self._end:
                yield from [None] * (len(calls) - at)
                return
            for told in self._forked(calls[at:]):
                at += 1
                if self._made is not None:
                    self._made.add(*told.pop("calls"))
                yield told
            if at < len(calls):
                at += 1
                no_end = {"value": None, "raises": NO_END, "seconds": _CALL_SECONDS}
                yield {**no_end, "output": "", "arguments": "", "state": ""}

    def _forked(self, calls: list[list[str]]) -> Iterator[dict[str, Any]]:
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                files = WrittenFiles()
                with os.fdopen(sending, "wb") as pipe:
                    for each in calls:
                        pipe.write(json.dumps(self._answer_here(files, *each)).encode() + b"\n")
                        pipe.flush()
            finally:
                os._exit(0)
        os.close(sending)
        begun = b""
        end = time.monotonic() + _CALL_SECONDS
        try:
            while (left := end - time.monotonic()) > 0 and len(begun) < _MOST_BYTES:
                if not select.select([receiving], [], [], left)[0] or not (part := os.read(receiving, 1 << 16)):
                    break
                *lines, begun = (begun + part).split(b"\n")
                end = time.monotonic() + _CALL_SECONDS if lines else end
                yield from (dict(json.loads(line)) for line in lines)
        except (ValueError, TypeError):
            return  # the program has written to the pipe itself
        finally:
            os.close(receiving)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def _answer_here(self, files: WrittenFiles, path: str, source: str) -> dict[str, Any]:
        """Make one call in this process and return its answer."""
        scope = {**vars(module_at(self._tree, path)), "having": _having, "applied": _applied}
        node: Any = ast.parse(source, mode="eval").body
        args, keywords, function = _arguments(node, scope)
        before = _arguments_text(args, keywords)
        answer: dict[str, Any] = {"value": None, "raises": None}
        receiver: Any = None
        held = _state(receiver)
        printed = io.StringIO()
        began = time.process_time()
        files.begin()
        noting = contextlib.nullcontext() if self._made is None else reached_by(self._tree, calls=self._made)
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), noting:
                vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)  # captures writes to these, too
                found = eval(compile(ast.Expression(function), "<call>", "eval"), scope)
                receiver = getattr(found, "__self__", None)
                held = _state(receiver)
                is_value = function is node or not (args or keywords or callable(found))  # a property
                value = found if is_value else found(*args, **keywords)
                value = _awaited(value)
                answer["value"] = shown(value)
                answer["twice"] = next(_shared_containers(value, set()), "")
        except BaseException as error:
            answer["raises"] = type(error).__qualname__
            answer["deliberate"] = self._is_deliberate(error)
        if self._made is not None:
            answer["calls"] = [list(self._made.found), list(self._made.left_out)]
        seconds = time.process_time() - began
        after, state = _arguments_text(args, keywords), _state(receiver)
        written = {path: text[:_MOST_OUTPUT] for path, text in files.end().items()}
        return {
            **answer,
            "seconds": seconds,
            "output": printed.getvalue()[:_MOST_OUTPUT],
            "arguments": after if after != before else "",
            "state": state if held != state else "",
            "files": shown(written) if written else "",
        }

    def _is_deliberate(self, error: BaseException) -> bool:
        """Return True if a statement of the program's own files raised it."""
        trace: Any = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        code = trace.tb_frame.f_code
        own: bool = code.co_filename.startswith(self._tree + os.sep)
        return own and code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def module_at(tree: str, path: str) -> types.ModuleType:
    """Return the module of a file of a tree, imported unless it has been."""
    place = str(Path(tree, path))
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == place:
            return module
    top = Path(place).parent
    while (top / "__init__.py").exists():
        top = top.parent
    sys.path.insert(0, str(top))
    parts = Path(place).relative_to(top).with_suffix("").parts
    return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def _arguments(node: Any, scope: dict[str, Any]) -> tuple[list[Any], dict[str, Any], Any]:
    """Return the values of a call's arguments, and its function; none and the whole call where an argument is
    neither plain data nor an object written as `having(...)`."""

    def made(part: Any) -> Any:
        if _is_object(part):
            return eval(compile(ast.Expression(part), "<call>", "eval"), scope)
        names = [scope.get(each.id) for each in ast.walk(part) if isinstance(each, ast.Name)]
        if any(getattr(each, "__module__", None) == scope["__name__"] for each in names):
            raise ValueError
        return plain.value_of(part)

    with contextlib.suppress(Exception):  # an object's own `repr` may raise
        args, keywords = [*map(made, node.args)], {each.arg: made(each.value) for each in node.keywords}
        _arguments_text(args, keywords)
        return args, keywords, node.func
    return [], {}, node


def _is_object(part: Any) -> bool:
    """Return True for `having(Class, ...)` and for a list that begins with one."""
    first = (getattr(part, "elts", None) or [part])[0] if isinstance(part, ast.List) else part
    return getattr(getattr(first, "func", None), "id", "") == "having"


def _state(receiver: Any) -> str:
    """Return the text of an object's public attributes; equivalent programs may differ in the private ones."""
    return shown({name: each for name, each in getattr(receiver, "__dict__", {}).items() if name[:1] != "_"})


def _arguments_text(args: list[Any], keywords: dict[str, Any]) -> str:
    return f"({listed(args, keywords, shown)})"


def _shared_containers(value: Any, known: set[int], depth: int = 0) -> Iterator[str]:
    """Yield the texts of mutable containers that are in plain data more than once, as in `[[0]] * 2`."""
    if type(value) not in (list, tuple, dict, set) or depth > DEEPEST or len(known) > MOST_ITEMS:
        return
    if id(value) in known:
        yield from () if type(value) is tuple else [shown(value)]
        return
    known.add(id(value))
    for each in value.values() if type(value) is dict else value:
        yield from _shared_containers(each, known, depth + 1)


def _having(kind: type, /, **state: Any) -> Any:
    """Return an object of a class with these attributes, made without a call of the class."""
    made: Any = object.__new__(kind)
    vars(made).update(state)
    return made


def _applied(function: Any, pickled: str) -> Any:
    """Call a function with pickled arguments."""
    positional, keywords = pickle.loads(base64.b64decode(pickled))
    return function(*positional, **keywords)


def _awaited(value: Any) -> Any:
    """Return the result of a coroutine and the first items of an iterator; any other value itself."""
    if inspect.iscoroutine(value):
        import asyncio

        return asyncio.run(value)
    if hasattr(value, "__next__"):
        return ["yields", *itertools.islice(value, MOST_ITEMS)]
    return value


class WrittenFiles:
    """Notes the regular files of at most 64 KiB that Python's functions write, rename or remove in this process
    between `begin` and `end`. For processes that end soon: its audit hook can't be removed."""

    def __init__(self) -> None:
        self._before: dict[Path, bytes | None] = {}
        self._on = False
        sys.addaudithook(self._note)

    def begin(self) -> None:
        """Start noting."""
        self._before, self._on = {}, True

    def end(self) -> dict[str, str]:
        """Return the texts of new and changed files by their relative paths, and restore all files."""
        self._on = False
        found = {}
        for path, was in sorted(self._before.items()):
            with contextlib.suppress(OSError, ValueError):
                now = _content(path)
                if now == was:
                    continue
                if now is not None:
                    found[os.path.relpath(path)] = now.decode("utf-8", "replace")
                if was is None:
                    path.unlink()
                else:
                    path.write_bytes(was)
        return found

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._on or event not in _EVENTS:
            return
        self._on = False
        for each in args[: _EVENTS[event]]:
            # Raised for a descriptor, a large file, or an event that the program itself has raised.
            with contextlib.suppress(LookupError, TypeError, ValueError, OSError):
                path = Path.cwd() / os.fsdecode(each)
                writes = event != "open" or args[2] & _WRITING
                if writes and path not in self._before and len(self._before) < _MOST_FILES:
                    self._before[path] = _content(path)
        self._on = True


def _content(path: Path) -> bytes | None:
    """Return the bytes of a regular file; None without a file. Raises OSError, and ValueError for a large file."""
    if not path.exists():
        return None
    held = path.stat()
    if not stat.S_ISREG(held.st_mode) or held.st_size > _MOST_WRITTEN:
        raise ValueError(path)
    return path.read_bytes()
