"""The result of a batch, its exit code, and its status while another process runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import GreenloopError, ModelError, SandboxBroken, UsageError
from ..records import Failure, Usage
from ..settings import RequiredGrade
from .journal import Journal, file_in
from .labels import has_reached, label_of
from .records import EntryResult

LOCK_FILE = "batch.lock"

SCHEMA_VERSION = 1
OF_ALL = (0, UsageError.exit_code, ModelError.exit_code, SandboxBroken.exit_code)
"""Exit codes that a batch has where all of its entries have the same."""


@dataclass(frozen=True, slots=True)
class Packaged:
    """A batch written as one package, in `directory` and importable as `name`."""

    directory: str
    name: str
    modules: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Ids of the specs below the required grade."""
    failing: tuple[str, ...] = ()
    """Ids of the specs whose tests do not pass in the package."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The one JSON document of `--json`, for scripts (schema: docs/schema/batch.json)."""

    schema_version: int
    exit_code: int
    directory: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """Entries by their grade, or by their status where they have none."""
    usage: Usage = field(default_factory=Usage)
    """Of the present results; replayed replies count like new ones."""
    seconds: float = 0.0
    """Wall time of the batch, with earlier calls that were resumed."""
    results: tuple[EntryResult, ...] = ()
    reports: tuple[str, ...] = ()
    """Paths of the files written."""
    error: Failure | None = None
    """Why the batch ended early; None where every entry ended."""
    package: Packaged | None = None
    """The package of `--package`; None where it was not given, or could not be written."""
    notes: tuple[str, ...] = ()
    """Notes on results and files that were left unchanged."""


def required_of(results: Iterable[EntryResult], required: RequiredGrade) -> list[EntryResult]:
    """Return the results with exit codes by the grade required now; stored grades stay."""

    def code(each: EntryResult) -> int:
        return 0 if has_reached(each, required) and each.attempt is None else 1

    return [replace(each, exit_code=code(each)) if each.status == "finished" else each for each in results]


def exit_code_of(results: Sequence[EntryResult], stopped_by: GreenloopError | None) -> int:
    """Return the exit code of what stopped the batch; 0, 2, 3 or 4 where every entry has it; else 1. Return 0 for
    a batch without entries (a shard may be empty)."""
    if stopped_by is not None:
        return stopped_by.exit_code
    codes = {result.exit_code for result in results} or {0}
    (code,) = codes if len(codes) == 1 else (1,)
    return code if code in OF_ALL else 1


def batch_result(
    directory: str,
    results: Sequence[EntryResult],
    seconds: float,
    stopped_by: GreenloopError | None,
    reports: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> BatchResult:
    """Return the batch's result from those of its entries."""
    return BatchResult(
        SCHEMA_VERSION,
        exit_code_of(results, stopped_by),
        directory,
        dict(sorted(Counter(map(label_of, results)).items())),
        sum((result.usage for result in results), Usage()),
        seconds,
        tuple(results),
        tuple(reports),
        Failure(stopped_by.kind, str(stopped_by)) if stopped_by is not None else None,
        notes=(*notes, *_stopped_attempts(results)),
    )


def _stopped_attempts(results: Sequence[EntryResult]) -> Iterator[str]:
    found = [(each.id, each.attempt.message) for each in results if each.attempt is not None]
    if found:
        (first, why), more = found[0], f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield f"A new attempt at {first}{more} came to no end, so the earlier results stay: {why}"


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The results so far, the process that runs the batch (None: no process), and its running entries."""

    result: BatchResult
    process: int | None
    running: tuple[str, ...]


def batch_status(directory: Path) -> BatchStatus:
    """Read the status of the batch in `directory`. Raises UsageError where there is none."""
    with Journal(directory, read_only=True) as journal:
        facts = journal.facts
        results = required_of(journal.results(), facts.required)
        result = batch_result(str(directory), results, facts.seconds, None)
        if facts.process is None or not _is_locked(directory):
            return BatchStatus(result, None, ())
        return BatchStatus(result, facts.process, tuple(journal.running()))


def _is_locked(directory: Path) -> bool:
    """Return True while a batch has locked the directory. A signal 0 to its process would end it on Windows."""
    from filelock import FileLock, Timeout

    if not (lock := file_in(directory, LOCK_FILE)).exists():
        return False
    try:
        with FileLock(lock, timeout=0):
            return False
    except OSError as error:  # read-only, and nothing writes there, or held
        return isinstance(error, Timeout)
