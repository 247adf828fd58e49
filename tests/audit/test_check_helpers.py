"""What checks for tests in the code, as it was."""

from __future__ import annotations

from pathlib import Path

from agents.audit.base import Base
from agents.audit.check_helpers import old_checks
from agents.worktree.tree import Tree

CHECK = "def make():\n    return 1\n\n\ndef check(x):\n    assert x == 1\n"


def test_only_the_functions_that_assert_are_put_back_and_only_where_no_code_imports_them() -> None:
    new = CHECK.replace("return 1", "return 2").replace("assert x == 1", "pass")
    old = Tree(Path(), {"testing.py": CHECK.encode()})
    base = Base(old, {"testing.py": frozenset({2, 6})}, ("testing.py",))
    made = old_checks(Tree(Path(), {"testing.py": new.encode()}), base)
    assert made == {"testing.py": CHECK.replace("return 1", "return 2").encode()}
    assert (
        old_checks(Tree(Path(), {"testing.py": new.encode(), "a.py": b"from testing import make\n"}), base) == {}
    )


def test_a_form_feed_ends_no_line() -> None:
    page = b"X = '\\f'\n\x0c\n"
    new = CHECK.replace("assert x == 1", "pass").encode()
    base = Base(
        Tree(Path(), {"testing.py": page + CHECK.encode()}), {"testing.py": frozenset({8})}, ("testing.py",)
    )
    assert old_checks(Tree(Path(), {"testing.py": page + new}), base) == {"testing.py": page + CHECK.encode()}
