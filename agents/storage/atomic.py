"""Atomic writes, never through a link out of the folder."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..files import contained, open_flags, open_regular, opened_folder

PRIVATE = 0o600
"""Mode of files for the user alone, such as specs, prompts and replies."""


def write_atomically(path: Path, text: str, root: Path | None = None, mode: int | None = None) -> None:
    """Write `text` atomically: `path` has the old or the new text at any time, also after a power loss."""
    replace_atomically(path, [text.encode("utf-8", "surrogatepass")], root=root, mode=mode)


def replace_atomically(
    path: Path, pieces: Iterable[bytes], *, root: Path | None = None, mode: int | None = None
) -> None:
    """Write the joined `pieces` as `write_atomically` does, with the permissions `mode` (None: by the umask). A
    link at `path` itself is replaced.

    Raises UsageError where the folder is behind a link out of `root` (see `files.contained`), and OSError.
    """
    folder = contained(path.parent, root)
    folder.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | open_flags("O_CLOEXEC", "O_BINARY")
    with opened_folder(folder) as (descriptor, below):
        temporary = below / f".{path.name}.{secrets.token_hex(8)}"
        handle = os.open(temporary, flags, 0o666 if mode is None else PRIVATE, dir_fd=descriptor)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
                if mode is not None:
                    os.chmod(handle if os.chmod in os.supports_fd else temporary, mode)  # noqa: PTH101
            os.replace(temporary, below / path.name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=descriptor)
            raise


def make_names_last(folder: Path) -> None:
    """Flush the directory `folder` to the disk, so that its names survive a power loss; a no-op on Windows."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def copy_files(source: Path, target: Path, root: Path) -> None:
    """Copy the files below `source` to `target`, below `root`; replace files of the same name. Raises UsageError
    for a link out of `source` and for special files, and OSError."""
    for folder, folders, names in os.walk(source):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_dir() and not path.is_symlink():
                continue
            with os.fdopen(open_regular(path, source), "rb") as file:
                mode = os.fstat(file.fileno()).st_mode & 0o666
                replace_atomically(target / path.relative_to(source), file, root=root, mode=mode)
