"""The subject: imports the code under test and does one thing at a time with it, as the judge asks."""

from __future__ import annotations

import importlib
import io
import linecache
import sys
import traceback
from collections.abc import Callable
from typing import Any

from .frames import HELLO, FrameSocket
from .peer import MODULE_NUMBER, Peer
from .plain import Malformed
from .side import dotted

USER_MODULE = "user_code"
_MOST_PRINTED = 1 << 20


class _Printed(io.RawIOBase):
    """Standard output (1) or error (2) of the code; `keep` takes what is written."""

    def __init__(self, stream: int, keep: Callable[[int, bytes], None]) -> None:
        self._stream = stream
        self._keep = keep

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Pass `data` on."""
        self._keep(self._stream, bytes(data))
        return len(data)


class SubjectSide:
    """The subject guards nothing: whatever is here belongs to the code under test."""

    user_modules = frozenset([USER_MODULE])
    sends_functions = False

    def __init__(self) -> None:
        self._pieces: list[tuple[int, bytes]] = []
        self._left = _MOST_PRINTED
        sys.stdout = io.TextIOWrapper(_Printed(1, self._keep), "utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(_Printed(2, self._keep), "utf-8", write_through=True)
        self._module: Any = None
        self._error: BaseException | None = None

    def load(self) -> None:
        """Import the code under test; what that raises is raised when the module is first asked for."""
        try:
            self._module = importlib.import_module(USER_MODULE)
        except BaseException as error:  # handed to the judge, whatever it is
            self._error = error

    def module(self) -> Any:
        """The module under test."""
        if self._error is not None:
            raise self._error
        return self._module

    def may_export(self, value: object) -> bool:
        """Anything may be asked about."""
        return True

    def resolve(self, module: str, name: str) -> Any:
        """A function or class by its name."""
        try:
            return dotted(module, name)
        except (ImportError, AttributeError) as error:
            raise Malformed(f"{module}.{name} is not here") from error

    def where(self, error: BaseException) -> str:
        """The line of the code under test that an exception came through last."""
        for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
            path = frame.f_code.co_filename
            if path.endswith(f"/{USER_MODULE}.py"):
                return f"line {line}: {linecache.getline(path, line).strip()}"
        if isinstance(error, SyntaxError) and error.lineno:
            return f"line {error.lineno}: {(error.text or '').strip()}"
        return ""

    def malformed(self, reason: str) -> None:
        """The judge writes nothing malformed; the error itself says enough."""

    def admit(self, what: str, target: Any, name: str) -> None:
        """The judge may do anything."""

    def ruled(self, proxy: Any, name: str, args: tuple[Any, ...]) -> tuple[bool, Any]:
        """Objects of the tests decide everything themselves."""
        return False, None

    def printed(self) -> list[tuple[int, str]]:
        """What the code printed since the last frame: pieces of standard output (1) and error (2)."""
        sys.stdout.flush()
        sys.stderr.flush()
        pieces, self._pieces = self._pieces, []
        merged: list[tuple[int, bytes]] = []
        for stream_number, data in pieces:
            if merged and merged[-1][0] == stream_number:
                data = merged.pop()[1] + data
            merged.append((stream_number, data))
        return [(stream_number, data.decode("utf-8", "replace")) for stream_number, data in merged]

    def _keep(self, stream: int, data: bytes) -> None:
        taken = data[: self._left]
        self._left -= len(taken)
        self._pieces.append((stream, taken))

    def show(self, stream: int, text: str) -> None:
        """The judge prints for itself."""


class _Module:
    """Stands for the module, and raises what its import raised."""

    def __init__(self, side: SubjectSide) -> None:
        object.__setattr__(self, "_side", side)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._side.module(), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._side.module(), name, value)

    def __dir__(self) -> list[str]:
        module = self._side.module()
        named = getattr(module, "__all__", None)
        return list(named) if named is not None else [name for name in dir(module) if not name.startswith("_")]


def main(descriptor: int) -> None:
    """Import the code and serve the judge until the channel closes."""
    channel = FrameSocket(descriptor)
    channel.send(HELLO, b"")
    side = SubjectSide()
    peer = Peer(channel, side, first=1)
    peer.crossing.export(_Module(side), number=MODULE_NUMBER)
    side.load()
    try:
        peer.serve()
    finally:
        sys.stderr = sys.__stderr__
