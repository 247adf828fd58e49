"""The host's end of a sandbox that calls one function of a user's module, with plain data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, Self

from ..errors import Interrupted
from ..sandbox import Ended, Job, Running, Sandbox, SandboxLimits
from ..sandbox.sockets import ready
from ..verifier.inside.proxy.frames import ANSWER, ASK, HELLO
from ..verifier.inside.proxy.plain import Tree
from ..verifier.inside_bytecode import programs
from ..verifier.wire import Violation, Wire

STAND_INS = frozenset(["greenloop", __name__.partition(".")[0]])
"""Packages that inside are stood in for: their decorators leave a function as it is."""
_GRACE_SECONDS = 0.5


class CallStopped(Exception):
    """The sandbox ended before it answered, or what it wrote is no answer; the text says how."""


@dataclass(frozen=True, slots=True)
class Callee:
    """Function `qualname` of `module`, which is the file `path` (relative to the folder it is imported from)."""

    module: str
    path: str
    qualname: str


@dataclass
class CallProcess:
    """A cold process with `files` of a project, for calls of `callee`. A context manager that ends it.

    `ask` raises CallStopped after `limits.wall_seconds` in all.
    """

    sandbox: Sandbox
    callee: Callee
    files: Mapping[str, bytes]
    limits: SandboxLimits
    cancelled: Callable[[], bool]

    def __enter__(self) -> Self:
        """Start it. Raises SandboxBroken."""
        with ExitStack() as held:
            self._wire = Wire()
            held.callback(self._wire.close)
            python = self.sandbox.interpreter
            descriptor = self._wire.descriptor
            argv = ["-I", "-B", "/src/inside/start.py", "call_process", str(descriptor), ":".join(python.lent)]
            job = Job(argv, {**self.files, **programs("call_process", python)}, self.limits, channels=[descriptor])
            self._running: Running = held.enter_context(self.sandbox.launch(job))
            self._deadline = time.monotonic() + self.limits.wall_seconds
            self._wire.send(HELLO, json.dumps({**asdict(self.callee), "inert": sorted(STAND_INS)}).encode())
            self._held = held.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def ask(self, receiver: list[str] | None, body: Tree) -> tuple[str, Any]:
        """How one call ended, `return`, `raise` or `unshareable`, and with what.

        Raises CallStopped and Interrupted.
        """
        self._wire.send(ASK, json.dumps([receiver, body]).encode())
        while (left := self._deadline - time.monotonic()) > 0:
            if self.cancelled():
                raise Interrupted("The heal was cancelled.")
            ready(self._wire.socket, min(left, 0.2), writing=bool(self._wire.pending))
            self._wire.flush()
            try:
                for kind, payload in self._wire.receive():
                    if kind == HELLO:
                        self._wire.handed_over()
                    elif kind == ANSWER:
                        return _read(payload)
            except Violation as violation:
                raise CallStopped(str(violation)) from violation
            if self._wire.ended or self._ended(0.0) is not None:
                raise CallStopped(self._end())
        raise CallStopped(f"the call did not return within {self.limits.wall_seconds:g} s")

    def _ended(self, seconds: float) -> Ended | None:
        try:
            return self._running.wait(seconds)
        except TimeoutError:
            return None

    def _end(self) -> str:
        ended = self._ended(_GRACE_SECONDS)
        if ended is None:
            return "the code closed its channel"
        return f"the {ended.stopped or f'code ended its process with exit code {ended.exit_code}'}"


def _read(payload: bytes) -> tuple[str, Any]:
    try:
        how, what = json.loads(payload)
    except (ValueError, TypeError, RecursionError) as error:
        raise CallStopped("what the code's process wrote is no answer") from error
    if how not in ("return", "raise", "unshareable"):
        raise CallStopped("what the code's process wrote is no answer")
    return how, what
