"""Tasks are read, put as specs, and their solutions made whole."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.bench.tasks import LEFT_OUT, BenchTask, read_tasks
from agents.errors import UsageError
from agents.sandbox import Job, open_sandbox

from ..conformance.humaneval import DATA
from .test_hidden_tests import COMMON

MBPP = DATA.with_name("mbpp_plus_dev.jsonl")
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"no benchmark data at {DATA}")
PROMPT = '''from typing import List
import math


def half(x: float) -> float:
    """Half of x."""
    return math.floor(x) / 2


def f(xs: List[float]) -> List[float]:
    """Half of each.
    >>> f([2.0])
    [1.0]
    """
'''
SOLUTION = "    return [half(x) for x in xs]\n"
TASK = BenchTask(
    "HumanEval/12", PROMPT, "f", reference=PROMPT + SOLUTION, base_input=([[1.0]],), plus_input=([[]],)
)
WITHOUT_TRUSTED = {f"HumanEval/{number}" for number in (38, 50, 80, 84, 130, 160)}
CONTRADICTORY = {"HumanEval/116"}
"""Two of this task's own examples contradict its text and its reference solution."""
HOLDS = """
import json, sys
for name, code, examples in json.load(sys.stdin):
    namespace = {}
    exec(code, namespace)
    for example in examples:
        try:
            exec(example, namespace)
        except AssertionError:
            print(name)
"""


def row(**changes: object) -> str:
    fields = {
        "task_id": TASK.task_id,
        "prompt": TASK.prompt,
        "entry_point": TASK.entry_point,
        "canonical_solution": SOLUTION,
        "base_input": TASK.base_input,
        "plus_input": TASK.plus_input,
        "atol": TASK.atol,
        "test": "unread",
    }
    return json.dumps(fields | changes)


def file_of(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_tasks_come_in_the_files_order_and_blank_lines_are_no_tasks(tmp_path: Path) -> None:
    path = file_of(tmp_path, row(), "", row(task_id="HumanEval/2"), "")
    assert [task.task_id for task in read_tasks(path)] == ["HumanEval/12", "HumanEval/2"]
    assert read_tasks(path)[0] == TASK


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2: it is not JSON"),
        ("[" * 100_000, "line 2: it is not JSON"),
        ("[]", "line 2: it has no text for task_id and prompt and entry_point and canonical_solution"),
        (row(task_id="b", prompt=3), "line 2: it has no text for prompt"),
        (row(task_id="b", entry_point=""), "line 2: it has no text for entry_point"),
        (row(task_id="b", atol=None, base_input=3), "line 2: it has no usable base_input and atol"),
        (row(task_id="b", prompt="def f(:"), "line 2: b makes no spec of its entry point"),
        (row(task_id="b", entry_point="g"), "defines no function g"),
        (row(), "line 2: it has the task HumanEval/12 again"),
    ],
)
def test_a_line_that_is_no_task_is_named_with_its_file(tmp_path: Path, line: str, reason: str) -> None:
    path = file_of(tmp_path, row(), line)
    with pytest.raises(UsageError) as error:
        read_tasks(path)
    assert str(error.value).startswith(f"{path}, line 2: ")
    assert reason in str(error.value)


def test_a_file_that_cannot_be_read_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "none", tmp_path, tmp_path / "binary", file_of(tmp_path, "")):
        with pytest.raises(UsageError, match=r"; give EvalPlus's HumanEval\+ file"):
            read_tasks(path)


def test_prose_makes_a_spec_with_its_signature_and_its_first_assert(tmp_path: Path) -> None:
    (task,) = read_tasks(file_of(tmp_path, json.dumps(COMMON)), "MBPP+")
    example = "assert set(similar_elements((1, 2), (2, 3))) == {2}"
    asked = "Write a function to find what is in both tuples.\n\ndef similar_elements(one, two): ..."
    spec, stripped = task.spec(), task.spec(strip_examples=True)
    assert (spec.id, spec.text, stripped.text) == ("own-2", f"{asked}\n\n{example}", asked)
    assert spec.signature is not None
    assert spec.signature.text == "def similar_elements(one, two)"
    assert spec.signature == stripped.signature
    assert [found.code for found in spec.examples] == [example]
    assert stripped.examples == ()
    for code in (COMMON["canonical_solution"], "from typing import List\n"):
        assert task.solution(code) == code


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"assertion": "import math"}, "it asserts nothing"),
        ({"prompt": "Write a function."}, "makes no spec of its entry point"),
        ({"prompt": "x = 1"}, "its prompt is no text between quotes"),
        ({"entry_point": "other"}, "it defines no function other"),
        ({"canonical_solution": ""}, "it has no text for canonical_solution"),
    ],
)
def test_a_line_that_is_no_prose_task_is_named(tmp_path: Path, changes: dict[str, str], reason: str) -> None:
    path = file_of(tmp_path, json.dumps({**COMMON, **changes}))
    with pytest.raises(UsageError) as error:
        read_tasks(path, "MBPP+")
    assert str(error.value).startswith(f"{path}, line 1: ")
    assert reason in str(error.value)
    assert str(error.value).endswith("; give EvalPlus's MBPP+ file.")


def test_a_task_that_says_nothing_of_a_solution_is_left_out(tmp_path: Path) -> None:
    rows = [json.dumps({**COMMON, "task_id": name}) for name in (*LEFT_OUT, "Mbpp/2")]
    assert [task.task_id for task in read_tasks(file_of(tmp_path, *rows), "MBPP+")] == ["Mbpp/2"]


def test_a_task_makes_a_spec_with_its_examples() -> None:
    spec = TASK.spec()
    assert (spec.id, spec.text) == ("humaneval-12", PROMPT.strip("\n"))
    assert spec.signature is not None
    assert spec.signature.text == "def f(xs: List[float]) -> List[float]"
    assert [example.code for example in spec.examples] == ["assert f([2.0]) == [1.0]"]


def test_a_stripped_task_keeps_all_but_its_examples() -> None:
    spec = TASK.spec(strip_examples=True)
    assert spec.examples == ()
    assert spec.text == PROMPT.replace("    >>> f([2.0])\n    [1.0]\n", "").strip("\n")
    assert spec.signature == TASK.spec().signature


def test_base_cases_that_stay_in_the_text_are_not_trusted() -> None:
    task = BenchTask("a", 'def f(n):\n    """It is\n    f(0) == 1\n    f(n) == n * f(n - 1)\n    """\n', "f")
    assert len(task.spec().examples) == 1
    assert "f(0) == 1" in task.spec(strip_examples=True).text
    assert task.spec(strip_examples=True).examples == ()


def test_the_entry_point_is_the_tasks_where_another_function_is_a_stub_too() -> None:
    prompt = PROMPT + '\n\ndef later(y):\n    """For later."""\n'
    spec = BenchTask("a", prompt, "f").spec()
    assert spec.signature is not None
    assert spec.signature.name == "f"
    assert [example.code for example in spec.examples] == ["assert f([2.0]) == [1.0]"]


@needs_data
def test_every_task_of_the_development_half_makes_a_spec_of_its_entry_point() -> None:
    tasks = read_tasks(DATA)
    assert len(tasks) == 82
    for task in tasks:
        for strip in (False, True):
            spec = task.spec(strip)
            assert spec.signature is not None
            assert spec.signature.name == task.entry_point
            assert spec.id == "humaneval-" + task.task_id.removeprefix("HumanEval/")
            assert not strip or not spec.examples
    assert {task.task_id for task in tasks if not task.spec().examples} == WITHOUT_TRUSTED


@needs_data
def test_trusted_examples_hold_for_the_reference_solutions() -> None:
    tasks = read_tasks(DATA)
    assert sum(len(task.spec().examples) for task in tasks) == 234
    assert failing(tasks) == CONTRADICTORY


@pytest.mark.skipif(not MBPP.exists(), reason=f"no benchmark data at {MBPP}")
def test_every_prose_task_has_its_signature_and_one_example_that_holds() -> None:
    tasks = read_tasks(MBPP, "MBPP+")
    assert len(tasks) == 200 - len(LEFT_OUT)
    for task in tasks:
        spec, stripped = task.spec(), task.spec(strip_examples=True)
        assert spec.signature is not None
        assert f"{spec.signature.text}: ..." == task.prompt
        assert stripped.signature == spec.signature
        assert [example.code for example in spec.examples] == [task.example]
        assert stripped.examples == ()
    assert not failing(tasks)


def failing(tasks: Sequence[BenchTask]) -> set[str]:
    """The tasks of which an example does not hold for the reference."""
    given = [
        (task.task_id, f"import math\n{task.reference}", [e.code for e in task.spec().examples]) for task in tasks
    ]
    job = Job(["-I", "/src/holds.py"], {"holds.py": HOLDS.encode()}, stdin=json.dumps(given).encode())
    sandbox = open_sandbox("none")
    with sandbox.launch(job) as running:
        ended = running.wait()
    sandbox.close()
    assert ended.exit_code == 0, ended.stderr
    return set(ended.stdout.decode().split())


def test_a_module_that_stands_alone_is_handed_over_as_it_is() -> None:
    for code in (PROMPT + "    return [half(x) for x in xs]\n", "def f(xs):\n    return xs\n", "not Python", ""):
        assert TASK.solution(code) == code


def test_what_the_stub_defines_and_the_module_lacks_is_added() -> None:
    code = '"""Halves."""\n\nfrom __future__ import annotations\n\ndef f(xs):\n    return [half(x) for x in xs]\n'
    made = TASK.solution(code)
    added = 'import math\ndef half(x: float) -> float:\n    """Half of x."""\n    return math.floor(x) / 2\n'
    assert made == code.replace("annotations\n", f"annotations\n{added}")
    ast.parse(made)


def test_the_modules_own_definitions_win_over_the_stubs() -> None:
    code = "def half(x):\n    return 0\n\ndef f(xs: List[float]):\n    return [half(x) for x in xs]\n"
    assert TASK.solution(code) == "from typing import List\n" + code


def test_the_stubs_entry_point_is_never_added() -> None:
    code = "def g(xs: List[float]):\n    return f(xs)\n"
    assert TASK.solution(code) == "from typing import List\n" + code
