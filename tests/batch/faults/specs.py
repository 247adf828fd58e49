"""Small specs of several kinds, what a model says to each, and what a run of each must come to."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["scale", "shift", "Tally", "slip", "sign"]
KINDS: tuple[Kind, ...] = ("scale", "shift", "Tally", "slip", "sign")
GRADES: dict[Kind, str] = {
    "scale": "verified",
    "shift": "consensus",
    "Tally": "consensus",
    "slip": "contested",
    "sign": "contested",
}
"""The outcome of a run at low effort: with an example, without one, a class, code that only the Critic makes run,
and a first draft that is wrong."""

_RIGHT: dict[Kind, str] = {
    "scale": "def {name}(n: int) -> int:\n    return n * {number} + 3\n",
    "shift": "def {name}(text: str) -> str:\n    return text[{cut}:] + text[:{cut}]\n",
    "Tally": (
        "class {name}:\n    def __init__(self, start: int) -> None:\n        self.total = start\n\n"
        "    def plus(self, n: int) -> int:\n        self.total += n * {number}\n        return self.total\n"
    ),
    "slip": "def {name}(items: list[int]) -> list[int]:\n    return [item + {number} for item in items]\n",
    "sign": "def {name}(n: int) -> int:\n    return abs(n) + {number}\n",
}
_TEXTS: dict[Kind, str] = {
    "scale": (
        "Implement {name}(n: int) -> int that returns n times {number}, plus 3.\n\n{name}(2) == {example}\n"
    ),
    "shift": "Implement {name}(text: str) -> str that moves the first {cut} characters to the end.\n",
    "Tally": (
        "Implement a class {name} that is made with a start value, and whose method `plus(n)` adds n times "
        "{number} to it and returns the new total.\n"
    ),
    "slip": "Implement {name}(items: list[int]) -> list[int] that adds {number} to every item.\n",
    "sign": "Implement {name}(n: int) -> int that returns the distance of n from zero, plus {number}.\n",
}
_CALLS: dict[Kind, tuple[str, ...]] = {
    "scale": ("{name}(0)", "{name}(1)", "{name}(5)", "{name}(-4)", "{name}(10)", "{name}(7)"),
    "shift": (
        "{name}('abcdef')",
        "{name}('')",
        "{name}('a')",
        "{name}('hello')",
        "{name}('xyz')",
        "{name}('aab')",
    ),
    "Tally": (
        "{name}(0).plus(1)",
        "{name}(5).plus(2)",
        "{name}(-3).plus(0)",
        "{name}(1).plus(-1)",
        "{name}(2).plus(3)",
        "{name}(9).plus(9)",
    ),
    "slip": ("{name}([1, 2])", "{name}([])", "{name}([0])", "{name}([-5, 5])", "{name}([3, 3])", "{name}([9])"),
    "sign": ("{name}(3)", "{name}(0)", "{name}(-3)", "{name}(1)", "{name}(-8)", "{name}(12)"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """Spec `number` of a batch."""

    number: int

    @property
    def kind(self) -> Kind:
        return KINDS[self.number % len(KINDS)]

    @property
    def name(self) -> str:
        """The entry point, and the entry's id."""
        return f"{self.kind}_{self.number:03d}"

    @property
    def text(self) -> str:
        return self._filled(_TEXTS[self.kind])

    @property
    def right(self) -> str:
        """Right code."""
        return self._filled(_RIGHT[self.kind])

    @property
    def code(self) -> str:
        """The module that a run must end with: the first that is right."""
        return self.draft(1) if self.kind == "sign" else self.right

    @property
    def grade(self) -> str:
        return GRADES[self.kind]

    def draft(self, number: int) -> str:
        """The module that the model writes as draft `number` (from 0): the same program, not in the same words."""
        code = f'"""Draft {number}."""\n\n{self.right}' if number else self.right
        if self.kind == "slip":  # no draft of it runs, so that the Critic is asked
            return code.replace("items]", "_listed(items)]")
        if self.kind == "sign" and number == 0:
            return code.replace("abs(n)", "n")
        return code

    def calls(self) -> Sequence[str]:
        return [self._filled(call) for call in _CALLS[self.kind]]

    def value(self, call: str) -> str:
        """Return what right code returns for `call`, as a literal; None where it raises."""
        names: dict[str, object] = {}
        exec(self.right, names)
        try:
            return repr(eval(call, names))
        except Exception:  # whatever a mutated input may raise
            return "None"

    def tests(self) -> str:
        """The tests that the model writes."""
        tests = [
            f"def test_{number}():\n    assert {call} == {self.value(call)}\n"
            for number, call in enumerate(self.calls(), 1)
        ]
        return "\n\n".join([f"from user_code import {self.name}\n", *tests])

    def _filled(self, template: str) -> str:
        cut = self.number % 3 + 1
        return template.format(name=self.name, number=self.number, cut=cut, example=2 * self.number + 3)


def tasks(count: int) -> list[Task]:
    return [Task(number) for number in range(1, count + 1)]


def write_specs(directory: Path, wanted: Sequence[Task]) -> list[str]:
    """Write `wanted` as Markdown files, a JSON Lines and a CSV file, a third each; what `batch` is given."""
    folder, lines, table = directory / "specs", directory / "specs.jsonl", directory / "specs.csv"
    folder.mkdir(parents=True)
    for task in wanted[::3]:
        (folder / f"{task.name}.md").write_text(f"---\nid: {task.name}\n---\n{task.text}")
    if wanted[1::3]:
        rows = [json.dumps({"id": task.name, "spec": task.text}) + "\n" for task in wanted[1::3]]
        lines.write_text("".join(rows))
    if wanted[2::3]:
        with table.open("w", newline="") as file:
            csv.writer(file).writerows([("id", "spec"), *((task.name, task.text) for task in wanted[2::3])])
    return [str(path) for path in (folder, lines, table) if path.exists()]
