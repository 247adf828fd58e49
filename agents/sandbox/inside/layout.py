"""A job's /src and /box as directories of the machine, for a job without a mount namespace."""

from __future__ import annotations

# Importing pathlib would delay every job.
# ruff: noqa: PTH101, PTH102, PTH103, PTH104, PTH106, PTH108, PTH112, PTH114, PTH120, PTH123, PTH208
import os

TYPE_CHECKING = False  # typing's own would be imported, and delay every job
if TYPE_CHECKING:
    from collections.abc import Mapping


def place(directory: str, files: Mapping[str, bytes], owner: int | None = None) -> None:
    """Make `directory` with read-only `files` in src and an empty box that belongs to user `owner`."""
    os.mkdir(directory, 0o700)
    os.mkdir(f"{directory}/box", 0o755)
    place_files(f"{directory}/src", files)
    if owner is not None:
        os.chown(f"{directory}/box", owner, owner)
        os.chmod(directory, 0o711)  # noqa: S103 - its owner is another user


def place_files(directory: str, files: Mapping[str, bytes]) -> None:
    """Write `files` below a directory, readable for all users."""
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
    """Delete a directory, if it exists, of any depth and with any modes."""
    if not os.path.lexists(path):
        return
    pending = [path]
    for directory in pending:
        os.chmod(directory, 0o700)
        for name in os.listdir(directory):
            inner = f"{directory}/{name}"
            if os.path.islink(inner) or not os.path.isdir(inner):
                os.unlink(inner)
                continue
            # Moved up, since the kernel takes no path of more than 4,095 bytes.
            pending.append(f"{path}/{os.urandom(8).hex()}")
            os.chmod(inner, 0o700)
            os.rename(inner, pending[-1])
    for directory in reversed(pending):
        os.rmdir(directory)
