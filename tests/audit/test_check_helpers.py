"""What checks for tests in the code, as it was."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from agents.audit.base import Base
from agents.audit.check_helpers import old_checks
from agents.worktree.tree import Tree

CHECK = "def make():\n    return 1\n\n\ndef check(x):\n    assert x == 1\n"


def plain(text: str) -> bytes:
    return f"{ast.unparse(ast.parse(text))}\n".encode()


def test_only_the_functions_that_assert_are_put_back_and_only_where_no_code_imports_them() -> None:
    new = CHECK.replace("return 1", "return 2").replace("assert x == 1", "pass")
    old = Tree(Path(), {"testing.py": CHECK.encode()})
    base = Base(old, {"testing.py": frozenset({2, 6})}, ("testing.py",))
    made = old_checks(Tree(Path(), {"testing.py": new.encode()}), base)
    assert made == {"testing.py": plain(CHECK.replace("return 1", "return 2"))}
    assert (
        old_checks(Tree(Path(), {"testing.py": new.encode(), "a.py": b"from testing import make\n"}), base) == {}
    )


def test_a_form_feed_ends_no_line_and_an_encoding_is_read() -> None:
    page = b"# coding: latin-1\nX = '\\f\xe9'\n\x0c\n"
    new = CHECK.replace("assert x == 1", "pass").encode()
    base = Base(
        Tree(Path(), {"testing.py": page + CHECK.encode()}), {"testing.py": frozenset({8})}, ("testing.py",)
    )
    assert old_checks(Tree(Path(), {"testing.py": page + new}), base) == {
        "testing.py": plain("X = '\\f\xe9'\n" + CHECK)
    }


FIELDS = "@dataclass\nclass A(Base):\n    x: int\n    y: int = 0\n"
EQ = "    def __eq__(self, other):\n        return self.x == other.x\n"
PAIR = "class Same:\n    pass\n\n\nclass A{}:\n    def f(self):\n        return 1\n"


@pytest.mark.parametrize(
    ("old", "new", "put_back"),
    [
        (FIELDS, FIELDS.replace("y: int = 0", "y: int = field(default=0, compare=False)"), "compare=True"),
        (FIELDS, FIELDS + EQ, FIELDS),
        (FIELDS, FIELDS.replace("@dataclass", "@dataclass(eq=False)") + EQ, "@dataclass(eq=True)"),
        (FIELDS, FIELDS + "    z: int = field(compare=False)\n", ""),
        (
            FIELDS.replace("= 0", "= field(compare=False)"),
            FIELDS.replace("= 0", "= field(init=False, compare=False)"),
            "",
        ),
        (
            PAIR.format("") + EQ,
            PAIR.format("(Same)").replace("    pass", EQ.rstrip()),
            PAIR.format("(Same)").replace("    pass", EQ.rstrip()) + EQ,
        ),
        (PAIR.format(""), PAIR.format("") + EQ, ""),
        ("", "class Text(str):\n    x = 1\n\n" + EQ, "class Text(str):\n    x = 1\n"),
        ("", "class Text(Other):\n    x = 1\n\n" + EQ, ""),
    ],
)
def test_a_class_gets_the_comparisons_that_it_had(old: str, new: str, put_back: str) -> None:
    base = Base(Tree(Path(), {"a.py": old.encode()}), {"a.py": frozenset({1})}, ("a.py",))
    made = old_checks(Tree(Path(), {"a.py": new.encode()}), base).get("a.py", b"").decode()
    assert put_back in made or made.encode() == plain(put_back)
    assert bool(made) is bool(put_back)


def test_a_class_that_moves_keeps_how_it_compares() -> None:
    old = "class A:\n" + EQ
    base = Base(Tree(Path(), {"a.py": old.encode()}), {"b.py": frozenset({1})}, ("a.py", "b.py"))
    now = Tree(Path(), {"a.py": b"from b import A\n", "b.py": old.replace("==", "is not").encode()})
    assert old_checks(now, base) == {"b.py": plain(old)}
