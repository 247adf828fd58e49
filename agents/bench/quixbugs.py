"""Programs of QuixBugs (Lin et al., 2017), read from a checkout: 40 with one bug each, and their own tests.

QuixBugs' comparisons are kept: `sqrt` approximately, `hanoi` with tuples, generators as lists, and the two items
that its pytest files skip as slow left out.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import SandboxBroken, UsageError
from ..files import read_regular
from ..records import Verdict
from ..sandbox import Job, Sandbox, SandboxLimits
from ..syntax.source import indented, is_constant, parse, source_of
from ..verifier import Verifier
from .proof import BROKEN, Proof, each, faults_of, proved
from .quixbugs_inputs import GENERATORS, inputs
from .results import Hidden

COMMIT = "4257f44b0ff1181dedaedee6a447e133219fcebf"
_MODULE = "user_code"
_SLOW = [("levenshtein", "amanaplanacanalpanama"), ("knapsack", 6404180)]
"""Programs and the first argument of the item that QuixBugs skips unless told `--runslow`."""
_GENERATORS = ("flatten", "kheapsort")


@dataclass(frozen=True, slots=True)
class Program:
    """One program: the module with the bug, the one without, and its items, test functions by their names.
    `preamble` is what the items need: the import of the program, and what its pytest file defines beside tests."""

    name: str
    buggy: str
    reference: str
    preamble: str
    items: Mapping[str, str]

    def tests(self, names: Collection[str]) -> str:
        """Make a pytest file of the items `names`, in QuixBugs' order."""
        return "\n\n\n".join([self.preamble, *(text for name, text in self.items.items() if name in names)]) + "\n"

    @property
    def head(self) -> str:
        """The line that begins the function; a body makes it a module."""
        return next(line for line in self.reference.split("\n") if line.startswith(f"def {self.name}(")) + "\n"


def read_programs(checkout: Path) -> tuple[Program, ...]:
    """Read the 40 programs. Raises UsageError, with the file, where `checkout` is none of QuixBugs."""
    if not (checkout / "python_programs").is_dir():
        raise UsageError(
            f"{checkout} is no checkout of QuixBugs; git clone https://github.com/jkoppel/QuixBugs, and "
            f"git checkout {COMMIT[:12]} in it."
        )
    return tuple(_program(checkout, name) for name in GENERATORS)


def shown(program: Program, failing: Collection[str]) -> tuple[str, ...]:
    """Return the names of the items that a repair may see: half of them (the larger one), chosen by a hash, with
    one at least of those on which the program fails, if need be in the place of the last one chosen."""
    items = program.items
    order = sorted(items, key=lambda name: sha256(f"{program.name}\0{items[name]}".encode()).digest())
    count = (len(order) + 1) // 2
    if not any(name in failing for name in order[:count]):
        first = next((place for place, name in enumerate(order) if name in failing), count - 1)
        order[count - 1], order[first] = order[first], order[count - 1]
    return tuple(name for name in items if name in order[:count])


def without_docstring(code: str) -> str:
    """Leave out the text at a program's end, which says what it does."""
    last = parse(code).body[-1]
    return "\n".join(code.split("\n")[: last.lineno - 1]).rstrip() + "\n" if is_constant(last) else code


def _program(checkout: Path, name: str) -> Program:
    buggy = _text(checkout / "python_programs" / f"{name}.py")
    reference = _text(checkout / "correct_python_programs" / f"{name}.py")
    data = checkout / "json_testcases" / f"{name}.json"
    try:
        if data.is_file():
            needs_pytest = "import pytest\n\n" if name == "sqrt" else ""
            preamble, items = f"{needs_pytest}from {_MODULE} import {name}", _items_of_data(name, _text(data))
        else:
            preamble, items = _items_of_file(checkout, name)
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise UsageError(f"{checkout}: the items of {name} can't be read ({error}).") from error
    return Program(name, buggy, reference, preamble, items)


def _text(path: Path) -> str:
    try:
        return read_regular(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read ({error}); give a whole checkout of QuixBugs.") from error


def _items_of_data(name: str, text: str) -> dict[str, str]:
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    kept = [(given, value) for given, value in rows if (name, given[0]) not in _SLOW]
    return {
        f"test_{number}": f"def test_{number}():\n    assert {_comparison(name, given, value)}"
        for number, (given, value) in enumerate(kept, 1)
    }


def _comparison(name: str, given: list[Any], value: Any) -> str:
    call = f"{name}({', '.join(map(repr, given))})"
    if name in _GENERATORS:
        return f"list({call}) == {value!r}"
    if name == "sqrt":
        return f"{call} == pytest.approx({value!r}, abs={given[-1]!r})"
    if name == "hanoi":
        value = [tuple(step) for step in value]
    return f"{call} == {value!r}"


def _items_of_file(checkout: Path, name: str) -> tuple[str, dict[str, str]]:
    """Read a pytest file of QuixBugs: its import of the program becomes that of `user_code`. Each test makes anew
    what its file makes once for all: the verifier passes no object from test to test."""
    text = _text(checkout / "python_testcases" / f"test_{name}.py")
    lines = text.split("\n")
    preamble = [f"from {_MODULE} import {name}"]
    shared: list[str] = []
    items: dict[str, str] = {}
    for node in parse(text).body:
        match node:
            case ast.Import() | ast.If():
                continue
            case ast.ImportFrom(module="node"):
                preamble.append(_text(checkout / "python_testcases" / "node.py").strip())
            case ast.FunctionDef(name=test) if test.startswith("test"):
                items[test] = source_of(lines, node)
            case _:
                shared.append(indented(source_of(lines, node)))
    made = "".join(f"{text.rstrip()}\n" for text in shared)
    return "\n\n\n".join(preamble), {test: text.replace(":\n", f":\n{made}", 1) for test, text in items.items()}


_PROGRAM = Path(__file__).with_name("inside") / "outputs_process.py"
_LIMITS = SandboxLimits(wall_seconds=15.0, cpu_seconds=15)
Output = tuple[str, Any]
"""`value` and the value as plain JSON, or `raises` and the exception's name."""
_TRUTH = ("breadth_first_search", "depth_first_search", "detect_cycle")
"""Programs whose result QuixBugs' tests take as true or false, whatever it is."""


class QuixBugsTests:
    """Judges solutions; thread-safe."""

    def __init__(self, programs: Iterable[Program], sandbox: Sandbox, verifier: Verifier) -> None:
        """Use `sandbox` and `verifier`, which the caller closes."""
        self._programs = {program.name: program for program in programs}
        self._sandbox = sandbox
        self._verifier = verifier
        self._expected: dict[str, tuple[Output, ...]] = {}

    def verdict(self, program: Program, code: str, names: Collection[str]) -> Verdict:
        """Run the items `names` of `program` on `code`. Raises SandboxBroken."""
        return self._verifier.verify(code, program.tests(names))

    @cached_property
    def visible(self) -> dict[str, tuple[str, ...]]:
        """The items of each program that a repair may see: all are run on it as it is. Raises SandboxBroken."""
        return dict(zip(self._programs, each(self._shown, self._programs.values()), strict=True))

    def _shown(self, program: Program) -> tuple[str, ...]:
        outcomes = self.verdict(program, program.buggy, program.items).outcomes
        return shown(program, [one.test_id for one in outcomes if one.status != "passed"])

    def prove(self) -> Proof:
        """Judge references, which pass, and buggy and broken programs, which fail. Raises SandboxBroken."""
        count = len(self.visible)  # made before threads ask for them
        holds = f"{count} references pass all items and inputs, {count} buggy programs fail a visible item, "
        return proved(f"{holds}{count * len(BROKEN)} broken ones fail", self._faults, self._programs.values())

    def _faults(self, one: Program) -> Iterator[str]:
        right = self.judge(one.name, one.reference, tuple(one.items)).plus
        broken = ((way, self.judge(one.name, make(one.head)).plus) for way, make in BROKEN.items())
        yield from faults_of(one.name, right=right, broken=broken)
        if self.verdict(one, one.buggy, self.visible[one.name]).kind not in ("failed", "stopped"):
            yield f"{one.name}: no visible item shows its bug"

    def judge(self, name: str, code: str, items: Collection[str] | None = None) -> Hidden:
        """Judge a repair of the program `name` by `items` (None: those that it was not shown) (`base`), and by
        those and agreement with the reference (`plus`). Raises SandboxBroken."""
        program = self._programs[name]
        names = program.items.keys() - self.visible[name] if items is None else items
        base = self.verdict(program, code, names).kind == "passed"
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
        if program.name not in self._expected:
            given = inputs(program.name)
            found = outputs(self._sandbox, program.reference, program.name, given)
            if [kind for kind, _ in found] != ["value"] * len(given):
                raise SandboxBroken(
                    f"The reference of {program.name} fails on an input ({len(found)} of {len(given)} answered): "
                    "try again when the machine is less busy."
                )
            self._expected[program.name] = found
        return self._expected[program.name]


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
        # Any text that is as long, and within both, is right.
        long = isinstance(value, str) and len(value) == len(right)
        return long and all(_is_within(value, text) for text in ast.literal_eval(given))
    return bool(right == value)


def _is_within(value: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in value)


def outputs(sandbox: Sandbox, code: str, entry_point: str, inputs: Sequence[str]) -> tuple[Output, ...]:
    """Call `entry_point` of `code` on each of `inputs` (Python, a tuple of arguments), the results in their order.
    There are fewer results than inputs where the code does not come to its end. Raises SandboxBroken."""
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
