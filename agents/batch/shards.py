"""Shards of a batch for several machines, independent of its order, and their merge."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import StorageFailed, UsageError
from ..files import contained
from ..settings import RequiredGrade
from ..storage.atomic import copy_files
from .batch import conclude, lock_directory
from .journal import JOURNAL_FILE, Journal
from .outcome import BatchResult
from .records import Facts, Task


def shard_of(key: str, count: int) -> int:
    """Return the shard (1 to `count`) of the entries with `key`, by its hash."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return 1 + int.from_bytes(digest[:8], "big") % count


def parse_shard(text: str) -> tuple[int, int]:
    """Read a shard such as `2/5`. Raises UsageError."""
    match = re.fullmatch(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", text)
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        raise UsageError(f"`{text[:40]}` is no shard; write i/n with i from 1 to n, such as 2/5.")
    return index, count


def merge(directories: Sequence[Path], out: Path, required: RequiredGrade | None = None) -> BatchResult:
    """Merge the batches in `directories` into a new one in `out`; `required` is by default that of the first one.

    An entry that several have with the same digest counts once, with its most advanced result. Raises UsageError
    for an id with different digests, a directory without a batch, or an `out` with one.
    """
    if (out / JOURNAL_FILE).exists():
        raise UsageError(f"{out} holds a batch already; choose another --out.")
    found: dict[str, tuple[Path, Task]] = {}
    facts: list[Facts] = []
    for directory in {each.resolve(): each for each in directories}.values():
        with Journal(directory, read_only=True) as journal:
            facts.append(journal.facts)
            for task in journal.tasks():
                found[task.entry.id] = _most_advanced(found.get(task.entry.id), (directory, task))
    with lock_directory(out), Journal(out) as journal:
        for directory, task in found.values():
            source = directory / task.entry.folder
            try:
                copy_files(contained(source, contained(directory)), out / task.entry.folder, out)
            except OSError as error:
                raise StorageFailed(f"{source} can't be copied to {out} ({error}).") from error
        journal.plan(task for _, task in found.values())
        created, seconds = min(each.created for each in facts), sum(each.seconds for each in facts)
        whole = Facts(created, facts[0].settings, required or facts[0].required, seconds=seconds)
        return conclude(out, journal, whole, None)


def _most_advanced(known: tuple[Path, Task] | None, other: tuple[Path, Task]) -> tuple[Path, Task]:
    if known is None:
        return other
    (first, task), (second, rival) = known, other
    if task.digest != rival.digest:
        raise UsageError(
            f"{first} and {second} both have a spec `{task.entry.id}`, and not the same one "
            f"({task.entry.where} and {rival.entry.where}, or done with other settings); "
            "merge batches of one set of specs."
        )
    return other if _progress(rival) > _progress(task) else known


def _progress(task: Task) -> int:
    return 0 if task.result is None else 2 if task.result.final else 1
