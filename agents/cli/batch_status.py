"""The status of a batch, and shards of one joined."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from cyclopts import Parameter

from ..errors import UsageError
from ..settings import RequiredGrade
from ..terminal.console import Console
from .ending import conclude, document_alone

if TYPE_CHECKING:
    from ..batch.outcome import BatchResult


def status(directory: Path, /, *, json: Annotated[bool, Parameter(negative="")] = False) -> int:
    """Say how a batch stands, from any terminal, while it runs or afterwards.

    Parameters
    ----------
    directory
        The batch's --out.
    json
        Print one JSON document on standard output and nothing else.
    """
    from ..batch.outcome import batch_status
    from ..terminal.batch_console import status_lines

    found = batch_status(directory)
    console = Console()
    if json:
        with document_alone(json) as stream:
            console.document(found, stream)
    else:
        console.lines(status_lines(found))
    return 0


def merge(
    *directories: Path,
    out: Path,
    require: RequiredGrade | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Join the results of shards into one batch, with its reports; its exit code is that of the whole.

    Parameters
    ----------
    directories
        What each shard had as --out.
    out
        Where the whole is kept.
    require
        The lowest grade that ends in exit code 0; by default what the first shard required.
    json
        Print one JSON document on standard output and nothing else.
    """
    from ..batch import merge as batches
    from ..batch.outcome import failed_batch
    from ..terminal.batch_console import print_batch

    console = Console()

    def work(_: TextIO) -> BatchResult:
        if not directories:
            raise UsageError("Give the directories of the shards.")
        return batches.merge(directories, out, require)

    return conclude(
        console, json, work, failed_batch, partial(print_batch, console), "Interrupted; give another --out."
    )
