"""Hidden tests in both directions: what is right passes, what is wrong fails, however it goes about it."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agents.bench.hidden_tests import HiddenTests, Judged, ask_evalplus, require_evalplus
from agents.bench.results import Hidden
from agents.bench.tasks import BenchTask, read_tasks
from agents.errors import SandboxBroken, UsageError
from agents.sandbox import Job, Running, Sandbox

from ..support.sandboxes import BackendName, open_or_skip
from .forgeries import BLUNT, CLEVER

Tasks = tuple[BenchTask, ...]
SHARED = Path(__file__).parents[2].parent / "shared" / "benchmarks" / "humaneval_plus_dev.jsonl"
HANDFUL = ("HumanEval/0", "HumanEval/2", "HumanEval/32", "HumanEval/100")
RIGHT = Hidden(base=True, plus=True)
WRONG = Hidden(base=False, plus=False)
DOUBLE: dict[str, Any] = {
    "task_id": "Own/0",
    "prompt": 'def double(x):\n    """Twice x."""\n',
    "entry_point": "double",
    "canonical_solution": "    return 2 * x\n",
    "base_input": [[n] for n in range(1, 8)],
    "plus_input": [[n] for n in range(8, 60)],
    "atol": 1e-6,
}
ROOT = {
    "task_id": "Own/1",
    "prompt": 'def find_zero(xs):\n    """The root."""\n',
    "entry_point": "find_zero",
    "canonical_solution": "    return -xs[0] / xs[1]\n",
    "base_input": [[[n, 2]] for n in range(5)],
    "plus_input": [[[n, 5]] for n in range(5)],
    "atol": 1e-4,
}
COMMON: dict[str, Any] = {
    "task_id": "Own/2",
    "prompt": "'''\nWrite a function to find what is in both tuples.\n'''",
    "entry_point": "similar_elements",
    "canonical_solution": "\ndef similar_elements(one, two):\n    return tuple(set(one + ()) & set(two))\n",
    "base_input": [[[1, 2], [2, 3]], [[4, 5, 6], [6, 5]], [[1], [2]]],
    "plus_input": [[list(range(n)), list(range(3, 9))] for n in range(9)],
    "atol": 0,
    "assertion": "\nassert set(similar_elements((1, 2), (2, 3))) == {2}\n"
    "assert similar_elements((1,), (2,)) == ()\n",
}
"""EvalPlus makes tuples of the inputs of MBPP's task 2, and sets of what a function of this name returns."""
DISTANCE: dict[str, Any] = {
    **COMMON,
    "task_id": "Own/558",
    "entry_point": "digit_distance_nums",
    "canonical_solution": "\ndef digit_distance_nums(n1, n2):\n"
    "    return sum(abs(int(a) - int(b)) for a, b in zip(str(n1), str(n2)))\n",
    "base_input": [[1, 2], [23, 56], [123, 256]],
    "plus_input": [[n, 3 * n + 90] for n in range(40)],
    "assertion": "assert digit_distance_nums(1, 2) == 1",
}
"""EvalPlus takes the distance of equally long numbers, zeros before the shorter one, for right too."""
ALWAYS: dict[str, Any] = {
    **COMMON,
    "task_id": "Own/901",
    "entry_point": "is_text",
    "canonical_solution": "\ndef is_text(text: str) -> bool:\n    return True\n",
    "base_input": [["a"], ["b"]],
    "plus_input": [["c"], ["d"]],
    "assertion": "assert is_text('a') == True",
}
MATCHED: dict[str, Any] = {
    **ALWAYS,
    "task_id": "Own/902",
    "entry_point": "check_str",
    "canonical_solution": "\nimport re\n\ndef check_str(text):\n    return re.match('[aeiou]', text)\n",
    "assertion": "assert check_str('a')",
}
"""EvalPlus asks of what a function of this name returns whether it is None."""
PROSE = (COMMON, DISTANCE, ALWAYS, MATCHED)

needs_evalplus = pytest.mark.skipif(
    importlib.util.find_spec("evalplus") is None, reason="EvalPlus is not installed (pip install -e .[bench])"
)


class Counting(Sandbox):
    """A sandbox that counts its jobs."""

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self.jobs = 0
        self.name = inner.name
        self.interpreter = inner.interpreter

    def launch(self, job: Job) -> Running:
        with self._lock:
            self.jobs += 1
        return self._inner.launch(job)

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def sandbox() -> Iterator[Counting]:
    opened = Counting(open_or_skip("bubblewrap"))
    yield opened
    opened.close()


@pytest.fixture
def own(tmp_path: Path) -> Tasks:
    return written(tmp_path, DOUBLE, ROOT)


def judge_all(tests: HiddenTests, pairs: Sequence[tuple[str, str]]) -> list[Hidden]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda pair: tests.judge(*pair), pairs))


def written(directory: Path, *rows: dict[str, Any]) -> Tasks:
    """The tasks of `rows`, read from a file."""
    file = directory / "tasks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_tasks(file, "MBPP+" if "assertion" in rows[0] else "HumanEval+")


@needs_evalplus
@pytest.mark.parametrize("name", ["bubblewrap", "native"])
def test_right_passes_and_wrong_fails(name: BackendName, own: Tasks) -> None:
    tests = HiddenTests(own, open_or_skip(name))
    judged = judge_all(
        tests,
        [
            ("Own/0", "def double(x):\n    return x + x\n"),
            ("Own/0", "def double(x):\n    return 2 * x if x < 8 else 0\n"),
            ("Own/0", "def double(x):\n    return 2 * x if x > 1 else 0\n"),
            ("Own/0", "def double(x):\n    raise ValueError\n"),
            ("Own/0", "def twice(x):\n    return 2 * x\n"),
            ("Own/0", "def double(x:\n"),
            ("Own/0", ""),
        ],
    )
    assert judged == [RIGHT, Hidden(base=True, plus=False), *[WRONG] * 5]


@needs_evalplus
@pytest.mark.parametrize(
    ("task_id", "right", "wrong"),
    [
        ("Own/2", "sorted(set(one + ()) & set(two), reverse=True)", "one + ()"),
        ("Own/558", "sum(abs(int(a) - int(b)) for a, b in zip(f'{one:09}', f'{two:09}'))", "abs(one - two)"),
        ("Own/901", "len(one) == 1", "one == 'a'"),
        ("Own/902", "one[0] in 'aeiou'", "not one"),
    ],
)
def test_mbpp_is_judged_by_evalplus_rules_for_it(
    task_id: str, right: str, wrong: str, tmp_path: Path, sandbox: Sandbox
) -> None:
    tests = HiddenTests(written(tmp_path, *PROSE), sandbox)
    names = {row["task_id"]: row["entry_point"] for row in PROSE}
    judged = [
        tests.judge(task_id, f"def {names[task_id]}(one, two=None):\n    return {value}\n").base
        for value in (right, wrong)
    ]
    assert judged == [True, False]


@needs_evalplus
def test_what_passes_mbpp_by_reaching_into_evalplus_is_found_out(tmp_path: Path, sandbox: Sandbox) -> None:
    solution = f"\n{DOUBLE['prompt']}{DOUBLE['canonical_solution']}"
    prose = {
        **DOUBLE,
        "prompt": "'Twice x.'",
        "canonical_solution": solution,
        "assertion": "assert double(1) == 2",
    }
    tasks, solution = written(tmp_path, prose), next(iter(CLEVER.values()))
    assert ask_evalplus(sandbox, tasks[0], [solution]).judged[0].base
    assert HiddenTests(tasks, sandbox).judge("Own/0", solution) == WRONG


@pytest.mark.thorough
@needs_evalplus
@pytest.mark.skipif(not SHARED.exists(), reason=f"no benchmark data at {SHARED}")
@pytest.mark.parametrize("task_id", HANDFUL)
def test_a_reference_solution_passes_and_a_stub_fails(task_id: str, sandbox: Sandbox) -> None:
    (task,) = (task for task in read_tasks(SHARED) if task.task_id == task_id)
    tests = HiddenTests([task], sandbox)
    assert tests.judge(task_id, task.reference) == RIGHT
    assert tests.judge(task_id, task.head + "    pass\n") == WRONG


@needs_evalplus
def test_a_root_is_judged_by_the_equation_though_evalplus_forgets_to_record_it(
    own: Tasks, sandbox: Sandbox
) -> None:
    tests = HiddenTests(own, sandbox)
    judged = judge_all(
        tests,
        [
            ("Own/1", "def find_zero(xs):\n    return -xs[0] / xs[1] + 1e-6\n"),
            ("Own/1", "def find_zero(xs):\n    return -xs[0] / xs[1] + 1e-3\n"),
            ("Own/1", "def find_zero(xs):\n    return None\n"),
            ("Own/1", "def find_zero(xs:\n"),
            ("Own/1", "import nothing_of_that_name\n"),
            ("Own/1", "import os\n\ndef find_zero(xs):\n    os._exit(0)\n"),
        ],
    )
    assert judged == [RIGHT, *[WRONG] * 5]


@needs_evalplus
@pytest.mark.parametrize("way", BLUNT)
def test_what_says_that_it_passed_does_not_pass(way: str, own: Tasks, sandbox: Sandbox) -> None:
    assert HiddenTests(own, sandbox).judge("Own/0", BLUNT[way]) == WRONG


@needs_evalplus
@pytest.mark.parametrize("way", CLEVER)
def test_what_passes_by_reaching_into_evalplus_is_found_out(way: str, own: Tasks, sandbox: Sandbox) -> None:
    (task,) = (each for each in own if each.task_id == "Own/0")
    assert ask_evalplus(sandbox, task, [CLEVER[way]]).judged[0].base
    assert HiddenTests(own, sandbox).judge("Own/0", CLEVER[way]) == WRONG


@needs_evalplus
def test_a_solution_is_judged_once(own: Tasks, sandbox: Counting) -> None:
    tests = HiddenTests(own, sandbox, jobs=2)
    found = [tests.judge("Own/0", "def double(x):\n    return x * 2\n") for _ in range(8)]
    assert found == [RIGHT] * 8
    assert sandbox.jobs == 2, "one for the tests, one against wrong expectations"


@pytest.mark.thorough
@needs_evalplus
def test_what_overruns_a_time_limit_is_tried_once_more(own: Tasks, sandbox: Counting) -> None:
    endless = "def double(x):\n    while True:\n        pass\n"
    assert HiddenTests(own, sandbox).judge("Own/0", endless) == WRONG
    assert sandbox.jobs == 2


@needs_evalplus
def test_a_sandbox_in_which_evalplus_cannot_work_is_no_verdict(own: Tasks) -> None:
    tests = HiddenTests(own, open_or_skip("native without namespaces"))
    with pytest.raises(SandboxBroken, match=r"EvalPlus does not work in the sandbox `native`.*install bubblewrap"):
        tests.judge("Own/0", "def double(x):\n    return 2 * x\n")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"task_id": "Own/0"}', "\xff"])
def test_a_file_of_another_kind_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match="HumanEval"):
        read_tasks(file)


def test_without_evalplus_the_remedy_is_named() -> None:
    with pytest.raises(UsageError, match=r"pip install -e \.\[bench\]"):
        require_evalplus(lambda name: None)


def test_only_a_slow_failure_may_be_late() -> None:
    assert Judged(base=True, plus=False, seconds=1.2).may_be_late
    assert Judged(base=False, plus=False, seconds=9.0).may_be_late
    assert not Judged(base=False, plus=False, seconds=0.4).may_be_late
    assert not Judged(base=True, plus=True, seconds=7.0).may_be_late
