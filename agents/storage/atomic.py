"""Files that are whole at every moment."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that `path` always holds either the old or the new text, also after a power loss."""
    write_pieces_atomically(path, (text,))


def write_pieces_atomically(path: Path, pieces: Iterable[str]) -> None:
    """Write the text that `pieces` make together as `write_atomically` does, holding one piece at a time."""
    replace_atomically(path, (piece.encode("utf-8", "surrogatepass") for piece in pieces))


def replace_atomically(path: Path, pieces: Iterable[bytes], *, mode: int = 0o644) -> None:
    """Write the bytes that `pieces` make together, with the permissions `mode`, as `write_atomically` does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def make_names_last(folder: Path) -> None:
    """Have the names in `folder` outlast a power loss; Windows has no way to ask for it."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
