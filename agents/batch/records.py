"""The records of a batch: an entry, its result, and facts about the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from ..errors import UsageError
from ..records import Dispute, Failure, Outcome, RunOutcome, Spec, Usage
from ..records.heal import HealOutcome, HealRequest
from ..settings import UNLIMITED, RequiredGrade, Settings, Totals

Unfinished = Literal["stopped", "interrupted", "bad", "blocked", "not started"]
EntryStatus = Literal["finished", Unfinished]
"""`finished`: the run came to its own end. `stopped`: an error ended it (its own budget, a model out of reach, a
broken sandbox). `interrupted`: the user did. `bad`: no spec could be read. `blocked`: what it needs did not reach
the required grade. `not started`: it never began."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One spec or heal of a batch, or the `error` that says why there is none."""

    id: str
    """Unique in its batch, and the same however the batch is ordered; also a folder's name."""
    where: str
    """Where it stands, for messages: `specs/slugify.md`, or `specs.jsonl:3`."""
    spec: Spec | None = None
    error: str | None = None
    needs: tuple[str, ...] = ()
    """Ids of the entries whose code it is given: it begins when they have reached the required grade."""
    heal: HealRequest | None = None

    @property
    def folder(self) -> Path:
        """Its folder, relative to the batch's directory: code, tests and runs."""
        return Path("specs", self.id)

    @property
    def title(self) -> str:
        """Its signature, the first line of its text, or what it heals."""
        if self.heal is not None:
            return self.heal.title
        if self.spec is None:
            return ""
        return self.spec.signature.text if self.spec.signature else self.spec.text.strip().splitlines()[0]


@dataclass(frozen=True, slots=True)
class EntryResult(RunOutcome):
    """The result of one entry. `digest` is the fingerprint of all that it depends on (spec, settings, models)."""

    id: str
    where: str
    digest: str
    status: EntryStatus
    exit_code: int
    title: str = ""
    """The first line of the spec's text, or its signature."""
    tests: int = 0
    """Tests in the surviving suite."""
    failing: tuple[Outcome, ...] = ()
    """Outcomes of the tests that the best candidate does not pass."""
    disputes: tuple[Dispute, ...] = ()
    model: str | None = None
    sandbox: str | None = None
    folder: str | None = None
    """Where its code and tests are, relative to the batch's directory; None where nothing was written."""
    run: str | None = None
    """Its run directory, relative to the batch's directory, for `show` and the report's rounds."""
    heal: HealOutcome | None = None
    """How a heal ended; None for a spec."""
    tries: int = 1
    """How often it was begun: more than once where a worker was lost or the batch was killed."""
    attempt: Failure | None = None
    """Why a newer attempt, with another model or other settings, came to no end; None where there was none."""

    @property
    def final(self) -> bool:
        """Return True if a resumed batch leaves it as it is; anything else is run (again)."""
        return self.status == "finished" or (self.error is not None and self.error.kind == "budget_spent")


@dataclass(frozen=True, slots=True)
class Task:
    """An entry as the journal has it: begun `tries` times; `result` is None until there is one."""

    entry: Entry
    digest: str
    tries: int = 0
    result: EntryResult | None = None

    @classmethod
    def planned(cls, entry: Entry, digest: str) -> Self:
        """Make the task of an entry of a new plan; one that can't be read has its result already."""
        task = cls(entry, digest)
        if entry.error is None:
            return task
        bad = replace(task.unfinished("bad"), exit_code=UsageError.exit_code, why=entry.error, tries=1)
        return replace(task, result=bad)

    @property
    def run(self) -> Path:
        """Its run directory, relative to the batch's directory: the same for every try with this digest."""
        return self.entry.folder / "runs" / self.digest

    @property
    def spent(self) -> Usage:
        """The usage that earlier tries are known to have had."""
        return self.result.usage if self.result is not None else Usage()

    def unfinished(self, status: EntryStatus = "stopped") -> EntryResult:
        """Make the result of an entry that came to no end of its own."""
        entry = self.entry
        return EntryResult(entry.id, entry.where, self.digest, status, 1, title=entry.title, tries=self.tries)


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a batch as a whole that its journal keeps."""

    created: str = ""
    """Time of the start, ISO 8601 with zone; empty where it is not known."""
    settings: dict[str, Any] = field(default_factory=dict)
    required: RequiredGrade = "consensus"
    totals: Totals = UNLIMITED
    jobs: int | None = None
    process: int | None = None
    """The process that worked on it last."""
    seconds: float = 0.0
    """Wall time, over all its sittings."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The `entries` to run in `directory`, `jobs` at once (None: as many as the models answer at once)."""

    directory: Path
    entries: Sequence[Entry]
    settings: Settings
    environ: Mapping[str, str]
    totals: Totals = UNLIMITED
    jobs: int | None = None
    ray: str | None = None
    """The address of a Ray cluster to run it on; None: this process."""
    redo: bool = False
    """Do again what another model has finished."""
