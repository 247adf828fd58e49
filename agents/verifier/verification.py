"""One verification: a run of each file of tests, and the verdict on what they found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..records import Verdict
from ..syntax.clean_text import clean
from .decision import Findings, decide
from .file_run import MOST_OUTPUT, FileRun
from .importable import ANYTHING, Importable
from .prepared_suite import PreparedSuite
from .sensitivity import SensitivityCache
from .session import Terms
from .static.hard_coded_answers import answers_from_a_table

_MOST_NOTES = 20


class Verification:
    """Verifies one candidate's `code` on a prepared suite; `sensitivities` holds those of suites run before, and
    `importable` is what the code may import."""

    def __init__(
        self,
        terms: Terms,
        code: str,
        prepared: PreparedSuite,
        sensitivities: SensitivityCache,
        importable: Importable = ANYTHING,
    ) -> None:
        self._terms = terms
        self._code = code
        self._prepared = prepared
        self._sensitivities = sensitivities
        self._importable = importable

    def verdict(self) -> Verdict:
        """Run file by file what has to be run, and decide; raises SandboxBroken."""
        runs: list[FileRun] = []
        for file in self._prepared.files:
            stopped = runs[-1].stopped if runs else None
            measure = not self._terms.hasty and _all_passed(runs)
            run = FileRun(self._terms, self._code, file, self._sensitivities, self._importable, stopped, measure)
            run.run()
            runs.append(run)
            if run.trouble is not None or run.given_up:
                break
        return decide(self._prepared, self._findings(runs))

    def _findings(self, runs: Sequence[FileRun]) -> Findings:
        # Each run speaks for its own tests alone, whatever was reported in it.
        run_or_not = dict.fromkeys(self._prepared.files) | {run.file: run for run in runs}
        in_one_process = any(run.isolation == "in-process" for run in runs)
        return Findings(
            tuple(outcome for run in runs for outcome in run.outcomes),
            tuple(name for file, run in run_or_not.items() for name in (run.ids if run else file.names)),
            runs[-1].trouble if runs else None,
            runs[-1].stopped if runs else None,
            "in-process" if in_one_process else "isolated",
            tuple(clean(note) for note in list(dict.fromkeys(self._notes(runs)))[:_MOST_NOTES]),
            clean("".join(run.output for run in runs))[:MOST_OUTPUT],
            None if self._terms.hasty else {key: found for run in runs for key, found in run.noticed.items()},
            frozenset(name for run in runs for name in run.untried),
        )

    def _notes(self, runs: Sequence[FileRun]) -> Iterator[str]:
        if (note := answers_from_a_table(self._code, self._prepared.source)) is not None:
            yield note
        whole = _all_passed(runs) and not (self._prepared.given and self._prepared.refused)
        for run in runs:
            yield from run.notes
            if run.never and whole:
                yield f"Assertions of the tests that never ran: line {', '.join(map(str, sorted(run.never)))}."


def _all_passed(runs: Sequence[FileRun]) -> bool:
    return all(outcome.status == "passed" for run in runs for outcome in run.outcomes)
