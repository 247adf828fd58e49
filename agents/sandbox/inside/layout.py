"""A job's /src and /box as directories of the machine, where no mount namespace gives it its own."""

from __future__ import annotations

# Importing pathlib would delay every job.
# ruff: noqa: PTH101, PTH102, PTH103, PTH106, PTH108, PTH114, PTH118, PTH120, PTH123
import os

TYPE_CHECKING = False  # typing's own would be imported, and delay every job
if TYPE_CHECKING:
    from collections.abc import Mapping


def place(directory: str, files: Mapping[str, bytes], owner: int | None = None) -> None:
    """Make `directory` with `files` below src, read-only, and an empty box, which user `owner` may write in."""
    os.mkdir(directory, 0o700)
    os.mkdir(f"{directory}/box", 0o755)
    place_files(f"{directory}/src", files)
    if owner is not None:
        os.chown(f"{directory}/box", owner, owner)
        os.chmod(directory, 0o711)  # noqa: S103 - its owner is another user


def place_files(directory: str, files: Mapping[str, bytes]) -> None:
    """Write `files` below a directory, for everybody to read."""
    os.makedirs(directory, 0o755, exist_ok=True)
    for name, content in files.items():
        path = f"{directory}/{name}"
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o444)


def rewritten(text: str, directory: str) -> str:
    """Return `text` with a leading /src or /box moved below `directory`."""
    for name in ("/src", "/box"):
        if text == name or text.startswith(name + "/"):
            return directory + text
    return text


def remove_tree(path: str) -> None:
    """Delete a directory, where it exists, whatever modes a job gave to directories of its own."""
    if not os.path.lexists(path):
        return
    for directory, names, files in os.walk(path):
        for name in names:
            inner = os.path.join(directory, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)
        for name in files:
            os.unlink(os.path.join(directory, name))
    for directory, names, _ in os.walk(path, topdown=False):
        for name in names:
            inner = os.path.join(directory, name)
            (os.unlink if os.path.islink(inner) else os.rmdir)(inner)
    os.rmdir(path)
