"""`verify --project`: what the tests of a repository are worth."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TextIO

from ..errors import Interrupted, StorageFailed
from ..project.documents import document, junit, sentences, summary, totals
from ..project.project import Project
from ..settings import SandboxName
from ..storage.atomic import write_atomically
from ..terminal.console import Console
from .ending import handled

_PROGRESS_SECONDS = 5.0


def verify_project(
    root: Path,
    paths: Sequence[Path],
    base: str | None,
    *,
    sandbox: SandboxName,
    seconds: float,
    python: Path | None,
    files: tuple[Path | None, Path | None],
    stream: TextIO | None,
) -> int:
    """Verify a project's tests; `files` are where the JUnit document and the summary go, `stream` where the JSON
    document goes. Returns the exit code; raises GreenloopError."""
    from ..sandbox import open_sandbox
    from ..sandbox.packages import open_interpreter

    console = Console()
    cancelled = threading.Event()
    ends = {"SIGINT": cancelled.set, "SIGTERM": cancelled.set}
    with (
        handled(ends),
        closing(open_sandbox(sandbox, open_interpreter(python))) as box,
        console.counting(None, "steps", every=_PROGRESS_SECONDS) as count,
    ):
        try:
            report = Project(root, paths, box, seconds, cancelled.is_set, count).report(base)
        except Interrupted:
            raise Interrupted("Interrupted; run it again.") from None
    texts = (junit(report), summary(report))
    for path, text in zip(files, texts, strict=True):
        if path is not None:
            try:
                write_atomically(path, text)
            except OSError as error:
                raise StorageFailed(f"{path} can't be written ({error.strerror}); name another file.") from error
    if stream is not None:
        console.document(document(report), stream)
    else:
        console.lines([*sentences(report), "", f"{'passed' if report.passed else 'failed'}: {totals(report)}"])
    return 0 if report.passed else 1
