"""The end of a command: its result as text or as one JSON document, and handlers of signals."""

from __future__ import annotations

import _thread
import errno
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import NoReturn, Protocol, TextIO, TypeVar

from ..errors import GreenloopError, Interrupted, StorageFailed, UsageError
from ..records import Failure
from ..terminal.console import Console


class _Ended(Protocol):
    @property
    def exit_code(self) -> int: ...


Result = TypeVar("Result", bound=_Ended)
_REPEAT_AFTER = (0.05, 0.5)
"""Seconds after a signal, and after the first repetition."""


def conclude(
    console: Console,
    as_json: bool,
    work: Callable[[TextIO], Result | int],
    failed: Callable[..., object],
    interrupted: str,
    show: Callable[[Result], None] = lambda _: None,
) -> int:
    """Call `work`, and print its result: by `show`, or as one JSON document. Return its exit code.

    `work` gets the stream for a document; where it returns an exit code, it has printed all output. An error is
    printed as a sentence, or as the document that `failed` makes of its `exit_code` and `error`; at Ctrl-C the
    sentence is `interrupted`. SIGTERM and SIGHUP act like Ctrl-C.
    """
    with handled(dict.fromkeys(("SIGTERM", "SIGHUP"), interrupt)), document_alone(as_json) as stream:
        try:
            result = work(stream)
        except (GreenloopError, OSError, KeyboardInterrupt) as stop:
            if not as_json and isinstance(stop, OSError) and stop.filename is None:
                raise  # the rest of the output must not be written again
            told = unusable(stop) if isinstance(stop, OSError) else stop
            error = told if isinstance(told, GreenloopError) else Interrupted(interrupted)
            if as_json:
                failure = Failure(error.kind, str(error))
                console.document(failed(exit_code=error.exit_code, error=failure), stream)
            else:
                console.error(str(error))
            return error.exit_code
        if isinstance(result, int):
            return result
        if as_json:
            console.document(result, stream)
        else:
            show(result)
    return result.exit_code


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE)
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


def unusable(error: OSError) -> GreenloopError:
    """Return a GreenloopError for an unusable path, a full disk, a closed pipe or a limit of the system; raise any
    other error again."""
    if error.errno in _SCARCE:
        return GreenloopError(f"A limit of the system was reached ({error.strerror}); raise it (ulimit).")
    if error.errno in _FULL:
        what = error.filename or "The output"
        return StorageFailed(f"{what} can't be written ({error.strerror}); make room, or send it elsewhere.")
    if error.filename is None:
        raise error
    return UsageError(f"{error.filename} can't be used ({error.strerror}); check its name and permissions.")


@contextmanager
def document_alone(as_json: bool) -> Iterator[TextIO]:
    """Yield the stream for the JSON document; redirect other writes to standard output to standard error."""
    if not as_json:
        yield sys.stdout
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    stream = os.fdopen(kept, "w", encoding="utf-8")
    try:
        yield stream
    finally:
        with suppress(BrokenPipeError):
            stream.close()
        sys.stdout.flush()


@contextmanager
def handled(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Install `handlers` by signal name during the body; names that this system lacks are ignored."""
    numbers = {getattr(signal, name): handler for name, handler in handlers.items() if hasattr(signal, name)}
    earlier = [(number, signal.signal(number, lambda got, _: numbers[got]())) for number in numbers]
    try:
        yield
    finally:
        for number, handler in earlier:
            signal.signal(number, handler)


def interrupt() -> NoReturn:
    """Raise KeyboardInterrupt, as for Ctrl-C."""
    raise KeyboardInterrupt


class _Log(TextIOWrapper):
    """Standard error that ignores failed writes, such as on a full disk."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def open_streams() -> None:
    """Prepare the standard streams. Open those that the shell has closed (`>&-`): another file would get their
    number, and be written to. Escape characters that standard output can't encode. Ignore an invalid size of the
    terminal, in which nothing would be drawn."""
    for variable in ("COLUMNS", "LINES"):
        if not re.fullmatch("0*[1-9][0-9]{0,4}", os.environ.get(variable, "1")):
            del os.environ[variable]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    error = os.fdopen(2, "wb", closefd=False)
    sys.stderr = _Log(error, sys.stderr.encoding, errors="backslashreplace", line_buffering=True)


def repeat_signals() -> None:
    """Repeat each signal for the main thread shortly afterwards, for the life of this process.

    Python's handler runs when the main thread next runs, or its wait is interrupted. A signal just before a wait
    begins, while another thread holds the GIL, would be handled only after the wait.
    """
    if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
        main = threading.get_ident()
        noted, written = os.pipe()
        os.set_blocking(written, False)
        signal.signal(signal.SIGURG, lambda *_: None)  # otherwise unused: by default it has no effect
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)

        def repeat() -> None:
            while numbers := os.read(noted, 64):
                for seconds in _REPEAT_AFTER if {*numbers} - {signal.SIGURG} else ():
                    time.sleep(seconds)
                    signal.pthread_kill(main, signal.SIGURG)

        _thread.start_new_thread(repeat, ())  # not a threading.Thread, which would be joined or counted
