"""Fuzzes the host's side of the verifier's channels, guided by coverage; outside the test suite.

`pip install atheris`, then `python -m tests.fuzz.fuzz_channels -max_total_time=60` (options are libFuzzer's; a
directory keeps the inputs found). Each input has to end in a verdict other than `passed`, within the limits, with
no exception, and leave no thread and no descriptor behind.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from agents.sandbox import Job

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed here: pip install atheris (Linux and macOS, CPython 3.11 to 3.13)")

_INSIDE = "agents.verifier.inside"
_SENT_INSIDE = [_INSIDE, f"{_INSIDE}.proxy", f"{_INSIDE}.proxy.frames"]  # as bytecode, which has to stay plain

with atheris.instrument_imports(include=["agents"], exclude=_SENT_INSIDE):
    from agents.verifier.inside.proxy.frames import HELLO, frame

    from ..support.channels import Record, differing, telling, verdict_on
    from ..support.scripted_sandbox import Script

_KINDS = (b"H", b"R", b"Q", b"A", b"x")
_MOST_SECONDS = 5.0


class _Found(Exception):
    """An input that breaks a promise."""


def one_input(data: bytes) -> None:
    """Verify with the channels that `data` describes. Raises _Found."""
    before = _open()
    begun = time.monotonic()
    verdict = verdict_on(_script(atheris.FuzzedDataProvider(data)))
    if verdict.kind == "passed":
        raise _Found("it passed")
    if time.monotonic() - begun > _MOST_SECONDS:
        raise _Found(f"it took {time.monotonic() - begun:.1f} s")
    if _open() != before:
        raise _Found(f"threads and descriptors were {before}, and are {_open()}")


def _open() -> tuple[int, int]:
    return threading.active_count(), sum(1 for _ in Path("/proc/self/fd").iterdir())


def _script(given: Any) -> Script:
    """Choose what the inner ends write: a changed truth, a truth cut short by anything, or anything at all."""
    how, stays = given.ConsumeIntInRange(0, 3), given.ConsumeIntInRange(0, 15) == 1
    if how == 0:

        def below(n: int) -> int:
            return int(given.ConsumeIntInRange(0, n - 1))

        return telling(lambda records: differing(records, below), stays=stays)
    tests = _frames(given) if how == 1 else given.ConsumeBytes(given.ConsumeIntInRange(0, 300))
    if how == 2:
        return _cut_short(given.ConsumeIntInRange(0, 60), tests, stays)
    code = _frames(given) if how == 1 else given.ConsumeBytes(300)
    return _writing(tests, code)


def _frames(given: Any) -> bytes:
    return b"".join(
        frame(_KINDS[given.ConsumeIntInRange(0, len(_KINDS) - 1)], given.ConsumeBytes(40))
        for _ in range(given.ConsumeIntInRange(0, 8))
    )


def _writing(tests: bytes, code: bytes) -> Script:
    def script(part: str, channel: socket.socket, job: Job) -> None:
        channel.sendall(frame(HELLO, b"") + (tests if part == "test_process" else code))

    return script


def _cut_short(told: int, then: bytes, stays: bool) -> Script:
    """The truth as far as `told` records, the last of them never, and then some bytes."""

    def some(records: list[Record]) -> list[Record]:
        return records[: min(told, len(records) - 1)]

    return telling(some, then, stays)


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], "-len_control=0", "-max_len=700", *sys.argv[1:]], one_input)
    atheris.Fuzz()
