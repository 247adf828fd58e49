"""A folder as a compressed tar archive, for machines that share no file system."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ...files import contained
from ...storage.atomic import replace_atomically

MOST_BYTES = 64 * 1024 * 1024
"""Of all files of an archive together, unpacked."""
MOST_FILES = 10_000
_TOO_LARGE = f"it has more than {MOST_BYTES >> 20} MiB or {MOST_FILES} files"


class ArchiveRefused(Exception):
    """A folder is too large to send, or bytes are no archive; `str(error)` says which."""


def pack(folder: Path) -> bytes:
    """Pack the regular files under `folder` into a compressed tar archive. Raises ArchiveRefused."""
    buffer, size = io.BytesIO(), 0
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for count, path in enumerate(_files(folder)):
            size += path.stat().st_size
            if size > MOST_BYTES or count >= MOST_FILES:
                raise ArchiveRefused(_TOO_LARGE)
            archive.add(path, path.relative_to(folder).as_posix(), recursive=False)
    return buffer.getvalue()


def unpack(archive: bytes, folder: Path) -> None:
    """Write the files of `archive` to `folder`.

    They are written beside it first. A missing folder is made by one rename; in an existing one each file is
    replaced atomically, `run.json` last, and other files stay. Raises ArchiveRefused, OSError, and UsageError for
    a link out of it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        arrived = Path(beside, "arrived")
        arrived.mkdir()
        for name, content in _contents(archive):
            replace_atomically(arrived / name, [content])
        if not folder.exists():
            arrived.rename(folder)
            return
        for path in sorted(_files(arrived), key=lambda path: (path.name == "run.json", path)):
            target = folder / path.relative_to(arrived)
            contained(target.parent, folder).mkdir(parents=True, exist_ok=True)
            path.replace(target)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path


def _contents(archive: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield names and contents one by one, with all sizes checked before reading."""
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
            for count, member in enumerate(members):
                name = PurePosixPath(member.name)
                size += member.size
                if not member.isreg() or name.is_absolute() or ".." in name.parts or "\\" in member.name:
                    raise ArchiveRefused(f"it holds {member.name!r}, which is no plain file of a folder")
                if size > MOST_BYTES or count >= MOST_FILES:
                    raise ArchiveRefused(_TOO_LARGE)
                content = members.extractfile(member)
                assert content is not None
                yield name, content.read()
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise ArchiveRefused(f"it is damaged ({error})") from error
