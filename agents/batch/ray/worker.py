"""A worker of a batch on a cluster: a process that opens its own sandbox and models, and runs one task at a time.

Imports no Ray: an actor's code is plain Python.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ... import __version__
from ...errors import GreenloopError, UsageError
from ...events import Event, Note, ignore_event
from ...llm_backends.budget import TotalBudget
from ...records import Failure, Usage
from ...run.cancellation import Cancellation
from ...run.resources import Resources, open_resources
from ...settings import Settings, Totals
from ..records import EntryResult, Task
from ..worker import Worker
from .archive import ArchiveRefused, pack, unpack

MOST_WARNINGS = 20
"""Returned with a task."""


@dataclass(frozen=True, slots=True)
class RemoteTask:
    """A task, the part of the batch's totals that is left, and the run directory of an earlier try."""

    task: Task
    left: Totals
    run: bytes | None = None


@dataclass(frozen=True, slots=True)
class RemoteResult:
    """The result of a remote task and its run directory (None: there is none)."""

    result: EntryResult
    run: bytes | None
    warnings: tuple[str, ...] = ()


class RayWorker:
    """Runs tasks by `settings` with the keys in `environ`, by default those of its own machine."""

    def __init__(self, settings: Settings, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._environ = os.environ if environ is None else environ
        self._cancellation = Cancellation()
        self._held = ExitStack()
        self._resources: Resources | None = None

    def open(self, version: str) -> Failure | None:
        """Open sandbox and models for all tasks; return the failure if there is one. `version` is the driver's."""
        if version != __version__:
            sentence = f"A node has greenloop {__version__} and the driver {version}; install the same on all."
            return Failure(UsageError.kind, sentence)
        try:
            self._resources = self._held.enter_context(open_resources(self._settings, self._environ, ignore_event))
        except GreenloopError as error:
            return Failure(error.kind, str(error))
        return None

    def run(self, remote: RemoteTask) -> RemoteResult:
        """Run a task in a temporary directory, and return its run directory."""
        assert self._resources is not None, "open it first"
        task = remote.task
        warnings: dict[str, None] = {}

        def on_event(event: Event, _: str) -> None:
            if isinstance(event, Note) and event.warning and len(warnings) < MOST_WARNINGS:
                warnings[event.text] = None

        with TemporaryDirectory(prefix="greenloop-") as directory:
            run = Path(directory, task.run)
            if remote.run is not None:
                unpack(remote.run, run)
            total = TotalBudget(remote.left, Usage())
            where, cancellation = Path(directory), self._cancellation
            worker = Worker(where, self._settings, self._environ, self._resources, total, cancellation, on_event)
            result = worker(task)
            try:
                return RemoteResult(result, pack(run) if run.is_dir() else None, tuple(warnings))
            except ArchiveRefused as refusal:
                sentence = f"Its run can't be sent home: {refusal}; do this spec on one machine."
                error = Failure("too_large", sentence)
                unsent = replace(
                    result, status="stopped", exit_code=1, grade=None, error=error, folder=None, run=None
                )
                return RemoteResult(unsent, None, tuple(warnings))

    def cancel(self) -> None:
        """Cancel the running task, and refuse further ones; from another thread."""
        self._cancellation.cancel()

    def close(self) -> None:
        """Close sandbox and models."""
        self._held.close()
