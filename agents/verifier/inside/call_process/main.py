"""The call process: calls a function of a module as imported in the user's process, and sends the results.

Nothing here is protected from the module.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import importlib.util
import inspect
import json
import linecache
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from ..proxy.crossing import PlainCrossing
from ..proxy.frames import ANSWER, HELLO, ChannelClosed, FrameSocket, FrameTooLong
from ..proxy.peer import Awaiting
from ..proxy.plain import Tree, Unshareable
from .inert_decorators import decorated, replace_packages

_LOCALS = "<locals>."


def main(descriptor: int) -> None:
    """Answer calls until the channel closes. The first frame names the function."""
    channel = FrameSocket(descriptor)
    with suppress(ChannelClosed):
        channel.send(HELLO, b"")
        called = Called(**json.loads(channel.receive()[1]))
        while True:
            kind, *given = json.loads(channel.receive()[1])
            answer = called.call(*given) if kind == "call" else called.answers(given)
            try:
                channel.send(ANSWER, json.dumps(answer).encode())
            except FrameTooLong as error:
                channel.send(ANSWER, json.dumps(["unshareable", f"the value is too long: {error}"]).encode())


class Called:
    """Function `qualname` of `module` in the file `path`; decorators of the packages `inert` do nothing."""

    def __init__(self, module: str, path: str, qualname: str, inert: list[str]) -> None:
        self._root = sys.path[0]
        self._name = module
        self._file = f"{self._root}/{path}"
        self._qualname = qualname
        self._module: Any = None
        self._left_out: BaseException | None = None
        self._awaiting = Awaiting()
        replace_packages(inert)

    def answers(self, asked: list[list[str]]) -> Tree:
        """Return `return` with the answers to calls (path and source of each), each made in a fork."""
        module, function = self._loaded(), self._function()
        if _LOCALS in self._qualname or self._attribute(module, self._qualname) is not function:
            setattr(module, self._qualname.rpartition(".")[2], function)
        answers = importlib.import_module("inside.answers").Answers(self._root)
        return ["return", list(map(answers.alone, asked))]

    def call(self, receiver: list[str] | None, body: Tree) -> Tree:
        """Call the function. Return `return` with the value and the changed arguments, `raise` with the exception,
        or `unshareable` with the reason."""
        crossing = PlainCrossing(1)
        (state, args, kwargs), _ = crossing.unpack(body)
        try:
            value = self._call(receiver, state, args, kwargs)
        except BaseException as error:  # whatever it is, it is how the call ended
            return ["raise", self._raised(error)]
        try:
            return ["return", crossing.pack(value)]
        except (Unshareable, RecursionError) as error:
            return ["unshareable", str(error)]

    def _call(self, receiver: list[str] | None, state: Any, args: Any, kwargs: Any) -> Any:
        function = self._function()
        if receiver is not None:
            kind, module, qualname = receiver
            args = (self._receiver(kind, module, qualname, state), *args)
        value = function(*args, **kwargs)
        return self._awaiting.run(value) if inspect.isawaitable(value) else value

    def _receiver(self, kind: str, module: str, qualname: str, state: Any) -> Any:
        home = self._loaded() if module in ("", self._name) else importlib.import_module(module)
        found = self._attribute(home, qualname)
        if kind == "class":
            return found
        made = object.__new__(found)
        if state is not None:
            made.__dict__ = state
        return made

    def _loaded(self) -> Any:
        if self._module is None:
            parent = self._name.rpartition(".")[0]
            if parent:
                importlib.import_module(parent)
            spec = importlib.util.spec_from_file_location(self._name, self._file)
            assert spec is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[self._name] = module
            self._run(module)
            self._module = module
        return self._module

    def _run(self, module: Any) -> None:
        """Run the module's statements; one that fails, for want of what it needs or by itself, is left out."""
        with open(self._file, "rb") as file:  # noqa: PTH123 - pathlib need not be imported
            tree = ast.parse(file.read())
        flags = 0
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                flags |= sum(getattr(__future__, alias.name).compiler_flag for alias in node.names)
            code = compile(ast.Module([node], []), self._file, "exec", flags, dont_inherit=True)
            try:
                exec(code, vars(module))  # noqa: S102 - this is what the process is for
            except (Exception, SystemExit) as error:
                self._left_out = self._left_out or error

    def _function(self) -> Any:
        module = self._loaded()
        if _LOCALS in self._qualname:
            return self._nested(module)
        try:
            return decorated.get(self._qualname) or self._attribute(module, self._qualname)
        except AttributeError:
            raise self._left_out or NameError(f"{self._qualname} is not there") from None

    def _attribute(self, found: Any, qualname: str) -> Any:
        for part in qualname.split("."):
            found = inspect.getattr_static(found, part)
        return inspect.unwrap(getattr(found, "__func__", found))

    def _nested(self, module: Any) -> Any:
        """Return a nested function without closure variables, by running its definition in the module."""
        source = "".join(linecache.getlines(self._file))
        body: Any = ast.parse(source).body
        for name in self._qualname.replace(_LOCALS, "").split("."):
            definition = [node for node in _definitions(body) if node.name == name][-1]
            body = definition.body
        definition.decorator_list = []
        code = compile(ast.Module([definition], []), self._file, "exec")
        scope: dict[str, Any] = {}
        exec(code, vars(module), scope)  # noqa: S102 - a part of the module that was run above
        return scope[definition.name]

    def _raised(self, error: BaseException) -> Tree:
        """Return the class's name, the exception itself if it is plain data, and its traceback with its causes."""
        try:
            packed = PlainCrossing(1).pack(error)
        except (Unshareable, RecursionError):
            packed = None
        report = importlib.import_module("inside.report").Report(-1, self._root)
        return {"name": type(error).__qualname__, "error": packed, "errors": report.described(error)}


def _definitions(body: Iterable[Any]) -> Iterator[Any]:
    """Yield the functions and classes of one scope in order, also those within `if` and `with`."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
        else:
            yield from _definitions(ast.iter_child_nodes(node))
