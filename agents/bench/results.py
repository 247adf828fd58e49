"""The results of a benchmark: a record of each task that every table is made from, an atomic file each."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_regular
from ..records import Grade, Usage
from ..storage.atomic import write_atomically
from ..storage.json_form import dumped, loaded


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden tests' verdict on a solution: the benchmark's own (`base`), and those and EvalPlus's (`plus`)."""

    base: bool
    plus: bool


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One strategy on one task with one seed."""

    task_id: str
    strategy: str
    seed: int
    solution: str
    """The module that the strategy returns; empty where it has none."""
    grade: Grade | None
    claimed: bool
    """True if the strategy says that it is right."""
    hidden: Hidden | None = None
    """None without a solution."""
    rounds: int = 0
    drafts: int = 0
    usage: Usage = field(default_factory=Usage)
    """Spent on model calls, replayed ones included."""
    seconds: float = 0.0
    error: str | None = None
    matched: int | None = None
    """Its limit of generated tokens, if set to the usage of another strategy."""
    lost_to_repair: bool = False
    """True if its first draft is right on the hidden tests, and the repair that it returns is not."""
    changed_lines: int | None = None
    """Lines in which a repair differs from the buggy program."""
    clauses: int = 0
    """Clauses of the spec; 0 where the strategy reads none."""
    alike: int = 0
    """Drafts that behave as the solution does; 0 where the strategy compares none."""
    unchecked: int = 0
    """Clauses that nothing checks, as the strategy reports."""
    answers: int = 0
    """Answers to its questions that it was given."""

    def __str__(self) -> str:
        """Say what came of it."""
        right = self.hidden is not None and self.hidden.plus
        return f"{self.task_id} by {self.strategy}: {self.grade or self.error}, {'right' if right else 'wrong'}"


_PLAN_FILE = "measurement.json"
_PROOF_FILE = "proof.txt"


class Journal:
    """The results in `directory`/cells and the recorded replies in `directory`/replies."""

    def __init__(self, directory: Path, plan: Mapping[str, object], *, again: bool = False) -> None:
        """Open or begin the measurement that `plan` describes; with `again` only the replies are kept. Raises
        UsageError where the directory holds another measurement, or can't be written, or a link leads out."""
        self.directory = directory
        self._root = contained(directory)
        self.replies = directory / "replies"
        self._cells = directory / "cells"
        text = json.dumps(plan, indent=1, sort_keys=True) + "\n"
        try:
            path = directory / _PLAN_FILE
            other = self._kept(path) not in (None, text.encode())
            if again:
                shutil.rmtree(self._cells, ignore_errors=True)
            elif other:
                raise UsageError(
                    f"{directory} holds another measurement ({_PLAN_FILE}); choose another --out, or do this one "
                    "with --again on its recorded replies."
                )
            if other:
                (directory / _PROOF_FILE).unlink(missing_ok=True)
            write_atomically(path, text, self._root)
        except OSError as error:
            raise UsageError(f"{directory} can't be written ({error.strerror}); choose another --out.") from error

    @property
    def proof(self) -> str | None:
        """The sentence of the Proof of the hidden tests; None before they were proved here."""
        kept = self._kept(self.directory / _PROOF_FILE)
        return None if kept is None else kept.decode("utf-8", "replace").strip()

    @proof.setter
    def proof(self, sentence: str) -> None:
        write_atomically(self.directory / _PROOF_FILE, f"{sentence}\n", self._root)

    def find(self, task_id: str, strategy: str, seed: int) -> TaskResult | None:
        """Return the stored result of this task, strategy and seed; None without one, or for a damaged file."""
        try:
            found: TaskResult = loaded(TaskResult, self._kept(self._path(task_id, strategy, seed)) or b"")
        except ValueError:
            return None
        return found if found.task_id == task_id else None

    def add(self, result: TaskResult) -> None:
        """Store `result`. Raises UsageError for a link out of the directory, and OSError."""
        path = self._path(result.task_id, result.strategy, result.seed)
        write_atomically(path, dumped(result, indent=1) + "\n", self._root)

    def _kept(self, path: Path) -> bytes | None:
        """Return the bytes of a file in the directory; None where it is missing, or a link out of it."""
        try:
            return read_regular(path, self._root)
        except (OSError, UsageError):
            return None

    def _path(self, task_id: str, strategy: str, seed: int) -> Path:
        name = re.sub(r"[^A-Za-z0-9-]+", "-", task_id)
        return self._cells / strategy / str(seed) / f"{name}.json"
