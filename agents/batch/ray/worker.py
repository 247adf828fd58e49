"""A worker of a batch on a cluster: a process that opens its own sandbox and models, and does one task at a time.

Imports no Ray: what runs inside an actor is plain Python.
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
from ...records import Failure, Usage
from ...run.cancellation import Cancellation
from ...run.resources import Resources, open_resources
from ...settings import Settings
from ..journal import Task
from ..records import EntryResult
from ..totals import TotalBudget, Totals
from ..worker import Worker
from .parcel import ParcelRefused, pack, unpack

MOST_WARNINGS = 20
"""That a task brings home."""


@dataclass(frozen=True, slots=True)
class Order:
    """A task, what it may spend of the batch's totals, and what its run has recorded in an earlier try."""

    task: Task
    left: Totals
    run: bytes | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of an order: the entry's result and its run directory (None: there is none)."""

    result: EntryResult
    run: bytes | None
    warnings: tuple[str, ...] = ()


class RayWorker:
    """Does tasks by `settings` with the keys in `environ`, which is by default that of its own machine."""

    def __init__(self, settings: Settings, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._environ = os.environ if environ is None else environ
        self._cancellation = Cancellation()
        self._held = ExitStack()
        self._resources: Resources | None = None

    def open(self, version: str) -> Failure | None:
        """Open sandbox and models for all tasks; why not, where that can't be. `version` is the driver's."""
        if version != __version__:
            sentence = f"A node has greenloop {__version__} and the driver {version}; install the same on all."
            return Failure(UsageError.kind, sentence)
        try:
            self._resources = self._held.enter_context(open_resources(self._settings, self._environ, ignore_event))
        except GreenloopError as error:
            return Failure(error.kind, str(error))
        return None

    def do(self, order: Order) -> Delivery:
        """Do a task in a directory of its own, of which the run comes home."""
        assert self._resources is not None, "open it first"
        task = order.task
        warnings: dict[str, None] = {}

        def hear(_: str, event: Event) -> None:
            if isinstance(event, Note) and event.warning and len(warnings) < MOST_WARNINGS:
                warnings[event.text] = None

        with TemporaryDirectory(prefix="greenloop-") as directory:
            run = Path(directory, task.run)
            if order.run is not None:
                unpack(order.run, run)
            total = TotalBudget(order.left, Usage())
            worker = Worker(
                Path(directory), self._settings, self._environ, self._resources, total, self._cancellation, hear
            )
            result = worker(task)
            try:
                return Delivery(result, pack(run) if run.is_dir() else None, tuple(warnings))
            except ParcelRefused as refusal:
                failure = Failure(
                    "too_large", f"Its run can't be sent home: {refusal}; do this spec on one machine."
                )
                return Delivery(_without_files(result, failure), None, tuple(warnings))

    def cancel(self) -> None:
        """End what is running now, and refuse what follows; from another thread."""
        self._cancellation.cancel()

    def close(self) -> None:
        """Close sandbox and models."""
        self._held.close()


def _without_files(result: EntryResult, failure: Failure) -> EntryResult:
    return replace(result, status="stopped", exit_code=1, grade=None, error=failure, folder=None, run=None)
