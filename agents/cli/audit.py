"""Audits the tests of a repository: what they are worth."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Annotated, TextIO

from cyclopts import Parameter

from ..errors import StorageFailed, UsageError
from ..events import Note
from ..settings import Positive, SandboxSettings
from ..terminal.console import Console
from .ending import handled
from .verify import warn_without_sandbox, with_verdict

_PROGRESS_SECONDS = 5.0
_AGENT_GOES_ON = 2
"""The exit code that hooks of coding agents take for "not done"."""


def audit(
    root: Annotated[Path, Parameter(name="DIR")] = Path(),
    /,
    *,
    base: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    strict: bool = False,
    agent: bool = False,
    tests: tuple[Path, ...] = (),
    junit: Path | None = None,
    summary: Path | None = None,
    seconds: Positive = 300.0,
    where: SandboxSettings = SandboxSettings(),
    json: bool = False,
) -> int:
    """Say what a repository's own tests are worth: which can't fail, fail or are flaky; or what a change is worth.

    Exit code 0 only if each test passes in three runs and could fail; with --base, only if no test is broken, gone
    or weaker since, and nothing tampers with them.

    Args:
        root: The folder of the repository; by default this one.
        base: A git reference to compare with: its code and its tests run, too.
        strict: With --base: refuse changed expectations, and new tests that pass on the old code, too.
        agent: With --base: for a coding agent's hook. At most 30 short lines on standard error, exit code 2.
        tests: Pytest files of yours, or folders of them; by default what pytest finds.
        junit: A file for the report as JUnit XML.
        summary: A file for the report as Markdown.
        seconds: Wall time for all runs of the tests.
        json: Print one JSON document and nothing else.
    """
    from ..audit.comparison import Comparison
    from ..audit.documents import document, for_agent, sentences, totals
    from ..audit.documents import junit as as_junit
    from ..audit.documents import summary as as_summary
    from ..sandbox import open_sandbox
    from ..sandbox.packages import open_interpreter
    from ..storage.atomic import write_atomically

    if base is None and (strict or agent):
        option = "--strict" if strict else "--agent"
        raise UsageError(f"{option} says how to compare; name with what by --base REF.")
    for path in filter(None, (junit, summary)):
        if path.is_symlink() or (path.exists() and not path.is_file()):  # it would be replaced, /dev/stdout too
            raise UsageError(f"{path} is no regular file; name one that is, or is not there yet.")

    def work(stream: TextIO) -> int:
        warn_without_sandbox(where.sandbox)
        console = Console()
        active = Path(os.environ.get("VIRTUAL_ENV") or sys.prefix)
        if where.python is None and (active / "bin" / "python").is_file() and not active.samefile(sys.prefix):
            there = f"--python {active}/bin/python runs them in the environment that is active"
            console.emit(Note(f"The tests run on {sys.executable}; {there}.", warning=True))
        cancelled = threading.Event()
        with (
            handled(dict.fromkeys(("SIGINT", "SIGTERM"), cancelled.set)),
            closing(open_sandbox(where.sandbox, open_interpreter(where.python))) as box,
            console.counting(None, "step", every=_PROGRESS_SECONDS) as count,
        ):
            say = (lambda text: None) if agent else count  # a hook passes all of standard error to the agent
            project = Comparison(root, tests, box, seconds, cancelled.is_set, say)
            report = project.report() if base is None else project.report_since(base, strict=strict)
        if json:
            console.document(document(report), stream)
        elif agent and not report.passed:
            console.say("\n".join(for_agent(report)))
        else:
            console.lines([*sentences(report), "", f"{totals(report)}: {'passed' if report.passed else 'failed'}"])
        code = 0 if report.passed else _AGENT_GOES_ON if agent else 1
        for to, form in ((junit, as_junit), (summary, as_summary)):
            if to is not None:
                try:
                    write_atomically(to, form(report))
                except OSError as error:
                    console.error(f"{to} can't be written ({error.strerror}); name another file.")
                    code = code or StorageFailed.exit_code
        return code

    return with_verdict(json, work)
