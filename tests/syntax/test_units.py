"""Units of a module: found by a line, replaced by a reply, every other byte as it was."""

from __future__ import annotations

import pytest

from agents.syntax.units import changed_bodies, replaced, text_of, unit_at, unit_named, whole_file

TEXT = (
    "import os\r\n\r\n\r\nclass K:\r\n    @property\n    def f(self):\n        # why\n        return 1\n\n"
    "    limit = 2\r\n\r\n\r\n"
    "def g(a, *, b=1):\r\n    def inner():\r\n        return b\r\n    return a + inner()\r\n"
    "\r\n\r\nprint(g(1))\r\nprint(2)"
)


@pytest.mark.parametrize(
    ("line", "most", "unit", "name"),
    [
        (1, 4000, "file", ""),
        (8, 400, "function", "K.f"),
        (5, 400, "function", "K.f"),
        (10, 400, "class", "K"),
        (15, 400, "function", "g.inner"),
        (16, 400, "function", "g"),
        (16, 30, "statements", ""),
        (19, 400, "statements", ""),
    ],
)
def test_the_smallest_unit_that_holds_a_line(line: int, most: int, unit: str, name: str) -> None:
    place = unit_at("s.py", TEXT, line, most)
    assert (place.unit, place.name) == (unit, name)
    assert place.first_line <= line <= place.last_line
    assert len(text_of(TEXT, place)) <= most + 20


def test_a_place_begins_at_the_first_mark_of_a_decorator() -> None:
    text = "import x\n\n@(\n    x.deco\n)\ndef f(a):\n    return a\n"
    places = unit_named("s.py", text, "f", [7], 1000), unit_at("s.py", text, 7, 40)
    assert [place.first_line for place in places] == [3, 3]


def test_a_method_alone_takes_the_place_of_that_method_with_its_decorator() -> None:
    place = unit_at("s.py", TEXT, 8, 400)
    new = replaced(TEXT, place, "def f(self):\n    # why\n    return 3\n")
    assert new == TEXT.replace("return 1", "return 3")


def test_annotations_may_be_added_and_parameters_may_not_change() -> None:
    place = unit_at("s.py", TEXT, 13, 400)
    body = "    def inner():\n        return b\n    return a - inner()\n"
    assert replaced(TEXT, place, f"def g(a: int, *, b: int = 1) -> int:\n{body}").endswith("print(2)")
    with pytest.raises(ValueError, match="parameters"):
        replaced(TEXT, place, f"def g(a, b=1):\n{body}")
    with pytest.raises(ValueError, match="does not define"):
        replaced(TEXT, place, f"def h(a):\n{body}")


def test_a_function_in_a_function_is_replaced_alone_or_with_the_one_that_holds_it() -> None:
    place = unit_at("s.py", TEXT, 15, 400)
    assert replaced(TEXT, place, "def inner():\n    return b + 1\n") == TEXT.replace(
        "return b\r", "return b + 1\r"
    )
    whole = "def g(a, *, b=1):\n    return a + b\n"
    assert replaced(TEXT, place, whole).endswith(
        "def g(a, *, b=1):\r\n    return a + b\r\n\r\n\r\nprint(g(1))\r\nprint(2)"
    )


def test_statements_keep_their_indentation_and_ends() -> None:
    place = unit_at("s.py", TEXT, 16, 30)
    assert text_of(TEXT, place).strip().startswith("def inner") or "return" in text_of(TEXT, place)
    last = unit_at("s.py", TEXT, 20, 60)
    new = replaced(TEXT, last, "print(g(1))\nprint(3)\n")
    assert new == TEXT.replace("print(2)", "print(3)")
    within = "def f():\n    x = 1\n    y = 2\n    return x\n" + "# long\n" * 40
    place = unit_at("s.py", within, 2, 40)
    assert "    x = 2\n    # why\n" in replaced(within, place, "    x = 2\n# why\n    y = 3\n")


def test_definitions_alone_replace_those_of_a_file() -> None:
    place = unit_at("s.py", TEXT, 1, 4000)
    body = "    def inner():\n        return b\n    return a - inner()\n"
    assert replaced(TEXT, place, f"def g(a, *, b=1):\n{body}") == TEXT.replace("a + inner", "a - inner")


def test_a_file_that_is_no_python_is_replaced_from_margin_to_margin() -> None:
    broken = "x = 1\n\n\ndef f(a)\n    return a\n\n\ny = 2\n" + "# long\n" * 400
    place = unit_at("s.py", broken, 4, 1000)
    assert text_of(broken, place) == "def f(a)\n    return a\n"
    assert replaced(broken, place, "def f(a):\n    return a") == broken.replace("f(a)\n", "f(a):\n", 1)


def test_the_lines_of_changed_bodies_are_told_and_nothing_where_more_differs() -> None:
    old = "import os\n\n\n@wraps\ndef f(x=1):\n    return x\n\n\nclass A:\n    def g(self):\n"
    old += "        def h():\n            return 1\n        return h\n"
    assert changed_bodies(old, old) == []
    assert changed_bodies(old, old.replace("return x", "return -x")) == [range(4, 7)]
    assert changed_bodies(old, old.replace("return 1", "return 2").replace("return x", "")) is None  # no program
    assert changed_bodies(old, old.replace("return 1", "return 2")) == [range(10, 14)]
    for before, after in (
        ("x=1", "x=2"),
        ("@wraps", "@cached"),
        ("import os", "import re"),
        ("class A", "class B"),
    ):
        assert changed_bodies(old, old.replace(before, after)) is None


@pytest.mark.parametrize("added", ["y = f(2)\n", "0\n"])
def test_lines_after_a_last_line_that_nothing_ends_begin_a_line(added: str) -> None:
    old = "def f(a):\n    return a\n\n\nx = 1"
    assert replaced(old, whole_file("s.py", old), f"{old}\n{added}") == f"{old}\n{added}".rstrip()
    last = unit_at("s.py", old, 5, 10)
    assert replaced(old, last, f"x = 1\n{added}") == f"{old}\n{added}".rstrip()


@pytest.mark.timeout(30)
def test_a_long_table_takes_no_time() -> None:
    old = "DATA = [\n" + "    0,\n" * 20_000 + "]\n\n\ndef f(x):\n    return x\n"
    place = unit_named("s.py", old, "f", [], 4000)
    assert replaced(old, place, "def f(x):\n    return -x\n") == old.replace("return x", "return -x")
