"""Judging of solutions of HumanEval+ and MBPP+ by EvalPlus's own code, each in its own sandbox job.

EvalPlus runs a solution in the process that has the expected values and writes the outcome, so a solution may
forge it. A solution that passes is therefore run again in another job with some wrong expectations, and fails if
EvalPlus says that it met one of those.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SandboxBroken, UsageError
from ..sandbox import Ended, Job, Sandbox, SandboxLimits
from ..syntax.clean_text import clean
from .proof import BROKEN, Proof, all_pass_and_fail, faults_of, proved
from .results import Hidden
from .tasks import BenchTask


class HiddenTests:
    """Judges solutions, each text once; thread-safe."""

    def __init__(self, tasks: Iterable[BenchTask], sandbox: Sandbox, jobs: int | None = None) -> None:
        """Run at most `jobs` sandbox jobs at the same time (by default one a processor) in `sandbox`, which the
        caller closes. Raises UsageError without EvalPlus."""
        require_evalplus()
        self._tasks = {task.task_id: task for task in tasks}
        self._sandbox = sandbox
        self.jobs = jobs or os.cpu_count() or 1
        self._slots = threading.BoundedSemaphore(self.jobs)
        self._clearing = threading.Lock()
        self._findings: dict[tuple[str, str], Hidden] = {}
        """By task id and solution."""

    def judge(self, task_id: str, solution: str) -> Hidden:
        """Run the hidden tests on `solution`; one that forges its outcome fails. Raises SandboxBroken."""
        key = (task_id, solution)
        if key not in self._findings:
            task = self._tasks[task_id]
            answer = self._ask(task, [solution], [])
            base = bool(answer.judged) and answer.judged[0].base
            # A solution that also passes against wrong expectations is forged.
            base = base and self._ask(task, [], [solution]).accepted == (0,)
            self._findings[key] = Hidden(base=base, plus=base and answer.judged[0].plus)
        return self._findings[key]

    def prove(self) -> Proof:
        """Judge every task's reference and four broken solutions, and the reference against wrong expectations.
        Raises SandboxBroken."""
        count = len(self._tasks)
        return proved(all_pass_and_fail(count, count * len(BROKEN)), self._faults, self._tasks.values())

    def _faults(self, task: BenchTask) -> Iterator[str]:
        name = task.task_id
        answer = self.rehearse(name, [task.reference, *(broken(task.head) for broken in BROKEN.values())])
        right = bool(answer.judged) and answer.judged[0].plus
        # Without an answer no solution is proved to fail.
        broken = ((way, not answer.judged or answer.judged[number].base) for number, way in enumerate(BROKEN, 1))
        yield from faults_of(name, right=right, broken=broken)
        if any(answer.accepted):
            yield f"{name}: its reference passes against wrong expectations"

    def rehearse(self, task_id: str, solutions: Iterable[str]) -> Answer:
        """Judge trusted solutions in one job, the first as a control too; untrusted ones could leave traces."""
        texts = list(solutions)
        return self._ask(self._tasks[task_id], texts, texts[:1])

    def _ask(self, task: BenchTask, solutions: Sequence[str], controls: Sequence[str]) -> Answer:
        with self._slots:
            answer = ask_evalplus(self._sandbox, task, solutions, controls)
        if answer.judged and answer.judged[0].may_be_late:
            # Other jobs may have slowed it down: once more without them, with limits measured again.
            with self._alone():
                answer = ask_evalplus(self._sandbox, task, solutions, controls)
        return answer

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until all other jobs have ended, and block new ones during the body."""
        with self._clearing, ExitStack() as held:
            for _ in range(self.jobs):
                held.enter_context(self._slots)
            yield


_PROGRAM = Path(__file__).with_name("inside") / "evalplus_process.py"
_NEEDED = ("evalplus", "numpy", "psutil")
_RIGHT = "pass"
_SHORTEST_LIMIT = 1.0  # EvalPlus's for one call
_ANSWER_BYTES = 1 << 16
LIMITS = SandboxLimits(wall_seconds=200.0, cpu_seconds=200, memory_bytes=4 << 30)
"""Wider than EvalPlus's own, which are to decide: 4 GiB, and for each of the two parts 60 s and a little more."""


@dataclass(frozen=True, slots=True)
class Judged(Hidden):
    """EvalPlus's verdict on one solution, and the seconds of the longest part of its tests."""

    seconds: float

    @property
    def may_be_late(self) -> bool:
        """Return True if it failed, and took long enough for a time limit to be the reason."""
        return not self.plus and self.seconds >= _SHORTEST_LIMIT


@dataclass(frozen=True, slots=True)
class Answer:
    """A job's answer: `judged` by solution, and by control how many wrong expectations it met (`accepted`). Both
    are empty where a solution ended the job."""

    judged: tuple[Judged, ...] = ()
    accepted: tuple[int, ...] = ()


def require_evalplus(find: Callable[[str], object] = importlib.util.find_spec) -> None:
    """Raise UsageError unless `find` finds EvalPlus and its dependencies."""
    missing = [name for name in _NEEDED if find(name) is None]
    if missing:
        raise UsageError(
            f"Hidden tests are EvalPlus's, and {', '.join(missing)} is not installed: pip install -e .[bench], or "
            "only what is used of it: pip install numpy psutil && pip install --no-deps evalplus==0.3.1."
        )


def ask_evalplus(
    sandbox: Sandbox, task: BenchTask, solutions: Sequence[str] = (), controls: Sequence[str] = ()
) -> Answer:
    """Return EvalPlus's answer on `solutions`, and then on `controls` with some wrong expectations.

    Untrusted solutions need a job each: they could affect the next one. Raises SandboxBroken where EvalPlus does
    not work in this sandbox.
    """
    nonce = secrets.token_hex(16)
    order = {
        "dataset": task.dataset.lower().removesuffix("+"),
        "task_id": task.task_id,
        "entry_point": task.entry_point,
        "reference": task.reference,
        "atol": task.atol,
        "inputs": {"base": task.base_input, "plus": task.plus_input},
        "solutions": list(solutions),
        "controls": list(controls),
    }
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(nonce.encode())
        job = Job(
            ["-I", "-B", "/src/judge.py", str(theirs.fileno())],
            {"judge.py": _PROGRAM.read_bytes()},
            LIMITS,
            channels=[theirs.fileno()],
            stdin=json.dumps(order).encode(),
        )
        with sandbox.launch(job) as running:
            theirs.close()
            ended = running.wait()
        lines = _received(ours).splitlines()
    first = _record(lines[0]) if lines else {}
    if "ready" not in first:
        raise SandboxBroken(_why(sandbox, first, ended))
    answer = _record(lines[1]) if len(lines) > 1 else {}
    if answer.get("nonce") != nonce:
        return Answer()
    return Answer(tuple(map(_judged, answer["judged"])), tuple(answer["accepted"]))


def _received(channel: socket.socket) -> bytes:
    """Return the bytes that the ended job wrote to the channel."""
    channel.setblocking(False)
    try:
        return channel.recv(_ANSWER_BYTES)
    except BlockingIOError:
        return b""


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _judged(found: dict[str, Any]) -> Judged:
    passed = {name for name, part in found.items() if part["status"] == _RIGHT}
    return Judged("base" in passed, "plus" in passed, max(part["seconds"] for part in found.values()))


def _why(sandbox: Sandbox, first: dict[str, Any], ended: Ended) -> str:
    if ended.stopped:
        return f"EvalPlus did not get ready ({ended.stopped}): try again when the machine is less busy."
    said = first.get("broken") or clean(ended.stderr[-300:]) or f"exit code {ended.exit_code}"
    return (
        f"EvalPlus does not work in the sandbox `{sandbox.name}` ({said}): it needs shared memory and /proc, "
        "which every sandbox gives but `native` without namespaces; install bubblewrap."
    )
