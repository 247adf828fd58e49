"""Judges solutions of HumanEval+ and MBPP+ by EvalPlus's own code, each in a sandbox job of its own.

EvalPlus runs a solution in the process that holds the expected values and writes the outcome, so a solution may
find both there. Whatever passes is therefore run once more in another job, against expectations of which some are
wrong, and fails where EvalPlus says that it met one of those.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager

from ..errors import UsageError
from ..sandbox import Sandbox
from .evalplus_job import Answer, ask_evalplus, require_evalplus
from .results import Hidden
from .tasks import BenchTask


class HiddenTests:
    """Judges solutions; methods may be called from several threads, and none judges the same text twice."""

    def __init__(self, tasks: Iterable[BenchTask], sandbox: Sandbox, jobs: int | None = None) -> None:
        """Run at most `jobs` sandbox jobs at once (by default one a processor); the sandbox stays its owner's.

        Raises UsageError without EvalPlus."""
        require_evalplus()
        self._tasks = {task.task_id: task for task in tasks}
        self._sandbox = sandbox
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.jobs = jobs or usable or 1
        self._slots = threading.BoundedSemaphore(self.jobs)
        self._clearing = threading.Lock()
        self._lock = threading.Lock()
        self._findings: dict[tuple[str, str], Future[Hidden]] = {}
        """By task id and solution."""

    def judge(self, task_id: str, solution: str) -> Hidden:
        """Run the hidden tests on `solution`; one that forges its outcome fails.

        Raises UsageError for an unknown task, and SandboxBroken.
        """
        key = (task_id, solution)
        with self._lock:
            known = self._findings.get(key)
            future = self._findings.setdefault(key, Future())
        if known is None:
            try:
                future.set_result(self._judged(self._task(task_id), solution))
            except BaseException as error:
                with self._lock:
                    del self._findings[key]
                future.set_exception(error)
        return future.result()

    def rehearse(self, task_id: str, solutions: Iterable[str]) -> Answer:
        """Judge trusted solutions in one job, the first as a control too; untrusted ones could leave traces."""
        texts = list(solutions)
        return self._ask(self._task(task_id), texts, texts[:1])

    def _task(self, task_id: str) -> BenchTask:
        try:
            return self._tasks[task_id]
        except KeyError:
            raise UsageError(f"The benchmark's data has no task {task_id}: give the file it comes from.") from None

    def _ask(self, task: BenchTask, solutions: Sequence[str], controls: Sequence[str]) -> Answer:
        with self._slots:
            answer = ask_evalplus(self._sandbox, task, solutions, controls)
        if answer.judged and answer.judged[0].may_be_late:
            # Other jobs may have taken its time: once more without them, with limits measured anew.
            with self._alone():
                answer = ask_evalplus(self._sandbox, task, solutions, controls)
        return answer

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until all other jobs are through, and keep others waiting."""
        with self._clearing, ExitStack() as held:
            for _ in range(self.jobs):
                held.enter_context(self._slots)
            yield

    def _judged(self, task: BenchTask, solution: str) -> Hidden:
        answer = self._ask(task, [solution], [])
        base = bool(answer.judged) and answer.judged[0].base_passed
        # Whoever passes against wrong expectations, too, is forged.
        base = base and self._ask(task, [], [solution]).accepted == (0,)
        return Hidden(base=base, plus=base and answer.judged[0].plus_passed)
