"""The verifier on a user's own files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import GreenloopError, Interrupted, UsageError
from ..settings import SandboxName
from ..terminal.console import Console
from .json_output import document_alone

if TYPE_CHECKING:
    from ..records import Verdict
    from ..sandbox import SandboxLimits


def verify(
    code: Path,
    tests: Path,
    /,
    *,
    sandbox: SandboxName = "auto",
    seconds: Annotated[float, Parameter(validator=Number(gt=0))] = 10.0,
    python: Path | None = None,
    packages: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    with_: Annotated[tuple[Path, ...], Parameter(name="--with", negative="")] = (),
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run a pytest file against a module in the sandbox, and say what can be believed: exit 0 only on `passed`.

    Parameters
    ----------
    code
        The module; the tests import it as `user_code`.
    tests
        The pytest file.
    sandbox
        Where it runs.
    seconds
        Wall time for the whole run of tests.
    python
        The Python (3.9 to 3.14) that runs both; by default the one that runs greenloop.
    packages
        Third-party packages that code and tests may import, `numpy` or `pandas>=2`, installed there. Without it
        the code may import whatever is installed, and the tests the standard library.
    with_
        A module or package of yours that the code imports; once for each.
    json
        Print one JSON document on standard output and nothing else.
    """
    from ..events import Note
    from ..sandbox import SandboxLimits

    with document_alone(json) as stream:
        console = Console()
        if sandbox == "none":
            console.emit(Note("No sandbox: the code and its tests run with all your rights.", warning=True))
        try:
            verdict = _verdict(code, tests, sandbox, seconds, python, packages, with_)
        except GreenloopError as error:
            if not json:
                raise
            console.document(failure_document(error), stream)
            return error.exit_code
        if json:
            console.document(verdict_document(verdict, SandboxLimits(wall_seconds=seconds)), stream)
        else:
            console.verdict(verdict)
    return 0 if verdict.kind == "passed" else 1


def _verdict(
    code: Path,
    tests: Path,
    sandbox: SandboxName,
    seconds: float,
    python: Path | None,
    packages: tuple[str, ...],
    paths: tuple[Path, ...],
) -> Verdict:
    """The verdict on two files; raises GreenloopError where there is none."""
    from ..spec import read_modules, requirements
    from ..verifier.verify import verify

    try:
        return verify(
            _read(code),
            _read(tests),
            sandbox=sandbox,
            seconds=seconds,
            python=python,
            packages=requirements(packages) if packages else None,
            modules=read_modules(paths),
        )
    except KeyboardInterrupt as stop:
        raise Interrupted("Interrupted before there was a verdict; run it again.") from stop


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} can't be read ({error}); give the paths of a module and of its tests."
        ) from error


def verdict_document(verdict: Verdict, limits: SandboxLimits) -> dict[str, object]:
    """The JSON document of a verdict."""
    return {
        "schema_version": 1,
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "tests": [
            {"id": outcome.test_id, "outcome": outcome.status, "detail": outcome.detail}
            for outcome in verdict.outcomes
        ],
        "refused": [{"id": refusal.test_id, "reason": refusal.reason} for refusal in verdict.refused],
        "strength": [
            {"id": one.test_id, "noticed": one.noticed, "tried": one.tried, "missed": one.missed}
            for one in verdict.strength
        ],
        "isolation": verdict.isolation,
        "backend": verdict.backend,
        "limits": asdict(limits),
        "stopped": asdict(verdict.stopped) if verdict.stopped else None,
        "notes": list(verdict.notes),
        "seconds": verdict.seconds,
        "error": None,
    }


def failure_document(error: GreenloopError) -> dict[str, object]:
    """The JSON document where there is no verdict."""
    return {"schema_version": 1, "verdict": None, "error": {"kind": error.kind, "message": str(error)}}
