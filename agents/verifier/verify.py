"""Verifies a module against a test file, in one call."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from ..records import UserModule, Verdict
from ..sandbox import SandboxLimits
from ..settings import SandboxName, SandboxSettings
from .awaiting import in_thread
from .verifier import Verifier


def verify(
    code: str,
    tests: str,
    *,
    sandbox: SandboxName = "auto",
    seconds: float = 10.0,
    python: Path | None = None,
    packages: Sequence[str] | None = None,
    modules: Sequence[UserModule] = (),
) -> Verdict:
    """Run the pytest file `tests` against the module `code` in a sandbox; both are source text.

    The tests import the module as `user_code`. `seconds` limits the wall time of the whole run of tests. Only a
    verdict of kind `passed` means that every test ran and passed.

    `python` runs both (None: the Python that runs this). `packages` are requirements (`pandas>=2`): what they name
    code and tests may import, and nothing else but the standard library and the user's own `modules`. Where
    `packages` is None the code may import whatever is installed, and the tests the standard library.
    Raises UsageError (with the command that installs a missing package), SandboxUnavailable and SandboxBroken.
    """
    limits, chosen = SandboxLimits(wall_seconds=seconds), SandboxSettings(sandbox=sandbox, python=python)
    with Verifier(chosen.sandbox, limits, python=chosen.python, packages=packages, modules=modules) as verifier:
        return verifier.verify(code, tests)


async def averify(
    code: str,
    tests: str,
    *,
    sandbox: SandboxName = "auto",
    seconds: float = 10.0,
    python: Path | None = None,
    packages: Sequence[str] | None = None,
    modules: Sequence[UserModule] = (),
) -> Verdict:
    """Do as `verify`, in a thread. On cancellation it waits until its processes have ended."""
    stop = threading.Event()
    limits, chosen = SandboxLimits(wall_seconds=seconds), SandboxSettings(sandbox=sandbox, python=python)

    def work() -> Verdict:
        with Verifier(
            chosen.sandbox, limits, python=chosen.python, packages=packages, modules=modules
        ) as verifier:
            return verifier.verify(code, tests, stop)

    return await in_thread(work, stop.set)
