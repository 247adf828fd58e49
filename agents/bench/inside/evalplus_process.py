"""Judges solutions of one task by EvalPlus's own code; run inside a sandbox as `judge.py CHANNEL`.

The task comes as JSON on standard input, not as a file, which a solution could read. EvalPlus's `trusted_exec` and
`untrusted_check` are called as its `get_groundtruth` and `check_correctness` do, with its own time limits; the
module of those two imports model libraries that judging does not need. The reference runs in each job, as the
limits are multiples of its times on the machine as busy as it is now.

The channel is this process's alone: every fork closes it, and no process may look into this one. The nonce is read
from it when the solutions are done, and returned with EvalPlus's findings.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import importlib.util
import json
import os
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from evalplus.eval import FAIL, PASS, untrusted_check
from evalplus.eval._special_oracle import (
    MBPP_OUTPUT_NOT_NONE_TASKS,
    MBPP_OUTPUT_SET_EQ_TASKS,
    _digit_distance_nums,
    _surface_Area,
)
from evalplus.gen.util import trusted_exec

_PR_SET_DUMPABLE = 4
_NONCE_BYTES = 1024
_MOST_DRAWS = 20
_ROOT_FINDER = "find_zero"
"""The task of HumanEval whose results EvalPlus puts into an equation, and compares with nothing."""
_SECOND_ANSWERS: dict[str, Callable[..., Any]] = {
    "digit_distance_nums": _digit_distance_nums,
    "surface_Area": _surface_Area,
}
"""Tasks of MBPP for which EvalPlus accepts another answer beside the reference's."""
_RANDOM = random.SystemRandom()
_TRIAL = "def one():\n    return 1\n"


class Part:
    """The base or the plus tests of a task: inputs, what the reference returns, and its seconds for each."""

    def __init__(self, task: dict[str, Any], inputs: Sequence[Any]) -> None:
        self.dataset: str = task["dataset"]
        self.inputs = _deserialized(task["task_id"], inputs) if self.dataset == "mbpp" else inputs
        self.entry_point: str = task["entry_point"]
        self.atol: float = task["atol"]
        self.expected, self.seconds = trusted_exec(
            task["reference"],
            self.inputs,
            self.entry_point,
            record_time=True,
            output_not_none=self.dataset == "mbpp" and self.entry_point in MBPP_OUTPUT_NOT_NONE_TASKS,
        )

    def check(self, solution: str, *, fast: bool) -> tuple[str, Sequence[bool], float]:
        """Return EvalPlus's status (pass, fail, timeout), its outcome of each input, and the seconds it took.
        `fast` ends at the first failure."""
        begun = time.monotonic()
        status, details = self._ask(self.dataset, solution, len(self.inputs), fast)
        if self._is_unrecorded_pass(status, details, solution):
            status, details = PASS, [True] * len(self.inputs)
        return status, details, time.monotonic() - begun

    def _ask(self, dataset: str, solution: str, count: int, fast: bool) -> tuple[str, list[bool]]:
        status, details = untrusted_check(
            dataset,
            solution,
            self.inputs[:count],
            self.entry_point,
            expected=self.expected[:count],
            atol=self.atol,
            ref_time=self.seconds[:count],
            fast_check=fast,
        )
        return status, [bool(detail) for detail in details]

    def is_wrong(self, index: int, value: Any) -> bool:
        """Return True if EvalPlus equates no right answer to an input with `value`."""
        if self.dataset == "mbpp" and self.entry_point in MBPP_OUTPUT_SET_EQ_TASKS:
            return set(value) != set(self.expected[index])
        second = _SECOND_ANSWERS.get(self.entry_point)
        right = [self.expected[index], *([second(*self.inputs[index])] if second else [])]
        return all(differ(answer, value) for answer in right)

    @property
    def is_root(self) -> bool:
        """Return True if results are put into an equation."""
        return self.dataset == "humaneval" and self.entry_point == _ROOT_FINDER

    def _is_unrecorded_pass(self, status: str, details: Sequence[bool], solution: str) -> bool:
        """Return True if EvalPlus 0.3.1 failed right roots, as it forgets to record each one that it finds right.

        It does record a wrong root: no record at all means that all were right, or that the solution could not be
        loaded; then there is none either where its result would be compared as other tasks' are.
        """
        if not self.is_root or status != FAIL or details:
            return False
        return bool(self._ask("mbpp", solution, 1, True)[1])


def judged(parts: dict[str, Part], solution: str) -> dict[str, Any]:
    """Check each part, for its status and seconds; the plus tests run only where the base tests pass."""
    found: dict[str, Any] = {}
    for name, part in parts.items():
        status, _, seconds = part.check(solution, fast=True)
        found[name] = {"status": status, "seconds": seconds}
        if status != PASS:
            break
    return found


def falsify(parts: dict[str, Part]) -> dict[str, list[int]]:
    """Put wrong expectations in place of some right ones, and return their indices in each part.

    A wrong one is what the reference returns for another input, and only inputs that occur once get one: nothing
    but the right answer tells the two kinds apart. Where it returns the same for all inputs, a wrong one is the
    other truth value, or a list of the right one. Raises ValueError where no input can get one.
    """
    once = Counter(repr(given) for part in parts.values() for given in part.inputs)
    pool = [value for part in parts.values() for value in part.expected]
    chosen = {}
    for name, part in parts.items():
        if part.is_root:
            part.atol = -1.0  # no absolute value is as small
            chosen[name] = list(range(len(part.inputs)))
            continue
        if part.entry_point in _SECOND_ANSWERS:
            part.dataset = "humaneval"  # EvalPlus has no second answers there
        single = [index for index, given in enumerate(part.inputs) if once[repr(given)] == 1]
        wanted = max(1, round(0.25 * len(part.inputs)))
        chosen[name] = _replace(part, _RANDOM.sample(single, len(single)), pool, wanted)
    if not any(chosen.values()):
        raise ValueError("no expected value can be replaced by another one")
    return chosen


def _replace(part: Part, indices: Iterable[int], pool: Sequence[Any], wanted: int) -> list[int]:
    replaced: list[int] = []
    for index in indices:
        drawn = _RANDOM.choices(pool, k=_MOST_DRAWS)
        for value in (*drawn, *pool, not pool[0] if isinstance(pool[0], bool) else [pool[0]]):
            if part.is_wrong(index, value):
                part.expected[index] = value
                replaced.append(index)
                break
        if len(replaced) == wanted:
            break
    return replaced


def differ(one: Any, other: Any) -> bool:
    """Return True if two results differ by more than any tolerance of EvalPlus's."""
    if _is_number(one) and _is_number(other):
        try:
            return bool(abs(one - other) * 100 > 1 + abs(one))
        except OverflowError:  # an integer too large for a float
            return True
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        return any(map(differ, one, other))
    return bool(one != other)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def accepted(parts: dict[str, Part], wrong: dict[str, list[int]], solution: str) -> int:
    """Count the wrong expectations that the solution meets, as EvalPlus says: for an honest one, none."""
    count = 0
    for name, indices in wrong.items():
        _, details, _ = parts[name].check(solution, fast=False)
        count += sum(details[index] for index in indices if index < len(details))
    return count


def _deserialized(task_id: str, inputs: Sequence[Any]) -> list[Any]:
    """Make MBPP's inputs of JSON by EvalPlus's function; its module imports what judging does not need."""
    (package,) = importlib.util.find_spec("evalplus").submodule_search_locations  # type: ignore[union-attr, misc]
    source = Path(package, "data", "mbpp.py").read_text("utf-8")
    name = "mbpp_deserialize_inputs"
    code = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    return list(trusted_exec(ast.unparse(code), [(task_id, inputs)], name)[0])


def _prepared(task: dict[str, Any]) -> dict[str, Part]:
    """Prepare the parts of the task. Raises whatever keeps EvalPlus from working here."""
    trial = Part({"dataset": "humaneval", "entry_point": "one", "atol": 0, "reference": _TRIAL}, [[]])
    if trial.check(_TRIAL, fast=True)[0] != PASS:
        raise RuntimeError("EvalPlus fails a function that is right")
    parts = {name: Part(task, inputs) for name, inputs in task["inputs"].items()}
    del task["reference"], task["inputs"]
    gc.collect()  # the reference is a cycle with its globals, and no solution is to find it
    return parts


def _emit(channel: socket.socket, record: dict[str, Any]) -> None:
    channel.sendall(json.dumps(record).encode() + b"\n")


def main() -> None:
    """Judge the task's solutions and controls; never returns."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    os.register_at_fork(after_in_child=channel.close)
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    try:
        task = json.load(sys.stdin)
        parts = _prepared(task)
    except Exception as error:
        _emit(channel, {"broken": f"{type(error).__name__}: {error}"[:500]})
        os._exit(1)
    try:
        _emit(channel, {"ready": True})
        found: dict[str, Any] = {"judged": [judged(parts, text) for text in task["solutions"]], "accepted": []}
        if task["controls"]:
            wrong = falsify(parts)  # the last: the right ones are gone with it
            found["accepted"] = [accepted(parts, wrong, text) for text in task["controls"]]
        _emit(channel, {"nonce": channel.recv(_NONCE_BYTES).decode(), **found})
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
