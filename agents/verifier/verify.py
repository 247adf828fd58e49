"""Verify a module against a test file, in one call."""

from __future__ import annotations

from ..records import Verdict
from ..sandbox import SandboxLimits, open_sandbox
from ..settings import SandboxName
from .verifier import Verifier


def verify(code: str, tests: str, *, sandbox: SandboxName = "auto", seconds: float = 10.0) -> Verdict:
    """Run the pytest file `tests` against the module `code` in a sandbox; both are source text.

    The tests import the module as `user_code`. `seconds` limits the wall time of the whole run of tests. Only a
    verdict of kind `passed` means that every test ran and passed. Raises SandboxUnavailable and SandboxBroken.
    """
    box = open_sandbox(sandbox)
    try:
        with Verifier(box, SandboxLimits(wall_seconds=seconds)) as verifier:
            return verifier.verify(code, tests)
    finally:
        box.close()
