"""Judges repairs of QuixBugs' programs: by the held-out items, and by agreement with the reference."""

from __future__ import annotations

import ast
import json
import math
import os
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from ..errors import SandboxBroken
from ..records import Verdict
from ..sandbox import Job, Sandbox, SandboxLimits
from ..verifier import Verifier
from .quixbugs import Program, Split, split
from .quixbugs_inputs import inputs
from .results import Hidden

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")
_PROGRAM = Path(__file__).with_name("inside") / "outputs_process.py"
_LIMITS = SandboxLimits(wall_seconds=15.0, cpu_seconds=15)
Output = tuple[str, Any]
"""`value` and the value as plain JSON, or `raises` and the exception's name."""
_TRUTH = ("breadth_first_search", "depth_first_search", "detect_cycle")
"""Programs whose result QuixBugs' tests take as true or false, whatever it is."""


class QuixBugsTests:
    """Judges solutions; methods may be called from several threads."""

    def __init__(self, programs: Iterable[Program], sandbox: Sandbox, verifier: Verifier) -> None:
        """Sandbox and verifier stay their owner's."""
        self._programs = {program.name: program for program in programs}
        self._sandbox = sandbox
        self._verifier = verifier
        self._lock = threading.Lock()
        self._expected: dict[str, tuple[Output, ...]] = {}

    def verdict(self, program: Program, code: str, names: Collection[str]) -> Verdict:
        """Run the items `names` of `program` on `code`. Raises SandboxBroken."""
        return self._verifier.verify(code, program.tests(names))

    def splits(self) -> dict[str, Split]:
        """Run all items on each program as it is, and show half of them. Raises SandboxBroken."""
        programs = self._programs.values()
        return dict(zip(self._programs, each(self._split, programs), strict=True))

    def _split(self, program: Program) -> Split:
        outcomes = self.verdict(program, program.buggy, program.items).outcomes
        return split(program, [one.test_id for one in outcomes if one.status != "passed"])

    def judge(self, name: str, code: str, held_out: Collection[str]) -> Hidden:
        """Judge a repair of the program `name` by items that it was not shown (`base`), and by those and agreement
        with the reference (`plus`). Raises SandboxBroken."""
        program = self._programs[name]
        base = self.verdict(program, code, held_out).kind == "passed"
        return Hidden(base=base, plus=base and self.agrees(program, code))

    def agrees(self, program: Program, code: str) -> bool:
        """Return True if `code` gives the reference's answer to each of 200 inputs. Raises SandboxBroken."""
        given = inputs(program.name)
        found = outputs(self._sandbox, code, program.name, given)
        expected = self._answers(program)
        return len(found) == len(expected) and all(
            _equal(program.name, *one) for one in zip(given, expected, found, strict=True)
        )

    def _answers(self, program: Program) -> tuple[Output, ...]:
        """Return what the reference returns. Raises SandboxBroken where it does not, for one of the inputs."""
        with self._lock:
            if program.name not in self._expected:
                given = inputs(program.name)
                found = outputs(self._sandbox, program.reference, program.name, given)
                returned = [kind for kind, _ in found]
                if returned != ["value"] * len(given):
                    raise SandboxBroken(
                        f"The reference of {program.name} fails on an input ({len(returned)} of {len(given)} "
                        "answered): try again when the machine is less busy."
                    )
                self._expected[program.name] = found
            return self._expected[program.name]


def each(work: Callable[[_Given], _Made], items: Iterable[_Given]) -> list[_Made]:
    """Do `work` for each item, one a processor at once, and return what it makes in their order."""
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="program") as pool:
        return list(pool.map(work, items))


def _equal(name: str, given: str, expected: Output, found: Output) -> bool:
    if found[0] != "value":
        return False
    right, value = expected[1], found[1]
    if name in _TRUTH:
        return bool(right) is bool(value)
    if name == "sqrt":
        epsilon = ast.literal_eval(given)[-1]
        return isinstance(value, int | float) and math.isfinite(value) and abs(value - right) <= epsilon
    if name == "longest_common_subsequence":
        return _is_as_good(value, right, *ast.literal_eval(given))
    return bool(right == value)


def _is_as_good(value: Any, right: str, *texts: str) -> bool:
    """Return True if `value` is a subsequence of all `texts` and as long as `right`: any such is right."""
    return isinstance(value, str) and len(value) == len(right) and all(_is_within(value, text) for text in texts)


def _is_within(value: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in value)


def outputs(sandbox: Sandbox, code: str, entry_point: str, inputs: Sequence[str]) -> tuple[Output, ...]:
    """Call `entry_point` of `code` on each of `inputs` (Python, a tuple of arguments), the results in their order.

    There are fewer results than inputs where the code does not come to its end. Raises SandboxBroken.
    """
    job = Job(
        ["-I", "-B", "/src/outputs.py"],
        {"outputs.py": _PROGRAM.read_bytes(), "user_code.py": code.encode()},
        _LIMITS,
        stdin=json.dumps({"entry_point": entry_point, "inputs": list(inputs)}).encode(),
    )
    with sandbox.launch(job) as running:
        ended = running.wait()
    return tuple(_output(line) for line in ended.stdout.splitlines()[: len(inputs)])


def _output(line: bytes) -> Output:
    try:
        kind, value = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return "raises", "no result"
    return str(kind), value
