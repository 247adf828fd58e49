"""The module under test, and what it prints."""

from __future__ import annotations

import importlib
import io
import itertools
import operator
import sys
from collections.abc import Callable
from typing import Any

from ..proxy.peer import USER_MODULE

_MOST_PRINTED = 1 << 20


class _Printed(io.RawIOBase):
    """Standard output (1) or error (2) of the code; `keep` takes what is written."""

    def __init__(self, stream: int, keep: Callable[[int, bytes], None]) -> None:
        self._stream = stream
        self._keep = keep

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._keep(self._stream, bytes(data))
        return len(data)


class Code:
    """The module under test, and what it prints."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, bytes]] = []
        self._left = _MOST_PRINTED
        sys.stdout = io.TextIOWrapper(_Printed(1, self._keep), "utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(_Printed(2, self._keep), "utf-8", write_through=True)
        self._module: Any = None
        self._error: BaseException | None = None

    def module(self) -> Any:
        """The module under test, imported when it is first asked for: a program never is."""
        if self._module is None and self._error is None:
            try:
                self._module = importlib.import_module(USER_MODULE)
            except BaseException as error:  # handed to the test process, whatever it is, each time anew
                self._error = error
        if self._error is not None:
            raise self._error
        return self._module

    def printed(self) -> list[tuple[int, str]]:
        """Return the output since the last call, as pieces of standard output (1) and error (2)."""
        sys.stdout.flush()
        sys.stderr.flush()
        pieces, self._pieces = self._pieces, []
        return [
            (stream, b"".join(data for _, data in parts).decode("utf-8", "replace"))
            for stream, parts in itertools.groupby(pieces, operator.itemgetter(0))
        ]

    def _keep(self, stream: int, data: bytes) -> None:
        taken = data[: self._left]
        self._left -= len(taken)
        self._pieces.append((stream, taken))
