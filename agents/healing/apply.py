"""Writes a patch into the user's files, all or none, and undoes it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_regular
from ..records.heal import WrittenFile
from ..storage.atomic import make_names_last
from ..storage.user_file import UserFile, read_user_file, replace_bytes
from ..worktree.git import git_root, uncommitted
from ..worktree.tree import Tree

BACKUP = ".heal-backup"
_BACKUP = re.compile(rf"{re.escape(BACKUP)}(\.\d+)?$")


def open_targets(tree: Tree, paths: Sequence[str], *, force: bool) -> dict[str, UserFile]:
    """Read the files that a patch may be written into, by their path in `tree`.

    A link to a file in the project stands for that file. Raises UsageError for a file that can't be written, leads
    out of the project, has uncommitted changes (unless `force`), or differs from the tree's.
    """
    targets = {}
    root = tree.root
    project = ((None if force else git_root(root)) or root).resolve()
    for path in paths:
        place = (root / path).resolve()
        if not place.is_relative_to(project):
            raise UsageError(
                f"{root / path} leads out of the project {project}; heal the file that it names there."
            )
        targets[path] = read_user_file(place, broken=True)
        if targets[path].data != tree.files[path]:
            raise UsageError(f"{place} is not what is run: --data gives another file for it, or it was changed.")
        if not force and uncommitted(place):
            raise UsageError(
                f"{place} has changes that are not committed; commit them, or write all the same by --apply-force."
            )
    return targets


def write(
    targets: Mapping[str, UserFile], files: Mapping[str, str], keep: Callable[[tuple[WrittenFile, ...]], None]
) -> None:
    """Write the new texts `files`, all or none, with a backup beside each file.

    `keep` records the writes before the first one, so that `undo` finds them even if the process is killed, and an
    empty tuple after an error. Raises UsageError where a file was changed since it was read, and StorageFailed.
    """
    for path in files:
        targets[path].check_unchanged()
    new = {path: targets[path].encoded(text) for path, text in files.items()}
    written: list[WrittenFile] = []
    for path, data in new.items():
        target = targets[path]
        backup = target.back_up(target.path.with_name(target.path.name + BACKUP))
        make_names_last(backup.parent)
        written.append(WrittenFile(str(target.path), str(backup), _digest(data), _digest(target.data)))
    keep(tuple(written))
    try:
        for path, data in new.items():
            targets[path].write(data)
    except BaseException:
        for each in written:
            with suppress(UsageError):  # not written yet, but changed by another program
                undo([each], Path(each.file).parent, each.file)
        keep(())
        raise


def undo(written: Sequence[WrittenFile], root: Path, named: str) -> list[str]:
    """Restore the bytes of files from before a heal of `named`; return the files that were changed by it.

    `written` is untrusted: a file has to be `named` or Python, below `root`, behind no link, its backup beside it.
    Raises UsageError where it is not, where a file or its backup was changed since, and StorageFailed.
    """
    earlier = {}
    for each in written:
        path, backup = Path(each.file), Path(each.backup)
        if not path.is_relative_to(root.resolve()):
            raise UsageError(f"{path} lies outside of {root}; undo that from its project: heal FOLDER --undo RUN")
        ours = path.suffix == ".py" or path == Path(named).resolve()
        beside = path.parent == backup.parent and _BACKUP.sub("", backup.name) == path.name != backup.name
        if not ours or not beside or contained(path, root) != path or contained(backup, root) != backup:
            raise UsageError(f"{backup} is no backup that a heal keeps of {path}; nothing was undone.")
        try:
            now = _digest(read_regular(path, root))
            if now == each.before:
                continue
            if now != each.digest:
                raise UsageError(f"{path} was changed since; its bytes before the heal are in {backup}.")
            data = read_regular(backup, root)
            if each.before not in ("", _digest(data)):
                raise UsageError(f"{backup} was changed since the heal; nothing was undone.")
            earlier[path] = (data, path.stat().st_mode & 0o7777)
        except OSError as error:
            raise UsageError(f"{error.filename} can't be read ({error.strerror}); nothing was undone.") from error
    for path, (data, mode) in earlier.items():
        replace_bytes(path, data, mode)
    return list(map(str, earlier))


def patched(written: Sequence[WrittenFile]) -> list[str]:
    """Return the files whose bytes differ from those before the heal."""
    return [each.file for each in written if each.before != _digest_of(Path(each.file))]


def _digest_of(path: Path) -> str | None:
    with suppress(OSError, UsageError):
        return _digest(read_regular(path))
    return None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
