"""What a batch comes to: its exit code and its one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

from ..errors import GreenloopError, ModelError, SandboxBroken, UsageError
from ..records import Failure, Usage
from ..settings import RequiredGrade, reaches
from .labels import standing
from .records import EntryResult

SCHEMA_VERSION = 1
OF_ALL = (0, UsageError.exit_code, ModelError.exit_code, SandboxBroken.exit_code)
"""Exit codes that a batch has where all of its entries have them."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch hands to a script: the one JSON document of `--json` (schema: docs/schema/batch.json)."""

    schema_version: int
    exit_code: int
    directory: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """Entries by their grade, or by their status where they have none."""
    usage: Usage = field(default_factory=Usage)
    """Of the entries as they stand; replies that were recorded earlier count like new ones."""
    seconds: float = 0.0
    """Wall time of the batch, over all its sittings."""
    results: tuple[EntryResult, ...] = ()
    reports: tuple[str, ...] = ()
    """Paths of the files written."""
    error: Failure | None = None
    """Why the batch ended before every entry did; None where that was not so."""


def required_of(results: Iterable[EntryResult], required: RequiredGrade) -> list[EntryResult]:
    """`results` with exit codes by what is required now: the grade stays when that changes."""
    return [
        replace(result, exit_code=0 if reaches(result.grade, required) else 1)
        if result.status == "finished"
        else result
        for result in results
    ]


def exit_code_of(results: Sequence[EntryResult], stopped_by: GreenloopError | None) -> int:
    """The batch's exit code: that of what stopped it; 0, 2, 3 or 4 where every entry has it; else 1.

    A batch without any entry (the share of a machine may be empty) is 0.
    """
    if stopped_by is not None:
        return stopped_by.exit_code
    codes = {result.exit_code for result in results} or {0}
    (code,) = codes if len(codes) == 1 else (1,)
    return code if code in OF_ALL else 1


def outcome(
    directory: str,
    results: Sequence[EntryResult],
    seconds: float,
    stopped_by: GreenloopError | None,
    reports: Sequence[str] = (),
) -> BatchResult:
    """What `results` come to."""
    return BatchResult(
        SCHEMA_VERSION,
        exit_code_of(results, stopped_by),
        directory,
        dict(sorted(Counter(map(standing, results)).items())),
        reduce(add, (result.usage for result in results), Usage()),
        seconds,
        tuple(results),
        tuple(reports),
        Failure(stopped_by.kind, str(stopped_by)) if stopped_by is not None else None,
    )


def failed(error: GreenloopError) -> BatchResult:
    """The result of a batch that did not begin."""
    return BatchResult(SCHEMA_VERSION, error.exit_code, error=Failure(error.kind, str(error)))
