"""The verifier on a user's own files."""

from __future__ import annotations

import json as json_text
import os
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import GreenloopError, Interrupted, StorageFailed, UsageError
from ..files import open_regular
from ..settings import Count, SandboxName
from ..spec.source_file import read_text
from ..storage.user_file import LONGEST
from ..suite.own_name import as_user_code
from ..terminal.console import Console
from ..verifier.document import verdict_document
from .ending import document_alone
from .pairs import FORM, Pairs, known_verdicts, opened

if TYPE_CHECKING:
    from ..sandbox import SandboxLimits
    from ..verifier import Verifier

_PAIR_SECONDS = 10.0
_PROJECT_SECONDS = 300.0


def verify(
    code: Path | None = None,
    tests: Path | None = None,
    /,
    *,
    jsonl: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    out: Path | None = None,
    jobs: Count | None = None,
    project: Path | None = None,
    tests_: Annotated[tuple[Path, ...], Parameter(name="--tests", negative="")] = (),
    base: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    junit: Path | None = None,
    summary: Path | None = None,
    sandbox: SandboxName = "auto",
    seconds: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
    python: Path | None = None,
    packages: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    with_: Annotated[tuple[Path, ...], Parameter(name="--with", negative="")] = (),
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run a pytest file against a module in the sandbox, and say what can be believed: exit 0 only on `passed`.

    Parameters
    ----------
    code
        The module; the tests import it as `user_code`, or by its own name.
    tests
        The pytest file.
    jsonl
        In place of CODE and TESTS a file of pairs, `{"id": "a", "code": "...", "tests": "..."}` on a line, or `-`;
        a JSON document a line comes out. Exit 0 only if all passed.
    out
        With --jsonl, the file that verdicts are appended to; those that it has already are not made again.
    jobs
        With --jsonl, pairs at once; by default one for each core.
    project
        In place of CODE and TESTS the folder of a repository: what its own tests are worth. Exit 0 only if each
        test passes in three runs and could fail, and, with --base, none is gone or notices less.
    tests_
        With --project, the files or folders of tests; by default what pytest finds.
    base
        With --project, a git reference to compare with: changes of the code are tried on the lines that differ,
        and in what the tests call that differ.
    junit
        With --project, a file for the report as JUnit XML.
    summary
        With --project, a file for the report as Markdown.
    sandbox
        Where it runs.
    seconds
        Wall time for the whole run of tests (10); with --project for all of its runs (300).
    python
        The Python (3.9 to 3.14) that runs both; by default the one that runs greenloop.
    packages
        Third-party packages that code and tests may import, `numpy` or `pandas>=2`, installed there. Without it
        the code may import whatever is installed, and the tests the standard library.
    with_
        A module or package of yours that the code imports; once for each.
    json
        Print one JSON document on standard output and nothing else.
    """
    from ..events import Note
    from ..sandbox import SandboxLimits
    from ..spec import read_modules, requirements
    from ..verifier import Verifier

    limits = SandboxLimits(wall_seconds=seconds or _PAIR_SECONDS)
    with document_alone(json or jsonl is not None) as stream:
        console = Console()
        if sandbox == "none":
            console.emit(Note("No sandbox: the code and its tests run with all your rights.", warning=True))
        try:
            given = [path for path in (code, tests) if path is not None]
            if project is not None:
                if given or jsonl or packages or with_:
                    raise UsageError("--project takes no CODE, TESTS, --jsonl, --packages or --with beside it.")
                from .verify_project import verify_project

                return verify_project(
                    project,
                    tests_,
                    base,
                    sandbox=sandbox,
                    seconds=seconds or _PROJECT_SECONDS,
                    python=python,
                    files=(junit, summary),
                    stream=stream if json else None,
                )
            if tests_ or base is not None or junit is not None or summary is not None:
                raise UsageError("--tests, --base, --junit and --summary are for --project DIR.")
            if len(given) != (2 if jsonl is None else 0):
                raise UsageError(
                    "Give the paths of a module and of its tests, or pairs of them with --jsonl FILE."
                )
            if jsonl is None and (out is not None or jobs is not None):
                raise UsageError("--out and --jobs are for pairs; give those with --jsonl FILE.")
            named = requirements(packages) if packages else None
            modules = read_modules(with_)
            with Verifier(sandbox, limits, jobs, python=python, packages=named, modules=modules) as verifier:
                if jsonl is not None:
                    terms = json_text.dumps([asdict(limits), str(python), named, [asdict(one) for one in modules]])
                    return _verify_pairs(jsonl, out, verifier, limits, terms, stream)
                module = read_text(given[0], LONGEST)
                source = read_text(given[1], LONGEST)
                with suppress(ValueError):  # what is no Python is the verdict's matter
                    source = as_user_code(source, given[0])
                verdict = verifier.verify(module, source)
        except (GreenloopError, KeyboardInterrupt) as stop:
            interrupted = Interrupted("Interrupted before there was a verdict; run it again.")
            error = stop if isinstance(stop, GreenloopError) else interrupted
            if not json:
                raise error from stop
            failure = {"kind": error.kind, "message": str(error)}
            console.document({"schema_version": 1, "verdict": None, "error": failure}, stream)
            return error.exit_code
        if json:
            console.document(verdict_document(verdict, limits), stream)
        else:
            console.verdict(verdict)
    return 0 if verdict.kind == "passed" else 1


def _verify_pairs(
    source: Path, out: Path | None, verifier: Verifier, limits: SandboxLimits, terms: str, stdout: TextIO
) -> int:
    """Verify the pairs in `source`, and write a line for each to `out` or to `stdout`: the exit code.

    A verdict in `out` counts for a pair under the same `terms`.
    """
    console = Console()
    known = known_verdicts(out) if out is not None else {}
    kinds: set[str] = set()
    try:
        with ExitStack() as held:
            pairs = Pairs(held.enter_context(opened(source)), terms, known, console.error)
            to = stdout
            if out is not None:
                append = open_regular(out, flags=os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode=0o666)
                to = held.enter_context(os.fdopen(append, "a", encoding="utf-8"))
            count = held.enter_context(console.counting(None, "pairs"))
            for verdict in verifier.map(pairs):
                name, digest = pairs.taken.popleft().key
                line = {"id": name, "digest": digest, **verdict_document(verdict, limits)}
                to.write(json_text.dumps(line) + "\n")
                to.flush()
                kinds.add(verdict.kind)
                count(f"{name}: {verdict.kind}")
    except KeyboardInterrupt as stop:
        way = "run it again to go on" if out is not None else "with --out FILE it could be gone on with"
        raise Interrupted(f"Interrupted; {way}.") from stop
    except OSError as error:
        raise StorageFailed(
            f"The verdicts can't be written ({error.strerror}); mend that and run it again."
        ) from error
    kinds |= pairs.kinds
    if not kinds and not pairs.refused:
        where = "standard input" if str(source) == "-" else source
        raise UsageError(f"There is no pair in {where}; write lines such as {FORM}.")
    return UsageError.exit_code if pairs.refused else 0 if kinds == {"passed"} else 1
