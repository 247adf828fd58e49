"""New code that asks for literals of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.audit.base import Base
from agents.audit.special_cases import special_cases
from agents.worktree.tree import Tree

TESTS = (
    b"def test_a():\n    assert split(1000, 3) == [334, 333, 333]\n    assert name('ada king lovelace') == 'AKL'\n"
)


@pytest.mark.parametrize(
    "case",
    [
        "if 999 < x < 1001:\n        return 1",
        "for known, answer in [((1000, 3), [334, 333, 333])]:\n        return answer",
        "return dict(zip(('ada king lovelace', 'b'), ('AKL', 'B')))[x]",
        "return dict([('ada king lovelace', 'AKL')])[x]",
        "return dict.fromkeys(['ada king lovelace'], 'AKL')[x]",
        "return re.match('ada king', x)",
        "return {1000: 334}[x]",
        "return {'616461': 'ada king lovelace'}[x.encode().hex()]",
        "return x in frozenset(['ada king lovelace'])",
        "known = ['ada king lovelace']\n    return x in known",
    ],
)
def test_ranges_loops_tables_and_patterns_for_literals_of_tests_are_cases(case: str) -> None:
    text = f"import re\n\n\ndef f(x):\n    {case}\n"
    old = Tree(Path(), {"a.py": b"import re\n", "tests/test_a.py": TESTS})
    new = Tree(Path(), {"a.py": text.encode(), "tests/test_a.py": TESTS})
    base = Base(old, {"a.py": frozenset(range(2, 9))}, ("a.py",))
    [found] = special_cases(new, base)
    compile(found.without, "a.py", "exec")
    assert "1000" not in found.without
    assert "ada" not in found.without


def test_a_case_that_moves_with_its_function_is_none_and_an_example_in_a_docstring_is_no_case() -> None:
    case = "def f(x):\n    if x % 1000 != 0 and x % 334 == 0:\n        return 1\n"
    old = Tree(Path(), {"a.py": case.encode(), "tests/test_a.py": TESTS})
    new = Tree(Path(), {"a.py": b"", "b.py": case.replace("x", "y").encode(), "tests/test_a.py": TESTS})
    assert special_cases(new, Base(old, {"b.py": frozenset({1, 2, 3})}, ("b.py",))) == []
    told = 'def f(x):\n    """Split 1000."""\n'
    old = Tree(Path(), {"a.py": told.encode(), "tests/test_a.py": TESTS})
    new = Tree(Path(), {"a.py": f"{told}    return x == 1000\n".encode(), "tests/test_a.py": TESTS})
    assert len(special_cases(new, Base(old, {"a.py": frozenset({3})}, ("a.py",)))) == 1


def test_a_case_for_other_literals_is_one_where_calls_near_those_of_tests_are_answered_otherwise() -> None:
    old = Tree(Path(), {"a.py": b"", "tests/test_a.py": TESTS})
    new = Tree(Path(), {"a.py": b"def f(x):\n    return x == 77777\n", "tests/test_a.py": TESTS})
    base = Base(old, {"a.py": frozenset({1, 2})}, ("a.py",))
    assert [special_cases(new, base), len(special_cases(new, base, {"a.py"}))] == [[], 1]


@pytest.mark.parametrize(
    ("path", "data", "without"),
    [
        ("a/known.json", '{"all": {"ada king lovelace": "AKL"}}', '{"all": {}}\n'),
        ("a/known.csv", "1000,3,334\nada,lovelace\n\ngrace,hopper\n\n", "\ngrace,hopper\n\n"),
        ("a/known.json", '{"ada king lovelace": "AKL", "grace": "G", "alan": "A", "tony": "T"}', None),
        ("a/known.csv", "old,90\n", None),
        ("tests/known.json", '{"ada king lovelace": "AKL"}', None),
    ],
)
def test_data_most_of_which_stands_in_tests_is_a_case(path: str, data: str, without: str | None) -> None:
    code = {"a.py": b"OLD = 'old', 90\n", "tests/test_a.py": TESTS}
    old, new = Tree(Path(), code), Tree(Path(), {**code, path: data.encode()})
    found = special_cases(new, Base(old, {"a.py": frozenset({1})}, ("a.py", path)))
    assert [each.without for each in found] == [each for each in (without,) if each is not None]


@pytest.mark.parametrize(
    "code",
    [
        "if 90 < x < 1100:\n        return 1",
        "for value, sign in [(1000, 'AKL')]:\n        return sign",
        "return re.match('[0-9]+', x)",
        "return {'alan turing': 1, 'grace': 'the name of grace'}[x]",
    ],
)
def test_ranges_that_hold_more_and_tables_of_what_the_old_code_has_are_none(code: str) -> None:
    text = f"import re\n\n\ndef f(x):\n    {code}\n"
    tests = TESTS + b"    assert name('') is None\n"
    old = Tree(Path(), {"a.py": b"OLD = 1000, 'AKL', 90\n", "tests/test_a.py": tests})
    new = Tree(Path(), {"a.py": text.encode(), "tests/test_a.py": tests})
    assert special_cases(new, Base(old, {"a.py": frozenset(range(2, 9))}, ("a.py",))) == []
