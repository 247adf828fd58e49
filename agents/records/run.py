"""Records of a run: its rounds, `run.json`, and the result for a script."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from .model_call import Role, Usage
from .ruling import ClauseCheck, Dispute, Grade, LedgerEntry, Ruling
from .spec import Spec
from .verdict import Board, Isolation

RunStatus = Literal["running", "finished", "interrupted", "stopped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run ended without a result: an error's kind and its sentence."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Survivor:
    """A change of the code that no test noticed: on `line`, `before` became `after` (empty: it was removed)."""

    line: int
    before: str
    after: str

    def __str__(self) -> str:
        became = f"became `{self.after}`" if self.after else "was removed"
        return f"line {self.line}: `{self.before}` {became} and no test noticed"


@dataclass(frozen=True, slots=True)
class Strength:
    """Strength of the surviving suite: it noticed `killed` of the `mutants` tried, and ran shares of lines and
    branches.

    The shares are from 0 to 1: None where they could not be measured, that of branches also where there are none.
    They come from the process that runs the code, which could forge them; the verifier judged the mutants."""

    killed: int
    mutants: int
    planned: int
    """Changes that would have been tried with more time."""
    survivors: tuple[Survivor, ...] = ()
    """Mutants that no test notices; some of them may be equivalent to the code."""
    line_coverage: float | None = None
    branch_coverage: float | None = None
    uncovered_lines: tuple[int, ...] = ()
    noticed: int = 0
    changed: int = 0
    """Changed answers, and how many of them were noticed, summed over all tests."""
    seconds: float = 0.0

    def __str__(self) -> str:
        shares = ((self.line_coverage, "lines"), (self.branch_coverage, "branches"))
        parts = [f"{share:.0%} of {what}".replace("%", " %") for share, what in shares if share is not None]
        if self.mutants:
            parts.append(f"{self.killed} of {self.mutants} mutants caught")
        if self.changed:
            parts.append(f"{self.noticed} of {self.changed} changed answers noticed")
        return f"Suite: {', '.join(parts) or 'nothing to measure in this code'}"


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """How often `grade` was right with `model` on specs of this `kind`: `right` of `results` on `benchmarks`
    passed hidden tests. `low` and `high` (0 to 1) are the exact binomial 95 % interval; None without results."""

    model: str
    grade: Grade
    kind: str
    right: int = 0
    results: int = 0
    low: float | None = None
    high: float | None = None
    benchmarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it in a sentence."""
        of = f" of {' and '.join(self.benchmarks)}" if self.benchmarks else ""
        if self.low is None or self.high is None:
            known = f"How often `{self.grade}` is right with {self.model}, {self.kind}, was not measured"
            return f"{known}{of and ' on hidden tests'}{of} (docs/benchmark.md)."
        return (
            f"Of results graded `{self.grade}` with this model, {self.kind}, {self.right} of {self.results} were "
            f"right on hidden tests{of}: {self.low:.0%} to {self.high:.0%} (95 % interval; docs/benchmark.md)."
        )


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round as it is recorded: board, board of the probes (None without probes), and ruling."""

    number: int
    board: Board
    probes: Board | None
    ruling: Ruling
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run or a heal ended: the fields that its record, its result and its batch entry share."""

    grade: Grade | None = None
    """None when it ended before a ruling."""
    why: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    """Wall time, waiting for models and tests included; a resumed run adds to it."""
    error: Failure | None = None
    """Why it did not finish; None when it did."""
    notes: tuple[str, ...] = ()

    def ending(self) -> dict[str, Any]:
        """Return the fields of Ending and RunOutcome, to construct another record of the same end."""
        kind = RunOutcome if isinstance(self, RunOutcome) else Ending
        return {each.name: getattr(self, each.name) for each in fields(kind)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome(Ending):
    """How a run ended."""

    rounds: int = 0
    isolation: Isolation | None = None
    strength: Strength | None = None
    """Of the surviving suite; None where it was not measured."""


@dataclass(frozen=True, slots=True)
class ForkedFrom:
    """The parent of a fork, by its directory's name, and the last round that they share."""

    run: str
    round: int


@dataclass(frozen=True, slots=True)
class RunRecord(RunOutcome):
    """`run.json`: everything about a run but its rounds. Settings hold no secret."""

    schema_version: int
    id: str
    greenloop_version: str
    created: str
    """Time of the start, ISO 8601 with zone."""
    status: RunStatus
    spec: Spec
    settings: dict[str, str | int | float | bool | None]
    models: dict[Role, str]
    model_reason: str
    sandbox: str = ""
    leader: str | None = None
    exit_code: int | None = None
    tokens_per_second: float | None = None
    """Decoding speed over the run's calls, where the backend reports it."""
    forked_from: ForkedFrom | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A definition written into a module of the user's."""

    file: str
    name: str
    diff: str
    """Unified; empty where the file had the definition already."""
    backup: str | None
    """Where the file's earlier bytes are; None where nothing was to be written."""
    note: str | None = None
    """Why the tests were not run against the whole file; None when they were."""


@dataclass(frozen=True, slots=True)
class RunResult(RunOutcome):
    """The result of a run for a script: the one JSON document of `--json` (schema: docs/schema/result.json)."""

    schema_version: int
    exit_code: int
    code: str | None = None
    """Source of the best candidate; None when there is none."""
    tests: str | None = None
    """Source of the surviving suite; None before the first ruling."""
    disputes: tuple[Dispute, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    clauses: tuple[ClauseCheck, ...] = ()
    """The standing of each clause of the spec by the tests."""
    tokens_per_second: float | None = None
    model: str | None = None
    model_reason: str = ""
    sandbox: str | None = None
    run_dir: str | None = None
    track_record: TrackRecord | None = None
    """How often this grade was right with this model; None without a grade, and for other strategies."""
    into: Written | None = None
    """The file that `--into` wrote; None where it was not given, or nothing could be written."""
