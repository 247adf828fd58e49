"""Tasks of HumanEval+ and MBPP+: read from a file of EvalPlus's, and turned into specs."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import UsageError
from ..files import read_regular
from ..records import Spec
from ..spec import read_spec
from ..spec.examples import examples
from ..spec.signature import signature_of
from ..syntax.imports import head_end
from ..syntax.source import names_bound, names_unbound, parse, source_of
from .stripping import definition, without_examples

Dataset = Literal["HumanEval+", "MBPP+"]
LEFT_OUT = ("Mbpp/164", "Mbpp/295", "Mbpp/599")
"""Tasks of MBPP that say nothing of a solution. EvalPlus takes any answer to the first for right, and to the
second 0 for all inputs, while what that task's asserts say fails; the reference of the third needs a quarter of
EvalPlus's time limit for itself, and fails on a busy machine."""
_TEXTS = ("task_id", "prompt", "entry_point", "canonical_solution")
_OF_HIDDEN_TESTS = {"base_input": list, "plus_input": list | dict, "atol": int | float}
"""Fields and their types; MBPP+ has `{}` for a task without inputs of EvalPlus's own (Mbpp/793)."""


@dataclass(frozen=True, slots=True)
class BenchTask:
    """One task: `prompt` is a stub, Python whose function `entry_point` has no body.

    HumanEval's has a docstring. MBPP's has none: `prose` says what it does, and `example` is an assertion.
    `reference` is a module that solves the task. Each of `base_input` and `plus_input` is the arguments of one
    call, as JSON has them; results may be off by `atol`.
    """

    task_id: str
    prompt: str
    entry_point: str
    prose: str = ""
    example: str = ""
    dataset: Dataset = "HumanEval+"
    reference: str = ""
    base_input: tuple[Any, ...] = ()
    plus_input: tuple[Any, ...] = ()
    atol: float = 0.0

    @property
    def head(self) -> str:
        """The stub as the beginning of a module, to be completed by a body."""
        return self.prompt if self.dataset == "HumanEval+" else self.prompt.removesuffix(" ...") + "\n"

    def spec(self, strip_examples: bool = False) -> Spec:
        """Make the spec; its text has the whole stub, helper functions included. With `strip_examples` the text
        has no example left, and the spec none that is trusted."""
        stub = without_examples(self.prompt, self.entry_point) if strip_examples else self.prompt
        parts = (self.prose, stub, "" if strip_examples else self.example)
        made = read_spec("\n\n".join(filter(None, parts)), origin=self.task_id)
        if made.signature is None or made.signature.name != self.entry_point:
            signature = signature_of(definition(self.prompt, self.entry_point))
            made = replace(made, signature=signature, examples=examples(made.text, signature))
        identifier = re.sub(r"[^a-z0-9]+", "-", self.task_id.lower()).strip("-")
        return replace(made, id=identifier, examples=() if strip_examples else made.examples)

    def solution(self, code: str) -> str:
        """Complete `code` to the self-contained module that EvalPlus takes as a `solution`.

        greenloop's module is a whole file and stays byte for byte, unless it uses an import or a helper function
        that only the stub defines: these are added, as the stub is the user's own file (EvalPlus sets the whole
        stub before a completion for the same reason), but never the entry point. Code that is not Python stays.
        """
        try:
            added = self._missing(code)
        except ValueError:
            return code
        if not added:
            return code
        lines = code.split("\n")
        place = head_end(parse(code))
        return "\n".join([*lines[:place], *added, *lines[place:]])

    def _missing(self, code: str) -> list[str]:
        """Return the stub's statements that `code` needs, and those that they need themselves, in its order."""
        lines = self.prompt.split("\n")
        given = [node for node in parse(self.prompt).body if self.entry_point not in names_bound(node)]
        wanted = names_unbound(code)
        chosen: set[int] = set()
        for _ in given:
            needed = {number for number, node in enumerate(given) if names_bound(node) & wanted}
            if needed <= chosen:
                break
            chosen |= needed
            wanted |= {name for number in needed for name in names_unbound(source_of(lines, given[number]))}
        return [source_of(lines, given[number]) for number in sorted(chosen)]


def read_tasks(path: Path, dataset: Dataset = "HumanEval+") -> tuple[BenchTask, ...]:
    """Read the tasks of `dataset` from a JSON Lines file in EvalPlus's format, in its order. Raises UsageError,
    with the file and the line, where it can't be read or a line is no task."""
    try:
        lines = read_regular(path).decode("utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"{path} can't be read ({error.strerror}); give EvalPlus's {dataset} file.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8; give EvalPlus's {dataset} file.") from error
    tasks: dict[str, BenchTask] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            task = _task(line, dataset)
            if task.task_id in tasks:
                raise ValueError(f"it has the task {task.task_id} again")
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: {error}; give EvalPlus's {dataset} file.") from error
        tasks[task.task_id] = task
    if not tasks:
        raise UsageError(f"{path} holds no task; give EvalPlus's {dataset} file.")
    return tuple(task for task in tasks.values() if task.task_id not in LEFT_OUT)


def _task(line: str, dataset: Dataset) -> BenchTask:
    """Read the task in one line. Raises ValueError with a reason."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON ({error})") from error
    found = row if isinstance(row, dict) else {}
    texts = (*_TEXTS, "assertion") if dataset == "MBPP+" else _TEXTS
    missing = [name for name in texts if not isinstance(found.get(name), str) or not found[name]]
    if missing:
        raise ValueError(f"it has no text for {' and '.join(missing)}")
    if absent := [name for name, kind in _OF_HIDDEN_TESTS.items() if not isinstance(found.get(name), kind)]:
        raise ValueError(f"it has no usable {' and '.join(absent)}")
    prompt, entry_point, solution = found["prompt"], found["entry_point"], found["canonical_solution"]
    task = BenchTask(
        found["task_id"],
        prompt,
        entry_point,
        dataset=dataset,
        reference=prompt + solution,
        base_input=tuple(found["base_input"]),
        plus_input=tuple(found["plus_input"]),
        atol=found["atol"],
    )
    try:
        if dataset == "MBPP+":
            return _in_prose(task, solution, found["assertion"])
        definition(prompt, entry_point)
    except ValueError as error:
        raise ValueError(f"{task.task_id} makes no spec of its entry point ({error})") from error
    return task


def _in_prose(task: BenchTask, solution: str, assertion: str) -> BenchTask:
    """Make an MBPP task, of which the prompt is a text between quotes. Raises ValueError with a reason."""
    stub = f"{signature_of(definition(solution, task.entry_point)).text}: ..."
    prose = ast.get_docstring(parse(task.prompt))
    example = next((node for node in parse(assertion).body if isinstance(node, ast.Assert)), None)
    if not prose or example is None:
        raise ValueError("its prompt is no text between quotes" if not prose else "it asserts nothing")
    return replace(task, prompt=stub, prose=prose, example=source_of(assertion.split("\n"), example))
