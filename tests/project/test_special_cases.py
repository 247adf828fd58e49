"""New code that asks for literals of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.project.base import Base
from agents.project.special_cases import special_cases
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


@pytest.mark.parametrize(
    "code",
    [
        "if 90 < x < 1100:\n        return 1",
        "for value, sign in [(1000, 'AKL')]:\n        return sign",
        "return re.match('[0-9]+', x)",
    ],
)
def test_ranges_that_hold_more_and_tables_of_what_the_old_code_has_are_none(code: str) -> None:
    text = f"import re\n\n\ndef f(x):\n    {code}\n"
    old = Tree(Path(), {"a.py": b"OLD = 1000, 'AKL', 90\n", "tests/test_a.py": TESTS})
    new = Tree(Path(), {"a.py": text.encode(), "tests/test_a.py": TESTS})
    assert special_cases(new, Base(old, {"a.py": frozenset(range(2, 9))}, ("a.py",))) == []
