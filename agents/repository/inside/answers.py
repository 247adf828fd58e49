"""Answers calls of a program's functions, in modules as it has left them: each in a process forked from it."""

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
import sys
import time
import types
from pathlib import Path

from .calls import MOST_ITEMS, NO_END, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_CALL_SECONDS = 1.0
_ALL_SECONDS = 5.0
_IN_TURN_SECONDS = 15.0
_MOST_OUTPUT = 4000
_MOST_BYTES = 200_000


def main() -> None:
    """Answer the calls in a file, by nothing but the program: `FILE ANSWERS TREE` are the last arguments."""
    asked, told, tree = sys.argv[-3:]
    sys.argv = [""]
    calls = json.loads(Path(asked).read_text(encoding="utf-8"))
    for path in dict.fromkeys(path for path, _ in calls):
        with contextlib.suppress(Exception):  # each call of it will say so
            module_at(tree, path)
    Path(told).write_text(json.dumps([*_in_turn(Answers(tree), calls)]), encoding="utf-8")


def _in_turn(answers: Answers, calls: list[list[str]]) -> Iterator[dict[str, Any] | None]:
    """Yield the answers to calls that are made one after another in one process; None to one that ends it, or does
    not end. The next one is made in another."""
    end = time.monotonic() + _IN_TURN_SECONDS
    at = 0
    while at < len(calls) and time.monotonic() < end:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                for path, source in calls[at:]:
                    pipe.write(json.dumps(answers.called(path, source)).encode() + b"\n")
            os._exit(0)
        os.close(writing)
        told = b""
        while select.select([reading], [], [], _CALL_SECONDS)[0] and (part := os.read(reading, 1 << 16)):
            *lines, told = (told + part).split(b"\n")
            at += len(lines)
            yield from map(json.loads, lines)
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if at < len(calls):
            at += 1
            yield None


class Answers:
    """Answers calls of functions in the files below the folder `tree`; with a `Report` it has the calls that
    they make."""

    def __init__(self, tree: str, report: Any = None) -> None:
        self._tree = tree.rstrip(os.sep)
        self._report = report
        self._end = time.monotonic() + _ALL_SECONDS

    def to(self, path: str, source: str) -> dict[str, Any] | None:
        """Return the answer to one call; None where the time for all is over."""
        end = time.monotonic() + _CALL_SECONDS
        if end > self._end:
            return None
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                told = json.dumps(self.called(path, source)).encode()
                while told:
                    told = told[os.write(sending, told) :]
            finally:
                os._exit(0)
        os.close(sending)
        told = _read(receiving, end)
        os.close(receiving)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        answer: dict[str, Any] = {"value": None, "raises": NO_END, "seconds": _CALL_SECONDS, "output": ""}
        with contextlib.suppress(ValueError):
            answer = dict(json.loads(told))
            if self._report is not None:
                self._report.calls.add(*answer.pop("calls"))
            return answer
        return {**answer, "arguments": "", "state": ""}

    def called(self, path: str, source: str) -> dict[str, Any]:
        """Return the answer to one call, which is made in this process."""
        scope = {**vars(module_at(self._tree, path)), "having": _having, "applied": _applied}
        node: Any = ast.parse(source, mode="eval").body
        args, keywords, function = _arguments(node)
        before = _given(args, keywords)
        answer: dict[str, Any] = {"value": None, "raises": None}
        receiver: Any = None
        held = shown(receiver)
        printed = io.StringIO()
        began = time.process_time()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                if self._report is not None:
                    sys.setprofile(self._report.profile)
                found = eval(compile(ast.Expression(function), "<call>", "eval"), scope)
                receiver = getattr(found, "__self__", None)
                held = shown(receiver)
                value = found(*args, **keywords) if function is not node else found
                answer["value"] = shown(_awaited(value))
        except BaseException as error:  # whatever it is, the call ended with it
            answer["raises"] = type(error).__qualname__
            answer["deliberate"] = self._is_deliberate(error)
        finally:
            sys.setprofile(None)
        if self._report is not None:
            answer["calls"] = [list(self._report.calls.found), list(self._report.calls.left_out)]
        seconds = time.process_time() - began
        after, state = _given(args, keywords), shown(receiver)
        return {
            **answer,
            "seconds": seconds,
            "output": printed.getvalue()[:_MOST_OUTPUT],
            "arguments": after if after != before else "",
            "state": state if held != state else "",
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
    """Import a file of a tree, or return what has been imported from it."""
    place = str(Path(tree, path))
    for module in list(sys.modules.values()):  # `__main__` is among the first
        if getattr(module, "__file__", None) == place:
            return module
    top = Path(place).parent
    while (top / "__init__.py").exists():
        top = top.parent
    sys.path.insert(0, str(top))
    parts = Path(place).relative_to(top).with_suffix("").parts
    return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def _read(pipe: int, end: float) -> bytes:
    """Read a pipe until it is closed or the time is over."""
    told = b""
    while (left := end - time.monotonic()) > 0 and len(told) < _MOST_BYTES:
        if not select.select([pipe], [], [], left)[0] or not (part := os.read(pipe, 1 << 16)):
            break
        told += part
    return told


def _arguments(node: Any) -> tuple[list[Any], dict[str, Any], Any]:
    """The arguments of a call of literals and what it calls; of another expression none and itself."""
    try:
        values = [ast.literal_eval(each) for each in node.args]
        return values, {each.arg: ast.literal_eval(each.value) for each in node.keywords}, node.func
    except (AttributeError, ValueError, TypeError):
        return [], {}, node


def _given(args: list[Any], keywords: dict[str, Any]) -> str:
    texts = [*map(shown, args), *(f"{name}={shown(value)}" for name, value in keywords.items())]
    return f"({', '.join(texts)})"


def _having(kind: type, /, **state: Any) -> Any:
    """An object of a class that has these attributes, made without a call of the class."""
    made: Any = object.__new__(kind)
    vars(made).update(state)
    return made


def _applied(function: Any, pickled: str) -> Any:
    """Call a function with arguments that were pickled."""
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
