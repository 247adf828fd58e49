"""The verifier on a user's own files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..console import Console
from ..errors import UsageError
from ..settings import SandboxName
from .document import document_alone

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
    json
        Print one JSON document on standard output and nothing else.
    """
    from ..sandbox import SandboxLimits, open_sandbox
    from ..verifier import Verifier

    sources = [_read(path) for path in (code, tests)]
    limits = SandboxLimits(wall_seconds=seconds)
    with document_alone(json) as stream:
        box = open_sandbox(sandbox)
        try:
            with Verifier(box, limits) as verifier:
                verdict = verifier.verify(*sources)
        finally:
            box.close()
        console = Console()
        if json:
            console.document(verdict_document(verdict, limits), stream)
        else:
            console.verdict(verdict)
    return 0 if verdict.kind == "passed" else 1


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
        "isolation": verdict.isolation,
        "backend": verdict.backend,
        "limits": asdict(limits),
        "stopped": asdict(verdict.stopped) if verdict.stopped else None,
        "notes": list(verdict.notes),
        "seconds": verdict.seconds,
    }
