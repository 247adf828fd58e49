"""One job of EvalPlus in a sandbox: its input, and the part of its answer that is trusted."""

from __future__ import annotations

import importlib.util
import json
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SandboxBroken, UsageError
from ..sandbox import Ended, Job, Sandbox, SandboxLimits
from ..syntax.clean_text import clean
from .tasks import BenchTask

_PROGRAM = Path(__file__).with_name("inside") / "evalplus_process.py"
_NEEDED = ("evalplus", "numpy", "psutil")
_RIGHT = "pass"
_SHORTEST_LIMIT = 1.0  # EvalPlus's for one call
_ANSWER_BYTES = 1 << 16
LIMITS = SandboxLimits(wall_seconds=200.0, cpu_seconds=200, memory_bytes=4 << 30)
"""Wider than EvalPlus's own, which are to decide: 4 GiB, and for each of the two parts 60 s and a little more."""


@dataclass(frozen=True, slots=True)
class Judged:
    """EvalPlus's statuses of one solution: `pass`, `fail` or `timeout`; None where that part was not run, as the
    base tests failed. `seconds` is the longest part's."""

    base: str
    plus: str | None
    seconds: float

    @property
    def base_passed(self) -> bool:
        """Return True if the benchmark's own tests pass."""
        return self.base == _RIGHT

    @property
    def plus_passed(self) -> bool:
        """Return True if they and EvalPlus's pass."""
        return self.base_passed and self.plus == _RIGHT

    @property
    def may_be_late(self) -> bool:
        """Return True if it failed, and took long enough for a time limit to be the reason."""
        return not self.plus_passed and self.seconds >= _SHORTEST_LIMIT


@dataclass(frozen=True, slots=True)
class Answer:
    """A job's answer: `judged` by solution, and by control how many wrong expectations it met (`accepted`).

    Both are empty where a solution ended the job.
    """

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
    """Have EvalPlus judge `solutions`, and then `controls` against expectations of which some are wrong.

    Untrusted solutions need a job each: they could leave traces for the next. Raises SandboxBroken where EvalPlus
    does not work in this sandbox.
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
    """Read what the job, which has ended, left in the channel."""
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
    plus = found.get("plus")
    seconds = max(part["seconds"] for part in found.values())
    return Judged(found["base"]["status"], plus["status"] if plus else None, seconds)


def _why(sandbox: Sandbox, first: dict[str, Any], ended: Ended) -> str:
    if ended.stopped:
        return f"EvalPlus did not get ready ({ended.stopped}): try again when the machine is less busy."
    said = first.get("broken") or clean(ended.stderr[-300:]) or f"exit code {ended.exit_code}"
    return (
        f"EvalPlus does not work in the sandbox `{sandbox.name}` ({said}): it needs shared memory and /proc, "
        "which every sandbox gives but `native` without namespaces; install bubblewrap."
    )
