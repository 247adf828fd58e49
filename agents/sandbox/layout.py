"""A job's /src and /box as directories of this machine, where no mount namespace gives it its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .interface import Job


def place(job: Job) -> Path:
    """A new temporary directory with the job's files below src, read-only, and an empty box."""
    root = Path(tempfile.mkdtemp(prefix="greenloop-"))
    (root / "box").mkdir()
    source = root / "src"
    source.mkdir()
    for name, content in job.files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o444)
    return root


def rewritten(argument: str, root: Path) -> str:
    """`argument` with a leading /src or /box moved below `root`."""
    for name in ("/src", "/box"):
        if argument == name or argument.startswith(name + "/"):
            return str(root) + argument
    return argument
