"""One verification: a run of each file of tests, and the verdict on what they found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..records import Verdict
from ..syntax.clean_text import clean
from .decision import Findings, decide
from .file_run import MOST_OUTPUT, FileRun
from .prepared_suite import PreparedSuite
from .session import Terms
from .static.hard_coded_answers import answers_from_a_table

_MOST_NOTES = 20


def verification(terms: Terms, code: str, prepared: PreparedSuite) -> Verdict:
    """Verify one candidate's `code` on a prepared suite, file by file. Raises SandboxBroken, Cancelled."""
    runs: list[FileRun] = []
    for file in prepared.files:
        stopped = runs[-1].stopped if runs else None
        measure = not terms.hasty and _all_passed(runs)
        run = FileRun(terms, code, file, stopped, measure)
        run.run()
        runs.append(run)
        if run.trouble is not None or run.given_up:
            break
    # Each run speaks for its own tests alone, whatever was reported in it.
    run_or_not = dict.fromkeys(prepared.files) | {run.file: run for run in runs}
    in_one_process = any(run.isolation == "in-process" for run in runs)
    notes = list(dict.fromkeys(_notes(code, prepared, runs)))[:_MOST_NOTES]
    found = Findings(
        tuple(outcome for run in runs for outcome in run.outcomes),
        tuple(name for file, run in run_or_not.items() for name in (run.ids if run else file.names)),
        runs[-1].trouble if runs else None,
        runs[-1].stopped if runs else None,
        "in-process" if in_one_process else "isolated",
        tuple(map(clean, notes)),
        clean("".join(run.output for run in runs))[:MOST_OUTPUT],
        None if terms.hasty else {key: found for run in runs for key, found in run.noticed.items()},
        frozenset(name for run in runs for name in run.untried),
    )
    return decide(prepared, found)


def _notes(code: str, prepared: PreparedSuite, runs: Sequence[FileRun]) -> Iterator[str]:
    if (note := answers_from_a_table(code, prepared.source)) is not None:
        yield note
    whole = _all_passed(runs) and not (prepared.given and prepared.refused)
    for run in runs:
        yield from run.notes
        if run.never and whole:
            yield f"Assertions of the tests that never ran: line {', '.join(map(str, sorted(run.never)))}."


def _all_passed(runs: Sequence[FileRun]) -> bool:
    return all(outcome.status == "passed" for run in runs for outcome in run.outcomes)
