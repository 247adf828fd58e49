"""The commands `batch`, `batch status` and `batch merge`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from ..errors import UsageError
from ..settings import MORE, UNLIMITED, BatchSettings, Count, Output, RequiredGrade, Settings, Totals
from ..terminal.console import Console
from .ending import conclude, handled

if TYPE_CHECKING:
    from ..batch.driver import Stop
    from ..batch.outcome import BatchResult
    from ..batch.records import Batch, Entry


def batch(
    *specs: str,
    out: Path | None = None,
    resume: Path | None = None,
    jobs: Count | None = None,
    totals: Totals = UNLIMITED,
    check: bool = False,
    shard: Annotated[str | None, MORE] = None,
    ray: Annotated[str | None, MORE] = None,
    package: Annotated[Path | None, MORE] = None,
    redo: Annotated[bool, MORE] = False,
    own: BatchSettings = BatchSettings(),
    output: Output = Output(),
) -> int:
    """Turn many specs into tested modules; stopped, it goes on where it was.

    Exit code 0 only if every spec reached --require; 1 if one did not, or could not be read; 2 if none could be
    read; 3 or 4 if no model or no sandbox could be had; 5 if a --total-... limit was reached; 130 if interrupted.

    Args:
        specs: Markdown specs, folders or globs of them, YAML, JSON Lines or CSV files, or `-`.
        out: Where results are kept. Given again, only what is new is done.
        resume: Go on with the batch in this directory, as it was begun.
        jobs: Specs at once; by default as many as the model answers.
        check: Only read the specs, and list them.
        shard: Only this share of the specs, `i/n`, for one of n machines.
        ray: A Ray cluster: `auto`, `HOST:PORT`, `ray://HOST:PORT` or `local`.
        package: Write the results into this folder too, as a package with tests.
        redo: Do again what another model has finished.
    """
    from ..batch.batch import run_batch
    from ..batch.package import check_package, packaged
    from ..batch.records import Batch
    from ..terminal.batch_console import BatchConsole

    console = Console(quiet=output.quiet, color=output.color)

    def work(stream: TextIO) -> BatchResult | int:
        if check:
            return _list(_read(specs, shard), console, stream if output.json else None)
        if resume is not None:
            wanted = _stored(resume, own, totals, jobs, (*specs, out, shard), console)
        elif out is None:
            ways = "with --out DIR, or go on with a batch, with --resume DIR"
            raise UsageError(f"Say where results are kept, {ways}.")
        else:
            wanted = Batch(out, _read(specs, shard), Settings.of(own), os.environ, totals, jobs)
        wanted = replace(wanted, ray=ray, redo=redo)
        if package is not None:
            check_package(package)
        result = run_batch(wanted, lambda *counts: BatchConsole(console, *counts).progress(), _interruptible)
        return result if package is None else packaged(package, result, wanted.settings)

    interrupted = "Interrupted before the batch began, or while it was reported on."
    return _concluded(console, output.json, work, interrupted)


def _concluded(
    console: Console, as_json: bool, work: Callable[[TextIO], BatchResult | int], interrupted: str
) -> int:
    """Call `conclude` for the result of a batch."""
    from ..batch.outcome import SCHEMA_VERSION, BatchResult
    from ..terminal.batch_console import print_batch

    failed = partial(BatchResult, SCHEMA_VERSION)
    return conclude(console, as_json, work, failed, interrupted, partial(print_batch, console))


def _read(specs: Sequence[str], shard: str | None) -> tuple[Entry, ...]:
    """Read the entries of this machine's shard. Raises UsageError where there is nothing to read."""
    from ..batch.entries import read_entries
    from ..batch.shards import parse_shard, shard_of
    from ..batch.supply import group_keys

    entries = read_entries(specs, sys.stdin)
    if shard is None:
        return entries
    (index, count), keys = parse_shard(shard), group_keys(entries)
    return tuple(entry for entry in entries if shard_of(keys[entry.id], count) == index)


def _stored(
    directory: Path,
    own: BatchSettings,
    totals: Totals,
    jobs: int | None,
    given: Sequence[object],
    console: Console,
) -> Batch:
    """Return the batch in `directory` as it was planned; a flag of this call overrides a stored setting."""
    from ..batch.journal import Journal
    from ..batch.records import Batch
    from ..run.recorded_settings import gone_on

    if any(value is not None for value in given):
        raise UsageError("A resumed batch has its specs; give --resume DIR alone, or specs with --out DIR.")
    given_now = {name: value for name, value in asdict(totals).items() if value is not None}
    with Journal(directory, read_only=True) as journal:
        facts, entries = journal.facts, tuple(task.entry for task in journal.tasks())
    settings = gone_on(own, facts.settings, str(directory), console.emit)
    totals = replace(facts.totals, **given_now)
    return Batch(directory, entries, settings, os.environ, totals, jobs or facts.jobs)


def _interruptible(stop: Callable[[Stop], None]) -> AbstractContextManager[None]:
    """Handle signals: Ctrl-C lets running entries end, a second one, SIGTERM and SIGHUP cancel them at once."""
    now = partial(stop, "now")
    return handled({"SIGINT": partial(stop, "soon"), "SIGTERM": now, "SIGHUP": now})


def _list(entries: Sequence[Entry], console: Console, stream: TextIO | None) -> int:
    """List the entries; return 2 where all of them are bad, 1 where some are, else 0."""
    from ..terminal.batch_console import entry_lines

    if stream is not None:
        console.document(entries, stream)
    else:
        console.lines(entry_lines(entries))
    bad = sum(entry.error is not None for entry in entries)
    return 0 if not bad else UsageError.exit_code if bad == len(entries) else 1


def status(directory: Path, /, *, json: bool = False) -> int:
    """Say how a batch stands, from any terminal, while it runs or afterwards.

    Args:
        directory: The batch's --out.
        json: Print one JSON document and nothing else.
    """
    from ..batch.outcome import batch_status
    from ..terminal.batch_console import status_lines

    console = Console()

    def work(stream: TextIO) -> int:
        found = batch_status(directory)
        if json:
            console.document(found, stream)
        else:
            console.lines(status_lines(found))
        return 0

    return _concluded(console, json, work, "Interrupted; ask again.")


def merge(*directories: Path, out: Path, require: RequiredGrade | None = None, json: bool = False) -> int:
    """Join the results of shards into one batch, with its reports; its exit code is that of the whole.

    Args:
        directories: What each shard had as --out.
        out: Where the whole is kept.
        require: The lowest grade that ends in exit code 0; by default what the first shard required.
        json: Print one JSON document and nothing else.
    """
    from ..batch import shards

    def work(_: TextIO) -> BatchResult:
        if not directories:
            raise UsageError("Give the directories of the shards.")
        return shards.merge(directories, out, require)

    return _concluded(Console(), json, work, "Interrupted; give another --out.")
