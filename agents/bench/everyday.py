"""Everyday specs, one TOML file each: a reference, hidden tests, and the reference broken at each clause."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..files import read_regular
from ..records import Spec
from ..spec import read_spec
from ..syntax.source import parses
from ..verifier import Verifier
from .proof import Proof, all_pass_and_fail, faults_of, proved
from .results import Hidden

_TEXTS = ("spec", "reference", "tests")


@dataclass(frozen=True, slots=True)
class Broken:
    """The reference with one clause of the spec broken; `clause` is text of the spec."""

    clause: str
    code: str


@dataclass(frozen=True, slots=True)
class EverydayTask:
    """One task: `text` is the spec, `tests` the source of a pytest file that the reference passes."""

    task_id: str
    text: str
    reference: str
    tests: str
    broken: tuple[Broken, ...]

    def spec(self, strip_examples: bool = False) -> Spec:
        """Return the spec as the command reads it; with `strip_examples` none of its examples is trusted."""
        found = read_spec(self.text, origin=self.task_id)
        return replace(found, examples=()) if strip_examples else found

    def solution(self, code: str) -> str:
        """Return `code`: the module that is judged is the whole file."""
        return code


def read_everyday(directory: Path) -> tuple[EverydayTask, ...]:
    """Read the tasks in `directory`, by name. Raises UsageError, with the file, where one can't be read."""
    paths = sorted(directory.glob("*.toml"))
    if not paths:
        raise UsageError(f"{directory} holds no task (*.toml); give docs/benchmark/everyday of a checkout.")
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> EverydayTask:
    try:
        found = tomllib.loads(read_regular(path).decode("utf-8"))
        if missing := [name for name in _TEXTS if not isinstance(found.get(name), str) or not found[name].strip()]:
            raise ValueError(f"it has no text for {' and '.join(missing)}")
        spec, reference, tests = (found[name] for name in _TEXTS)
        return EverydayTask(
            path.stem, spec, reference, tests, tuple(_broken(found.get("broken"), spec, reference))
        )
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: {error}.") from error


def _broken(rows: Any, spec: str, reference: str) -> Iterator[Broken]:
    """Yield the broken references of a task. Raises ValueError with a reason."""
    if not isinstance(rows, list) or not rows:
        raise ValueError("it has no [[broken]]")
    for row in rows:
        if not isinstance(row, dict) or any(
            not isinstance(row.get(name), str) for name in ("clause", "old", "new")
        ):
            raise ValueError("a [[broken]] needs clause, old and new")
        if row["clause"] not in spec:
            raise ValueError(f"the spec does not say {row['clause']!r}")
        if reference.count(row["old"]) != 1:
            raise ValueError(f"the reference does not hold {row['old']!r} once")
        code = reference.replace(row["old"], row["new"])
        if not parses(code):
            raise ValueError(f"broken at {row['clause']!r} the reference is no Python")
        yield Broken(row["clause"], code)


class EverydayTests:
    """Judges solutions by the hidden tests; thread-safe."""

    def __init__(self, tasks: Iterable[EverydayTask], verifier: Verifier) -> None:
        """Use `verifier`, which the caller closes."""
        self._tasks = {task.task_id: task for task in tasks}
        self._verifier = verifier

    def judge(self, task_id: str, solution: str) -> Hidden:
        """Run the hidden tests on `solution`. Raises SandboxBroken."""
        passed = self._verifier.verify(solution, self._tasks[task_id].tests).kind == "passed"
        return Hidden(base=passed, plus=passed)

    def prove(self) -> Proof:
        """Check that the references pass and the broken ones fail. Raises SandboxBroken."""
        broken = sum(len(task.broken) for task in self._tasks.values())
        return proved(all_pass_and_fail(len(self._tasks), broken), self._faults, self._tasks.values())

    def _faults(self, task: EverydayTask) -> Iterator[str]:
        right = self.judge(task.task_id, task.reference).plus
        broken = ((f"breaks {one.clause!r}", self.judge(task.task_id, one.code).plus) for one in task.broken)
        yield from faults_of(task.task_id, right=right, broken=broken)
