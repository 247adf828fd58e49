"""Write a patch into the user's files, all or none, and take it back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import GreenloopError, StorageFailed, UsageError
from ..records.heal import WrittenFile
from ..storage.atomic import replace_atomically
from ..storage.user_file import UserFile, read_user_file
from .git import git_root, uncommitted

BACKUP = ".heal-backup"


def open_targets(root: Path, paths: Sequence[str], *, force: bool) -> dict[str, UserFile]:
    """Read the files that a patch may be written into, by their path below `root`.

    Raises UsageError where one can't be written, leads out of the project, or has changes that git does not know
    (`force`: those may be). A link to a file in the project stands for that file.
    """
    targets = {}
    project = ((None if force else git_root(root)) or root).resolve()
    for path in paths:
        place = (root / path).resolve()
        if not place.is_relative_to(project):
            raise UsageError(
                f"{root / path} leads out of the project {project}; heal the file that it names there."
            )
        targets[path] = read_user_file(place, broken=True)
        if not force and uncommitted(place):
            raise UsageError(
                f"{place} has changes that are not committed; commit them, or write all the same by --apply-force."
            )
    return targets


def write(targets: Mapping[str, UserFile], files: Mapping[str, str]) -> tuple[WrittenFile, ...]:
    """Write the new texts `files`, each file's earlier bytes kept beside it.

    Raises UsageError where a file is not as it was read, and StorageFailed; then no file is changed.
    """
    for path in files:
        targets[path].check_unchanged()
    written: list[WrittenFile] = []
    try:
        for path, text in files.items():
            target = targets[path]
            backup = target.replace(text, target.path.with_name(target.path.name + BACKUP))
            written.append(WrittenFile(str(target.path), str(backup), _digest(target.path)))
    except GreenloopError:
        for path in list(files)[: len(written)]:
            with suppress(OSError):
                replace_atomically(targets[path].path, [targets[path].data], mode=targets[path].mode)
        raise
    return tuple(written)


def undo(written: Sequence[WrittenFile]) -> None:
    """Give files the bytes that they had before. Raises UsageError where one was changed since or its backup is
    gone, and StorageFailed."""
    earlier = {}
    for each in written:
        path = Path(each.file)
        try:
            if _digest(path) != each.digest:
                raise UsageError(f"{path} was changed since; its bytes before the heal are in {each.backup}.")
            earlier[path] = (Path(each.backup).read_bytes(), path.stat().st_mode & 0o7777)
        except OSError as error:
            raise UsageError(f"{error.filename} can't be read ({error.strerror}); nothing was undone.") from error
    for path, (data, mode) in earlier.items():
        try:
            replace_atomically(path, [data], mode=mode)
        except OSError as error:
            raise StorageFailed(f"{path} can't be written ({error.strerror or error}).") from error


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
