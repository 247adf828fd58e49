"""Audits the tests of a repository: what they are worth."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Annotated, TextIO

from cyclopts import Parameter

from ..errors import Interrupted, StorageFailed
from ..settings import Positive, SandboxSettings
from ..terminal.console import Console
from .ending import handled
from .verify import warn_without_sandbox, with_verdict

_PROGRESS_SECONDS = 5.0


def audit(
    root: Annotated[Path, Parameter(name="DIR")] = Path(),
    /,
    *,
    base: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    tests: tuple[Path, ...] = (),
    junit: Path | None = None,
    summary: Path | None = None,
    seconds: Positive = 300.0,
    where: SandboxSettings = SandboxSettings(),
    json: bool = False,
) -> int:
    """Say what a repository's own tests are worth: which can't fail, fail, are flaky, are gone or notice less.

    Exit code 0 only if each test passes in three runs and could fail, and, with --base, none is gone or notices
    less.

    Parameters
    ----------
    root
        The folder of the repository; by default this one.
    base
        A git reference to compare with.
    tests
        Pytest files of yours, or folders of them; by default what pytest finds.
    junit
        A file for the report as JUnit XML.
    summary
        A file for the report as Markdown.
    seconds
        Wall time for all runs of the tests.
    json
        Print one JSON document and nothing else.
    """
    from ..project.documents import document, sentences, totals
    from ..project.documents import junit as as_junit
    from ..project.documents import summary as as_summary
    from ..project.project import Project
    from ..sandbox import open_sandbox
    from ..sandbox.packages import open_interpreter
    from ..storage.atomic import write_atomically

    def work(stream: TextIO) -> int:
        warn_without_sandbox(where.sandbox)
        console = Console()
        cancelled = threading.Event()
        ends = {"SIGINT": cancelled.set, "SIGTERM": cancelled.set}
        with (
            handled(ends),
            closing(open_sandbox(where.sandbox, open_interpreter(where.python))) as box,
            console.counting(None, "steps", every=_PROGRESS_SECONDS) as count,
        ):
            try:
                report = Project(root, tests, box, seconds, cancelled.is_set, count).report(base)
            except Interrupted:
                raise Interrupted("Interrupted; run it again.") from None
        for path, form in ((junit, as_junit), (summary, as_summary)):
            if path is not None:
                try:
                    write_atomically(path, form(report))
                except OSError as error:
                    way = "name another file"
                    raise StorageFailed(f"{path} can't be written ({error.strerror}); {way}.") from error
        if json:
            console.document(document(report), stream)
        else:
            console.lines([*sentences(report), "", f"{'passed' if report.passed else 'failed'}: {totals(report)}"])
        return 0 if report.passed else 1

    return with_verdict(json, work)
