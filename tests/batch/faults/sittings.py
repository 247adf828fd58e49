"""A batch as its user runs it, once or in many sittings, and what must be true of it in the end."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.batch.journal import JOURNAL_FILE, Journal
from agents.errors import UsageError

from ...support.commands import command, environment
from .provider import Served
from .specs import Task, tasks, write_specs

SETTINGS = ("--effort", "low", "--no-mutation")
MODEL = "openai/some-name"
KEY = {"OPENAI_API_KEY": "k"}


@dataclass(frozen=True)
class Sittings:
    """The batch of the first `count` tasks in `directory`, `jobs` at once, with `served` as its model."""

    directory: Path
    served: Served
    count: int
    jobs: int = 8
    before: tuple[str, ...] = ()
    """The beginning of the command line."""

    @cached_property
    def tasks(self) -> list[Task]:
        return tasks(self.count)

    @cached_property
    def specs(self) -> list[str]:
        return write_specs(self.directory, self.tasks)

    @property
    def out(self) -> Path:
        return self.directory / "out"

    @property
    def output(self) -> Path:
        """Return the output of all sittings, one after the other."""
        return self.directory / "output.txt"

    def arguments(self, *options: str) -> list[str]:
        given = (*self.specs, "--out", str(self.out), "--model", MODEL, "--api-base", self.served.api_base)
        return [*self.before, *command("batch", *given, "--jobs", str(self.jobs), *SETTINGS, *options)]

    @contextmanager
    def sitting(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """The command under way, in a session of its own; killed and waited for after the body."""
        arguments = self.arguments(*options)
        with self.output.open("ab") as output:
            process = subprocess.Popen(
                arguments,
                cwd=self.directory,
                env=environment(self.directory, KEY),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def run(self, *options: str, seconds: float = 600) -> int:
        """A sitting to its own end; its exit code."""
        with self.sitting(*options) as process:
            return process.wait(seconds)

    def captured(self, *options: str, seconds: float = 600) -> subprocess.CompletedProcess[str]:
        """A sitting to its own end, with what it alone prints."""
        ended = subprocess.run(
            self.arguments(*options),
            cwd=self.directory,
            env=environment(self.directory, KEY),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        with self.output.open("a") as output:
            output.write(ended.stdout + ended.stderr)
        return ended

    def finished(self) -> frozenset[str]:
        """Ids of the entries that have an end in the journal."""
        try:
            with Journal(self.out, read_only=True) as journal:
                return frozenset(row.entry.id for row in journal.tasks() if row.result and row.result.final)
        except UsageError:  # not there yet
            return frozenset()

    def printed(self) -> str:
        return self.output.read_text(errors="replace")

    def results(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.out / "results.jsonl").read_text().splitlines()]

    def require_all_as_expected(self) -> None:
        """Every task ended once, with the grade and the code that a run without faults comes to."""
        results = self.results()
        ends = {(result["id"], result["status"], result["grade"]) for result in results}
        wanted = {(task.name, "finished", task.grade) for task in self.tasks}
        assert ends == wanted, (ends ^ wanted, results)
        assert len(results) == self.count
        for task in self.tasks:
            code = (self.out / "specs" / task.name / "user_code.py").read_text()
            assert code.strip() == task.code.strip()
        self.require_whole()

    def require_whole(self) -> None:
        """The journal is intact by SQLite's own word, and no sitting has shown a traceback."""
        with closing(sqlite3.connect(self.out / JOURNAL_FILE)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert "Traceback" not in self.printed()

    def require_nothing_done_again(self, kept: Sequence[tuple[int, frozenset[str]]]) -> None:
        """For each moment, given as the number of requests by then and the ids finished: none of those was asked
        for later."""
        asked = self.served.asked()
        for number, ids in kept:
            again = {seen.task for seen in asked[number:]} & ids
            assert not again, f"asked for after their end was in the journal: {sorted(again)}"
