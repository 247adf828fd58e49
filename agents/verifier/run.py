"""One verification: as many sessions as it takes to have an outcome for each test, and the verdict on them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from ..records import Outcome, OutcomeStatus, Stopped, Verdict, VerdictKind
from ..sandbox.interface import Sandbox, SandboxLimits
from ..sandbox.text import clean
from .audit import Audit, Trouble, audit
from .canary import plant
from .programs import JUDGE, programs
from .session import Break, Session, Task, Transcript
from .trial import TESTS_FILE, Trial

_MOST_OUTPUT = 4000


class Run:
    """Verifies one candidate's `code` against a trial."""

    def __init__(
        self, sandbox: Sandbox, limits: SandboxLimits, call_seconds: float, code: str, trial: Trial
    ) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._call_seconds = call_seconds
        self._code = code
        self._trial = trial
        self._outcomes: dict[str, Outcome] = {}
        self._stopped: Stopped | None = None
        self._trouble: Trouble | None = None
        self._ids: tuple[str, ...] | None = None
        self._output = ""

    def verdict(self) -> Verdict:
        """Run what has to be run and decide; raises SandboxBroken."""
        trial = self._trial
        if trial.tests:
            self._run()
        kind, reason = self._decide()
        return Verdict(
            kind,
            outcomes=tuple(self._gathered()),
            refused=(*trial.refused, *(trial.weak if trial.given else ())),
            reason=reason,
            isolation="in-process",
            stopped=self._stopped,
            notes=trial.notes,
            output=clean(self._output)[:_MOST_OUTPUT],
        )

    # --- sessions ------------------------------------------------------------------------------------------

    def _run(self) -> None:
        """Sessions until each test has its outcome. A test that breaks a session is charged with it, unless it
        may have been the tests before it that used a limit up: then it has another session, as the first."""
        wanted: Sequence[str] | None = None
        while True:
            transcript, result = self._session(wanted)
            if not self._believe(result):
                return
            if result.uncollected:
                self._all_fail(f"the tests could not be imported:\n{_last_lines(result.uncollected)}")
                return
            broke = transcript.broke
            if broke is None:
                return
            if broke.kind == "violation":
                self._trouble = ("forged", clean(broke.text))
                return
            if self._ids is None or broke.test_id is None:
                self._all_stop(broke)
                return
            name = broke.test_id.removeprefix(f"{TESTS_FILE}::")
            first = name == (wanted or self._ids)[0]
            if broke.kind == "judge":
                self._trouble = ("incomplete", f"{clean(broke.text)} during {name}")
                return
            if first or broke.kind != "limit":
                self._charge(name, broke)
            wanted = [item for item in self._ids if item not in self._outcomes]
            if not wanted:
                return

    def _session(self, wanted: Sequence[str] | None) -> tuple[Transcript, Audit]:
        canaries = plant()
        files = {
            **programs(JUDGE),
            **canaries.files,
            TESTS_FILE: self._trial.source.encode("utf-8", "surrogatepass"),
            "user_code.py": self._code.encode("utf-8", "surrogatepass"),
        }
        order = [canaries.before, TESTS_FILE, canaries.after]
        task = Task(
            nonce=secrets.token_hex(16),
            task={"tests_file": TESTS_FILE, "wanted": wanted, "files": order},
            judge_files=files,
        )
        session = Session(self._sandbox, task, self._limits, self._call_seconds, self._call_seconds)
        transcript = session.run()
        for record in transcript.records:
            self._output += str(record.get("output", ""))[: _MOST_OUTPUT - len(self._output)]
        known = wanted if wanted is not None else self._collected_ids(transcript)
        result = audit(
            transcript, canaries.outcomes, [f"{TESTS_FILE}::{name}" for name in known], self._trial.source
        )
        return transcript, result

    def _collected_ids(self, transcript: Transcript) -> list[str]:
        prefix = f"{TESTS_FILE}::"
        ids = [
            node_id.removeprefix(prefix)
            for record in transcript.records
            if record.get("is") == "collected"
            for node_id in record.get("ids", [])
            if str(node_id).startswith(prefix)
        ]
        return [name for name in ids if self._trial.belonging(name) in self._trial.names]

    def _believe(self, result: Audit) -> bool:
        self._trouble = result.trouble
        prefix = f"{TESTS_FILE}::"
        ids = tuple(key.removeprefix(prefix) for key in result.ids if key.startswith(prefix))
        if ids and self._ids is None:
            self._ids = ids
        if ids and {self._trial.belonging(name) for name in ids} != set(self._trial.names):
            self._trouble = ("void", "the tests that pytest collected are not those in the file")
        for key, outcome in result.outcomes.items():
            name = key.removeprefix(prefix)
            self._outcomes.setdefault(name, _renamed(outcome, name))
        return self._trouble is None

    def _charge(self, name: str, broke: Break) -> None:
        status: OutcomeStatus = "stopped" if broke.stopped else "error"
        self._stopped = self._stopped or broke.stopped
        self._outcomes[name] = Outcome(name, status, clean(broke.text))

    def _all_stop(self, broke: Break) -> None:
        """The code never got as far as a test."""
        for name in self._ids or self._trial.names:
            self._charge(name, broke)
        if broke.kind == "judge":
            self._trouble = ("incomplete", clean(broke.text))

    def _all_fail(self, text: str) -> None:
        for name in self._ids or self._trial.names:
            self._outcomes[name] = Outcome(name, "error", text)

    # --- the verdict ---------------------------------------------------------------------------------------

    def _gathered(self) -> list[Outcome]:
        """One outcome a test for a board, one a pytest item for a user's own file, in order."""
        if self._trial.given:
            return list(self._outcomes.values())
        gathered = []
        for name in self._trial.names:
            parts = [value for key, value in self._outcomes.items() if self._trial.belonging(key) == name]
            worst = next((part for part in parts if part.status != "passed"), None)
            if not parts:
                gathered.append(Outcome(name, "missing"))
            elif worst is None:
                gathered.append(Outcome(name, "passed", seconds=sum(part.seconds for part in parts)))
            else:
                where = worst.test_id.removeprefix(name).lstrip(":")
                detail = f"{where}: {worst.detail}" if where else worst.detail
                gathered.append(Outcome(name, worst.status, detail, worst.actual, worst.expected, worst.seconds))
        return gathered

    def _decide(self) -> tuple[VerdictKind, str]:
        if self._trouble is not None:
            return self._trouble
        if self._trial.given and self._trial.refused:
            refusal = self._trial.refused[0]
            return "refused", f"{refusal.test_id}: {refusal.reason}"
        outcomes = self._outcomes.values()
        if not outcomes:
            return "refused", "there is no test to run"
        if self._stopped is not None:
            return "stopped", str(self._stopped)
        failing = [outcome.test_id for outcome in outcomes if outcome.status != "passed"]
        if failing:
            return "failed", f"{len(failing)} of {len(outcomes)} tests fail"
        weak = {refusal.test_id for refusal in self._trial.weak}
        if all(self._trial.belonging(name) in weak for name in self._outcomes):
            refusal = self._trial.weak[0]
            return "refused", f"{refusal.test_id}: {refusal.reason}"
        return "passed", ""


def _renamed(outcome: Outcome, name: str) -> Outcome:
    return Outcome(name, outcome.status, outcome.detail, outcome.actual, outcome.expected, outcome.seconds)


def _last_lines(text: str) -> str:
    lines = [line.removeprefix("E").strip() for line in text.splitlines() if line.startswith("E")]
    return "\n".join(lines[-6:] or text.splitlines()[-6:])
