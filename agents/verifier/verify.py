"""Verify a module against a test file, in one call."""

from __future__ import annotations

import threading
from functools import partial

from ..records import Verdict
from ..sandbox import SandboxLimits
from ..settings import SandboxName
from .awaiting import in_thread
from .verifier import Verifier


def verify(code: str, tests: str, *, sandbox: SandboxName = "auto", seconds: float = 10.0) -> Verdict:
    """Run the pytest file `tests` against the module `code` in a sandbox; both are source text.

    The tests import the module as `user_code`. `seconds` limits the wall time of the whole run of tests. Only a
    verdict of kind `passed` means that every test ran and passed. Raises SandboxUnavailable and SandboxBroken.
    """
    return _verify(code, tests, sandbox, seconds, None)


async def averify(code: str, tests: str, *, sandbox: SandboxName = "auto", seconds: float = 10.0) -> Verdict:
    """Do as `verify` in a thread. Cancelled, it waits until no process of it is left."""
    stop = threading.Event()
    return await in_thread(partial(_verify, code, tests, sandbox, seconds, stop), stop.set)


def _verify(code: str, tests: str, sandbox: SandboxName, seconds: float, stop: threading.Event | None) -> Verdict:
    with Verifier(sandbox, SandboxLimits(wall_seconds=seconds)) as verifier:
        return verifier.verify(code, tests, stop)
