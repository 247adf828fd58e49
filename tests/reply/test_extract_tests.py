"""Tests read out of replies such as small models write them."""

# ruff: noqa: E501 - replies are shown as they are

from __future__ import annotations

import ast

import pytest

from agents.errors import ReplyError
from agents.judge.claims import claim_of
from agents.records import Signature, Spec, Test
from agents.reply import read_tests

SPEC = Spec(
    "s",
    "Implement quicksort(arr: list[int]) -> list[int] with the helper partition.",
    Signature("quicksort", "function", "def quicksort(arr: list[int]) -> list[int]"),
)
STACK = Spec("s", "Write class Stack.", Signature("Stack", "class", "class Stack"))
IMPORT = "from user_code import quicksort\n\n"


def read(code: str, spec: Spec = SPEC, *, truncated: bool = False) -> tuple[Test, ...]:
    return read_tests(f"```python\n{code}" + ("" if truncated else "\n```\n"), spec, truncated=truncated)[0]


def notes(code: str) -> str:
    return "; ".join(read_tests(f"```python\n{code}\n```", SPEC, truncated=False)[1])


def bodies(tests: tuple[Test, ...]) -> list[str]:
    """The body of each test."""
    return ["; ".join(ast.unparse(node) for node in ast.parse(test.source).body[0].body) for test in tests]  # type: ignore[attr-defined]


ONE_CASE_EACH = {
    "a run of asserts": "def test_a():\n    assert quicksort([2, 1]) == [1, 2]\n    assert quicksort([]) == []",
    "a run with values of their own": (
        "def test_a():\n    arr = [2, 1]\n    assert quicksort(arr) == [1, 2]\n    arr = []\n    assert quicksort(arr) == []"
    ),
    "a parametrized test": (
        "import pytest\n@pytest.mark.parametrize('arr, expected', [([2, 1], [1, 2]), ([], [])])\n"
        "def test_a(arr, expected):\n    assert quicksort(arr) == expected"
    ),
    "parameters with ids and a list of names": (
        "import pytest\n@pytest.mark.parametrize(['arr', 'expected'], [pytest.param([2, 1], [1, 2], id='two'), ([], [])])\n"
        "def test_a(arr, expected):\n    assert quicksort(arr) == expected"
    ),
    "parameters in a constant": (
        "import pytest\nCASES = [([2, 1], [1, 2]), ([], [])]\n@pytest.mark.parametrize('arr, expected', CASES)\n"
        "def test_a(arr, expected):\n    assert quicksort(arr) == expected"
    ),
    "a plain class": (
        "class TestSort:\n    def test_two(self):\n        assert quicksort([2, 1]) == [1, 2]\n    def test_none(self):\n        assert quicksort([]) == []"
    ),
    "a repeated test": "\n".join(f"def test_{n}():\n    assert quicksort({[2, 1][: n % 2 * 2]}) == {[1, 2][: n % 2 * 2]}" for n in range(1, 25)),
}  # fmt: skip


@pytest.mark.parametrize("code", ONE_CASE_EACH.values(), ids=ONE_CASE_EACH)
def test_each_case_is_a_test_of_its_own(code: str) -> None:
    tests = read(IMPORT + code)
    assert len(tests) == 2
    two, none = bodies(tests)
    assert "[2, 1]" in two
    assert "== [1, 2]" in two
    assert "== []" in none
    assert len({test.id for test in tests}) == 2
    assert all(test.preamble == "from user_code import quicksort" for test in tests)


def test_a_case_keeps_its_words() -> None:
    (test,) = read(
        f'{IMPORT}def test_a():\n    """Why."""\n    # how\n    assert quicksort([2,1]) == [1,2], "sorted"\n'
    )
    assert (
        test.source == 'def test_a():\n    """Why."""\n    # how\n    assert quicksort([2,1]) == [1,2], "sorted"'
    )
    assert test.origin == "generated"


STAYS_WHOLE = {
    "a value that changes": "def test_a():\n    arr = quicksort([1])\n    arr.append(2)\n    assert arr == [1, 2]\n    assert len(arr) == 2",
    "a look at the argument": "def test_a():\n    arr = [2, 1]\n    assert quicksort(arr) == [1, 2]\n    assert arr == [2, 1]",
    "different answers in turn": "def test_a():\n    assert quicksort([]) == []\n    assert quicksort([]) == [1]",
    "a fixture": (
        "import pytest\n@pytest.fixture\ndef box():\n    return quicksort([])\ndef test_a(box):\n    assert box.pop() == 1\n    assert box.pop() == 2"
    ),
    "a module-level object": "BOX = quicksort([1])\ndef test_a():\n    assert BOX.pop() == 1\n    assert BOX == []",
    "a loop over cases": "def test_a():\n    for arr, expected in [([2, 1], [1, 2]), ([], [])]:\n        assert quicksort(arr) == expected",
    "a class with set-up": (
        "class TestSort:\n    def setup_method(self):\n        self.arr = [2, 1]\n    def test_a(self):\n        assert quicksort(self.arr) == [1, 2]"
    ),
    "a loop that computes": "def test_a():\n    for n in range(3):\n        assert quicksort([n]) == [n]",
    "a class with shared state": (
        "class TestA:\n    @classmethod\n    def setup_class(cls):\n        cls.arr = quicksort([])\n    def test_a(self):\n        assert self.arr == []\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", STAYS_WHOLE.values(), ids=STAYS_WHOLE)
def test_checks_that_need_one_another_stay_together(code: str) -> None:
    (test,) = read(IMPORT + code)
    assert ast.dump(ast.parse(test.source).body[0]) == ast.dump(ast.parse(code).body[-1])


@pytest.mark.parametrize(
    "line",
    [
        "from quicksort import quicksort",
        "from your_module import quicksort",
        "from solution import quicksort, partition",
        "from .quicksort import quicksort",
        "from user_code import *",
        "from user_code import quick_sort as quicksort",
        "import quicksort",
        "import pytest",
        "",
    ],
)
def test_the_entry_point_comes_from_user_code(line: str) -> None:
    (test,) = read(f"{line}\ndef test_a():\n    assert quicksort([2, 1]) == [1, 2]")
    assert test.preamble == "from user_code import quicksort"


def test_a_module_that_is_used_whole_is_user_code() -> None:
    (test,) = read("import my_code as m\ndef test_a():\n    assert m.quicksort([2, 1]) == [1, 2]")
    assert test.preamble == "import user_code as m"


def test_missing_imports_are_supplied() -> None:
    code = "def test_a():\n    with pytest.raises(TypeError):\n        quicksort(None)\n\ndef test_b():\n    assert quicksort([math.inf]) == [math.inf]"
    first, second = read(code)
    assert first.preamble == "import pytest\nfrom user_code import quicksort"
    assert second.preamble == "import math\nfrom user_code import quicksort"


@pytest.mark.parametrize(
    "code",
    [
        "def quicksort(arr):\n    return helper(arr)\n\ndef helper(arr):\n    return sorted(arr)",
        "class Solution:\n    def quicksort(self, arr):\n        return sorted(arr)",
        "quicksort = sorted",
    ],
)
def test_an_implementation_among_the_tests_is_dropped(code: str) -> None:
    (test,) = read(f"{code}\n\ndef test_a():\n    assert quicksort([2, 1]) == [1, 2]")
    assert test.preamble == "from user_code import quicksort"
    assert "dropped a second implementation" in notes(
        f"{code}\n\ndef test_a():\n    assert quicksort([2, 1]) == [1, 2]"
    )


def test_code_in_a_block_of_its_own_is_no_part_of_the_tests() -> None:
    text = "```python\ndef quicksort(arr):\n    assert arr\n    return sorted(arr)\n```\nTests:\n```python\ndef test_a():\n    assert quicksort([1]) == [1]\n```"
    (test,), _ = read_tests(text, SPEC, truncated=False)
    assert test.preamble == "from user_code import quicksort"


def test_helpers_and_fixtures_stay_with_their_tests() -> None:
    code = f"{IMPORT}def is_sorted(arr):\n    return arr == sorted(arr)\n\ndef test_a():\n    assert is_sorted(quicksort([2, 1]))"
    (test,) = read(code)
    assert "def is_sorted" in test.preamble


@pytest.mark.parametrize(
    ("test", "note"),
    [
        ("def test_b():\n    quicksort([1])", "without an assertion"),
        ("def test_b():\n    assert sorted([1]) == [1]", "does not use quicksort"),
        (
            "from user_code import merge\ndef test_b():\n    assert merge([1]) == [1]",
            "of merge, which the spec does not name",
        ),
        ("def test_b():\n    assert quicksort([2, 1]) == [1, 2]", "repeated"),
        ("def test_b():\n    assert await quicksort([3]) == [3]", "can't be compiled"),
        ("def test_b():\n    nonlocal arr\n    assert quicksort(arr) == [3]", "can't be compiled"),
    ],
)
def test_worthless_tests_are_dropped_and_told(test: str, note: str) -> None:
    code = f"{IMPORT}def test_a():\n    assert quicksort([2, 1]) == [1, 2]\n\n{test}"
    assert [kept.id for kept in read(code)] == ["test_a"]
    assert note in notes(code)


def test_a_helper_that_the_spec_names_may_be_tested() -> None:
    (test,) = read("from user_code import partition\ndef test_a():\n    assert partition([1]) == 1")
    assert test.preamble == "from user_code import partition"


def test_no_more_than_the_limit_is_kept() -> None:
    code = IMPORT + "\n".join(f"def test_{n}():\n    assert quicksort([{n}]) == [{n}]" for n in range(20))
    assert [test.id for test in read(code)] == [f"test_{n}" for n in range(12)]
    assert "kept the first 12 of 20 tests" in notes(code)


@pytest.mark.parametrize(
    "end",
    [
        "def test_b():\n    assert quicksort([1, 2, ",
        "def test_b():\n    assert quicksort([1]) == [1",
        "def test_b():",
        "def test_b():\n    arr = [1]\n",
        "@pytest.mark.parametrize('a', [",
        "# Test with dup",
    ],
)
def test_a_cut_reply_keeps_the_whole_tests(end: str) -> None:
    code = f"{IMPORT}def test_a():\n    assert quicksort([2, 1]) == [1, 2]\n\n{end}"
    assert [test.id for test in read(code, truncated=True)] == ["test_a"]


@pytest.mark.parametrize(
    ("end", "calls"),
    [
        ("    assert quicksort([3, ", ["quicksort([1])", "quicksort([2, 1])"]),
        ("    assert quicksort([3]) == [3", ["quicksort([1])", "quicksort([2, 1])"]),
        ("    assert quicksort(\n        [3],\n", ["quicksort([1])", "quicksort([2, 1])"]),
        ("    for n in (1, 2):\n", ["quicksort([1])", "quicksort([2, 1])"]),
    ],
)
def test_a_reply_cut_off_in_its_only_test_keeps_the_whole_checks(end: str, calls: list[str]) -> None:
    code = (
        f"{IMPORT}def test_a():\n    assert quicksort([1]) == [1]\n    assert quicksort([2, 1]) == [1, 2]\n{end}"
    )
    tests = read(code, truncated=True)
    assert [claim.call for test in tests if (claim := claim_of(test))] == calls


def test_a_cut_test_with_parameters_is_left_out() -> None:
    whole = f"{IMPORT}def test_a():\n    assert quicksort([1]) == [1]\n\n"
    cut = "@pytest.mark.parametrize('n', [1])\ndef test_b(n):\n    assert quicksort([n]) == [n]\n    assert quick"
    assert [test.id for test in read(whole + cut, truncated=True)] == ["test_a"]


@pytest.mark.parametrize(
    ("text", "truncated", "reason"),
    [
        ("", False, "ends"),
        ("I can't.", False, "Python code block"),
        (
            "```python\nfrom user_code import quicksort\ndef test_a():\n    assert quick",
            True,
            "before its first test was whole",
        ),
        (
            "```python\ndef test_a():\n    quicksort([1])\n\ndef test_b():\n    assert True\n```",
            False,
            "no usable test .*without an assertion",
        ),
        ("```python\ndef test_a():\n    assert True\n```", False, "does not use quicksort"),
        (
            "```python\nimport unittest\nclass TestSort(unittest.TestCase):\n    def test_a(self):\n"
            "        self.assertEqual(quicksort([1]), [1])\n```",
            False,
            "unittest class.*; write plain pytest functions",
        ),
        ("```python\nassert quicksort([2, 1]) == [1, 2]\n```", False, "no usable test .*; write plain pytest"),
        ("```python\ndef check(candidate):\n    assert candidate([1]) == [1]\n```", False, "write plain pytest"),
        ('{"tests": "def test_a():\\n    assert quicksort([1]) == [1]"}', False, "Python code block"),
        ("```python\ndef quicksort(arr):\n    return sorted(arr)\n```", False, "pytest functions"),
    ],
)
def test_a_reply_without_a_usable_test_is_refused(text: str, truncated: bool, reason: str) -> None:
    with pytest.raises(ReplyError, match=reason):
        read_tests(text, SPEC, truncated=truncated)


ASYNC = Spec("s", "Fetch.", Signature("fetch", "function", "async def fetch(n: int) -> int"))
PROGRAM = Spec("s", "Write a program.", program=True)


def test_an_async_test_calls_asyncio_run() -> None:
    code = "import pytest\n@pytest.mark.asyncio\nasync def test_a():\n    assert await fetch(1) == 2\n"
    (test,) = read(code, ASYNC)
    assert "assert asyncio.run(fetch(1)) == 2" in test.source
    assert "async def" not in test.source
    assert "import asyncio" in test.preamble
    assert claim_of(test) is not None


def test_an_async_test_of_several_steps_stays_in_one_loop() -> None:
    code = (
        "async def test_a():\n    a = await fetch(1)\n    async with fetch.lock:\n        b = await fetch(a)\n"
        "    assert b == 4\n"
    )
    (test,) = read(code, ASYNC)
    assert bodies((test,))[0].endswith("assert b == 4; asyncio.run(check())")


def test_a_coroutine_inside_of_an_async_test_awaits_as_before() -> None:
    code = (
        "async def test_a():\n    async def one():\n        return await fetch(1)\n"
        "    assert gathered([one, one]) == [2, 2]\n"
    )
    signature = Signature("gathered", "function", "def gathered(jobs: list) -> list")
    (test,) = read(code, Spec("s", "gathered(jobs) runs jobs that call fetch.", signature))
    assert "return await fetch(1)" in test.source
    assert "asyncio.run" not in test.source


def test_async_methods_of_a_class_of_tests_are_read() -> None:
    (test,) = read("class TestIt:\n    async def test_a(self):\n        assert await fetch(1) == 2\n", ASYNC)
    assert bodies((test,)) == ["assert asyncio.run(fetch(1)) == 2"]


def test_tests_of_a_program_import_nothing_of_it() -> None:
    code = (
        "import subprocess, sys\n"
        "def run(*args, given=''):\n"
        "    return subprocess.run([sys.executable, 'user_code.py', *args], input=given, capture_output=True, text=True)\n"
        "def test_a():\n    assert run('1').stdout == '1\\n'\n"
        "def test_b():\n    done = run(given='2')\n    assert done.returncode == 0\n    assert done.stdout == '2\\n'\n"
        "def test_other():\n    assert sys.maxsize > 1\n"
    )
    first, second = read(code, PROGRAM)
    assert "user_code import" not in first.preamble + second.preamble
    assert "import subprocess" in first.preamble


def test_imports_stay_what_they_are_without_a_signature() -> None:
    spec = Spec("s", "Write the functions add and sub.")
    (test,) = read(
        "import pytest\nimport math\ndef test_a():\n    assert add(math.inf, 1) == pytest.approx(1)\n", spec
    )
    assert test.preamble == "import math\nimport pytest\nfrom user_code import add"


def test_parameters_may_stand_in_an_f_string() -> None:
    table = '@pytest.mark.parametrize("mark", [",", "\\\\"])'
    tests = read(f"{table}\ndef test_it(mark):\n    assert quicksort(f'a{{mark}}b') == ['a', 'b']\n")
    assert len(tests) == 2
    assert all(ast.parse(each.source) for each in tests)
