"""Splicing a definition into a module: what comes along, where it goes, and that all else stays."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.syntax.source import parse
from agents.syntax.splice import spliced

CODE = '''"""A draft."""

from __future__ import annotations

import math
from functools import lru_cache as cached

# What is known.
TABLE = {}
for number in range(3):
    TABLE[number] = number
UNUSED = 1


def unused():
    return UNUSED


def helper(x):
    return math.sqrt(x) + TABLE[0]


@cached
def area(a, b):
    """Say it.

    More of it."""
    # about the case
    if a:
        return helper(
            a
        )
    text = """
  keep
    this"""
    return text


class Stack:
    def push(self, item):
        # about it
        return [item,
                area(item, 1)]


def alone(x: int) -> int:
    return x + 1


if __name__ == "__main__":
    print(area(1, 2))
'''
NEW = "def alone(x: int) -> int:\n    return x + 1"


def test_what_a_definition_needs_comes_with_it_and_nothing_else() -> None:
    result = spliced("import os\n\nX = 1\n", CODE, "area")
    assert result.startswith(
        "import os\nimport math\nfrom functools import lru_cache as cached\n\nX = 1\n\n\n# What is"
    )
    names = [node.name for node in ast.parse(result).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert names == ["helper", "area"]
    assert "UNUSED" not in result
    assert "print" not in result
    assert "__future__" not in result
    assert "    TABLE[number] = number" in result


def test_only_what_is_missing_is_added() -> None:
    before = (
        "import math\nfrom functools import lru_cache as cached\n\nTABLE = {}\n\n"
        'for number in range(3):\n    TABLE[number] = number\n\ndef helper(x):\n    "not yet"\n'
    )
    with pytest.raises(ValueError, match=r"another `helper` \(line 9\)"):
        spliced(before, CODE, "area")
    same = before.replace('    "not yet"', "    return math.sqrt(x) + TABLE[0]")
    result = spliced(same, CODE, "area")
    assert result.startswith(same)
    assert result.count("def ") == 2


def test_a_definition_is_replaced_with_its_decorators_and_the_comment_above_it_stays() -> None:
    head, rest = '"""Mine."""\n# why it is so\n', "\n# after\nX = alone(1)"
    old = "@(\n    one  # @two\n)\n@two\ndef alone(y):\n    return y  # old"
    assert spliced(head + old + rest, CODE, "alone") == head + NEW + rest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{NEW}\n"),
        ("# only this", f"# only this\n\n{NEW}"),
        ("X = 1", f"X = 1\n\n\n{NEW}"),
        ("X = 1\n\n\n\n", f"X = 1\n\n\n\n{NEW}\n"),
        ("X = 1\r\n", f"X = 1\r\n\r\n\r\n{NEW}\r\n".replace("x: int) -> int:\n", "x: int) -> int:\r\n")),
        ("def alone(): pass", NEW),
        ("def alone():\n  return 1\nX = 2", f"{NEW}\nX = 2".replace("    ", "  ")),
        ("\ufeffdef alone():\n    pass\n", f"\ufeff{NEW}\n"),
        (
            'X = 1\n# run it\nif __name__ == "__main__":\n    X',
            f'X = 1\n\n\n{NEW}\n\n\n# run it\nif __name__ == "__main__":\n    X',
        ),
        ("\x0c\ndef alone():\n    pass\n\x0cX = 1", f"\x0c\n{NEW}\n\x0cX = 1"),
    ],
)
def test_where_a_definition_goes(before: str, after: str) -> None:
    assert spliced(before, CODE, "alone") == after


def test_a_method_is_known_by_its_class_and_follows_the_indentation_there() -> None:
    before = (
        "def push(): return 0\nclass Other:\n\tdef push(self): return 1\n"
        "class Stack:\n\tdef push(self):\n\t\treturn 2\n\n\tsize = 0\n\narea = None\n"
    )
    with pytest.raises(ValueError, match="another `area`"):
        spliced(before, CODE, "Stack.push")
    code = CODE.replace("area(item, 1)", "item")
    new = "\tdef push(self, item):\n\t\t# about it\n\t\treturn [item,\n\t\t        item]"
    assert spliced(before, code, "Stack.push") == before.replace("\tdef push(self):\n\t\treturn 2", new)
    without = before.replace("\tdef push(self):\n\t\treturn 2\n\n", "")
    assert spliced(without, code, "Stack.push") == without.replace("size = 0", f"size = 0\n\n{new}")


def test_branches_keep_their_depth() -> None:
    branches = (
        "if x:\n  return 1\n elif x is None:\n  if x == 2: pass\n  elif x == 3:\n   return 3\n  return 4\n"
        " else:\n  if x:\n   return 5\n  elif_x = 6\n  return elif_x\n"
    )
    result = spliced("class A:\n\tdef f(self): return 0\n", f"def f(x):\n {branches}", "f")
    expected = re.sub(r"(?m)^ +", lambda found: "\t" * len(found[0]), f"def f(x):\n {branches}")
    assert expected.rstrip() in result


def test_strings_keep_what_is_in_them() -> None:
    result = spliced("class A:\n\tdef f(self):\n\t\tpass\n", CODE, "area")
    assert '\ttext = """\n  keep\n    this"""\n\treturn text' in result
    assert '\t"""Say it.\n\n    More of it."""' in result


@pytest.mark.parametrize(
    ("before", "name", "reason"),
    [
        ("def alone(): 1\ndef alone(): 2\n", "alone", r"defined more than once \(lines 1, 2\)"),
        ("if X:\n    def alone(): 1\n", "alone", r"bound by something else than a definition \(line 1\)"),
        ("import alone\n", "alone", "bound by something else"),
        ("def f(): 1\n", "Stack.push", "no class `Stack`"),
        ("class Stack: pass\n", "Stack.push", "written on one line"),
        ("X = 1\n", "missing", "does not define `missing`"),
        ("import numpy as math\n", "area", r"`math` is another thing in it \(line 1\)"),
        ("def broken(:\n", "alone", "line 1: "),
    ],
)
def test_what_is_not_plain_is_refused_with_its_reason(before: str, name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        spliced(before, CODE, name)


def test_a_builtin_that_the_module_has_of_its_own_is_a_conflict() -> None:
    with pytest.raises(ValueError, match="`sum` is another thing"):
        spliced("def sum(x): return 0\n", "def total(x):\n    return sum(x)\n", "total")


def test_an_import_within_a_function_counts_for_that_function_only() -> None:
    assert spliced("def g():\n    import math\n", CODE, "helper").startswith("import math\n\n\ndef g")


def test_annotations_are_postponed_only_where_they_name_what_comes_later() -> None:
    code = (
        "from __future__ import annotations\n\n\nclass Node:\n    def next(self) -> Node:\n        return self\n"
    )
    assert spliced('"""Mine."""\nX = 1\n', code, "Node").startswith(
        '"""Mine."""\n\nfrom __future__ import annotations\n\nX = 1\n'
    )
    assert "__future__" not in spliced("X = 1\n", code.replace("-> Node", "-> int"), "Node")


def test_imports_go_below_what_the_first_comments_say_of_the_file() -> None:
    head = "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"
    assert spliced(f"{head}# about X\nX = 1\n", CODE, "helper").startswith(f"{head}import math\n\n\n# about X\nX")
    assert spliced("# Licence.\n\nX = 1\n", CODE, "helper").startswith("# Licence.\n\nimport math\n")
    assert spliced("import os; X = '''\n'''\n", CODE, "helper").startswith(
        "import os; X = '''\n'''\nimport math\n"
    )


# --- every other character stays ------------------------------------------------------------------------------

_PIECES = [
    "X = 1",
    "import os",
    "# a comment",
    "",
    "   ",
    "\x0c",
    "class Stack:{nl}\tdef pop(self):{nl}\t\treturn 1",
    "def other():{nl}  return '''{nl}a'''  # end",
    "if X:{nl}      Y = [{nl}1,{nl}]",
    "Z = 1; W = 2",
    "async def late():{nl} await 1  # é €",
]
_ends = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def modules(draw: st.DrawFn) -> tuple[str, str]:
    """A module with a definition `alone`, as the text before that and the text after it."""
    pieces = draw(st.lists(st.sampled_from(_PIECES), max_size=6))
    texts = [piece.replace("{nl}", draw(_ends)) + draw(_ends) for piece in pieces]
    place = draw(st.integers(0, len(texts)))
    after = draw(_ends) + "".join(texts[place:])
    return draw(st.sampled_from(["", "\ufeff"])) + "".join(texts[:place]), draw(
        st.sampled_from([after, after.rstrip()])
    )


@given(modules(), _ends)
def test_outside_of_the_definition_every_character_stays(around: tuple[str, str], end: str) -> None:
    before, after = around
    old = f"@wraps{end}def alone():{end}    return 1"
    result = spliced(before + old + after, CODE, "alone")
    assert result.startswith(before)
    assert result.endswith(after)
    new = result[len(before) : len(result) - len(after)]
    assert re.sub(r"\r\n|\r", "\n", new).split() == NEW.split()
    assert ast.dump(parse(new)) == ast.dump(parse(NEW))


@given(modules())
def test_what_is_added_leaves_every_character_and_its_order(around: tuple[str, str]) -> None:
    text = "".join(around)
    result = spliced(text, CODE, "area")
    rest = iter(result)
    assert all(character in rest for character in text)
    kept = [ast.dump(node) for node in parse(result).body]
    present = iter(kept)
    assert all(ast.dump(node) in present for node in parse(text).body)
    assert spliced(result, CODE, "area") == result


def test_two_thousand_lines_with_a_mark_keep_their_bytes() -> None:
    rows = [f"def f{number}(x):\r\n\treturn {number}\x0c\r\n\r\n" for number in range(700)]
    text = "\ufeff" + "".join(rows)
    result = spliced(text, "def f350(x):\n    return -x\n", "f350")
    changed = "def f350(x):\r\n\treturn -x\r\n\r\n"
    assert result == text.replace(rows[350], changed)
