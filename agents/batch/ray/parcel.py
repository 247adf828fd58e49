"""A folder as bytes, for machines that share no file system."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MOST_BYTES = 64 * 1024 * 1024
"""Of all files of a parcel together, unpacked."""
MOST_FILES = 10_000


class ParcelRefused(Exception):
    """A folder that is too large to send, or bytes that are no parcel; `str(error)` says which."""


def pack(folder: Path) -> bytes:
    """The regular files under `folder` as a compressed tar archive. Raises ParcelRefused."""
    buffer, size = io.BytesIO(), 0
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for count, path in enumerate(_files(folder)):
            size += path.stat().st_size
            if size > MOST_BYTES or count >= MOST_FILES:
                raise ParcelRefused(f"it has more than {MOST_BYTES >> 20} MiB or {MOST_FILES} files")
            archive.add(path, path.relative_to(folder).as_posix(), recursive=False)
    return buffer.getvalue()


def unpack(parcel: bytes, folder: Path) -> None:
    """Bring the files of `parcel` to `folder`, which is whole at every moment.

    They are written beside it first. A folder that is not there yet appears at once, with all of them; in one that
    is, each file is replaced at once, `run.json` last. Other files in it stay. Raises ParcelRefused and OSError.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        arrived = Path(beside, "arrived")
        arrived.mkdir()
        for name, content in _contents(parcel):
            _write(arrived.joinpath(*name.parts), content)
        if not folder.exists():
            arrived.rename(folder)
            return
        for path in sorted(_files(arrived), key=lambda path: (path.name == "run.json", path)):
            target = folder / path.relative_to(arrived)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path


def _contents(parcel: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Names and contents, one after the other: a size is believed only within the bounds."""
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(parcel), mode="r:gz") as archive:
            for count, member in enumerate(archive):
                name = PurePosixPath(member.name)
                size += member.size
                if not member.isreg() or name.is_absolute() or ".." in name.parts or "\\" in member.name:
                    raise ParcelRefused(f"it holds {member.name!r}, which is no plain file of a folder")
                if size > MOST_BYTES or count >= MOST_FILES:
                    raise ParcelRefused(f"it has more than {MOST_BYTES >> 20} MiB or {MOST_FILES} files")
                content = archive.extractfile(member)
                assert content is not None
                yield name, content.read()
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise ParcelRefused(f"it is damaged ({error})") from error


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
