"""Verify a module against a test file, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..records import UserModule, Verdict
from ..sandbox import SandboxLimits, open_sandbox
from ..sandbox.packages import find_packages, open_interpreter
from ..settings import SandboxName
from .importable import Importable
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
    interpreter = open_interpreter(python)
    found = find_packages(packages, interpreter) if packages is not None else None
    box = open_sandbox(sandbox, interpreter)
    try:
        importable = Importable(found, tuple(modules))
        with Verifier(box, SandboxLimits(wall_seconds=seconds), importable=importable) as verifier:
            return verifier.verify(code, tests)
    finally:
        box.close()
