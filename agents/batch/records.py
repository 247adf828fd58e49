"""The records of a batch: entries, results, tasks, and facts about the whole."""

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
"""`finished`: the run ended by itself. `stopped`: an error ended it (its budget, an unreachable model, a broken
sandbox). `interrupted`: the user ended it. `bad`: the spec can't be read. `blocked`: an entry that it needs is
below the required grade. `not started`: it never began."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One spec or heal of a batch, or the `error` why it can't be read."""

    id: str
    """Unique in its batch and independent of the order; also the name of its folder."""
    where: str
    """Its place, for messages: `specs/slugify.md`, or `specs.jsonl:3`."""
    spec: Spec | None = None
    error: str | None = None
    needs: tuple[str, ...] = ()
    """Ids of the entries whose code it uses: it begins after they have the required grade."""
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
    """The result of one entry. `digest` is the hash of all that it depends on (spec, settings, models)."""

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
    """Folder of its code and tests, relative to the batch's directory; None where nothing was written."""
    run: str | None = None
    """Its run directory, relative to the batch's directory, for `show` and the report's rounds."""
    heal: HealOutcome | None = None
    """How a heal ended; None for a spec."""
    tries: int = 1
    """How often it was begun: more than once after a lost worker or a killed batch."""
    attempt: Failure | None = None
    """Why a newer attempt, with another model or settings, is not finished; None without one."""

    @property
    def final(self) -> bool:
        """True if a resumed batch does not run it again."""
        return self.status == "finished" or (self.error is not None and self.error.kind == "budget_spent")


@dataclass(frozen=True, slots=True)
class Task:
    """An entry in the journal: begun `tries` times; `result` is None until there is one."""

    entry: Entry
    digest: str
    tries: int = 0
    result: EntryResult | None = None

    @classmethod
    def planned(cls, entry: Entry, digest: str) -> Self:
        """Return the task of a new entry; one that can't be read has its result already."""
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
        """The known usage of earlier tries."""
        return self.result.usage if self.result is not None else Usage()

    def unfinished(self, status: EntryStatus = "stopped") -> EntryResult:
        """Return the result of an entry that is not finished."""
        entry = self.entry
        return EntryResult(entry.id, entry.where, self.digest, status, 1, title=entry.title, tries=self.tries)


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a batch as a whole in its journal."""

    created: str = ""
    """Time of the start, ISO 8601 with zone; empty where it is not known."""
    settings: dict[str, Any] = field(default_factory=dict)
    required: RequiredGrade = "consensus"
    totals: Totals = UNLIMITED
    jobs: int | None = None
    process: int | None = None
    """Id of the process that ran it last."""
    seconds: float = 0.0
    """Wall time, with earlier calls that were resumed."""


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
    """Run again what another model has finished."""
